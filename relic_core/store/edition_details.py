"""Details of editions for citations: appended, never updated; the last of a work count."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING

from relic_core.domain import EditionDetails
from relic_core.store.rows import Rows, utc_now

if TYPE_CHECKING:
    from collections.abc import Collection

_COLUMNS = tuple(field.name for field in fields(EditionDetails))


class EditionDetailsRows(Rows):
    """Stored details of editions."""

    def add(self, work_id: str, details: EditionDetails) -> None:
        """Append the details of a work, which count from now on."""
        values = [work_id, *astuple(details), utc_now()]
        with self._writing() as cursor:
            cursor.execute(
                f"INSERT INTO edition_details (work_id, {', '.join(_COLUMNS)}, created) "  # noqa: S608 - our own names
                f"VALUES ({', '.join('?' * len(values))})",
                values,
            )

    def latest(self, work_ids: Collection[str]) -> dict[str, EditionDetails]:
        """Give the details that count of each work; those of which none were said are left out."""
        with self._reading() as cursor:
            rows = cursor.execute(
                f"SELECT work_id, {', '.join(_COLUMNS)} FROM latest_edition_details "  # noqa: S608 - our own names
                "WHERE list_contains(?, work_id)",
                [list(work_ids)],
            ).fetchall()
        return {work_id: EditionDetails(**dict(zip(_COLUMNS, values, strict=True))) for work_id, *values in rows}
