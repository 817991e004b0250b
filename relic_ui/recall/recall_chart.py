"""The charts of the Recall page, each with its caption, its figures as a table and a file, and how to measure anew."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, cast

import streamlit as st

from relic_core.domain import BenchmarkCard, Run
from relic_core.domain.figures import Chart, View, interval, written
from relic_core.reporting import charts
from relic_core.reporting.chart_words import as_csv, is_share, measure_label, measured_with, pool_words, table
from relic_core.services.recall import Offer
from relic_core.wiring import App
from relic_ui.buttons import save_button
from relic_ui.links import bring
from relic_ui.recall.recall import RecallQuery, first_page, link_here
from relic_ui.shell import literal, show_errors
from relic_ui.style import OTHER_COLOUR, RETRIEVER_COLOURS
from relic_ui.tables import save, show, table_html
from relic_ui.visit import visit

FURTHER_COLOURS = ("#b5472e", "#7c5bb0", "#2b7f5f", "#8a6d1c")
"""For retrievers that have no colour of their own, in turn: mid-tones that stand out from a light and a dark page."""

CHART_COLOURS = {**RETRIEVER_COLOURS, "bm25-lemmas": "#4f7a2c", "tf-idf": "#3f62b5", "random": OTHER_COLOUR}

_DEFAULT_HEIGHT = 480
_ONE_ROW = 5
_WORKS = "This needs the quoted works in the library, in the edition that was measured."
_NOTHING = {
    "books": "No work has that many quotations here. Ask for fewer.",
    "kinds": "The quotations of this benchmark are not labelled by what they are there for, so there is nothing to "
    "compare. The sample's are.",
    "overlap": "This needs the claims and the works they quote. Choose a quotation in another view to read what is "
    "missing.",
    "dialogue": _WORKS,
    "place": f"{_WORKS} A pool of passages that came with the question has no such place.",
}


def colours_of(offer: Offer) -> dict[str, str]:
    """Give each retriever of a benchmark its colour, the same whichever runs are chosen."""
    names = tuple(sorted({run.retriever for run in offer.runs}))
    return charts.palette(CHART_COLOURS, FURTHER_COLOURS, names)


def show_benchmark(card: BenchmarkCard, candidates: float) -> None:
    """Say what the benchmark is, and more where it is opened."""
    counted = f"{card.examples:,} quotations" if card.examples else ""
    counted += f" of {card.books:,} work{'s' * (card.books != 1)}" if card.examples and card.books else ""
    facts = (
        ("Chosen from", f"{pool_words(card.pool)}; {candidates:,.0f} candidates on average"),
        ("Size", counted),
        ("Part", card.split),
        ("Source", card.source),
        ("Licence", card.licence),
        ("Cite", card.citation),
        ("Needs", card.needs),
    )
    rows = "".join(f"<dt>{name}</dt><dd>{with_code(text)}</dd>" for name, text in facts if text)
    st.html(
        '<details class="relic-recall-fold relic-recall-card"><summary>About this benchmark</summary>'
        f"<p>{with_code(card.description)}</p><dl>{rows}</dl></details>"
    )


def with_code(text: str) -> str:
    """Set words as HTML, what stands between backticks as code.

    >>> with_code("Run `relic <file>` & wait.")
    'Run <code>relic &lt;file&gt;</code> &amp; wait.'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def show_overall(app: App, asked: RecallQuery, colours: Mapping[str, str]) -> None:
    """Draw the figure of each run over all examples, and say what it tells."""
    labels = app.recall.labels(asked.runs)
    contexts = dict.fromkeys(run.shape.words for run in asked.runs)
    if len(contexts) == 1 and len({run.label for run in asked.runs}) == len(asked.runs):
        labels = {run.id: run.label for run in asked.runs}
    marks = app.recall.overall(asked.runs, asked.metric)
    share = is_share(asked.metric)
    tiles = []
    for run, mark in zip(asked.runs, marks, strict=True):
        ends = f"{between}, " if (between := interval(mark, share=share)) else ""
        tiles.append(
            f'<li style="--relic-hue:{colours[run.retriever]}">{escape(labels[run.id])}'
            f"<strong>{written(mark.value, share=share)}</strong><span>{ends}n = {mark.n:,}</span></li>"
        )
    for notice in app.recall.lacking(asked.runs, asked.metric, labels):
        st.info(literal(notice), icon=":material/info:")
    measure, card = escape(measure_label(asked.metric)), asked.offer.card
    around = f"The claim is the critic’s sentences around the quotation: {' or '.join(contexts)}."
    st.html(
        f'<p class="relic-measure"><b>{measure}</b>: {escape(app.recall.meaning(asked.metric, card))} '
        f"{around if card.quotes else with_code(card.description)} It is sought among {marks[0].candidates:,.0f} "
        f"candidates on average: {pool_words(card.pool)}. MRR and mean rank are in the view Table.</p>"
    )
    row = len(tiles) if len(tiles) <= _ONE_ROW else min(_ONE_ROW, -(-len(tiles) // 2))
    st.html(
        f'<ul class="relic-recall-numbers" style="--relic-row:{row}" aria-label="{measure} over all quotations">'
        f"{''.join(tiles)}</ul>"
    )
    show_benchmark(asked.offer.card, marks[0].candidates)
    if len({run.data_hash for run in asked.runs}) > 1:
        st.warning(
            "These were measured on different data: other works, editions or sentences. Their figures differ for that "
            "reason too. Choose those of one day, or measure again.",
            icon=":material/balance:",
        )


def show_chart(app: App, asked: RecallQuery, colours: Mapping[str, str]) -> Chart:
    """Draw the chart of the view asked for, with all that belongs to it."""
    view = cast("View", asked.view)
    heading = st.container()
    plot = st.container(key="recall_plot")
    waiting = plot.empty()
    waiting.html(_waiting(visit().get("recall_height", _DEFAULT_HEIGHT)))
    chart = app.recall.chart(
        view,
        asked.runs,
        asked.metric,
        benchmark=asked.offer.card.label,
        sort=asked.sort,
        least=asked.least,
        beside=asked.beside,
    )
    heading.header(literal(chart.title), anchor="recall-chart")
    if not chart.marks:
        waiting.empty()
        st.info(_NOTHING.get(view, "Nothing to show."), icon=":material/info:")
        return chart
    key = f"recall_by_{view}"
    clicks: dict[str, Any] = {} if view == "published" else {"on_select": lambda: _click(key)}
    visit()["recall_height"] = charts.height(chart)
    waiting.html(_waiting(charts.height(chart)))
    with plot:
        st.plotly_chart(
            charts.draw(chart, colours=colours, chosen=asked.part),
            key=key,
            selection_mode="points",
            config=charts.config(_file_name(asked)),
            alt=f"{chart.title}. The figures are below as a table.",
            **clicks,
        )
    _show_under(chart, asked)
    return chart


def _waiting(height: int) -> str:
    """Keep the place of a chart until it is drawn over it."""
    return (
        f"<style>.st-key-recall_plot {{ min-height: {height}px; }}</style>"
        f'<p class="relic-recall-waiting" style="height:{height}px;margin-bottom:-{height}px">Counting …</p>'
    )


def _click(key: str) -> None:
    """Take the group of the mark that was clicked as the one whose examples are shown."""
    points = st.session_state[key]["selection"]["points"]
    named = points[0].get("customdata") if points else None
    if named:
        part = named if isinstance(named, str) else named[0]
        visit()["recall_part"] = part
        first_page()
        bring("#recall-examples")


def _show_under(chart: Chart, asked: RecallQuery) -> None:
    how = "" if chart.view == "published" else " Click a mark, or choose below, to read the examples behind it."
    st.html(
        f'<p class="relic-table-caption">{escape(chart.caption)}</p>'
        f'<p class="relic-quiet relic-recall-under">{link_here(asked)}.{how}</p>'
    )
    heads, rows = table(chart)
    again = _again(asked.runs, every_shape=chart.view == "shapes")
    st.html(
        '<details class="relic-recall-fold"><summary>In words and as a table</summary>'
        f"<p>{escape(chart.summary)}</p>{table_html(heads, rows, chart.title)}</details>{again}"
    )
    save_button("Save these figures as CSV", as_csv(chart), f"{_file_name(asked)}.csv", "text/csv", key="recall_save")


def _again(runs: Sequence[Run], *, every_shape: bool = False) -> str:
    commands = "\n".join(escape(run.command) for run in runs)
    more = "<p>and so for each context: --shape 0/1, 0/4, 1/0, 4/0, 1/1, 4/4</p>" if every_shape else ""
    made = f"<p>{escape(measured_with(runs))}</p>"
    inside = f"<summary>How it was measured, and how to measure again</summary>{made}<pre>{commands}</pre>{more}"
    return f'<details class="relic-recall-fold">{inside}</details>'


def show_table(app: App, asked: RecallQuery) -> None:
    """Draw all figures of the runs as a table, and how the first of them compares with the others."""
    made = app.recall.tables(asked.runs)
    st.header("All figures", anchor="recall-chart")
    for each in made:
        show(each)
    save(made, _file_name(asked), key="recall_save")
    if len(asked.runs) > 1:
        st.header("The first against the others", anchor="recall-compared")
        with show_errors():
            show(app.recall.comparison(asked.runs, asked.metric))
    st.html(f'<p class="relic-quiet relic-recall-under">{link_here(asked)}.</p>{_again(asked.runs)}')


def _file_name(asked: RecallQuery) -> str:
    """Name a file after what it holds.

    >>> from types import SimpleNamespace
    >>> card = SimpleNamespace(card=SimpleNamespace(name="birco-novels"))
    >>> _file_name(SimpleNamespace(offer=card, metric="recall@10", view="books"))
    'birco-novels recall-10 books'
    """
    return f"{asked.offer.card.name} {asked.metric.replace('@', '-')} {asked.view}"
