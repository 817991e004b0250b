"""How a plain text is laid out: transcribers' apparatus, and how its headings stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from relic_core.domain import LeftOut
from relic_core.text.blocks import Block, cut_block, line_width, manner_of, refuse_too_many, split_blocks
from relic_core.text.contents import find_contents, is_list
from relic_core.text.headings import Heading, parse_heading
from relic_core.text.metadata import BY, labelled_head

_HEADER_ENDS = (
    re.compile(r"^[ \t]*\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG[^*]{0,300}\*{3}[^\n]*", re.MULTILINE),
    re.compile(r"^[ \t]*\*END[ *]*THE SMALL PRINT[^\n]*", re.MULTILINE),
)
_AUSTRALIAN = re.compile(r"^[^\n]*\b(?:gutenberg\.net\.au|Project Gutenberg(?: of)? Australia)\b[^\n]*", re.MULTILINE)
_OLD_HEADER = re.compile(
    r"^[^\n]*\b(?:file should be named|Corrected EDITIONS|public domain in the United States|"
    r"e-?texts? (?:was|were) (?:produced|prepared|typed|scanned))\b[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
"""Last lines of headers of the 1990s that no line ends."""
_FIRST_LINES = 300
_HEADER_ROOM = 40_000
"""Characters. The longest small print of the 1990s is about 12,000."""
_AUSTRALIAN_ROOM = 4_000
_FOOTER = re.compile(
    r"^[ \t]*(?:\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG"
    r"|End of (?:the |this )?Project Gutenberg\b"
    r"|This site is full of FREE ebooks"
    r"|START: FULL LICENSE)",
    re.MULTILINE | re.IGNORECASE,
)
_MARK = re.compile(
    r"^[ \t]*\[\s*(?P<word>illustration|picture|image|figure|plate|map|music|frontispiece|footnote|note|"
    r"(?:original )?(?:transcriber|editor|updater|project gutenberg)[^\]\n:]{0,30}note)s?\b",
    re.MULTILINE | re.IGNORECASE,
)
_MARK_ROOM = 4_000
_CREDIT = re.compile(
    r"(?:produced|prepared|scanned|proofread|digiti[sz]ed|transcribed|typed|e-?text)\b.{0,60}\b(?:by|from)\b"
    r"|special thanks\b"
    r"|e-?text prepared|html version|\(?this (?:file|e-?text|e-?book) was|note: project gutenberg"
    r"|online distributed proofreading",
    re.IGNORECASE,
)
_EDITORS_NOTE = re.compile(
    r"[*\[(]*(?:original |the )?(?:transcriber|contri?butor|editor|e-?text|e-?book|proofreader|updater|producer)"
    r"(?:'s|’s|s'|s’|s)? notes?\b",
    re.IGNORECASE,
)
_END = re.compile(r"(?:(?:the )?end|finis|fin|ende|конец)\.?", re.IGNORECASE)
_END_OF_PART = re.compile(
    r"(?:the )?end of (?:the )?(?:\w+[- ]?\w* )?(?:book|part|volume|vol\.)\b.{0,40}", re.IGNORECASE
)
_END_MATTER = re.compile(
    r"(?:a )?notes? on the texts?|notes?:|footnotes?[:.]?|end ?notes?[:.]?|(?:selected )?bibliography.{0,40}"
    r"|typographical errors corrected.*|list of corrections.*|appendix: production notes.*"
    r"|(?:other )?(?:novels|books|works) by.{0,60}|printed (?:in|by)\b.{0,100}|.{0,60}\bprinters\b.{0,60}",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\[\d{1,3}\]\s|\{\d{1,3}\}\s")
_PAGE = re.compile(r"[\[({]\s*(?:pg\.?|page|p\.)\s*\d{1,4}\s*[\])}]|\{\s*\d{1,4}\s*\}", re.IGNORECASE)
_PAGED = re.compile(r"\w.*(?:\s{3}|\.{3}).*\d$")
"""An entry of a contents list: what stands on a page, and the page."""
_DIGITAL = re.compile(r"e-?text|e-?book|gutenberg|transcri|electronic", re.IGNORECASE)


def licence(text: str) -> tuple[int, int]:
    """Find where the text proper begins and ends between Project Gutenberg's header, or labelled lines, and footer."""
    ends = (pattern.search(text, 0, _HEADER_ROOM) for pattern in _HEADER_ENDS)
    start = max((end.end() for end in ends if end), default=0)
    start = start or max((found.end() for found in _AUSTRALIAN.finditer(text, 0, _AUSTRALIAN_ROOM)), default=0)
    if not start and "Project Gutenberg" in text[:_FIRST_LINES]:
        first_footer = _FOOTER.search(text)
        room = min(_HEADER_ROOM, first_footer.start() if first_footer else len(text))
        start = max((found.end() for found in _OLD_HEADER.finditer(text, 0, room)), default=0)
    start = start or labelled_head(text)
    footer = _FOOTER.search(text, start)
    return start, footer.start() if footer and text[start : footer.start()].strip() else len(text)


def bracketed(text: str, start: int, end: int) -> list[LeftOut]:
    """Find marks in square brackets that begin a line: illustrations, footnotes, notes by the maker of the file.

    A mark may run over lines and paragraphs; one whose bracket is not closed within 4,000 characters is none.
    """
    closings = _closings(text, start, end)
    found: list[LeftOut] = []
    for mark in _MARK.finditer(text, start, end):
        opening = text.index("[", mark.start())
        closing = closings.get(opening, end)
        inside = bool(found) and opening < found[-1].end
        if inside or closing - opening > _MARK_ROOM or opening not in closings:
            continue
        kind = _mark_kind(mark["word"].lower(), text[opening:closing])
        if kind:
            found.append(LeftOut(start=opening, end=closing, kind=kind))
    return found


