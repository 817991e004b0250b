"""Charts: what is drawn, what stands in the table and the file, and what is said in words."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain.figures import DRAWN_K, Chart, Group, Mark, Series
from relic_core.reporting.chart_words import as_csv, caption, measured_with, summary, table
from relic_core.reporting.charts import OTHER, config, draw, height
from tests.making_runs import make_books, make_outcomes, make_run

PROJECT = Path(__file__).resolve().parents[2]
COLOURS = {"bm25": "#96590f", "zero-shot": "#1f7079"}
SERIES = (
    Series(key="a", label="BM25 · 4/4", retriever="bm25", runs=("a",)),
    Series(key="b", label="Dense · 4/4", retriever="zero-shot", runs=("b",)),
)
GROUPS = {
    "books": ("emma", "dubliners"),
    "lengths": ("1", "2"),
    "shapes": ("0/1", "4/4"),
    "kinds": ("claim-supporting", "other"),
    "curve": tuple(str(k) for k in range(1, 101)),
    "ranks": ("1", "2-3"),
    "published": ("a", "b"),
}


def make_chart(view="books", **changed):
    groups = tuple(
        Group(key=key, label=f"Label {key}", n=8, facts=(("Year", "1815"),) if view == "books" else ())
        for key in GROUPS[view]
    )
    marks = tuple(
        Mark(group=group.key, series=each.key, value=0.25, low=0.1875, high=0.5, n=8, candidates=9_873.25)
        for group in groups
        for each in SERIES
    )
    made = Chart(
        view=view, title="Recall@10 by something", measure="recall@10", by="Work", groups=groups, series=SERIES,
        marks=marks,
    )  # fmt: skip
    return replace(made, **changed)


def traces(figure):
    """Return the traces that are drawn, without those that only stand in the legend."""
    return [trace for trace in figure.data if trace.customdata is not None]


# ---- what is drawn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", GROUPS)
def test_every_mark_carries_the_key_of_its_group(view):
    figure = draw(make_chart(view), colours=COLOURS)
    wanted = [str(k) for k in DRAWN_K] if view == "curve" else list(GROUPS[view])
    assert [[key for (key,) in trace.customdata] for trace in traces(figure)] == [wanted, wanted]


@pytest.mark.parametrize("view", GROUPS)
def test_a_figure_is_as_high_as_was_said(view):
    chart = make_chart(view)
    assert draw(chart, colours=COLOURS).layout.height == height(chart)


def test_more_works_make_a_higher_chart_and_nothing_else_does():
    few, one = make_chart(), make_chart(groups=make_chart().groups[:1])
    assert height(few) > height(one)
    assert height(few) == height(replace(few, marks=few.marks[:1]))


@pytest.mark.parametrize("view", ["books", "lengths", "curve"])
def test_intervals_reach_from_low_to_high(view):
    for trace in traces(draw(make_chart(view), colours=COLOURS)):
        errors = trace.error_x if view == "books" else trace.error_y
        assert set(errors.array) == {0.25}
        assert set(errors.arrayminus) == {0.0625}


def test_a_mark_without_an_interval_has_no_bar():
    marks = tuple(replace(mark, low=None, high=None) for mark in make_chart().marks)
    for trace in traces(draw(make_chart(marks=marks), colours=COLOURS)):
        assert set(trace.error_x.array) == set(trace.error_x.arrayminus) == {0}
        assert not any("interval" in said for said in trace.hovertext)


@pytest.mark.parametrize("view", ["books", "lengths", "curve"])
def test_series_differ_in_colour_and_in_shape(view):
    figure = draw(make_chart(view), colours=COLOURS)
    assert [trace.marker.color for trace in traces(figure)] == ["#96590f", "#1f7079"]
    assert len({trace.marker.symbol for trace in traces(figure)}) == 2


def test_a_retriever_has_the_same_mark_beside_whichever_others():
    both, alone = (draw(make_chart(series=series), colours=COLOURS) for series in (SERIES, SERIES[1:]))
    assert traces(both)[1].marker.symbol == traces(alone)[0].marker.symbol
    again = replace(SERIES[0], key="b", label="BM25 · 1/1")
    figure = draw(make_chart(series=(SERIES[0], again)), colours=COLOURS)
    assert len({trace.marker.symbol for trace in traces(figure)}) == 2


def test_the_legend_leaves_out_the_context_that_all_runs_have():
    assert [trace.name for trace in traces(draw(make_chart(), colours=COLOURS))] == ["BM25", "Dense"]
    other = (SERIES[0], replace(SERIES[1], label="Dense · 1/1"))
    named = [trace.name for trace in traces(draw(make_chart(series=other), colours=COLOURS))]
    assert named == ["BM25 · 4/4", "Dense · 1/1"]


def test_numbers_stand_plain_in_the_file():
    groups = tuple(replace(group, facts=(("Sentences", "6,136"),)) for group in make_chart().groups)
    rows = list(csv.DictReader(io.StringIO(as_csv(make_chart(groups=groups)).decode("utf-8-sig"))))
    assert {row["sentences"] for row in rows} == {"6136"}


def test_what_was_measured_elsewhere_is_open_and_grey():
    published = Series(key="b", label="elsewhere")
    ours, theirs = traces(draw(make_chart("published", series=(SERIES[0], published)), colours=COLOURS))
    assert (theirs.marker.symbol, theirs.marker.color) == ("diamond-open", OTHER)
    assert "open" not in ours.marker.symbol


@pytest.mark.parametrize("view", GROUPS)
def test_n_and_candidates_are_told_on_hovering(view):
    said = [words for trace in traces(draw(make_chart(view), colours=COLOURS)) for words in trace.hovertext]
    if view == "ranks":
        assert all("8 (25.0%)" in words for words in said)
    else:
        assert all("n = 8 · 9,873 candidates" in words and "18.8% to 50.0%" in words for words in said)


@pytest.mark.parametrize("view", ["books", "lengths", "shapes", "kinds", "published"])
def test_n_stands_in_the_labels(view):
    layout = draw(make_chart(view), colours=COLOURS).layout
    labels = layout.yaxis.ticktext if view in {"books", "published"} else layout.xaxis.ticktext
    assert all("n = 8" in label for label in labels)


def test_a_title_is_shown_and_not_obeyed():
    group = Group(key="emma", label="<b>Emma</b> & Co", n=8)
    figure = draw(make_chart(groups=(group,)), colours=COLOURS)
    assert figure.layout.yaxis.ticktext[0].startswith("&lt;b&gt;Emma&lt;/b&gt; &amp; Co<br>")
    assert "&lt;b&gt;Emma" in traces(figure)[0].hovertext[0]


def test_what_is_chosen_is_lit_and_nothing_else():
    def lit(chosen, view="books"):
        return [
            shape for shape in draw(make_chart(view), colours=COLOURS, chosen=chosen).layout.shapes if shape.fillcolor
        ]

    assert lit("") == []
    assert lit("gone") == []
    (band,) = lit("dubliners")
    assert (band.y0, band.y1) == (0.5, 1.5)
    (band,) = lit("10", "curve")
    assert band.x0 < 10 < band.x1
    (band,) = lit("4/4", "shapes")
    assert (band.x0, band.x1) == (0.5, 1.5)


@pytest.mark.parametrize("view", ["lengths", "books"])
@pytest.mark.parametrize("value", [0.0, 0.03, 0.25, 0.97, 1.0])
def test_the_axis_holds_every_mark_and_is_labelled_by_round_figures(view, value):
    marks = tuple(replace(mark, value=value, low=None, high=None) for mark in make_chart(view).marks)
    layout = draw(make_chart(view, marks=marks), colours=COLOURS).layout
    axis = layout.xaxis if view == "books" else layout.yaxis
    assert axis.range[0] <= value <= axis.range[1]
    assert axis.ticktext[0] == "0%"
    assert 3 <= len(axis.ticktext) <= 7


def test_the_axis_of_a_figure_that_is_no_share_has_no_percent_sign():
    layout = draw(make_chart("lengths", share=False), colours=COLOURS).layout
    assert not any("%" in label for label in layout.yaxis.ticktext)


def test_the_toolbar_saves_an_image_by_name():
    saved = config("birco-novels recall-10 books")["toImageButtonOptions"]
    assert saved["filename"] == "birco-novels recall-10 books"
    assert saved["scale"] >= 2


# ---- the table and the file ---------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_mark():
    heads, rows = table(make_chart())
    assert heads == ("Work", "Year", "Run", "recall@10", "95% interval", "n", "candidates")
    assert len(rows) == 4
    assert rows[0] == ("Label emma", "1815", "BM25 · 4/4", "25.0%", "18.8% to 50.0%", "8", "9,873")


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_the_file_holds_every_figure_to_the_last_digit(values):
    chart = make_chart()
    chart = replace(chart, marks=tuple(replace(m, value=v) for m, v in zip(chart.marks, values, strict=True)))
    rows = list(csv.DictReader(io.StringIO(as_csv(chart).decode("utf-8-sig"))))
    assert [float(row["value"]) for row in rows] == values
    assert [(row["key"], row["runs"], row["n"]) for row in rows] == [
        ("emma", "a", "8"), ("emma", "b", "8"), ("dubliners", "a", "8"), ("dubliners", "b", "8"),
    ]  # fmt: skip


def test_the_file_leaves_an_interval_that_is_not_there_empty():
    chart = make_chart(marks=(Mark(group="emma", series="a", value=0.5, n=1),))
    (row,) = csv.DictReader(io.StringIO(as_csv(chart).decode("utf-8-sig")))
    assert (row["low"], row["high"], row["candidates"]) == ("", "", "")


def test_a_title_is_no_formula_in_the_file():
    chart = make_chart(groups=(Group(key="emma", label='=HYPERLINK("x")', n=8),))
    marks = tuple(mark for mark in chart.marks if mark.group == "emma")
    rows = csv.DictReader(io.StringIO(as_csv(replace(chart, marks=marks)).decode("utf-8-sig")))
    assert {row["work"] for row in rows} == {'\'=HYPERLINK("x")'}


# ---- words --------------------------------------------------------------------------------------------------------


def test_a_caption_says_on_what_and_how_it_was_measured():
    books = make_books(3)
    outcomes = make_outcomes(books, seed=1)
    runs = [make_run(books, outcomes, shape=shape) for shape in ("4/4", "1/1")]
    said = caption(
        make_chart(), runs, benchmark="Novels", books=3, examples=len(outcomes), candidates=4_321.6, note="A note."
    )
    assert said.startswith(f"Recall@10 by something, on Novels, dev: {len(outcomes)} claims about 3 works")
    assert "4,322 candidates" in said
    assert "(2,000 samples)" in said
    assert "A note." in said
    assert runs[0].id not in said
    assert measured_with(runs).endswith(
        f"BM25, context 4 before, 4 after or 1 before, 1 after (runs {runs[0].id}, {runs[1].id})."
    )


def test_a_run_on_passages_of_no_work_is_about_none():
    books = make_books(1)
    run = make_run(books, make_outcomes(books, seed=1))
    assert run.is_about_works
    assert not replace(run, books=(replace(books[0], sentences=0),)).is_about_works
    assert "about" not in caption(make_chart(), [run], benchmark="Pools", books=0, examples=7, candidates=50.0)


def test_a_summary_names_the_highest_and_the_lowest():
    values = {"a": 0.9, "b": 0.1, "c": 0.5, "d": 0.3}
    groups = tuple(Group(key=key, label=f"Book {key}", n=7) for key in values)
    marks = tuple(Mark(group=key, series="a", value=value, n=7) for key, value in values.items())
    said = summary(make_chart(groups=groups, marks=marks, series=SERIES[:1]))
    assert said == (
        "Recall@10 by something. BM25 · 4/4: highest for Book a (90.0%, n = 7), lowest for Book b (10.0%, n = 7); "
        "the work in the middle has 40.0%."
    )


def test_a_summary_of_figures_that_are_alike_names_none_of_them():
    groups = tuple(Group(key=key, label=key, n=7) for key in "abcd")
    marks = tuple(Mark(group=key, series="a", value=0.0, n=7) for key in "abcd")
    said = summary(make_chart(groups=groups, marks=marks, series=SERIES[:1]))
    assert said == "Recall@10 by something. BM25 · 4/4: all 4 at 0.0%."


@pytest.mark.parametrize("view", GROUPS)
def test_every_chart_is_told_in_words_series_by_series(view):
    said = summary(make_chart(view))
    assert all(f"{each.label}: " in said for each in SERIES)
    assert "25.0%" in said


def test_a_chart_of_nothing_is_told_as_such():
    assert summary(make_chart(marks=()))


def test_plotly_is_not_loaded_before_a_chart_is_drawn():
    """Commands draw none and must not wait for it."""
    program = "import sys, relic_core.services.recall, relic_core.reporting.charts; print('plotly' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
