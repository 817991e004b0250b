"""Rankings: spans with scores and ranks, and the one tie rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from relic_core.domain.spans import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

Scores = npt.NDArray[np.float32]
"""Shape (n_candidates,): one score per span of a work, in the order of the text."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of a ranking."""

    span: Span
    score: float
    rank: int


@dataclass(frozen=True)
class Ranking:
    """The candidates of one length of one work, best first.

    - `order`: span starts, best first; made by the one tie rule (`rank_scores`).
    - `scores`: scores of all spans of the work in the order of the text, of those that are no candidates too:
      ``scores[order[0]]`` is the best.
    """

    retriever: str
    work_id: str
    length: int
    order: npt.NDArray[np.int64] = field(repr=False)
    scores: Scores = field(repr=False)

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def ranks(self) -> npt.NDArray[np.int64]:
        """Rank of each span in the order of the text, from 1; 0 for one that is no candidate; shape (n_spans,)."""
        ranks = np.zeros(len(self.scores), dtype=np.int64)
        ranks[self.order] = np.arange(1, len(self.order) + 1)
        return ranks

    def rank_of(self, span: Span) -> int:
        """Rank of one span, from 1; 0 where it is no candidate."""
        return int(self.ranks[span.start])

    def hits(self, k: int) -> tuple[Hit, ...]:
        """Return the best `k` candidates; all of them where `k` is larger."""
        return tuple(
            Hit(span=Span(int(start), self.length), score=float(self.scores[start]), rank=rank)
            for rank, start in enumerate(self.order[:k], start=1)
        )


def rank_scores(
    retriever: str, work_id: str, length: int, scores: Scores, *, among: npt.NDArray[np.bool_] | None = None
) -> Ranking:
    """Rank candidates by score: the one tie rule, equal scores keep the order of the text.

    - `among`: which spans are candidates; all where not given.

    >>> scores = np.array([0.5, 2.0, 0.5], dtype=np.float32)
    >>> rank_scores("demo", "work", 1, scores).order.tolist()
    [1, 0, 2]
    >>> rank_scores("demo", "work", 1, scores, among=np.array([True, False, True])).order.tolist()
    [0, 2]
    """
    order = np.argsort(-scores, kind="stable")
    if among is not None:
        order = order[among[order]]
    return Ranking(retriever=retriever, work_id=work_id, length=length, order=order, scores=scores)


@dataclass(frozen=True, slots=True)
class Group:
    """A hit and the overlapping hits it stands for on a page; metrics never collapse (RELiC, section 3.1)."""

    best: Hit
    others: tuple[Hit, ...] = ()


def group_overlapping(hits: Sequence[Hit]) -> tuple[Group, ...]:
    """Give each passage one place: a hit that overlaps a better one joins that one's group.

    - `hits`: best first.

    Returns: in the order of their best hits; the bests of two groups never overlap.
    """
    heads: list[Hit] = []
    members: list[list[Hit]] = []
    for hit in hits:
        for head, others in zip(heads, members, strict=True):
            if head.span.overlaps(hit.span):
                others.append(hit)
                break
        else:
            heads.append(hit)
            members.append([])
    return tuple(Group(best=head, others=tuple(others)) for head, others in zip(heads, members, strict=True))
