"""What every kind of row shares: its database, its patience, and adding many rows at once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from duckdb import DuckDBPyConnection

    from relic_core.store.connection import Database
    from relic_core.store.turns import LockTimeout


class Rows:
    """One kind of row of one database.

    - `patience`: how long a unit of work waits for another process.
    """

    def __init__(self, database: Database, patience: LockTimeout) -> None:
        self._database = database
        self._patience = patience

    def _reading(self) -> AbstractContextManager[DuckDBPyConnection]:
        return self._database.reading(self._patience)

    def _writing(self) -> AbstractContextManager[DuckDBPyConnection]:
        return self._database.writing(self._patience)


def add_many(cursor: DuckDBPyConnection, table: str, columns: Mapping[str, Sequence[object]]) -> None:
    """Append many rows by columns, some hundred times as fast as row by row.

    - `columns`: one sequence per column, all of one length; numbers or strings, no None.
    """
    arrays = {
        name: np.array(values, dtype=object if values and isinstance(values[0], str) else None)
        for name, values in columns.items()
    }
    if not len(next(iter(arrays.values()))):
        return
    cursor.register("added_rows", arrays)
    cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM added_rows")  # noqa: S608 - names of our own tables
    cursor.unregister("added_rows")


def utc_now() -> datetime:
    """Return the time as the store keeps it: in UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def as_utc(stored: datetime) -> datetime:
    """Give a stored time its zone back."""
    return stored.replace(tzinfo=UTC)
