"""Published figures: some looked up in the papers by hand, and what holds between a paper's own tables."""

from __future__ import annotations

import pytest

from relic_core.domain import MAX_LENGTH, MIN_LENGTH, SHAPES
from relic_core.evaluation.metrics import KS
from relic_core.evaluation.published import published

RELIC = {(each.table, each.system, str(each.shape), each.length, each.metric): each for each in published()}


@pytest.mark.parametrize(
    ("table", "system", "shape", "length", "metric", "printed", "value"),
    [
        ("3", "random", "None", None, "mean-rank", "2445.1", 2445.1),
        ("3", "BM25", "1/1", None, "recall@10", "5.9", 0.059),
        ("3", "BM25", "4/4", None, "recall@100", "19.7", 0.197),
        ("3", "SIM", "4/4", 1, "proxy-accuracy", "11.0", 0.11),
        ("3", "ColBERT", "1/1", None, "recall@1", "2.9", 0.029),
        ("3", "dense-RELiC", "0/4", None, "recall@3", "10.7", 0.107),
        ("3", "dense-RELiC", "4/4", None, "mean-rank", "377.3", 377.3),
        ("3", "human domain experts", "4/4", 1, "proxy-accuracy", "93.5", 0.935),
        ("A9", "dense-RELiC", "4/4", 2, "recall@100", "65.2", 0.652),
        ("A9", "dense-RELiC", "4/4", 5, "mean-rank", "377.3", 377.3),
        ("2", "Score+O GPT-4", "None", None, "ndcg@10", "54.1", 0.541),
        ("2", "Subtask+O GPT-4", "None", None, "recall@5", "62.9", 0.629),
        ("2", "MonoT5", "None", None, "ndcg@10", "13.9", 0.139),
        ("3", "RoBERTa-L", "None", None, "recall@5", "8.9", 0.089),
    ],
)
def test_figures_are_those_in_the_papers(table, system, shape, length, metric, printed, value):
    found = RELIC[table, system, shape, length, metric]
    assert found.printed == printed
    assert found.value == pytest.approx(value)


def test_every_row_of_the_tables_is_there():
    def rows(paper, table):
        return {
            (each.system, each.shape, each.length if table == "A9" else None)
            for each in published()
            if (each.paper, each.table) == (paper, table)
        }

    assert len(rows("RELiC", "3")) == 18
    assert len(rows("RELiC", "A9")) == 5
    assert len(rows("BIRCO", "2")) == 11
    assert {shape for system, shape, _ in rows("RELiC", "3") if system == "dense-RELiC"} == set(SHAPES)
    # 17 systems with six recalls, 15 with a mean rank, 16 with the proxy task; five lengths with seven figures;
    # 11 and 4 systems with two.
    assert len(published()) == 17 * 6 + 15 + 16 + 5 * 7 + (11 + 4) * 2


def test_what_the_papers_leave_out_is_left_out():
    assert ("3", "BM25", "4/4", 1, "proxy-accuracy") not in RELIC
    assert ("3", "ColBERT", "1/1", None, "mean-rank") not in RELIC, "ColBERT ranks 1,000 candidates only"


def test_recall_never_falls_with_k():
    for table, system, shape, length, metric in RELIC:
        if metric == "recall@1":
            row = [RELIC[table, system, shape, length, f"recall@{k}"].value for k in KS]
            assert row == sorted(row), (system, shape, length)


def test_the_lengths_of_table_a9_together_give_the_best_row_of_table_3():
    lengths = [RELIC["A9", "dense-RELiC", "4/4", length, "recall@1"] for length in range(1, 6)]
    assert sum(each.n for each in lengths) == 7785
    candidates = sum(each.n * each.candidates for each in lengths) / 7785
    assert candidates == pytest.approx(RELIC["3", "BM25", "4/4", None, "recall@1"].candidates, abs=0.5)
    for k in KS:
        together = sum(
            each.n * each.value
            for length in range(1, 6)
            for each in [RELIC["A9", "dense-RELiC", "4/4", length, f"recall@{k}"]]
        )
        assert together / 7785 == pytest.approx(RELIC["3", "dense-RELiC", "4/4", None, f"recall@{k}"].value, abs=0.001)


def test_whole_works_and_given_pools_are_told_apart():
    pools = {(each.paper, each.metric == "proxy-accuracy"): set() for each in published()}
    for each in published():
        pools[each.paper, each.metric == "proxy-accuracy"].add(each.pool)
    assert pools == {("RELiC", False): {"whole work"}, ("RELiC", True): {"given"}, ("BIRCO", False): {"given"}}


def test_birco_gives_standard_errors():
    found = RELIC["2", "E5-L-v2", "None", None, "recall@5"]
    assert found.standard_error == pytest.approx(0.034)
    assert all((each.standard_error is not None) == (each.paper == "BIRCO") for each in published())


def test_no_figure_is_given_twice_and_every_one_can_be():
    assert len(RELIC) == len(published())
    for each in published():
        assert each.system and each.data
        assert 0 <= each.value <= (each.candidates if each.metric == "mean-rank" else 1)
        assert each.standard_error is None or 0 <= each.standard_error < 1
        assert each.length is None or MIN_LENGTH <= each.length <= MAX_LENGTH
