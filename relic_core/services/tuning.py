"""Tuning BM25 as the RELiC paper did: k1 and b tried on data that nothing is reported on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest
from relic_core.evaluation import metrics, tuning
from relic_core.evaluation.comparing import Comparison, compare
from relic_core.reporting.tables import Cell, Figure, Table
from relic_core.retrieval.bm25 import K1, B, Bm25

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import Shape
    from relic_core.ports import Progress
    from relic_core.services.workbench import Workbench

PAPER = (K1, B)
"""What the RELiC paper found on its validation set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What tuning has found.

    Attributes
    ----------
    grid : Grid
        All points.
    against_paper : Comparison
        The best point against that of the paper, example by example.
    table : Table
        The grid as a table: k1 downwards, b to the right.
    """

    grid: tuning.Grid
    against_paper: Comparison
    table: Table


def bm25(k1: float, b: float) -> Bm25:
    """Make BM25 with parameters of its own.

    Raises
    ------
    BadRequest
        A parameter out of its range.
    """
    return Bm25(k1=k1, b=b)


def tune_bm25(  # noqa: PLR0913 - a grid and what it is tried on
    workbench: Workbench,
    name: str,
    *,
    shape: Shape,
    data: Path | None = None,
    metric: str = "mrr",
    k1s: Sequence[float] = tuning.K1S,
    bs: Sequence[float] = tuning.BS,
    progress: Progress,
) -> Tuned:
    """Try BM25 over a grid of k1 and b.

    Parameters
    ----------
    workbench : Workbench
        Where the works are.
    name : str
        A registered benchmark, of a split that choices may be made on.
    shape : Shape
        How much context each claim takes.
    data : Path, optional
        The reader's own file or folder.
    metric : str
        By which points are judged.
    k1s, bs : sequence of float
        Values to try.
    progress : Progress
        Told how many claims have been answered, all points counted.

    Raises
    ------
    BadRequest
        The benchmark is for reporting, there is no such metric, or a value is out of its range.
    """
    benchmark = workbench.benchmarks.open(name, data=data)
    if benchmark.card.split == "test":
        raise BadRequest(
            f"{benchmark.card.label} is a test split: choices are made on dev, so that the figures reported on it stay "
            "honest. Tune on RELiC's train.json: python -m relic_core tune bm25 relic --data train.json."
        )
    grid = tuning.search(benchmark, bm25, shape=shape, name=metric, k1s=k1s, bs=bs, beside=[PAPER], progress=progress)
    ours, theirs = grid.outcomes[grid.best], grid.outcomes[PAPER]
    several = len({outcome.book for outcome in ours}) > 1
    against = compare(metric, ours, theirs, over="works" if several else "examples")
    card = metrics.metric(metric)
    rows: list[tuple[Cell, ...]] = []
    for row, k1 in enumerate(grid.k1s):
        figures = [
            Figure(text=card.written(value), value=value, best=(k1, b) == grid.best)
            for value, b in zip(grid.figures[row].tolist(), grid.bs, strict=True)
        ]
        rows.append((f"{k1:g}", *figures))
    table = Table(
        caption=f"{card.label} of BM25 on {benchmark.card.label}, context {shape}: k1 downwards, b to the right.",
        heads=("k1", *(f"b {b:g}" for b in grid.bs)),
        rows=tuple(rows),
        notes=(_verdict(grid, against, card),),
    )
    return Tuned(grid=grid, against_paper=against, table=table)


def _verdict(grid: tuning.Grid, against: Comparison, card: metrics.Metric) -> str:
    ends = f"{card.written(against.low)} to {card.written(against.high)}"
    return (
        f"Best: k1 {grid.best[0]:g}, b {grid.best[1]:g} with {card.written(against.first)}; "
        f"the paper's k1 {PAPER[0]:g}, b {PAPER[1]:g} has {card.written(against.second)}. "
        f"The difference is {card.written(against.difference)} (95% paired interval over {against.over} {ends}; "
        f"n {against.n:,}). The best of a grid is chosen with the same examples, so its own figure is too kind."
    )
