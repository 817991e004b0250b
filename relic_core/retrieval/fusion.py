"""Fusion: several rankings of the same spans made into one, by how far each span stands out in each of them.

    score(span) = sum over rankings of weight * (its score - their mean) / their standard deviation

A sum of standardised scores keeps how clearly a span leads, which ranks throw away, and lets the better ranking count
for more: on claims that nothing here learnt from, it beats reciprocal rank fusion, which falls behind the better of two
unequal rankings (docs/reranking.md has the figures; Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for
Hybrid Retrieval", find the same of search on the web).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LENGTHS, rank_scores
from relic_core.errors import NoIndex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Ranking, Scores, Work
    from relic_core.ports import Progress, Retriever


WEIGHTS = {"bm25": 0.15}
"""What a ranking counts for, by its retriever; all others 1. Chosen on `public-relic-dev-short`."""


def fuse(rankings: Sequence[Ranking]) -> Scores:
    """Fuse rankings of the same spans.

    - `rankings`: of one work and one length, in any order, with the same candidates; at least one. Each counts for what
      `WEIGHTS` says of its retriever.

    Returns: in the order of the text, higher is better; 0 for spans that are no candidates, which take no part in
    means.

    Raises ValueError: no rankings, or rankings of different works, lengths or candidates.

    >>> first = rank_scores("dense", "work", 1, np.array([3.0, 2.0, 0.0, 0.0], dtype=np.float32))
    >>> second = rank_scores("bm25", "work", 1, np.array([0.1, 0.3, 0.2, 0.0], dtype=np.float32))
    >>> rank_scores("fusion", "work", 1, fuse([first, second])).order.tolist()
    [0, 1, 2, 3]
    """
    if len({(ranking.work_id, ranking.length, len(ranking.scores), len(ranking)) for ranking in rankings}) != 1:
        raise ValueError("rankings to be fused must be of the same spans, and at least one")
    among = rankings[0].ranks > 0
    if not all(among[ranking.order].all() for ranking in rankings):
        raise ValueError("rankings to be fused must be of the same spans, and these have different candidates")
    scores = np.zeros(len(among), dtype=np.float32)
    scores[among] = sum_of_shares([share(ranking.scores[among], weight_of(ranking.retriever)) for ranking in rankings])
    return scores


def share(scores: Scores, weight: float = 1.0) -> npt.NDArray[np.float64]:
    """Give what one ranking adds to each span; shape (n_spans,), 0 for all where no score differs from another.

    >>> share(np.array([1.0, 3.0], dtype=np.float32), 0.5).tolist()
    [-0.5, 0.5]
    """
    exact = scores.astype(np.float64)
    if not len(exact) or exact.min() == exact.max():
        return np.zeros(len(exact))
    return np.asarray(weight * (exact - exact.mean()) / exact.std(), dtype=np.float64)


def sum_of_shares(shares: Sequence[npt.NDArray[np.float64]]) -> Scores:
    """Add up the shares of several rankings; the same sum in any order of them."""
    total: Scores = np.sort(np.stack(shares), axis=0).sum(axis=0).astype(np.float32)
    return total


def weight_of(retriever: str) -> float:
    """Give what a retriever's ranking counts for."""
    return WEIGHTS.get(retriever, 1.0)


class Fusion:
    """Ranks by the fused scores of other retrievers."""

    name = "fusion"
    encoder_identity = ""

    def __init__(self, components: Sequence[Retriever]) -> None:
        self._components = tuple(components)

    @property
    def configuration(self) -> Mapping[str, str]:
        """The weights, and all that decides the scores of the components, each under its name."""
        parts = {
            f"{component.name} {name}": value
            for component in self._components
            for name, value in component.configuration.items()
        }
        names = [component.name for component in self._components]
        return {"weights": ", ".join(f"{name} {weight_of(name):g}" for name in names), **parts}

    def ready(self, work: Work, length: int) -> bool:
        """Whether all components are."""
        return all(component.ready(work, length) for component in self._components)

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Prepare the components one after the other."""
        for component in self._components:
            component.prepare(work, progress, lengths=lengths)

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences; shape (n_candidates,). Raises what the components raise."""
        waiting = [component.name for component in self._components if not component.ready(work, length)]
        if waiting:
            raise NoIndex(f"{work.title} has not been prepared for {' and '.join(waiting)} yet. Prepare it first.")
        return fuse(
            [
                rank_scores(component.name, work.id, length, component.score(claim, work, length))
                for component in self._components
            ]
        )


def create(settings: Settings, components: Sequence[Retriever]) -> Fusion:  # noqa: ARG001 - the registry's signature
    """Make the fusion of its components."""
    return Fusion(components)
