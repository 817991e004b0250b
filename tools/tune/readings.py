"""Readings: the same claims asked of spans that one encoder read in different ways, in context or alone.

How long the stretches are in which a work goes through an encoder, and how far they overlap, is chosen by figures: what
is cheap to encode must not be worse to search. Indexes are made for one work at a time in a folder that is thrown away.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.evaluation.runner import answer, by_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from relic_core.domain import ContextSize, Outcome, QuotationContext
    from relic_core.ports import Benchmark, Progress, Retriever

    Factory = Callable[[Path], Retriever]
    """Makes a retriever that keeps its indexes in a folder."""


def densest(benchmark: Benchmark, works: int) -> tuple[QuotationContext, ...]:
    """Take the windows of the works that are quoted most for their length: most claims for what encoding costs.

    - `works`: how many works; all windows where there are no more.

    Returns: in the order of the benchmark.
    """
    windows = benchmark.windows()
    pools = by_pool(windows)
    order = sorted(pools, key=lambda pool: (-len(pools[pool]) / max(1, len(benchmark.work(pool).sentences)), pool))
    taken = set(order[:works])
    return tuple(window for window in windows if window.pool in taken)


def every_other(windows: Sequence[QuotationContext]) -> tuple[QuotationContext, ...]:
    """Take the first, the third and so on by their ids: a half that is the same whatever the order.

    >>> from relic_core.domain import Span, QuotationContext
    >>> some = [QuotationContext(id=id, book="b", pool="b", left=("a",), right=(), gold=Span(0, 1)) for id in "cab"]
    >>> [window.id for window in every_other(some)]
    ['c', 'a']
    """
    half = {window.id for window in sorted(windows, key=lambda window: window.id)[::2]}
    return tuple(window for window in windows if window.id in half)


def read_and_rank(
    benchmark: Benchmark,
    windows: Sequence[QuotationContext],
    readings: Mapping[str, Factory],
    *,
    shapes: Sequence[ContextSize],
    progress: Progress,
) -> dict[tuple[str, ContextSize], tuple[Outcome, ...]]:
    """Rank the windows of a benchmark by several readings of its works.

    One reading is done with before the next is begun, so that one encoder is in memory at a time, and one work's index
    on disk.

    - `shapes`: how much context each claim takes, one after the other: works are encoded once for all.
    - `progress`: told how many works have been read, all readings counted.

    Returns: in the order of `windows`.

    Raises RelicError: as `relic_core.evaluation.runner.evaluate`.
    """
    pools = by_pool(windows)
    found: dict[tuple[str, ContextSize], tuple[Outcome, ...]] = {}
    done, total = 0, len(pools) * len(readings)
    for name, factory in readings.items():
        outcomes: dict[tuple[ContextSize, str], Outcome] = {}
        for pool, some in pools.items():
            work = benchmark.work(pool)
            with tempfile.TemporaryDirectory(prefix="relic-readings-") as folder:
                retriever = factory(Path(folder))
                lengths = sorted({window.gold.length for window in some})
                retriever.prepare(work, _preparing(progress, done, total, f"{name}: {work.title}"), lengths=lengths)
                for shape in shapes:
                    for window in some:
                        outcomes[shape, window.id] = answer(benchmark, retriever, window, work, shape)
            done += 1
            progress(done, total, name)
        for shape in shapes:
            found[name, shape] = tuple(outcomes[shape, window.id] for window in windows)
    return found


def _preparing(progress: Progress, works: int, of: int, title: str) -> Progress:
    """Turn the steps of a preparation into a share beside the title; the count of works stays."""

    def report(done: int, total: int, note: str = "") -> None:  # noqa: ARG001 - the port's signature
        progress(works, of, f"{title} {100 * done // total if total else 0}%")

    return report
