"""What line ends add to the words of prose: hyphens that part a word, breaks behind the text's own and dashes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter

from relic_core.domain import Offsets

_PARTING = "-¬\u00ad"
_BREAK = re.compile(r"(?P<sign>--?|[—–])(?P<gap>[ \t]*\n\s*)(?=(?P<next>\S))")
_ONE_OF_TWO = re.compile(r"(?:and|or|to|but|nor|not|as|than)\s")
"""Behind the hyphen in "two- and threefold"."""


def line_ends(text: str, start: int, end: int, gone: Sequence[Offsets]) -> list[Offsets]:
    r"""Find what line ends add to a stretch of prose, where `gone` are the cuts of the whole text: see `text.unbroken`.

    Where hyphens part words, one that is not known to do so may part a word too: the break behind it stays.

    >>> text = "coffee-\ncup--\nand two-\nor threefold"
    >>> line_ends(text, 0, len(text), ())
    [(7, 8), (13, 14)]
    """
    first, last = (bisect_left(gone, at, key=itemgetter(0)) for at in (start, end))
    parting = [cut for cut in gone[first:last] if text[cut[0]] in _PARTING]
    parts = bool(parting) or any(text[at] in _PARTING for at, _ in gone)
    return sorted([*parting, *_breaks(text, start, end, parts=parts)])


def _breaks(text: str, start: int, end: int, *, parts: bool) -> Iterator[Offsets]:
    for found in _BREAK.finditer(text, start, end):
        before, after = text[found.start() - 1 : found.start()], found["next"]
        if found["sign"] == "-":
            own = after == "-" or (after.isalnum() and not parts and not _ONE_OF_TWO.match(text, found.end()))
            joined = before.isalnum() and own
        elif found["sign"] == "–":
            joined = before.isdigit() and after.isdigit()
        else:
            joined = bool(before.strip())
        if joined:
            yield found.span("gap")
