"""What line ends add to words: hyphens that part one, and breaks behind the hyphens of compounds."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter

from relic_core.domain import Offsets

_PARTING = re.compile(r"(?<=[^\W\d_])[-¬\u00ad][ \t]*\n")
_BREAK = re.compile(
    r"(?<=[^\W_])-(?P<gap>[ \t]*\n\s*)"
    r"(?!(?:and|or|to|but|nor|not|as|than|und|oder|bis|et|ou|en|of|y)\s)(?=[^\W_]|_[^\W_])"
)
"""Of a compound; not of "two- and threefold"."""


def line_ends(text: str, start: int, end: int, gone: Sequence[Offsets]) -> list[Offsets]:
    r"""Find what line ends add to the words of a stretch of a text whose cuts are `gone`: see `text.unbroken`.

    Where hyphens part words, one that is not known to may part a word too, and the break behind it stays.

    >>> line_ends("coffee-\ncup and two-\nor threefold", 0, 36, ())
    [(7, 8)]
    """
    if "\n" not in text[start:end]:
        return []
    first, last = (bisect_left(gone, at, key=itemgetter(0)) for at in (start, end))
    parting = [cut for cut in gone[first:last] if _PARTING.match(text, cut[0])]
    if any(text[at] in "-¬" and _PARTING.match(text, at) for at, _ in gone):
        return parting
    return sorted([*parting, *(found.span("gap") for found in _BREAK.finditer(text, start, end))])
