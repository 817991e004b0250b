"""Words counted in every span of a length: what BM25 and TF-IDF weigh.

Spans overlap, so the counts are made from `length` shifted copies of the sentences instead of the joined texts of all
spans. They are made once for a work, a length and a kind of term, and kept: another weighting is a matter of
milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relic_core.caching import LRUCache
from relic_core.retrieval.claims import claim_tokens
from relic_core.retrieval.words_index import work_terms
from relic_core.text.forms import lemma
from relic_core.text.words import STOPWORDS

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Claim, Work
    from relic_core.retrieval.words_index import Terms
    from relic_core.text.words import WorkWords


@dataclass(frozen=True, eq=False, kw_only=True)
class SpanCounts:
    """How often each term occurs in each span of one length of one work.

    - `vocabulary`: each term's number.
    - `first`: term ``i`` has the cells ``first[i]`` up to ``first[i + 1]``, one for each span that holds it.
    - `span`: the span of each cell, in the order of the text within each term.
    - `count`: how often the term occurs there, at least once.
    - `sizes`: terms in each span, repetitions counted.
    """

    vocabulary: dict[str, int]
    spans: int
    first: npt.NDArray[np.int64]
    span: npt.NDArray[np.int32]
    count: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]

    @property
    def holding(self) -> npt.NDArray[np.int64]:
        """How many spans hold each term; shape (n_terms,)."""
        return np.diff(self.first)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.first.nbytes + self.span.nbytes + self.count.nbytes + self.sizes.nbytes

    @classmethod
    def of(cls, words: WorkWords, length: int) -> SpanCounts:
        """Count the terms of a work that has at least one span of `length` sentences."""
        sentences = len(words.starts) - 1
        spans = sentences - length + 1
        sentence_of = np.repeat(np.arange(sentences), np.diff(words.starts))
        keys = []
        for shift in range(length):  # sentence i is the one `shift` of span i - shift
            span_of = sentence_of - shift
            inside = (span_of >= 0) & (span_of < spans)
            keys.append(words.ids[inside].astype(np.int64) * spans + span_of[inside])
        cells, counts = np.unique(np.concatenate(keys), return_counts=True)  # by term, then by span
        term, span = np.divmod(cells, spans)
        holding = np.bincount(term, minlength=len(words.vocabulary))
        return cls(
            vocabulary=words.vocabulary,
            spans=spans,
            first=np.concatenate([[0], np.cumsum(holding)]).astype(np.int64),
            span=span.astype(np.int32),
            count=counts.astype(np.int32),
            sizes=words.starts[length:] - words.starts[:spans],
        )


_MOST = 64_000_000
"""In bytes: all lengths of two of the longest novels, or of a dozen others."""
_kept: LRUCache[SpanCounts] = LRUCache(_MOST, lambda counts: counts.nbytes)


def span_counts(work: Work, length: int, terms: Terms, indexes: Path | None = None) -> SpanCounts:
    """Count the terms of a work's spans, at least one of which there must be; the last few counts are kept.

    - `indexes`: folder of all indexes, where the work's terms are kept.
    """
    key = (work.fingerprint, length, terms)
    return _kept.get(key, lambda: SpanCounts.of(work_terms(work, terms, indexes), length))


def claim_terms(claim: Claim, terms: Terms) -> list[str]:
    """List the terms of a claim; none where it is all function words.

    Raises BadClaim: it holds no word at all.
    """
    found = [token for token in claim_tokens(claim) if token not in STOPWORDS]
    return [lemma(token) for token in found] if terms == "lemmas" else found
