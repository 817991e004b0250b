"""The chart of a novel at a glance: bars of the chapters, and below them a line each for what and who is where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from relic_core.reporting.charts import FONT, GRID, OTHER, legend
from relic_core.reporting.citations.locators import BEFORE
from relic_core.services.editions import Novel, Stretch

_SPOKEN = "#1f7079"
_TOP, _BARS, _ROW, _BOTTOM = 52, 120, 25, 44
_HIGH = 0.8
"""Of the height of a row, what its highest value takes."""
_LETTERS = 15


@dataclass(frozen=True, slots=True)
class Row:
    """What stands below the bars: its name, what it counts, how many in each stretch, and a colour, empty for grey."""

    name: str
    counts: list[int]
    of: str
    colour: str = ""


def height(rows: Sequence[Row]) -> int:
    """Say how high the chart is, in pixels."""
    return _TOP + _BARS + _ROW * len(rows) + _BOTTOM


def draw(shown: Novel, rows: Sequence[Row]) -> go.Figure:
    """Draw the chart; what is clicked carries the address to read at as `customdata`."""
    first = int([stretch.name for stretch in shown.stretches[:1]] != [BEFORE])
    across = [*range(first, first + len(shown.stretches))]
    at = [stretch.at for stretch in shown.stretches]
    series = (("Words of narration", OTHER, False), ("of speech", _SPOKEN, True))
    traces: list[Any] = []
    for name, colour, speech in series:
        words = [each.spoken if speech else each.words - each.spoken for each in shown.stretches]
        hover = [
            _hover(each.name, f"{n:,} of {each.words:,} words {name.removeprefix('Words ')}")
            for each, n in _with(shown, words)
        ]
        marker = {"color": colour, "line": {"width": 0}}
        traces.append(go.Bar(x=across, y=words, name=name, marker=marker, customdata=at, **_hovering(hover)))
    for place, row in enumerate(rows):
        hover = [_hover(each.name, f"{row.name}: {n:,} {row.of}") for each, n in _with(shown, row.counts)]
        foot, most = place + 1.0, max(row.counts, default=0) or 1
        line = {"color": row.colour or OTHER, "width": 1.5}
        common = {"x": across, "yaxis": "y2", "mode": "lines", "showlegend": False}
        traces.append(go.Scatter(**common, y=[foot] * len(across), line={**line, "width": 0.5}, hoverinfo="skip"))
        up = [foot - _HIGH * n / most for n in row.counts]
        traces.append(go.Scatter(**common, y=up, line=line, fill="tonexty", customdata=at, **_hovering(hover)))
    figure = go.Figure(traces)
    below = _ROW * len(rows) / (_BARS + _ROW * len(rows))
    still = {"fixedrange": True, "showgrid": False, "zeroline": False, "tickfont": {"size": FONT}}
    figure.update_layout(
        barmode="stack",
        bargap=0.12,
        height=height(rows),
        margin={"l": 0, "r": 6, "t": _TOP, "b": _BOTTOM},
        legend={**legend(height(rows)), "traceorder": "normal"},
        hovermode="closest",
        dragmode=False,
        clickmode="event+select",
        xaxis={**still, "title": {"text": "Chapter" if shown.chapters else "Fortieth of the text"}, "anchor": "free"},
        yaxis={**still, "domain": [below + 0.02, 1], "nticks": 4, "gridcolor": GRID, "showgrid": True},
        yaxis2={
            **still,
            "domain": [0, below],
            "range": [len(rows) + 0.1, 0],
            "tickvals": [place + 0.7 for place in range(len(rows))],
            "ticktext": [escape(_label(row.name), quote=False) for row in rows],
            "automargin": True,
        },
    )
    return figure


def _with(shown: Novel, numbers: Sequence[int]) -> Iterable[tuple[Stretch, int]]:
    return zip(shown.stretches, numbers, strict=True)


def _hovering(texts: list[str]) -> dict[str, Any]:
    return {"hovertext": texts, "hovertemplate": "%{hovertext}<extra></extra>"}


def _hover(name: str, text: str) -> str:
    return f"<b>{escape(name, quote=False)}</b><br>{escape(text, quote=False)}"


def _label(name: str) -> str:
    """Cut a name for a narrow page.

    >>> _label("Stepan Arkadyevitch")
    'Stepan Arkady…'
    """
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 2]}…"
