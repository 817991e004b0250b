"""The typography of a printed edition for texts that were typed: dashes for hyphens, quotation marks that curl.

Works are stored to the letter, and so is what is kept of them; this is how they are shown and cited to a reader who
wants that. A text that is set so already stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_MARK = re.compile(r"-{2,}|[\"']")
_LONG = 4
"""Hyphens from which a dash is a long one: a name or a word left out."""
_OPENS = frozenset("([{“‘—–-/_")
"""What an opening mark may stand behind, besides white space and the beginning."""
ELIDED = re.compile(
    r"(?:tis|twas|twere|twill|twould|twixt|tisn|twasn|em|er|im|ud|cause|bout|gainst|mongst|un|ere|neath|pon|way|fraid|"
    r"d|ll|re|s|ve|m|t|\d+s?)\b",
    re.IGNORECASE,
)
"""Words before which an apostrophe stands for letters that are left out: no quotation begins there."""


def printed(text: str) -> str:
    r"""Set a text as a printed edition would.

    >>> printed("'Well--' said he, 'tis the Bennets' ball, isn't it?")
    '‘Well—’ said he, ’tis the Bennets’ ball, isn’t it?'
    >>> printed("\"'Well--'\" said he")
    '“‘Well—’” said he'
    """
    return "".join(printed_pieces([text]))


def printed_pieces(pieces: Sequence[str]) -> list[str]:
    """Set the pieces of one paragraph, each as it would be within the whole; a dash stays with the piece it begins in.

    >>> printed_pieces(['"', "Darcy", "'s pride", '--', '"'])
    ['“', 'Darcy', '’s pride', '—', '”']
    """
    letters = list("".join(pieces))
    for start, end, new in _changes("".join(pieces)):
        letters[start:end] = [new, *[""] * (end - start - 1)]
    made, at = [], 0
    for piece in pieces:
        made.append("".join(letters[at : at + len(piece)]))
        at += len(piece)
    return made


def _changes(text: str) -> Iterator[tuple[int, int, str]]:
    """List what is set otherwise: half-open character offsets, in order, and what stands there in print."""
    for found in _MARK.finditer(text):
        start, end = found.span()
        if found[0][0] == "-":
            yield start, end, "——" if end - start >= _LONG else "—"
            continue
        beyond = end  # the word or the blank behind this mark and others beside it
        while text[beyond : beyond + 1] in {'"', "'"}:
            beyond += 1
        after = text[beyond : beyond + 1]
        opens = _may_open(text, start)
        opens = opens and bool(after) and not after.isspace() and after not in ".,;:!?)]}—-"
        if found[0] == '"':
            yield start, end, "“" if opens else "”"
        else:
            yield start, end, "‘" if opens and not ELIDED.match(text, end) else "’"


def _may_open(text: str, at: int) -> bool:
    """Tell whether a mark stands where a word may begin: first, or behind a blank, a dash or an opening mark."""
    while at and text[at - 1] in "\"'":
        at -= 1
    return not at or text[at - 1].isspace() or text[at - 1] in _OPENS
