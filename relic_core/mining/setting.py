"""How the blocks of a secondary text are set: running text, quotations set off, verse, footnotes, headings, lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from relic_core.text.blocks import Block, is_verse, split_blocks
from relic_core.text.contents import is_prose
from relic_core.text.headings import is_capitals
from relic_core.text.layout import Layout, lay_out, licence

CENTRED = 12
"""Columns by which a line is indented that is centred or set to the right."""
LINE = 70
"""Characters of a line that stands by itself, at the most."""
_IBID = re.compile(r"(?<=[.!?\"”’'])\s+_?(?:ibid|id|op\. cit|loc\. cit)\b[^\n]{0,60}\Z", re.IGNORECASE)

_CITES = re.compile(r"[”\"’'»]\s*\([^()]{0,80}\d[^()]{0,40}\)\W{0,9}\w")
"""A citation behind words in marks, and more after it: who quotes goes on in words of their own."""


def indent(line: str) -> int:
    """Count the columns before the first character of a line."""
    return len(line) - len(line.lstrip())


def inner_indent(block: Block) -> int:
    """Count the columns by which all lines of a block are set in."""
    return min(map(indent, block.lines))


def without_attribution(block: Block, text: str) -> int:
    """Where a quotation set off ends: before the line that says who wrote it, or where it stands."""
    if again := _IBID.search(text, block.start, block.end):
        return again.start()
    last = block.lines[-1]
    line = last.strip()
    begin = block.end - len(line)
    if len(block.lines) > 1 and len(line) < LINE:
        aside = indent(last) >= inner_indent(block) + CENTRED and (line[0] == "_" or is_capitals(line))
        if aside or _names_source(line):
            return block.start + len(text[block.start : begin].rstrip())
    dash = max(last.rfind("--"), last.rfind("—"))
    before = last[: max(dash, 0)].rstrip()
    if before and before[-1] in ".!?\"”’'" and _names_source(last[dash:]):
        return block.end - len(last) + len(before)
    return block.end


def _names_source(words: str) -> bool:
    """Whether words behind a dash are a name or a title: those of four letters and more have capitals."""
    if len(words) > LINE or not re.match(r"(?:--|—|―|\[)\s*[_A-Z“\"\[]", words) or re.search(r"[!?]", words):
        return False
    long = re.findall(r"[^\W\d_]{4,}", words)
    return all(word[0].isupper() for word in long)


_NOTE = re.compile(
    r"\s*(?:\[\d{1,4}[a-z]?\]|\{\d{1,4}[a-z]?\}|\[[A-Za-z]\]|\[\*{1,3}\]|\*{1,3}(?=\s?[^\s*])|[†‡]"
    r"|\[?(?:footnote|note)\s+(?:\d{1,4}|[a-z])\b[.:]?)\s*",
    re.IGNORECASE,
)
_NUMBERED_NOTE = re.compile(r"\s*(?:\(?\d{1,4}\)?[.:)]?\s|[\[{]\d{1,4}[\]}])")
_NOTES = re.compile(r"(?:foot|end)?notes?[.:]?(?: to (?:chapter|part|book).{0,40})?", re.IGNORECASE)
_LISTS = re.compile(
    r"(?:the |general |analytical |alphabetical |a |short |select |selected |chronological )*"
    r"(?:index|bibliograph\w+|catalogue|list of|chronolog\w+|glossary|advertisements?"
    r"|works by|by the same author|(?:other |new )?(?:books|works|publications) (?:by|published))\b.{0,80}",
    re.IGNORECASE,
)
_INDEX = re.compile(r"(?:the |general |analytical |alphabetical )*index\b.{0,60}", re.IGNORECASE)
_INDEX_LINE = re.compile(r"[^\d\s].{0,200}?[,;.\s]\s?(?:[ivxlc]+|\d{1,4})(?:[-–]\d{1,4})?\.?$")
_COLUMNS = re.compile(r"\S\s{3,}\S.*\S\s{3,}\S|\||=>|\.{5,}|(?:\. ){4,}")
_STANZA = re.compile(r"[\[(]?(?:\d{1,3}|[IVXLC]{1,7}|[ivxlc]{1,7})[\])]?\.?")
_SET_OFF = {"block", "verse"}
_MARK_AT_END = re.compile(r"(?:\s*\[\w{1,3}\]|[*†‡¹²³])+$")
_UNFINISHED = re.compile(r"[\w,;-]$")
_STEP = 2
"""Columns by which a quotation is set in at the least."""
_NARROW = 8
"""Columns by which the measure of a quotation is smaller at the least."""
_NEW_PAGE = 2
_FEW = 3
_HEADING = 250
_HEADED = -1
"""In the place of a note's indent: its number stands alone, and what is set in below it is the note."""
_FRONT = 20_000
"""Characters that title pages and lists take before the first paragraph, at the most."""
_PARAGRAPH = 500
_FIGURES = 0.03
"""Share of the words of a paragraph that hold figures; lists have more."""
_LAST_SHARE = 0.6
"""An index begins behind this share of a text."""


