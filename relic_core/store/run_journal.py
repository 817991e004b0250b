"""A run while it is being measured: outcomes appended to a file as they come, so that a run that was stopped goes on.

The first line says what is measured and by which code; each further line is an outcome, or a work that has been entered
with what its index looked like. In front of each line stands a digest of it. A process that is killed leaves at most
its last line broken, and that one is ignored.
What was measured with another program or with an index that has changed since is not gone on with.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from relic_core.domain import Outcome
from relic_core.errors import written_to
from relic_core.formats.run_files import outcome_line, read_outcome

FORMAT = "unfinished run/2"

ASIDE = ".aside"
"""Suffix of what was measured before and is not gone on with: the last such file is kept until the run is finished."""

_DIGITS = 16

writing = partial(written_to, called="runs under way", setting="RELIC_DATA", then="measure again, and the run goes on")
"""Says in plain words why a folder of runs under way cannot be written."""


@dataclass(frozen=True, slots=True)
class WorkState:
    """A work whose windows were begun, with a digest of each index that the retriever had of it, and their bytes."""

    work_id: str
    fingerprint: str
    index: tuple[str, ...]
    size: int


@dataclass(slots=True)
class Partial:
    """How far a run has come."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    seconds: float = 0.0
    usage: Counter[str] = field(default_factory=Counter)
    works: dict[str, WorkState] = field(default_factory=dict)


class RunJournal:
    """The file of one run under way; only who holds the run's lock may use it."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self._path = path
        self._header = {"format": FORMAT, **header}
        self._file: IO[bytes] | None = None
        self._state = Partial()

    @contextmanager
    def opened(
        self, still: Callable[[WorkState], bool], say: Callable[[str], None], *, examples: int
    ) -> Iterator[Partial]:
        """Take up what is there, and keep the file open for what comes; `say` gets that it goes on, or why not.

        - `still`: whether the index of a work that was entered earlier is as it was then.
        """
        with writing(self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            whole, why = self._read(still)
            if why:
                self._path.replace(_aside(self._path))
                say(
                    f"What was measured of this run before is not gone on with: {why}. It begins anew; what there was "
                    f"is set aside in {_aside(self._path)}."
                )
            elif self._state.outcomes:
                say(f"Goes on: {len(self._state.outcomes):,} of {examples:,} were measured.")
            file = self._path.open("r+b" if whole else "wb")
        with file:
            self._file = file
            try:
                with writing(self._path.parent):
                    file.truncate(whole)  # a line that was cut must not run into the next
                    file.seek(whole)
                if not whole:
                    self._append(self._header)
                yield self._state
            finally:
                self._file = None

    def keep(self, outcome: Outcome, seconds: float, usage: Mapping[str, float] | None = None) -> None:
        """Add an outcome, and what a server took for it."""
        self._state.outcomes[outcome.example_id] = outcome
        self._state.seconds += seconds
        self._state.usage.update(usage or {})
        line = ["outcome", seconds, outcome_line(outcome, book=outcome.book, kind=outcome.kind)]
        self._append([*line, dict(usage)] if usage else line)

    def enter(self, work: WorkState) -> None:
        """Note that the windows of a work are begun."""
        if self._state.works.get(work.fingerprint) != work:
            self._state.works[work.fingerprint] = work
            self._append(["work", work.work_id, work.fingerprint, list(work.index), work.size])

    def _append(self, line: object) -> None:
        if self._file is None:
            raise ValueError("the file of the run is not open")
        with writing(self._path.parent):
            self._file.write(_written(line))
            self._file.flush()

    def _read(self, still: Callable[[WorkState], bool]) -> tuple[int, str]:
        """Read what is there into the state.

        Returns: how many bytes hold whole lines and may stay, 0 to begin anew; and why it does, where something was.
        """
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return 0, ""
        whole = data.rfind(b"\n") + 1
        if not whole:
            return 0, ""  # stopped before the first line was whole
        lines = data[:whole].splitlines()
        try:
            why = self._differs(_parsed(lines[0]))
            for line in [] if why else lines[1:]:
                self._take(_parsed(line))
        except (ValueError, TypeError, LookupError, RecursionError):
            why = "its file is damaged"
        if not why and not all(map(still, self._state.works.values())):
            why = "an index that it was measured with has changed since"
        if why:
            self._state = Partial()
            return 0, why
        return whole, ""

    def _differs(self, found: object) -> str:
        """Say what in the first line is not as it is now; empty where nothing is."""
        if found == self._header:
            return ""
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            return "its file is of another version of this program"
        if found.get("code") != self._header.get("code"):
            return f"it was measured by another version of this program ({found.get('code')})"
        return "it was measured with other settings"

    def _take(self, line: list[Any]) -> None:
        if line[0] == "outcome":
            _, seconds, short, *usage = line
            outcome = read_outcome(short)
            self._state.outcomes[outcome.example_id] = outcome
            self._state.seconds += float(seconds)
            self._state.usage.update(*usage)
        elif line[0] == "work":
            _, work_id, fingerprint, index, size = line
            self._state.works[fingerprint] = WorkState(work_id, fingerprint, tuple(index), size)
        else:
            raise ValueError(f"a line of an unknown kind: {line[0]!r:.40}")


def remove(path: Path) -> None:
    """Delete the journal of a run, and what was set aside: the run is kept elsewhere."""
    path.unlink(missing_ok=True)
    _aside(path).unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    return path.with_name(path.name + ASIDE)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest()[:_DIGITS].encode()


def _written(line: object) -> bytes:
    content = json.dumps(line, separators=(",", ":")).encode()
    return _digest(content) + b" " + content + b"\n"


def _parsed(line: bytes) -> Any:  # noqa: ANN401 - as read from JSON
    """Read a line; ValueError where it is not what was written."""
    digest, _, content = line.partition(b" ")
    if digest != _digest(content):
        raise ValueError("a line is not what its digest says")
    return json.loads(content)
