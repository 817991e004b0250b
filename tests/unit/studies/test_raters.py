"""Agreement between raters, against statsmodels and tables worked out by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relic_core.errors import BadRequest
from relic_core.evaluation.intervals import draws, units
from relic_core.studies import raters
from relic_core.studies.raters import KEYS

FLEISS = np.array(
    # Fleiss 1971's way of table: ten subjects, fourteen raters, five categories; its kappa is 0.210.
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)


def of(key, counts):
    return raters.agreement(counts)[key][0]


def drawn(seed, *, items=60, people=3, skill=0.7):
    """Count the choices of people who know the right option by skill, and guess else."""
    generator = np.random.default_rng(seed)
    right = generator.integers(3, size=items)
    known = generator.random((items, people)) < skill
    choices = np.where(known, right[:, None], generator.integers(3, size=(items, people)))
    return np.stack([(choices == option).sum(axis=1) for option in range(3)], axis=1)


def test_fleiss_kappa_is_that_of_the_table_in_the_textbooks():
    assert of("fleiss", FLEISS) == pytest.approx(0.210, abs=0.0005)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("people", [2, 3, 7])
def test_kappas_are_those_of_statsmodels(seed, people):
    from statsmodels.stats import inter_rater as statsmodels

    counts = drawn(seed, people=people, skill=seed / 6)
    assert of("fleiss", counts) == pytest.approx(statsmodels.fleiss_kappa(counts, method="fleiss"), abs=1e-12)
    assert of("randolph", counts) == pytest.approx(statsmodels.fleiss_kappa(counts, method="randolph"), abs=1e-12)


# Worked out by hand. Items rated 3-0-0, 0-2-1, 1-1-1: pairs agree in 1, 1/3, 0, so 4/9 on the whole; shares are 4/9,
# 3/9, 2/9, their squares add up to 29/81.
HAND = np.array([[3, 0, 0], [0, 2, 1], [1, 1, 1]])


def test_every_measure_is_that_of_a_table_worked_out_by_hand():
    agreed = 4 / 9
    assert of("observed", HAND) == pytest.approx(agreed)
    assert of("fleiss", HAND) == pytest.approx((agreed - 29 / 81) / (1 - 29 / 81))
    assert of("randolph", HAND) == pytest.approx((agreed - 1 / 3) / (2 / 3))
    chance = (1 - 29 / 81) / 2
    assert of("ac1", HAND) == pytest.approx((agreed - chance) / (1 - chance))
    # Coincidences apart: (9 - 5) / 2 + (9 - 3) / 2 = 5; expected (81 - 29) / 8 = 6.5.
    assert of("alpha", HAND) == pytest.approx(1 - 5 / 6.5)


def test_alpha_with_missing_answers_is_that_of_krippendorffs_own_example():
    """Krippendorff 2011, part C: four observers, twelve units, five values; nominal alpha is 0.743."""
    a, b, c, d = (
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    )
    counts = np.array([[unit.count(value) for value in range(1, 6)] for unit in zip(a, b, c, d, strict=True)])
    assert of("alpha", counts) == pytest.approx(0.743, abs=0.0005)


def test_items_with_fewer_than_two_answers_change_nothing():
    more = np.vstack([HAND, [[1, 0, 0], [0, 0, 0]]])
    assert [each.value for each in raters.measures(more)] == [each.value for each in raters.measures(HAND)]


def test_with_unequal_numbers_of_answers_each_item_counts_the_same():
    # Pairs agree in 1 of 1, 1 of 3 and 3 of 6 cases.
    counts = np.array([[2, 0, 0], [2, 1, 0], [3, 1, 0]])
    agreed = (1 + 1 / 3 + 3 / 6) / 3
    shares = np.array([1 + 2 / 3 + 3 / 4, 1 / 3 + 1 / 4, 0]) / 3
    assert of("observed", counts) == pytest.approx(agreed)
    assert raters.agreement(counts)["shares"][0] == pytest.approx(shares)
    chance = (shares**2).sum()
    assert of("fleiss", counts) == pytest.approx((agreed - chance) / (1 - chance))


def test_chance_of_agreeing_is_that_of_the_papers_table_4_and_of_other_numbers():
    assert [round(100 * share, 1) for share in raters.chance_shares(3, 3)] == [11.1, 22.2]
    assert raters.chance_shares(2, 3) == pytest.approx((1 / 3, 2 / 3))
    assert raters.chance_shares(5, 3) == pytest.approx((1 / 81, 0))
    counts = np.array([[2, 0, 0], [1, 1, 1]])  # one item with two answers, one with three
    *_, all_agree, none_agree = raters.measures(counts)
    assert (all_agree.value, none_agree.value) == (0.5, 0.5)
    assert all_agree.chance == pytest.approx((1 / 3 + 1 / 9) / 2)
    assert none_agree.chance == pytest.approx((2 / 3 + 2 / 9) / 2)


@pytest.mark.parametrize(
    ("votes", "answered", "chosen"),
    [
        ((2, 1, 0), 3, 1),
        ((1, 1, 1), 3, 0),
        ((0, 0, 3), 3, 3),
        ((0, 2, 0), 3, 2),  # the third could not decide
        ((2, 2, 0), 4, 0),
        ((2, 0, 0), 4, 0),  # two could not decide
        ((0, 3, 1), 4, 2),
        ((1, 1, 0), 2, 0),
        ((0, 0, 1), 1, 0),  # one is not a majority
        ((0, 0, 0), 0, 0),
    ],
)
def test_a_majority_is_more_than_half_of_those_who_answered(votes, answered, chosen):
    assert raters.majority(votes, answered) == chosen


def test_nothing_is_said_of_agreement_before_two_people_have_answered_an_item():
    alone = np.array([[1, 0, 0], [0, 1, 0]])
    assert {each.value for each in raters.measures(alone)} == {None}
    assert {each.chance for each in raters.measures(alone)} == {None}
    assert raters.paradox(alone) == ""
    with pytest.raises(BadRequest):
        of("observed", alone)


def test_where_one_option_alone_was_chosen_kappa_and_alpha_say_that_they_cannot_be_computed():
    one = np.array([[3, 0, 0]] * 4)
    values = {each.key: each for each in raters.measures(one)}
    assert values["fleiss"].value is values["alpha"].value is None
    assert (values["randolph"].value, values["ac1"].value) == (1, 1)
    assert raters.paradox(one)


def test_the_paradox_of_kappa_is_explained_where_it_bites_and_only_there():
    # Nearly everybody always chose option 1: agreement of nine in ten, and a kappa below 0.
    skewed = np.array([[3, 0, 0]] * 17 + [[2, 1, 0], [2, 0, 1], [2, 1, 0]])
    assert of("observed", skewed) == pytest.approx(0.9)
    assert of("fleiss", skewed) < 0 < of("ac1", skewed)
    assert re.search(r"90%.* 1 .*95%", raters.paradox(skewed))
    even = drawn(1, items=300, skill=0.9)
    assert abs(of("fleiss", even) - of("randolph", even)) < 0.01
    assert raters.paradox(even) == ""


def measured(counts):
    """Measure a table as `raters` does, one figure after the other."""
    return {each.key: each.value for each in raters.measures(counts)}


@pytest.mark.parametrize("works", [["emma"] * 40, ["emma", "dubliners", "ulysses", "emma"] * 10])
def test_an_interval_holds_the_middle_of_the_figures_of_tables_drawn_anew(works):
    counts = drawn(3, items=40)
    members = units(works, over="works" if len(set(works)) > 1 else "examples")
    tables = [
        np.repeat(counts, times[members].astype(int), axis=0)
        for rows in draws(members, samples=200, seed=5)
        for times in rows
    ]
    each = [measured(table) for table in tables]
    found = raters.intervals(counts, works, seed=5, samples=200)
    assert tuple(found) == KEYS
    for key, around in found.items():
        low, high = np.quantile([one[key] for one in each], [0.025, 0.975])
        assert (around.low, around.high) == (pytest.approx(low), pytest.approx(high))
        assert around.value == pytest.approx(measured(counts)[key])


@pytest.mark.parametrize("counts", [HAND, FLEISS, np.array([[2, 0, 0], [2, 1, 0], [3, 1, 0], [1, 0, 0]])])
def test_the_figure_within_an_interval_is_the_one_that_is_told(counts):
    found = raters.intervals(counts, ["emma"] * len(counts))
    for key, around in found.items():
        assert around.value == pytest.approx(measured(counts)[key])
        assert around.low <= around.value <= around.high


def test_more_items_make_narrower_intervals():
    few, many = (raters.intervals(drawn(2, items=items), ["emma"] * items)["fleiss"] for items in (30, 600))
    assert many.high - many.low < (few.high - few.low) / 2


def test_what_cannot_be_drawn_has_no_interval():
    assert raters.intervals(np.zeros((0, 3), dtype=np.int64), []) == {}
    assert raters.intervals(np.array([[3, 0, 0], [1, 0, 0]]), ["emma"] * 2) == {}, "one item with two answers"
    # Drawn anew, three samples of ten are tables in which option 1 alone was chosen.
    skewed = np.array([[3, 0, 0], [3, 0, 0], [2, 1, 0]])
    found = raters.intervals(skewed, ["emma"] * 3)
    assert "fleiss" not in found
    assert "randolph" in found
