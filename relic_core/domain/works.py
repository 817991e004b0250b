"""Works: one edition of one text, cut into chapters, paragraphs and sentences; what is known of it beside its text."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from operator import attrgetter
from typing import Literal

import numpy as np
import numpy.typing as npt

from relic_core.domain.places import Address, Place
from relic_core.domain.runs import Offsets
from relic_core.domain.spans import Span
from relic_core.errors import NotFound

_VERSE = re.compile(r"(?<!\d)\d{1,3}:(\d{1,3})[ \t]{1,4}\Z")
_NUMBER = 12
"""Characters that the number of a verse takes, before the verse."""

Format = Literal["plain text", "EPUB", "TEI"]
ParagraphKind = Literal["prose", "verse", "stage", "note"]


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter of a work: the prose from below its heading, which `start` includes, to the next heading.

    - `number`, `title`, `part`: as printed ("IV", "ONE"), on one line; empty where there is none.
    """

    index: int
    start: int
    end: int
    number: str = ""
    title: str = ""
    part: str = ""

    @property
    def name(self) -> str:
        """How a person would name the chapter; empty where nothing is printed over it.

        >>> Chapter(index=0, start=0, end=9, number="IV", title="The Ferry", part="Book One").name
        'Book One, Chapter IV: The Ferry'
        >>> Chapter(index=0, start=0, end=9, title="Prelude").name
        'Prelude'
        """
        own = f"Chapter {self.number}" if self.number else ""
        own = f"{own}: {self.title}" if own and self.title else own or self.title
        return ", ".join(piece for piece in (self.part, own) if piece)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of prose or verse, a stage direction or a note by the author; headings and apparatus are not paragraphs.

    - `number`: position in its chapter, from 1: what a citation gives. Notes are counted by themselves.
    - `kind`: verse keeps its lines when shown. The notes of a chapter stand behind its other paragraphs, so that a
      passage never runs from the text into a note and back.
    - `speaker`: who speaks, as printed over a speech of a play.
    - `line`: number of the first line, where an edition numbers its lines of verse or they can be counted in its
      chapter.
    """

    index: int
    start: int
    end: int
    chapter: int
    number: int
    kind: ParagraphKind = "prose"
    speaker: str = ""
    line: int | None = None
    note_to: int | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a work by RELiC's rule; ``work.text[start:end]`` is it to the letter, no white space at its ends."""

    index: int
    start: int
    end: int
    chapter: int
    paragraph: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A stretch of the file that is not the author's text, and why it was set aside.

    - `kind`: "licence", "front matter", "contents", "illustration", "editor's note", "note" (a footnote), "hidden",
      "page number", "verse number", "break", "heading", "speaker", "end matter".
    """

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Work:
    r"""One edition of one text.

    - `id`: short readable identity: a slug of the title and the first eight digits of the text's sha256.
    - `source`: where the text came from, in words.
    - `text`: the whole file, decoded, with line ends made "\\n"; of an EPUB or a TEI file, its words as plain text.
      Nothing is cut from it, so offsets stay true to it.
    - `sentences`: only the author's text has them.
    - `guessed`: which of author and year no catalogue says and nobody has confirmed: "author, year".
    - `cuts`: what models leave out of its sentences, so that they read broken words whole: see `text.unbroken`.
    """

    id: str
    title: str
    author: str
    text: str = field(repr=False)
    sha256: str
    segmenter: str
    chapters: tuple[Chapter, ...] = field(repr=False)
    paragraphs: tuple[Paragraph, ...] = field(repr=False)
    sentences: tuple[Sentence, ...] = field(repr=False)
    left_out: tuple[LeftOut, ...] = field(default=(), repr=False)
    year: int | None = None
    translator: str = ""
    source: str = ""
    format: Format = "plain text"
    guessed: str = ""
    cuts: tuple[Offsets, ...] = field(default=(), repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """Sha256 over the text and where its sentences stand."""
        places = np.array([(sentence.start, sentence.end) for sentence in self.sentences], dtype="<i8")
        return fingerprint(self.sha256, places)

    @cached_property
    def reading(self) -> str:
        """What an index of the work was made for: see `reading`."""
        return reading(self.fingerprint, self.cuts)

    @property
    def version(self) -> WorkVersion:
        """What names its indexes."""
        return WorkVersion(
            id=self.id,
            title=self.title,
            fingerprint=self.fingerprint,
            reading=self.reading,
            segmenter=self.segmenter,
            sentences=len(self.sentences),
        )

    def candidates(self, length: int) -> int:
        """Count the spans of `length` sentences."""
        return max(0, len(self.sentences) - length + 1)

    def sentence_text(self, index: int) -> str:
        """Return one sentence to the letter."""
        sentence = self.sentences[index]
        return self.text[sentence.start : sentence.end]

    def span_text(self, span: Span) -> str:
        """Return the text of a span to the letter, from its first character to its last."""
        start, end = self.span_offsets(span)
        return self.text[start:end]

    def span_offsets(self, span: Span) -> tuple[int, int]:
        """Say where the text of a span begins and ends."""
        return self.sentences[span.start].start, self.sentences[span.end - 1].end

    def span_between(self, start: int, end: int) -> Span | None:
        """Give the sentences that share a character with a stretch of the text; None where none does."""
        first = bisect_right(self.sentences, start, key=attrgetter("end"))
        last = bisect_left(self.sentences, end, key=attrgetter("start"))
        return Span(first, last - first) if first < last else None

    def span_around(self, span: Span, length: int) -> Span:
        """Give the span of `length` sentences that holds another, or lies in the midst of it."""
        start = span.start - (length - span.length) // 2 if length > span.length else span.start
        return Span(max(0, min(start, len(self.sentences) - length)), length)

    def chapter_name(self, index: int) -> str:
        """Name a chapter, by its place where nothing is printed over it."""
        if named := self.chapters[index].name:
            return named
        if len(self.chapters) == 1:
            return "The text"
        return "Before the first chapter" if index == 0 else f"Section {index + 1}"

    def place(self, span: Span) -> Place:
        """Say where a span stands."""
        first = self.sentences[span.start]
        paragraph = self.paragraphs[first.paragraph]
        line = paragraph.line
        if line is not None:
            line += self.text.count("\n", paragraph.start, first.start)
        verse = _VERSE.search(self.text, max(0, paragraph.start - _NUMBER), paragraph.start)
        return Place(
            chapter=self.chapter_name(first.chapter),
            chapter_index=first.chapter,
            paragraph=paragraph.number,
            sentence=first.index + 1,
            fraction=first.index / max(1, len(self.sentences) - 1),
            address=self.address(first.index),
            speaker=paragraph.speaker,
            line=line,
            note=paragraph.kind == "note",
            verse=int(verse[1]) if verse else 0,
        )

    def address(self, index: int) -> Address:
        """Give the stable address of a sentence."""
        sentence = self.sentences[index]
        paragraph = self.paragraphs[sentence.paragraph]
        return Address(
            chapter=sentence.chapter + 1,
            paragraph=paragraph.number,
            sentence=index - self._first_sentence(sentence.paragraph) + 1,
            note=paragraph.kind == "note",
        )

    def sentence_at(self, address: Address) -> int:
        """Find the sentence of an address; where its paragraph has fewer sentences now, the last of them."""
        wanted = (address.chapter - 1, address.note, address.paragraph)
        for paragraph in self.paragraphs:
            if (paragraph.chapter, paragraph.kind == "note", paragraph.number) == wanted:
                first = self._first_sentence(paragraph.index)
                held = self._first_sentence(paragraph.index + 1) - first
                if not held:
                    break  # a paragraph of marks, without a sentence
                return first + min(address.sentence, held) - 1
        raise NotFound(
            f"{self.title} has no passage {address}: it has {len(self.chapters)} chapters in this edition. An address "
            "is chapter.paragraph.sentence; open the chapter from the list of contents instead."
        )

    def span_at(self, at: str, length: int, *, within_chapter: bool = False) -> Span:
        """Give the passage at an address, as far as the work, or its chapter, has sentences."""
        first = self.sentence_at(Address.parse(at))
        last = min(first + length, len(self.sentences))
        while within_chapter and self.sentences[last - 1].chapter != self.sentences[first].chapter:
            last -= 1
        return Span(first, last - first)

    def _first_sentence(self, paragraph: int) -> int:
        return bisect_left(self.sentences, paragraph, key=attrgetter("paragraph"))


GIVEN_PASSAGES = "given passages/1"
"""The segmenter of a work that was made of passages which do not follow each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkVersion:
    """What names the indexes of a work, without its text."""

    id: str
    title: str
    fingerprint: str
    reading: str
    segmenter: str
    sentences: int

    def candidates(self, length: int) -> int:
        """Count the spans of `length` sentences."""
        return max(0, self.sentences - length + 1)


