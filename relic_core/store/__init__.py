"""The store: one DuckDB file with works, runs, jobs, secondary sources and more; one module per kind of row.

A store is cheap to make and holds nothing open: every call of its groups is one unit of work.

>>> import tempfile, pathlib
>>> with tempfile.TemporaryDirectory() as folder:
...     Store(pathlib.Path(folder) / "relic.duckdb").works.summaries()
()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.store import copying, migrations
from relic_core.store.connection import Database
from relic_core.store.examples import ExampleRows
from relic_core.store.jobs import JobRows
from relic_core.store.judgements import JudgementRows
from relic_core.store.mined_windows import WindowRows
from relic_core.store.pairs import PairRows
from relic_core.store.runs import RunRows
from relic_core.store.searches import SearchRows
from relic_core.store.sources import SourceRows
from relic_core.store.splits import SplitRows
from relic_core.store.studies import StudyRows
from relic_core.store.study_answers import StudyAnswerRows
from relic_core.store.study_owners import StudyOwnerRows
from relic_core.store.texts import TextRows
from relic_core.store.trainings import TrainingRows
from relic_core.store.works import WorkRows

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

__all__ = ["Store"]


class Store:
    """The groups of rows of one DuckDB file.

    Parameters
    ----------
    path : Path
        The file; made when first used.
    lock_seconds : float
        How long a unit of work waits while another process holds the file, in seconds.
    """

    def __init__(self, path: Path, *, lock_seconds: float = 8.0) -> None:
        self._database, self._lock_seconds = (database := Database.at(path)), lock_seconds
        self.path = database.path
        self.works = WorkRows(database, lock_seconds)
        self.texts = TextRows(database, lock_seconds)
        self.examples = ExampleRows(database, lock_seconds)
        self.searches = SearchRows(database, lock_seconds)
        self.runs = RunRows(database, lock_seconds)
        self.jobs = JobRows(database, lock_seconds)
        self.sources = SourceRows(database, lock_seconds)
        self.pairs = PairRows(database, lock_seconds)
        self.windows = WindowRows(database, lock_seconds)
        self.judgements = JudgementRows(database, lock_seconds)
        self.splits = SplitRows(database, lock_seconds)
        self.trainings = TrainingRows(database, lock_seconds)
        self.studies = StudyRows(database, lock_seconds)
        self.study_answers = StudyAnswerRows(database, lock_seconds)
        self.study_owners = StudyOwnerRows(database, lock_seconds)

    def version(self) -> int:
        """Open the file and give the number of its last migration; those that were missing are made first."""
        with self._database.reading(lock_seconds=self._lock_seconds) as cursor:
            return migrations.version(cursor)

    def copy(self, target: Path) -> int:
        """Copy the file as it stands at one moment; give the number of its last migration. See `copying.copy`."""
        return copying.copy(self._database, target, lock_seconds=self._lock_seconds)

    def alone(self) -> AbstractContextManager[Path]:
        """Give the file while nobody, in no process, has it open. Inside the block this store cannot be used."""
        return self._database.alone(lock_seconds=self._lock_seconds)

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
