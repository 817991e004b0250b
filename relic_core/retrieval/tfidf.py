"""TF-IDF over the spans of a work: the cosine of two vectors of weighted words, the claim's and the span's.

    weight(w, text) = (1 + ln tf) * ln(1 + N / n_w)        0 where the text lacks the word
    score(claim, span) = sum over w of weight(w, claim) * weight(w, span) / (|claim| * |span|)

with tf the occurrences of the word in the text, N spans and n_w of them holding it, and |.| the Euclidean norm of a
vector. The logarithm of tf is "sublinear tf scaling" (Manning, Raghavan and Schuetze 2008, "Introduction to Information
Retrieval", section 6.4.1): a word that a span repeats says little more than one it has once. This idf is one of those
compared by Zobel and Moffat 1998, "Exploring the similarity space"; it stays above 0 for a word that every span holds,
so that in the shortest works, too, a span that shares a word comes before one that shares none.

Words are counted by their lemmas, function words left out. Words that the work never uses have no idf: they are left
out of the claim's norm, which is the same for every span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.config import Settings
from relic_core.domain import LENGTHS, Claim, Scores, Work
from relic_core.ports import Progress, Retriever
from relic_core.retrieval.words import SpanCounts, Terms, claim_terms, span_counts, terms_version, work_terms

Floats = npt.NDArray[np.float64]

CODE = "tf-idf/1"
"""Version of how scores are made: a new one makes other scores."""

_TERMS: Terms = "lemmas"
_MOST = 16_000_000
"""In bytes: weights of all lengths of eight of the longest novels."""


class TfIdf(Retriever):
    """Ranks spans by the cosine of their weighted words with the claim's; weights are made on demand."""

    name = "tf-idf"

    def __init__(self, *, indexes: Path | None = None) -> None:
        self._indexes = indexes
        self._kept: LRUCache[tuple[Floats, Floats]] = LRUCache(_MOST, lambda made: made[0].nbytes + made[1].nbytes)

    @property
    def configuration(self) -> Mapping[str, str]:
        """The formula, and the versions of the words and of the code."""
        return {"tf": "1 + ln tf", "idf": "ln(1 + N / n)", "words": terms_version(_TERMS), "code": CODE}

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:  # noqa: ARG002 - serves all
        """Read the lemmas of the work, the longer part of what `score` needs."""
        work_terms(work, _TERMS, self._indexes)
        progress(1, 1, "Counting words")

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences: cosines, 0 where it shares no word with the claim."""
        terms = claim_terms(claim, _TERMS)
        if work.candidates(length) == 0:
            return np.zeros(0, dtype=np.float32)
        counts = span_counts(work, length, _TERMS, self._indexes)
        idf, inverse_norms = self._kept.get((work.fingerprint, length), lambda: _weigh(counts))
        products = np.zeros(counts.spans)
        squares = 0.0
        for term, occurrences in Counter(terms).items():
            number = counts.vocabulary.get(term)
            if number is None:
                continue
            entries = slice(counts.first[number], counts.first[number + 1])
            weight = (1.0 + np.log(occurrences)) * idf[number]
            squares += weight * weight
            products[counts.span[entries]] += weight * idf[number] * (1.0 + np.log(counts.count[entries]))
        norm = np.sqrt(squares) or 1.0
        return np.minimum(products * inverse_norms / norm, 1.0).astype(np.float32)


def _weigh(counts: SpanCounts) -> tuple[Floats, Floats]:
    """Give the idf of each term, shape (n_terms,), and one over the norm of each span, shape (n_spans,)."""
    idf = np.log1p(counts.spans / counts.holding)
    weights = (1.0 + np.log(counts.count)) * np.repeat(idf, counts.holding)  # (n_entries,)
    norms = np.sqrt(np.bincount(counts.span, weights=weights * weights, minlength=counts.spans))
    return idf, np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


def create(settings: Settings, components: Sequence[Retriever]) -> TfIdf:  # noqa: ARG001 - the registry's signature
    """Make the retriever."""
    return TfIdf(indexes=settings.indexes)
