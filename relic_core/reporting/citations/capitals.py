"""Headings that are printed in capitals, in the capitals of a title, which is how every style cites them."""

from __future__ import annotations

import re

from relic_core.text.abbreviations import owns_stop

_SMALL = frozenset(
    """
    a an the and but or nor as at by for from in into of off on onto over to upon with de du la le van von vs
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Words that have no capital unless they stand first or last."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ROMAN = re.compile(r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})")
_NO_NUMBERS = frozenset({"MIX", "DI", "MI", "LI", "DIV", "DIX", "MD"})
"""Words that are read as numbers by their letters alone."""
_NAMES = re.compile(r"(?:O|D|L|M)['’](?=[^\W\d_]{2})")
"""O'Connell, D'Artagnan, M'Carthy."""
_BEGINS = re.compile(r"(?:^|[:;!?—–(“‘\"]|\.{3}|…|^(?:[IVXLCDM]+|\d+)\.)\W*$")
"""What a title, a part of it, or what stands behind its number begins after."""
_STOPPED = re.compile(r"([^\W\d_]{2,})\.\s+$")
_ABBREVIATED = re.compile(r"(?:[^\W\d_]\.){2,}")


def title_capitals(heading: str) -> str:
    """Set a heading that is all in capitals as a title; any other stays as it is.

    >>> title_capitals("THE TRAGEDY OF PUDD'NHEAD WILSON"), title_capitals("HENRY VIII AND I")
    ("The Tragedy of Pudd'nhead Wilson", 'Henry VIII and I')
    >>> title_capitals("A MOTHER-IN-LAW'S TALE"), title_capitals("The USA")
    ("A Mother-in-Law's Tale", 'The USA')
    >>> title_capitals("PART THE FIRST. OF THE MAN"), title_capitals("MR. M'CHOAKUMCHILD AND MR. DIX")
    ('Part the First. Of the Man', "Mr. M'Choakumchild and Mr. Dix")
    """
    if not heading.isupper():
        return heading
    abbreviated = [found.span() for found in _ABBREVIATED.finditer(heading)]
    words = list(_WORD.finditer(heading))
    written = ""
    at = 0
    for number, found in enumerate(words):
        stays = any(start <= found.start() < end for start, end in abbreviated)
        before = heading[: found.start()]
        outermost = number in {0, len(words) - 1} or _BEGINS.search(before) or _ends_sentence(before)
        written += heading[at : found.start()] + (found[0] if stays else _set(found[0], small=not outermost))
        at = found.end()
    return written + heading[at:]


def _ends_sentence(before: str) -> bool:
    """Whether a full stop stands at the end that is not part of a word, as in "Mr."."""
    found = _STOPPED.search(before)
    return found is not None and not owns_stop(found[1].capitalize())


def _set(word: str, *, small: bool) -> str:
    """Set one word: numbers as they are, small ones small, the others with a capital."""
    if _ROMAN.fullmatch(word) and word not in _NO_NUMBERS:
        return word
    if small and word.lower() in _SMALL:
        return word.lower()
    begin = _NAMES.match(word)
    if begin:
        return f"{begin[0]}{word[begin.end() :].capitalize()}"
    return word.capitalize()
