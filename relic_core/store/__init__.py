"""The store: one DuckDB file with works, runs, jobs, secondary sources and more; one module per kind of row.

A store is cheap to make and holds nothing open: every call of its groups is one unit of work.

>>> import tempfile, pathlib
>>> with tempfile.TemporaryDirectory() as folder:
...     Store(pathlib.Path(folder) / "relic.duckdb").works.summaries()
()
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from relic_core.store import migrations
from relic_core.store.connection import Database
from relic_core.store.jobs import JobRows
from relic_core.store.locks import LockTimeout
from relic_core.store.mined_windows import WindowRows
from relic_core.store.model_answers import ModelAnswerRows, ReadingTextRows
from relic_core.store.notes import CollectionRows, NoteRows
from relic_core.store.pairs import PairRows
from relic_core.store.people import PeopleRows
from relic_core.store.runs import RunRows
from relic_core.store.searches import SearchRows, TopKSnapshotRows
from relic_core.store.sources import SourceRows
from relic_core.store.splits import ExampleRows, SplitRows
from relic_core.store.studies import StudyRows
from relic_core.store.study_answers import StudyAnswerRows
from relic_core.store.trainings import TrainingRows
from relic_core.store.works import EditionDetailsRows, TextRows, WorkRows

__all__ = ["Store"]


class Store:
    """The groups of rows of one DuckDB file; a unit of work waits `lock_seconds` for another process that holds it.

    - `linger_seconds`: how long the file stays open behind a unit of work that only read, unless others wait for it.
    """

    def __init__(self, path: Path, *, lock_seconds: float = 8.0, linger_seconds: float = 0.0) -> None:
        database = Database.at(path)
        database.linger_seconds = max(database.linger_seconds, linger_seconds)
        self.path = database.path
        self._database, self._patience = database, LockTimeout(lock_seconds)
        self.works = WorkRows(database, self._patience)
        self.texts = TextRows(database, self._patience)
        self.edition_details = EditionDetailsRows(database, self._patience)
        self.examples = ExampleRows(database, self._patience)
        self.searches = SearchRows(database, self._patience)
        self.snapshots = TopKSnapshotRows(database, self._patience)
        self.runs = RunRows(database, self._patience)
        self.jobs = JobRows(database, self._patience)
        self.sources = SourceRows(database, self._patience)
        self.pairs = PairRows(database, self._patience)
        self.windows = WindowRows(database, self._patience)
        self.splits = SplitRows(database, self._patience)
        self.trainings = TrainingRows(database, self._patience)
        self.studies = StudyRows(database, self._patience)
        self.study_answers = StudyAnswerRows(database, self._patience)
        self.collections = CollectionRows(database, self._patience)
        self.notes = NoteRows(database, self._patience)
        self.people = PeopleRows(database, self._patience)
        self.model_answers = ModelAnswerRows(database, self._patience)
        self.reading_texts = ReadingTextRows(database, self._patience)

    @contextlib.contextmanager
    def patiently(self, seconds: float, while_waiting: Callable[[], None]) -> Iterator[None]:
        """Wait longer for the store in a block, as work of hours does, which must not end because of a busy minute.

        - `while_waiting`: called again and again during a wait; what it raises ends the wait.
        """
        before = replace(self._patience)
        self._patience.seconds = max(seconds, before.seconds)
        self._patience.while_waiting = while_waiting
        try:
            yield
        finally:
            self._patience.seconds, self._patience.while_waiting = before.seconds, before.while_waiting

    def version(self) -> int:
        """Open the file and give the number of its last migration; those that were missing are made first."""
        with self._database.reading(self._patience) as cursor:
            return migrations.version(cursor)

    def read_through(self) -> None:
        """Read every row of the file. Raises StoreError: it is damaged."""
        with self._database.reading(self._patience) as cursor:
            migrations.read_rows(cursor)

    def losses(self) -> tuple[str, ...]:
        """Tell what was lost from the log, until the file that says so is deleted: see `relic_core.store.log_check`."""
        try:
            return tuple(self._database.log.losses.read_text(encoding="utf-8", errors="replace").splitlines())
        except OSError:  # none, or out of reach: using the store tells
            return ()

    def copy(self, target: Path) -> int:
        """Copy the file as it stands at one moment; give the number of its last migration. See `Database.copy`."""
        return self._database.copy(target, self._patience)

    def alone(self) -> AbstractContextManager[Path]:
        """Give the file while nobody, in no process, has it open. Inside the block this store cannot be used."""
        return self._database.alone(self._patience)

    def stamp(self) -> tuple[tuple[int, int], ...]:
        """Tell whether anything may have been written since: equal stamps, nothing was."""
        stamps = []
        for path in (self.path, self.path.with_name(f"{self.path.name}.wal")):
            try:
                status = path.stat()
            except OSError:  # not there, or out of reach: using the store tells
                continue
            stamps.append((status.st_mtime_ns, status.st_size))
        return tuple(stamps)
