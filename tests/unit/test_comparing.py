"""Paired comparisons and Holm's correction: exact p-values worked out by hand, and what must not be compared."""

from __future__ import annotations

import dataclasses
import random
from itertools import product

import numpy as np
import pytest

from relic_core.errors import BadRequest
from relic_core.evaluation.comparing import compare, holm
from tests.making_outcomes import outcomes_of


def test_with_four_examples_that_all_got_better_p_is_two_in_sixteen():
    # Of the 16 ways to exchange, only all four signs alike give a difference as large: +++ + and ---- .
    found = compare(
        "recall@1", outcomes_of({"emma": [1, 1, 1, 1]}), outcomes_of({"emma": [2, 2, 2, 2]}), over="examples"
    )
    assert (found.p_value, found.exact) == (2 / 16, True)
    assert (found.first, found.second, found.difference) == (1, 0, 1)
    assert (found.better, found.worse, found.n) == (4, 0, 4)


def test_exact_p_is_the_share_of_exchanges_that_differ_as_much():
    # Reciprocal ranks differ by 1/2, 1/2 and -1/4: the sum is 3/4. Of the 8 sums of +-1/2 +-1/2 +-1/4 those of size 3/4
    # and more are 5/4, 3/4, -3/4, -5/4.
    first, second = outcomes_of({"emma": [1, 1, 4, 9]}), outcomes_of({"emma": [2, 2, 2, 9]})
    found = compare("mrr", first, second, over="examples")
    assert found.p_value == 4 / 8
    assert found.difference == pytest.approx(0.75 / 4)
    assert (found.better, found.worse) == (2, 1)


def test_units_without_a_difference_have_no_part_in_p():
    # Forty examples alike and three better: 2 of 8, gone through rather than drawn.
    alike = [7] * 40
    found = compare(
        "recall@1", outcomes_of({"emma": [1, 1, 1, *alike]}), outcomes_of({"emma": [2, 2, 2, *alike]}), over="examples"
    )
    assert (found.p_value, found.exact, found.n) == (2 / 8, True, 43)


def test_over_works_whole_works_are_exchanged():
    # Nine examples better in three works: as examples 2 of 512, as works 2 of 8.
    first = outcomes_of({work: [1, 1, 1] for work in "abc"})
    second = outcomes_of({work: [2, 2, 2] for work in "abc"})
    assert compare("recall@1", first, second, over="examples").p_value == 2 / 512
    assert compare("recall@1", first, second, over="works").p_value == 2 / 8


@pytest.mark.parametrize("name", ["median-rank", "mean-rank"])
@pytest.mark.parametrize("over", ["examples", "works"])
def test_exact_p_is_that_of_going_through_all_exchanges_by_hand(name, over):
    a = {"emma": [5, 80, 3], "persuasion": [7, 200], "hard-times": [9, 4], "middlemarch": [33]}
    b = {"emma": [9, 99, 3], "persuasion": [5, 260], "hard-times": [9, 4], "middlemarch": [61]}
    works = [work for work, ranks in a.items() for _ in ranks]
    first, second = np.concatenate(list(a.values())), np.concatenate(list(b.values()))
    centre = np.median if name == "median-rank" else np.mean
    keys = list(a) if over == "works" else list(range(len(works)))
    sizes = []
    for signs in product([False, True], repeat=len(keys)):
        chosen = dict(zip(keys, signs, strict=True))
        swap = np.array([chosen[work if over == "works" else place] for place, work in enumerate(works)])
        sizes.append(abs(centre(np.where(swap, second, first)) - centre(np.where(swap, first, second))))
    expected = np.mean(np.array(sizes) >= sizes[0] - 1e-9)  # the first exchanges nothing
    found = compare(name, outcomes_of(a), outcomes_of(b), over=over)
    assert found.p_value == pytest.approx(expected)
    assert found.exact
    assert found.difference == pytest.approx(centre(first) - centre(second))


def test_a_lower_rank_is_a_better_one():
    found = compare("mean-rank", outcomes_of({"emma": [1, 2, 9]}), outcomes_of({"emma": [4, 5, 8]}), over="examples")
    assert (found.better, found.worse) == (2, 1)
    assert found.difference < 0


def test_a_run_compared_with_itself_does_not_differ():
    run = outcomes_of({"emma": [1, 5, None], "persuasion": [3, 800]})
    for name in ("recall@5", "median-rank", "mrr"):
        found = compare(name, run, run, over="works")
        assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_many_examples_are_compared_by_drawn_exchanges_with_a_seed():
    generator = np.random.default_rng(5)
    a = {f"work {each}": generator.integers(1, 60, 12).tolist() for each in range(15)}
    b = {work: [rank + int(generator.integers(-8, 12)) for rank in ranks] for work, ranks in a.items()}
    b = {work: [max(1, rank) for rank in ranks] for work, ranks in b.items()}
    one, again, other = (
        compare("mean-rank", outcomes_of(a), outcomes_of(b), over="examples", seed=seed) for seed in (1, 1, 2)
    )
    assert one == again
    assert not one.exact
    assert one.p_value < 0.01
    assert other.p_value == pytest.approx(one.p_value, abs=0.02)
    assert other.low != one.low