def fingerprint(sha256: str, places: npt.NDArray[np.int64]) -> str:
    """Digest a text and where its sentences stand."""
    return hashlib.sha256(sha256.encode() + places.astype("<i8").tobytes()).hexdigest()


def reading(fingerprinted: str, cuts: Sequence[Offsets]) -> str:
    """Digest what models read of a work: the fingerprint where nothing is cut from its sentences."""
    return fingerprint(fingerprinted, np.array(cuts)) if cuts else fingerprinted


@dataclass(frozen=True, slots=True)
class WorkSummary:
    """A line of the catalogue of stored works, without the text."""

    id: str
    title: str
    author: str
    year: int | None
    translator: str
    source: str
    sha256: str
    chapters: int
    sentences: int
    words: int
    added: datetime
    format: Format = "plain text"
    guessed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionDetails:
    """What a citation needs of an edition besides what `WorkSummary` says; empty or None where it is not known.

    Several persons are parted by a semicolon, a comma or "and".

    - `collection`: the book that a story, an essay or a poem is collected in.
    - `edition`: "2nd", "Revised": without it a first edition is meant.
    - `year`: of this edition; the year of the work is that of its first publication.
    - `language`: of the text, as a code or a name: "en".
    """

    editor: str = ""
    collection: str = ""
    volume: str = ""
    volumes: int | None = None
    edition: str = ""
    publisher: str = ""
    place: str = ""
    year: int | None = None
    container: str = ""
    number: str = ""
    url: str = ""
    accessed: date | None = None
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedWork:
    """A work as it is cited; its year is that of first publication."""

    id: str
    title: str
    author: str = ""
    translator: str = ""
    year: int | None = None
    details: EditionDetails = field(default_factory=EditionDetails)
    guessed: str = ""
