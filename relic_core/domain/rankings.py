"""Rankings of spans, of one work or of many, and the one tie rule: equal scores keep the order of works and of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from relic_core.domain.spans import Span

Scores = npt.NDArray[np.float32]
"""Shape (n_candidates,): one score per span of a work, in the order of the text."""
Ints = npt.NDArray[np.int32]

_BLOCK = 512


def best_first(scores: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Order positions by score, along the last axis, the highest first; equal scores keep their order.

    >>> best_first(np.array([0.5, 2.0, 0.5])).tolist()
    [1, 0, 2]
    """
    return np.argsort(-scores, axis=-1, kind="stable")


def best_of(scores: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Give the first `k` of `best_first`, all where `k` is larger, without sorting the rest; shape (k,)."""
    k = min(k, len(scores))
    if k <= 0:
        return np.zeros(0, dtype=np.int64)
    # The k-th best of the bests of blocks is no better than the k-th best of all, so all that are sought reach it:
    # a few blocks' worth of scores are left to sort, where sorting out half a million takes ten times as long.
    bests = np.maximum.reduceat(scores, np.arange(0, len(scores), _BLOCK))
    least = np.sort(bests)[-k] if k <= len(bests) else scores.min()
    some = np.flatnonzero(scores >= least)
    return some[best_first(scores[some])][:k]


def rank_at(scores: npt.NDArray[Any], at: int) -> int:
    """Rank one position: those that are better, and the equal ones before it, come first.

    >>> [rank_at(np.array([0.5, 2.0, 0.5]), at) for at in range(3)]
    [2, 1, 3]
    """
    score = scores[at]
    return 1 + int(np.count_nonzero(scores > score)) + int(np.count_nonzero(scores[:at] == score))


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of a ranking."""

    work_id: str
    span: Span
    score: float
    rank: int

    def overlaps(self, other: Hit) -> bool:
        """Whether the two share a sentence of one work."""
        return self.work_id == other.work_id and self.span.overlaps(other.span)


@dataclass(frozen=True)
class Ranking:
    """Spans of one length of some works, with scores. One work is a collection of one.

    - `works`: ids of the works, in the order in which ties stand.
    - `work`: the work of each span, as an index into `works`; not decreasing.
    - `start`: its first sentence; rising within a work.
    - `candidates`: how many spans were searched: more than were found where `exact` is false.
    - `exact`: every span was scored. Where not, those found are the likely best, and a rank is a rank among them.
    - `recall`: where not every span was scored: shares of the exact first 10 and first 100 that the index was measured
      to find. None where that was not measured, or every span was scored.
    """

    retriever: str
    length: int
    works: tuple[str, ...]
    work: Ints = field(repr=False)
    start: Ints = field(repr=False)
    scores: Scores = field(repr=False)
    candidates: int
    exact: bool = True
    recall: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Positions of all spans, best first; of one whole work the starts of its spans."""
        return best_first(self.scores)

    @cached_property
    def ranks(self) -> npt.NDArray[np.int64]:
        """Rank of each span, from 1; shape (n_spans,)."""
        ranks = np.empty(len(self), dtype=np.int64)
        ranks[self.order] = np.arange(1, len(self) + 1)
        return ranks

    def hits(self, k: int) -> tuple[Hit, ...]:
        """Return the best `k`, best first; all of them where `k` is larger."""
        return tuple(
            Hit(
                self.works[int(self.work[at])],
                Span(int(self.start[at]), self.length),
                score=float(self.scores[at]),
                rank=rank,
            )
            for rank, at in enumerate(best_of(self.scores, k).tolist(), start=1)
        )

    def part(self, work_id: str) -> slice:
        """Give the positions of the spans of one work."""
        number = self.works.index(work_id)
        first, last = np.searchsorted(self.work, [number, number + 1])
        return slice(int(first), int(last))

    def rank_of(self, span: Span, work_id: str | None = None) -> int:
        """Rank one span, of the only work where none is named; 0 where it was not found or is not a candidate."""
        work_id = self.works[0] if work_id is None else work_id
        if work_id not in self.works or span.length != self.length:
            return 0
        part = self.part(work_id)
        at = part.start + int(np.searchsorted(self.start[part], span.start))
        return rank_at(self.scores, at) if at < part.stop and self.start[at] == span.start else 0

    def only(self, kept: npt.NDArray[np.bool_], *, left_out: int) -> Ranking:
        """Leave out spans that are not candidates; `left_out`: how many of the works' spans these are."""
        return replace(
            self,
            work=self.work[kept],
            start=self.start[kept],
            scores=self.scores[kept],
            candidates=self.candidates - left_out,
        )


def rank_works(retriever: str, length: int, scored: Iterable[tuple[str, Scores]]) -> Ranking:
    """Rank all spans of some works, given by id and scores in the order of the text."""
    scored = list(scored)
    counts = [len(scores) for _, scores in scored]
    return Ranking(
        retriever,
        length,
        tuple(work_id for work_id, _ in scored),
        work=np.repeat(np.arange(len(scored), dtype=np.int32), counts),
        start=np.concatenate([np.zeros(0, dtype=np.int32), *(np.arange(count, dtype=np.int32) for count in counts)]),
        scores=np.concatenate([np.zeros(0, dtype=np.float32), *(scores for _, scores in scored)]),
        candidates=sum(counts),
    )


def rank_scores(retriever: str, work_id: str, length: int, scores: Scores) -> Ranking:
    """Rank all spans of one work.

    >>> rank_scores("demo", "work", 1, np.array([0.5, 2.0, 0.5], dtype=np.float32)).order.tolist()
    [1, 0, 2]
    """
    return rank_works(retriever, length, [(work_id, scores)])


@dataclass(frozen=True, slots=True)
class Group:
    """A hit and the overlapping hits it stands for on a page; metrics never collapse (RELiC, section 3.1)."""

    best: Hit
    others: tuple[Hit, ...] = ()


def group_overlapping(hits: Sequence[Hit]) -> tuple[Group, ...]:
    """Give each passage one place, best first: a hit that overlaps a better one of its work joins that one's group."""
    groups: list[list[Hit]] = []
    taken: dict[tuple[str, int], int] = {}  # each sentence of a best hit: its group
    for hit in hits:
        sentences = [(hit.work_id, index) for index in range(hit.span.start, hit.span.end)]
        if overlapped := [taken[each] for each in sentences if each in taken]:
            groups[min(overlapped)].append(hit)
        else:
            taken.update(dict.fromkeys(sentences, len(groups)))
            groups.append([hit])
    return tuple(Group(best=best, others=tuple(others)) for best, *others in groups)
