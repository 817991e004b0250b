"""Agreement of two readers, worked out by hand."""

import pytest

from relic_core.errors import BadRequest
from tools.prompts.verdicts import readers_agreement


def test_kappa_is_that_of_a_table_worked_out_by_hand():
    """Of 50: both yes 20, both no 15, 5 and 10 apart: 0.7 equal, by chance 0.5 x 0.6 + 0.5 x 0.4 = 0.5."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = readers_agreement(first, second)
    assert (found.equal, found.passages) == (35, 50)
    assert found.kappa == pytest.approx(0.4)
    assert readers_agreement(second, first) == found


def test_kappa_of_three_verdicts_counts_every_kind_of_agreement_by_chance():
    """Equal 4 of 6; by chance (3 x 2 + 2 x 2 + 1 x 2) / 36 = 1/3."""
    found = readers_agreement(["a", "a", "a", "b", "b", "c"], ["a", "a", "b", "b", "c", "c"])
    assert found.kappa == pytest.approx((4 / 6 - 1 / 3) / (2 / 3))


def test_readers_who_never_agree_are_below_chance():
    found = readers_agreement(["a", "b"], ["b", "a"])
    assert (found.equal, found.kappa) == (0, -1.0)


def test_of_one_and_the_same_verdict_throughout_nothing_can_be_said():
    assert readers_agreement(["no", "no"], ["no", "no"]).kappa is None


@pytest.mark.parametrize(("first", "second"), [([], []), (["a"], ["a", "b"])])
def test_verdicts_on_nothing_or_on_other_passages_are_refused(first, second):
    with pytest.raises(BadRequest, match="the same passages"):
        readers_agreement(first, second)
