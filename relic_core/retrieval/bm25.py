"""BM25 over the spans of a work: words shared with the claim, rare words counting more, long spans less.

    score = sum over the claim's words of idf(w) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * words / average words))
    idf(w) = ln((N - n_w + 0.5) / (n_w + 0.5))

with N spans and n_w of them holding the word (Robertson and Zaragoza 2009), k1 and b as the RELiC paper tuned them.
Function words are left out on both sides unless asked for, and words may be counted by their lemmas. A word in more
than half of the spans has a negative idf; as in `rank_bm25` it gets a quarter of the average idf instead, so that the
two agree for every length. In works of few sentences even the average may be 0 or negative: there such words
count next to nothing here, so that a span that shares one still comes before a span that shares none, and they count
nothing or against a span in `rank_bm25`.

Of one work bm25s answers. Its table of scores is made here, from counts that serve every k1 and b
(`relic_core.retrieval.words`). Of many works the words of each sentence are held in memory
(`relic_core.retrieval.postings`), about 40 MB for 74 novels, and spans are put together for the words of a claim alone.
How rare a word is, and how long a span is on average, are then counted over the works that are searched together,
neither over one work nor over all that are stored: a narrowed search ranks as if the other works were not there. A name
that fills one novel is rare in a library, and counts there accordingly more.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.config import Settings
from relic_core.domain import LENGTHS, Claim, Corpus, Ranking, Scores, Span, Work, WorkVersion, rank_scores, rank_works
from relic_core.errors import BadRequest, NotFound
from relic_core.ports import Progress, Retriever
from relic_core.retrieval.postings import Postings
from relic_core.retrieval.words import (
    SpanCounts,
    Terms,
    claim_terms,
    span_counts,
    stored_terms,
    terms_version,
    work_terms,
)
from relic_core.text.words import WORDS, WorkWords

CODE = "bm25/1"
"""Version of how scores are made: a new one makes other scores."""
_version = cache(metadata.version)
"""Reading a package's metadata takes ten milliseconds, and a search asks often."""

K1 = 0.5
B = 0.9
"""As tuned in the RELiC paper."""

EPSILON = 0.25
"""Share of the average idf that words in more than half of the spans get (rank_bm25's value)."""

LEAST = 1e-6
"""The least a word can weigh: enough to tell a shared word from none, too little to outweigh a word that is rare."""

_MOST = 64_000_000
"""In bytes: tables of all lengths of two of the longest novels, or of a dozen others."""

_MOST_WEIGHTS = 16_000_000
"""In bytes: weights for some ten selections of works and lengths."""

_MOST_SENTENCES = 4_000_000
"""Held at once; some 150 MB. Where more would come together, works that are not asked for are forgotten."""


