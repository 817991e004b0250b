"""The marks of charts: dots with intervals, curves and columns, each with its words on hovering."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from relic_core.reporting.charts_rows import DRAWN_K

if TYPE_CHECKING:
    from relic_core.reporting.charts_rows import Chart, Group, Mark, Series

_SYMBOLS = {
    "dense-relic": "circle", "bm25": "square", "reranked": "diamond", "fusion": "pentagon", "zero-shot": "hexagon",
    "bm25-lemmas": "triangle-up", "tf-idf": "x", "random": "star",
}  # fmt: skip
_FURTHER = ("triangle-down", "cross", "hourglass", "bowtie", "octagon")
_ASIDE = 1.03
_DASHES = ("solid", "dash", "dot", "dashdot")


def _hover(chart: Chart, series: Series, group: Group, mark: Mark) -> str:
    between = chart.interval(mark)
    lines = [f"<b>{escape(group.label, quote=False)}</b>"]
    if chart.view == "ranks":
        lines.append(f"{escape(series.label, quote=False)}: {mark.n:,} ({chart.written(mark.value)})")
        return "<br>".join(lines)
    lines.append(f"{escape(series.label, quote=False)}: {chart.written(mark.value)}")
    if between:
        lines.append(f"95% interval {between}")
    counted = [f"n = {mark.n:,}"] if mark.n else []
    counted += [f"{mark.candidates:,.0f} candidates"] if mark.candidates else []
    return "<br>".join([*lines, " · ".join(counted)])


def _errors(marks: tuple[Mark, ...]) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if mark.high is None else mark.high - mark.value for mark in marks],
        "arrayminus": [0 if mark.low is None else mark.value - mark.low for mark in marks],
        "thickness": 1.6,
        "width": 0,
    }


def _common(chart: Chart, series: Series, marks: tuple[Mark, ...]) -> dict[str, Any]:
    groups = {group.key: group for group in chart.groups}
    return {
        "name": escape(legend_names(chart)[series.key], quote=False),
        "legendgroup": series.key,
        "customdata": [[mark.group] for mark in marks],
        "hovertext": [_hover(chart, series, groups[mark.group], mark) for mark in marks],
        "hovertemplate": "%{hovertext}<extra></extra>",
        # What is chosen is set off by `chosen`; Plotly's own way would fade all else, and stay when another is chosen.
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


def symbol(chart: Chart, series: Series) -> str:
    """Name the shape of a series' marks: its retriever's own, with a hole where that has another run before it."""
    if not series.retriever:
        return "diamond-open"
    further = _FURTHER[sum(map(ord, series.retriever)) % len(_FURTHER)]
    return _SYMBOLS.get(series.retriever, further) + "-open-dot" * (_nth(chart, series) % 2)


def _nth(chart: Chart, series: Series) -> int:
    """Count the series of the same retriever that stand before one."""
    return [each.key for each in chart.series if each.retriever == series.retriever].index(series.key)


def legend_names(chart: Chart) -> dict[str, str]:
    """Name the series as a legend does: without the context that all runs have in common."""
    labels = {each.key: each.label for each in chart.series}
    contexts = {each.label.partition(" · ")[2] for each in chart.series if each.retriever}
    short = {each.key: each.label.partition(" · ")[0] if each.retriever else each.label for each in chart.series}
    return short if len(contexts) == 1 and len(labels) > 1 and len(set(short.values())) == len(short) else labels


def dots(chart: Chart, series: Series, colour: str) -> Any:  # noqa: ANN401 - Plotly has no types
    """Draw a mark with its interval for each group, along rows or over columns."""
    import plotly.graph_objects as go

    marks = chart.marks_of(series.key)
    where, values = [mark.group for mark in marks], [mark.value for mark in marks]
    elsewhere = not series.retriever
    across = chart.view in {"books", "published"}
    axes = {"y": where, "x": values, "error_x": _errors(marks)} if across else {"x": where, "y": values}
    if not across:
        axes["error_y"] = _errors(marks)
    return go.Scatter(
        **axes,
        **_common(chart, series, marks),
        mode="markers",
        orientation="h" if across else "v",
        offsetgroup=series.key,
        cliponaxis=False,
        marker={"color": colour, "size": 11, "symbol": symbol(chart, series), "line": {"width": 2 if elsewhere else 0}},
    )


def lines(chart: Chart, series: Series, place: int, colour: str) -> tuple[Any, ...]:
    """Draw a curve: a line through every k, and marks with intervals at those that are reported."""
    import plotly.graph_objects as go

    marks = chart.marks_of(series.key)
    drawn = tuple(mark for mark in marks if int(mark.group) in DRAWN_K)
    line = {"color": colour, "width": 2, "dash": _DASHES[_nth(chart, series) % len(_DASHES)]}
    mark = {"color": colour, "size": 10, "symbol": symbol(chart, series)}
    common = _common(chart, series, drawn)
    named = go.Scatter(x=[None], y=[None], mode="lines+markers", line=line, marker=mark, name=common["name"])
    every = go.Scatter(
        x=[int(mark.group) for mark in marks],
        y=[mark.value for mark in marks],
        mode="lines",
        line=line,
        hoverinfo="skip",
        showlegend=False,
    )
    aside = _ASIDE ** (place - (len(chart.series) - 1) / 2)  # intervals at one k would cover each other
    dots = go.Scatter(
        x=[int(mark.group) * aside for mark in drawn],
        y=[mark.value for mark in drawn],
        error_y=_errors(drawn),
        mode="markers",
        cliponaxis=False,
        marker=mark,
        showlegend=False,
        **common,
    )
    for trace in (named, every):
        trace.legendgroup = series.key
    return every, dots, named


def columns(chart: Chart, series: Series, colour: str) -> Any:  # noqa: ANN401 - Plotly has no types
    """Draw a column for each range of ranks."""
    import plotly.graph_objects as go

    marks = chart.marks_of(series.key)
    return go.Bar(
        x=[mark.group for mark in marks],
        y=[mark.value for mark in marks],
        marker={"color": colour, "line": {"width": 0}},
        **_common(chart, series, marks),
    )
