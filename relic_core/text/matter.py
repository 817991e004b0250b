"""Front and end matter: what stands before the first chapter, a prologue among it, and behind the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.text.apparatus import end_matter_kind, is_the_end
from relic_core.text.contents import is_prose
from relic_core.text.headings import is_capitals
from relic_core.text.layout import title_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.text.layout import Layout
    from relic_core.text.marks import Mark

_NEW_PAGE = 3
"""Blank lines before a block that begins a new page."""
_PROLOGUE = 1_500
_SHORT_PROLOGUE = 600
"""Characters of prose: so much is a prologue, or so much in three paragraphs; less is a dedication."""
_SHORT_PROLOGUE_PARAGRAPHS = 3
_LAST_SHARE = 0.1
"""End matter that no "The End" announces stands in this last share of the text."""
_LAST_BLOCKS = 6


def front_matter(layout: Layout, marks: Sequence[Mark]) -> tuple[set[int], int]:
    """Find the blocks of title pages, dedications and pieces by another hand.

    What it returns:
    - `blocks`: indices.
    - `prologue`: index of the block with which prose without a heading begins before the first chapter; -1 where none
      does.
    """
    dividing = [mark for mark in marks if mark.level != "section"]
    if not dividing:
        return title_page(layout), -1
    first = dividing[0].index
    prologue = _prologue(layout, first)
    found = {index for index in layout.free if index < (first if prologue < 0 else prologue)}
    ends = [mark.index for mark in dividing[1:]] + [len(layout.blocks)]
    for mark, end in zip(dividing, ends, strict=True):
        if mark.level == "aside":
            found |= set(range(mark.index, end))
    numbered = next((mark.index for mark in dividing if mark.value == 1), 0)
    return found | _half_title(layout, first, numbered), prologue


def end_matter(layout: Layout, marks: Sequence[Mark]) -> dict[int, str]:
    """Find the blocks behind the end of the work, with their kinds.

    The work ends near the end of the text: with "The End", or where notes, a bibliography or a printer's line begin.
    "The End" elsewhere, as of a story in a collection, is left out for itself.
    """
    of_headings = {index for mark in marks for index in (mark.index, mark.under)}
    last = max((mark.index for mark in marks if mark.level != "section"), default=-1)
    room = _LAST_SHARE * layout.length(0, len(layout.blocks))
    ends = [index for index in layout.free if index not in of_headings and is_the_end(layout.blocks[index])]
    found = dict.fromkeys(ends, "end matter")
    kind = ""
    for index in range(last + 1, len(layout.blocks)):
        if index in of_headings:
            continue
        block = layout.blocks[index]
        alone = block.gap > 1 or len(layout.blocks) - index <= _LAST_BLOCKS
        late = bool(kind) or layout.length(index, len(layout.blocks)) < room
        begins = found.get(index) or (end_matter_kind(block) if kind or alone else "")
        if begins and late:
            kind = begins
        if kind:
            found[index] = kind
    return found


def _half_title(layout: Layout, first: int, numbered: int) -> set[int]:
    """Blocks of a half-title: capitals on a page of their own, between a preface and the first number."""
    for begin in range(numbered - 1, first, -1):
        block = layout.blocks[begin]
        if not block.short or len(block.lines) > 2 or not is_capitals(block.flat):  # noqa: PLR2004 - a title and its subtitle
            return set()
        if block.gap >= _NEW_PAGE:
            return set(range(begin, numbered))
    return set()


def _prologue(layout: Layout, first: int) -> int:
    """Index of the block that begins prose before the first heading, if it is more than a dedication; else -1."""
    prose = [
        index
        for index in layout.free
        if index < first
        and is_prose(layout.blocks[index], layout.width)
        and not layout.blocks[index].lines[0].lstrip("_ ").startswith(("To ", "TO "))
    ]
    length = sum(layout.length(index, index + 1) for index in prose)
    if length < _PROLOGUE and (len(prose) < _SHORT_PROLOGUE_PARAGRAPHS or length < _SHORT_PROLOGUE):
        return -1
    place = layout.free.index(prose[0])
    while place:
        above = layout.blocks[layout.free[place - 1]]
        if layout.blocks[layout.free[place]].gap >= _NEW_PAGE or is_capitals(above.lines[0]):
            break
        place -= 1
    return layout.free[place]
