"""What a person needs to read an outcome: the claim, what the critic quoted, and what the retriever put first.

A run holds offsets and ranks, and no text. Its outcomes can be read where the works are in the library, in the very
edition that was measured, or where the benchmark's own data are at hand.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core.domain import Span
from relic_core.errors import BadRequest, NotFound, RelicError
from relic_core.evaluation.benchmarks import registry
from relic_core.reporting.passages import quotation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain import Book, Claim, Offsets, Outcome, Place, QuotationContext, Run, Work
    from relic_core.ports import Benchmark
    from relic_core.reporting.passages import Passage
    from relic_core.wiring import App

_ASKED_AGAIN = 20.0
"""Seconds after which a benchmark whose data were not here is looked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A passage that an outcome points to.

    - `offsets`: where it stands in the text that was ranked.
    - `passage`: the words, ready to be set; None where the text is not here.
    - `place`: where it stands in its work; None where the text is not here, or is a given pool.
    - `work_id`: the stored work that it can be read in; empty where there is none.
    - `length`: sentences, as the text is cut here.
    """

    offsets: Offsets
    passage: Passage | None = None
    place: Place | None = None
    work_id: str = ""
    length: int = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is not here, for want of which an outcome is not read whole.

    - `what`: the text of a work, or the edition of it that was measured; the passages of given pools; of the claim: the
      benchmark's data, sound data, the works without which it is not opened, or the example in its data.
    - `name`: the work's title, or the benchmark's name.
    """

    what: Literal["work", "edition", "pool", "data", "damaged", "needs works", "example"]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutcome:
    """An outcome as a person reads it.

    - `claim`: what was asked, in the shape of the run; None where the benchmark's data are not here.
    - `first`: what the retriever put first, best first.
    - `missing`: what is not here; empty where all can be read.
    """

    claim: Claim | None
    gold: Quoted
    first: tuple[Quoted, ...]
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class _Opened:
    """A benchmark that was looked for: its windows by id, or why they cannot be had."""

    benchmark: Benchmark | None
    windows: dict[str, QuotationContext]
    missing: Literal["", "data", "damaged", "needs works"]
    at: float


class Outcomes:
    """The outcomes of runs, with their words."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._opened: dict[str, _Opened] = {}
        self._lock = threading.Lock()

    def read(self, run: Run, outcome: Outcome) -> ReadOutcome:
        """Gather what a person needs to read an outcome.

        The words come from the work of the library that has the very text that was measured, else from the
        benchmark's own data, where those are here.
        """
        return self.read_many([(run, outcome)])[0]

    def read_many(self, pairs: Sequence[tuple[Run, Outcome]]) -> tuple[ReadOutcome, ...]:
        """Gather what a person needs to read some outcomes, looking the library up once; see `read`."""
        stored = {summary.sha256: summary.id for summary in self._app.works.summaries()}
        known: dict[tuple[str, str], Missing] = {}
        return tuple(self._read(run, outcome, stored, known) for run, outcome in pairs)

    def _read(
        self, run: Run, outcome: Outcome, stored: Mapping[str, str], known: dict[tuple[str, str], Missing]
    ) -> ReadOutcome:
        opened = self._open(run.benchmark)
        window = opened.windows.get(outcome.example_id)
        if window is not None and window.book != outcome.book:
            window = None  # another benchmark of that name: its claim would be another claim
        missing = [] if window else [_no_claim(run, opened)]
        book = next((book for book in run.books if book.key == outcome.book), None)
        work_id = stored.get(book.sha256, "") if run.pool == "whole work" and book is not None else ""
        work = self._app.works.load(work_id) if work_id else _given(book, opened, window)
        if work is None:
            key = (run.pool, outcome.book)
            if key not in known:
                known[key] = self._no_text(run, book)
            missing.append(known[key])
        return ReadOutcome(
            claim=window.claim(run.shape) if window else None,
            gold=_quoted(work, outcome.gold, work_id=work_id),
            first=tuple(_quoted(work, hit, work_id=work_id) for hit in outcome.first),
            missing=tuple(missing),
        )

    def _open(self, name: str) -> _Opened:
        """Open a benchmark for its claims; what is not here is looked for again after a while."""
        with self._lock:
            found = self._opened.get(name)
            if found is None or (found.benchmark is None and time.monotonic() - found.at > _ASKED_AGAIN):
                found = self._opened[name] = self._look_for(name)
        return found

    def _look_for(self, name: str) -> _Opened:
        benchmark: Benchmark | None = None
        windows: Sequence[QuotationContext] = ()
        missing: Literal["", "data", "damaged", "needs works"] = ""
        try:
            benchmark = self._app.benchmarks.open(name)
            windows = benchmark.windows()
        except RelicError as error:  # told on the page beside what can be shown without the claims
            windows, missing = self._claims_alone(name, error)
        return _Opened(benchmark, {window.id: window for window in windows}, missing, time.monotonic())

    def _claims_alone(
        self, name: str, error: RelicError
    ) -> tuple[tuple[QuotationContext, ...], Literal["data", "damaged", "needs works"]]:
        """Read the claims of a benchmark that could not be opened; say why there are none."""
        try:
            windows = registry.unplaced(name, settings=self._app.settings)
        except RelicError as further:
            error, windows = further, ()
        else:
            if isinstance(error, NotFound):
                return windows, "needs works"
        return windows, "data" if isinstance(error, NotFound | BadRequest) else "damaged"

    def _no_text(self, run: Run, book: Book | None) -> Missing:
        """Say which text is not here."""
        if run.pool == "given" or book is None:
            return Missing("pool", run.benchmark)
        shelved = next((each for each in self._app.catalogue.shelf() if each.entry.slug == book.key), None)
        return Missing("edition" if shelved is not None and shelved.work is not None else "work", book.title)


def _no_claim(run: Run, opened: _Opened) -> Missing:
    return Missing(opened.missing if opened.missing and not opened.windows else "example", run.benchmark)


def _given(book: Book | None, opened: _Opened, window: QuotationContext | None) -> Work | None:
    """Take the text that was ranked from the benchmark; None where it is not here, or not the one that was ranked."""
    if opened.benchmark is None or window is None:
        return None
    work = opened.benchmark.work(window.pool)
    return work if book is None or book.sha256 in {"", work.sha256} else None


def _quoted(work: Work | None, offsets: Offsets, *, work_id: str) -> Quoted:
    """Find the sentences between two offsets, and set them."""
    span = None if work is None else _span(work, offsets)
    if work is None or span is None:
        return Quoted(offsets=offsets)
    return Quoted(
        offsets=offsets,
        passage=quotation(work, span),
        place=work.place(span) if work_id else None,
        work_id=work_id,
        length=span.length,
    )


def _span(work: Work, offsets: Offsets) -> Span | None:
    """Give the sentences that share a character with a stretch of the text; None where none does."""
    first = bisect_right(work.sentences, offsets[0], key=lambda sentence: sentence.end)
    last = bisect_left(work.sentences, offsets[1], key=lambda sentence: sentence.start)
    return Span(first, last - first) if last > first else None
