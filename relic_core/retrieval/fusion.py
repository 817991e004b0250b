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
        Of one work and one length, in any order, with the same candidates; at least one.

    Returns
    -------
    float32 array, shape (n_spans,)
        In the order of the text, higher is better; 0 for spans that are no candidates, which take no part in ranks.

    Raises
    ------
    ValueError
        No rankings, or rankings of different works, lengths or candidates.

    Examples
    --------
    >>> first = rank_scores("a", "work", 1, np.array([3.0, 2.0, 0.0, 0.0], dtype=np.float32))
    >>> second = rank_scores("b", "work", 1, np.array([0.1, 0.3, 0.2, 0.0], dtype=np.float32))
    >>> rank_scores("fusion", "work", 1, fuse([first, second])).order.tolist()
    [1, 0, 2, 3]
    """
    if len({(ranking.work_id, ranking.length, len(ranking.scores), len(ranking)) for ranking in rankings}) != 1:
        raise ValueError("rankings to be fused must be of the same spans, and at least one")
    among = rankings[0].ranks > 0
    if not all(among[ranking.order].all() for ranking in rankings):
        raise ValueError("rankings to be fused must be of the same spans, and these have different candidates")
    scores = np.zeros(len(among), dtype=np.float32)
    scores[among] = sum_of_shares([share(ranking.scores[among]) for ranking in rankings])
    return scores


def share(scores: Scores) -> npt.NDArray[np.float64]:
    """Give what one ranking adds to each span, ``1 / (60 + rank)``; shape (n_spans,).

    Spans that tie take the last rank of their tie: as many as there are spans with their score or a better one.

    Examples
    --------
    >>> (1 / share(np.array([2.0, 7.0, 2.0], dtype=np.float32)) - K).round().tolist()
    [3.0, 1.0, 3.0]
    """
    order = _order(scores)
    in_order = scores[order]
    ends = np.flatnonzero(np.append(in_order[1:] != in_order[:-1], True)[: len(order)]) + 1
    shares = np.empty(len(scores))
    shares[order] = np.repeat(1.0 / (K + ends), np.diff(ends, prepend=0))
    return shares


def _order(scores: Scores) -> npt.NDArray[np.int64]:
    """Sort spans by score, best first, by the two halves of the numbers' bits.

    numpy sorts whole numbers of 16 bits by counting, so that the 700,000 spans of a library take half the time of
    ``argsort``, however many of them tie.
    """
    bits = (np.float32(0.0) - scores).view(np.uint32)  # minus zero would be another number than zero
    ascending = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    order = np.argsort(ascending.astype(np.uint16), kind="stable")  # by the lower half
    return order[np.argsort((ascending >> 16).astype(np.uint16)[order], kind="stable")]


def sum_of_shares(shares: Sequence[npt.NDArray[np.float64]]) -> Scores:
    """Add up the shares of several rankings; the same sum in any order of them."""
    total: Scores = np.sort(np.stack(shares), axis=0).sum(axis=0).astype(np.float32)
    return total


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
