"""Which numbers count the chapters of a work, and which count something inside them."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relic_core.text.layout import Layout

_NEW_PAGE = 2
"""Blank lines before a heading that begins a new page."""
_MISPRINT = 3
"""How far a number may be off and still go on with the count."""


def count_chapters(layout: Layout) -> tuple[list[int], list[int]]:
    """Choose the headings that count chapters, and those that count sections inside chapters.

    Headings with a word ("Chapter IV") come before bare numbers with a title ("IV. The Ferry") and these before bare
    numbers, unless there are far more of the latter.

    What it returns:
    - `chapters, sections`: indices of blocks, in order.
    """
    headings = layout.headings
    units = [index for index in layout.free if index in headings and headings[index].level == "chapter"]
    worded = _without_letters_inside(layout, [index for index in units if not headings[index].bare])
    chains = {
        style: _chain(layout, [index for index in units if headings[index].word == style])
        for style in ("roman", "arabic", "word", "roman titled", "arabic titled")
    }
    bare = max((chains["roman"], chains["arabic"], chains["word"]), key=len)
    titled = max((chains["roman titled"], chains["arabic titled"]), key=len)
    if worded and len(worded) < len(bare) and all(headings[index].word == "letter" for index in worded):
        return sorted({*worded, *bare}), []
    if _counts(worded) or (worded and not _counts(bare) and not _counts(titled)):
        worded += _goes_on(layout, worded, [index for index in units if headings[index].word.endswith("titled")])
        return worded, _sections(
            layout, worded, [index for index in units if headings[index].word in {"roman", "arabic"}]
        )
    holds = bool(bare) and titled[:1] < bare[:1] and sum(headings[index].value == 1 for index in bare) > 1
    if _counts(titled) and (holds or len(titled) > 3 * len(bare)):
        return titled, _sections(layout, titled, bare)
    return (bare, []) if _counts(bare) else ([], [])


def _counts(indices: Sequence[int]) -> bool:
    """Whether there are enough numbers to be a count: one alone is none."""
    return len(indices) > 1


def _chain(layout: Layout, indices: Iterable[int]) -> list[int]:
    """Keep the numbers that count up from 1, again and again; one misprint does not break the count.

    The count begins again on a new page or below the heading of a part; stanzas of a poem do neither.
    """
    dividers = [index for index, heading in layout.headings.items() if heading.level in {"part", "named"}]
    kept: list[int] = []
    last = position = 0
    for index in indices:
        value = layout.headings[index].value
        starts = value == 1 and (
            not kept
            or layout.blocks[index].gap >= _NEW_PAGE
            or bisect_right(dividers, index) > bisect_right(dividers, kept[-1])
        )
        if starts:
            last = position = 0
        if starts or (kept and (0 < value - last <= _MISPRINT or value == position + 1)):
            kept.append(index)
            last, position = value, position + 1
    return kept


def _without_letters_inside(layout: Layout, worded: list[int]) -> list[int]:
    """Leave out numbered letters that stand inside chapters; letters before the first chapter count."""
    chapters = [index for index in worded if layout.headings[index].word != "letter"]
    if 2 * len(chapters) <= len(worded):
        return worded
    return [index for index in worded if layout.headings[index].word != "letter" or index < chapters[0]]


def _goes_on(layout: Layout, worded: Sequence[int], titled: Iterable[int]) -> list[int]:
    """Numbers with a title that take up the count where the word for it stops being printed."""
    last = layout.headings[worded[-1]].value
    kept = []
    for index in titled:
        new_page = layout.blocks[index].gap >= _NEW_PAGE
        if index > worded[-1] and layout.headings[index].value == last + 1 and new_page:
            kept.append(index)
            last += 1
    return kept


def _sections(layout: Layout, chapters: Iterable[int], bare: Iterable[int]) -> list[int]:
    """Bare numbers that count up from 1 inside chapters; other bare numbers are part of the prose."""
    starts = set(chapters)
    kept: list[int] = []
    last = 0
    for index in sorted({*starts, *bare}):
        value = layout.headings[index].value
        if index in starts:
            last = 0
        elif value == 1 or 0 < value - last < _MISPRINT:
            last = value
            kept.append(index)
    return kept
