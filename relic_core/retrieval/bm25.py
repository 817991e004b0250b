"""BM25 over the spans of a work: words shared with the claim, rare words counting more, long spans less.

    score = sum over the claim's words of idf(w) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * words / average words))
    idf(w) = ln((N - n_w + 0.5) / (n_w + 0.5))

with N spans and n_w of them holding the word (Robertson and Zaragoza 2009), k1 and b as the RELiC paper tuned them.
Function words are left out on both sides, and words may be counted by their lemmas. A word in more than half of the
spans has a negative idf; as in `rank_bm25` it gets a quarter of the average idf instead, so that this and
`bm25-reference` agree for every length. In works of few sentences even the average may be 0 or negative: there such
words count next to nothing here, so that a span that shares one still comes before a span that shares none, and they
count nothing or against a span in `rank_bm25`.

bm25s answers the queries. Its table of scores is made here, from counts that serve every k1 and b
(`relic_core.retrieval.span_counts`).
"""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.domain import LENGTHS
from relic_core.errors import BadRequest
from relic_core.retrieval.kept import LRUCache
from relic_core.retrieval.span_counts import claim_terms, span_counts
from relic_core.retrieval.words_index import terms_version, work_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Scores, Work
    from relic_core.ports import Progress, Retriever
    from relic_core.retrieval.span_counts import SpanCounts
    from relic_core.retrieval.words_index import Terms

CODE = "bm25/1"
"""Version of how scores are made: a new one makes other scores."""

K1 = 0.5
B = 0.9
"""As tuned in the RELiC paper."""

EPSILON = 0.25
"""Share of the average idf that words in more than half of the spans get (rank_bm25's value)."""

LEAST = 1e-6
"""The least a word can weigh: enough to tell a shared word from none, too little to outweigh a word that is rare."""

_MOST = 64_000_000
"""In bytes: tables of all lengths of two of the longest novels, or of a dozen others."""


class Bm25:
    """BM25 served by bm25s; tables are made on demand and the last few kept in memory.

    - `k1`: how much a second occurrence of a word counts: not at all at 0. At least 0.
    - `b`: how much long spans are held back: not at all at 0, in proportion to their words at 1.
    - `terms`: what is counted: words as they stand, or the dictionary words they are forms of.
    - `indexes`: folder of all indexes, where the words of works are kept.

    Raises BadRequest: `k1`, `b` or `terms` is none of the allowed values.
    """

    encoder_identity = ""

    def __init__(self, *, k1: float = K1, b: float = B, terms: Terms = "tokens", indexes: Path | None = None) -> None:
        if not (math.isfinite(k1) and k1 >= 0):
            raise BadRequest(f"k1 is {k1}; BM25 takes a number of at least 0, as a rule up to 3.")
        if not 0 <= b <= 1:
            raise BadRequest(f"b is {b}; BM25 takes a number from 0 to 1.")
        if terms not in ("tokens", "lemmas"):
            raise BadRequest(f"BM25 was asked to count '{terms}'; it counts tokens or lemmas.")
        self._k1, self._b, self._terms = float(k1), float(b), terms
        self._indexes = indexes
        self._tables: LRUCache[Any] = LRUCache(_MOST, _size)

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
            "words": terms_version(self._terms),
            "code": CODE,
            "bm25s": version("bm25s"),
        }

    def ready(self, work: Work, length: int) -> bool:  # noqa: ARG002 - a table is made in less than a second
        """Say yes: a table that is missing is made while answering."""
        return True

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:  # noqa: ARG002 - serves all
        """Read the words of the work, the longer part of what `score` needs."""
        work_terms(work, self._terms, self._indexes)
        progress(1, 1, "Counting words")

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences; 0 where it shares no word with the claim.

        Returns: at least 0.

        Raises BadClaim: the claim holds no word.
        """
        terms = claim_terms(claim, self._terms)
        if work.candidates(length) == 0:
            return np.zeros(0, dtype=np.float32)
        table = self._table(work, length)
        ids = table.get_tokens_ids(terms)
        if not ids:
            return np.zeros(work.candidates(length), dtype=np.float32)
        scores: Scores = table.get_scores_from_ids(ids)
        return scores

    def _table(self, work: Work, length: int) -> Any:  # noqa: ANN401 - bm25s is not typed
        def make() -> Any:  # noqa: ANN401 - bm25s is not typed
            return _make_table(span_counts(work, length, self._terms, self._indexes), k1=self._k1, b=self._b)

        return self._tables.get((work.fingerprint, length), make)


def _make_table(counts: SpanCounts, *, k1: float, b: float) -> Any:  # noqa: ANN401 - bm25s is not typed
    """Fill a bm25s index with the scores of every word in every span."""
    import bm25s

    relative = counts.sizes / (counts.sizes.mean() or 1.0)  # a work without content words has a mean of 0, and no cells
    idf = np.repeat(weigh(counts.holding, counts.spans), counts.holding)  # (n_cells,)
    data = gain(idf, counts.count, relative[counts.span], k1=k1, b=b)

    table = bm25s.BM25(k1=k1, b=b, method="robertson")
    table.vocab_dict = counts.vocabulary
    table.nonoccurrence_array = None
    table.scores = {"data": data, "indices": counts.span, "indptr": counts.first, "num_docs": counts.spans}
    return table


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
    """Give what words add to the scores of spans.

    - `count`: how often the span holds it.
    - `relative`: the span's words over the average.
    - `k1`, `b`: as of `Bm25`.
    """
    gained: Scores = (idf * count * (k1 + 1) / (count + k1 * (1 - b + b * relative))).astype(np.float32)
    return gained


def weigh(holding: npt.NDArray[np.int64], spans: int) -> npt.NDArray[np.float64]:
    """Weigh each word by how few of the spans hold it: its idf.

    - `holding`: spans that hold the word. Words that none holds do not count for the average.
    - `spans`: how many there are.
    """
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
