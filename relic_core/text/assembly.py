"""Blocks put together to chapters and paragraphs, in the order of the text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from relic_core.domain import Chapter, LeftOut, Paragraph, ParagraphKind
from relic_core.text.blocks import Block, is_verse
from relic_core.text.headings import clean_title

if TYPE_CHECKING:
    from relic_core.text.marks import Mark

_PREAMBLE = 600
"""Characters. Longer prose between the heading of a part and that of its first chapter is a chapter of its own."""
_GROWING = {"front matter", "contents", "editor's note", "end matter", "note"}
"""Kinds of which blocks that follow each other are one stretch."""
_COUNTED = {"chapter", "chap", "roman", "arabic", "word"}
"""Units whose number alone names them; others are cited as printed ("Stave I", "Letter 2")."""


@dataclass(slots=True)
class _Group:
    """A chapter in the making. `waiting`: a part has begun and its first chapter has not."""

    start: int
    number: str
    title: str
    part: str
    waiting: bool = False
    blocks: list[Block] = field(default_factory=list)

    @property
    def takes_heading(self) -> bool:
        return self.waiting and sum(block.end - block.start for block in self.blocks) < _PREAMBLE


class Assembly:
    """Takes the blocks of a text one after the other.

    - `width`: how long the lines of prose may be (`blocks.line_width`).
    """

    def __init__(self, width: int) -> None:
        self.left_out: list[LeftOut] = []
        self._width = width
        self._groups: list[_Group] = []
        self._parts: dict[str, str] = {}
        self._growing = ""

    def leave_out(self, block: Block, kind: str) -> None:
        """Take a block that is not the author's text."""
        if kind == self._growing:
            self.left_out[-1] = replace(self.left_out[-1], end=block.end)
        else:
            self.left_out.append(LeftOut(block.start, block.end, kind))
        self._growing = kind if kind in _GROWING else ""

    def begin(self, start: int, number: str = "", title: str = "") -> None:
        """Begin a chapter, which takes over the heading of a part directly before it."""
        last = self._last
        if last is not None and last.takes_heading:
            last.number, last.title, last.waiting = number, title, False
        else:
            self._groups.append(_Group(start, number, title, self._part))

    def head(self, mark: Mark, block: Block) -> None:
        """Take a heading."""
        self.leave_out(block, "heading")
        if mark.level == "part":
            self._begin_part(mark, block)
        elif mark.level == "chapter":
            directly = self._last is not None and self._last.waiting
            counts_anew = mark.value == 1 and "epilogue" in self._parts  # behind a prologue that has chapters
            if not directly and (mark.word in {"front", "anywhere"} or counts_anew):
                self._parts.clear()
            if mark.word.split()[0] in _COUNTED:
                self.begin(block.start, mark.number, mark.title)
            else:
                self.begin(block.start, title=clean_title(mark.label))

    def add(self, block: Block) -> None:
        """Take a paragraph; a block that was cut off the one before (gap 0) goes back to it."""
        if self._last is None:
            self._groups.append(_Group(block.start, "", "", ""))
        blocks = self._groups[-1].blocks
        follows = bool(blocks) and not (self.left_out and self.left_out[-1].start > blocks[-1].start)
        if block.gap == 0 and follows:
            whole = blocks.pop()
            block = Block(whole.start, block.end, (*whole.lines, *block.lines), whole.gap)
        blocks.append(block)
        self._growing = ""

    def chapters(self) -> tuple[Chapter, ...]:
        """Return the chapters that have paragraphs."""
        return tuple(
            Chapter(index, group.start, group.blocks[-1].end, group.number, group.title, group.part)
            for index, group in enumerate(self._filled)
        )

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """Return the paragraphs, numbered in their chapters from 1."""
        made: list[Paragraph] = []
        for chapter, group in enumerate(self._filled):
            for number, block in enumerate(group.blocks, start=1):
                kind: ParagraphKind = "verse" if is_verse(block, self._width) else "prose"
                made.append(Paragraph(len(made), block.start, block.end, chapter, number, kind))
        return tuple(made)

    @property
    def _last(self) -> _Group | None:
        return self._groups[-1] if self._groups else None

    @property
    def _filled(self) -> list[_Group]:
        return [group for group in self._groups if group.blocks]

    @property
    def _part(self) -> str:
        return ", ".join(self._parts.values())

    def _begin_part(self, mark: Mark, block: Block) -> None:
        """Enter a part: a volume or epilogue ends all parts, any other ends the last of its kind and what that held."""
        if mark.word in {"volume", "vol", "epilogue"}:
            self._parts.clear()
        if mark.word in self._parts:
            names = list(self._parts)
            for name in names[names.index(mark.word) :]:
                del self._parts[name]
        self._parts[mark.word] = mark.label.rstrip(" .:")
        last = self._last
        if last is not None and last.takes_heading:
            last.part = self._part
        else:
            self._groups.append(_Group(block.start, "", "", self._part, waiting=True))
