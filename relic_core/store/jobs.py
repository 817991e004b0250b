"""Jobs that have ended: a copy of what their journals say (`relic_core.store.journal`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain import Job
from relic_core.errors import NotFound
from relic_core.store.rows import Rows, columns_of, insert, record

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS = ("id", "kind", "title", "subject", "state", "done", "total", "note", "created", "updated")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM jobs "  # noqa: S608 - our own names


class JobRows(Rows):
    """Stored jobs."""

    def add(self, jobs: Sequence[Job]) -> None:
        """Take in jobs that have ended; those taken in before are left as they are."""
        with self._writing() as cursor:
            known = {job_id for (job_id,) in cursor.execute("SELECT id FROM jobs").fetchall()}
            for job in jobs:
                if job.id not in known:
                    insert(cursor, "jobs", columns_of(job, _COLUMNS))

    def get(self, job_id: str) -> Job:
        """Return a job that has ended.

        Raises NotFound: there is none.
        """
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
