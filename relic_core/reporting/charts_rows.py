"""What a chart shows, as plain rows: measured figures of groups of examples, which tables and files take over as well.

Nothing here draws; `relic_core.reporting.charts` does, from the same rows, so that a chart, its table and its file
cannot differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from relic_core.formats import escaping

View = Literal["books", "lengths", "shapes", "kinds", "curve", "ranks", "published"]
"""By quoted work, by length of the quotation, by context shape, by kind of evidence; recall@k over k; how the ranks
are distributed; beside published figures."""

DRAWN_K = (1, 3, 5, 10, 50, 100)
"""The k at which the curve has intervals and marks: those that the RELiC paper reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What is drawn in one colour with one kind of mark.

    - `key`: unique in its chart: the id of a run, the name of a retriever, or "published".
    - `retriever`: registered name, which decides the colour; empty for what was measured elsewhere.
    """

    key: str
    label: str
    retriever: str = ""
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A place on the axis: a book, a length, a shape, a k, a range of ranks, a published system.

    - `key`: unique in its chart, and what an address carries.
    - `note`: what stands below it on the axis; the number of examples is added to it.
    - `n`: examples in it; of the run that has the most where they differ.
    - `facts`: further columns of the table, each with its head.
    """

    key: str
    label: str
    note: str = ""
    n: int = 0
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One measured figure.

    - `group`, `series`: keys of where it stands.
    - `low`, `high`: ends of its interval; None where there is none.
    - `n`: examples it was measured on; of ranks, those in the range.
    - `candidates`: spans or passages ranked for an example, on average; 0 where unknown.
    """

    group: str
    series: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int
    candidates: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Everything that a chart, its table, its text alternative and its file say.

    - `measure`: what the figures are ("recall@10").
    - `by`: what the groups are, as the head of a column ("Book").
    - `groups`, `series`, `marks`: the rows; groups in the order in which they are drawn.
    - `share`: the figures are shares, written as percentages; else they lie between 0 and 1 too and are written times
      100.
    - `caption`: how and on what it was measured: a caption that can stand in a paper.
    - `summary`: what is to be seen, in a sentence or two, for who does not see it.
    """

    view: View
    title: str
    measure: str
    by: str
    groups: tuple[Group, ...]
    series: tuple[Series, ...]
    marks: tuple[Mark, ...]
    share: bool = True
    caption: str = ""
    summary: str = ""

    def written(self, value: float) -> str:
        """Write one of its figures."""
        return written(value, share=self.share)

    def interval(self, mark: Mark) -> str:
        """Write the ends of one of its intervals; empty where there is none."""
        return interval(mark, share=self.share)

    def marks_of(self, series: str) -> tuple[Mark, ...]:
        """List the marks of one series, in the order of the groups."""
        own = {mark.group: mark for mark in self.marks if mark.series == series}
        return tuple(own[group.key] for group in self.groups if group.key in own)


def written(value: float, *, share: bool = True) -> str:
    """Write a figure with one decimal: a share as a percentage, another times a hundred, as the papers write nDCG.

    >>> written(0.19318), written(0), written(0.19318, share=False)
    ('19.3%', '0.0%', '19.3')
    """
    return f"{100 * value:.1f}{'%' * share}"


def interval(mark: Mark, *, share: bool = True) -> str:
    """Write the ends of an interval; empty where there is none.

    >>> interval(Mark(group="emma", series="a", value=0.5, low=0.25, high=0.75, n=8))
    '25.0% to 75.0%'
    """
    if mark.low is None or mark.high is None:
        return ""
    return f"{written(mark.low, share=share)} to {written(mark.high, share=share)}"


def table(chart: Chart) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Set the rows of a chart as a table of words.

    Returns: as many cells in each row as there are heads.
    """
    facts = tuple(head for head, _ in chart.groups[0].facts) if chart.groups else ()
    heads = (chart.by, *facts, "Run", chart.measure, "95% interval", "n", "candidates")
    names = {series.key: series.label for series in chart.series}
    own = {(mark.group, mark.series): mark for mark in chart.marks}
    rows = tuple(
        (
            group.label,
            *(said for _, said in group.facts),
            names[series.key],
            chart.written(mark.value),
            chart.interval(mark),
            f"{mark.n:,}",
            f"{mark.candidates:,.0f}" if mark.candidates else "",
        )
        for group in chart.groups
        for series in chart.series
        if (mark := own.get((group.key, series.key)))
    )
    return heads, rows


def _unmarked(said: str) -> str:
    """Write a number as spreadsheets read it; words are left as they are.

    >>> _unmarked("6,136"), _unmarked("1,2 or so")
    ('6136', '1,2 or so')
    """
    return said.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", said) else said


def as_csv(chart: Chart) -> bytes:
    """Write the rows of a chart as a file for a spreadsheet: shares as numbers from 0 to 1, to the last digit.

    Returns: in UTF-8 with a byte-order mark, without which spreadsheets take accents for something else.
    """
    facts = [head.lower() for head, _ in chart.groups[0].facts] if chart.groups else []
    heads = [chart.by.lower(), "key", *facts, "label", "runs", "measure", "value", "low", "high", "n", "candidates"]
    rows: list[list[object]] = [[*heads]]
    groups = {group.key: group for group in chart.groups}
    series = {each.key: each for each in chart.series}
    order = {key: place for place, key in enumerate(groups)}
    for mark in sorted(chart.marks, key=lambda mark: order[mark.group]):
        group, run = groups[mark.group], series[mark.series]
        about = [group.label, group.key, *(_unmarked(said) for _, said in group.facts), run.label, " ".join(run.runs)]
        candidates = round(mark.candidates, 2) if mark.candidates else ""
        rows.append([*about, chart.measure, mark.value, mark.low, mark.high, mark.n, candidates])
    return escaping.as_csv(rows).encode("utf-8-sig")
