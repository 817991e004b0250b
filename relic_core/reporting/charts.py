"""Charts of measured figures, drawn by Plotly from `Chart` rows, for a light and a dark page and down to 400 pixels.

Heights are fixed by the number of rows, so that nothing on a page moves when a figure arrives. What a mark means never
depends on its colour alone: each series has its own shape of mark too. Fonts, the colour of the axes and the ground
are left to the page's theme. Plotly is imported when the first chart is drawn, and by nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from importlib import import_module
from itertools import chain, cycle
from typing import TYPE_CHECKING, Any

from relic_core.domain.figures import DRAWN_K, Chart, Group, Mark, Series

if TYPE_CHECKING:
    import plotly.graph_objects as go


OTHER = "#77726a"
"""Colour of what was measured elsewhere, and of a series that was given none."""
_CHOSEN = "rgba(224, 164, 0, 0.22)"
GRID = "rgba(128, 122, 112, 0.28)"

_COLUMNS_HEIGHT = 340
_LEGEND_LINE = 22
_LEGEND_NAME = 18
"""Characters of a name of which a narrow page holds two beside each other."""
_TOP = 58
_AXIS = 44
"""Pixels above the marks for what an axis says there, below the legend."""
_ROW = 38
_ROW_SERIES = 13
_LABEL = 25
"""Characters of a row's label: about 150 pixels, which leaves a narrow page as much again for the marks."""
FONT = 13
_NOTE = 11.5
_TITLE = {"standoff": 6, "font": {"size": FONT}}
_TICKS = {"size": FONT}
_LEGEND = {"x": 0, "xanchor": "left", "orientation": "h", "font": _TICKS}
_STEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
_TENTH, _FIFTH, _HALF = 0.1, 0.2, 0.5

_SYMBOLS = {
    "dense-relic": "circle", "bm25": "square", "reranked": "diamond", "fusion": "pentagon", "zero-shot": "hexagon",
    "bm25-lemmas": "triangle-up", "tf-idf": "x", "random": "star", "late": "triangle-left",
}  # fmt: skip
_FURTHER = ("triangle-down", "cross", "hourglass", "bowtie", "octagon")
_ASIDE = 1.03
_DASHES = ("solid", "dash", "dot", "dashdot")


def height(chart: Chart) -> int:
    """Say how high a chart is, in pixels, legend included."""
    legend = _LEGEND_LINE * _legend_lines(chart)
    if chart.view in {"books", "published"}:
        series = 1 if chart.view == "published" else len(chart.series)
        return legend + _TOP + 44 + len(chart.groups) * max(_ROW, _ROW_SERIES * series + 8)
    return legend + _TOP + _COLUMNS_HEIGHT


