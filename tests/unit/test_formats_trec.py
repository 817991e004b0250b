"""TREC's files: what they say to the tools that read them, and what does not fit into their columns."""

from __future__ import annotations

from dataclasses import replace

import ir_measures
import pytest

from relic_core.errors import BadBenchmark
from relic_core.formats.trec import DEPTH, write_qrels, write_run
from tests.making_outcomes import outcome

FIRST = ((9, 10), (10, 20), (0, 4))
FOUND, NOT_RANKED = replace(outcome("q2", 2), first=FIRST), replace(outcome("q1", None), first=())


def test_a_run_has_six_columns_and_scores_that_fall_from_rank_to_rank(tmp_path):
    """An example without a ranking leaves no line."""
    write_run(tmp_path / "run.txt", [FOUND, NOT_RANKED], "bm25")
    assert (tmp_path / "run.txt").read_text(encoding="utf-8").splitlines() == [
        "q2 Q0 the-ferry:9-10 1 3 bm25",
        "q2 Q0 the-ferry:10-20 2 2 bm25",
        "q2 Q0 the-ferry:0-4 3 1 bm25",
    ]


def test_qrels_have_four_columns(tmp_path):
    write_qrels(tmp_path / "qrels.txt", [FOUND, replace(NOT_RANKED, book="L'Île, au large")])
    assert (tmp_path / "qrels.txt").read_text("utf-8") == ("q2 0 the-ferry:10-20 1\nq1 0 L'Île,_au_large:10-20 1\n")


@pytest.mark.parametrize(("rank", "found"), [(1, 1), (2, 1 / 2), (7, 1 / 7), (DEPTH, 1 / DEPTH), (DEPTH + 1, 0)])
def test_a_tool_that_sorts_anew_comes_to_our_order(tmp_path, rank, found):
    """Sorted by score and then by id, as the tools do, the gold keeps the rank that it was given."""
    first = ((30, 40), (50, 60), (10, 20)) if rank > 2 else ((10, 20), (30, 40)) if rank == 1 else ((30, 40), (10, 20))
    given = replace(outcome("q", rank, candidates=2 * DEPTH), first=first[: 2 if rank > 2 else None])
    write_run(tmp_path / "run", [given], "x")
    write_qrels(tmp_path / "qrels", [given])
    said = ir_measures.calc_aggregate(
        [ir_measures.RR],
        list(ir_measures.read_trec_qrels(str(tmp_path / "qrels"))),
        list(ir_measures.read_trec_run(str(tmp_path / "run"))),
    )
    assert said[ir_measures.RR] == pytest.approx(found)


@pytest.mark.parametrize("word", ["", "a b", "a\tb", "a\nb", "a\u00a0b", "a\u2028b", "a\x00b", "a\x85b", "\ud800"])
def test_ids_that_are_no_single_column_are_refused_and_nothing_is_written(tmp_path, word):
    named = replace(FOUND, example_id=word)
    for write, given in ((write_run, ([named], "tag")), (write_run, ([FOUND], word)), (write_qrels, ([named],))):
        with pytest.raises(BadBenchmark, match=r"one column|lone surrogate"):
            write(tmp_path / "out", *given)
    assert list(tmp_path.iterdir()) == []
