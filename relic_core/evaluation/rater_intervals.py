"""Intervals of measures of agreement: how far a kappa would move on other items, or on other works.

The percentile bootstrap of `intervals`: items are drawn with replacement, or whole works with all their items where
there are several, and each measure is computed anew from what was drawn. It speaks of other items and the same people:
what other people would have answered, it cannot tell.

A sample in which one category alone was chosen has no kappa. Where that happens in more than one sample of twenty, the
measure has no interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relic_core.evaluation.intervals import Interval, check_settings, draws, units
from relic_core.evaluation.raters import LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.evaluation.intervals import Members, Over
    from relic_core.evaluation.metrics import Values
    from relic_core.evaluation.raters import Counts

KEYS = ("fleiss", "randolph", "ac1", "alpha", "all agree", "none agree")
"""What has an interval: the measures of `raters.measures`, and the shares of `raters.all_and_none`."""

_ENOUGH = 0.95
"""Share of the samples in which a measure has to exist."""

_NOTHING = 1e-12


def agreement_intervals(
    counts: Counts, works: Sequence[str], *, seed: int = 0, samples: int = 2000, level: float = 0.95
) -> dict[str, Interval]:
    """Compute the intervals of all measures of agreement.

    - `counts`: how many raters chose each category; items in an order of their own, which is part of what the seed
      decides.
    - `works`: the work of each item. Works are drawn where there are two or more, else items.
    - `seed`, `samples`, `level`: as for `intervals.interval`.

    Returns: by the names of `KEYS`; without those that cannot be had: fewer than two items with two answers, or a
    measure that too many samples do not have.

    Raises BadRequest: a setting out of its range.
    """
    check_settings(samples=samples, level=level)
    rated = counts.sum(axis=1) >= LEAST
    used = counts[rated]
    of = [work for work, usable in zip(works, rated, strict=True) if usable]
    if len(used) < LEAST:
        return {}
    over: Over = "works" if len(set(of)) > 1 else "examples"
    members = units(of, over=over)
    drawn = [_weighted(used, times, members) for times in draws(members, samples=samples, seed=seed)]
    here = _weighted(used, np.ones((1, int(members.max()) + 1)), members)
    found = {}
    for key in KEYS:
        values = np.concatenate([each[key] for each in drawn])
        known = values[np.isfinite(values)]
        value = float(here[key][0])
        if np.isfinite(value) and len(known) >= _ENOUGH * len(values):
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
            found[key] = Interval(
                value=value, low=float(low), high=float(high), level=level, over=over, n=len(used), works=len(set(of))
            )
    return found


def _weighted(used: Counts, times: Values, members: Members) -> dict[str, Values]:
    """Compute each measure of samples, as `raters` does of one table; shape (rows,) each, NaN where there is none.

    - `used`: items with two answers or more.
    - `times`: how often each unit was drawn.
    """
    weights = times[:, members]  # (rows, n_items)
    raters = used.sum(axis=1).astype(np.float64)
    squares = (used**2).sum(axis=1)
    drawn = weights.sum(axis=1)

    def mean(each: Values) -> Values:
        means: Values = (weights @ each) / drawn
        return means

    observed = mean((squares - raters) / (raters * (raters - 1)))
    shares = (weights @ (used / raters[:, np.newaxis])) / drawn[:, np.newaxis]  # (rows, n_categories)
    totals = weights @ used.astype(np.float64)
    answers = totals.sum(axis=1)
    apart = weights @ ((raters**2 - squares) / (raters - 1))
    expected = (answers**2 - (totals**2).sum(axis=1)) / (answers - 1)
    categories = used.shape[1]
    return {
        "fleiss": _beyond(observed, (shares**2).sum(axis=1)),
        "randolph": _beyond(observed, np.full(len(observed), 1 / categories)),
        "ac1": _beyond(observed, (shares * (1 - shares)).sum(axis=1) / (categories - 1)),
        "alpha": 1 - np.divide(apart, expected, out=np.full(len(apart), np.nan), where=expected > _NOTHING),
        "all agree": mean((used.max(axis=1) == raters).astype(np.float64)),
        "none agree": mean((used.max(axis=1) == 1).astype(np.float64)),
    }


def _beyond(agreed: Values, chance: Values) -> Values:
    left = 1 - chance
    beyond: Values = np.divide(agreed - chance, left, out=np.full(len(agreed), np.nan), where=left > _NOTHING)
    return beyond
