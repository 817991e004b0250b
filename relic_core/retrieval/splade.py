"""SPLADE: a learned sparse retriever. Claim and passage meet in the terms that a model gives weight to in both.

    score(claim, span) = sum over terms j of  w_j(claim) w_j(span)

Of each length an inverted index is kept: of every term the spans in which it weighs anything, and how much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from relic_core.config import Settings
from relic_core.domain import Claim, Scores, Span, Work, WorkVersion
from relic_core.encoders.sparse import SparseEncoder
from relic_core.encoders.towers import PassageEncoder, shared
from relic_core.ports import Progress, Retriever, silent
from relic_core.retrieval.dense_alone import DenseAlone
from relic_core.retrieval.index_files import Arrays
from relic_core.retrieval.vectors import Vector, check_span

CODE = "splade/1"
"""Version of the index's layout and of the texts that are weighed; a new one makes old indexes unused."""


class Splade(DenseAlone):
    """Ranks spans by the terms that weigh in claim and span, each read by itself."""

    code = CODE

    def __init__(self, encoder: Callable[[], SparseEncoder], *, root: Path, model: str = "") -> None:
        super().__init__("splade", encoder=cast("Callable[[], PassageEncoder]", encoder), root=root, model=model)

    @property
    def configuration(self) -> Mapping[str, str]:
        """The encoder and the version of the index; a claim is read as it stands, a short one too."""
        return {"encoder": self.encoder_identity, "code": CODE}

    def _claim_vectors(self, claims: Sequence[Claim], work: Work | None) -> list[Vector]:  # noqa: ARG002 - as above
        return list(self._encoder().encode_claims(claims))

    def encode(self, content: Sequence[str], progress: Progress = silent) -> Arrays:  # noqa: ARG002 - a piece is short
        """Weigh the terms of spans."""
        weights = self._encoder().encode_passages(content)
        span, term = np.nonzero(weights)
        size = np.array(weights.shape, dtype=np.int64)
        return {
            "size": size,
            "span": span.astype(np.int32),
            "term": term.astype(np.int32),
            "weight": weights[span, term],
        }

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        """Make the inverted index of the spans of all pieces."""
        sizes = np.array([part["size"] for part in parts])
        before = np.cumsum([0, *sizes[:-1, 0]])
        term = np.concatenate([part["term"] for part in parts])
        order = np.argsort(term, kind="stable")
        spans = np.concatenate([part["span"] + first for part, first in zip(parts, before, strict=True)])
        return {
            "first": np.searchsorted(term[order], np.arange(sizes[0, 1] + 1)).astype(np.int64),
            "span": spans[order].astype(np.int32),
            "weight": np.concatenate([part["weight"] for part in parts])[order],
        }

    def span_vector(self, work: WorkVersion, span: Span) -> Vector:
        """Take what each term weighs in a span from the index of its length."""
        check_span(work, span)
        index = self._opened(self._recipe(work, span.length))
        here = np.flatnonzero(np.asarray(index["span"]) == span.start)
        found = np.zeros(len(index["first"]) - 1, dtype=np.float32)
        found[np.searchsorted(index["first"], here, side="right") - 1] = index["weight"][here]
        return found

    def score_vector(self, vector: Vector, work: WorkVersion, length: int) -> Scores:
        """Score every span of `length` sentences by the terms that a claim gives weight. Raises NoIndex, StaleIndex."""
        found = np.zeros(work.candidates(length), dtype=np.float32)
        if not len(found):
            return found
        index: Mapping[str, Any] = self._opened(self._recipe(work, length))
        for term in np.flatnonzero(vector):
            rows = slice(index["first"][term], index["first"][term + 1])
            found[index["span"][rows]] += vector[term] * index["weight"][rows]
        return found


def create(settings: Settings, components: Sequence[Retriever]) -> Splade:  # noqa: ARG001 - the registry's signature
    """Make the retriever, with the model that a setting names. Raises BadWeights: none is, or it is no SPLADE."""
    SparseEncoder(settings.sparse)  # said now, not when it is first asked
    encoder = cache(lambda: shared(SparseEncoder(settings.sparse)))
    return Splade(encoder, root=settings.indexes, model=settings.sparse)
