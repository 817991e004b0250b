"""Tuning BM25 as the RELiC paper did: k1 and b tried on data that nothing is reported on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain.figures import Cell, Figure, Table
from relic_core.errors import BadRequest
from relic_core.evaluation import metrics
from relic_core.evaluation.comparing import Comparison, compare
from relic_core.library.sample import SPLIT as SAMPLE
from relic_core.retrieval import registry
from relic_core.retrieval.bm25 import K1, B, Bm25
from tools.tune import grid as tuning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import ContextSize
    from relic_core.ports import Benchmark, Progress
    from relic_core.retrieval.words import Terms
    from relic_core.wiring import App

PAPER = (K1, B)
"""What the RELiC paper found on its validation set."""
_TO_CHOOSE_BY = "dev"
"""The split that nothing is reported on."""
_MORE_DIGITS = 3
"""So many are added at most, where all points of a grid read alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What tuning has found.

    - `against_paper`: the best point against that of the paper, example by example.
    - `table`: the grid as a table: k1 downwards, b to the right.
    """

    grid: tuning.Grid
    against_paper: Comparison
    table: Table


def tune_bm25(  # noqa: PLR0913 - a grid and what it is tried on
    app: App,
    name: str,
    *,
    terms: Terms = "tokens",
    shape: ContextSize,
    data: Path | None = None,
    metric: str = "mrr",
    k1s: Sequence[float] = tuning.K1S,
    bs: Sequence[float] = tuning.BS,
    progress: Progress,
) -> Tuned:
    """Try BM25 over a grid of k1 and b.

    - `app`: where the works are.
    - `name`: a registered benchmark, of a split that choices may be made on.
    - `terms`: what BM25 counts.
    - `shape`: how much context each claim takes.
    - `data`: the reader's own file or folder.
    - `progress`: told how many claims have been answered, all points counted.

    Raises BadRequest: the benchmark is for reporting or of no known split, there is no such metric, or a value is out
    of its range.
    """
    benchmark = app.benchmarks.open(name, data=data)
    check_split(benchmark)

    def bm25(k1: float, b: float) -> Bm25:
        return Bm25(k1=k1, b=b, terms=terms)

    grid = tuning.search(benchmark, bm25, shape=shape, name=metric, k1s=k1s, bs=bs, beside=[PAPER], progress=progress)
    ours, theirs = grid.outcomes[grid.best], grid.outcomes[PAPER]
    several = len({outcome.book for outcome in ours}) > 1
    against = compare(metric, ours, theirs, over="works" if several else "examples")
    card = metrics.metric(metric)
    more = _more_digits(card, grid.figures.ravel().tolist())
    rows: list[tuple[Cell, ...]] = []
    for row, k1 in enumerate(grid.k1s):
        figures = [
            Figure(text=card.written(value, more=more), value=value, best=(k1, b) == grid.best)
            for value, b in zip(grid.figures[row].tolist(), grid.bs, strict=True)
        ]
        rows.append((f"{k1:g}", *figures))
    label = registry.card(bm25(*PAPER).name).label
    table = Table(
        caption=f"{card.label} of {label} on {benchmark.card.label}, context {shape}: k1 downwards, b to the right.",
        heads=("k1", *(f"b {b:g}" for b in grid.bs)),
        rows=tuple(rows),
        notes=(
            _verdict(grid, against, card, more),
            f"Candidates: {metrics.figure('candidates', ours):,.0f} on average.",
        ),
    )
    return Tuned(grid=grid, against_paper=against, table=table)


def check_split(benchmark: Benchmark) -> None:
    """Refuse a benchmark that figures are reported on, or may be.

    Raises BadRequest: it is of another split than dev; the message says of which.
    """
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


def _verdict(grid: tuning.Grid, against: Comparison, card: metrics.Metric, more: int) -> str:
    def said(value: float) -> str:
        return card.written(value, more=more)

    ends = f"{said(against.low)} to {said(against.high)}"
    if against.flat:
        ends = "none, as every draw gives the same"
    return (
        f"Best: k1 {grid.best[0]:g}, b {grid.best[1]:g} with {said(against.first)}; "
        f"the paper's k1 {PAPER[0]:g}, b {PAPER[1]:g} has {said(against.second)}. "
        f"The difference is {said(against.difference)} (95% paired interval over {against.over} {ends}; "
        f"n {against.n:,}). The best of a grid is chosen with the same examples, so its own figure is too kind."
    )