class Bm25(Retriever):
    """BM25 served by bm25s; tables are made on demand and the last few kept in memory.

    - `k1`: how much a second occurrence of a word counts: not at all at 0. At least 0.
    - `b`: how much long spans are held back: not at all at 0, in proportion to their words at 1.
    - `terms`: what is counted: words as they stand, the dictionary words they are forms of, or function words too.
    """

    _sentences_held = 1
    """Sentences that each of what the postings call a sentence stands for."""

    def __init__(self, *, k1: float = K1, b: float = B, terms: Terms = "tokens", indexes: Path | None = None) -> None:
        if not (math.isfinite(k1) and k1 >= 0):
            raise BadRequest(f"k1 is {k1}; BM25 takes a number of at least 0, as a rule up to 3.")
        if not 0 <= b <= 1:
            raise BadRequest(f"b is {b}; BM25 takes a number from 0 to 1.")
        if terms not in get_args(Terms):
            raise BadRequest(f"BM25 was asked to count '{terms}'; it counts {', '.join(get_args(Terms))}.")
        self._k1, self._b, self._terms = float(k1), float(b), terms
        self._indexes = indexes
        self._tables: LRUCache[Any] = LRUCache(_MOST, _size)
        self._lock = threading.Lock()
        self._held = _Held(Postings.none())

    @property
    def name(self) -> str:
        """The registered name."""
        return "bm25-lemmas" if self._terms == "lemmas" else "bm25"

    @property
    def configuration(self) -> Mapping[str, str]:
        """The parameters, and the versions of the words, of the table and of the library that answers from it."""
        return {
            "k1": str(self._k1),
            "b": str(self._b),
            "words": WORDS if self._terms == "all" else terms_version(self._terms),
            "code": CODE,
            "bm25s": _version("bm25s"),
            **({"function words": "counted"} if self._terms == "all" else {}),
        }

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:  # noqa: ARG002 - serves all
        """Read the words of the work, the longer part of what `score` needs."""
        work_terms(work, self._terms, self._indexes)
        progress(1, 1, "Counting words")

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences; 0 where it shares no word with the claim, never below."""
        terms = claim_terms(claim, self._terms)
        if work.candidates(length) == 0:
            return np.zeros(0, dtype=np.float32)
        return _scores(self._table(work, length), terms)

    def missing(self, works: Sequence[WorkVersion], *lengths: int) -> tuple[str, ...]:  # noqa: ARG002 - made on demand
        """Give no work: words that are missing are read while answering."""
        return ()

    def rank(
        self,
        claim: Claim,
        corpus: Corpus,
        length: int,
        *,
        like: tuple[WorkVersion, Span] | None = None,  # noqa: ARG002 - the passage's words are the claim's
    ) -> Ranking:
        """Rank every span of `length` sentences of a corpus; 0 is the score of one that shares no word.

        A work that was removed before its words were read is passed over.

        Raises StaleIndex: a work was changed while its words were being read.
        """
        if corpus.whole:
            return rank_scores(self.name, corpus.whole.id, length, self.score(claim, corpus.whole, length))
        asked = claim_terms(claim, self._terms)
        held = self._holding(corpus)
        works = [work for work in corpus.versions if key_of(work) in held.postings.works]  # the others were removed
        scores = self._score_all(held, asked, [key_of(work) for work in works], length)
        parts = ((work.id, scores[held.postings.starts(key_of(work), length)]) for work in works)
        return rank_works(self.name, length, parts)

    def _score_all(self, held: _Held, asked: Sequence[str], works: Sequence[str], length: int) -> Scores:
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
            posting = made.get(number)
            if posting is None:
                span, count = postings.spans_holding(number, length)
                posting = span, gain(idf[number], count, relative[span], k1=self._k1, b=self._b)
                if number in repeated:
                    made[number] = posting
            scores[posting[0]] += posting[1]
        return scores

    def _holding(self, corpus: Corpus) -> _Held:
        """Give postings that hold the works of a corpus, but for those that were removed; make those not held.

        No lock is held while words are read, so that searches of works that are held need not wait. Of two who make
        postings at once each answers from its own, and the larger are kept.
        """
        held = self._held
        postings = held.postings
        new = [work for work in corpus.versions if key_of(work) not in postings.works]
        if not new:
            return held
        if postings.sentences * self._sentences_held + sum(work.sentences for work in new) > _MOST_SENTENCES:
            postings, new = Postings.none(), list(corpus.versions)
        made = _Held(postings.extended(self._words(corpus, new)))
        with self._lock:
            if self._held is held or made.postings.sentences > self._held.postings.sentences:
                self._held = made
        return made

    def _words(self, corpus: Corpus, works: Sequence[WorkVersion]) -> Iterator[tuple[str, WorkWords]]:
        for work in works:
            with suppress(NotFound):
                yield key_of(work), stored_terms(work, self._terms, indexes=self._indexes, load=corpus.load)

    def _table(self, work: Work, length: int) -> Any:  # noqa: ANN401 - bm25s is not typed
        return self._tables.get(
            (work.fingerprint, length),
            lambda: _make_table(span_counts(work, length, self._terms, self._indexes), k1=self._k1, b=self._b),
        )


class TextIndex:
    """BM25 over texts, or their words, that are not spans of a work, each a candidate; held in memory."""

    def __init__(self, texts: Iterable[str] | WorkWords) -> None:
        words = texts if isinstance(texts, WorkWords) else WorkWords.of_texts(texts)
        self._table = _make_table(SpanCounts.of(words, 1), k1=K1, b=B) if len(words.starts) > 1 else None

    def score(self, claim: Claim) -> Scores:
        """Score every text; shape (n_texts,), 0 where it shares no word with the claim."""
        terms = claim_terms(claim, "tokens")
        return _scores(self._table, terms) if self._table else np.zeros(0, dtype=np.float32)


def key_of(work: WorkVersion) -> str:
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
            sizes = self.postings.sizes(length)
            average = sum(int(sizes[part].sum(dtype=np.int64)) for part in spans) / total if total else 0.0
            return weigh(self.postings.holding(works, length), total), average

        return self._weights.get((frozenset(works), length), make)


def _make_table(counts: SpanCounts, *, k1: float, b: float) -> Any:  # noqa: ANN401 - bm25s is not typed
    import bm25s

    relative = counts.sizes / (counts.sizes.mean() or 1.0)  # a work without content words has a mean of 0, no entries
    idf = np.repeat(weigh(counts.holding, counts.spans), counts.holding)  # (n_entries,)
    data = gain(idf, counts.count, relative[counts.span], k1=k1, b=b)

    table = bm25s.BM25(k1=k1, b=b, method="robertson")
    table.vocab_dict = counts.vocabulary
    table.nonoccurrence_array = None
    table.scores = {"data": data, "indices": counts.span, "indptr": counts.first, "num_docs": counts.spans}
    return table


def _scores(table: Any, terms: Sequence[str]) -> Scores:  # noqa: ANN401 - bm25s is not typed
    ids = table.get_tokens_ids(terms)
    if not ids:
        return np.zeros(table.scores["num_docs"], dtype=np.float32)
    scores: Scores = table.get_scores_from_ids(ids)
    return scores


def _size(table: Any) -> int:  # noqa: ANN401 - bm25s is not typed
    return sum(table.scores[name].nbytes for name in ("data", "indices", "indptr"))


def gain(
    idf: float | npt.NDArray[np.float64],
    count: npt.NDArray[Any],
    relative: npt.NDArray[np.float64],
    *,
    k1: float,
    b: float,
) -> Scores:
    """Give what words add to the scores of spans."""
    gained: Scores = (idf * count * (k1 + 1) / (count + k1 * (1 - b + b * relative))).astype(np.float32)
    return gained


def weigh(holding: npt.NDArray[np.int64], spans: int) -> npt.NDArray[np.float64]:
    """Weigh each word by how few of the spans hold it: its idf. Words that none holds do not count for the average."""
    idf = np.log(spans - holding + 0.5) - np.log(holding + 0.5)
    held = idf[holding > 0]
    average = held.mean() if len(held) else 0.0
    return np.maximum(np.where(idf < 0, EPSILON * average, idf), LEAST)


def create(settings: Settings, components: Sequence[Retriever]) -> Bm25:  # noqa: ARG001 - the registry's signature
    """Make the serving BM25."""
    return Bm25(indexes=settings.indexes)


def create_with_lemmas(settings: Settings, components: Sequence[Retriever]) -> Bm25:  # noqa: ARG001 - the registry's signature
    """Make the BM25 that counts lemmas."""
    return Bm25(terms="lemmas", indexes=settings.indexes)
