"""Figures of runs, set as tables: one table per benchmark, since figures of two benchmarks say nothing side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Literal

from relic_core.domain import Outcome, Run
from relic_core.domain.figures import Cell, Figure, Part, Table
from relic_core.errors import BadRequest
from relic_core.evaluation import comparing, intervals, metrics
from relic_core.evaluation.benchmarks import registry as benchmarks
from relic_core.evaluation.comparing import Comparison
from relic_core.evaluation.intervals import Interval, Over
from relic_core.evaluation.metrics import Values
from relic_core.retrieval.registry import IMPORTED

Measured = tuple[Run, tuple[Outcome, ...]]
By = Part | Literal[""]

METRICS = (*(f"recall@{k}" for k in metrics.KS), "overlap-recall@10", "mean-rank", "median-rank", "mrr", "ndcg@10")

UNKNOWN = "queries that are no claims here"
"""Of an imported run's facts: how many queries of its file its benchmark does not know, and the first of them."""
_ENOUGH = 2
_FLAT = "A dash in place of an interval: every draw gives the same, which is no certainty."


def columns(names: Sequence[str] | None) -> tuple[str, ...]:
    """Read the metrics that a table is to have; all of `METRICS` where none is named."""
    for name in names or ():
        metrics.values(name, ())
    return tuple(dict.fromkeys(names)) if names else METRICS


def tables(runs: Iterable[Measured], *, names: Sequence[str] = METRICS, by: By = "") -> tuple[Table, ...]:
    """Set runs as tables, one for each benchmark and state of its data.

    So figures of given pools never share a column with those of whole works.

    - `by`: where given, each run has a row for each length of the quotation (RELiC, Table A9), each book or each kind.

    Raises BadRequest: there is no such metric, or it is of sets and a run keeps none.
    """
    together: dict[tuple[str, str, str], list[Measured]] = {}
    for run, outcomes in runs:
        if (of_sets := metrics.OF_SETS.intersection(names)) and not any(each.graded for each in outcomes):
            raise BadRequest(
                f"{', '.join(sorted(of_sets))}: of a returned set, which only runs on judged benchmarks keep whole."
            )
        together.setdefault((run.benchmark, run.pool, run.data_hash), []).append((run, outcomes))
    return tuple(_table(some, names, by) for some in together.values())


def _table(runs: Sequence[Measured], names: Sequence[str], by: By) -> Table:
    cards = [metrics.metric(name) for name in names]
    parted = []
    for run, outcomes in runs:
        for part, some in parts(run, outcomes, by):
            parted.append((run, part, some, False))
            if ranked := ranked_alone(run, some):
                parted.append((run, part, ranked, True))
    overs = [_over(some) for _, _, some, _ in parted]
    figures = [[measured(name, some) for name in names] for _, _, some, _ in parted]
    for part in dict.fromkeys(part for _, part, *_ in parted):
        alike = [row for row, (_, of, _, few) in zip(figures, parted, strict=True) if of == part and not few]
        _mark_best(alike, [card.higher_is_better for card in cards])
    rows: list[tuple[Cell, ...]] = []
    for (run, part, some, few), own in zip(parted, figures, strict=True):
        average = metrics.figure("candidates", some)
        candidates = Figure(text=f"{average:,.0f}", value=average)
        label = f"{run.label}, claims that it ranks" if few else run.label
        rows.append((label, str(run.shape), *([part] if by else []), *own, candidates, len(some)))
    first = runs[0][0]
    flat = any(cell.low is None and cell.interval for cell in chain.from_iterable(figures))
    return Table(
        caption=_caption(first),
        heads=("retriever", "context", *([by] if by else []), *(card.label for card in cards), "candidates", "n"),
        rows=tuple(rows),
        notes=(*_notes(overs), *([_FLAT] if flat else [])),
        about=(("benchmark", first.benchmark), ("chosen from", first.pool), ("data", first.data_hash)),
    )


