"""Jobs that have ended: a copy of what their journals say (`relic_core.store.journal`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relic_core.domain import Job
from relic_core.errors import NotFound
from relic_core.store.rows import Rows, as_utc

if TYPE_CHECKING:
    from collections.abc import Sequence

_SELECT = "SELECT id, kind, title, subject, state, done, total, note, created, updated FROM jobs "


class JobRows(Rows):
    """Stored jobs."""

    def add(self, jobs: Sequence[Job]) -> None:
        """Take in jobs that have ended; those taken in before are left as they are."""
        with self._writing() as cursor:
            known = {job_id for (job_id,) in cursor.execute("SELECT id FROM jobs").fetchall()}
            for job in jobs:
                if job.id not in known:
                    cursor.execute(
                        "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        [
                            job.id,
                            job.kind,
                            job.title,
                            job.subject,
                            job.state,
                            job.done,
                            job.total,
                            job.note,
                            job.created.replace(tzinfo=None),
                            job.updated.replace(tzinfo=None),
                        ],
                    )

    def get(self, job_id: str) -> Job:
        """Return a job that has ended.

        Raises NotFound: there is none.
        """
        with self._reading() as cursor:
            row = cursor.execute(_SELECT + "WHERE id = ?", [job_id]).fetchone()
        if row is None:
            raise NotFound(f"There is no job '{job_id}'. `python -m relic_core jobs` lists the latest.")
        return _job(row)

    def recent(self, limit: int) -> tuple[Job, ...]:
        """List the last jobs that have ended, newest first."""
        with self._reading() as cursor:
            rows = cursor.execute(
                _SELECT + "ORDER BY created DESC, id LIMIT ?",
                [limit],
            ).fetchall()
        return tuple(_job(row) for row in rows)

    def latest(self, kind: str, subject: str) -> Job | None:
        """Give the last job of a kind and subject that has ended, where there was one."""
        with self._reading() as cursor:
            row = cursor.execute(
                _SELECT + "WHERE kind = ? AND subject = ? ORDER BY created DESC, id LIMIT 1", [kind, subject]
            ).fetchone()
        return None if row is None else _job(row)


def _job(row: tuple[Any, ...]) -> Job:
    job_id, kind, title, subject, state, done, total, note, created, updated = row
    return Job(
        id=job_id,
        kind=kind,
        title=title,
        subject=subject,
        state=state,
        done=done,
        total=total,
        note=note,
        created=as_utc(created),
        updated=as_utc(updated),
    )
