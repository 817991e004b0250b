"""Reciprocal rank fusion: several rankings of the same spans made into one, by ranks alone.

    score(span) = sum over rankings of 1 / (60 + rank)

Source: Cormack, Clarke and Buettcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
methods". Their documents without a rank add nothing. Here every span has a rank, and spans that tie all take the last
rank of their tie, so that the thousands of spans with no word of the claim are not told apart by their place in the
text.
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

K = 60
"""The constant of the paper: it keeps one ranking's first place from outweighing agreement between several."""


def fuse(rankings: Sequence[Ranking]) -> Scores:
    """Fuse rankings of the same spans.

    Parameters
    ----------
    rankings : sequence of Ranking
        Of one work and one length, in any order; at least one.

    Returns
    -------
    float32 array, shape (n_candidates,)
        In the order of the text, higher is better.

    Raises
    ------
    ValueError
        No rankings, or rankings of different works or lengths.

    Examples
    --------
    >>> first = rank_scores("a", "work", 1, np.array([3.0, 2.0, 0.0, 0.0], dtype=np.float32))
    >>> second = rank_scores("b", "work", 1, np.array([0.1, 0.3, 0.2, 0.0], dtype=np.float32))
    >>> rank_scores("fusion", "work", 1, fuse([first, second])).order.tolist()
    [1, 0, 2, 3]
    """
    if len({(ranking.work_id, ranking.length, len(ranking)) for ranking in rankings}) != 1:
        raise ValueError("rankings to be fused must be of the same spans, and at least one")
    shares = np.stack([1.0 / (K + _last_ranks(ranking)) for ranking in rankings])
    scores: Scores = np.sort(shares, axis=0).sum(axis=0).astype(np.float32)  # sorted: the same sum in any order
    return scores


def _last_ranks(ranking: Ranking) -> npt.NDArray[np.int64]:
    """Rank of each span from 1, tied spans taking the last rank of their tie; shape (n_candidates,)."""
    ascending = np.sort(-ranking.scores)
    return np.searchsorted(ascending, -ranking.scores, side="right")


class Fusion:
    """Ranks by the fused ranks of other retrievers.

    Parameters
    ----------
    components : sequence of Retriever
        The retrievers fused.
    """

    name = "fusion"
    encoder_identity = ""

    def __init__(self, components: Sequence[Retriever]) -> None:
        self._components = tuple(components)

    @property
    def configuration(self) -> Mapping[str, str]:
        """The constant, and all that decides the scores of the components, each under its name."""
        parts = {
            f"{component.name} {name}": value
            for component in self._components
            for name, value in component.configuration.items()
        }
        return {"k": str(K), **parts}

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
