"""A chart in words: its caption, what is seen in it, for who does not see it, and its rows as a table and a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from relic_core.domain import Pool, Run
from relic_core.domain.figures import Chart, Mark, Series, many
from relic_core.formats import escaping

_INTERVALS = {
    "books": "bars: 95% bootstrap intervals over a work's quotations (2,000 samples), none where all came out alike",
    "ranks": "",
}
_INTERVALS_OVER_WORKS = (
    "bars: 95% bootstrap intervals over works (2,000 samples; over claims where all are of one work or collection), "
    "none where all came out alike"
)
_FEW = 3
_ONE = {"books": "work", "lengths": "length", "shapes": "shape", "kinds": "kind"}


def measure_label(name: str) -> str:
    """Name a metric as charts and captions do.

    >>> measure_label("recall@10"), measure_label("overlap-recall@10"), measure_label("ndcg@10")
    ('recall@10', 'recall@10, overlaps counted', 'nDCG@10')
    """
    if name.startswith("overlap-"):
        return f"{name.removeprefix('overlap-')}, overlaps counted"
    return name.replace("ndcg", "nDCG")


def is_share(name: str) -> bool:
    """Whether a metric is a share of the quotations, and written as a percentage.

    >>> is_share("overlap-recall@10"), is_share("ndcg@10")
    (True, False)
    """
    return not name.startswith("ndcg")


def pool_words(pool: Pool) -> str:
    """Say what a retriever chose from.

    >>> pool_words("given")
    'a pool given with the question'
    """
    return "all passages of that length in the work" if pool == "whole work" else "a pool given with the question"


def caption(
    chart: Chart, runs: Sequence[Run], *, benchmark: str, books: int, examples: int, candidates: float, note: str = ""
) -> str:
    """Write a caption that can be printed in a paper.

    - `books`: works that the claims are about; 0 where each has passages of its own.
    - `candidates`: passages ranked for a claim, on average.
    """
    split = f", {runs[0].split}" if runs[0].split and runs[0].split not in benchmark.lower() else ""
    about = f" about {many(books, 'work')}" if books else ""
    intervals = _INTERVALS.get(chart.view, _INTERVALS_OVER_WORKS)
    points = "Columns: shares of the quotations" if chart.view == "ranks" else "Marks: measured figures"
    among = f"{candidates:,.0f} candidates on average ({pool_words(runs[0].pool)})"
    parts = [
        f"{chart.title}, on {benchmark}{split}: {examples:,} claims{about}, each with {among}.",
        f"{points}{f'; {intervals}' if intervals else ''}.",
        note,
    ]
    return " ".join(part for part in parts if part)


def measured_with(runs: Sequence[Run]) -> str:
    """Say with which version the runs were measured, and their ids, by which they are found again."""
    labels = dict.fromkeys(run.label for run in runs)
    ran = "; ".join(_ran(label, runs) for label in labels)
    return f"Measured with RELiC Workbench {runs[0].code}: {ran}."


def _ran(label: str, runs: Sequence[Run]) -> str:
    own = [run for run in runs if run.label == label]
    shapes = " or ".join(dict.fromkeys(run.shape.words for run in own))
    ids = ", ".join(run.id for run in own)
    return f"{label}, context {shapes} (run{'s' * (len(own) > 1)} {ids})"


def summary(chart: Chart) -> str:
    """Say in words what is to be seen in a chart, series by series."""
    if not chart.marks:
        return "Nothing to show."
    write = {"curve": _curve, "ranks": _ranks, "published": _published}.get(chart.view, _groups)
    return f"{chart.title}. " + " ".join(write(chart, series) for series in chart.series if chart.marks_of(series.key))


def _groups(chart: Chart, series: Series) -> str:
    marks = chart.marks_of(series.key)
    names = {group.key: group.label for group in chart.groups}
    if len(marks) <= _FEW:
        listed = ", ".join(f"{names[mark.group]} {chart.written(mark.value)} (n = {mark.n:,})" for mark in marks)
        return f"{series.label}: {listed}."
    best, worst = max(marks, key=_value), min(marks, key=_value)
    if best.value == worst.value:
        return f"{series.label}: all {len(marks)} at {chart.written(best.value)}."
    one = _ONE.get(chart.view, "one")
    spread = sorted(mark.value for mark in marks)
    middle = (spread[(len(spread) - 1) // 2] + spread[len(spread) // 2]) / 2
    none = sum(mark.value == 0 for mark in marks)
    zero = f" {none} of {len(marks)} are at 0%." if none > 1 else ""
    return (
        f"{series.label}: highest for {names[best.group]} ({chart.written(best.value)}, n = {best.n:,}), lowest for "
        f"{names[worst.group]} ({chart.written(worst.value)}, n = {worst.n:,}); the {one} in the middle has "
        f"{chart.written(middle)}.{zero}"
    )


def _value(mark: Mark) -> float:
    return mark.value


def _curve(chart: Chart, series: Series) -> str:
    own = {mark.group: mark for mark in chart.marks_of(series.key)}
    recalls = ", ".join(f"{chart.written(own[k].value)} within the first {k}" for k in ("1", "10", "100") if k in own)
    return f"{series.label}: {recalls}."


def _ranks(chart: Chart, series: Series) -> str:
    marks = chart.marks_of(series.key)
    names = {group.key: group.label for group in chart.groups}
    most = max(marks, key=_value)
    first = next((mark for mark in marks if mark.group == "1"), None)
    at_first = f"{first.n:,} quotations come first ({chart.written(first.value)}); " if first else ""
    return f"{series.label}: {at_first}most often the rank is {names[most.group]} ({chart.written(most.value)})."


def _published(chart: Chart, series: Series) -> str:
    marks = chart.marks_of(series.key)
    names = {group.key: group.label for group in chart.groups}
    if len(marks) == 1:
        return f"{series.label}: {chart.written(marks[0].value)} (n = {marks[0].n:,})."
    best = max(marks, key=_value)
    listed = f"the highest is {names[best.group]} with {chart.written(best.value)}"
    return f"{series.label}: {len(marks)} figures, {listed}."


def table(chart: Chart) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Set the rows of a chart as a table of words: its heads, and as many cells in each row."""
    facts = tuple(head for head, _ in chart.groups[0].facts) if chart.groups else ()
    heads = (chart.by, *facts, "Run", chart.measure, "95% interval", "n", "candidates")
    names = {series.key: series.label for series in chart.series}
    own = {(mark.group, mark.series): mark for mark in chart.marks}
    rows = []
    for group, series in product(chart.groups, chart.series):
        if mark := own.get((group.key, series.key)):
            known = (fact for _, fact in group.facts)
            candidates = f"{mark.candidates:,.0f}" if mark.candidates else ""
            figures = (chart.written(mark.value), chart.interval(mark), f"{mark.n:,}", candidates)
            rows.append((group.label, *known, names[series.key], *figures))
    return heads, tuple(rows)


