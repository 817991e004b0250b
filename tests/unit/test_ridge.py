"""The ridge of a ranking: high where the work answers, whatever scale the scores have."""

import numpy as np
import pytest

from relic_core.domain import rank_scores
from relic_core.retrieval.ridge import POINTS, ridge

SENTENCES = 4000


def heights(scores, length=1):
    return ridge(rank_scores("demo", "work", length, np.asarray(scores, np.float32)), SENTENCES)


@pytest.mark.parametrize("scale", [1.0, 0.001, 1000.0])
def test_it_is_highest_where_the_best_passages_stand_together(scale):
    scores = np.random.default_rng(3).normal(0, 0.1, SENTENCES)
    scores[1000:1030] += 1  # a scene
    scores[3000] += 2  # the best passage, alone
    found = heights(scale * scores)
    assert len(found) == POINTS
    assert abs(int(np.argmax(found)) - POINTS * 1015 // SENTENCES) <= 1
    assert found[POINTS * 3000 // SENTENCES] > np.median(found)
    assert (min(found), max(found)) == (0, 1)


def test_a_ranking_of_some_chapters_is_flat_elsewhere():
    ranking = rank_scores("demo", "work", 2, np.linspace(0, 1, SENTENCES - 1, dtype=np.float32))
    found = ridge(ranking.only(np.arange(SENTENCES - 1) < 400, left_out=SENTENCES - 401), SENTENCES)
    assert max(found[: POINTS // 10]) == 1
    assert set(found[POINTS // 10 + 5 :]) == {0}


def test_nothing_to_rank_has_no_ridge():
    assert heights([]) == ()
