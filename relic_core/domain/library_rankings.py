"""Rankings over many works at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain.rankings import Hit
from relic_core.domain.spans import Span

if TYPE_CHECKING:
    import numpy.typing as npt

    from relic_core.domain.rankings import Scores

_BLOCK = 512


@dataclass(frozen=True, slots=True)
class WorkHit:
    """One line of a ranking over many works; its rank counts the spans of all of them."""

    work_id: str
    hit: Hit


@dataclass(frozen=True)
class LibraryRanking:
    """Spans of one length of many works, with scores.

    - `works`: ids of the works, in the order in which ties stand.
    - `work`: the work of each span, as an index into `works`; not decreasing.
    - `start`: its first sentence; rising within a work.
    - `candidates`: how many spans were searched: more than were found where `exact` is false.
    - `exact`: every span was scored. Where not, those that were found are the likely best, and a rank is a rank among
      them.
    - `recall`: where not every span was scored: how many of the exact first 10 and of the exact first 100 the index
      used was measured to find, as shares. None where that was not measured, or every span was scored.
    """

    retriever: str
    length: int
    works: tuple[str, ...]
    work: npt.NDArray[np.int32] = field(repr=False)
    start: npt.NDArray[np.int32] = field(repr=False)
    scores: Scores = field(repr=False)
    candidates: int
    exact: bool = True
    recall: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.scores)

    def best(self, k: int) -> npt.NDArray[np.int64]:
        """Positions of the best `k` found, best first; equal scores keep the order of works and text.

        >>> where = np.arange(3, dtype=np.int32)
        >>> ranking = LibraryRanking("demo", 1, ("a",), where * 0, where, np.array([1, 3, 1], dtype=np.float32), 3)
        >>> ranking.best(2).tolist()
        [1, 0]
        """
        k = min(k, len(self.scores))
        if k == 0:
            return np.zeros(0, dtype=np.int64)
        # The k-th best of the bests of blocks is no better than the k-th best of all, so all that are sought reach it:
        # a few blocks' worth of scores are left to sort, where sorting out half a million takes ten times as long.
        bests = np.maximum.reduceat(self.scores, np.arange(0, len(self.scores), _BLOCK))
        least = np.sort(bests)[-k] if k <= len(bests) else self.scores.min()
        some = np.flatnonzero(self.scores >= least)
        return some[np.argsort(-self.scores[some], kind="stable")][:k]

    def hits(self, k: int) -> tuple[WorkHit, ...]:
        """Return the best `k`, best first."""
        return tuple(
            WorkHit(
                self.works[int(self.work[at])],
                Hit(span=Span(int(self.start[at]), self.length), score=float(self.scores[at]), rank=rank),
            )
            for rank, at in enumerate(self.best(k), start=1)
        )

    def rank_of(self, work_id: str, span: Span) -> int:
        """Rank of one span among those found, from 1; 0 where it was not found or is no candidate."""
        if work_id not in self.works or span.length != self.length:
            return 0
        number = self.works.index(work_id)
        first, last = np.searchsorted(self.work, [number, number + 1])
        at = int(first + np.searchsorted(self.start[first:last], span.start))
        if at >= last or self.start[at] != span.start:
            return 0
        score = self.scores[at]
        better = len(self.scores) - int(np.searchsorted(self._ascending, score, side="right"))
        return better + int(np.count_nonzero(self.scores[:at] == score)) + 1

    @cached_property
    def _ascending(self) -> Scores:
        ascending: Scores = np.sort(self.scores)
        return ascending
