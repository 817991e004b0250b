"""People beside models: how many of the items each got, with chance and the published figures, as a chart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.domain.figures import Chart, Group, Mark, Series
from relic_core.reporting import charts
from relic_core.reporting.studies import PAPER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relic_core.domain.figures import Figure
    from relic_core.reporting.studies import StudyResults

_CHANCE = 1 / 3
_PEOPLE, _MODELS, _PUBLISHED = "people", "models", "published"
_COLOURS = {_PEOPLE: "#b5472e", _MODELS: "#1f7079"}
_NAMED_PEOPLE = 12
_PAPER_N = 200
_SERIES = (
    Series(key=_PEOPLE, label="People", retriever=_PEOPLE),
    Series(key=_MODELS, label="Models", retriever=_MODELS),
    Series(key=_PUBLISHED, label="Published, other items"),
)
_Row = tuple[Group, Mark]


def rows_of(results: StudyResults) -> Chart:
    """Set the accuracies of a study as the rows of a chart."""
    rows = [*_people(results), *_models(results), *_published()]
    shown = {mark.series for _, mark in rows}
    return Chart(
        view="published",
        title="How often the critic’s quotation was chosen",
        measure="accuracy",
        by="Who",
        groups=tuple(group for group, _ in rows),
        series=tuple(series for series in _SERIES if series.key in shown),
        marks=tuple(mark for _, mark in rows),
        caption=(
            "Bars are 95% intervals. The dashed line is chance: one in three. Open diamonds were published by Thai and "
            "others (2022) for 200 single sentences of Pride and Prejudice: other items, so they show the scale of "
            "things and are no rivals."
        ),
    )


def _people(results: StudyResults) -> Iterator[_Row]:
    majority = results.majority
    if majority.accuracy is not None:
        yield _row("majority", "People, by majority", majority.accuracy, majority.items, _PEOPLE)
    if len(results.people) <= _NAMED_PEOPLE:
        for place, person in enumerate(results.people):
            if person.accuracy is not None:
                yield _row(f"person-{place}", person.annotator.name, person.accuracy, person.answered, _PEOPLE)


def _models(results: StudyResults) -> Iterator[_Row]:
    chooser = next((model.label for model in results.models if model.left_out), "")
    for model in results.models:
        note = f"built on {chooser}" if "built on" in model.mark else model.mark
        if not model.left_out and model.accuracy is not None:
            yield _row(f"model-{model.retriever}", model.label, model.accuracy, len(results.items), _MODELS, note=note)


def _published() -> Iterator[_Row]:
    for place, (label, value) in enumerate(PAPER):
        key = f"published-{place}"
        short = re.split(r",| \(", label)[0]
        yield (
            Group(key=key, label=short, note="published", n=_PAPER_N),
            Mark(group=key, series=_PUBLISHED, value=value, n=_PAPER_N),
        )


def _row(key: str, label: str, figure: Figure, n: int, series: str, *, note: str = "") -> _Row:
    mark = Mark(group=key, series=series, value=figure.value, low=figure.low, high=figure.high, n=n)
    return Group(key=key, label=label, note=note, n=n), mark


def show(results: StudyResults, file_name: str) -> None:
    """Draw the chart; the same figures stand below it as a table."""
    chart = rows_of(results)
    figure = charts.draw(chart, colours=_COLOURS)
    line = {"color": charts.OTHER, "width": 1.5, "dash": "dash"}
    chance = {"type": "line", "x0": _CHANCE, "x1": _CHANCE, "yref": "y domain", "y0": 0, "y1": 1, "line": line}
    figure.update_layout(shapes=[*figure.layout.shapes, {**chance, "layer": "below"}])
    with st.container(key="proxy_plot"):
        st.plotly_chart(
            figure,
            key="proxy_chart",
            config=charts.config(file_name),
            alt=f"{chart.title}. The figures stand below as a table.",
        )
    st.html(f'<p class="relic-table-caption">{chart.caption}</p>')
