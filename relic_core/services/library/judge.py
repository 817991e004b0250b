"""Judging the hits of a search of many works, each in its own work."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Ranking
from relic_core.errors import StaleIndex
from relic_core.ports import VectorRetriever
from relic_core.retrieval.strength import StrengthClassifier

if TYPE_CHECKING:
    import numpy.typing as npt

    from relic_core.domain import Group, Scores, WorkVersion
    from relic_core.retrieval.strength import Strength
    from relic_core.services.indexing import Indexes
    from relic_core.services.library.found import Found


class LibraryJudge:
    """Judges hits by what the rankings say of the work they stand in.

    - `indexes`: where retrievers are, to score a work of which an approximate index has found some spans only.
    """

    def __init__(self, found: Found, indexes: Indexes) -> None:
        self._found = found
        self._indexes = indexes
        self._parts: dict[tuple[str, str], Ranking] = {}
        self._judges: dict[tuple[str, str], StrengthClassifier] = {}
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    def strength(self, retriever: str, work_id: str, group: Group) -> Strength:
        """Judge a hit of a retriever."""
        found = self._found
        if (retriever, work_id) not in self._judges:
            rankings = {
                name: self._in_work(name, work_id)
                for name, ranking in found.rankings.items()
                if work_id in ranking.works
            }
            self._judges[retriever, work_id] = StrengthClassifier(
                rankings[retriever], rankings, foreign=found.foreign.get(work_id), encoders=found.encoders
            )
        return self._judges[retriever, work_id].of(group.best)

    def weak(self, retriever: str) -> bool:
        """Whether the best that a retriever ranks is weak, shown as a column or not."""
        if not self._found.groups[retriever]:
            return True
        work_id, group = self._found.groups[retriever][0]
        return group.best.score == 0 or self.strength(retriever, work_id, group).level == "weak"

    def _in_work(self, name: str, work_id: str) -> Ranking:
        """Give the scores that a ranking has for one of its works, made once; their order is not asked for."""
        if (name, work_id) not in self._parts:
            ranking = self._found.rankings[name]
            imprint = self._found.works[work_id].imprint
            scores = None if ranking.exact else self._scored_exactly(name, imprint)
            if scores is None:
                first, last = np.searchsorted(ranking.work, np.array([0, 1]) + ranking.works.index(work_id))
                scores = np.zeros(imprint.candidates(ranking.length), dtype=np.float32)
                scores[ranking.start[first:last]] = ranking.scores[first:last]
            unordered = np.zeros(0, dtype=np.int64)
            self._parts[name, work_id] = Ranking(name, work_id, ranking.length, order=unordered, scores=scores)
        return self._parts[name, work_id]

    def _scored_exactly(self, name: str, imprint: WorkVersion) -> Scores | None:
        """Score all spans of a work of which an approximate index has found some: hits are judged among all of them.

        None where that cannot be done; then they are judged among those found.
        """
        retriever = self._indexes.retriever(name)
        if not isinstance(retriever, VectorRetriever):
            return None
        if name not in self._vectors:
            self._vectors[name] = self._found.question.vector(retriever)
        with suppress(StaleIndex):  # deleted since the search
            return retriever.score_vector(self._vectors[name], imprint, self._found.request.length)
        return None
