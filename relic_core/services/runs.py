"""Runs: those that came with the program and those made here; and what a person needs to read an outcome.

A run holds offsets and ranks, and no text. Its outcomes can be read where the works are in the library, in the very
edition that was measured, or where the benchmark's own data are at hand.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core.config import ASSETS
from relic_core.domain import Span
from relic_core.errors import BadRequest, NotFound, RelicError
from relic_core.evaluation.benchmarks import registry
from relic_core.formats.run_files import SUFFIX, read_run
from relic_core.reporting.passages import quotation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import Book, Claim, Offsets, Outcome, Place, Run, Window, Work
    from relic_core.ports import Benchmark
    from relic_core.reporting.passages import Passage
    from relic_core.services.workbench import Workbench

SHIPPED = ASSETS / "results"
"""Folder of the runs that come with the program."""

_ASKED_AGAIN = 20.0
"""Seconds after which a benchmark whose data were not here is looked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A passage that an outcome points to.

    Attributes
    ----------
    offsets : (int, int)
        Where it stands in the text that was ranked.
    passage : Passage or None
        The words, ready to be set; None where the text is not here.
    place : Place or None
        Where it stands in its work; None where the text is not here, or is a given pool.
    work_id : str
        The stored work that it can be read in; empty where there is none.
    length : int
        Sentences, as the text is cut here.
    """

    offsets: Offsets
    passage: Passage | None = None
    place: Place | None = None
    work_id: str = ""
    length: int = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is not here, for want of which an outcome is not read whole.

    Attributes
    ----------
    what : {"work", "edition", "pool", "data", "damaged", "needs works", "example"}
        The text of a work, or the edition of it that was measured; the passages of given pools; of the claim: the
        benchmark's data, sound data, the works without which it is not opened, or the example in its data.
    name : str
        The work's title, or the benchmark's name.
    """

    what: Literal["work", "edition", "pool", "data", "damaged", "needs works", "example"]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutcome:
    """An outcome as a person reads it.

    Attributes
    ----------
    claim : Claim or None
        What was asked, in the shape of the run; None where the benchmark's data are not here.
    gold : Quoted
        What the critic quoted.
    first : tuple of Quoted
        What the retriever put first, best first.
    missing : tuple of Missing
        What is not here; empty where all can be read.
    """

    claim: Claim | None
    gold: Quoted
    first: tuple[Quoted, ...]
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class _Opened:
    """A benchmark that was looked for: its windows by id, or why they cannot be had."""

    benchmark: Benchmark | None
    windows: dict[str, Window]
    missing: Literal["", "data", "damaged", "needs works"]
    at: float