Setting = Literal["prose", "block", "verse", "note"]


@dataclass(frozen=True, slots=True)
class ProsePiece:
    """A paragraph, or what is set off like one.

    - `kind`: running text, a quotation set off as prose or as verse, a footnote.
    - `flow`: stretches with one number are read one after the other. A chapter is a flow, and so is each footnote: no
      context leaves the flow of its quotation.
    """

    start: int
    end: int
    kind: Setting
    flow: int


def find_pieces(text: str, *, of_a_book: bool = True) -> list[ProsePiece]:
    """Find what is read of a text without its `noise.printed_noise`, in order, by its places in the source.

    - `of_a_book`: titles and mottoes may stand before its first paragraph.
    """
    start, end = licence(text)
    layout = lay_out(text, start, end, of_a_work=False)
    return _Reader(text, layout, _Margins.of(layout, of_a_book=of_a_book)).read(of_a_book=of_a_book)


@dataclass(frozen=True, slots=True)
class _Margins:
    """Where the lines of a text begin: most, and the first of most paragraphs; `width` as in `Layout`."""

    left: int
    first: int
    width: int

    @classmethod
    def of(cls, layout: Layout, *, of_a_book: bool) -> _Margins:
        """Measure a text; in a short one, half of which may be quotations set off, the least indent is the margin."""
        inner: Counter[int] = Counter()
        first: Counter[int] = Counter()
        free = [layout.blocks[index] for index in layout.free]
        for block in free:
            if len(block.lines) >= _FEW and is_prose(block, layout.width):
                inner.update(indent(line) for line in block.lines[1:])
                first[indent(block.lines[0])] += 1
        left = inner.most_common(1)[0][0] if inner else 0
        if not of_a_book:
            left = min(map(inner_indent, free), default=0)
        return cls(left, first.most_common(1)[0][0] if first else left, layout.width)


