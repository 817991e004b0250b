"""How far two rankings are alike: Spearman's correlation."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from relic_core.domain import rank_scores
from tools.bench.parts import spearman


def ranked(scores):
    return rank_scores("demo", "work", 1, np.array(scores, dtype=np.float32))


def test_the_correlation_is_that_of_scipy_and_does_not_depend_on_the_order_of_the_two():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(50), rng.standard_normal(50)
    assert spearman(ranked(x), ranked(y)) == pytest.approx(spearmanr(x, y).statistic)
    assert spearman(ranked(x), ranked(y)) == spearman(ranked(y), ranked(x))


def test_one_candidate_agrees_with_itself():
    assert spearman(ranked([1]), ranked([5])) == 1.0