def ranked_alone(run: Run, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """Give the outcomes of the claims that another system ranked, where it lacks some; else, and of our runs, none."""
    ranked = [each for each in outcomes if each.first] if run.retriever.startswith(IMPORTED) else []
    return ranked if len(ranked) < len(outcomes) else ()


def lacks(run: Run, outcomes: Sequence[Outcome], name: str = "") -> list[str]:
    """Say what another system's run lacks: claims, with a metric over those it ranks, and claims for its queries."""
    sentences = []
    if ranked := ranked_alone(run, outcomes):
        card = metrics.metric(name or main_metric(run))
        own, whole = (card.written(metrics.figure(card.name, some)) for some in (ranked, outcomes))
        sentences.append(
            f"{run.label} ranks {len(ranked):,} of {len(outcomes):,} claims, and what it lacks counts as missed. "
            f"{card.label} over those that it ranks: {own}; over all: {whole}."
        )
    if unknown := run.machine.get(UNKNOWN):
        sentences.append(f"{run.label} has {UNKNOWN}, which are left out: {unknown}.")
    return sentences


def parts(run: Run, outcomes: Sequence[Outcome], by: By) -> list[tuple[int | str, Sequence[Outcome]]]:
    """Part the examples of a run; all together where nothing is said."""
    if not by:
        return [("", outcomes)]
    found: dict[int | str, list[Outcome]] = {}
    titles = {book.key: book.title for book in run.books}
    if by == "book":
        found = {title: [] for title in titles.values()}
    for outcome in sorted(outcomes, key=lambda each: (each.length, each.kind)):
        keys: dict[Part, int | str] = {
            "length": outcome.length, "book": titles[outcome.book], "kind": outcome.kind or "none"
        }  # fmt: skip
        found.setdefault(keys[by], []).append(outcome)
    return [(part, some) for part, some in found.items() if some]


def figure_of(card: metrics.Metric, value: float, around: Interval | Comparison) -> Figure:
    """Set a figure or a difference with its interval; a dash in the interval's place where all draws gave the same."""
    text = card.written(value)
    if around.flat:
        return Figure(text=text, value=value, ends=("–", ""))
    ends = (card.written(around.low), card.written(around.high))
    return Figure(text=text, value=value, low=around.low, high=around.high, ends=ends)


def figure_over(card: metrics.Metric, values: Values, works: Sequence[str]) -> Figure:
    """Set the mean of some values of a metric, with its interval unless there is a single one."""
    if len(values) == 1:
        return Figure(text=card.written(float(values[0])), value=float(values[0]))
    around = intervals.interval_of(values, works, over=intervals.over_of(works))
    return figure_of(card, around.value, around)


def measured(name: str, outcomes: Sequence[Outcome]) -> Figure:
    """Compute a metric's figure with its interval: over works where there are several, else over examples."""
    card, over = metrics.metric(name), _over(outcomes)
    if over is None:
        value = metrics.figure(name, outcomes)
        return Figure(text=card.written(value), value=value)
    around = intervals.interval(name, outcomes, over=over)
    return figure_of(card, around.value, around)


def _over(outcomes: Sequence[Outcome]) -> Over | None:
    return intervals.over_of([outcome.book for outcome in outcomes]) if len(outcomes) >= _ENOUGH else None


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
    about = f" about {of}" if run.is_about_works else ""
    return f"{benchmark_label(run)}: {count}{about}; {chosen}."


def _notes(overs: Sequence[Over | None]) -> list[str]:
    sentences = {
        "works": "Intervals are 95%, by bootstrap over works.",
        "examples": "Where all claims are of one work or collection, intervals are 95%, by bootstrap over examples.",
    }
    return [sentences[over] for over in dict.fromkeys(overs) if over is not None]


def _data_of(run: Run) -> tuple[str, str, str]:
    return run.benchmark, f"({run.pool})", run.data_hash[:12]


def comparison(runs: Sequence[Measured], *, names: Sequence[str]) -> Table:
    """Compare a run with each of the others, example by example.

    Raises BadRequest: fewer than two runs, runs that were not measured on the same data, or an unknown metric.
    """
    if len(runs) < _ENOUGH:
        raise BadRequest("A comparison needs two runs or more: python -m relic_core runs compare ID ID.")
    (first, ours), others = runs[0], runs[1:]
    for other, _ in others:
        if _data_of(other) != _data_of(first):
            raise BadRequest(
                f"Run {other.id} is of {' '.join(_data_of(other))} and run {first.id} of {' '.join(_data_of(first))}: "
                "runs are compared on the same data alone. Measure both retrievers on one benchmark."
            )
    over = _over(ours)
    if over is None:
        raise BadRequest(f"Run {first.id} has a single example; nothing can be said of a difference.")
    made = []
    for (other, theirs), name in product(others, names):
        made.append((name, other, comparing.compare(name, ours, theirs, over=over)))
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
                figure_of(card, each.difference, each),
                Figure(text=f"{p_value:.4f}", value=float(p_value)),
                each.better,
                each.worse,
            )
        )
    average = metrics.figure("candidates", ours)
    note = (
        f"Paired: 95% bootstrap interval of the difference and randomisation test, both over {over}; p corrected "
        f"for {len(made)} comparison{'s' if len(made) > 1 else ''} (Holm)."
    )
    return Table(
        caption=f"{first.id} {first.label} {first.shape} against others. {_caption(first)}",
        heads=("metric", "against", "this", "other", "difference", "p", "better", "worse"),
        rows=tuple(rows),
        notes=(
            note,
            f"Candidates: {average:,.0f} on average.",
            *([_FLAT] if any(each.flat for _, _, each in made) else []),
        ),
    )
