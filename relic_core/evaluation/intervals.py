"""Intervals by the percentile bootstrap: how far a figure would move on other examples, or on other works.

What each speaks of, and which are refused, is in docs/metrics.md, "Intervals".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from relic_core.domain import Outcome
from relic_core.errors import BadRequest
from relic_core.evaluation.metrics import Values, values

Over = Literal["examples", "works"]
"""What is drawn: single examples, or whole works with all their examples."""

Centre = Literal["mean", "median"]

Members = npt.NDArray[np.int64]
"""Shape (n_examples,): to which of the units 0 .. m - 1 that are drawn together each example belongs."""

LEVEL = 0.95
"""Share of the samples that lies within an interval."""
_ROUNDING = 1e-12
_CELLS = 4_000_000
"""Numbers held at once while drawing: samples are drawn in portions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure and the interval around it."""

    value: float
    low: float
    high: float

    @property
    def flat(self) -> bool:
        """Whether all samples gave the same figure, as where all examples are misses: no measure of certainty then."""
        return self.high - self.low <= _ROUNDING * max(1.0, abs(self.high))


def interval(name: str, outcomes: Sequence[Outcome], *, over: Over, seed: int = 0, samples: int = 2000) -> Interval:
    """Compute a metric's figure with its interval.

    - `outcomes`: in any order: the order does not change the interval.

    Raises BadRequest: fewer than two units to draw from.
    """
    order = sorted_by_id(outcomes)
    figures = values(name, order)
    works = [each.book for each in order]
    return interval_of(figures, works, centre=centre_of(name), over=over, seed=seed, samples=samples)


def interval_of(
    figures: Values, works: Sequence[str], *, over: Over, centre: Centre = "mean", seed: int = 0, samples: int = 2000
) -> Interval:
    """Compute the mean or median of per-example values with its interval; see `interval`.

    - `figures`: one value per example, in an order of their own (by id): the order is part of what the seed decides.
    """
    members = units(works, over=over)
    drawn = resampled(figures, members, centre=centre, samples=samples, seed=seed)
    low, high = ends(drawn)
    return Interval(value=float(np.median(figures) if centre == "median" else np.mean(figures)), low=low, high=high)


def over_of(works: Sequence[str]) -> Over:
    """Choose what is drawn: works where there are several, else examples."""
    return "works" if len(set(works)) > 1 else "examples"


def sorted_by_id(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Put outcomes in the order of their ids, in which samples are drawn."""
    return sorted(outcomes, key=lambda each: (each.example_id, each.book, each.rank or 0, each.candidates))


def centre_of(name: str) -> Centre:
    """Say how a metric brings its values down to one figure."""
    return "median" if name == "median-rank" else "mean"


def ends(drawn: Values) -> tuple[float, float]:
    """Give the ends of the interval that holds the share `LEVEL` of some samples' figures."""
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def units(works: Sequence[str], *, over: Over) -> Members:
    """Give the units that are drawn numbers.

    Returns: each example's unit: its work, in the order of the works' keys, or itself.

    Raises BadRequest: there are fewer than two units.

    >>> units(["emma", "dubliners", "emma"], over="works")
    array([1, 0, 1])
    """
    if len(works) < 2:  # noqa: PLR2004 - nothing is drawn from one
        raise BadRequest(f"An interval needs at least two examples, and there are {len(works)}.")
    if over == "examples":
        return np.arange(len(works), dtype=np.int64)
    keys, members = np.unique(np.array(works, dtype=str), return_inverse=True)
    if len(keys) == 1:
        raise BadRequest(
            f"All {len(works)} examples are of one work ({keys[0]}), so nothing can be said of other works. Take the "
            "interval over examples: it speaks of this work alone."
        )
    return members.astype(np.int64)


def resampled(figures: Values, members: Members, *, centre: Centre, samples: int, seed: int) -> Values:
    """Draw units with replacement and compute the figure of each sample.

    - `samples`, `seed`: how many samples, and what decides them: with the same seed and `members`, two calls draw the
      same samples.
    """
    drawn = [
        _means(figures, members, times) if centre == "mean" else _medians(figures, members, times)
        for times in draws(members, samples=samples, seed=seed)
    ]
    return np.concatenate(drawn)


def draws(members: Members, *, samples: int, seed: int) -> Iterator[Values]:
    """Draw units with replacement, as many as there are, in portions.

    Yields: how often each unit was drawn in each of some samples.
    """
    count = int(members.max()) + 1
    generator = np.random.default_rng(seed)
    portion = max(1, _CELLS // max(count, len(members)))
    for first in range(0, samples, portion):
        rows = min(portion, samples - first)
        picks = generator.integers(count, size=(rows, count)) + np.arange(rows)[:, np.newaxis] * count
        yield np.bincount(picks.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)


def _means(figures: Values, members: Members, times: Values) -> Values:
    sums = np.bincount(members, weights=figures)
    sizes = np.bincount(members).astype(np.float64)
    means: Values = (times @ sums) / (times @ sizes)
    return means


def _medians(figures: Values, members: Members, times: Values) -> Values:
    """Median of each sample, the mean of the two in the middle where its size is even; shape (rows,)."""
    order = np.argsort(figures, kind="stable")
    reached = np.cumsum(times[:, members[order]], axis=1)  # (rows, n_examples): how many values up to this one
    size = reached[:, -1:]
    lower = np.argmax(reached >= (size + 1) // 2, axis=1)
    upper = np.argmax(reached >= size // 2 + 1, axis=1)
    medians: Values = (figures[order][lower] + figures[order][upper]) / 2
    return medians
