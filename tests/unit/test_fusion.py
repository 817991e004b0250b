"""Fusion: the arithmetic by hand, ties, weights, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import LENGTHS, Claim, rank_scores
from relic_core.errors import NoIndex
from relic_core.retrieval.fusion import Fusion, fuse, share
from tests.making import make_work


def ranking(*scores, name="one", length=1):
    return rank_scores(name, "work", length, np.array(scores, dtype=np.float32))


def test_scores_are_weighted_sums_of_standardised_scores():
    # Means 2 and 10, standard deviations sqrt(2/3) and 10 sqrt(2/3).
    fused = fuse([ranking(3, 2, 1), ranking(0, 20, 10, name="bm25")])
    unit = (3 / 2) ** 0.5
    assert fused.scores == pytest.approx([unit - 0.15 * unit, 0.15 * unit, -unit])


def test_tied_spans_get_equal_scores_wherever_they_stand():
    fused = fuse([ranking(0, 5, 0, 0)]).scores
    assert fused[0] == fused[2] == fused[3] < fused[1]


def test_of_unequal_rankings_the_lesser_decides_where_the_other_hardly_does():
    better = ranking(0.9, 0.899, 0.1, 0.1)
    fused = fuse([better, ranking(0, 5, 9, 0, name="bm25")])
    assert fused.order.tolist() == [1, 0, 2, 3]


def test_words_nowhere_shared_leave_the_order_to_the_other_ranking():
    dense = ranking(0.1, 0.2, 0.3, 0.25)
    fused = fuse([dense, ranking(0, 0, 0, 0, name="bm25")])
    assert fused.order.tolist() == dense.order.tolist()


def test_words_count_up_to_five_deviations_for_a_short_claim_and_without_a_limit_for_a_long_one():
    dense, words = ranking(*range(100)), ranking(*[0] * 99, 1, name="bm25")  # 9.95 deviations above the mean
    long, short = (fuse([dense, words], short=short).scores[99] - fuse([dense]).scores[99] for short in (False, True))
    assert (long, short) == (pytest.approx(0.15 * 99**0.5), pytest.approx(0.15 * 5))


def test_means_are_of_the_candidates():
    among = np.array([False, True, True, False])
    each = (ranking(9, 1, 2, 0), ranking(9, 5, 4, 9, name="bm25"))
    fused = fuse([one.only(among, left_out=2) for one in each])
    assert (fused.start.tolist(), fused.candidates) == ([1, 2], 2)
    assert fused.scores == pytest.approx([-0.85, 0.85])


def test_rankings_without_candidates_give_nothing():
    assert len(fuse([ranking(), ranking()])) == 0


@given(st.lists(st.floats(-1e6, 1e6, width=32), max_size=40), st.floats(0.1, 10.0))
def test_shares_have_their_weight_as_spread_and_keep_the_order(scores, weight):
    scores = np.array(scores, dtype=np.float32)
    shares = share(scores, weight)
    if len(set(scores.tolist())) > 1:
        assert shares.std() == pytest.approx(weight)
        assert shares.mean() == pytest.approx(0.0, abs=1e-6 * weight)
    assert (np.diff(shares[np.argsort(scores)]) >= 0).all()


class Fixed:
    calibration = None

    def __init__(self, name, scores, *, ready=True):
        self.name, self._scores, self._ready = name, np.array(scores, dtype=np.float32), ready
        self.prepared, self.configuration = 0, {}

    def ready(self, work, *lengths):
        return self._ready

    def prepare(self, work, progress, *, lengths=LENGTHS):
        self.prepared += 1

    def score(self, claim, work, length):
        return self._scores


def test_the_retriever_fuses_its_components():
    work = make_work([["One.", "Two."]])
    fusion = Fusion([Fixed("a", [1, 2]), Fixed("b", [1, 2])])
    assert fusion.score(Claim("two"), work, 1).argmax() == 1


def test_words_count_for_less_than_meaning():
    work = make_work([["One.", "Two."]])
    fusion = Fusion([Fixed("dense", [1, 2]), Fixed("bm25", [2, 1])])
    assert fusion.score(Claim("two"), work, 1).argmax() == 1
    assert fusion.configuration["weights"] == "dense 1, bm25 0.15"


def test_what_stands_around_counts_for_more_than_words_but_where_the_claim_is_short_or_nothing_is_known_of_it():
    dense, words, around = ranking(*[0] * 9, 3), ranking(*[0] * 8, 3, 0, name="bm25"), ranking(*[0] * 7, 3, 0, 0)
    around = replace(around, retriever="surroundings")
    assert fuse([dense, words, around]).order.tolist()[:3] == [9, 7, 8]
    assert fuse([dense, words, around], short=True).order.tolist()[:3] == [9, 8, 7]
    for alike in (0, 1):  # nothing stands around, or the whole of a short work around each
        nothing = replace(around, scores=np.full_like(around.scores, alike))
        assert fuse([dense, words, nothing]).scores.tolist() == fuse([dense, words]).scores.tolist()


def test_a_component_that_is_not_ready_is_named_and_prepared():
    work = make_work([["One.", "Two."]])
    waiting = Fixed("slow", [1, 2], ready=False)
    fusion = Fusion([Fixed("quick", [1, 2]), waiting])
    assert not fusion.ready(work, 1)
    with pytest.raises(NoIndex, match="slow"):
        fusion.score(Claim("two"), work, 1)
    fusion.prepare(work, lambda done, total, note="": None)
    assert waiting.prepared == 1
