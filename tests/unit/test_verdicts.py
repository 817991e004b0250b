"""Agreement of two readers, worked out by hand."""

import pytest

from tools.prompts.reports import cohens_kappa


def test_kappa_is_that_of_a_table_worked_out_by_hand():
    """Of 50: both yes 20, both no 15, 5 and 10 apart: 0.7 equal, by chance 0.5 x 0.6 + 0.5 x 0.4 = 0.5."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohens_kappa(first, second) == cohens_kappa(second, first) == pytest.approx(0.4)


def test_kappa_of_three_verdicts_counts_every_kind_of_agreement_by_chance():
    """Equal 4 of 6; by chance (3 x 2 + 2 x 2 + 1 x 2) / 36 = 1/3."""
    assert cohens_kappa("aaabbc", "aabbcc") == pytest.approx((4 / 6 - 1 / 3) / (2 / 3))


def test_readers_who_never_agree_are_below_chance():
    assert cohens_kappa("xy", "yx") == -1.0


def test_of_one_and_the_same_verdict_throughout_nothing_can_be_said():
    assert cohens_kappa(["no", "no"], ["no", "no"]) is None


def test_verdicts_on_other_passages_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        cohens_kappa(["a", "b"], ["a"])
