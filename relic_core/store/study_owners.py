"""Codes of those who run studies, sealed: appended, never updated."""

from __future__ import annotations

from relic_core.store.rows import Rows, utc_now


class StudyOwnerRows(Rows):
    """Stored owners' codes."""

    def sealed(self, study_id: str) -> str:
        """Give the sealed code of a study; empty where it has none."""
        with self._reading() as cursor:
            row = cursor.execute("SELECT sealed FROM latest_study_owners WHERE study_id = ?", [study_id]).fetchone()
        return "" if row is None else str(row[0])

    def add(self, study_id: str, sealed: str) -> None:
        """Append a code, which counts from now on; an empty one takes it away."""
        with self._writing() as cursor:
            cursor.execute("INSERT INTO study_owners VALUES (?, ?, ?)", [study_id, sealed, utc_now()])
