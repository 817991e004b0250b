"""The layout of a text: its blocks, what they read like as headings, and which are no author's text for certain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from relic_core.domain import LeftOut
from relic_core.text import apparatus
from relic_core.text.blocks import Block, cut_block, line_width, manner_of, split_blocks
from relic_core.text.contents import find_contents, is_list
from relic_core.text.headings import Heading, parse_heading

_TITLE_PAGE = 12
"""Blocks at the beginning among which credits and a title page stand."""
_SMALL = 3
"""Lines of a block in which a heading may hide behind another line."""


@dataclass(frozen=True)
class Layout:
    """The blocks of a text and what is known of each by itself.

    - `blocks`: in order.
    - `headings`: what a block says if it is a heading, by index; of no block in `kinds`.
    - `kinds`: what a block is that is not the author's text whatever stands around it, by index.
    - `entries`: titles that a contents list names without a number (`contents.find_contents`).
    - `width`: how long the lines of prose may be.
    """

    blocks: list[Block]
    headings: dict[int, Heading]
    kinds: dict[int, str]
    entries: list[str]
    width: int

    @cached_property
    def free(self) -> list[int]:
        """Indices of the blocks that may be the author's text or a heading."""
        return [index for index in range(len(self.blocks)) if index not in self.kinds]

    @cached_property
    def below(self) -> dict[int, int]:
        """The next free block of each free block but the last."""
        return dict(zip(self.free, self.free[1:], strict=False))

    def length(self, first: int, after: int) -> int:
        """Characters from block `first` to before block `after`."""
        return self.blocks[after - 1].end - self.blocks[first].start if after > first else 0


def lay_out(text: str, start: int, end: int) -> Layout:
    """Lay out ``text[start:end]``, the text between Project Gutenberg's header and footer."""
    blocks, kinds = _cut(text, start, end)
    for index, block in enumerate(blocks):
        kind = kinds.get(index) or apparatus.own_kind(block)
        if not kind and index < _TITLE_PAGE and apparatus.is_credit(block):
            kind = "editor's note"
        if kind:
            kinds[index] = kind
    headings = {
        index: heading
        for index, block in enumerate(blocks)
        if index not in kinds and (heading := parse_heading(block)) is not None
    }
    width = line_width(blocks)
    contents, entries = find_contents(blocks, headings, width)
    kinds = contents | kinds
    kinds |= apparatus.editors_notes(blocks, set(headings) - set(kinds))
    headings = {index: heading for index, heading in headings.items() if index not in kinds}
    return Layout(blocks, headings, kinds, entries, width)


def title_page(layout: Layout) -> set[int]:
    """Find the title page of a text without headings: short lines, with a new page or an author behind them."""
    page: set[int] = set()
    for index in layout.free[:_TITLE_PAGE]:
        block = layout.blocks[index]
        if not block.short or len(block.lines) > _SMALL or block.lines[-1][-1] in '.!?"”’,;:':
            break
        page.add(index)
    after = max(page, default=-1) + 1
    if not page or after >= len(layout.blocks):
        return set()
    named = any(layout.blocks[index].flat.lower().startswith("by ") for index in page)
    return page if named or layout.blocks[after].gap > 1 else set()


def _cut(text: str, start: int, end: int) -> tuple[list[Block], dict[int, str]]:
    """Cut a text into blocks: bracketed marks for themselves, headings off the lines around them."""
    blocks: list[Block] = []
    kinds: dict[int, str] = {}
    position = start
    manner = manner_of(text, start, end)
    for mark in (*apparatus.bracketed(text, start, end), LeftOut(end, end, "")):
        for block in split_blocks(text, position, mark.start, manner):
            blocks += _off_prose(block, text, on_title_page=len(blocks) < _TITLE_PAGE)
        if mark.kind:
            kinds[len(blocks)] = mark.kind
            lines = tuple(line for line in text[mark.start : mark.end].split("\n") if line.strip())
            blocks.append(Block(mark.start, mark.end, lines, gap=1))
        position = mark.end
    return blocks, kinds


def _off_prose(block: Block, text: str, *, on_title_page: bool) -> list[Block]:
    """Cut a heading off the lines above and below it where no blank line parts them."""
    pieces: list[Block] = []
    line = _heading_inside(block, on_title_page=on_title_page)
    if line:
        above, block = cut_block(block, line, text)
        pieces.append(above)
        block = replace(block, gap=1)
    heading = parse_heading(block)
    if heading is not None and heading.lines < len(block.lines):
        return [*pieces, *cut_block(block, heading.lines, text)]
    return [*pieces, block]


def _heading_inside(block: Block, *, on_title_page: bool) -> int:
    """Line of a small block on which a heading stands, the first line not counted; 0 for none."""
    if len(block.lines) > (_TITLE_PAGE if on_title_page else _SMALL) or is_list(block):
        return 0
    for line in range(1, len(block.lines)):
        heading = parse_heading(replace(block, lines=block.lines[line:]))
        if heading is not None and heading.level in {"part", "chapter"} and heading.value:
            last = line == len(block.lines) - 1
            if not heading.bare or (on_title_page and last and heading.value == 1):
                return line
    return 0
