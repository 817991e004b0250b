"""The pairs of passages that echo each other: a picture of where they stand, and the passages side by side."""

from __future__ import annotations

from collections import Counter
from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from relic_core.echoes import files
from relic_core.echoes.files import Echo, Side
from relic_core.echoes.service import EchoAnswer
from relic_core.reporting import charts
from relic_core.wiring import App
from relic_ui import keep, tables
from relic_ui.buttons import save_button
from relic_ui.links import bring, cite_link, link
from relic_ui.naming import listed, shorten
from relic_ui.passages import passage_html
from relic_ui.visit import visit

_ROWS = 40
"""Of the table beside the picture."""

_STYLE = Path(__file__).with_name("pairs.css")


def show(app: App, answer: EchoAnswer) -> None:
    """Draw what was found: how much, where, and the pairs."""
    if answer.notice:
        st.info(answer.notice, icon=":material/info:")
    compared = f"{answer.units[0]:,} passages were compared with {answer.units[1]:,}"
    if not answer.echoes:
        st.html(f'<p role="status">{compared}, and none are similar by this method.</p>')
        return
    st.html(f'<p role="status">The {len(answer.echoes)} most similar pairs; {compared}.</p>')
    _picture(answer)
    with st.container(horizontal=True, gap="small"):
        for form, ending, mime in (("csv", "csv", "text/csv"), ("json", "json", "application/json"),
                                   ("tei", "xml", "application/xml")):  # fmt: skip
            name = f"echoes in {answer.request.work_id}.{ending}"
            written = partial(files.write, answer.echoes, form)
            save_button(form.upper(), written, name, mime, key=f"echoes_save_{form}")
    show_pairs(app, answer)


def show_pairs(app: App, answer: EchoAnswer) -> None:
    """Draw the pairs side by side."""
    st.html(_STYLE)
    st.html("".join(_pair(app, each) for each in answer.echoes))


def _pair(app: App, echo: Echo) -> str:
    sides = "".join(_side(app, own, other) for own, other in ((echo.a, echo.b), (echo.b, echo.a)))
    return (
        f'<article class="relic-echo" id="echo-{echo.number}" tabindex="-1">'
        f"<h2>{echo.number}<span>{echo.score:.3f}</span></h2>{sides}</article>"
    )


def _side(app: App, side: Side, other: Side) -> str:
    at = str(side.place.address)
    to = link("read", side.place.label, work=side.work.id, at=at, n=side.span.length)
    kept = keep.Marks(app, other.text).html(side.work.id, at, side.span.length, other.text, place=side.place.label)
    return (
        f"<div><blockquote>{passage_html(side.passage, met=side.met)}</blockquote>"
        f'<p class="relic-echo-place"><cite>{escape(side.work.title)}</cite>, '
        f'{to} <span class="relic-nobreak">{kept} {cite_link(side.work.id, at, side.span.length)}</span></p></div>'
    )


def _picture(answer: EchoAnswer) -> None:
    """Draw where in the first work meets where in the others; a click leads to the pair."""
    import plotly.graph_objects as go

    others = list({each.b.work.id: each.b.work for each in answer.echoes}.values())
    row = {work.id: at for at, work in enumerate(others)}
    places = [100 * each.a.place.fraction for each in answer.echoes]
    figure = go.Figure(
        go.Scatter(
            x=places,
            y=[row[each.b.work.id] + each.b.place.fraction for each in answer.echoes],
            customdata=[each.number for each in answer.echoes],
            text=[
                f"{each.number}. {_plain(each.a.place.label)}<br>{_plain(f'{each.b.work.title}, {each.b.place.label}')}"
                for each in answer.echoes
            ],
            hovertemplate="%{text}<extra></extra>",
            mode="markers",
            marker={
                "size": [7 + 7 * each.score / answer.echoes[0].score for each in answer.echoes],
                "color": "#2b8f9b",  # seen on paper and on ink
                "opacity": 0.8,
            },
        )
    )
    whole = not (answer.request.chapter or answer.request.at)
    shown = [-2, 102] if whole else [min(places) - 0.2, max(places) + 0.2]
    axis = {"gridcolor": charts.GRID, "zeroline": False, "range": shown}
    if len(others) == 1:
        ticks = {
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "ticktext": ["0%", "25%", "50%", "75%", "100%"],
            "range": [1.03, -0.03],
        }
    else:
        ticks = {
            "tickvals": list(range(len(others))),
            "ticktext": [_plain(work.title[:24]) for work in others],
            "range": [len(others) + 0.03, -0.03],
        }
    first = answer.echoes[0].a.work.title
    figure.update_layout(
        height=max(300, min(900, 60 * len(others) + 240)),
        margin={"l": 8, "r": 8, "t": 40, "b": 8},  # above the points: the toolbar
        xaxis={**axis, "ticksuffix": "%", "title": {"text": _plain(f"Place in {shorten(first, 40)}"), "standoff": 6}},
        yaxis={
            **axis,
            **ticks,
            "automargin": True,
            "title": {
                "text": _plain(f"Place in {shorten(others[0].title, 24)}") if len(others) == 1 else "",
                "standoff": 6,
            },
        },
        clickmode="event+select",
    )
    meet = st.expander("Where the works meet", icon=":material/scatter_plot:", key="echoes_meet")
    picture, table = meet.columns([3, 2])
    with picture, st.container(key="echoes_picture"):
        st.plotly_chart(
            figure,
            key="echoes_chart",
            on_select=_bring,
            selection_mode="points",
            config={"displaylogo": False, "toImageButtonOptions": charts.config("echoes")["toImageButtonOptions"]},
            alt=f"Where in {first} passages of {listed([work.title for work in others])} are met. The counts by "
            "chapter are beside it as a table.",
        )
    with table:
        st.html(_by_chapter(answer))


def _plain(words: str) -> str:
    """Escape the tags that Plotly would obey."""
    return escape(words, quote=False)


def _bring() -> None:
    """Scroll to the pair whose point was clicked."""
    points = visit()["echoes_chart"]["selection"]["points"]
    if points:
        bring(f"#echo-{points[0]['customdata']}")


def _by_chapter(answer: EchoAnswer) -> str:
    counts = Counter((each.a.place.chapter, each.b.work.title, each.b.place.chapter) for each in answer.echoes)
    best: dict[tuple[str, str, str], int] = {}
    for each in answer.echoes:
        best.setdefault((each.a.place.chapter, each.b.work.title, each.b.place.chapter), each.number)
    several = len({title for _, title, _ in counts}) > 1
    rows = [
        (a, f"{title}: {b}" if several else b, str(count), str(best[a, title, b]))
        for (a, title, b), count in counts.most_common(_ROWS)
    ]
    return tables.table_html(("here", "there", "pairs", "best"), rows, "Pairs by chapter")
