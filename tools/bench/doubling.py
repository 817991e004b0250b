"""Whether cost grows in proportion to a work's length: a series of lengths, each twice the one before.

Of times ``t`` of works of ``w`` words the exponent ``p`` of ``t = c * w^p`` is fitted by least squares in logarithms:
1 is linear, 2 quadratic, 0 no growth at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LENGTHS
from tools.bench.bench import LONGEST, head, named, timed
from tools.bench.building import seconds_of_a_build
from tools.bench.figures import Figure, Measured, Target, not_measured, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.domain import Work
    from tools.bench.bench import Bench

PART = "doubling"
BASELINE = "linear"

_PARTS = (16, 8, 4, 2, 1)
_LINEAR = 1.15
"""An exponent up to this is taken for linear: the parts differ in their prose as well as in their length."""
_QUERIES = 15


def measure(bench: Bench) -> Measured:
    """Measure index, tables and queries of ever longer beginnings of the longest work."""
    work = bench.work(LONGEST)
    whole, bounded = _series(work, len(work.sentences)), _series(work, bench.effort.sentences)
    if len(bounded) < len(_PARTS):
        return not_measured(PART, f"{work.title} is too short to be cut into a series of lengths.", on=named(work))
    made: list[tuple[str, str, list[tuple[Work, float]]]] = []
    series: tuple[tuple[str, str, list[Work], Callable[[Bench, Work], float]], ...] = (
        ("building the index", "s", bounded, seconds_of_a_build),
        ("tables of BM25 for all lengths", "s", whole, _tables),
        ("a query by BM25", "ms", whole, _query),
    )
    for what, unit, works, seconds_of in series:
        times = []
        for part in works:
            bench.say(f"{what}, {len(part.sentences):,} sentences")
            times.append((part, seconds_of(bench, part)))
        made.append((what, unit, times))
    figures = []
    details = {}
    for what, unit, times in made:
        words = [_words(part) for part, _ in times]
        seconds = [each for _, each in times]
        scale = 1000.0 if unit == "ms" else 1.0
        power = exponent(words, seconds)
        figures.append(
            Figure(
                what=f"{what}: exponent over {_span(times)} sentences",
                value=power,
                unit="",
                baseline=BASELINE,
                baseline_value=1.0,
                ratio=power,
                target=Target(of="value", bound="at most", limit=_LINEAR),
                repetitions=len(times),
            )
        )
        details[what] = [
            {"sentences": len(part.sentences), "words": count, unit: each * scale}
            for (part, each), count in zip(times, words, strict=True)
        ]
    notes = tuple(f"{what}: {', '.join(_told(each, unit) for each in times)}." for what, unit, times in made)
    return Measured(part=PART, on=named(work), figures=tuple(figures), notes=notes, details=details)


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit the power with which time grows.

    >>> round(exponent([100, 200, 400], [1.0, 2.0, 4.0]), 6), round(exponent([100, 200, 400], [1.0, 4.0, 16.0]), 6)
    (1.0, 2.0)
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _series(work: Work, longest: int) -> list[Work]:
    # Never the whole: what other parts have counted of its words would still be in memory.
    most = min(longest, len(work.sentences) - 1)
    sizes = dict.fromkeys(max(len(LENGTHS), most // part) for part in _PARTS)
    return [head(work, size) for size in sizes]


def _span(times: Sequence[tuple[Work, float]]) -> str:
    return f"{len(times[0][0].sentences):,} to {len(times[-1][0].sentences):,}"


def _words(work: Work) -> int:
    return sum(len(work.text[each.start : each.end].split()) for each in work.sentences)


def _tables(bench: Bench, work: Work) -> float:
    with bench.apart() as make:
        bm25 = make("bm25")
        return timed(lambda: [bm25.score(bench.claims[0], work, length) for length in LENGTHS])[0]


def _query(bench: Bench, work: Work) -> float:
    with bench.apart() as make:
        bm25 = make("bm25")

        def ask(length: int) -> float:
            return timed(bm25.score, bench.claims[0], work, length)[0]

        for length in LENGTHS:
            ask(length)
        return float(np.median([ask(length) for length in LENGTHS for _ in range(_QUERIES)]))


def _told(measured: tuple[Work, float], unit: str) -> str:
    work, seconds = measured
    return f"{len(work.sentences):,} sentences {number(seconds * (1000.0 if unit == 'ms' else 1.0))} {unit}"