class Runs:
    """The runs of a workbench.

    Parameters
    ----------
    workbench : Workbench
        With the store and the library.
    shipped : Path, optional
        Folder of the runs that come with the program.
    """

    def __init__(self, workbench: Workbench, *, shipped: Path | None = None) -> None:
        self._workbench = workbench
        self._folder = SHIPPED if shipped is None else shipped
        self._shipped: dict[str, tuple[Run, tuple[Outcome, ...]]] | None = None
        self._stored: dict[str, Run] = {}
        self._outcomes: dict[str, tuple[Run, tuple[Outcome, ...]]] = {}
        self._opened: dict[str, _Opened] = {}
        self._lock = threading.Lock()

    def all(self) -> tuple[Run, ...]:
        """List all runs, newest first, each id once.

        Raises
        ------
        BadBenchmark
            A run that came with the program is damaged.
        """
        shipped = self._came_with()
        runs = {run_id: run for run_id, (run, _) in shipped.items()}
        self._stored = {run.id: run for run in self._workbench.store.runs.all()}
        for run in self._stored.values():
            came = runs.get(run.id)
            newest = run if came is None or run.created > came.created else came
            runs[run.id] = dataclasses.replace(newest, tags=run.tags, shipped=came is not None)
        return tuple(sorted(runs.values(), key=lambda run: (-run.created.timestamp(), run.id)))

    def get(self, run_id: str) -> Run:
        """Return a run.

        Raises
        ------
        NotFound
            There is none, or it was removed.
        """
        for run in self.all():
            if run.id == run_id:
                return run
        return self._workbench.store.runs.get(run_id)

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """List the outcomes of a run in the order of its benchmark.

        Raises
        ------
        NotFound
            There is no such run, or it was removed.
        """
        shipped = self._came_with().get(run_id)
        run = self._stored.get(run_id)  # as listed last: asking the store anew takes longer than all the rest
        if shipped is not None and (run is None or run.created <= shipped[0].created):
            return shipped[1]
        if run is None:
            run = self._stored[run_id] = self._workbench.store.runs.get(run_id)
        kept = self._outcomes.get(run_id)
        if kept is None or kept[0] != run:  # measured again, here or by another program
            kept = run, self._workbench.store.runs.outcomes(run_id)
            with self._lock:
                self._outcomes[run_id] = kept
        return kept[1]

    def tag(self, run_id: str, tags: Sequence[str]) -> None:
        """Give a run these tags in place of those it has; one that came with the program is copied into the store.

        Raises
        ------
        NotFound
            There is no such run.
        """
        shipped = self._came_with().get(run_id)
        if shipped is not None:
            self._workbench.store.runs.add(*shipped)
        self._workbench.store.runs.tag(run_id, tags)

    def remove(self, run_id: str) -> None:
        """Hide a run; `restore` brings it back.

        Raises
        ------
        NotFound
            There is no such run.
        BadRequest
            It came with the program.
        """
        if run_id in self._came_with():
            raise BadRequest(
                f"The run '{run_id}' came with the program and cannot be removed: the documentation's figures rest on "
                "it. Choose other runs to leave it out of a table."
            )
        self._workbench.store.runs.remove(run_id)
        self._stored.pop(run_id, None)

    def restore(self, run_id: str) -> Run:
        """Bring a removed run back.

        Raises
        ------
        NotFound
            There never was such a run.
        """
        return self._workbench.store.runs.restore(run_id)

    def read(self, run: Run, outcome: Outcome) -> ReadOutcome:
        """Gather what a person needs to read an outcome.

        The words come from the work of the library that has the very text that was measured, else from the
        benchmark's own data, where those are here.

        Parameters
        ----------
        run : Run
            The run it belongs to.
        outcome : Outcome
            One of its outcomes.
        """
        return self.read_many([(run, outcome)])[0]

    def read_many(self, pairs: Sequence[tuple[Run, Outcome]]) -> tuple[ReadOutcome, ...]:
        """Gather what a person needs to read some outcomes, looking the library up once; see `read`."""
        stored = {summary.sha256: summary.id for summary in self._workbench.works.summaries()}
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
        work = self._workbench.works.load(work_id) if work_id else _given(book, opened, window)
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

    def _came_with(self) -> dict[str, tuple[Run, tuple[Outcome, ...]]]:
        """Read the runs that came with the program, once."""
        with self._lock:
            if self._shipped is None:
                read = [read_run(path, shipped=True) for path in sorted(self._folder.glob(f"*{SUFFIX}"))]
                self._shipped = {run.id: (run, outcomes) for run, outcomes in read}
            return self._shipped

    def _open(self, name: str) -> _Opened:
        """Open a benchmark for its claims; what is not here is looked for again after a while."""
        with self._lock:
            found = self._opened.get(name)
            if found is None or (found.benchmark is None and time.monotonic() - found.at > _ASKED_AGAIN):
                found = self._opened[name] = self._look_for(name)
        return found

    def _look_for(self, name: str) -> _Opened:
        benchmark: Benchmark | None = None
        windows: Sequence[Window] = ()
        missing: Literal["", "data", "damaged", "needs works"] = ""
        try:
            benchmark = self._workbench.benchmarks.open(name)
            windows = benchmark.windows()
        except RelicError as error:  # told on the page beside what can be shown without the claims
            windows, missing = self._claims_alone(name, error)
        return _Opened(benchmark, {window.id: window for window in windows}, missing, time.monotonic())

    def _claims_alone(
        self, name: str, error: RelicError
    ) -> tuple[tuple[Window, ...], Literal["data", "damaged", "needs works"]]:
        """Read the claims of a benchmark that could not be opened; say why there are none."""
        try:
            windows = registry.unplaced(name, settings=self._workbench.settings)
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
        shelved = next((each for each in self._workbench.catalogue.shelf() if each.entry.slug == book.key), None)
        return Missing("edition" if shelved is not None and shelved.work is not None else "work", book.title)


def _no_claim(run: Run, opened: _Opened) -> Missing:
    return Missing(opened.missing if opened.missing and not opened.windows else "example", run.benchmark)


def _given(book: Book | None, opened: _Opened, window: Window | None) -> Work | None:
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
