"""What a part of the bench brings back: figures beside their baselines and the targets they are held against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Bound = Literal["at least", "at most", "under"]

_TENTHS_FROM, _WHOLE_FROM = 10, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a figure has to come to.

    - `of`: which number of the figure is held against it.
    """

    of: Literal["ratio", "value"]
    bound: Bound
    limit: float

    def holds(self, number: float) -> bool:
        """Whether a number comes up to it.

        >>> Target(of="value", bound="under", limit=30).holds(30.0)
        False
        """
        if self.bound == "at least":
            return number >= self.limit
        return number <= self.limit if self.bound == "at most" else number < self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number.

    - `unit`: "ms", "s", "MB", "tokens/s", "%"; empty for a bare number.
    - `baseline`: what it is held against; empty where nothing of the kind was measured.
    - `baseline_value`: the baseline's number in the same unit; None where there is none.
    - `ratio`: how many times better than the baseline, or how large a share of it, as the part's page in the
      documentation says; None where there is no baseline.
    - `target`: what it has to come to; None where nothing was laid down.
    - `repetitions`: how many measurements the number stands for.
    """

    what: str
    value: float
    unit: str
    baseline: str = ""
    baseline_value: float | None = None
    ratio: float | None = None
    target: Target | None = None
    repetitions: int = 1

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        number = self.value if self.target.of == "value" else self.ratio
        return number is not None and self.target.holds(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one part has measured.

    - `on`: what it was measured on: a work and its size, the library.
    - `figures`: in the order in which they are read; empty where nothing could be measured.
    - `notes`: sentences that a reader of the figures needs: what was extrapolated, or why nothing was measured.
    - `details`: further facts as plain data, for those who compute with them.
    """

    part: str
    on: str
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)


def not_measured(part: str, why: str, *, on: str = "") -> Measured:
    """Say of a part why it has no figures."""
    return Measured(part=part, on=on, notes=(f"Not measured: {why}",))


def as_fast(what: str, seconds: Sequence[float], baseline: str, theirs: Sequence[float], **told: Any) -> Figure:  # noqa: ANN401 - passed on to Figure
    """Make a figure of the medians of two series of seconds; the ratio says how many times as fast ours is.

    - `what`, `baseline`: as of `Figure`.
    - `**told`: ``unit``, "s" or "ms", and whatever else `Figure` takes.
    """
    scale = 1000.0 if told["unit"] == "ms" else 1.0
    ours, other = float(np.median(seconds)), float(np.median(theirs))
    return Figure(
        what=what,
        value=ours * scale,
        baseline=baseline,
        baseline_value=other * scale,
        ratio=other / ours,
        repetitions=len(seconds),
        **told,
    )


def median_and_tail(what: str, seconds: Sequence[float], *, under: float | None = None) -> tuple[Figure, Figure]:
    """Make two figures of a series of seconds: its median, and its 95th percentile as a multiple of it.

    - `under`: the 95th percentile has to be less, in milliseconds.
    """
    median, tail = (float(np.percentile(seconds, share)) * 1000 for share in (50, 95))
    target = None if under is None else Target(of="value", bound="under", limit=under)
    return (
        Figure(what=f"{what}, median", value=median, unit="ms", repetitions=len(seconds)),
        Figure(
            what=f"{what}, 95th percentile",
            value=tail,
            unit="ms",
            baseline="its median",
            baseline_value=median,
            ratio=tail / median,
            target=target,
            repetitions=len(seconds),
        ),
    )


def number(value: float) -> str:
    """Write a number with about three digits.

    >>> number(1234.5), number(12.345), number(1.2345), number(0.012345)
    ('1,234', '12.3', '1.23', '0.012')
    """
    if abs(value) >= _WHOLE_FROM:
        return f"{value:,.0f}"
    if abs(value) >= _TENTHS_FROM:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"
