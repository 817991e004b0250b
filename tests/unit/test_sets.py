"""Metrics of rankings with several golds: cases worked out by hand, and what BIRCO's published rankings must give."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relic_core.errors import BadBenchmark, BadRequest
from relic_core.evaluation.sets import score_rankings


def scores(ranking, relevant, *names):
    return [float(each[0]) for each in score_rankings({"q": ranking}, {"q": relevant}, names).values()]


def test_ranked_metrics_are_those_worked_out_by_hand():
    # Golds b and d (d is not found), and e judged not relevant: the first gold stands in the second place.
    relevant = {"b": 1, "d": 1, "e": 0}
    assert scores(["a", "b", "e"], relevant, "recall@1", "recall@2", "p@2", "p@10", "mrr") == [
        0,
        1 / 2,
        1 / 2,
        0.1,
        0.5,
    ]


def test_ndcg_takes_the_grade_as_gain_and_the_logarithm_of_the_place_as_discount():
    # DCG = 1/log2(2) + 0 + 3/log2(4) = 1 + 1.5; the best order is 3, 1: 3/log2(2) + 1/log2(3) = 3 + 0.63093.
    (found,) = scores(["x", "y", "z"], {"x": 1, "z": 3}, "ndcg@10")
    assert found == pytest.approx(2.5 / 3.6309297535714573)
    # At k = 1 the best order is cut, too: 1 / 3.
    assert scores(["x", "y", "z"], {"x": 1, "z": 3}, "ndcg@1") == [pytest.approx(1 / 3)]


def test_answer_sets_are_scored_whatever_their_order():
    # Two of four answers are right, two of three golds found: 2 * 2 / (4 + 3).
    relevant = {"a": 1, "b": 2, "c": 1}
    expected = [2 / 4, 2 / 3, pytest.approx(4 / 7)]
    assert scores(["a", "x", "b", "y"], relevant, "precision", "recall", "f1") == expected
    assert scores(["y", "b", "x", "a"], relevant, "precision", "recall", "f1") == expected


def test_mrecall_is_all_or_nothing():
    relevant = {"a": 1, "b": 1}
    assert scores(["a", "x", "b"], relevant, "mrecall@2", "mrecall@3") == [0, 1]


def test_with_more_golds_than_k_mrecall_asks_for_k_of_them():
    relevant = {"a": 1, "b": 1, "c": 1}
    assert scores(["c", "a", "x"], relevant, "mrecall@2", "mrecall@3") == [1, 0]


def test_k_above_the_ranking_is_the_whole_ranking():
    relevant = {"a": 1, "b": 1}
    assert scores(["x", "a"], relevant, "recall@100", "p@100", "mrecall@100") == [0.5, 0.01, 0]
    assert scores(["x", "a"], relevant, "ndcg@100") == scores(["x", "a"], relevant, "ndcg@2")


@pytest.mark.parametrize("rankings", [{}, {"q": []}])
def test_a_missing_or_empty_ranking_has_0_in_everything(rankings):
    names = ("recall@5", "p@5", "ndcg@5", "mrr", "mrecall@5", "precision", "recall", "f1")
    found = score_rankings(rankings, {"q": {"a": 1}}, names)
    assert {name: values.tolist() for name, values in found.items()} == {name: [0.0] for name in names}


def test_values_stand_in_the_order_of_the_judgements():
    found = score_rankings({"q2": ["a"], "q1": ["x"]}, {"q1": {"a": 1}, "q2": {"a": 1}}, ["recall@1"])
    assert found["recall@1"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rankings", "relevant", "message"),
    [
        ({"q": ["a"]}, {"q": {"a": 0}}, "1"),
        ({"q": ["a"]}, {"q": {}}, "relevant"),
        ({"q": ["a"]}, {"q": {"a": 1, "b": -1}}, "below 0 in queries: q"),
        ({"other": ["a"]}, {"q": {"a": 1}}, "without judgements: other"),
        ({"q": ["a", "b", "a"]}, {"q": {"a": 1}}, "'q'"),
    ],
)
def test_rankings_and_judgements_that_do_not_fit_are_refused_with_the_place_named(rankings, relevant, message):
    with pytest.raises(BadBenchmark, match=message):
        score_rankings(rankings, relevant, ["recall@1"])


@pytest.mark.parametrize("name", ["mean-rank", "overlap-recall@5", "proxy-accuracy", "ndcg", "f1@10"])
def test_names_that_lists_of_ids_cannot_answer_are_refused(name):
    with pytest.raises(BadRequest, match=name):
        score_rankings({"q": ["a"]}, {"q": {"a": 1}}, [name])


@pytest.mark.corpus
def test_the_rankings_that_birco_published_give_the_known_figures(shared):
    folder = shared / "benchmarks" / "birco_relic"
    pools = [json.loads(line) for line in (folder / "pools.jsonl").read_text("utf-8").splitlines()]
    relevant = {pool["query_id"]: dict.fromkeys(pool["relevant"], 1) for pool in pools}
    rankings = json.loads((folder / "published_rankings.json").read_text("utf-8"))
    expected = {
        "GPT-4_score_O": (55.9, 77.1),
        "GPT-4_subtask_O": (53.7, 62.5),
        "StripedHyena_7B_subtask_O": (24.9, 31.2),
        "Monot5": (16.2, 14.6),
        "simcse_rank": (14.3, 14.6),
        "e5_rank": (12.8, 18.8),
    }
    for system, figures in expected.items():
        found = score_rankings(rankings[system], relevant, ["ndcg@10", "recall@5"])
        means = [100 * float(np.mean(values)) for values in found.values()]
        # To the digit: the known figures have one after the point (31.25 may be written 31.2 or 31.3).
        assert means == [pytest.approx(figure, abs=0.0501) for figure in figures], system