@pytest.mark.parametrize("name", ["mrr", "median-rank"])
def test_drawn_exchanges_come_near_the_exact_p(name, monkeypatch):
    first = outcomes_of({"emma": [4, 9, 12, 3, 60, 7, 25, 31, 2, 5]})
    second = outcomes_of({"emma": [6, 14, 10, 9, 91, 7, 22, 44, 5, 5]})
    exact = compare(name, first, second, over="examples")
    monkeypatch.setattr("relic_core.evaluation.comparing._FEW", 0)
    drawn = compare(name, first, second, over="examples")
    assert (exact.exact, drawn.exact) == (True, False)
    assert 0.02 < exact.p_value < 0.98
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.02)


def test_between_retrievers_alike_small_p_values_are_as_rare_as_they_should_be():
    generator = np.random.default_rng(7)
    small = 0
    for trial in range(200):
        scores = generator.integers(1, 20, size=(2, 10)).tolist()
        first, second = (outcomes_of({"emma": row}) for row in scores)
        small += compare("mean-rank", first, second, over="examples", samples=100, seed=trial).p_value <= 0.1
    assert 0.04 <= small / 200 <= 0.16


def test_the_order_of_the_examples_changes_nothing():
    first = outcomes_of({"emma": [4, 9, 12], "persuasion": [3, None, 7]})
    second = outcomes_of({"emma": [6, 14, 10], "persuasion": [9, 91, 7]})
    expected = compare("mean-rank", first, second, over="works")
    shuffled = random.Random(0).sample(first, len(first))
    assert compare("mean-rank", shuffled, second[::-1], over="works") == expected


def test_exchanging_the_runs_turns_the_difference_round_and_keeps_p():
    first = outcomes_of({"emma": [4, 9, 12], "persuasion": [3, None, 7]})
    second = outcomes_of({"emma": [6, 14, 10], "persuasion": [9, 91, 7]})
    there, back = compare("mrr", first, second, over="examples"), compare("mrr", second, first, over="examples")
    assert there.difference == -back.difference
    assert there.low == pytest.approx(-back.high)
    assert (there.better, there.worse, there.p_value) == (back.worse, back.better, back.p_value)


def test_the_interval_is_of_paired_differences():
    # Hard and easy examples, the first run always three places better: the difference does not vary, the means do.
    ranks = [10, 500, 30, 900, 5, 250]
    first = outcomes_of({"emma": ranks})
    second = outcomes_of({"emma": [rank + 3 for rank in ranks]})
    found = compare("mean-rank", first, second, over="examples")
    assert (found.low, found.high) == (pytest.approx(-3), pytest.approx(-3))


def test_runs_of_other_examples_are_refused_with_some_of_them_named():
    first = outcomes_of({"emma": [1, 2, 3]})
    with pytest.raises(BadRequest, match=r"1 only in the first \(emma-002\), 0 only in the second \(none\)"):
        compare("mrr", first, first[:2], over="examples")
    with pytest.raises(BadRequest, match=r"\(emma-000, emma-001, emma-002, \.\.\.\)"):
        compare("mrr", outcomes_of({"emma": [1, 2, 3, 4]}), outcomes_of({"persuasion": [1]}), over="examples")


def test_runs_that_chose_from_other_candidates_are_refused():
    first = outcomes_of({"emma": [1, 2, 3]})
    pools = outcomes_of({"emma": [1, 2, 3]}, candidates=50)
    with pytest.raises(BadRequest, match=r"In 3 .*\(emma-000"):
        compare("mrr", first, pools, over="examples")
    other = (dataclasses.replace(first[0], book="persuasion"), *first[1:])
    with pytest.raises(BadRequest, match="In 1 examples"):
        compare("mrr", first, other, over="examples")


@pytest.mark.parametrize("change", [{"gold": (11, 20)}, {"gold": (10, 21)}, {"length": 3}])
def test_runs_whose_golds_are_others_are_refused(change):
    first = outcomes_of({"a": [1, 2], "b": [3, 4]})
    second = (*first[:3], dataclasses.replace(first[3], **change))
    with pytest.raises(BadRequest, match="b-001"):
        compare("mrr", first, second, over="works")


def test_runs_that_do_not_differ_have_a_flat_interval():
    same = outcomes_of({"a": [1, 2], "b": [3, 4]})
    assert compare("mrr", same, same, over="works").flat
    assert not compare("mrr", same, outcomes_of({"a": [1, 2], "b": [3, 9]}), over="examples").flat


def test_one_work_or_example_and_what_is_no_merit_are_refused():
    run = outcomes_of({"emma": [1, 2, 3]})
    with pytest.raises(BadRequest, match="of one work"):
        compare("mrr", run, run, over="works")
    with pytest.raises(BadRequest, match="at least two"):
        compare("mrr", run[:1], run[:1], over="examples")
    with pytest.raises(BadRequest, match="retriever"):
        compare("candidates", run, run, over="examples")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([0.01, 0.02, 0.03], [0.03, 0.04, 0.04]),  # 3 * 0.01, 2 * 0.02, and 0.03 raised to the one before it
        ([0.03, 0.01, 0.02], [0.04, 0.03, 0.04]),  # in the order given
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.6, 0.001], [1.0, 1.0, 0.003]),  # none above 1
        ([0.02, 0.02], [0.04, 0.04]),
        ([0.2], [0.2]),
        ([], []),
    ],
)
def test_holm_multiplies_the_smallest_by_their_number_and_keeps_the_order(given, expected):
    assert holm(given).tolist() == pytest.approx(expected)
