"""Paired comparison of two runs on the same examples, and the correction for making many comparisons.

What the p-value is, and what few works can show, is in docs/metrics.md, "Comparing two runs".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relic_core.domain import Outcome
from relic_core.errors import BadRequest
from relic_core.evaluation.intervals import Centre, Members, Over, centre_of, ends, resampled, sorted_by_id, units
from relic_core.evaluation.metrics import Values, centre, metric, values

Statistic = Callable[[npt.NDArray[np.bool_]], Values]

EXCHANGES = 9999
"""Exchanges drawn where they are too many to go through; p is then at least 1 / 10,000."""

_FEW = 13
"""Units up to which all exchanges (2 ** 13 = 8,192) are gone through."""
_SOME = 3
_CELLS = 2_000_000
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs compared by one metric.

    - `difference`, `low`, `high`: first minus second, and its bootstrap interval.
    - `p_value`: two-sided, of the paired randomisation test; not corrected for other comparisons (`holm`).
    - `better`, `worse`: on how many examples the first run does better, and worse, than the second.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float
    exact: bool
    over: Over
    n: int
    better: int
    worse: int

    @property
    def flat(self) -> bool:
        """Whether all draws gave the same difference: no measure of certainty then."""
        return self.high - self.low <= _ROUNDING * max(1.0, abs(self.high))


def compare(
    name: str, first: Sequence[Outcome], second: Sequence[Outcome], *, over: Over, seed: int = 0, samples: int = 2000
) -> Comparison:
    """Compare two runs on the same examples.

    Raises BadRequest: the runs are not of the same examples and golds among the same candidates, there are fewer than
    two units, or the metric is no merit.
    """
    card = metric(name)
    if card.higher_is_better is None:
        raise BadRequest(f"{card.label} is a property of the examples, not of a retriever: compare by another metric.")
    first, second = _matched(first, second)
    a, b = values(name, first), values(name, second)
    works = [each.book for each in first]
    members = units(works, over=over)
    how = centre_of(name)
    # The same seed draws the same samples for both runs: the interval is of paired differences.
    drawn = resampled(a, members, centre=how, samples=samples, seed=seed) - resampled(
        b, members, centre=how, samples=samples, seed=seed
    )
    low, high = ends(drawn)
    p_value, exact = _randomised(a, b, members, how, seed)
    sign = 1 if card.higher_is_better else -1
    return Comparison(
        first=centre(name, a),
        second=centre(name, b),
        difference=centre(name, a) - centre(name, b),
        low=low,
        high=high,
        p_value=p_value,
        exact=exact,
        over=over,
        n=len(first),
        better=int(np.sum(sign * (a - b) > 0)),
        worse=int(np.sum(sign * (a - b) < 0)),
    )


def holm(p_values: Sequence[float] | Values) -> Values:
    """Correct p-values for making many comparisons (Holm 1979).

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on; none may fall below one before it, and
    none exceeds 1. Calling those below 0.05 differences keeps the chance of a single false one under 5%, whatever the
    comparisons have to do with each other.

    Returns: in the order given.

    >>> holm([0.04, 0.01, 0.03]).tolist()
    [0.06, 0.03, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def _matched(first: Sequence[Outcome], second: Sequence[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    a, b = sorted_by_id(first), sorted_by_id(second)
    a_ids, b_ids = [each.example_id for each in a], [each.example_id for each in b]
    if a_ids != b_ids:
        only_a, only_b = sorted(set(a_ids) - set(b_ids)), sorted(set(b_ids) - set(a_ids))
        raise BadRequest(
            f"The two runs were not measured on the same examples: {len(only_a)} only in the first ({_some(only_a)}), "
            f"{len(only_b)} only in the second ({_some(only_b)}). Choose two runs of one benchmark, and the same "
            "filter for both."
        )
    other = [x.example_id for x, y in zip(a, b, strict=True) if (x.book, x.candidates) != (y.book, y.candidates)]
    if other:
        raise BadRequest(
            f"In {len(other)} examples the two runs chose from other candidates ({_some(other)}): another edition or "
            "segmentation of the work, or given pools against whole works. Their ranks cannot be compared; measure "
            "both on the same."
        )
    moved = [x.example_id for x, y in zip(a, b, strict=True) if (x.gold, x.length) != (y.gold, y.length)]
    if moved:
        raise BadRequest(
            f"In {len(moved)} examples the quotation stands at another place or is of another length ({_some(moved)}): "
            "another edition or segmentation of the work. Measure both runs on the same data."
        )
    return a, b


def _some(ids: Sequence[str]) -> str:
    return (", ".join(ids[:_SOME]) + (", ..." if len(ids) > _SOME else "")) or "none"


def _randomised(a: Values, b: Values, members: Members, how: Centre, seed: int) -> tuple[float, bool]:
    """Two-sided p of the paired randomisation test, and whether it is exact."""
    differs = np.unique(members[a != b])  # exchanging the other units changes nothing
    if not differs.size:
        return 1.0, True
    place = np.full(int(members.max()) + 1, -1)
    place[differs] = np.arange(differs.size)
    own = place[members]  # (n_examples,): which exchange decides on the example, -1 for none
    statistic = _mean_difference(a, b, own) if how == "mean" else _median_difference(a, b, own)
    observed = abs(float(statistic(np.zeros((1, differs.size), dtype=bool))[0]))
    least = observed - _ROUNDING * max(1.0, observed)

    exact = differs.size <= _FEW
    as_large = total = 0
    for exchanged in _exchanges(differs.size, len(a), exact=exact, seed=seed):
        as_large += int(np.sum(np.abs(statistic(exchanged)) >= least))
        total += len(exchanged)
    # Drawn exchanges and the one that was observed: so that p is never 0 (Phipson and Smyth 2010).
    return (as_large / total if exact else (as_large + 1) / (total + 1)), exact


def _exchanges(count: int, examples: int, *, exact: bool, seed: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Give which units are exchanged, in portions of shape (rows, count): all ways there are, or some drawn."""
    if exact:
        yield (np.arange(2**count)[:, np.newaxis] >> np.arange(count)) % 2 == 1
        return
    generator = np.random.default_rng([seed, 1])  # another stream than that of the interval
    portion = max(1, _CELLS // max(count, examples))
    for first in range(0, EXCHANGES, portion):
        yield generator.integers(2, size=(min(portion, EXCHANGES - first), count)) == 1


def _mean_difference(a: Values, b: Values, own: Members) -> Statistic:
    inside = own >= 0
    sums = np.bincount(own[inside], weights=(a - b)[inside])

    def statistic(exchanged: npt.NDArray[np.bool_]) -> Values:
        difference: Values = np.where(exchanged, -1.0, 1.0) @ sums / len(a)
        return difference

    return statistic


def _median_difference(a: Values, b: Values, own: Members) -> Statistic:
    def statistic(exchanged: npt.NDArray[np.bool_]) -> Values:
        swapped = np.where(own >= 0, exchanged[:, own], False)  # (rows, n_examples)
        difference: Values = np.median(np.where(swapped, b, a), axis=1) - np.median(np.where(swapped, a, b), axis=1)
        return difference

    return statistic
