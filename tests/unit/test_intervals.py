"""Bootstrap intervals: they cover what they say, draw whole works where asked, and repeat."""

from __future__ import annotations

import random

import numpy as np
import pytest

from relic_core.errors import BadRequest
from relic_core.evaluation.intervals import interval, interval_of, resampled, units
from tests.making_outcomes import outcomes_of

RANKS = {"emma": [1, 2, 40, None], "persuasion": [3, 3, 900], "hard-times": [12, 55, 7, 1, 8]}


def test_an_interval_holds_its_figure_and_says_what_it_was_drawn_from():
    outcomes = outcomes_of(RANKS)
    for name, value in [("recall@10", 7 / 12), ("median-rank", 7.5), ("mean-rank", 2032 / 12)]:
        for over in ("examples", "works"):
            found = interval(name, outcomes, over=over)
            assert found.value == pytest.approx(value)
            assert found.low < found.value < found.high


@pytest.mark.parametrize("over", ["examples", "works"])
@pytest.mark.parametrize("name", ["recall@10", "mean-rank", "median-rank", "mrr"])
def test_the_order_of_the_examples_does_not_change_an_interval(name, over):
    outcomes = outcomes_of(RANKS)
    expected = interval(name, outcomes, over=over, samples=200)
    for seed in range(5):
        shuffled = random.Random(seed).sample(outcomes, len(outcomes))
        assert interval(name, shuffled, over=over, samples=200) == expected


def test_a_seed_repeats_an_interval_and_another_seed_draws_another():
    outcomes = outcomes_of(RANKS)
    again = [interval("mrr", outcomes, over="examples", seed=seed, samples=200) for seed in (1, 1, 2)]
    assert again[0] == again[1]
    assert (again[0].low, again[0].high) != (again[2].low, again[2].high)


def test_drawing_works_keeps_all_examples_of_a_work_together():
    # Three works of unlike sizes, in each of which every example has one value: a sample is one of few mixtures.
    works = ["a"] * 1 + ["b"] * 2 + ["c"] * 3
    drawn = resampled(np.array([0.0, 3, 3, 12, 12, 12]), units(works, over="works"), centre="mean", samples=500, seed=0)
    possible = set()
    for i in range(4):
        for j in range(4 - i):
            k = 3 - i - j  # how often a, b and c were drawn
            possible.add(round((2 * j * 3 + 3 * k * 12) / (i + 2 * j + 3 * k), 9))
    assert {round(float(each), 9) for each in drawn} == possible


@pytest.mark.parametrize("works", [["a"] * 9, ["a", "b", "b", "c", "c", "c", "a", "d", "d"]])
@pytest.mark.parametrize("centre", ["mean", "median"])
def test_a_sample_has_the_figure_of_the_examples_drawn(works, centre):
    # The same draws made one by one, by repeating examples instead of weighing them.
    figures = np.array([4.0, 1, 900, 2, 2, 30, 7, 1, 55])
    over = "examples" if len(set(works)) == 1 else "works"
    members = units(works, over=over)
    count = int(members.max()) + 1
    picks = np.random.default_rng(3).integers(count, size=(200, count))
    expected = []
    for pick in picks:
        sample = np.concatenate([figures[members == unit] for unit in pick])
        expected.append(np.mean(sample) if centre == "mean" else np.median(sample))
    assert resampled(figures, members, centre=centre, samples=200, seed=3).tolist() == pytest.approx(expected)


def test_drawing_in_portions_draws_the_same_as_drawing_at_once(monkeypatch):
    figures = np.arange(20.0)
    members = units([str(each) for each in range(20)], over="examples")
    at_once = resampled(figures, members, centre="mean", samples=300, seed=0)
    monkeypatch.setattr("relic_core.evaluation.intervals._CELLS", 20 * 7)
    assert resampled(figures, members, centre="mean", samples=300, seed=0).tolist() == at_once.tolist()


def test_intervals_over_examples_cover_the_truth_about_as_often_as_they_say():
    generator = np.random.default_rng(0)
    covered = 0
    for trial in range(300):
        hits = (generator.random(80) < 0.3).astype(np.float64)
        found = interval_of(hits, ["one work"] * 80, over="examples", samples=300, seed=trial)
        covered += found.low <= 0.3 <= found.high
    assert 0.90 <= covered / 300 <= 0.98


def test_where_examples_of_a_work_hang_together_only_intervals_over_works_cover_the_truth():
    # 25 works of 12 examples; each work has a recall of its own around 0.4.
    generator = np.random.default_rng(1)
    works = [f"work {work:02}" for work in range(25) for _ in range(12)]
    covered = {"works": 0, "examples": 0}
    for trial in range(200):
        own = generator.beta(1.2, 1.8, size=25)  # mean 0.4
        hits = (generator.random((25, 12)) < own[:, np.newaxis]).astype(np.float64).ravel()
        for over in covered:
            found = interval_of(hits, works, over=over, samples=300, seed=trial)
            covered[over] += found.low <= 0.4 <= found.high
    assert covered["works"] / 200 >= 0.87
    assert covered["examples"] / 200 <= 0.80


def test_an_interval_without_width_is_known_as_such():
    assert interval("recall@1", outcomes_of({"emma": [5, 6, 7]}), over="examples").flat
    assert interval("ndcg@10", outcomes_of({"emma": [3] * 7, "persuasion": [3] * 6}), over="works").flat
    assert not interval("recall@5", outcomes_of({"emma": [5, 6, 7]}), over="examples").flat


def test_one_work_says_nothing_of_other_works():
    with pytest.raises(BadRequest, match=r"\(emma\)"):
        interval("mrr", outcomes_of({"emma": [5, 6, 7]}), over="works")


def test_one_example_has_no_interval():
    for over in ("examples", "works"):
        with pytest.raises(BadRequest, match="there are 1"):
            interval("mrr", outcomes_of({"emma": [5]}), over=over)
