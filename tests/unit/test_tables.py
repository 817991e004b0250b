"""Tables: one content in five forms, none of which can be led astray by what stands in a cell."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain.figures import Figure, Table
from relic_core.errors import BadRequest
from relic_core.reporting.tables import FORMATS, as_csv, as_latex, as_markdown, as_text, write

AROUND = Figure(text="25.0", value=0.25, low=0.125, high=0.375, ends=("12.5", "37.5"), best=True)
TABLE = Table(
    caption="A Small Benchmark",
    heads=("retriever", "R@1", "MRR", "n"),
    rows=(("BM25", AROUND, Figure(text="0.300", value=0.3), 1200), ("Random", Figure(text="1.0", value=0.01), 7, 48)),
    notes=("Intervals are 95%.",),
    about=(("benchmark", "small"),),
)


def test_a_terminal_shows_intervals_below_their_figures():
    assert as_text(TABLE) == (
        "A Small Benchmark\n\n"
        "retriever        R@1    MRR      n\n"
        "BM25            25.0  0.300  1,200\n"
        "           12.5–37.5\n"
        "Random           1.0      7     48\n\n"
        "Intervals are 95%."
    )


def test_a_dash_can_stand_in_place_of_an_interval():
    table = Table(caption="", heads=("R@1",), rows=((Figure(text="0.0", value=0.0, ends=("–", "")),),))
    assert as_text(table).splitlines() == ["R@1", "0.0", "  –"]
    assert as_markdown(table).splitlines()[-1] == "| 0.0 (–) |"
    assert list(csv.reader(io.StringIO(as_csv(table)))) == [["R@1", "R@1 low", "R@1 high"], ["0.0", "", ""]]
    assert json.loads(write((table,), "json"))[0]["rows"] == [{"R@1": {"value": 0.0}}]


def test_markdown_shows_the_interval_beside_and_the_best_in_bold():
    assert as_markdown(TABLE).splitlines()[2:5] == [
        "| retriever | R@1 | MRR | n |",
        "| --- | ---: | ---: | ---: |",
        "| BM25 | **25.0** (12.5–37.5) | 0.300 | 1,200 |",
    ]


def test_csv_has_numbers_to_the_last_digit_and_intervals_in_columns_of_their_own():
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert rows == [
        ["benchmark", "retriever", "R@1", "R@1 low", "R@1 high", "MRR", "n"],
        ["small", "BM25", "0.25", "0.125", "0.375", "0.3", "1200"],
        ["small", "Random", "0.01", "", "", "7", "48"],
    ]


def test_latex_uses_booktabs_and_says_what_the_table_is():
    said = as_latex(TABLE)
    assert r"\begin{tabular}{lrrr}" in said
    assert r"BM25 & \textbf{25.0} {\scriptsize (12.5--37.5)} & 0.300 & 1,200 \\" in said
    assert r"\caption{A Small Benchmark Intervals are 95\%.}" in said


def test_json_has_values_by_their_heads():
    (plain,) = json.loads(write((TABLE,), "json"))
    assert plain["benchmark"] == "small"
    assert plain["rows"][0] == {
        "retriever": "BM25", "R@1": {"value": 0.25, "low": 0.125, "high": 0.375}, "MRR": {"value": 0.3}, "n": 1200
    }  # fmt: skip


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-2", "@sum", "\t=1", "\r=1"])
def test_no_cell_of_a_csv_is_a_formula(cell):
    table = Table(caption="", heads=(cell,), rows=((cell,),), about=((cell, cell),))
    rows = list(csv.reader(io.StringIO(as_csv(table), newline="")))
    assert all(each.startswith("'") for row in rows for each in row)


def test_markup_in_a_cell_is_only_its_characters():
    table = Table(caption="a|b", heads=("x_y",), rows=(("a|b *c* [d](e) <img> $1$\nf",),))
    assert as_markdown(table).splitlines() == [
        r"a\|b",
        "",
        r"| x\_y |",
        "| --- |",
        r"| a\|b \*c\* \[d\](e) \<img\> \$1\$ f |",
    ]


@given(st.text(max_size=30))
def test_no_cell_breaks_a_row_of_latex(text):
    lines = as_latex(Table(caption=text, heads=(text,), rows=((text,),))).splitlines()
    row = lines[6]
    assert row.endswith(r" \\")
    inside = row.removesuffix(r" \\").replace(r"\textbackslash{}", "").replace(r"\{", "").replace(r"\}", "")
    for escaped in (r"\$", r"\&", r"\#", r"\%", r"\_", "$-$"):
        inside = inside.replace(escaped, "")
    assert not set("$&#%_^~") & set(inside)
    assert inside.count("{") == inside.count("}")


@given(st.lists(st.lists(st.text(max_size=9), min_size=2, max_size=2), max_size=4), st.sampled_from(FORMATS))
def test_any_words_can_be_set(rows, form):
    assert isinstance(write((Table(caption="", heads=("a", "b"), rows=tuple(map(tuple, rows))),), form), str)


def test_an_unknown_form_and_a_row_of_another_width_are_refused():
    with pytest.raises(BadRequest, match="markdown"):
        write((TABLE,), "xml")
    with pytest.raises(ValueError, match="width"):
        Table(caption="", heads=("a",), rows=(("b", "c"),))
