"""The index of a work read in one pass: what every span of every length is scored from.

It holds per sentence the sum of its tokens' states and the inner products with the sums of the next sentences. A span's
sum is the sum of its sentences' sums, and the count of its tokens cancels out of the cosine:

    cos(q, span) = sum_i <q, s_i> / sqrt(sum_i sum_j <s_i, s_j>)

so one product of the claim with all sentences serves every length, and no matrix of spans is ever made. Where the
encoder's card asks for inner products, the count of tokens stays in:

    dot(q, span) = sum_i <q, s_i> / sum_i n_i

Windows are summed by shifted additions; float32 cumulative sums over a long work would lose the order of near-equal
spans. Products are taken by numpy's own loops: they come out the same on any number of threads, and for one vector
they are several times as fast as those of a BLAS whose threads have to share the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from relic_core.domain import Scores, Span
from relic_core.encoders.cards import Similarity

Vectors = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


class DenseIndex:
    """The index of one work, open.

    - `sums`: per sentence the sum of its tokens' states.
    - `products`: ``products[d, i]`` is the inner product of the sums of sentences ``i`` and ``i + d``; zero past the
      end.
    - `counts`: tokens of each sentence, at least 1.
    """

    def __init__(self, sums: Vectors, products: Vectors, counts: npt.NDArray[np.int32]) -> None:
        self.sums = sums
        self._products = products
        self._counts = counts
        self._inverse_norms: dict[int, Doubles] = {}

    def score(self, query: Vectors, length: int, similarity: Similarity = "cosine") -> Scores:
        """Score every span of `length` sentences against a query, of length 1 where cosines are wanted."""
        return self._scores(times(self.sums, query).astype(np.float64), length, similarity)

    def score_many(
        self, queries: Vectors, lengths: Sequence[int], similarity: Similarity = "cosine"
    ) -> Iterator[Scores]:
        """Score the spans of each length against several queries; each shape (n_candidates, n_queries)."""
        products = (self.sums @ queries.T).astype(np.float64) if len(lengths) else np.zeros(0)
        for length in lengths:
            yield self._scores(products, length, similarity)

    def score_some(
        self, query: Vectors, starts: npt.NDArray[np.int64], length: int, similarity: Similarity = "cosine"
    ) -> Scores:
        """Score the spans that begin at `starts`, ascending, reading only their sentences; as `score` scores them."""
        if not len(starts):
            return np.zeros(0, dtype=np.float32)
        needed, where = np.unique(starts[:, None] + np.arange(length), return_inverse=True)
        products = times(self.sums[needed], query).astype(np.float64)[where.reshape(-1, length)]
        sums = np.zeros(len(starts))
        for shift in range(length):
            sums += products[:, shift]
        if similarity == "dot":
            return (sums / window_sums(self._counts.astype(np.float64), length)[starts]).astype(np.float32)
        return np.clip(sums * self._inverse_norm(length)[starts], -1.0, 1.0).astype(np.float32)

    def vector(self, span: Span, similarity: Similarity = "cosine") -> Vectors:
        """Give the vector of a span: the mean of its token states, of length 1 for cosines; shape (dimension,)."""
        pooled = self.sums[span.start : span.end].astype(np.float64).sum(axis=0)
        if similarity == "dot":
            return np.asarray(pooled / self._counts[span.start : span.end].sum(), dtype=np.float32)
        return np.asarray(pooled / (np.linalg.norm(pooled) or 1.0), dtype=np.float32)

    def sentence_vectors(self, similarity: Similarity = "cosine") -> Vectors:
        """Give the vectors of all sentences, as `vector` does; shape (n_sentences, dimension)."""
        by = 1.0 / self._counts if similarity == "dot" else self._inverse_norm(1)
        return self.sums * by.astype(np.float32)[:, None]

    def _scores(self, products: Doubles, length: int, similarity: Similarity) -> Scores:
        """Pool the products of queries with sentences, shape (n_sentences,) or (n_sentences, n_queries)."""
        if len(self.sums) < length:
            return np.zeros((0, *products.shape[1:]), dtype=np.float32)
        pooled = window_sums(products, length)
        beside = (slice(None), *[None] * (products.ndim - 1))
        if similarity == "dot":
            pooled /= window_sums(self._counts.astype(np.float64), length)[beside]
        else:
            pooled *= self._inverse_norm(length)[beside]
            np.clip(pooled, -1.0, 1.0, out=pooled)
        return pooled.astype(np.float32)

    def _inverse_norm(self, length: int) -> Doubles:
        """One over the norm of each span's sum; 0 where the sum is zero. Shape (n_candidates,)."""
        if length not in self._inverse_norms:
            squares = window_sums(self._product(0), length)
            for distance in range(1, length):
                pairs = self._product(distance)[: len(self.sums) - distance]
                squares += 2.0 * window_sums(pairs, length - distance)
            norms = np.sqrt(np.maximum(squares, 0.0))
            self._inverse_norms[length] = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        return self._inverse_norms[length]

    def _product(self, distance: int) -> Doubles:
        """Inner products of sentences `distance` apart; those the index does not hold are made when asked for."""
        held = distance < len(self._products)
        products = self._products[distance] if held else neighbour_products(self.sums, distance)
        return np.asarray(products, dtype=np.float64)


def times(vectors: Vectors, query: Vectors) -> Vectors:
    """Multiply each of some vectors, shape (n, dimension), with one; shape (n,).

    >>> times(np.eye(2, dtype=np.float32), np.array([3, 4], dtype=np.float32)).tolist()
    [3.0, 4.0]
    """
    products: Vectors = np.einsum("ij,j->i", np.asarray(vectors), query)
    return products


def neighbour_products(sums: Vectors, distance: int) -> Vectors:
    """Multiply each sentence's sum with that of the sentence `distance` further on; the last `distance` are zero."""
    found = np.zeros(len(sums), dtype=np.float32)
    if distance < len(sums):
        np.einsum("ij,ij->i", sums[: len(sums) - distance], sums[distance:], out=found[: len(sums) - distance])
    return found


def window_sums(values: Doubles, length: int) -> Doubles:
    """Add up each run of `length` neighbours along the first axis.

    >>> window_sums(np.array([1.0, 2.0, 4.0, 8.0]), 3).tolist()
    [7.0, 14.0]
    """
    candidates = len(values) - length + 1
    total = values[:candidates].copy()
    for shift in range(1, length):
        total += values[shift : shift + candidates]
    return total
