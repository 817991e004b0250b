"""The numbers of a set of windows, counted by hand."""

import json
from dataclasses import replace

import pytest

from relic_core.domain import Span
from relic_core.mining.statistics import RELIC, Counted, WorkCount, count
from relic_core.reporting import statistics, tables


def counted(split, source, work, start, length, context=100, quotation=20):
    return Counted(
        split=split, source=source, work=work, gold=Span(start, length), context_words=context,
        quotation_words=quotation,
    )  # fmt: skip


WINDOWS = [
    counted("dev", "s1", "moby", 0, 2, context=100, quotation=30),
    counted("dev", "s1", "moby", 1, 1, context=110),
    counted("dev", "s2", "moby", 5, 1, context=90),
    counted("test", "s2", "emma", 3, 5, context=140, quotation=50),
]
NUMBERS = count(WINDOWS, {"moby": 10, "emma": 50})


def test_table_1_is_counted_as_the_paper_counts_it():
    assert (NUMBERS.examples, NUMBERS.total) == ({"dev": 3, "test": 1}, 4)
    assert (NUMBERS.context_words, NUMBERS.quotation_words) == (110, 30)
    assert (NUMBERS.works, NUMBERS.sources) == (2, 2)


def test_section_a3_averages_over_works_and_sources():
    assert NUMBERS.sources_per_work == 1.5
    assert NUMBERS.windows_per_work == 2
    assert NUMBERS.windows_per_source == 2
    assert NUMBERS.quoted_share == pytest.approx((3 / 10 + 5 / 50) / 2)


def test_figure_2_and_each_work_and_source():
    assert NUMBERS.lengths == {1: 2, 2: 1, 5: 1}
    assert list(NUMBERS.by_work) == ["moby", "emma"]
    assert NUMBERS.by_work["moby"] == WorkCount(split="dev", windows=3, sources=2, largest=2, quoted=3, sentences=10)
    assert NUMBERS.by_source == {"s1": 2, "s2": 2}


def test_nothing_has_no_averages():
    nothing = count([], {})
    assert (nothing.total, nothing.works, nothing.quoted_share, nothing.windows_per_source) == (0, 0, 0, 0)
    assert tables.write(statistics.tables(nothing, what="Nothing"), "latex")


def test_relics_own_numbers_are_the_papers():
    assert RELIC.total == 78_574
    assert (RELIC.works, RELIC.sources, RELIC.context_words, RELIC.quotation_words) == (79, 8_836, 157.7, 40.5)
    assert (RELIC.sources_per_work, RELIC.windows_per_work, RELIC.windows_per_source) == (112, 995, 9)
    assert RELIC.quoted_share == 0.1635


def test_each_number_stands_beside_relics():
    paper, lengths, works, sources = statistics.tables(replace(NUMBERS, titles={"moby": "Moby Dick"}), what="These")
    beside = {row[0]: [getattr(cell, "text", cell) for cell in row[1:3]] for row in paper.rows}
    assert beside["quotations in all (RELiC: examples)"] == ["4", "78,574"]
    assert beside["average context, words"] == ["110.0", "157.7"]
    assert beside["average quotation, words"] == ["30.0", "40.5"]
    assert beside["primary sources"] == ["2", "79"]
    assert beside["secondary sources"] == ["2", "8,836"]
    assert beside["sources per work, average"] == ["1.5", "112.0"]
    assert beside["share of sentences quoted, average"] == ["20.00%", "16.35%"]
    assert beside["quotations per work, average"] == ["2.0", "995.0"]
    assert beside["quotations per source, average"] == ["2.0", "9.0"]
    assert [row[:2] for row in lengths.rows] == [(1, 2), (2, 1), (5, 1)]
    assert [row[0] for row in works.rows] == ["Moby Dick", "emma"]
    assert len(sources.rows) == 2
    assert json.loads(tables.write((paper,), "json"))[0]["rows"]


def test_the_chart_has_a_column_for_each_length_with_its_share():
    figure = statistics.draw_lengths(NUMBERS, what="These")
    assert list(figure.data[0].x) == ["1", "2", "3", "4", "5"]
    assert list(figure.data[0].y) == [2, 1, 0, 0, 1]
    assert list(figure.data[0].text) == ["50.0%", "25.0%", "0.0%", "0.0%", "25.0%"]
