"""What holds of agreement whatever people answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from relic_core.studies import raters

TABLES = arrays.arrays(np.int64, st.tuples(st.integers(1, 12), st.just(3)), elements=st.integers(0, 5))


@given(TABLES)
def test_measures_stay_within_their_bounds_and_perfect_agreement_is_one(counts):
    for each in raters.measures(counts):
        assert each.value is None or -1 - 1e-9 <= each.value <= 1 + 1e-9
    rated = counts[counts.sum(axis=1) >= raters.LEAST]
    if len(rated) and (rated.max(axis=1) == rated.sum(axis=1)).all():
        assert all(each.value in {None, 1} for each in raters.measures(counts) if not each.is_share)


@given(TABLES, st.permutations([0, 1, 2]))
def test_neither_the_order_of_items_nor_the_names_of_categories_matter(counts, names):
    for first, second in zip(raters.measures(counts), raters.measures(counts[::-1, names]), strict=True):
        assert (first.value is None) == (second.value is None)
        assert first.value is None or abs(first.value - second.value) < 1e-9


@given(st.integers(1, 8), st.integers(1, 5))
def test_chances_of_all_and_none_are_those_of_counting_every_way_to_choose(people, categories):
    ways = np.array(np.meshgrid(*[range(categories)] * people)).reshape(people, -1)
    alike = [len(set(way)) for way in ways.T.tolist()]
    expected = (alike.count(1) / len(alike), alike.count(people) / len(alike))
    if people > 1:
        assert np.allclose(raters.chance_shares(people, categories), expected)


@given(TABLES)
def test_randolph_is_never_below_fleiss(counts):
    """Warrens 2010, with equal or unequal numbers of answers: chance is least where categories are even."""
    values = {each.key: each.value for each in raters.measures(counts)}
    if values["fleiss"] is not None:
        assert values["randolph"] >= values["fleiss"] - 1e-9


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3), st.integers(0, 6))
def test_at_most_one_option_has_a_majority(votes, undecided):
    chosen = raters.majority(votes, sum(votes) + undecided)
    if chosen:
        assert votes[chosen - 1] > sum(votes) + undecided - votes[chosen - 1]
