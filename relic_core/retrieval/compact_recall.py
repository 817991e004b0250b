"""How much of the exact answer a compact index of the library finds: measured when it is built.

Recall at k is the share of the k best spans, as all spans scored would rank them, that are among those found; found
spans are scored exactly, so each of them then stands among the first k of the approximate answer too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from relic_core.domain import Span, best_first

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Claim, WorkVersion
    from relic_core.encoders.cards import Similarity
    from relic_core.retrieval.sentence_sums import DenseIndex

    Measures = Mapping[int, tuple[float, float]]
    """By length of span: recall at 10 and at 100."""

QUESTIONS = 200
"""Questions that recall is measured on: the claims given, filled up with made ones."""

WANTED = 0.98
"""Recall at 10 that cells are looked into for, at every length."""

_BEST = 100
_NOISE = 1.2
"""Length of the noise in a made question beside a passage's vector of length 1. Claims about a novel are about as far
from its sentences."""


class Prepared(Protocol):
    """What has prepared the works, as far as a compact index asks it."""

    root: Path
    similarity: Similarity

    @property
    def name(self) -> str:
        """The retriever's name."""
        ...

    @property
    def encoder_identity(self) -> str:
        """What made the vectors."""
        ...

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What the vectors are made by."""
        ...

    def open(self, work: WorkVersion) -> DenseIndex:
        """Open the index of a work."""
        ...

    def claim_vector(self, claim: Claim) -> npt.NDArray[np.float32]:
        """Encode a claim."""
        ...


def queries(
    dense: Prepared, works: Sequence[WorkVersion], claims: Sequence[Claim], rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Make the questions: real claims, and two neighbouring sentences' vector with noise, which is like none stored.

    Returns: `QUESTIONS` of them; fewer where no work has two sentences.
    """
    asked = [dense.claim_vector(claim) for claim in claims[:QUESTIONS]]
    indexes: dict[str, DenseIndex] = {}
    pairs = np.array([work.candidates(2) for work in works], dtype=np.float64)
    for number in rng.choice(len(works), QUESTIONS - len(asked), p=pairs / pairs.sum()) if pairs.sum() else ():
        work = works[number]
        index = indexes[work.id] = indexes.get(work.id) or dense.open(work)
        passage = index.vector(Span(int(rng.integers(work.candidates(2))), 2), dense.similarity)
        noise = rng.standard_normal(len(passage))
        made = passage + noise * (_NOISE * np.linalg.norm(passage) / np.linalg.norm(noise))
        asked.append((made / (np.linalg.norm(made) or 1.0)).astype(np.float32))
    return np.array(asked, dtype=np.float32)


def measure(
    dense: Prepared,
    works: Sequence[WorkVersion],
    asked: npt.NDArray[np.float32],
    found: Callable[[int], Sequence[npt.NDArray[np.int64]]],
    *,
    cells: int,
    lengths: Sequence[int],
    told: Callable[[int], None],
) -> tuple[int, Measures]:
    """Choose into how many cells to look, and measure recall with them.

    - `dense`: who has prepared the works.
    - `works`: in the order in which their sentences are counted through.
    - `found`: gives the sentences found for each question, counted through all works, when so many cells are looked
      into.
    - `cells`: how many there are.
    - `told`: told how many sentences have been gone through.

    What it returns:
    - `probes`: the smallest power of two that gives a recall at 10 of `WANTED` at every length; all cells where none
      does.
    - `measures`: with so many. Empty where nothing was asked.
    """
    best = _best(dense, works, asked, lengths, told)
    probes = 1
    while True:
        measures = _recalls(best, found(probes)) if len(asked) else {}
        if probes >= cells or all(ten >= WANTED for ten, _ in measures.values()):
            return probes, measures
        probes = min(2 * probes, cells)


def _recalls(best: Mapping[int, npt.NDArray[np.int64]], found: Sequence[npt.NDArray[np.int64]]) -> Measures:
    recalls = {}
    for length, rows in best.items():
        shares = []
        for row, sentences in zip(rows, found, strict=True):
            real = row[row >= 0]  # a library of few spans has fewer than a hundred
            held = real[:, None] + np.arange(length)
            hit: npt.NDArray[np.bool_] = np.any(np.isin(held, sentences), axis=1)
            if len(real):
                shares.append((hit[:10].mean(), hit.mean()))
        if shares:
            ten, hundred = np.mean(shares, axis=0)
            recalls[length] = (round(float(ten), 4), round(float(hundred), 4))
    return recalls


def _best(
    dense: Prepared,
    works: Sequence[WorkVersion],
    asked: npt.NDArray[np.float32],
    lengths: Sequence[int],
    told: Callable[[int], None],
) -> dict[int, npt.NDArray[np.int64]]:
    """Rank all spans; by length the best for each question, as rows of their first sentences, shape (n_questions, 100).

    Where there are fewer spans the rest is -1. Works are gone through one by one, so that no more than one has to be
    in memory.
    """
    rows = {length: np.full((len(asked), _BEST), -1, dtype=np.int64) for length in lengths}
    scores = {length: np.full((len(asked), _BEST), -np.inf, dtype=np.float32) for length in lengths}
    first = 0
    for work in works:
        index = dense.open(work)
        for length in lengths if len(asked) else ():
            here = index.score_many(asked, length, dense.similarity).T
            together = np.concatenate([scores[length], here], axis=1)
            places = np.arange(first, first + here.shape[1])
            which = np.concatenate([rows[length], np.broadcast_to(places, here.shape)], axis=1)
            some = np.argpartition(-together, _BEST - 1, axis=1)[:, :_BEST]
            order = best_first(np.take_along_axis(together, some, axis=1))
            keep = np.take_along_axis(some, order, axis=1)
            scores[length] = np.take_along_axis(together, keep, axis=1)
            rows[length] = np.take_along_axis(which, keep, axis=1)
        first += work.sentences
        told(first)
    return rows
