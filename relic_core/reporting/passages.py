"""Passages ready to be set on a page: verbatim words, with the line wraps of the file undone.

A passage is a list of paragraphs, a paragraph a list of pieces. Prose loses only the hard line wraps of its file; verse
keeps its lines; `_italics_` of plain-text editions become italic pieces. What was left out of the work (headings,
illustration marks) is not part of a passage, and the words are never touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.domain import ParagraphKind, Sentence, Span, Work

Light = tuple[int, int]
"""Half-open character offsets of a word to light."""

_ITALIC = re.compile(r"_(?=\S)([^_]{1,400}?)(?<=\S)_", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text set in one way.

    Attributes
    ----------
    text : str
        As it is shown; lines of verse are parted by a line feed.
    gold : bool
        It belongs to the passage asked for, not to its surroundings.
    lit : bool
        A word shared with the claim.
    italic : bool
        Between underscores in the source.
    """

    text: str
    gold: bool = True
    lit: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class SetParagraph:
    """One paragraph, or the part of it that is shown."""

    kind: ParagraphKind
    number: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences of a work, ready to be set."""

    paragraphs: tuple[SetParagraph, ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces, paragraph after paragraph."""
        return tuple(piece for paragraph in self.paragraphs for piece in paragraph.pieces)

    @property
    def plain(self) -> str:
        """The passage as plain text: paragraphs parted by a blank line."""
        return "\n\n".join("".join(piece.text for piece in paragraph.pieces) for paragraph in self.paragraphs)


def quotation(work: Work, span: Span, *, light: Callable[[str], Sequence[Light]] | None = None) -> Passage:
    """Set the sentences of a span.

    Parameters
    ----------
    work : Work
        The work quoted.
    span : Span
        The sentences.
    light : callable, optional
        Gives the offsets of the words to light in a text handed to it.
    """
    return _set(work, work.sentences[span.start : span.end], gold=span, light=light)


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
        pieces: list[Piece] = []
        before: int | None = None
        for sentence in members:
            is_gold = gold.start <= sentence.index < gold.end
            if before is not None:
                gap = work.text[before : sentence.start]
                pieces.append(Piece(_unwrap(gap, paragraph.kind), gold=is_gold and sentence.index > gold.start))
            lights = light(work.text[sentence.start : sentence.end]) if light and is_gold else ()
            pieces.extend(_pieces(work.text[sentence.start : sentence.end], paragraph.kind, lights, gold=is_gold))
            before = sentence.end
        paragraphs.append(SetParagraph(kind=paragraph.kind, number=paragraph.number, pieces=tuple(pieces)))
    return Passage(tuple(paragraphs))


def _pieces(text: str, kind: ParagraphKind, lights: Sequence[Light], *, gold: bool) -> list[Piece]:
    """Cut a sentence at the borders of lit words and italics."""
    italics = [match.span() for match in _ITALIC.finditer(text)]
    marks = {place for start, end in italics for place in (start, end - 1)}
    borders = sorted(
        {0, len(text)}
        | {border for light in lights for border in light}
        | {border for start, end in italics for border in (start, start + 1, end - 1, end)}
    )
    pieces = []
    for start, end in pairwise(borders):
        if start in marks and end == start + 1:
            continue  # the underscore itself
        pieces.append(
            Piece(
                _unwrap(text[start:end], kind),
                gold=gold,
                lit=any(a <= start and end <= b for a, b in lights),
                italic=any(a < start and end < b for a, b in italics),
            )
        )
    return pieces


def _unwrap(text: str, kind: ParagraphKind) -> str:
    r"""Undo the hard line wraps of prose; keep the lines of verse.

    Examples
    --------
    >>> _unwrap("the long\nline", "prose")
    'the long line'
    """
    if kind == "verse":
        return re.sub(r"[ \t]*\n[ \t]*", "\n", text)
    return re.sub(r"\s+", " ", text)
