"""BM25 over the spans of many works as one collection: the formula of `relic_core.retrieval.bm25`.

How rare a word is, and how long a span is on average, are counted over the works that are searched together, neither
over one work nor over all that are stored: a narrowed search ranks as if the other works were not there, and a search
of one work as `Bm25` does. A name that fills one novel is rare in a library, and counts there accordingly more.

The words of each sentence are held in memory (`relic_core.retrieval.postings`), about 40 MB for 74 novels; spans are
put together for the words of a claim alone. Words of works come from the disk, and are read from the text where they
have never been (`relic_core.retrieval.words_index`).
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LibraryRanking
from relic_core.errors import NotFound
from relic_core.retrieval.bm25 import K1, B, gain, weigh
from relic_core.retrieval.kept import LRUCache
from relic_core.retrieval.postings import Postings, mean_size
from relic_core.retrieval.span_counts import claim_terms
from relic_core.retrieval.words_index import stored_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Scores, Span, Work, WorkVersion
    from relic_core.ports import LibraryRetriever
    from relic_core.retrieval.words_index import Terms
    from relic_core.text.words import WorkWords

_MOST_WEIGHTS = 16_000_000
"""In bytes: weights for some ten selections of works and lengths."""

_MOST_SENTENCES = 4_000_000
"""Held at once; some 150 MB. Where more would come together, works that are not asked for are forgotten."""


class LibraryBm25:
    """Ranks the spans of many works by the words they share with the claim.

    - `load`: gives the work of an id, for works whose words are not on disk yet.
    - `indexes`: folder of all indexes, where the words of works are kept.
    - `k1`, `b`: as of `Bm25`.
    - `terms`: as of `Bm25`.
    """

    def __init__(
        self,
        *,
        load: Callable[[str], Work],
        indexes: Path,
        k1: float = K1,
        b: float = B,
        terms: Terms = "tokens",
    ) -> None:
        self._load = load
        self._indexes = indexes
        self._k1, self._b, self._terms = k1, b, terms
        self._lock = threading.Lock()
        self._held = _Held(Postings.none())

    @property
    def name(self) -> str:
        """The registered name of the retriever whose works it searches."""
        return "bm25-lemmas" if self._terms == "lemmas" else "bm25"

    def missing(self, works: Sequence[WorkVersion], length: int) -> tuple[str, ...]:  # noqa: ARG002 - made on demand
        """Give no work: words that are missing are read while answering."""
        return ()

    def rank(
        self,
        claim: Claim,
        works: Sequence[WorkVersion],
        length: int,
        *,
        like: tuple[WorkVersion, Span] | None = None,  # noqa: ARG002 - the passage's words are the claim's
    ) -> LibraryRanking:
        """Rank every span of `length` sentences of some works; 0 is the score of one that shares no word.

        A work that was removed before its words were read is passed over.

        Raises BadClaim: the claim holds no word.
        Raises StaleIndex: a work was changed while its words were being read.
        """
        asked = claim_terms(claim, self._terms)
        held = self._holding(works)
        postings = held.postings
        works = [work for work in works if _key(work) in postings.works]  # the others were removed meanwhile
        scores = self._score(held, asked, [_key(work) for work in works], length)
        parts = [postings.starts(_key(work), length) for work in works]
        counts = [part.stop - part.start for part in parts]
        found: Scores = np.concatenate([scores[:0], *(scores[part] for part in parts)])
        return LibraryRanking(
            retriever=self.name,
            length=length,
            works=tuple(work.id for work in works),
            work=np.repeat(np.arange(len(works), dtype=np.int32), counts),
            start=np.concatenate([np.zeros(0, dtype=np.int32), *(np.arange(n, dtype=np.int32) for n in counts)]),
            scores=found,
            candidates=len(found),
        )

    def _score(self, held: _Held, asked: Sequence[str], works: Sequence[str], length: int) -> Scores:
        """Score the spans of all works that are held by the weights of some; shape (n_sentences,).

        A word that the claim repeats is added again, word by word in the order of the claim as bm25s does, so that
        sums are rounded alike.
        """
        postings = held.postings
        scores = np.zeros(postings.sentences, dtype=np.float32)
        numbers = [postings.vocabulary[term] for term in asked if term in postings.vocabulary]
        if not numbers:
            return scores
        idf, average = held.weights(works, length)
        relative = postings.sizes(length) / (average or 1.0)
        repeated = {number for number in numbers if numbers.count(number) > 1}
        made: dict[int, tuple[npt.NDArray[np.int64], Scores]] = {}
        for number in numbers:
            cells = made.get(number)
            if cells is None:
                span, count = postings.spans_holding(number, length)
                cells = span, gain(idf[number], count, relative[span], k1=self._k1, b=self._b)
                if number in repeated:
                    made[number] = cells
            scores[cells[0]] += cells[1]
        return scores

    def _holding(self, works: Sequence[WorkVersion]) -> _Held:
        """Give postings that hold some works, but for those that were removed; make those that are not held.

        No lock is held while words are read, so that searches of works that are held need not wait. Of two who make
        postings at once each answers from its own, and the larger are kept.
        """
        held = self._held
        postings = held.postings
        new = [work for work in works if _key(work) not in postings.works]
        if not new:
            return held
        if postings.sentences + sum(work.sentences for work in new) > _MOST_SENTENCES:
            postings, new = Postings.none(), list(works)
        made = _Held(postings.extended(self._words(new)))
        with self._lock:
            if self._held is held or made.postings.sentences > self._held.postings.sentences:
                self._held = made
        return made

    def _words(self, works: Sequence[WorkVersion]) -> Iterator[tuple[str, WorkWords]]:
        """Read the words of some works, one after another; those that were removed are passed over."""
        for work in works:
            with suppress(NotFound):
                yield _key(work), stored_terms(work, self._terms, indexes=self._indexes, load=self._load)


def _key(work: WorkVersion) -> str:
    """Tell works apart, and copies of one text that are stored as several works."""
    return f"{work.id} {work.fingerprint}"


class _Held:
    """Postings, and the weights of the words for the selections of works that were asked for last."""

    def __init__(self, postings: Postings) -> None:
        self.postings = postings
        self._weights: LRUCache[tuple[npt.NDArray[np.float64], float]] = LRUCache(
            _MOST_WEIGHTS, lambda made: made[0].nbytes
        )

    def weights(self, works: Sequence[str], length: int) -> tuple[npt.NDArray[np.float64], float]:
        """Give the idf of each term among the spans of some works, shape (n_terms,), and their average size."""

        def make() -> tuple[npt.NDArray[np.float64], float]:
            spans = [self.postings.starts(work, length) for work in works]
            total = sum(part.stop - part.start for part in spans)
            idf = weigh(self.postings.holding(works, length), total)
            return idf, mean_size(self.postings, works, length)

        return self._weights.get((frozenset(works), length), make)


def create_library(
    settings: Settings,
    retriever: object,  # noqa: ARG001 - the registry's signature
    components: Sequence[LibraryRetriever],  # noqa: ARG001 - the registry's signature
    load: Callable[[str], Work],
) -> LibraryBm25:
    """Make the BM25 of the whole library."""
    return LibraryBm25(load=load, indexes=settings.indexes)
