"""What every part of the bench is given and brings back: effort, claims, figures beside their baselines."""

from __future__ import annotations

import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import numpy as np

from relic_core.domain import Claim
from relic_core.errors import NotFound
from relic_core.retrieval import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from relic_core.domain import Work, WorkSummary
    from relic_core.ports import Retriever
    from relic_core.wiring import App


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


P = ParamSpec("P")
T = TypeVar("T")

LONGEST = "War and Peace"
MIDDLING = "Pride and Prejudice"
"""The works that figures are laid down for; where they are not stored, the longest is taken."""

DENSE = "dense-relic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How often things are repeated, and how much of a work is taken.

    - `claims`: claims that are asked, at most.
    - `reference_claims`: claims of each kind that rank_bm25 is asked for every length; it takes over a second for each
      on a long work.
    - `spans`: spans of each length that sentence-transformers encodes; the whole is reckoned from them.
    - `builds`: how often an index is built.
    - `sentences`: of the work whose index is built for the encoder's rate and for the series of lengths.
    - `forwards`: full batches of the plain forward pass, each time.
    - `queries`, `library_queries`: questions whose time is taken, for one work and for the library.
    - `agreeing`: sentences of the part of a work that two number formats rank.
    - `starts`: how often the app is started.
    - `quotations`: quotations that are set into a source to be found again.
    """

    claims: int = 24
    reference_claims: int = 5
    spans: int = 1500
    builds: int = 3
    sentences: int = 8000
    forwards: int = 8
    queries: int = 100
    library_queries: int = 40
    agreeing: int = 1500
    starts: int = 3
    quotations: int = 200


USUAL = Effort()
QUICK = Effort(
    claims=4, reference_claims=1, spans=8, builds=1, sentences=160, forwards=1, queries=3, library_queries=2,
    agreeing=60, starts=1, quotations=6,
)  # fmt: skip
"""Just enough that every part runs: its figures mean nothing."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a part measures with.

    - `app`: where the works and their indexes are. Nothing in it is changed: what is built is built elsewhere.
    - `work_id`: the work that every part takes; empty for each part's own.
    - `full`: measure baselines whole that are reckoned from a part otherwise.
    - `claims`: what is asked: real ones, the longest first.
    - `say`: told what is being measured, for a person who waits.
    """

    app: App
    effort: Effort
    work_id: str
    full: bool
    claims: tuple[Claim, ...]
    say: Callable[[str], None]

    def work(self, preferred: str) -> Work:
        """Choose a work: the one that was named, else that of a title, else the longest that is stored.

        Raises NotFound: no work is stored.
        """
        return self.app.works.load(self._choose(preferred, self.app.works.summaries()).id)

    def prepared(self, preferred: str) -> Work | None:
        """Choose as `work` does among the works that are prepared for searching by meaning; None where none is."""
        ready = [each for each in self._named() if self.app.indexes.ready(each.id, DENSE)]
        return self.app.works.load(self._choose(preferred, ready).id) if ready else None

    def _named(self) -> tuple[WorkSummary, ...]:
        summaries = self.app.works.summaries()
        return tuple(each for each in summaries if self.work_id in {"", each.id})

    def _choose(self, preferred: str, among: tuple[WorkSummary, ...] | list[WorkSummary]) -> WorkSummary:
        if not among:
            raise NotFound("There is no work to measure with. Add the sample first: python -m relic_core setup.")
        for each in among:
            if each.id == self.work_id:
                return each
        titled = [each for each in among if each.title == preferred]
        return max(titled or among, key=lambda each: (each.sentences, each.id))

    def questions(self, count: int) -> list[Claim]:
        """Put together claims of real prose of which none is asked twice, so that no memory of answers can help.

        The left side is one critic's and the right another's.
        """
        shift = range(len(self.claims))
        pairs = (
            (left, self.claims[(at + by) % len(self.claims)]) for by in shift for at, left in enumerate(self.claims)
        )
        made = [Claim(left=left.left, right=right.right, masked=True) for left, right in islice(pairs, count)]
        asked = [claim for claim in made if claim.words]
        return [*asked, *self.claims][:count] if len(asked) < count else asked

    @contextmanager
    def apart(self) -> Iterator[Callable[[str], Retriever]]:
        """Make retrievers that have prepared nothing, with a folder of indexes of their own that is deleted after."""
        with tempfile.TemporaryDirectory() as folder:
            settings = replace(self.app.settings, indexes=Path(folder))
            yield lambda name: registry.create(name, settings=settings)


def named(work: Work) -> str:
    """Name a work with its size."""
    return f"{work.title} ({len(work.sentences):,} sentences)"


def head(work: Work, sentences: int) -> Work:
    """Take the first sentences of a work, as a work of its own."""
    kept = min(sentences, len(work.sentences))
    return replace(work, id=f"{work.id}-{kept}", sentences=work.sentences[:kept])


def timed(call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> tuple[float, T]:
    """Take the seconds of a call, and give what it gives."""
    began = time.perf_counter()
    value = call(*arguments, **options)
    return time.perf_counter() - began, value
