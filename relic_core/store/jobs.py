"""Jobs as folders: what is asked, an append-only journal, a lock held while the job lives, a mark that asks it to stop.

A folder needs no store, so a job never holds the store to say how far it has come. What state a job is in is worked
out from its folder each time and kept nowhere else. Of jobs that have ended the store has a copy.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, Field, TypeAdapter

from relic_core.domain import Job, JobState
from relic_core.domain.figures import many
from relic_core.domain.records import WAITING
from relic_core.errors import JobCancelled, NotFound, RelicError
from relic_core.formats.files import Count, Strict, records_in_lines
from relic_core.installed import COMMAND
from relic_core.store import locks
from relic_core.store.rows import Rows, columns_of, insert, record
from relic_core.text.decoding import storable

_SHORTEST_PAUSE = 0.25
_LOOK_SECONDS = 2.0
"""Between two looks at what a job waits for."""
STOPPED = "It stopped unexpectedly; start it again to go on."
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_ID = re.compile(r"[a-z2-7]{8}")
ENDED = "ended"
_JOURNAL = "journal.jsonl"
_AFTER_STOPPING = {
    "mine": "What was mined until then is kept. To go on, mine the same files again: press Go on where it is offered, "
    f"or run {COMMAND} mine with the same folder, archive or file."
}
"""Kind of job → what is said of one that was stopped."""
_ENDED_KEPT = 200
"""Jobs whose output can still be read after they have ended; the store knows the others too."""
_HALF_MADE_SECONDS = 86_400.0
_COLUMNS = ("id", "kind", "title", "subject", "state", "done", "total", "note", "created", "updated")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM jobs "  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """What a job is asked to do; `arguments` are JSON, `created` is in UTC, the others as in `domain.Job`."""

    id: str
    kind: str
    title: str
    subject: str
    arguments: dict[str, Any]
    created: AwareDatetime


_SPEC = TypeAdapter(JobSpec)


class _Event(Strict):
    """A line of a journal."""

    at: AwareDatetime = Field(strict=False)
    state: JobState | None = None
    note: str | None = None
    done: Count | None = None
    total: Count | None = None


def append_line(path: Path, record: Mapping[str, object]) -> None:
    """Append a record to a file of JSON lines, in one write."""
    journal = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.write(journal, (json.dumps(record) + "\n").encode())
    finally:
        os.close(journal)


class JobFolder:
    """One job on disk, in a folder named by its id."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(
        cls, jobs: Path, *, kind: str, title: str, subject: str, arguments: dict[str, Any]
    ) -> tuple[JobFolder, int]:
        """Make the folder of a new job, and a file descriptor that keeps it alive, which its process inherits."""
        job_id = "".join(secrets.choice(_LETTERS) for _ in range(8))
        folder = cls(jobs / job_id)
        folder.path.mkdir(parents=True)
        with contextlib.ExitStack() as undo:
            undo.callback(folder.remove)
            alive = locks.acquire(folder.path / "alive")
            if alive is None:
                raise FileExistsError(folder.path)
            undo.callback(os.close, alive)
            spec = JobSpec(
                id=job_id, kind=kind, title=title, subject=subject, arguments=arguments, created=datetime.now(UTC)
            )
            new = folder.path / "job.json.new"
            # In ASCII, which also holds names of files that are not in UTF-8.
            new.write_text(json.dumps(asdict(spec), indent=1, default=str), encoding="utf-8")
            new.rename(folder.path / "job.json")
            undo.pop_all()  # it has been made
        return folder, alive

    @classmethod
    def find(cls, jobs: Path, job_id: str) -> JobFolder:
        """Return the folder of a job by its id."""
        folder = cls(jobs / job_id)
        try:
            found = bool(_ID.fullmatch(job_id)) and (folder.path / "job.json").is_file()
        except OSError:
            found = False  # out of reach
        if not found:
            raise NotFound(f"There is no job '{job_id}' in {jobs}.")
        return folder

    @classmethod
    def all(cls, jobs: Path) -> tuple[JobFolder, ...]:
        """List the jobs of a folder; a folder that is not there, or cannot be looked into, has none."""
        try:
            return tuple(cls(path.parent) for path in sorted(jobs.glob("*/job.json")))
        except OSError:
            return ()

    @staticmethod
    def sweep(jobs: Path) -> None:
        """Remove what nobody will ask for: all but the latest jobs put away, and folders that never became a job.

        Call it where no other process makes a job.
        """
        ended = sorted((jobs / ENDED).glob("*"), key=_modified, reverse=True)
        yesterday = time.time() - _HALF_MADE_SECONDS
        half_made = [
            path
            for path in jobs.iterdir()
            if _ID.fullmatch(path.name) and not (path / "job.json").exists() and _modified(path) < yesterday
        ]
        for path in (*ended[_ENDED_KEPT:], *half_made):
            JobFolder(path).remove()

    def put_away(self) -> None:
        """Move the folder of a job that the store has in among those that have ended, where its output can be read."""
        ended = self.path.parent / ENDED
        ended.mkdir(exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # somebody else has put it away
            self.path.rename(ended / self.path.name)

    def remove(self) -> None:
        """Remove the folder with all that is in it, as far as that can be done."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def spec(self) -> JobSpec:
        """What the job was asked to do. Raises NotFound: the folder is not there or is not a job's."""
        try:
            return _SPEC.validate_python(json.loads((self.path / "job.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise NotFound(f"{self.path} is not the folder of a job: {error}.") from error

    @property
    def stop_asked(self) -> bool:
        """Whether somebody asked the job to stop."""
        return (self.path / "cancel").exists()

    @property
    def gave_way(self) -> bool:
        """Whether the job was stopped for another, and is begun again behind it."""
        with contextlib.suppress(OSError):
            return (self.path / "cancel").stat().st_size > 0
        return False

    def ask_to_stop(self, behind: str = "") -> None:
        """Leave the mark that the job looks for; `behind` which other job it is begun again, if any."""
        (self.path / "cancel").write_text(behind, encoding="utf-8")

    def append(self, **event: str | int) -> None:
        """Write one event: `state`, `note`, or `done` with `total`."""
        append_line(self.path / _JOURNAL, {"at": datetime.now(UTC).isoformat(), **event})

    def job(self) -> Job:
        """Work out where the job stands. Raises NotFound: the folder is not there or is not a job's."""
        # The lock first: of a job found dead here the journal is complete by now.
        alive = locks.is_held(self.path / "alive")
        spec = self.spec
        state: JobState = "queued"
        note, done, total, updated = "", 0, 0, spec.created
        pace, unread = _Pace(), 0
        events = records_in_lines(self.path / _JOURNAL, lambda line: _Event.model_validate(json.loads(line)))
        for event in events:
            if event is None:
                unread += 1
                continue
            updated, state, note = event.at, event.state or state, note if event.note is None else event.note
            if event.done is not None and event.total is not None:
                done, total = event.done, event.total
                pace.see(updated, done, total)
        active = state in {"queued", "running"}
        if active and not alive:
            state, note = ("cancelled", stopped_note(spec.kind)) if self.stop_asked else ("failed", STOPPED)
        elif active and self.stop_asked:
            note = "Stopping."
        if unread:
            note = f"{note} {many(unread, 'line')} of its journal cannot be read.".strip()
        return Job(
            id=spec.id,
            kind=spec.kind,
            title=storable(spec.title),
            subject=storable(spec.subject),
            state=state,
            done=done,
            total=total,
            note=storable(note),
            created=spec.created,
            updated=updated,
            seconds_left=pace.seconds_left(datetime.now(UTC)) if state == "running" else None,
        )


class JobReport:
    """Writes progress into a journal, not too often, and stops the work when that was asked for."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._began = self._written = time.monotonic()
        self._first = True
        self._waits_for = ""
        self._looked = -math.inf

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Write how far the work has come, now and then."""
        self.stop_if_asked()
        now = time.monotonic()
        # The longer it has been running the seldomer, so that the journal of a long job stays quick to read.
        pause = max(_SHORTEST_PAUSE, (now - self._began) / 2_000)
        if self._first or now - self._written >= pause or done >= total:
            self._first = False
            self._written = now
            self._folder.append(done=done, total=total, **({"note": note} if note else {}))

    def state(self, state: str, note: str = "") -> None:
        """Write a change of state."""
        self._folder.append(state=state, note=note)

    def waiting(self, say: Callable[[], str]) -> None:
        """Tell what the job waits for; it is looked up now and then, and written where it has changed."""
        self.stop_if_asked()
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        reason = say()
        if reason != self._waits_for:
            self._waits_for = reason
            self._first = False
            self.state("queued", reason)

    def store_in_use(self) -> None:
        """Tell that the job waits for the store, now and then."""
        self.stop_if_asked()
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._folder.append(note=WAITING)

    def stop_if_asked(self) -> None:
        """Raise `JobCancelled` where somebody asked the job to stop."""
        if self._folder.stop_asked:
            raise JobCancelled


class _Pace:
    """Guesses the time left from the steps done since the present stretch of work began."""

    def __init__(self) -> None:
        self._first: tuple[datetime, int, int] | None = None
        self._last: tuple[datetime, int, int] | None = None

    def see(self, at: datetime, done: int, total: int) -> None:
        if self._last is None or total != self._last[2] or done < self._last[1]:
            self._first = (at, done, total)
        self._last = (at, done, total)

    def seconds_left(self, now: datetime) -> float | None:
        if self._first is None or self._last is None:
            return None
        (began, done_then, _), (latest, done, total) = self._first, self._last
        seconds = (latest - began).total_seconds()
        if done <= done_then or seconds <= 0:
            return None
        expected = (total - done) * seconds / (done - done_then)
        return max(0.0, math.ceil(expected - (now - latest).total_seconds()))


def stopped_note(kind: str) -> str:
    """Say of a job of this kind that it was stopped, and what becomes of what it had done.

    >>> stopped_note("add")
    'Stopped.'
    """
    return f"Stopped. {_AFTER_STOPPING[kind]}" if kind in _AFTER_STOPPING else "Stopped."


def failed_note(error: Exception) -> str:
    """Say why a job failed: a fault of the program must reach the person who waits for it."""
    if isinstance(error, RelicError):
        return str(error)
    return f"The program made a mistake ({error!r}). The job's output.txt has the details."


def _modified(path: Path) -> float:
    """Return the time of the last change in a folder; of one that has just gone, the end of time."""
    try:
        return path.stat().st_mtime
    except OSError:
        return math.inf


class JobRows(Rows):
    """Jobs that have ended: a copy of what their journals say."""

    def add(self, jobs: Sequence[Job]) -> None:
        """Take in jobs that have ended; those taken in before are left as they are."""
        with self._writing() as cursor:
            known = {job_id for (job_id,) in cursor.execute("SELECT id FROM jobs").fetchall()}
            for job in jobs:
                if job.id not in known:
                    insert(cursor, "jobs", columns_of(job, _COLUMNS))

    def get(self, job_id: str) -> Job:
        """Return a job that has ended."""
        row = self._one(_SELECT + "WHERE id = ?", [job_id])
        if row is None:
            raise NotFound(f"There is no job '{job_id}'. `python -m relic_core jobs` lists the latest.")
        return record(Job, _COLUMNS, row)

    def recent(self, limit: int) -> tuple[Job, ...]:
        """List the last jobs that have ended, newest first."""
        rows = self._all(_SELECT + "ORDER BY created DESC, id LIMIT ?", [limit])
        return tuple(record(Job, _COLUMNS, row) for row in rows)

    def latest(self, kind: str, subject: str) -> Job | None:
        """Give the last job of a kind and subject that has ended, where there was one."""
        found = "WHERE kind = ? AND subject = ? ORDER BY created DESC, id LIMIT 1"
        row = self._one(_SELECT + found, [kind, subject])
        return None if row is None else record(Job, _COLUMNS, row)
