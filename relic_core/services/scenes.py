"""Scenes: the chapters that hold most of an answer, each with the names that mark it, for the reader to choose one.

A chapter is worth the mean of its three best passages. Among the three chapters worth most is the right one for 79% of
the claims of `loci-dev`, for whom 64% have a card among the first five (docs/evaluation.md). Combined ranks them: what
a reranker has not read it only puts below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.domain import Hit, Ranking, Work, best_first
from relic_core.text.headings import number_value
from relic_core.text.sentences import TITLES as ABBREVIATED
from relic_core.text.words import CRITICS_WORDS, TITLES, WorkWords, is_named, word_spans, work_words

MOST = 3
_FEWEST = 6
"""Chapters of a work in which it is worth choosing one."""
_BEST = 3
_COMMON, _MARKS = 2, 3
_OFTEN = 2
"""Times that a name must be in a chapter to mark it."""
_LOOKED_AT = 40
_NO_MARKS = CRITICS_WORDS | TITLES | ABBREVIATED
_kept: LRUCache[tuple[str, ...]] = LRUCache(200)
_held_by: LRUCache[npt.NDArray[np.int64]] = LRUCache(8)
"""Of a work, in how many chapters each word is."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A chapter, numbered from 1 as in addresses.

    - `marks`: names that tell it from others; `passages`: how many of the first passages of an answer are in it.
    """

    chapter: int
    name: str
    marks: tuple[str, ...]
    passages: int


def scenes(work: Work, ranking: Ranking, first: Sequence[Hit]) -> tuple[Scene, ...]:
    """Name the chapters that hold most of an answer, best first; of a work with few chapters none."""
    if len(work.chapters) < _FEWEST or not len(ranking):
        return ()
    chapter_of = np.array([sentence.chapter for sentence in work.sentences])
    chapters = chapter_of[ranking.start]
    order = best_first(ranking.scores)
    worth = np.full(len(work.chapters), -np.inf)
    for chapter in np.unique(chapters[order[: len(order) // 10 + 1]]):
        best = np.sort(ranking.scores[chapters == chapter])[::-1][:_BEST]
        worth[chapter] = best.sum() / _BEST if len(best) == _BEST else -np.inf
    found = [chapter for chapter in best_first(worth)[:MOST].tolist() if np.isfinite(worth[chapter])]

    def marks(chapter: int) -> tuple[str, ...]:
        return _kept.get((work.fingerprint, chapter), lambda: _marks(work, chapter_of, chapter))

    held = [int(chapter_of[hit.span.start]) for hit in first]
    return tuple(
        Scene(chapter + 1, work.chapter_name(chapter), marks(chapter), held.count(chapter)) for chapter in found
    )


def _marks(work: Work, chapter_of: npt.NDArray[np.int64], chapter: int) -> tuple[str, ...]:
    """List the names that mark a chapter: its commonest, and that which is most its own."""
    words = work_words(work)
    begin, end = words.starts[np.searchsorted(chapter_of, (chapter, chapter + 1))]
    ids = words.ids[begin:end]
    counts = np.bincount(ids, minlength=len(words.vocabulary))
    held_by = _held_by.get(work.fingerprint, lambda: _count_chapters(words, chapter_of))
    own = counts * np.log(len(work.chapters) / np.maximum(held_by, 1))
    tokens = list(words.vocabulary)

    def names(worth: npt.NDArray[np.number], most: int) -> Iterator[str]:
        best = (tokens[at] for at in best_first(worth)[:_LOOKED_AT].tolist() if counts[at] >= _OFTEN)
        named = (token for token in best if len(token) > 1 and token not in _NO_MARKS and number_value(token) is None)
        return islice((token for token in named if is_named(token, work)), most)

    marks = list(dict.fromkeys((*names(counts, _COMMON), *names(own, _MARKS))))[:_MARKS]
    printed: dict[str, str] = {}
    at = begin + np.flatnonzero(np.isin(ids, [words.vocabulary[token] for token in marks]))
    for index in np.unique(np.searchsorted(words.starts, at, side="right") - 1).tolist():
        sentence = work.sentence_text(index)
        for start, end, token in word_spans(sentence):
            if token in marks and printed.get(token, "NONE").isupper():  # headings and signs print a name in capitals
                printed[token] = sentence[start:end].removesuffix("’s").removesuffix("'s")
    return tuple(printed[token] for token in marks)


def _count_chapters(words: WorkWords, chapter_of: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count for each word the chapters that hold it."""
    counted = np.zeros(len(words.vocabulary), np.int64)
    first = np.searchsorted(chapter_of, np.arange(1, chapter_of[-1] + 1))
    for ids in np.split(words.ids, words.starts[first]):
        counted[ids] += 1  # once for a chapter: NumPy does not count an index again
    return counted