def _legend_lines(chart: Chart) -> int:
    """Say how many lines are kept for the legend: it is one on a wide page, and has two columns on a narrow one."""
    names = legend_names(chart).values()
    return len(names) if any(len(name) > _LEGEND_NAME for name in names) else -(-len(names) // 2)


def draw(chart: Chart, *, colours: Mapping[str, str], chosen: str = "") -> go.Figure:
    """Draw a chart; every mark carries the key of its group as `customdata`, by which a click is understood.

    - `colours`: a colour for each registered retriever; one that is missing is drawn in grey.
    """
    _settle_pandas()
    import plotly.graph_objects as go

    traces: list[Any]
    if chart.view == "curve":
        traces = list(chain.from_iterable(_lines(chart, *own) for own in _styled(chart, colours)))
    elif chart.view == "ranks":
        traces = [_columns(chart, series, colour) for series, _, colour in _styled(chart, colours)]
    else:
        traces = [_dots(chart, series, colour) for series, _, colour in _styled(chart, colours)]
    figure = go.Figure(traces)
    lines = _LEGEND_LINE * _legend_lines(chart)  # on a narrow page, where Plotly makes room for them
    figure.update_layout(
        height=height(chart),
        margin={"l": 0, "r": 14, "t": _AXIS + _LEGEND_LINE, "b": 8},
        legend={**_LEGEND, "y": 1 + _AXIS / (height(chart) - lines - _AXIS - 8), "yanchor": "bottom"},
        legend_tracegroupgap=0,
        showlegend=True,
        hovermode="closest",
        hoverdistance=24,
        dragmode=False,
        clickmode="event+select",
        scattermode="overlay" if chart.view in {"published", "curve"} else "group",
        scattergap=0.25,
        bargap=0.25,
        bargroupgap=0.06,
        modebar={"orientation": "h"},
    )
    if chart.view in {"books", "published"}:
        _set_rows(figure, chart, chosen)
    else:
        _set_columns(figure, chart, chosen)
    return figure


def legend(height: int) -> dict[str, Any]:
    """Lay a legend out below the toolbar of a chart of so many pixels."""
    return {**_LEGEND, "yref": "container", "y": 1 - 24 / height, "yanchor": "top"}


def _settle_pandas() -> None:
    """Wait for pandas where another thread is importing it, as loading an encoder does.

    Plotly looks at every list for whether it is one of pandas', and fails on a pandas that is half imported.
    """
    with suppress(ImportError):
        import_module("pandas")


def config(file_name: str) -> dict[str, Any]:
    """Give the settings of the toolbar: it saves an image, and does nothing that moves the axes."""
    return {
        "displayModeBar": True,
        "displaylogo": False,
        "modeBarButtonsToRemove": ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d"],
        "toImageButtonOptions": {"format": "png", "filename": file_name, "scale": 3},
        "scrollZoom": False,
        "doubleClick": False,
    }


def _styled(chart: Chart, colours: Mapping[str, str]) -> list[tuple[Series, int, str]]:
    return [
        (series, place, colours.get(series.retriever, OTHER) if series.retriever else OTHER)
        for place, series in enumerate(chart.series)
    ]


def _shortened(text: str, length: int = _LABEL) -> str:
    """Cut a label to a length, at a word where there is one.

    >>> _shortened("The Strange Case of Dr Jekyll and Mr Hyde")
    'The Strange Case of Dr …'
    """
    if len(text) <= length:
        return text
    cut = text[: length - 2]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut} …"


def _top(chart: Chart) -> float:
    """Where the axis of values ends: at a round share above all marks and intervals."""
    most = max((max(mark.value, mark.high or 0.0) for mark in chart.marks), default=1.0)
    return next((step for step in _STEPS if most <= step * 0.98), 1.0)


def _values(chart: Chart) -> dict[str, Any]:
    top = _top(chart)
    step = 0.2 if top > _HALF else 0.1 if top > _FIFTH else 0.02 if top <= _TENTH else 0.05
    ticks = [step * at for at in range(round(top / step) + 1)]
    return {
        "range": [-0.015 * top if chart.view in {"books", "published"} else 0, top * 1.01],
        "tickvals": ticks,
        "ticktext": [f"{100 * tick:.0f}{'%' * chart.share}" for tick in ticks],
        "tickfont": _TICKS,
        "fixedrange": True,
        "showgrid": True,
        "gridcolor": GRID,
        "zeroline": True,
        "zerolinecolor": GRID,
    }


def _set_rows(figure: go.Figure, chart: Chart, chosen: str) -> None:
    keys = [group.key for group in chart.groups]
    figure.update_xaxes(**_values(chart), side="top", title={"text": escape(chart.measure, quote=False), **_TITLE})
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=keys,
        range=[len(keys) - 0.5, -0.5],
        tickvals=keys,
        ticktext=[_row_label(group) for group in chart.groups],
        fixedrange=True,
        showgrid=False,
        tickfont=_TICKS,
        ticklabelstandoff=4,
        automargin=True,
    )
    borders = [_stretch("h", at - 0.5, at - 0.5) for at in range(len(keys) + 1)]
    lit = [_stretch("h", at - 0.5, at + 0.5, lit=True) for at, key in enumerate(keys) if key == chosen]
    figure.update_layout(shapes=[*borders, *lit])  # at once: Plotly takes its time over each that is added by itself


def _stretch(way: str, first: float, last: float, *, lit: bool = False) -> dict[str, Any]:
    """Make a line or a lit band over the whole width ("h") or height ("v") of a chart, behind its marks."""
    across, along = ("x", "y") if way == "h" else ("y", "x")
    ink = {"fillcolor": _CHOSEN, "line": {"width": 0}} if lit else {"line": {"color": GRID, "width": 1}}
    ends = {f"{across}0": 0, f"{across}1": 1, f"{along}0": first, f"{along}1": last}
    return {"type": "rect" if lit else "line", f"{across}ref": f"{across} domain", **ends, **ink, "layer": "below"}


