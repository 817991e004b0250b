"""Metrics of runs: figures worked out by hand, and one answer each for ties, missing rankings and small pools."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relic_core.domain import Span, rank_scores
from relic_core.errors import BadRequest
from relic_core.evaluation import metrics
from tests.making_outcomes import outcome

# Four examples among 1,000 candidates: first place, third, thirtieth (but in the second place something overlaps the
# gold), and none.
FOUR = (outcome("a", 1), outcome("b", 3), outcome("c", 30, overlap=2), outcome("d", None))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@1", 1 / 4),  # a
        ("recall@3", 2 / 4),  # a, b
        ("recall@29", 2 / 4),
        ("recall@30", 3 / 4),  # a, b, c
        ("overlap-recall@1", 1 / 4),
        ("overlap-recall@2", 2 / 4),  # a, c
        ("overlap-recall@3", 3 / 4),  # a, b, c
        ("mean-rank", (1 + 3 + 30 + 1000) / 4),  # d counts as the last of 1,000
        ("median-rank", (3 + 30) / 2),  # of 1, 3, 30, 1000
        ("mrr", (1 + 1 / 3 + 1 / 30 + 0) / 4),
        ("p@3", (1 / 3 + 1 / 3 + 0 + 0) / 4),
        ("ndcg@10", (1 / 1 + 1 / 2 + 0 + 0) / 4),  # log2(1 + 1) = 1, log2(3 + 1) = 2
        ("candidates", 1000),
    ],
)
def test_figures_are_those_worked_out_by_hand(name, expected):
    assert metrics.figure(name, FOUR) == pytest.approx(expected)


def test_values_are_given_per_example_in_the_order_of_the_outcomes():
    assert metrics.values("recall@3", FOUR).tolist() == [1, 1, 0, 0]
    assert metrics.values("recall@3", FOUR[::-1]).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("name", metrics.names())
def test_a_missing_ranking_is_never_better_than_the_last_place(name):
    last, missing = outcome("a", 50, candidates=50), outcome("a", None, candidates=50)
    card = metrics.metric(name)
    of_last, of_missing = metrics.figure(name, [last]), metrics.figure(name, [missing])
    assert np.isfinite(of_missing)
    if card.higher_is_better is None:
        assert of_last == of_missing
    elif card.higher_is_better:
        assert of_missing == 0
        assert of_last >= 0
    else:
        assert of_missing == of_last == 50


def test_k_above_the_pool_is_the_whole_pool_and_a_missing_ranking_stays_a_miss():
    small = (outcome("a", 7, candidates=7), outcome("b", None, candidates=7))
    assert metrics.figure("recall@100", small) == 1 / 2
    assert metrics.figure("p@100", small) == pytest.approx(1 / 100 / 2), "P@k divides by k, whatever the pool"


def test_ties_have_been_broken_by_the_order_of_the_text_before_a_metric_sees_them():
    ranking = rank_scores("demo", "work", 1, np.array([0.5, 0.5, 0.5, 0.5], dtype=np.float32))
    ranks = [ranking.rank_of(Span(start, 1)) for start in range(4)]
    tied = [outcome(str(rank), rank, candidates=4) for rank in ranks]
    assert metrics.values("mean-rank", tied).tolist() == [1, 2, 3, 4]


def test_no_outcomes_have_no_figure():
    with pytest.raises(BadRequest, match=r"R@10"):
        metrics.figure("recall@10", [])
    assert metrics.values("recall@10", []).shape == (0,)


@pytest.mark.parametrize("name", ["recal@10", "recall@0", "recall@-1", "recall@1.5", "mrr@10", "recall@", "", "p"])
def test_an_unknown_name_is_told_with_the_known_ones(name):
    with pytest.raises(BadRequest, match=f"no metric called '{name}'.*recall@10"):
        metrics.figure(name, FOUR)


def test_the_metric_of_items_is_not_computed_from_outcomes():
    with pytest.raises(BadRequest, match="proxy task"):
        metrics.values("proxy-accuracy", FOUR)


def test_every_metric_is_described_for_a_reader():
    cards = [metrics.metric(name) for name in (*metrics.names(), "proxy-accuracy")]
    assert [card.name for card in cards] == [*metrics.names(), "proxy-accuracy"]
    for card in cards:
        assert "{" not in card.label + card.meaning
        assert card.label
        assert card.meaning.endswith(".")
    assert len({card.label for card in cards}) == len(cards), "no two columns of a table are called the same"


@pytest.mark.corpus
def test_the_rankings_that_birco_published_give_the_known_figures(shared):
    folder = shared / "benchmarks" / "birco_relic"
    pools = [json.loads(line) for line in (folder / "pools.jsonl").read_text("utf-8").splitlines()]
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
        outcomes = []
        for pool in pools:
            ranking, (gold,) = rankings[system][pool["query_id"]], pool["relevant"]
            rank = ranking.index(gold) + 1 if gold in ranking else None
            outcomes.append(outcome(pool["query_id"], rank, candidates=max(len(ranking), 1)))
        found = [100 * metrics.figure(name, outcomes) for name in ("ndcg@10", "recall@5")]
        # To the digit: the known figures have one after the point (31.25 may be written 31.2 or 31.3).
        assert found == [pytest.approx(figure, abs=0.0501) for figure in figures], system


def test_the_tolerant_recall_says_so_in_its_label():
    assert "overlap" in metrics.metric("overlap-recall@10").label
    assert "overlap" not in metrics.metric("recall@10").label


def test_figures_are_written_as_the_papers_write_them():
    assert metrics.metric("recall@10").written(0.324) == "32.4"
    assert metrics.metric("ndcg@10").written(0.5587) == "55.9"
    assert metrics.metric("mean-rank").written(704.62) == "704.6"
    assert metrics.metric("mrr").written(0.0666) == "0.067"
