"""TREC's files: what they say to the tools that read them, and what does not fit into their columns."""

from __future__ import annotations

import ir_measures
import pytest

from relic_core.errors import BadBenchmark
from relic_core.formats.trec import write_qrels, write_run

RANKINGS = {"q2": ["ferry:9-1", "ferry:10-1", "ferry:0-1"], "q1": ["élan:3-2"]}


def test_a_run_has_six_columns_and_scores_that_fall_from_rank_to_rank(tmp_path):
    write_run(tmp_path / "run.txt", RANKINGS, "bm25")
    assert (tmp_path / "run.txt").read_text(encoding="utf-8").splitlines() == [
        "q2 Q0 ferry:9-1 1 3 bm25",
        "q2 Q0 ferry:10-1 2 2 bm25",
        "q2 Q0 ferry:0-1 3 1 bm25",
        "q1 Q0 élan:3-2 1 1 bm25",
    ]


def test_qrels_have_four_columns(tmp_path):
    relevant = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
    write_qrels(tmp_path / "qrels.txt", relevant)
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"


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
    assert (tmp_path / "run").read_text() == "q2 Q0 a 1 1 x\n"


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
