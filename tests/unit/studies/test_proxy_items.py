"""Proxy items: the gold among the best two of a chooser, and who may be measured on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from relic_core.domain import ContextSize, QuotationContext, Span, rank_scores
from relic_core.domain.studies import CANNOT_DECIDE, Item, Option
from relic_core.errors import BadRequest
from relic_core.studies import proxy_task
from relic_core.studies.proxy_task import ItemSettings, choice, proxy_values
from tests.making import make_work


def window(start=4, length=2, *, window_id="w1"):
    return QuotationContext(
        id=window_id, book="ferry", pool="ferry", left=("He waited.",), right=(), gold=Span(start, length)
    )


def ranking(*best, spans=12, length=2, retriever="bm25", work="ferry-0"):
    """Rank spans: those named first, in that order, the others behind them in the order of the text."""
    scores = np.zeros(spans, dtype=np.float32)
    for place, start in enumerate(best):
        scores[start] = len(best) - place
    return rank_scores(retriever, work, length, scores)


def make_item(window, ranking, *, seed=0, candidates=None):
    """Make an item of a work that has as many sentences as the ranking asks for."""
    sentences = len(ranking.scores) + ranking.length - 1
    work = make_work([[f"Sentence {number} of the ferry." for number in range(sentences)]])
    settings = ItemSettings(shape=ContextSize(4, 4), seed=seed)
    return proxy_task.make_item(window, ranking, work, settings, candidates=candidates)


def starts(item):
    return {span.start for span in item.spans}


def test_the_options_are_the_gold_and_the_choosers_best_two():
    item = make_item(window(4), ranking(8, 1, 10))
    assert starts(item) == {4, 8, 1}
    assert item.gold.span == Span(4, 2)
    assert item.gold.words == "Sentence 4 of the ferry. Sentence 5 of the ferry."
    assert (item.left, item.right, item.gold_rank) == ("He waited.", "", 7)
    assert (item.id, item.work_id, item.chooser) == ("w1", "ferry-0", "bm25")


def test_options_overlap_neither_the_gold_nor_each_other():
    # 5 and 3 share a sentence with the gold at 4, the gold itself stands high, and 9 overlaps 8.
    item = make_item(window(4), ranking(5, 4, 8, 9, 3, 0))
    assert starts(item) == {4, 8, 0}


def test_no_other_option_is_a_passage_that_answers_too():
    asked = replace(window(4), accepted=(Span(4, 5), Span(10, 1)))
    assert starts(make_item(asked, ranking(8, 9, 10, 1, 6))) == {4, 1, 11}


def test_equal_scores_keep_the_order_of_the_text():
    assert starts(make_item(window(4), ranking())) == {4, 0, 2}


def test_only_candidates_become_options():
    item = make_item(window(4), ranking(8, 1, 10), candidates=np.array([1, 4, 6, 10]))
    assert starts(item) == {4, 1, 10}


def test_the_order_of_the_options_repeats_with_the_seed_and_is_not_that_of_the_ranking():
    assert make_item(window(), ranking(8, 1), seed=3) == make_item(window(), ranking(8, 1), seed=3)
    places = Counter(make_item(window(window_id=f"w{each}"), ranking(8, 1)).right_option for each in range(600))
    assert all(160 <= places[place] <= 240 for place in (1, 2, 3)), places
    orders = {make_item(window(), ranking(8, 1), seed=seed).spans for seed in range(100)}
    assert len(orders) == 6


def test_the_order_of_the_options_is_the_same_on_every_machine():
    # Frozen studies depend on it: this may change only with a new version of what is stored.
    orders = [[span.start for span in make_item(window(), ranking(8, 1), seed=seed).spans] for seed in range(4)]
    assert orders == [[4, 8, 1], [4, 8, 1], [4, 1, 8], [4, 8, 1]]


@pytest.mark.parametrize("spans", [1, 2, 4])
def test_a_work_too_short_for_three_options_gives_no_item(spans):
    assert make_item(window(0), ranking(spans=spans)) is None
    assert starts(make_item(window(0), ranking(spans=5))) == {0, 2, 4}


@pytest.mark.parametrize(
    ("spans", "right"),
    [
        ((Span(0, 2), Span(4, 2)), 1),
        ((Span(0, 2), Span(4, 2), Span(5, 2)), 1),
        ((Span(0, 2), Span(4, 2), Span(8, 1)), 1),
        ((Span(0, 2), Span(4, 2), Span(8, 2)), 0),
        ((Span(0, 2), Span(4, 2), Span(8, 2)), 4),
    ],
)
def test_an_item_that_cannot_be_is_refused(spans, right):
    options = tuple(Option(span=span, at=(0, 9), address="1.1.1", words="Words.") for span in spans)
    with pytest.raises(BadRequest, match="'w1'"):
        Item(
            id="w1", book="ferry", work_id="ferry-0", left="", right="", options=options, right_option=right,
            chooser="bm25", gold_rank=1,
        )  # fmt: skip


def items_and_rankings(*golds_first):
    """Make items whose gold the retriever "dense" ranks best of the three, or not."""
    items = [make_item(window(window_id=f"w{each}"), ranking(8, 1)) for each in range(len(golds_first))]
    best = {True: (4, 8), False: (8, 4)}
    return items, {
        item.id: ranking(*best[first], retriever="dense") for item, first in zip(items, golds_first, strict=True)
    }


def values(items, rankings):
    return proxy_values(items, {item.id: choice(item, rankings[item.id]) for item in items}).tolist()


def test_the_answer_is_right_where_the_gold_is_ranked_best_of_the_three():
    items, rankings = items_and_rankings(True, False, True)
    # What is ranked above all three options does not matter.
    rankings["w2"] = ranking(11, 6, 4, 8, 1, retriever="dense")
    assert values(items, rankings) == [1, 0, 1]


def test_of_options_with_one_score_the_earlier_in_the_text_is_the_answer():
    # A ranking that knows nothing: the answer is the option at 1, before the gold at 4 and the option at 8.
    item = make_item(window(), ranking(8, 1))
    assert item.spans[choice(item, ranking(retriever="dense")) - 1].start == 1
    first = make_item(window(0), ranking(8, 4))
    assert values([first], {"w1": ranking(retriever="dense")}) == [1]


def test_a_missing_ranking_is_a_wrong_answer():
    items, rankings = items_and_rankings(True, True)
    assert choice(items[1], None) == CANNOT_DECIDE
    assert values(items, {**rankings, "w1": None}) == [1, 0]


def test_an_item_without_an_answer_is_refused():
    items, _ = items_and_rankings(True, True)
    with pytest.raises(BadRequest, match="'w1'"):
        proxy_values(items, {"w0": 1})