def _row_label(group: Group) -> str:
    note = " · ".join(part for part in (group.note, f"n = {group.n:,}" if group.n else "") if part)
    title, below = (escape(words, quote=False) for words in (_shortened(group.label), _shortened(note, 34)))
    return f'{title}<br><span style="font-size:{_NOTE}px">{below}</span>'


def _column_label(group: Group) -> str:
    words, lines = group.label.replace("-supporting", "- supporting").split(" "), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > len("supporting"):
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    counted = [f"n = {group.n:,}"] if group.n else []
    return "<br>".join(escape(line, quote=False) for line in (*lines, *counted))


def _short_range(label: str) -> str:
    """Write a range of ranks so that all of them stand level on a narrow page.

    >>> _short_range("1,001–3,000"), _short_range("301–1,000"), _short_range("over 10,000")
    ('1k–3k', '301–1k', '>10k')
    """
    return re.sub(r"(\d+),00[01]", r"\1k", label.replace("over ", ">"))


def _set_columns(figure: go.Figure, chart: Chart, chosen: str) -> None:
    keys = [group.key for group in chart.groups]
    figure.update_yaxes(**_values(chart))
    measured = escape(
        chart.measure, quote=False
    )  # over the axis and level, where it is read more easily than beside it
    place = {"x": 0, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 8}
    figure.add_annotation(text=measured, showarrow=False, font=_TICKS, **place)
    by: dict[str, Any] = {
        "title": {"text": escape(chart.by, quote=False), **_TITLE},
        "fixedrange": True,
        "tickfont": _TICKS,
    }
    if chart.view == "curve":
        ends = {"range": [-0.08, 2.07], "tickvals": list(DRAWN_K), "ticktext": [str(k) for k in DRAWN_K]}
        figure.update_xaxes(type="log", **by, **ends)
        if chosen.isdecimal():
            figure.update_layout(shapes=[_stretch("v", 0.88 * int(chosen), int(chosen) / 0.88, lit=True)])
        return
    labels = [_short_range(group.label) if chart.view == "ranks" else _column_label(group) for group in chart.groups]
    figure.update_xaxes(
        type="category", categoryorder="array", categoryarray=keys, tickvals=keys, ticktext=labels, **by
    )
    figure.update_xaxes(range=[-0.5, len(keys) - 0.5])
    figure.update_layout(
        shapes=[_stretch("v", at - 0.5, at + 0.5, lit=True) for at, key in enumerate(keys) if key == chosen]
    )


def palette(retrievers: Mapping[str, str], further: tuple[str, ...], names: tuple[str, ...]) -> dict[str, str]:
    """Give every retriever a colour: its own where it has one, else the next of the further ones.

    >>> palette({"bm25": "#96590f"}, ("#4d7d32",), ("bm25", "tfidf"))
    {'bm25': '#96590f', 'tfidf': '#4d7d32'}
    """
    rest = cycle(further)
    return {name: retrievers.get(name) or next(rest) for name in names}


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
    return [each.key for each in chart.series if each.retriever == series.retriever].index(series.key)


def legend_names(chart: Chart) -> dict[str, str]:
    """Name the series as a legend does: without the context that all runs have in common."""
    labels = {each.key: each.label for each in chart.series}
    contexts = {each.label.partition(" · ")[2] for each in chart.series if each.retriever}
    short = {each.key: each.label.partition(" · ")[0] if each.retriever else each.label for each in chart.series}
    return short if len(contexts) == 1 and len(labels) > 1 and len(set(short.values())) == len(short) else labels


def _dots(chart: Chart, series: Series, colour: str) -> Any:  # noqa: ANN401 - Plotly has no types
    import plotly.graph_objects as go

    marks = chart.marks_of(series.key)
    where, values = [mark.group for mark in marks], [mark.value for mark in marks]
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
        marker={
            "color": colour,
            "size": 11,
            "symbol": symbol(chart, series),
            "line": {"width": 0 if series.retriever else 2},
        },
    )


def _lines(chart: Chart, series: Series, place: int, colour: str) -> tuple[Any, ...]:
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


def _columns(chart: Chart, series: Series, colour: str) -> Any:  # noqa: ANN401 - Plotly has no types
    import plotly.graph_objects as go

    marks = chart.marks_of(series.key)
    return go.Bar(
        x=[mark.group for mark in marks],
        y=[mark.value for mark in marks],
        marker={"color": colour, "line": {"width": 0}},
        **_common(chart, series, marks),
    )
