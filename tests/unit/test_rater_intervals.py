"""Intervals of measures of agreement: each sample is a table of its own, measured as any other table is."""

from __future__ import annotations

import numpy as np
import pytest

from relic_core.errors import BadRequest
from relic_core.evaluation import raters
from relic_core.evaluation.intervals import draws, units
from relic_core.evaluation.raters import KEYS
from tests.unit.test_raters import FLEISS, HAND, drawn


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
    assert {(around.over, around.works) for around in found.values()} == {
        ("works", 3) if len(set(works)) > 1 else ("examples", 1)
    }


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
    with pytest.raises(BadRequest, match="at least 100"):
        raters.intervals(HAND, ["emma"] * 3, samples=3)