def _closings(text: str, start: int, end: int) -> dict[int, int]:
    open_ones: list[int] = []
    closings: dict[int, int] = {}
    for bracket in re.finditer(r"[\[\]]", text[start:end]):
        if bracket[0] == "[":
            open_ones.append(start + bracket.start())
        elif open_ones:
            closings[open_ones.pop()] = start + bracket.end()
    return closings


def _mark_kind(word: str, mark: str) -> str:
    if word == "footnote":
        return "note"
    if word == "note":  # an author may write such a note too; only one that speaks of files is not the author's
        return "editor's note" if _DIGITAL.search(mark) else ""
    return "editor's note" if "note" in word else "illustration"


def own_kind(block: Block) -> str:
    """Say what a block is that is not the author's text whatever stands around it; empty for any other block."""
    if not block.short:
        return "note" if _NOTE.match(block.lines[0].lstrip()) else ""
    joined = " ".join(block.lines).strip()
    if not any(character.isalnum() for character in joined):
        return "" if re.search(r"[\"'“”‘’?!]", joined) else "break"
    if _PAGE.fullmatch(joined):
        return "page number"
    if _NOTE.match(joined):
        return "note"
    return "end matter" if _END_OF_PART.fullmatch(block.flat) else ""


def is_editors_note(block: Block) -> bool:
    """Whether a block heads or begins a note by the maker of the file."""
    return bool(_EDITORS_NOTE.match(block.lines[0].strip()))


def is_the_end(block: Block) -> bool:
    """Whether a block says that the work ends here; such words may also be the title of the last chapter."""
    return len(block.lines) == 1 and bool(_END.fullmatch(block.flat))


def end_matter_kind(block: Block) -> str:
    """Say what begins with this block, if it is something that stands behind a work; empty if it is not."""
    if is_editors_note(block):
        return "editor's note"
    if block.short and _END_MATTER.fullmatch(block.flat):
        return "note" if "footnote" in block.flat.lower() else "end matter"
    return ""


def editors_notes(blocks: Sequence[Block], stops: set[int]) -> dict[int, str]:
    """Find notes by the maker of the file before or inside a work, heading and text.

    - `stops`: blocks that begin something else for certain (headings).
    """
    found: dict[int, str] = {}
    for index, block in enumerate(blocks):
        if index in found or not is_editors_note(block):
            continue
        found[index] = "editor's note"
        if not _EDITORS_NOTE.fullmatch(block.flat.rstrip(".:") if block.short else ""):
            continue  # the note itself follows its heading in the same block
        for following in range(index + 1, len(blocks)):
            new_page = blocks[following].gap >= 3 and following > index + 1  # noqa: PLR2004 - blank lines of a new page
            if following in stops or new_page:
                break
            found[following] = "editor's note"
    return found


_TITLE_PAGE = 12
"""Blocks at the beginning among which credits and a title page stand."""
_SMALL = 3
"""Lines of a block in which a heading may hide behind another line."""


@dataclass(frozen=True)
class Layout:
    """The blocks of a text and what is known of each by itself, by index.

    - `headings`: what a block says if it is a heading; of no block in `kinds`.
    - `kinds`: what a block is that is not the author's text whatever stands around it.
    - `entries`: titles that a contents list names without a number (`contents.find_contents`).
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


def lay_out(text: str, start: int, end: int, *, of_a_work: bool = True) -> Layout:
    """Lay out ``text[start:end]``, the text between Project Gutenberg's header and footer.

    - `of_a_work`: it is refused where it has more paragraphs than any work, before they are looked at.
    """
    blocks, kinds = _cut(text, start, end, of_a_work=of_a_work)
    for index, block in enumerate(blocks):
        kind = kinds.get(index) or own_kind(block)
        if not kind and index < _TITLE_PAGE and block.short and _CREDIT.match(block.flat):  # who made the file
            kind = "editor's note"
        if kind:
            kinds[index] = kind
    headings = {
        index: heading
        for index, block in enumerate(blocks)
        if index not in kinds and (heading := parse_heading(block)) is not None
    }
    paged = [index for index in headings if _PAGED.search(blocks[index].lines[-1])]
    kinds |= dict.fromkeys(paged if len(paged) > 1 else (), "contents")
    width = line_width(blocks)
    contents, entries = find_contents(blocks, headings, width)
    kinds = contents | kinds
    kinds |= editors_notes(blocks, set(headings) - set(kinds))
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
    named = any(re.match(BY, layout.blocks[index].flat, re.IGNORECASE) for index in page)
    return page if named or layout.blocks[after].gap > 1 else set()


def _cut(text: str, start: int, end: int, *, of_a_work: bool) -> tuple[list[Block], dict[int, str]]:
    """Cut a text into blocks: bracketed marks for themselves, headings off the lines around them."""
    blocks: list[Block] = []
    kinds: dict[int, str] = {}
    position = start
    manner = manner_of(text, start, end)
    for mark in (*bracketed(text, start, end), LeftOut(end, end, "")):
        for block in split_blocks(text, position, mark.start, manner):
            blocks += _off_prose(block, text, on_title_page=len(blocks) < _TITLE_PAGE)
            if of_a_work:
                refuse_too_many(len(blocks), what="The text")
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
    if len(block.lines) > (_TITLE_PAGE if on_title_page else _SMALL) or is_list(block):
        return 0
    for line in range(1, len(block.lines)):
        heading = parse_heading(replace(block, lines=block.lines[line:]))
        if heading is not None and heading.level in {"part", "chapter"} and heading.value:
            last = line == len(block.lines) - 1
            if not heading.bare or (on_title_page and last and heading.value == 1):
                return line
    return 0
