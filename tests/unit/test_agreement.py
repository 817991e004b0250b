"""How far two retrievers rank alike: overlap of the first ten, and rank correlation."""

import numpy as np
import pytest

from relic_core.domain import Claim
from relic_core.errors import BadRequest
from tests.making import make_work
from tools.bench.parts import Agreement, agreement


class Fixed:
    """A retriever whose scores are given."""

    name = "fixed"

    def __init__(self, *scores):
        self.scores = scores

    def score(self, claim, work, length):
        return np.array(self.scores, dtype=np.float32)


def work_of(sentences):
    return make_work([f"Sentence {number}." for number in range(sentences)])


CLAIMS = [Claim("one"), Claim("another")]


def test_a_retriever_agrees_with_itself_and_with_its_scores_on_another_scale():
    a = Fixed(*range(20))
    assert agreement(a, a, work_of(20), CLAIMS, 1) == Agreement(overlap_at_10=1.0, correlation=1.0, claims=2)
    scaled = Fixed(*(score / 7 - 3 for score in range(20)))
    assert agreement(a, scaled, work_of(20), CLAIMS, 1).correlation == 1.0


def test_the_reverse_order_shares_no_first_hit_and_correlates_negatively():
    found = agreement(Fixed(*range(20)), Fixed(*range(20, 0, -1)), work_of(20), CLAIMS, 1)
    assert (found.overlap_at_10, found.correlation) == (0.0, -1.0)


def test_figures_are_those_of_scipy_and_do_not_depend_on_the_order_of_the_two():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(50), rng.standard_normal(50)
    found = agreement(Fixed(*x), Fixed(*y), work_of(50), CLAIMS[:1], 1)
    assert found.correlation == pytest.approx(spearmanr(x, y).statistic)
    assert found == agreement(Fixed(*y), Fixed(*x), work_of(50), CLAIMS[:1], 1)
    tops = [set(np.argsort(-scores)[:10].tolist()) for scores in (x, y)]
    assert found.overlap_at_10 == pytest.approx(len(tops[0] & tops[1]) / 10)


def test_of_few_candidates_all_are_the_first_ten():
    assert agreement(Fixed(1, 2), Fixed(2, 1), work_of(2), CLAIMS, 1).overlap_at_10 == 1.0
    assert agreement(Fixed(1), Fixed(5), work_of(1), CLAIMS, 1).correlation == 1.0


@pytest.mark.parametrize(("claims", "length"), [([], 1), (CLAIMS, 3)])
def test_without_claims_or_spans_there_is_nothing_to_compare(claims, length):
    with pytest.raises(BadRequest, match="cannot be compared"):
        agreement(Fixed(), Fixed(), work_of(2), claims, length)
