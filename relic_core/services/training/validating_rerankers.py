"""Validation of a training that makes a reranker: how it reorders what the combined ranking puts first.

For a few windows, drawn as an encoder's are, the combined ranking of the whole work is made once and kept with the
training: its first hundred with their scores, and where the critic's quotation stands. A reranker changes the order of
the hundred and no other, so a quotation outside them keeps its rank, and nothing is read for it. Those scores count
beside the reranker's as they do for a search.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Span, rank_scores
from relic_core.encoders.cross_encoder import CrossEncoder
from relic_core.errors import BadRequest
from relic_core.retrieval import registry
from relic_core.retrieval.reranked import HEAD, beside, scores_of
from relic_core.services.training.validating import SHAPES, claim_of, figures, rank_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.config import Settings
    from relic_core.domain import MinedWindow, Work
    from relic_core.ports import Progress, Reranker, Retriever
    from relic_core.services.training.folders import TrainingFolder

FIRST = "fusion"
"""The retriever whose head is reordered, as the app's reranker does."""
SHAPE = SHAPES[0]

_FILE = "heads.json"


@dataclass(frozen=True, slots=True)
class Head:
    """What the first retriever makes of one window.

    - `starts`: where the first hundred spans start, ascending.
    - `rank`: of the window's own span among all of its work.
    """

    starts: tuple[int, ...]
    scores: tuple[float, ...]
    rank: int


def heads_of(
    settings: Settings,
    folder: TrainingFolder,
    windows: Sequence[MinedWindow],
    works: Mapping[str, Work],
    progress: Progress,
) -> dict[str, Head]:
    """Rank the works for the windows, once in a training: where it was done before, read what it gave.

    Works that the retriever has not read yet are prepared, as for a search.

    - `settings`: which encoder is asked, and where indexes are.
    - `progress`: told of works read and windows ranked.

    Raises BadRequest: what was kept is damaged.
    Raises BadWeights: the encoder is not there.
    Raises StoreReadOnly: the folder of indexes cannot be written.
    """
    kept = folder.read(_FILE, ("heads",))
    if kept is not None:
        return _read(folder, kept["heads"], windows)
    first = registry.create(FIRST, settings=settings)
    by_work: dict[str, list[MinedWindow]] = defaultdict(list)
    for window in windows:
        by_work[window.work_id].append(window)
    heads: dict[str, Head] = {}
    for work_id, of_work in by_work.items():
        work = works[work_id]
        lengths = sorted({window.gold.length for window in of_work})
        if not all(first.ready(work, length) for length in lengths):
            first.prepare(work, _preparing(work, progress), lengths=lengths)
        for window in of_work:
            progress(len(heads), len(windows), f"Ranking by meaning and by words: {len(heads)} of {len(windows)}")
            heads[window.id] = _head(first, window, work)
    said = {key: [head.rank, list(head.starts), list(head.scores)] for key, head in heads.items()}
    folder.write(_FILE, {"first": dict(first.configuration), "heads": said})
    return heads


class RerankerValidation:
    """Reorders the heads of the windows with a reranker.

    - `heads`: as `heads_of` gives them.
    - `progress`: told how many were read.
    """

    def __init__(
        self,
        windows: Sequence[MinedWindow],
        works: Mapping[str, Work],
        heads: Mapping[str, Head],
        progress: Progress,
    ) -> None:
        self._windows = windows
        self._works = works
        self._heads = heads
        self._progress = progress

    def __call__(self, folder: Path) -> dict[str, float]:
        """Give the figures of a reranker that a training wrote: see `measure`."""
        return self.measure(CrossEncoder(folder))

    def before(self) -> dict[str, float]:
        """Give the figures of the ranking that is reordered."""
        return figures({SHAPE: [self._heads[window.id].rank for window in self._windows]})

    def measure(self, reranker: Reranker) -> dict[str, float]:
        """Give the figures of a reranker over all spans of the works: those of `figures` for the shape 4/4.

        Raises BadWeights: its files are missing or not the expected ones.
        Raises RelicError: it gives no numbers; memory ran out.
        """
        ranks = []
        for done, window in enumerate(self._windows):
            self._progress(done, len(self._windows), f"validating: {done} of {len(self._windows)} quotations")
            ranks.append(self._rank(reranker, window))
        return figures({SHAPE: ranks})

    def _rank(self, reranker: Reranker, window: MinedWindow) -> int:
        head = self._heads[window.id]
        if window.gold.start not in head.starts:
            return head.rank
        spans = [Span(start, window.gold.length) for start in head.starts]
        found = scores_of(reranker, claim_of(window, SHAPE), self._works[window.work_id], spans)
        scores = beside(found, np.array(head.scores, dtype=np.float32))
        return rank_of(scores, head.starts.index(window.gold.start))


def _head(first: Retriever, window: MinedWindow, work: Work) -> Head:
    length = window.gold.length
    ranking = rank_scores(first.name, work.id, length, first.score(claim_of(window, SHAPE), work, length))
    starts = np.sort(ranking.order[:HEAD])
    return Head(tuple(starts.tolist()), tuple(ranking.scores[starts].tolist()), int(ranking.ranks[window.gold.start]))


def _read(
    folder: TrainingFolder, said: Mapping[str, tuple[int, list[int], list[float]]], windows: Sequence[MinedWindow]
) -> dict[str, Head]:
    try:
        kept = ((window.id, said[window.id]) for window in windows)
        return {key: Head(tuple(starts), tuple(scores), int(rank)) for key, (rank, starts, scores) in kept}
    except (KeyError, TypeError, ValueError) as error:
        raise BadRequest(f"{folder.path / _FILE} is damaged ({error!r}). Start the training anew.") from error


def _preparing(work: Work, progress: Progress) -> Progress:
    def preparing(done: int, total: int, note: str = "") -> None:  # noqa: ARG001 - as every report is called
        share = f": {100 * done // total}%" if total else ""
        progress(done, total, f"Preparing {work.title}{share}")

    return preparing
