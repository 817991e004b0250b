"""The structure of a text: its chapters and paragraphs, and what in the file is not the author's.

Nothing is cut. Every visible character of the file belongs to exactly one paragraph or one stretch that is left out,
and every stretch left out says why. What is whose:

* a preface, introduction, note or postscript by the author is a chapter without a number; one by a translator, an
  editor or a friend is front matter;
* epigraphs of chapters are paragraphs of the chapter; title pages, dedications and epigraphs of the whole are front
  matter;
* unheaded prose before the first chapter is a chapter without a name (a prologue);
* numbers of sections inside chapters are left out as headings and divide nothing;
* a unit not called a chapter ("Stave I", "Letter 2") keeps its whole heading as its title, to be cited as printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import LeftOut
from relic_core.text import apparatus
from relic_core.text.assembly import Assembly
from relic_core.text.blocks import split_blocks
from relic_core.text.layout import Layout, lay_out, title_page
from relic_core.text.matter import end_matter, front_matter
from relic_core.text.metadata import Metadata, read_metadata
from relic_core.text.outline import find_marks, set_aside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Chapter, Paragraph
    from relic_core.text.marks import Mark


@dataclass(frozen=True, slots=True)
class Structure:
    """What `analyse` found.

    - `title`, `author`, `translator`: as the file says them; empty where it does not.
    - `year`: of first publication, where the file says it.
    - `chapters`: at least one; in order, not overlapping.
    - `paragraphs`: at least one; each in a chapter.
    - `left_out`: what is not the author's text, in order. Kinds: "licence", "front matter", "contents", "illustration",
      "editor's note", "note", "page number", "break", "heading", "end matter".
    """

    title: str
    author: str
    translator: str
    year: int | None
    chapters: tuple[Chapter, ...]
    paragraphs: tuple[Paragraph, ...]
    left_out: tuple[LeftOut, ...]


def analyse(text: str) -> Structure:
    r"""Tell a text's chapters, paragraphs and apparatus apart.

    - `text`: a decoded text (`decoding.decode`), with at least one word.

    >>> found = analyse("THE FERRY\n\nby A. Person\n\n\nCHAPTER I\n\nRain fell.\n\nNobody came.\n\n\nTHE END\n")
    >>> found.title, found.author, [chapter.name for chapter in found.chapters], len(found.paragraphs)
    ('The Ferry', 'A. Person', ['Chapter I'], 2)
    >>> [left.kind for left in found.left_out]
    ['front matter', 'heading', 'end matter']
    """
    start, end = apparatus.licence(text)
    layout = lay_out(text, start, end)
    known, marks = _outline(text, text[:start], layout)
    assembly = _assemble(layout, marks)
    if not assembly.paragraphs():  # a file of headings and apparatus only: then they are the text
        start, end = (start, end) if layout.blocks else (0, len(text))
        assembly = Assembly(layout.width)
        for block in layout.blocks or split_blocks(text, start, end):
            assembly.add(block)
    return Structure(
        title=known.title,
        author=known.author,
        translator=known.translator,
        year=known.year,
        chapters=assembly.chapters(),
        paragraphs=assembly.paragraphs(),
        left_out=(*_licence(text, 0, start), *assembly.left_out, *_licence(text, end, len(text))),
    )


def _outline(text: str, header: str, layout: Layout) -> tuple[Metadata, list[Mark]]:
    marks = find_marks(layout, title=read_metadata(header, ()).title)
    before = {index for index in layout.free if index < marks[0].index} if marks else title_page(layout)
    front = [layout.blocks[index] for index in sorted(before)]
    known = read_metadata(header, front)
    starts = [layout.blocks[mark.index].start for mark in marks]
    pieces = [text[begin:end] for begin, end in zip(starts, [*starts[1:], len(text)], strict=False)]
    page = " / ".join(block.flat for block in front if block.short)
    return known, set_aside(marks, pieces, author=known.author, front=page)


def _assemble(layout: Layout, marks: Sequence[Mark]) -> Assembly:
    front, prologue = front_matter(layout, marks)
    headings = {mark.index: mark for mark in marks if mark.level != "aside"}
    kinds = end_matter(layout, marks) | dict.fromkeys(front, "front matter")
    kinds |= {mark.under: "heading" for mark in headings.values() if mark.under is not None}
    kinds |= layout.kinds
    assembly = Assembly(layout.width)
    for index, block in enumerate(layout.blocks):
        if index == prologue:
            assembly.begin(block.start)
        if index in kinds:
            assembly.leave_out(block, kinds[index])
        elif index in headings:
            assembly.head(headings[index], block)
        else:
            assembly.add(block)
    return assembly


def _licence(text: str, start: int, end: int) -> list[LeftOut]:
    stretch = text[start:end]
    if not stretch.strip():
        return []
    return [LeftOut(start + len(stretch) - len(stretch.lstrip()), start + len(stretch.rstrip()), "licence")]
