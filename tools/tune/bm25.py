"""Tuning BM25 as the RELiC paper did: k1 and b tried over a grid, on data that nothing is reported on.

The paper tuned on its validation set and found 0.5 and 0.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from relic_core.domain import ContextSize, Outcome, QuotationContext
from relic_core.domain.figures import Cell, Figure, Table
from relic_core.errors import BadRequest
from relic_core.evaluation import metrics
from relic_core.evaluation.comparing import Comparison, compare
from relic_core.evaluation.metrics import Values, centre, metric, values
from relic_core.evaluation.runner import answer, by_pool
from relic_core.library.sample import SPLIT as SAMPLE
from relic_core.ports import Benchmark, Progress, Retriever, silent
from relic_core.retrieval import registry
from relic_core.retrieval.bm25 import K1, B, Bm25
from relic_core.retrieval.words import Terms
from relic_core.wiring import App

Factory = Callable[[float, float], Retriever]
Point = tuple[float, float]

PAPER = (K1, B)
"""What the RELiC paper found on its validation set."""
K1S = (0.1, 0.3, 0.5, 0.7, 0.9, 1.2, 1.6, 2.0, 3.0)
BS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0)
"""The grid that is tried where none is given: both ends, and the usual defaults between them."""


_TO_CHOOSE_BY = "dev"
"""The split that nothing is reported on."""
_MORE_DIGITS = 3
"""So many are added at most, where all points of a grid read alike."""


def tune_bm25(  # noqa: PLR0913 - a grid and what it is tried on
    app: App,
    name: str,
    *,
    terms: Terms = "tokens",
    shape: ContextSize,
    data: Path | None = None,
    by: str = "mrr",
    k1s: Sequence[float] = K1S,
    bs: Sequence[float] = BS,
    progress: Progress,
) -> Table:
    """Try BM25 over a grid of k1 (down the table) and b (to the right); progress counts the claims of all points.

    Raises BadRequest: the benchmark is for reporting or of no known split, there is no such metric, or a value is out
    of its range.
    """
    benchmark = app.benchmarks.open(name, data=data)
    check_split(benchmark)

    def bm25(k1: float, b: float) -> Bm25:
        return Bm25(k1=k1, b=b, terms=terms)

    grid = search(benchmark, bm25, shape=shape, name=by, k1s=k1s, bs=bs, beside=[PAPER], progress=progress)
    ours, theirs = grid.outcomes[grid.best], grid.outcomes[PAPER]
    several = len({outcome.book for outcome in ours}) > 1
    against = compare(by, ours, theirs, over="works" if several else "examples")
    card = metric(by)
    more = _more_digits(card, grid.figures.ravel().tolist())
    rows: list[tuple[Cell, ...]] = []
    for row, k1 in enumerate(grid.k1s):
        figures = [
            Figure(text=card.written(value, more=more), value=value, best=(k1, b) == grid.best)
            for value, b in zip(grid.figures[row].tolist(), grid.bs, strict=True)
        ]
        rows.append((f"{k1:g}", *figures))
    label = registry.card(bm25(*PAPER).name).label
    return Table(
        caption=f"{card.label} of {label} on {benchmark.card.label}, context {shape}: k1 downwards, b to the right.",
        heads=("k1", *(f"b {b:g}" for b in grid.bs)),
        rows=tuple(rows),
        notes=(
            _verdict(grid, against, card, more),
            f"Candidates: {metrics.figure('candidates', ours):,.0f} on average.",
        ),
    )


def check_split(benchmark: Benchmark) -> None:
    """Refuse a benchmark that figures are reported on, or may be: of another split than dev. Raises BadRequest."""
    card = benchmark.card
    if card.split == _TO_CHOOSE_BY:
        return
    if card.split == SAMPLE:
        why = "shows that everything works, and no counting of words can answer its claims"
    elif card.split:
        why = f"is of the {card.split} split"
    else:
        why = "is of no known split, having works that are not RELiC's"
    raise BadRequest(
        f"{card.label}, as it was opened, {why}: choices are made on dev, so that the figures reported elsewhere stay "
        "honest. What a file of RELiC is for is told by its works (python -m relic_core catalogue). Tune on those of "
        "the training part: python -m tools.tune bm25 relic --data train.json."
    )


def _more_digits(card: metrics.Metric, values: Sequence[float]) -> int:
    """Give how many digits more are wanted to tell values apart; 0 where no number of them would."""
    for more in range(_MORE_DIGITS + 1):
        if len({card.written(value, more=more) for value in values}) > 1:
            return more
    return 0


def _verdict(grid: Grid, against: Comparison, card: metrics.Metric, more: int) -> str:
    def written(value: float) -> str:
        return card.written(value, more=more)

    ends = f"{written(against.low)} to {written(against.high)}"
    if against.flat:
        ends = "none, as every draw gives the same"
    return (
        f"Best: k1 {grid.best[0]:g}, b {grid.best[1]:g} with {written(against.first)}; "
        f"the paper's k1 {PAPER[0]:g}, b {PAPER[1]:g} has {written(against.second)}. "
        f"The difference is {written(against.difference)} (95% paired interval over {against.over} {ends}; "
        f"n {against.n:,}). The best of a grid is chosen with the same examples, so its own figure is too kind."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What a grid came to.

    - `outcomes`: of the best point and of those asked for, in the order of the benchmark.
    - `best`: of several, the first: the smallest k1, then the smallest b.
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
    """Try every pair of values; each work is loaded once, and asked with all pairs before the next.

    - `name`: the metric that points are judged by.
    - `beside`: points whose outcomes are wanted too, in the grid or not.

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
