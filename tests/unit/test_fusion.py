"""Reciprocal rank fusion: the arithmetic by hand, ties, and what it refuses."""

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


def test_scores_are_sums_of_reciprocal_ranks():
    fused = fuse([ranking(3, 2, 1), ranking(1, 3, 2)])
    assert fused == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62])


def test_tied_spans_get_equal_scores_wherever_they_stand():
    fused = fuse([ranking(0, 5, 0, 0)])
    assert fused == pytest.approx([1 / 64, 1 / 61, 1 / 64, 1 / 64])


def test_words_nowhere_shared_leave_the_order_to_the_other_ranking():
    dense = ranking(0.1, 0.2, 0.3, 0.25)
    fused = rank_scores("fusion", "work", 1, fuse([dense, ranking(0, 0, 0, 0)]))
    assert fused.order.tolist() == dense.order.tolist()


@pytest.mark.parametrize("rankings", [[], [ranking(1, 2), ranking(1, 2, 3)], [ranking(1), ranking(1, length=2)]])
def test_rankings_of_different_spans_are_refused(rankings):
    with pytest.raises(ValueError, match="same spans"):
        fuse(rankings)


def test_ranks_are_counted_among_the_candidates():
    among = np.array([False, True, True, False])
    fused = fuse(
        [
            rank_scores("one", "work", 1, np.array(scores, dtype=np.float32), among=among)
            for scores in ([9, 1, 2, 0], [9, 5, 4, 9])
        ]
    )
    assert fused == pytest.approx([0, 1 / 62 + 1 / 61, 1 / 61 + 1 / 62, 0])


def test_rankings_with_different_candidates_are_refused():
    scores = np.array([1, 2, 3], dtype=np.float32)
    pair = [
        rank_scores(name, "work", 1, scores, among=np.array(among))
        for name, among in (("one", [True, True, False]), ("two", [False, True, True]))
    ]
    with pytest.raises(ValueError, match="different candidates"):
        fuse(pair)


def test_rankings_without_candidates_give_nothing():
    scores = np.array([1, 2], dtype=np.float32)
    assert fuse([rank_scores("one", "work", 1, scores, among=np.zeros(2, dtype=bool))] * 2).tolist() == [0, 0]
    assert fuse([ranking(), ranking()]).shape == (0,)


@given(
    st.lists(
        st.one_of(st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-30]), st.floats(width=32, allow_nan=False)),
        max_size=40,
    )
)
def test_a_spans_rank_is_the_number_of_spans_no_worse(scores):
    scores = np.array(scores, dtype=np.float32)
    ranks = [int((scores >= score).sum()) for score in scores]
    np.testing.assert_allclose(share(scores), [1 / (60 + rank) for rank in ranks], rtol=1e-12)


class Fixed:
    def __init__(self, name, scores, *, ready=True):
        self.name, self._scores, self._ready = name, np.array(scores, dtype=np.float32), ready
        self.prepared = 0

    def ready(self, work, length):
        return self._ready

    def prepare(self, work, progress, *, lengths=LENGTHS):
        self.prepared += 1

    def score(self, claim, work, length):
        return self._scores


def test_the_retriever_fuses_its_components():
    work = make_work([["One.", "Two."]])
    fusion = Fusion([Fixed("a", [1, 2]), Fixed("b", [1, 2])])
    assert fusion.score(Claim("two"), work, 1).argmax() == 1


def test_a_component_that_is_not_ready_is_named_and_prepared():
    work = make_work([["One.", "Two."]])
    waiting = Fixed("slow", [1, 2], ready=False)
    fusion = Fusion([Fixed("quick", [1, 2]), waiting])
    assert not fusion.ready(work, 1)
    with pytest.raises(NoIndex, match="slow"):
        fusion.score(Claim("two"), work, 1)
    fusion.prepare(work, lambda done, total, note="": None)
    assert waiting.prepared == 1
