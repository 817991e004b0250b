"""Figures of runs, set as tables: one table per benchmark, since figures of two benchmarks say nothing side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest
from relic_core.evaluation import comparing, intervals, metrics
from relic_core.evaluation.benchmarks import registry as benchmarks
from relic_core.reporting.tables import Cell, Figure, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relic_core.domain import Outcome, Run
    from relic_core.evaluation.intervals import Over

    Measured = tuple[Run, tuple[Outcome, ...]]

METRICS = (*(f"recall@{k}" for k in metrics.KS), "mean-rank", "median-rank", "mrr", "ndcg@10")
"""The columns of a whole table."""

_ENOUGH = 2


def tables(runs: Iterable[Measured], *, names: Sequence[str] = METRICS) -> tuple[Table, ...]:
    """Set runs as tables, one for each benchmark and state of its data.

    So figures of given pools never share a column with those of whole works.

    Parameters
    ----------
    runs : iterable of (Run, tuple of Outcome)
        In the order of the rows.
    names : sequence of str
        Metrics, in the order of the columns.

    Raises
    ------
    BadRequest
        There is no such metric.
    """
    together: dict[tuple[str, str, str], list[Measured]] = {}
    for run, outcomes in runs:
        together.setdefault((run.benchmark, run.pool, run.data_hash), []).append((run, outcomes))
    return tuple(_table(some, names) for some in together.values())


def _table(runs: Sequence[Measured], names: Sequence[str]) -> Table:
    cards = [metrics.metric(name) for name in names]
    overs = [_over(outcomes) for _, outcomes in runs]
    figures = [
        [_figure(name, outcomes, over) for name in names] for (_, outcomes), over in zip(runs, overs, strict=True)
    ]
    _mark_best(figures, [card.higher_is_better for card in cards])
    rows: list[tuple[Cell, ...]] = []
    for (run, outcomes), cells in zip(runs, figures, strict=True):
        average = metrics.figure("candidates", outcomes)
        candidates = Figure(text=f"{average:,.0f}", value=average)
        rows.append((run.label, str(run.shape), *cells, candidates, len(outcomes)))
    first = runs[0][0]
    return Table(
        caption=_caption(first),
        heads=("retriever", "context", *(card.label for card in cards), "candidates", "n"),
        rows=tuple(rows),
        notes=tuple(_notes(overs)),
        about=(("benchmark", first.benchmark), ("chosen from", first.pool), ("data", first.data_hash)),
    )


def _figure(name: str, outcomes: Sequence[Outcome], over: Over | None) -> Figure:
    card = metrics.metric(name)
    value = metrics.figure(name, outcomes)
    if over is None:
        return Figure(text=card.written(value), value=value)
    around = intervals.interval(name, outcomes, over=over)
    return Figure(
        text=card.written(value),
        value=value,
        low=around.low,
        high=around.high,
        ends=(card.written(around.low), card.written(around.high)),
    )


def _over(outcomes: Sequence[Outcome]) -> Over | None:
    """Choose what intervals are drawn over: works where there are several."""
    if len({outcome.book for outcome in outcomes}) >= _ENOUGH:
        return "works"
    return "examples" if len(outcomes) >= _ENOUGH else None


def _mark_best(figures: list[list[Figure]], higher: Sequence[bool | None]) -> None:
    """Mark the best of each column, all of them where several are read alike; none where there is one row."""
    if len(figures) < _ENOUGH:
        return
    for at, better in enumerate(higher):
        if better is None:
            continue
        values = [row[at].value for row in figures]
        top = max(values) if better else min(values)
        read = {row[at].text for row in figures if row[at].value == top}
        for row in figures:
            if row[at].text in read:
                row[at] = replace(row[at], best=True)


def benchmark_label(run: Run) -> str:
    """Give what pages call a run's benchmark; its name where this program does not know it."""
    try:
        return benchmarks.card(run.benchmark).label
    except BadRequest:  # a run that was taken in from elsewhere
        return run.benchmark


def main_metric(run: Run) -> str:
    """Give the metric that the literature reports first for a run's benchmark."""
    try:
        return benchmarks.card(run.benchmark).main_metric
    except BadRequest:  # as above
        return "mrr"


def _caption(run: Run) -> str:
    chosen = (
        "each claim is ranked against the whole work"
        if run.pool == "whole work"
        else "each claim has a pool of its own"
    )
    count = f"{run.examples:,} claims" if run.examples != 1 else "1 claim"
    of = f"{len(run.books):,} works" if len(run.books) != 1 else run.books[0].title
    return f"{benchmark_label(run)}: {count} about {of}; {chosen}."


def _notes(overs: Sequence[Over | None]) -> list[str]:
    said = {
        "works": "Intervals are 95%, by bootstrap over works.",
        "examples": "Intervals are 95%, by bootstrap over examples: all are of one work.",
    }
    return [said[over] for over in dict.fromkeys(overs) if over is not None]


def comparison(runs: Sequence[Measured], *, names: Sequence[str]) -> Table:
    """Compare a run with each of the others, example by example.

    Parameters
    ----------
    runs : sequence of (Run, tuple of Outcome)
        The first is compared with all that follow.
    names : sequence of str
        Metrics.

    Raises
    ------
    BadRequest
        Fewer than two runs, runs that were not measured on the same examples, or an unknown metric.
    """
    if len(runs) < _ENOUGH:
        raise BadRequest("A comparison needs two runs or more: python -m relic_core runs compare ID ID.")
    (first, ours), others = runs[0], runs[1:]
    over = _over(ours)
    if over is None:
        raise BadRequest(f"Run {first.id} has a single example; nothing can be said of a difference.")
    made = [
        (name, other, comparing.compare(name, ours, theirs, over=over)) for other, theirs in others for name in names
    ]
    corrected = comparing.holm([each.p_value for _, _, each in made])
    rows: list[tuple[Cell, ...]] = []
    for (name, other, each), p_value in zip(made, corrected, strict=True):
        card = metrics.metric(name)
        rows.append(
            (
                card.label,
                f"{other.id} {other.label} {other.shape}",
                Figure(text=card.written(each.first), value=each.first),
                Figure(text=card.written(each.second), value=each.second),
                Figure(
                    text=card.written(each.difference),
                    value=each.difference,
                    low=each.low,
                    high=each.high,
                    ends=(card.written(each.low), card.written(each.high)),
                ),
                Figure(text=f"{p_value:.4f}", value=float(p_value)),
                each.better,
                each.worse,
            )
        )
    note = (
        f"Paired: 95% bootstrap interval of the difference and randomisation test, both over {over}; p corrected "
        f"for {len(made)} comparison{'s' if len(made) > 1 else ''} (Holm)."
    )
    return Table(
        caption=f"{first.id} {first.label} {first.shape} against others. {_caption(first)}",
        heads=("metric", "against", "this", "other", "difference", "p", "better", "worse"),
        rows=tuple(rows),
        notes=(note,),
    )
