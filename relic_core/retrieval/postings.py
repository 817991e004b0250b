"""Which sentences of many works hold a word, and from that which spans of any length do.

A table of the words of all spans would take the memory of every length again; here each sentence stands once, and the
spans that hold a word are made from its sentences when they are asked for. A span is named by its first sentence, and
the sentences of all works are numbered one work after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relic_core.text.words import WorkWords

Ints = npt.NDArray[np.int64]

_BITS = 32
_SENTENCE = (1 << _BITS) - 1
"""A term and a sentence make one number that sorts by term, then by sentence."""

_STEP = 1 << 20
"""Postings looked at in one go."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Postings:
    """The sentences of many works that hold each term.

    - `works`: the sentences of each work, by what the caller knows it by.
    - `first`: term ``i`` has the postings ``first[i]`` up to ``first[i + 1]``, at least one: a sentence that holds it
      each.
    - `count`: how often the sentence holds the term, at least once; of the narrowest type that can say it.
    - `tokens`: terms in all sentences before each one, repetitions counted.
    - `opens`, `closes`: the first sentence of each sentence's work, and the one after its last.
    """

    vocabulary: dict[str, int]
    works: dict[str, range]
    first: Ints
    sentence: npt.NDArray[np.int32]
    count: npt.NDArray[np.unsignedinteger]
    tokens: npt.NDArray[np.int32]
    opens: npt.NDArray[np.int32]
    closes: npt.NDArray[np.int32]

    @classmethod
    def none(cls) -> Postings:
        """Make the postings of no work."""
        empty = np.zeros(0, dtype=np.int32)
        return cls(
            vocabulary={},
            works={},
            first=np.zeros(1, dtype=np.int64),
            sentence=empty,
            count=empty.astype(np.uint8),
            tokens=np.zeros(1, dtype=np.int32),
            opens=empty,
            closes=empty,
        )

    @property
    def sentences(self) -> int:
        """How many sentences all works have."""
        return len(self.opens)

    def extended(self, words: Iterable[tuple[str, WorkWords]]) -> Postings:
        """Add works that are not there yet, each by what it is known by and its terms; taken one by one."""
        vocabulary, works, end = dict(self.vocabulary), dict(self.works), self.sentences
        keys, sizes = [], [np.diff(self.tokens)]
        for name, each in words:
            number = np.array(
                [vocabulary.setdefault(term, len(vocabulary)) for term in each.vocabulary], dtype=np.int64
            )
            size = np.diff(each.starts)
            block = range(end, end + len(size))
            keys.append(_keys(number[each.ids], np.repeat(np.arange(block.start, block.stop), size)))
            sizes.append(size.astype(np.int32))
            works[name], end = block, block.stop
        entries, count = np.unique(np.concatenate([self.first[:0], *keys]), return_counts=True)
        counts = count.astype(np.min_scalar_type(count.max(initial=0)))
        if len(self.sentence):
            known = np.repeat(np.arange(len(self.vocabulary)), np.diff(self.first))
            entries = np.concatenate([_keys(known, self.sentence), entries])
            order = np.argsort(entries, kind="stable")  # two runs, each in order, are merged
            entries, counts = entries[order], np.concatenate([self.count, counts])[order]
        holding = np.bincount(entries >> _BITS, minlength=len(vocabulary))
        blocks = list(works.values())
        return Postings(
            vocabulary=vocabulary,
            works=works,
            first=np.concatenate([[0], np.cumsum(holding)]).astype(np.int64),
            sentence=(entries & _SENTENCE).astype(np.int32),
            count=counts,
            tokens=np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int32),
            opens=np.repeat([each.start for each in blocks], [len(each) for each in blocks]).astype(np.int32),
            closes=np.repeat([each.stop for each in blocks], [len(each) for each in blocks]).astype(np.int32),
        )

    def starts(self, work: str, length: int) -> slice:
        """Give the first sentences of the spans of one work; none where it is shorter than `length`."""
        block = self.works[work]
        return slice(block.start, max(block.start, block.stop - length + 1))

    def sizes(self, length: int) -> npt.NDArray[np.int32]:
        """Count the terms of the span that starts at each sentence, repetitions too; nonsense where none fits in."""
        ends = np.minimum(np.arange(self.sentences) + length, self.sentences)
        return self.tokens[ends] - self.tokens[:-1]

    def holding(self, works: Collection[str], length: int) -> Ints:
        """Count the spans of some works that hold each term; shape (n_terms,)."""
        asked = np.zeros(self.sentences, dtype=np.int32)
        for work in works:
            asked[self.works[work].start : self.works[work].stop] = 1
        held = np.zeros(len(self.vocabulary), dtype=np.int64)
        last = 0
        while last < len(held):  # some terms at a time, for the sake of memory
            term, last = (
                last,
                max(last + 1, int(np.searchsorted(self.first, self.first[last] + _STEP, side="right")) - 1),
            )
            first = self.first[term:last]
            sentence = self.sentence[first[0] : self.first[last]]
            lowest, highest = self._reach(sentence, length)
            before = np.concatenate([highest[:1], highest[:-1]])  # the last span that the posting before it reaches
            before[first - first[0]] = -1
            new = np.maximum(highest - np.maximum(lowest, before + 1) + 1, 0) * asked[sentence]
            held[term:last] = np.add.reduceat(new, first - first[0], dtype=np.int64)
        return held

    def spans_holding(self, number: int, length: int) -> tuple[Ints, Ints]:
        """Find the spans that hold a term: their first sentences, rising, and how often each holds it."""
        entries = slice(self.first[number], self.first[number + 1])
        sentence, count = self.sentence[entries], self.count[entries]
        if length == 1:
            return sentence.astype(np.int64), count.astype(np.int64)
        lowest, highest = self._reach(sentence, length)
        if (fits := highest >= lowest).sum() < len(fits):  # in works shorter than a span
            lowest, highest, count = lowest[fits], highest[fits], count[fits]
        if not len(count):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        before = np.concatenate([[-1], highest[:-1]])
        start = np.maximum(lowest, before + 1)  # where the spans begin that no posting before it reaches
        new = highest - start + 1
        ends = np.cumsum(new)
        total = int(ends[-1])
        span = np.arange(total) + np.repeat(start - (ends - new), new)
        # A posting is in the spans from lowest to highest, which stand side by side in `span`: add it where they begin,
        # take it away behind them, and sums from left to right are the counts.
        enters = ends - new - (start - lowest)
        change = np.bincount(enters, weights=count, minlength=total + 1) - np.bincount(ends, count, total + 1)
        return span, np.cumsum(change[:total]).astype(np.int64)

    def _reach(
        self, sentence: npt.NDArray[np.int32], length: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Give the first and the last span that hold each sentence; the last is before the first where none does."""
        lowest = np.maximum(sentence - np.int32(length - 1), self.opens[sentence])
        highest = np.minimum(sentence, self.closes[sentence] - np.int32(length))
        return lowest, highest


def _keys(term: Ints, sentence: npt.NDArray[np.integer]) -> Ints:
    return (term << _BITS) | sentence
