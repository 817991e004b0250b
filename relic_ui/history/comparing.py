"""Two columns compared: what one way of searching finds for a claim, and another does not."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
import streamlit as st

from relic_core.domain import Search
from relic_core.reporting.charts import config
from relic_core.services.comparing import ComparedPassage, Comparison
from relic_core.wiring import App
from relic_ui.history.found_line import FoundLines
from relic_ui.history.history import HistoryQuery
from relic_ui.links import set_address
from relic_ui.naming import inside, shorten, ways
from relic_ui.shell import literal, warn_of_address
from relic_ui.style import OTHER_COLOUR, RETRIEVER_COLOURS, hue
from relic_ui.visit import visit

_TWO = 2
_BEYOND = 22
"""Where a passage stands that is not among the first twenty."""
_HEIGHT, _WORDS = 420, 70
_SHORT = 40


def show(app: App, asked: HistoryQuery, search: Search) -> None:
    """Draw what two ways of searching find for one search."""
    names = _choose(app, asked.of, search.request.retrievers)
    if names[0] == names[1]:
        st.info("Choose two different ways of searching.", icon=":material/compare_arrows:")
        return
    with st.spinner("Asking both …"):
        found = app.comparing.compare(search.request, names)
    st.html(_summary(found))
    if found.passages:
        _show_slopes(found, names)
    with st.container(key="compare_columns"):
        slots = st.columns(3, gap="medium")
    lines = FoundLines(app, search)
    one, other = found.first.card.called, found.second.card.called
    lists = (
        ("Found by both", "", found.found_by("both"), "The first ten have none in common."),
        (f"{one} alone", names[0], found.found_by("first"), "Nothing that the other does not find."),
        (f"{other} alone", names[1], found.found_by("second"), "Nothing that the other does not find."),
    )
    for slot, (title, name, passages, none) in zip(slots, lists, strict=True):
        with slot:
            css = f' style="{hue(name)}"' if name else ""
            items = "".join(_item(each, found, names, lines) for each in passages)
            st.html(
                f'<div class="relic-column"{css}><h2>{escape(title)}</h2></div>'
                + (f'<ul class="relic-moved"{css}>{items}</ul>' if items else f'<p class="relic-quiet">{none}</p>')
            )


def _choose(app: App, of: Sequence[str], columns: Sequence[str]) -> tuple[str, str]:
    """Draw the choice of two, and keep it in the address."""
    labels = ways(app)
    if unknown := [name[:_SHORT] for name in of if name not in labels]:
        warn_of_address(literal(f"There is no way of searching called {', '.join(unknown)}; here are others."))
    first, second = [*dict.fromkeys(name for name in (*of, *columns, *labels) if name in labels)][:_TWO]
    visit().update({"compare_first": first, "compare_second": second})

    def turn() -> None:
        state = visit()
        set_address(**{**st.query_params.to_dict(), "of": f"{state['compare_first']},{state['compare_second']}"})

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label in (("compare_first", "One way of searching"), ("compare_second", "The other")):
            st.selectbox(label, list(labels), format_func=labels.__getitem__, key=key, on_change=turn, width=260)
    return first, second


def _summary(found: Comparison) -> str:
    share = f"{found.overlap} of the first {found.ten} passages are the same." if found.ten else "Neither finds any."
    return (
        f'<p class="relic-measure"><strong>{share}</strong></p><details class="relic-quiet relic-made">'
        "<summary>How this is counted</summary>Overlapping passages count as one, as on the page of results; what is "
        "counted is the places of passages, from the best.</details>"
    )


def _show_slopes(found: Comparison, names: tuple[str, str]) -> None:
    """Draw each passage as a line from its place on one side to that on the other; the lists below are its table."""
    called = [column.card.called for column in (found.first, found.second)]
    colours = {"both": OTHER_COLOUR} | {
        side: RETRIEVER_COLOURS.get(name, OTHER_COLOUR) for side, name in zip(("first", "second"), names, strict=True)
    }
    figure = go.Figure()
    for each in found.passages:
        places = [each.first or _BEYOND, each.second or _BEYOND]
        lines = (shorten(each.passage.quotation.plain, _WORDS), each.passage.place.label)
        label = "<br>".join(escape(line, quote=False) for line in lines)
        line = {"color": colours[each.found], "width": 2, "dash": "solid" if each.found == "both" else "dot"}
        marker = {"size": 9, "symbol": ["circle" if place < _BEYOND else "line-ew-open" for place in places]}
        figure.add_scatter(
            x=called,
            y=places,
            line=line,
            marker=marker,
            hovertext=label,
            hovertemplate="%{y}: %{hovertext}<extra></extra>",
            cliponaxis=False,
        )
    ticks = [1, 5, 10, 15, 20, _BEYOND]
    figure.update_layout(height=_HEIGHT, showlegend=False, dragmode=False, margin={"l": 0, "r": 40, "t": 40, "b": 8})
    figure.update_xaxes(side="top", fixedrange=True, range=[-0.1, 1.1])
    figure.update_yaxes(
        range=[_BEYOND + 0.5, 0.5], fixedrange=True, showgrid=False, tickvals=ticks, ticktext=[*ticks[:-1], "beyond"]
    )
    st.plotly_chart(figure, key="compare_slopes", config=config("compared"), alt="Places on both sides; listed below.")


def _item(each: ComparedPassage, found: Comparison, names: tuple[str, str], lines: FoundLines) -> str:
    best, retriever = min((at, name) for at, name in zip((each.first, each.second), names, strict=True) if at)
    one, other = (escape(inside(column.card.called)) for column in (found.first, found.second))
    if each.found == "both":
        how = f"{one}, {each.first}; {other}, {each.second}"
    else:
        label, place = (other, each.second) if each.found == "first" else (one, each.first)
        how = f"{label}, {place}" if place else f"{label}: not among the first twenty"
    return (
        f'<li class="relic-moved-quiet"><span class="relic-rank">{best}</span><div>'
        f'{lines.html(each.passage, retriever=retriever, rank=best)}<div class="relic-moved-how">{how}</div></div></li>'
    )