def _unmarked(text: str) -> str:
    """Write a number as spreadsheets read it; words are left as they are.

    >>> _unmarked("6,136"), _unmarked("1,2 or so")
    ('6136', '1,2 or so')
    """
    return text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", text) else text


def as_csv(chart: Chart) -> bytes:
    """Write the rows of a chart for a spreadsheet: shares as numbers from 0 to 1; UTF-8 with a byte order mark."""
    facts = [head.lower() for head, _ in chart.groups[0].facts] if chart.groups else []
    heads = [chart.by.lower(), "key", *facts, "label", "runs", "measure", "value", "low", "high", "n", "candidates"]
    rows: list[list[object]] = [[*heads]]
    groups = {group.key: group for group in chart.groups}
    series = {each.key: each for each in chart.series}
    order = {key: place for place, key in enumerate(groups)}
    for mark in sorted(chart.marks, key=lambda mark: order[mark.group]):
        group, run = groups[mark.group], series[mark.series]
        about = [group.label, group.key, *(_unmarked(fact) for _, fact in group.facts), run.label, " ".join(run.runs)]
        candidates = round(mark.candidates, 2) if mark.candidates else ""
        rows.append([*about, chart.measure, mark.value, mark.low, mark.high, mark.n, candidates])
    return escaping.as_csv(rows).encode("utf-8-sig")
