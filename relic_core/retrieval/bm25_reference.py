"""BM25 by rank_bm25, the library the RELiC paper used: slow, and the measure of `bm25`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np

from relic_core.caching import LRUCache
from relic_core.config import Settings
from relic_core.domain import Claim, Scores, Work
from relic_core.ports import Retriever
from relic_core.retrieval.bm25 import EPSILON, K1, B
from relic_core.text.masking import claim_tokens
from relic_core.text.words import STOPWORDS, WORDS, content_tokens

CODE = "bm25-reference/1"
"""Version of what rank_bm25 is given: a new one makes other scores."""

_KEPT = 2


class Bm25Reference(Retriever):
    """BM25Okapi over the joined sentences of every span."""

    name = "bm25-reference"

    def __init__(self) -> None:
        self._tables: LRUCache[Any] = LRUCache(_KEPT)

    @property
    def configuration(self) -> Mapping[str, str]:
        """The parameters, and the versions of the words, of this code and of the library."""
        return {
            "k1": str(K1),
            "b": str(B),
            "epsilon": str(EPSILON),
            "words": WORDS,
            "code": CODE,
            "rank_bm25": version("rank_bm25"),
        }

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences; shape (n_candidates,). Raises BadClaim for a claim without words."""
        wanted = [word for word in claim_tokens(claim) if word not in STOPWORDS]
        table = self._tables.get((work.fingerprint, length), lambda: _table(work, length))
        if table is None:
            return np.zeros(work.candidates(length), dtype=np.float32)
        return np.asarray(table.get_scores(wanted), dtype=np.float32)


def _table(work: Work, length: int) -> Any:  # noqa: ANN401 - rank_bm25 is not typed
    from rank_bm25 import BM25Okapi

    words = [content_tokens(work.sentence_text(index)) for index in range(len(work.sentences))]
    spans = [list(chain.from_iterable(words[start : start + length])) for start in range(work.candidates(length))]
    return BM25Okapi(spans, k1=K1, b=B, epsilon=EPSILON) if any(spans) else None


def create(settings: Settings, components: Sequence[Retriever]) -> Bm25Reference:  # noqa: ARG001 - the registry's signature
    """Make the reference BM25."""
    return Bm25Reference()