class _Reader:
    def __init__(self, text: str, layout: Layout, margins: _Margins) -> None:
        self._text, self._layout, self._margins = text, layout, margins
        self._pieces: list[ProsePiece] = []
        self._chapter = self._flow = 0
        self._in_notes = self._in_list = False
        self._last: Literal["", "prose", "block", "verse", "note"] = ""
        self._noted = 0
        self._plain = 0
        self._of_a_book = True

    def read(self, *, of_a_book: bool) -> list[ProsePiece]:
        blocks = self._layout.blocks
        self._of_a_book = of_a_book
        begins = self._first_paragraph() if of_a_book else 0
        for index, block in enumerate(blocks):
            kind = self._layout.kinds.get(index, "")
            if kind == "note" or (not kind and self._is_note(block)):
                self._note(block)
            elif kind in {"contents", "end matter"}:
                self._last = ""
            elif kind:
                continue
            elif self._is_heading(index):
                if not self._numbers_stanza(index):
                    self._head(index)
            elif not self._still_in_list(block) and not _is_table(block) and index >= begins:
                self._set(block)
        return self._pieces

    def _first_paragraph(self) -> int:
        """Index of the first paragraph beyond doubt: before it stand titles and mottoes; 0 where it stands too late."""
        for index in self._layout.free:
            block = self._layout.blocks[index]
            if block.start - self._layout.blocks[0].start > _FRONT:
                break
            if not block.short or is_prose(block, self._margins.width):
                return index
        return 0

    def _numbers_stanza(self, index: int) -> bool:
        below = self._layout.below.get(index)
        bare = _STANZA.fullmatch(self._layout.blocks[index].flat)
        if bare is None or below is None or self._last not in _SET_OFF:
            return False
        return self._kind(self._layout.blocks[below]) in _SET_OFF

    def _head(self, index: int) -> None:
        flat = self._layout.blocks[index].flat
        self._chapter = self._flow = self._flow + 1
        self._last = ""
        self._in_notes = bool(_NOTES.fullmatch(flat))
        if _LISTS.fullmatch(flat):
            late = self._layout.blocks[index].start > _LAST_SHARE * len(self._text)
            self._in_list = not _INDEX.fullmatch(flat) or late
        elif self._in_list and len(flat) > 1:  # letters head the parts of an index
            late = self._layout.blocks[index].start > _LAST_SHARE * len(self._text)
            self._in_list = late and index not in self._layout.headings and not self._in_notes

    def _still_in_list(self, block: Block) -> bool:
        """Whether a block belongs to a list; a chronology may stand amid a chapter, which two long paragraphs tell."""
        if self._in_list:
            long = block.end - block.start > _PARAGRAPH and is_prose(block, self._margins.width)
            words = self._text[block.start : block.end].split() if long else []
            plain = sum(any(map(str.isdecimal, word)) for word in words) < _FIGURES * len(words)
            self._plain = self._plain + 1 if plain else 0
            self._in_list = self._plain < 2  # noqa: PLR2004 - the first may be a note on the list
        return self._in_list

    def _is_note(self, block: Block) -> bool:
        line = block.lines[0]
        if _NOTE.match(line) and not re.match(r"\s*\[[A-Za-z]\]\s", line[: line.find("]") + 2]):
            return True
        return self._in_notes and bool(_NUMBERED_NOTE.match(line))

    def _note(self, block: Block) -> None:
        if self._pieces and self._in_list:
            return
        self._flow += 1
        mark = _NOTE.match(self._text, block.start, block.end)
        start = mark.end() if mark else block.start
        end = block.end - (self._text[block.start] == "[" and self._text[block.end - 1] == "]")
        parts = list(split_blocks(self._text, start, end))
        kinds: Iterable[Setting] = (
            "verse" if at and is_verse(part, self._margins.width) else "note" for at, part in enumerate(parts)
        )
        self._pieces += [
            ProsePiece(part.start, part.end, kind, self._flow) for part, kind in zip(parts, kinds, strict=True)
        ]
        self._noted = inner_indent(block) if parts else _HEADED
        self._last = "note"

    def _set(self, block: Block) -> None:
        kind = self._kind(block)
        if self._in_notes or (self._last == "note" and self._goes_on(block, kind)):
            noted: Setting = "verse" if kind == "verse" and len(block.lines) > 1 else "note"
            self._pieces.append(ProsePiece(block.start, block.end, noted, self._flow))
            return
        above = self._pieces[-1] if self._pieces else None
        if (
            kind == "prose"
            and self._last == "prose"
            and above is not None
            and block.lines[0].lstrip()[0].islower()
            and _UNFINISHED.search(self._text, max(above.start, above.end - 1), above.end)
        ):
            self._pieces[-1] = replace(above, end=block.end)
            return
        end = block.end if kind == "prose" else without_attribution(block, self._text)
        if end > block.start:
            self._pieces.append(ProsePiece(block.start, end, kind, self._chapter))
            self._last = kind

    def _goes_on(self, block: Block, kind: str) -> bool:
        """Whether a block goes on with the note above it: set in like it, or like all that stands below its number."""
        if self._noted == _HEADED:
            return inner_indent(block) >= self._margins.left + _STEP
        if kind in _SET_OFF and self._ends_in_colon():
            return True
        return kind == "block" and inner_indent(block) == self._noted

    def _kind(self, block: Block) -> Literal["prose", "block", "verse"]:
        margins = self._margins
        if block.lines[0].lstrip().startswith("[") and block.lines[-1].endswith("]"):
            return "prose"  # what the critic says within a quotation
        indents = [indent(line) for line in block.lines]
        least = min(indents)
        lines = tuple(line[least:] for line in block.lines)
        inner = replace(block, lines=lines)
        set_in = least >= margins.left + _STEP and not (len(lines) == 1 and least == margins.first)
        if set_in and (len(lines) == 1 and len(lines[0]) < 0.85 * margins.width):
            return "verse"
        if len(lines) > 1 and is_verse(inner, margins.width):
            return "verse"
        led_in = self._last == "prose" and self._ends_in_colon() and block.gap == 1
        led_in = led_in and (self._of_a_book or not _CITES.search(block.flat))
        if set_in or self._is_narrow(lines) or led_in:
            return "block"
        return "prose"

    def _is_narrow(self, lines: Sequence[str]) -> bool:
        """Whether the lines of a paragraph keep within a measure of their own that is smaller than the text's."""
        longest = max(map(len, lines))
        full = all(len(line) > longest - CENTRED for line in lines[:-1])
        return len(lines) > _FEW and full and longest <= self._margins.width - _NARROW

    def _ends_in_colon(self) -> bool:
        end = self._text[self._pieces[-1].end - 3 : self._pieces[-1].end]
        return end.rstrip("-—– _").endswith(":")

    def _is_heading(self, index: int) -> bool:
        block = self._layout.blocks[index]
        if index in self._layout.headings:
            return True
        if not block.short or len(block.lines) > _FEW + 1 or block.end - block.start > _HEADING:
            return False
        flat = block.flat
        if is_capitals(flat) or _NOTES.fullmatch(flat):
            return True
        ends = _MARK_AT_END.sub("", flat)[-1:] in ".,;:!?—-\"”’'»)"
        whole = len(block.lines) == 1 and not flat[:1].islower() and not ends
        emphasised = block.lines[0].strip().startswith("_") and block.lines[-1].strip().rstrip(".").endswith("_")
        alone = block.gap >= _NEW_PAGE and len(flat) < LINE
        centred = indent(block.lines[0]) >= self._margins.left + CENTRED
        return (whole and (alone or centred)) or (emphasised and len(block.lines) == 1 and alone and "_" not in flat)


def _is_table(block: Block) -> bool:
    if not block.lines or len(block.lines) < _FEW:
        return False
    columns = sum(bool(_COLUMNS.search(line)) for line in block.lines if len(line) < 2 * _HEADING)
    numbers = sum(bool(_INDEX_LINE.match(line.strip())) for line in block.lines if len(line) < _HEADING)
    return columns > 0.4 * len(block.lines) or numbers > 0.5 * len(block.lines)
