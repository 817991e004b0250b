"""Finding words in texts: where the words of a query stand, and the context of each place.

Everything here is pure: arrays in, arrays out. Only sentences count, so headings, licences and page numbers are never
found and never part of a context. The words of a phrase may be parted by anything that is not a word (a line's end, the
underscores of italics, commas, a dash), but are in one paragraph.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relic_core.domain import Offsets
from relic_core.library.lexicon import Flags, Lexicon, Numbers, Reach, Term, word_offsets
from relic_core.library.queries import GAPS, Reading
from relic_core.text.line_ends import line_ends
from relic_core.text.unbroken import cuts, origins, without

_SPARE = 120
"""Characters looked at beyond a context, since line wraps, indents and headings between go."""
PILCROW = " ¶ "
"""Marks in a context where a new paragraph begins."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a query's words occur in one text.

    - `firsts`: number of the first word of each place, counted in the text; ascending.
    - `joints`: for each reading, what its words are joined by when they are named together.
    """

    firsts: Numbers
    lengths: Numbers
    readings: Numbers
    joints: tuple[str, ...]

    def only(self, chosen: Flags) -> Found:
        """Keep the places chosen; shape (n_places,)."""
        return Found(self.firsts[chosen], self.lengths[chosen], self.readings[chosen], self.joints)


@dataclass(frozen=True, eq=False)
class Wording:
    """The words of one text and the sentences, paragraphs and chapters they are in.

    - `starts`, `ends`, `ids`: character offsets, and each word's number in the lexicon; of words in sentences alone.
    - `sentence_starts`, `sentence_ends`, `sentence_chapters`, `sentence_paragraphs`: as `Work` has them.
    - `runs`: sentences with the same number may be in one context: a chapter without its notes, or one note.
    - `wraps`: what line ends add to words: see `text.line_ends`.
    """

    text: str
    wraps: Sequence[Offsets]
    starts: Numbers
    ends: Numbers
    ids: Numbers
    sentence_starts: Numbers
    sentence_ends: Numbers
    sentence_chapters: Numbers
    sentence_paragraphs: Numbers
    runs: Numbers

    @classmethod
    def of(
        cls, text: str, sentences: tuple[Numbers, Numbers, Numbers, Numbers], notes: Flags, lexicon: Lexicon
    ) -> Wording:
        """Read the words of a text; of its sentences are given starts, ends, chapters and paragraphs."""
        sentence_starts, sentence_ends, chapters, paragraphs = sentences
        gone = cuts(text)
        kept = without(text, 0, len(text), gone).replace("’", "'")
        firsts, lasts = word_offsets(kept)
        at = origins(text, gone) if gone else np.arange(len(text), dtype=np.int32)
        starts, ends = at[firsts], at[lasts - 1] + 1
        sentence = np.searchsorted(sentence_starts, starts, side="right") - 1
        counted = sentence >= 0
        counted[counted] = ends[counted] <= sentence_ends[sentence[counted]]
        starts, ends = starts[counted], ends[counted]
        held = zip(firsts[counted].tolist(), lasts[counted].tolist(), strict=True)
        words = [kept[start:end] for start, end in held]
        noted = notes[paragraphs] if len(paragraphs) else np.zeros(0, np.bool_)
        wraps = line_ends(text, 0, len(text), gone)
        runs = np.where(noted, -1 - paragraphs, chapters).astype(np.int32)
        return cls(
            text, wraps, starts, ends, lexicon.number(words), sentence_starts, sentence_ends, chapters, paragraphs, runs
        )

    @cached_property
    def first_words(self) -> Numbers:
        """Number the first word of each sentence, and at the end all words; shape (n_sentences + 1,)."""
        return np.append(np.searchsorted(self.starts, self.sentence_starts), len(self.starts)).astype(np.int32)

    @property
    def size(self) -> int:
        """About how much memory it takes, in bytes."""
        arrays = (self.starts, self.ends, self.ids, self.sentence_starts, self.sentence_ends, self.runs)
        wide = 1 if self.text.isascii() else 2
        return len(self.text) * wide + sum(array.nbytes for array in arrays) + 3 * self.sentence_chapters.nbytes

    def sentences_of(self, words: Numbers) -> Numbers:
        """Give the index of the sentence of each word."""
        found: Numbers = np.searchsorted(self.sentence_starts, self.starts[words], side="right").astype(np.int32) - 1
        return found

    def words_per_chapter(self, chapters: int) -> list[int]:
        """Count the words of each chapter."""
        counts = np.bincount(self.sentence_chapters, weights=np.diff(self.first_words), minlength=chapters)
        return [int(count) for count in counts]

    def neighbour(self, words: Numbers, distance: int) -> Numbers:
        """Give the number of the word so many words on (back where negative); -1 where the context has ended."""
        if not len(words):
            return np.zeros(0, np.int32)
        places = words + distance
        there = (places >= 0) & (places < len(self.ids))
        places = np.clip(places, 0, len(self.ids) - 1)
        there &= self.runs[self.sentences_of(places)] == self.runs[self.sentences_of(words)]
        return np.where(there, self.ids[places], -1).astype(np.int32)

    @cached_property
    def _borders(self) -> tuple[memoryview, ...]:
        """Starts, ends, paragraphs and runs of the sentences, for taking one number at a time."""
        arrays = (self.sentence_starts, self.sentence_ends, self.sentence_paragraphs, self.runs)
        return tuple(np.ascontiguousarray(array).data for array in arrays)

    def _printed(self, start: int, end: int, first: int, last: int) -> str:
        pieces = []
        starts, ends, paragraphs, _ = self._borders
        for sentence in range(first, last + 1):
            if sentence > first:
                pieces.append(PILCROW if paragraphs[sentence] != paragraphs[sentence - 1] else " ")
            here, there = max(start, starts[sentence]), min(end, ends[sentence])
            pieces.append(without(self.text, here, there, self.wraps))
        return _ITALICS.sub("", _SPACE.sub(" ", "".join(pieces)))

    def reach(self, first: int, length: int) -> tuple[int, int]:
        """Name the first and the last of the sentences that some words in a row are in."""
        starts = self._borders[0]
        here = bisect_right(starts, int(self.starts[first])) - 1
        return here, here if length == 1 else bisect_right(starts, int(self.starts[first + length - 1])) - 1

    def number_in_paragraph(self, sentence: int) -> int:
        """Count which sentence of its paragraph it is, from 1."""
        paragraphs = self._borders[2]
        return sentence - bisect_left(paragraphs, paragraphs[sentence]) + 1

    def context(self, first: int, length: int, *, width: int) -> tuple[str, str, str]:
        """Give what stands left of some words, the words, and what stands right, in whole words, each on one line."""
        here, there = self.reach(first, length)
        start, end = int(self.starts[first]), int(self.ends[first + length - 1])
        starts, ends, _, runs = self._borders
        run, reach = runs[here], width + _SPARE
        opening, closing = here, there
        while opening > 0 and runs[opening - 1] == run and start - starts[opening] < reach:
            opening -= 1
        while closing + 1 < len(runs) and runs[closing + 1] == run and ends[closing] - end < reach:
            closing += 1
        left = self._printed(max(start - reach, starts[opening]), start, opening, here)
        right = self._printed(end, min(end + reach, ends[closing]), there, closing)
        return _last(left, width), self._printed(start, end, here, there).strip(), _first(right, width)


_SPACE = re.compile(r"\s+")
_ITALICS = re.compile(r"(?<!_)_(?!_)")


def _first(text: str, width: int) -> str:
    if len(text) <= width:
        return text.rstrip(PILCROW)
    cut = text[: width + 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[1:] else cut[:width]).rstrip(PILCROW)


def _last(text: str, width: int) -> str:
    if len(text) <= width:
        return text.lstrip(PILCROW)
    cut = text[-width - 1 :]
    return (cut.split(" ", 1)[1] if " " in cut[:-1] else cut[1:]).lstrip(PILCROW)


class Finder:
    """Finds the places of one query in one text after another; what each word means is worked out once."""

    def __init__(self, readings: tuple[Reading, ...], reach: Reach, lexicon: Lexicon) -> None:
        self._readings = readings
        self._reach = reach
        self._lexicon = lexicon
        self._meant: dict[Term, Flags] = {}

    def _flags(self, term: Term) -> Flags:
        """Tell of every word of the lexicon whether it is meant; the lexicon may have grown since."""
        known = self._meant.get(term, np.zeros(0, np.bool_))
        size = len(self._lexicon)
        if len(known) < size:
            more = self._lexicon.meant(term, self._reach, len(known), size)
            known = self._meant[term] = np.concatenate([known, more])
        return known

    def find(self, wording: Wording) -> Found:
        """Find every place, overlapping ones too, in the order of the text."""
        parts = list(self._by_reading(wording))
        firsts = np.concatenate([part for part, _ in parts])
        lengths = np.repeat([length for _, length in parts], [len(part) for part, _ in parts]).astype(np.int32)
        readings = np.repeat(np.arange(len(parts)), [len(part) for part, _ in parts]).astype(np.int32)
        if len(parts) > 1:
            _, unique = np.unique(firsts, return_index=True)
            firsts, lengths, readings = firsts[unique], lengths[unique], readings[unique]
        return Found(firsts, lengths, readings, tuple(reading.joint for reading in self._readings))

    def _by_reading(self, wording: Wording) -> Iterator[tuple[Numbers, int]]:
        for reading in self._readings:
            length = len(reading.terms)
            flags = [self._flags(term) for term in reading.terms]
            rarest = int(np.argmin([int(flag.sum()) for flag in flags]))
            places = np.flatnonzero(flags[rarest][wording.ids]).astype(np.int32) - rarest
            places = places[(places >= 0) & (places + length <= len(wording.ids))]
            for at in range(length):
                if at != rarest:
                    places = places[flags[at][wording.ids[places + at]]]
            if length > 1 and len(places):
                paragraphs = wording.sentence_paragraphs
                first, last = wording.sentences_of(places), wording.sentences_of(places + (length - 1))
                places = places[paragraphs[first] == paragraphs[last]]
            for at, gap in enumerate(reading.gaps):
                if gap != "any":
                    parted = GAPS[gap].fullmatch
                    kept = [
                        parted(wording.text, int(wording.ends[place + at]), int(wording.starts[place + at + 1]))
                        is not None
                        for place in places.tolist()
                    ]
                    places = places[np.array(kept, np.bool_)]
            yield places, length
