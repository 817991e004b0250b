"""Words beside each other: a line each over the chapters of a work, or over the works, with a table beneath."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
import streamlit as st

from relic_core.reporting import charts
from relic_core.services.concordance import ConcordanceAnswer
from relic_core.wiring import App
from relic_ui import links

_COLOURS = ("#1f7079", "#b5472e", "#5a64a8", "#a0477a")
_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "x")
_HEIGHT = 300
_MOST_WORKS = 12

Row = tuple[str, str, list[tuple[int, float]]]
"""A chapter or a work: its name, a link to it, and of each word how often it stands there, in all and in 10,000."""


def show(app: App, answer: ConcordanceAnswer) -> None:
    """Draw the words of a request beside each other."""
    answers = [answer, *(app.concordance.find(each) for each in answer.request.compared)]
    words = [each.request.word.strip() for each in answers]
    in_one = bool(answer.request.work_id)
    rows = _chapters(answers) if in_one else _works(answers)
    if len(rows) > 1:
        st.plotly_chart(
            _draw(words, rows if in_one else rows[:_MOST_WORKS], "Chapter" if in_one else ""),
            key="concordance_compared",
            config=charts.config(" and ".join(words)),
            alt=f"How often {', '.join(words)} occur in 10,000 words. The figures are below as a table.",
        )
    st.html(_table(words, rows, "chapter" if in_one else "work"))


def _chapters(answers: Sequence[ConcordanceAnswer]) -> list[Row]:
    found = [{work.work.id: work for work in each.works} for each in answers]
    first = next((works for works in found if works), {})
    rows: list[Row] = []
    for work in first.values():
        own = [works[work.work.id].chapters if works else () for works in found]
        for place, chapter in enumerate(work.chapters):
            here = [chapters[place] if chapters else None for chapters in own]
            at = next((each.at for each in here if each and each.at), None)
            to = links.link("read", chapter.name, work=work.work.id, at=str(at)) if at else escape(chapter.name)
            rows.append((chapter.name, to, [(each.count, each.rate) if each else (0, 0.0) for each in here]))
    return rows


def _works(answers: Sequence[ConcordanceAnswer]) -> list[Row]:
    found = [{work.work.id: work for work in each.works} for each in answers]
    named = {key: work.work.title for works in found for key, work in works.items()}
    parameters = answers[0].request.parameters
    rows: list[Row] = []
    for key, title in named.items():
        here = [works.get(key) for works in found]
        to = links.link("concordance", title, **{**parameters, "work": key})
        rows.append((title, to, [(each.count, each.rate) if each else (0, 0.0) for each in here]))
    return sorted(rows, key=lambda row: -max(rate for _, rate in row[2]))


def _draw(words: Sequence[str], rows: Sequence[Row], across: str) -> go.Figure:
    places = [*range(1, len(rows) + 1)]
    figure = go.Figure()
    for index, word in enumerate(words):
        rates = [row[2][index][1] for row in rows]
        hover = [
            f"<b>{escape(row[0], quote=False)}</b><br>{escape(word, quote=False)}: {row[2][index][0]:,}, "
            f"{row[2][index][1]:,.1f} in 10,000 words"
            for row in rows
        ]
        figure.add_scatter(
            x=places,
            y=rates,
            name=escape(word, quote=False),
            mode="lines+markers" if across else "markers",
            line={"color": _COLOURS[index], "dash": _DASHES[index], "width": 1.8},
            marker={"symbol": _SYMBOLS[index], "size": 5 if across else 9, "color": _COLOURS[index]},
            hovertext=hover,
            hovertemplate="%{hovertext}<extra></extra>",
        )
    still = {"fixedrange": True, "zeroline": False, "tickfont": {"size": charts.FONT}, "gridcolor": charts.GRID}
    ticks = {} if across else {"tickvals": places, "ticktext": [escape(row[0][:18], quote=False) for row in rows]}
    figure.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 6, "t": 52, "b": 40},
        legend=charts.legend(_HEIGHT),
        showlegend=True,
        dragmode=False,
        xaxis={**still, **ticks, "showgrid": False, "title": {"text": across}},
        yaxis={**still, "title": {"text": "In 10,000 words"}, "rangemode": "tozero", "automargin": True},
    )
    return figure


def _table(words: Sequence[str], rows: Sequence[Row], what: str) -> str:
    heads = "".join(f'<th scope="col">{escape(word)}</th>' for word in words)
    body = "".join(
        f'<tr><th scope="row">{to}</th>{"".join(f"<td>{rate:,.1f} ({count:,})</td>" for count, rate in counts)}</tr>'
        for _, to, counts in rows
    )
    label = f"The words by {what}"
    return (
        f'<details class="relic-kwic-counts"{" open" if what == "work" else ""}><summary>{label}: in 10,000 words, and '
        f'in all</summary><div tabindex="0" role="region" aria-label="{label}"><table><thead><tr>'
        f'<th scope="col">{what.capitalize()}</th>{heads}</tr></thead><tbody>{body}</tbody></table></div></details>'
    )
