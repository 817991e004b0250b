"""Passages ready to be set on a page: verbatim words, with the line wraps of the file undone.

A passage is a list of paragraphs, a paragraph a list of pieces. Prose loses only the hard line wraps of its file, with
the hyphens that part a word there; verse keeps its lines; `_italics_` of plain-text editions become italic pieces, also
where they run over several sentences. What was left out of the work (headings, illustration marks) is not part of a
passage, and the words are never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise

from relic_core.domain import Paragraph, ParagraphKind, Sentence, Span, Work
from relic_core.text.line_ends import line_ends
from relic_core.text.typography import printed, printed_pieces
from relic_core.text.unbroken import without

Light = tuple[int, int]
"""Half-open character offsets of a word to light."""

_ITALIC = re.compile(r"_(?=\S)([^_]{1,2000}?)(?<=\S)_", re.DOTALL)

_PAUSE = re.compile(r"[:;,—–-][\"'”’)\]_]*$")
_SMALL = re.compile(r"[\"'“‘(\[_—–-]*[a-zà-ÿ]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text set in one way.

    - `text`: as it is shown; lines of verse are parted by a line feed.
    - `gold`: it belongs to the passage asked for, not to its surroundings.
    - `line`: number to show beside the line of verse that begins here; 0 for none.
    """

    text: str
    gold: bool = True
    lit: bool = False
    italic: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class SetParagraph:
    """One paragraph, or the part of it that is shown."""

    kind: ParagraphKind
    number: int
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Its words as plain text."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences of a work, ready to be set."""

    paragraphs: tuple[SetParagraph, ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces, paragraph after paragraph."""
        return tuple(chain.from_iterable(paragraph.pieces for paragraph in self.paragraphs))

    @property
    def plain(self) -> str:
        """The passage as plain text: paragraphs parted by a blank line."""
        return "\n\n".join(paragraph.text for paragraph in self.paragraphs)


def quotation(
    work: Work, span: Span, *, within: Span | None = None, light: Callable[[str], Sequence[Light]] | None = None
) -> Passage:
    """Set the sentences of a span, `within` a longer one where it is given; only they are gold.

    - `light`: gives the offsets of the words to light in a sentence handed to it.
    """
    shown = within or span
    return _set(work, work.sentences[shown.start : shown.end], gold=span, light=light)


_REST = 40
"""Words on either side up to which the rest of a sentence is set with a passage."""


def whole_sentences(work: Work, span: Span) -> Span:
    """Widen a span to the grammatical sentences that it begins and ends in.

    RELiC's rule ends a sentence at colons and semicolons too. A long rest is left out from its far end.
    """
    first, last, room = span.start, span.end, [_REST, _REST]
    while first and _goes_on(work, first - 1) and (words := len(work.sentence_text(first - 1).split())) <= room[0]:
        first, room[0] = first - 1, room[0] - words
    while _goes_on(work, last - 1) and (words := len(work.sentence_text(last).split())) <= room[1]:
        last, room[1] = last + 1, room[1] - words
    return Span(first, last - first)


def grown(work: Work, line: Span, passage: Span, *, words: int) -> Span:
    """Widen a line by whole sentences up to so many words, as `widened` does; a line that is longer stays as it is."""
    while (wider := widened(work, line, passage)) != line and len(work.span_text(wider).split()) <= words:
        line = wider
    return line


def widened(work: Work, line: Span, passage: Span) -> Span:
    """Widen a line by a whole sentence of its chapter, one of its passage first; of one on either side the shorter.

    Where it is its whole chapter it stays as it is.
    """
    wider = []
    for at, inside in ((line.start - 1, line.start > passage.start), (line.end, line.end < passage.end)):
        if 0 <= at < len(work.sentences) and work.sentences[at].chapter == work.sentences[line.start].chapter:
            more = whole_sentences(work, Span(at, 1))
            first, last = min(line.start, more.start), max(line.end, more.end)
            reached = Span(first, last - first)
            wider.append((not inside, len(work.span_text(reached).split()), reached))
    return min(wider)[-1] if wider else line


def _goes_on(work: Work, index: int) -> bool:
    if index + 1 == len(work.sentences) or work.sentences[index].paragraph != work.sentences[index + 1].paragraph:
        return False
    return bool(_PAUSE.search(work.sentence_text(index)) or _SMALL.match(work.sentence_text(index + 1)))


def surroundings(work: Work, span: Span, *, sentences: int) -> Passage:
    """Set a span with up to `sentences` sentences of its chapter before and after it; only the span is gold."""
    chapter = work.sentences[span.start].chapter
    last_chapter = work.sentences[span.end - 1].chapter
    first = max(0, span.start - sentences)
    last = min(len(work.sentences), span.end + sentences)
    shown = [s for s in work.sentences[first:last] if chapter <= s.chapter <= last_chapter]
    return _set(work, shown, gold=span, light=None)


def _set(
    work: Work, sentences: Sequence[Sentence], *, gold: Span, light: Callable[[str], Sequence[Light]] | None
) -> Passage:
    paragraphs = []
    for index, members in groupby(sentences, key=lambda sentence: sentence.paragraph):
        paragraph = work.paragraphs[index]
        setting = Setting(work, paragraph)
        pieces: list[Piece] = []
        before: int | None = None
        for sentence in members:
            is_gold = gold.start <= sentence.index < gold.end
            if before is not None:
                pieces.extend(setting.pieces(before, sentence.start, gold=is_gold and sentence.index > gold.start))
            lights = light(work.text[sentence.start : sentence.end]) if light else ()
            pieces.extend(setting.pieces(sentence.start, sentence.end, lights, gold=is_gold))
            before = sentence.end
        paragraphs.append(SetParagraph(kind=paragraph.kind, number=paragraph.number, pieces=tuple(pieces)))
    return Passage(tuple(paragraphs))


def printed_passage(passage: Passage) -> Passage:
    """Set a passage as a printed edition would; pieces stay as they are cut, so that what is lit stays lit."""
    paragraphs = []
    for paragraph in passage.paragraphs:
        texts = printed_pieces([piece.text for piece in paragraph.pieces])
        pieces = (replace(piece, text=text) for piece, text in zip(paragraph.pieces, texts, strict=True))
        paragraphs.append(replace(paragraph, pieces=tuple(pieces)))
    return Passage(tuple(paragraphs))


def printed_words(words: str) -> str:
    """Set words as a printed edition would; paragraphs are parted by an empty line."""
    return "".join(map(printed, re.split(r"(\n\s*\n)", words)))


class Setting:
    """Sets stretches of one paragraph, whose italics may run over several sentences."""

    def __init__(self, work: Work, paragraph: Paragraph) -> None:
        self._text = work.text
        self._kind = paragraph.kind
        prose = paragraph.kind != "verse"
        self._gone = line_ends(work.text, paragraph.start, paragraph.end, work.cuts) if prose else []
        self._italics = [found.span() for found in _ITALIC.finditer(work.text, paragraph.start, paragraph.end)]

    def pieces(self, start: int, end: int, lights: Sequence[Light] = (), *, gold: bool = True) -> list[Piece]:
        """Cut a stretch at the borders of lit words, counted from `start`, and italics."""
        marks = {a for a, _ in self._italics} | {b - 1 for _, b in self._italics}
        lit = [(start + a, start + b) for a, b in lights]
        ends = {*chain.from_iterable(lit), *marks, *(a + 1 for a in marks)}
        borders = sorted({start, end} | {border for border in ends if start < border < end})
        pieces = []
        for a, b in pairwise(borders):
            if a in marks and b == a + 1:
                continue  # the underscore itself
            is_lit = any(first <= a and b <= last for first, last in lit)
            italic = any(first < a and b < last for first, last in self._italics)
            words = without(self._text, a, b, self._gone)
            pieces.append(Piece(_unwrap(words, self._kind), gold=gold, lit=is_lit, italic=italic))
        return pieces


def _unwrap(text: str, kind: ParagraphKind) -> str:
    r"""Undo the hard line wraps of prose; keep the lines of verse.

    >>> _unwrap("the long\nline", "prose")
    'the long line'
    """
    if kind == "verse":
        return re.sub(r"[ \t]*\n[ \t]*", "\n", text)
    return re.sub(r"\s+", " ", text)


def light_words(passage: Passage, words: str) -> Passage:
    """Light some words of one paragraph where they occur in a passage's gold to the letter but for white space."""
    typed = [re.escape(word) + (r"\s*" if word.endswith("-") else r"\s+") for word in words.split()]
    wanted = re.compile("".join(typed).removesuffix(r"\s+") or r"(?!)")
    paragraphs = []
    for paragraph in passage.paragraphs:
        text = paragraph.text
        lit = [found.span() for found in wanted.finditer(text)]
        pieces: list[Piece] = []
        start = 0
        for piece in paragraph.pieces:
            end = start + len(piece.text)
            borders = sorted({start, end, *(at for at in chain.from_iterable(lit) if start < at < end)})
            for first, last in pairwise(borders):
                inside = piece.gold and any(begin <= first and last <= stop for begin, stop in lit)
                line = piece.line if first == start else 0
                pieces.append(replace(piece, text=text[first:last], lit=inside, line=line))
            start = end
        paragraphs.append(replace(paragraph, pieces=tuple(pieces)))
    return Passage(tuple(paragraphs))
