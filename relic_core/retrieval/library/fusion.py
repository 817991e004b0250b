"""Fusion over many works: `relic_core.retrieval.fusion` with scores standardised over all of them.

Works that one of the rankings lacks are left out of all, and nothing is counted of them: a work that only one of two
retrievers has read could never stand high, and it would look as if nothing were to be found in it. Spans that one
ranking was to find and did not, since it is not exact, get from it what the last that it found gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LibraryRanking
from relic_core.retrieval.fusion import Fusion, share, sum_of_shares, weight_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Span, Work, WorkVersion
    from relic_core.ports import LibraryRetriever

    Keys = npt.NDArray[np.int64]

_BITS = 32
_START = (1 << _BITS) - 1
"""A work and a start make one number that sorts by work, then by start."""


def fuse_library(rankings: Sequence[LibraryRanking], *, name: str = Fusion.name) -> LibraryRanking:
    """Fuse rankings of one length.

    - `rankings`: at least one; works that are in several stand in the same order.

    Returns: over the works that all of the rankings are of, with every span that one of them found; exact where all
    are.

    Raises ValueError: no rankings, or rankings of different lengths or orders of works.

    >>> at, start = np.zeros(2, dtype=np.int32), np.arange(2, dtype=np.int32)
    >>> rankings = [
    ...     LibraryRanking("a", 1, ("emma",), at, start, np.array(scores, dtype=np.float32), 2)
    ...     for scores in ([1, 2], [0, 5])
    ... ]
    >>> fuse_library(rankings).best(2).tolist()
    [1, 0]
    """
    works = _common(rankings)
    narrowed = [_of_works(ranking, works) for ranking in rankings]
    first = narrowed[0]
    keys = [(ranking.work.astype(np.int64) << _BITS) | ranking.start for ranking in narrowed]
    shares = [share(ranking.scores, weight_of(ranking.retriever)) for ranking in narrowed]
    found = _union(keys)
    shares = [_spread(part, each, found) for part, each in zip(shares, keys, strict=True)]
    return LibraryRanking(
        retriever=name,
        length=first.length,
        works=works,
        work=(found >> _BITS).astype(np.int32),
        start=(found & _START).astype(np.int32),
        scores=sum_of_shares(shares),
        candidates=max(ranking.candidates for ranking in narrowed),
        exact=all(ranking.exact for ranking in narrowed),
    )


def _common(rankings: Sequence[LibraryRanking]) -> tuple[str, ...]:
    """List the works that all rankings are of."""
    if len({ranking.length for ranking in rankings}) != 1:
        raise ValueError("rankings to be fused must be of spans of the same length, and at least one")
    shared = set.intersection(*(set(ranking.works) for ranking in rankings))
    orders = {tuple(work for work in ranking.works if work in shared) for ranking in rankings}
    if len(orders) != 1:
        raise ValueError("rankings to be fused must have their works in the same order")
    return orders.pop()


def _of_works(ranking: LibraryRanking, works: tuple[str, ...]) -> LibraryRanking:
    """Leave out what was found in other works."""
    if ranking.works == works:
        return ranking
    number = np.array([works.index(work) if work in works else -1 for work in ranking.works], dtype=np.int32)
    of = number[ranking.work]
    kept = of >= 0
    return LibraryRanking(
        retriever=ranking.retriever,
        length=ranking.length,
        works=works,
        work=of[kept],
        start=ranking.start[kept],
        scores=ranking.scores[kept],
        candidates=int(np.count_nonzero(kept)),  # where it is not exact, those of an exact one count
        exact=ranking.exact,
    )


def _union(keys: Sequence[Keys]) -> Keys:
    """Join spans, in order; as a rule the longest list holds those of all others."""
    found = max(keys, key=len)
    for each in keys:
        if len(found) and not np.array_equal(each, found):
            nearest = found[np.minimum(np.searchsorted(found, each), len(found) - 1)]
            if len(new := each[nearest != each]):
                found = np.sort(np.concatenate([found, new]))
    return found


def _spread(shares: npt.NDArray[np.float64], keys: Keys, found: Keys) -> npt.NDArray[np.float64]:
    """Put the shares of some spans in their places among all that were found; elsewhere the least of them."""
    if len(keys) == len(found):
        return shares
    spread = np.full(len(found), shares.min(initial=0.0))
    spread[np.searchsorted(found, keys)] = shares
    return spread


class LibraryFusion:
    """Ranks by the fused scores of other retrievers."""

    name = Fusion.name

    def __init__(self, components: Sequence[LibraryRetriever]) -> None:
        self._components = tuple(components)

    def missing(self, works: Sequence[WorkVersion], length: int) -> tuple[str, ...]:
        """Give the ids of the works that one of the components lacks."""
        lacking = {work for component in self._components for work in component.missing(works, length)}
        return tuple(work.id for work in works if work.id in lacking)

    def rank(
        self, claim: Claim, works: Sequence[WorkVersion], length: int, *, like: tuple[WorkVersion, Span] | None = None
    ) -> LibraryRanking:
        """Rank the spans of `length` sentences of the works that no component lacks.

        Raises BadClaim: the claim holds nothing to search with. Further, what the components raise.
        """
        lacking = set(self.missing(works, length))
        present = [work for work in works if work.id not in lacking]
        return fuse_library([component.rank(claim, present, length, like=like) for component in self._components])


def create_library(
    settings: Settings,  # noqa: ARG001 - the registry's signature
    retriever: object,  # noqa: ARG001 - the registry's signature
    components: Sequence[LibraryRetriever],
    load: Callable[[str], Work],  # noqa: ARG001 - the registry's signature
) -> LibraryFusion:
    """Make the fusion of its components over the whole library."""
    return LibraryFusion(components)
