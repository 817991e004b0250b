"""A chapter ready to be set: its paragraphs as in the source, each sentence with its address, and what stands between.

Of what was left out of the work only that is shown which a reader of the chapter would miss: breaks, headings of
sections, and footnotes, each where it stands. The chapter's own heading is its name; marks of pages and illustrations,
licences and lists of contents are not shown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Literal

from relic_core.domain import Address, LeftOut, Paragraph, ParagraphKind, Sentence, Span, Work
from relic_core.reporting.passages import Piece, Setting
from relic_core.text.typography import printed, printed_pieces

LINES_NUMBERED = 5
"""Of numbered verse every fifth line shows its number, as in print."""

AsideKind = Literal["break", "heading", "note"]
_ASIDES: dict[str, AsideKind] = {"break": "break", "heading": "heading", "note": "note", "editor's note": "note"}


@dataclass(frozen=True, slots=True)
class ChapterStretch:
    """A sentence, or what stands between two."""

    pieces: tuple[Piece, ...]
    address: Address | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class ChapterParagraph:
    """One paragraph of a chapter.

    - `stretches`: sentences and what stands between them, in the order of the text.
    - `speaker`: who speaks, where the edition prints it over this paragraph; empty elsewhere.
    - `opens`: it is the first, or the first after a break, a heading or a note: its first line is not indented.
    """

    index: int
    kind: ParagraphKind
    number: int
    stretches: tuple[ChapterStretch, ...]
    speaker: str = ""
    opens: bool = False
    notes: tuple[int, ...] = ()
    hangs_on: int | None = None


@dataclass(frozen=True, slots=True)
class Aside:
    """What stands between paragraphs and is none: a break, the heading of a section, a footnote."""

    kind: AsideKind
    text: str


@dataclass(frozen=True, slots=True, eq=False)  # long, and each is one of its own
class SetChapter:
    """A chapter, ready to be set."""

    index: int
    part: str
    name: str
    body: tuple[ChapterParagraph | Aside, ...]
    notes: tuple[ChapterParagraph, ...]
    span: Span


def printed_chapter(chapter: SetChapter) -> SetChapter:
    """Set the words of a chapter as a printed edition would; sentences stay where they are."""
    body = tuple(
        replace(each, text=printed(each.text)) if isinstance(each, Aside) else _printed(each) for each in chapter.body
    )
    return replace(chapter, body=body, notes=tuple(map(_printed, chapter.notes)))


def _printed(paragraph: ChapterParagraph) -> ChapterParagraph:
    pieces = chain.from_iterable(stretch.pieces for stretch in paragraph.stretches)
    texts = iter(printed_pieces([piece.text for piece in pieces]))
    stretches = []
    for stretch in paragraph.stretches:
        printed = tuple(replace(piece, text=next(texts)) for piece in stretch.pieces)
        stretches.append(replace(stretch, pieces=printed))
    return replace(paragraph, stretches=tuple(stretches))


def chapter_name(work: Work, index: int) -> str:
    """Name a chapter without the part it is in; by the part where nothing else is printed over it."""
    return replace(work.chapters[index], part="").name or work.chapter_name(index)


def chapter_span(work: Work, index: int) -> Span:
    """Give the sentences of a chapter; of length 0 where it has none."""
    first = bisect_left(work.sentences, index, key=lambda sentence: sentence.chapter)
    return Span(first, bisect_left(work.sentences, index + 1, key=lambda sentence: sentence.chapter) - first)


def set_chapter(work: Work, index: int) -> SetChapter:
    """Set the chapter at a position, from 0."""
    span = chapter_span(work, index)
    by_paragraph = groupby(work.sentences[span.start : span.end], key=lambda sentence: sentence.paragraph)
    sentences = {paragraph: tuple(members) for paragraph, members in by_paragraph}

    def plain(paragraph: Paragraph) -> ChapterParagraph:
        stretches = _stretches(work, paragraph, sentences.get(paragraph.index, ()))
        return ChapterParagraph(paragraph.index, paragraph.kind, paragraph.number, stretches)

    paragraphs = [paragraph for paragraph in work.paragraphs if paragraph.chapter == index]
    text = [paragraph for paragraph in paragraphs if paragraph.kind != "note"]
    notes = [paragraph for paragraph in paragraphs if paragraph.kind == "note"]
    hanging: dict[int | None, list[int]] = {}
    for note in notes:
        hanging.setdefault(note.note_to, []).append(note.number)
    body: list[ChapterParagraph | Aside] = []
    before: Paragraph | None = None
    for paragraph in text:
        between = _left_out(work, before.end, paragraph.start) if before else []
        asides = tuple(_asides(work, between))
        body.extend(asides)
        named = any(left.kind == "speaker" for left in between) or before is None or paragraph.speaker != before.speaker
        speaker = paragraph.speaker if named else ""
        opens, notes_to = before is None or bool(asides), tuple(hanging.get(paragraph.index, ()))
        body.append(replace(plain(paragraph), speaker=speaker, opens=opens, notes=notes_to))
        before = paragraph
    return SetChapter(
        index=index,
        part=work.chapters[index].part,
        name=chapter_name(work, index),
        body=tuple(body),
        notes=tuple(
            replace(plain(note), hangs_on=None if note.note_to is None else work.paragraphs[note.note_to].number)
            for note in notes
        ),
        span=span,
    )


def _left_out(work: Work, start: int, end: int) -> list[LeftOut]:
    first = bisect_left(work.left_out, start, key=lambda left: left.start)
    last = bisect_left(work.left_out, end, key=lambda left: left.start)
    return list(work.left_out[first:last])


def _asides(work: Work, between: Iterable[LeftOut]) -> Iterator[Aside]:
    before = ""
    for left in between:
        kind = _ASIDES.get(left.kind)
        if kind is None or kind == before == "break":
            continue
        before = kind
        yield Aside(kind, " ".join(work.text[left.start : left.end].split()).replace("_", ""))


def _stretches(work: Work, paragraph: Paragraph, sentences: Iterable[Sentence]) -> tuple[ChapterStretch, ...]:
    setting = Setting(work, paragraph)
    stretches: list[ChapterStretch] = []
    before = paragraph.start
    for sentence in sentences:
        stretches.append(ChapterStretch(tuple(setting.pieces(before, sentence.start))))
        place = work.place(Span(sentence.index, 1))
        stretches.append(
            ChapterStretch(tuple(setting.pieces(sentence.start, sentence.end)), place.address, place.label)
        )
        before = sentence.end
    stretches.append(ChapterStretch(tuple(setting.pieces(before, paragraph.end))))
    if paragraph.kind == "verse" and paragraph.line is not None:
        stretches = _with_line_numbers(stretches, paragraph.line)
    return tuple(stretch for stretch in stretches if stretch.pieces)


def _with_line_numbers(stretches: Iterable[ChapterStretch], line: int) -> list[ChapterStretch]:
    numbered = []
    begins = True
    for stretch in stretches:
        pieces = []
        for piece in stretch.pieces:
            for text in re.findall(r"[^\n]*\n|[^\n]+", piece.text):
                shown = line if begins and line % LINES_NUMBERED == 0 else 0
                pieces.append(replace(piece, text=text, line=shown))
                begins = text.endswith("\n")
                line += begins
        numbered.append(replace(stretch, pieces=tuple(pieces)))
    return numbered
