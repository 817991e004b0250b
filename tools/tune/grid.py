"""Tuning: two parameters of a retriever, tried over a grid.

The RELiC paper tuned k1 and b of BM25 on its validation set and found 0.5 and 0.9. A grid is tried on data that nothing
is reported on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from relic_core.errors import BadRequest
from relic_core.evaluation.metrics import Values, centre, metric, values
from relic_core.evaluation.runner import answer, by_pool
from relic_core.ports import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.domain import ContextSize, Outcome, QuotationContext
    from relic_core.ports import Benchmark, Progress, Retriever

    Factory = Callable[[float, float], Retriever]
    Point = tuple[float, float]

K1S = (0.1, 0.3, 0.5, 0.7, 0.9, 1.2, 1.6, 2.0, 3.0)
BS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0)
"""The grid that is tried where none is given: both ends, and the usual defaults between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What a grid came to.

    - `outcomes`: of the best point and of those asked for, in the order of the benchmark.
    - `best`: the best point; of several, the first: the smallest k1, then the smallest b.
    """

    metric: str
    k1s: tuple[float, ...]
    bs: tuple[float, ...]
    figures: Values = field(repr=False)
    outcomes: dict[Point, tuple[Outcome, ...]] = field(repr=False)
    best: Point


def search(  # noqa: PLR0913 - a grid and what it is tried on
    benchmark: Benchmark,
    factory: Factory,
    *,
    shape: ContextSize,
    name: str = "mrr",
    k1s: Sequence[float] = K1S,
    bs: Sequence[float] = BS,
    beside: Sequence[Point] = (),
    progress: Progress,
) -> Grid:
    """Try every pair of values.

    Each work is loaded once, and asked with all pairs before the next.

    - `factory`: makes a retriever of k1 and b.
    - `shape`: how much context each claim takes.
    - `name`: the metric that points are judged by.
    - `beside`: points whose outcomes are wanted too, in the grid or not.
    - `progress`: told how many claims have been answered, all points counted.

    Raises BadRequest: there is nothing to try, or no such metric, or one that is no merit.
    """
    if not k1s or not bs:
        raise BadRequest("A grid needs at least one value for k1 and one for b.")
    higher = metric(name).higher_is_better
    if higher is None:
        raise BadRequest(f"{metric(name).label} is the same for every retriever: nothing can be tuned by it.")
    k1s, bs = tuple(sorted(set(k1s))), tuple(sorted(set(bs)))
    points = [(k1, b) for k1 in k1s for b in bs]
    windows = benchmark.windows()
    total = len(windows) * len(points)
    figures = np.zeros((len(points), len(windows)))
    done = 0
    at = {window.id: number for number, window in enumerate(windows)}
    for pool, some in by_pool(windows).items():
        work = benchmark.work(pool)
        asked = sorted(some, key=lambda window: window.gold.length)  # those of one length share a table
        positions = [at[window.id] for window in asked]
        for row, point in enumerate(points):
            progress(done, total, f"{work.title}, k1 {point[0]:g}, b {point[1]:g}")
            figures[row, positions] = values(name, _answers(benchmark, factory(*point), asked, shape))
            done += len(asked)
    progress(done, total)
    judged = np.array([centre(name, row) for row in figures])
    best = points[int(np.argmax(judged if higher else -judged))]
    return Grid(
        metric=name,
        k1s=k1s,
        bs=bs,
        figures=judged.reshape(len(k1s), len(bs)),
        # Kept for no other point: fifty points of ten thousand outcomes would fill the memory.
        outcomes={point: _all(benchmark, factory, point, shape) for point in dict.fromkeys((best, *beside))},
        best=best,
    )


def _answers(
    benchmark: Benchmark, retriever: Retriever, some: Sequence[QuotationContext], shape: ContextSize
) -> list[Outcome]:
    work = benchmark.work(some[0].pool)
    retriever.prepare(work, silent, lengths=sorted({window.gold.length for window in some}))
    return [answer(benchmark, retriever, window, work, shape) for window in some]


def _all(benchmark: Benchmark, factory: Factory, point: Point, shape: ContextSize) -> tuple[Outcome, ...]:
    windows = benchmark.windows()
    found = {
        outcome.example_id: outcome
        for some in by_pool(windows).values()
        for outcome in _answers(benchmark, factory(*point), some, shape)
    }
    return tuple(found[window.id] for window in windows)
