"""TREC's files: what they say to the tools that read them, and what does not fit into their columns."""

from __future__ import annotations

import ir_measures
import pytest

from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats.trec import read_qrels, read_run, write_qrels, write_run

RANKINGS = {"q2": ["ferry:9-1", "ferry:10-1", "ferry:0-1"], "q1": ["élan:3-2"]}


def test_a_run_has_six_columns_and_scores_that_fall_from_rank_to_rank(tmp_path):
    write_run(tmp_path / "run.txt", RANKINGS, "bm25")
    assert (tmp_path / "run.txt").read_text(encoding="utf-8").splitlines() == [
        "q2 Q0 ferry:9-1 1 3 bm25",
        "q2 Q0 ferry:10-1 2 2 bm25",
        "q2 Q0 ferry:0-1 3 1 bm25",
        "q1 Q0 élan:3-2 1 1 bm25",
    ]
    tag, rankings = read_run(tmp_path / "run.txt")
    assert tag == "bm25"
    assert list(rankings.items()) == [(query, tuple(ranking)) for query, ranking in RANKINGS.items()]


def test_qrels_have_four_columns(tmp_path):
    relevant = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
    write_qrels(tmp_path / "qrels.txt", relevant)
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"
    assert read_qrels(tmp_path / "qrels.txt") == relevant


def test_a_tool_that_sorts_anew_comes_to_our_order(tmp_path):
    """Sorted by score and then by id, as the tools do, the gold keeps the rank that it was given."""
    ranking = [f"d{number % 7}{number:04}" for number in range(2000)]
    for rank in (1, 2, 7, 1999):
        write_run(tmp_path / "run", {"q": ranking}, "x")
        write_qrels(tmp_path / "qrels", {"q": {ranking[rank - 1]: 1}})
        found = ir_measures.calc_aggregate(
            [ir_measures.RR],
            list(ir_measures.read_trec_qrels(str(tmp_path / "qrels"))),
            list(ir_measures.read_trec_run(str(tmp_path / "run"))),
        )
        assert found[ir_measures.RR] == pytest.approx(1 / rank)


def test_a_query_without_documents_leaves_no_line(tmp_path):
    write_run(tmp_path / "run", {"q1": [], "q2": ["a"]}, "x")
    assert read_run(tmp_path / "run") == ("x", {"q2": ("a",)})


@pytest.mark.parametrize("word", ["", "a b", "a\tb", "a\nb", "a\u00a0b", "a\u2028b", "a\x00b", "a\x85b", "\ud800"])
def test_ids_that_are_no_single_column_are_refused_and_nothing_is_written(tmp_path, word):
    for write, given in (
        (write_run, ({"q": [word]}, "tag")),
        (write_run, ({word: ["d"]}, "tag")),
        (write_run, ({"q": ["d"]}, word)),
        (write_qrels, ({word: {"d": 1}},)),
        (write_qrels, ({"q": {word: 1}},)),
    ):
        with pytest.raises(BadBenchmark, match=r"one column|lone surrogate"):
            write(tmp_path / "out", *given)
    assert list(tmp_path.iterdir()) == []


def test_a_document_ranked_twice_and_a_grade_below_zero_are_refused(tmp_path):
    with pytest.raises(BadBenchmark, match="document"):
        write_run(tmp_path / "run", {"q": ["a", "a"]}, "x")
    with pytest.raises(BadBenchmark, match="grades"):
        write_qrels(tmp_path / "qrels", {"q": {"a": -1}})


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("q Q0 a 1 2 x\nq Q0 b 2 2 x", "2: the score 2"),
        ("q Q0 a 1 1 x\nq Q0 b 2 2 x", "2: the score 2"),
        ("q Q0 a 1 2 x\nq Q0 b 3 1 x", "line 2: the rank is '3', and 2 follows"),
        ("q Q0 a 0 2 x", "line 1: the rank is '0', and 1 follows"),
        ("q Q0 a 1 nan x", "line 1: the score 'nan' is no number"),
        ("q Q0 a 1 high x", "line 1: the score 'high' is no number"),
        ("q Q0 a 1 2 x\nq Q0 a 2 1 x", "2: document 'a'"),
        ("q Q0 a 1 2 x\nr Q0 a 1 1 x\nq Q0 b 2 1 x", "line 3: query 'q' comes back"),
        ("q Q0 a 1 2 x\nr Q0 a 1 1 y", "line 2: the tag is 'y', and was 'x' before"),
        ("q Q0 a 1 2", "line 1 has 5 columns, and 6 are wanted"),
        ("q Q0 a 1 2 x y", "line 1 has 7 columns"),
    ],
)
def test_a_run_that_says_two_things_is_refused_with_the_line(tmp_path, lines, what):
    (tmp_path / "run").write_text(lines)
    with pytest.raises(BadBenchmark, match=what):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("q 0 a", "line 1 has 3 columns, and 4 are wanted"),
        ("q 0 a 1\n\nq 0 a 1", "3: document 'a'"),
        ("q 0 a -1", "1: the grade '-1'"),
        ("q 0 a 1.5", "1: the grade '1.5'"),
    ],
)
def test_qrels_that_cannot_be_are_refused_with_the_line(tmp_path, lines, what):
    (tmp_path / "qrels").write_text(lines)
    with pytest.raises(BadBenchmark, match=what):
        read_qrels(tmp_path / "qrels")


def test_columns_may_be_parted_by_tabs_and_lines_end_as_on_windows(tmp_path):
    (tmp_path / "qrels").write_bytes(b"q\t0\ta  1\r\nq 0 b 0\r\n")
    assert read_qrels(tmp_path / "qrels") == {"q": {"a": 1, "b": 0}}


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotFound, match="run"):
        read_run(tmp_path / "run")
