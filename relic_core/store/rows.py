"""What every kind of row shares: units of work, rows from and to objects, many rows at once, tombstones.

What is removed stays in the store behind a tombstone, which views hide, and can be put back.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from duckdb import DuckDBPyConnection

from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
from relic_core.text.decoding import storable

T = TypeVar("T")

Kind = Literal["work", "source", "run", "training", "study", "search", "collection", "note"]
"""What can be removed and put back."""


class Rows:
    """One kind of row of one database."""

    def __init__(self, database: Database, patience: LockTimeout) -> None:
        self._database = database
        self._patience = patience

    def together(self, *, write: bool = False) -> AbstractContextManager[object]:
        """Make what is read in a block, or read and written, one unit of work: the file is opened once."""
        return self._writing() if write else self._reading()

    def _reading(self) -> AbstractContextManager[DuckDBPyConnection]:
        return self._database.reading(self._patience)

    def _writing(self) -> AbstractContextManager[DuckDBPyConnection]:
        return self._database.writing(self._patience)

    def _all(self, query: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        with self._reading() as cursor:
            return cursor.execute(query, list(values)).fetchall()

    def _one(self, query: str, values: Iterable[object] = ()) -> tuple[Any, ...] | None:
        with self._reading() as cursor:
            return first(cursor, query, values)


class Removable(Rows, ABC, Generic[T]):
    """Rows that can be hidden behind a tombstone and put back."""

    kind: ClassVar[Kind]

    def get(self, row_id: str) -> T:
        """Return what has this id. Raises NotFound: there is none, or it was removed."""
        with self._reading() as cursor:
            return self._find(cursor, row_id)

    def remove(self, row_id: str) -> T:
        """Hide what has this id behind a tombstone. Raises NotFound: there is none, or it was removed before."""
        with self._writing() as cursor:
            found = self._find(cursor, row_id)
            hide(cursor, self.kind, row_id)
            return found

    def restore(self, row_id: str) -> T:
        """Undo a removal; what is there stays as it is. Raises NotFound: there never was such a thing."""
        with self._writing() as cursor:
            put_back(cursor, self.kind, row_id)
            return self._find(cursor, row_id)

    @abstractmethod
    def _find(self, cursor: DuckDBPyConnection, row_id: str) -> T:
        """Read what has this id and was not removed; NotFound where there is none."""


def first(cursor: DuckDBPyConnection, query: str, values: Iterable[object] = ()) -> tuple[Any, ...] | None:
    """Read the first row of a query; None where there is none."""
    row: tuple[Any, ...] | None = cursor.execute(query, list(values)).fetchone()
    return row


def value(cursor: DuckDBPyConnection, query: str, values: Iterable[object] = ()) -> Any:  # noqa: ANN401 - as stored
    """Read the one value of a query, as of a count."""
    ((found,),) = cursor.execute(query, list(values)).fetchall()
    return found


def record(kind: type[T], names: Sequence[str], row: Sequence[Any], *, parsed: Container[str] = ()) -> T:
    """Make an object of a row whose columns are called as its fields, `parsed` from JSON; times get their zone back."""
    fields: dict[str, Any] = dict(zip(names, row, strict=True))
    for name, each in fields.items():
        if isinstance(each, datetime):
            fields[name] = as_utc(each)
        elif name in parsed:
            fields[name] = json.loads(each)
    return kind(**fields)


def columns_of(thing: object, names: Iterable[str]) -> dict[str, object]:
    """Give some fields of an object as the columns of a row."""
    return {name: getattr(thing, name) for name in names}


def insert(cursor: DuckDBPyConnection, table: str, columns: Mapping[str, object]) -> None:
    """Append one row, its times without their zone, its objects as JSON, texts without halves of characters."""
    values: list[object] = [
        each.replace(tzinfo=None)
        if isinstance(each, datetime)
        else json.dumps(dict(each))
        if isinstance(each, Mapping)
        else storable(each)
        if isinstance(each, str)
        else each
        for each in columns.values()
    ]
    marks = ", ".join("?" * len(columns))
    cursor.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)  # noqa: S608 - our own names


def add_many(cursor: DuckDBPyConnection, table: str, columns: Mapping[str, Sequence[object]]) -> None:
    """Append many rows by columns, of numbers or strings, no None: some hundred times as fast as row by row."""
    arrays = {
        name: np.array(values, dtype=object if values and isinstance(values[0], str) else None)
        for name, values in columns.items()
    }
    if not len(next(iter(arrays.values()))):
        return
    cursor.register("added_rows", arrays)
    cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM added_rows")  # noqa: S608 - names of our own tables
    cursor.unregister("added_rows")


def hide(cursor: DuckDBPyConnection, kind: Kind, thing_id: str) -> None:
    """Set a tombstone on what is live."""
    cursor.execute("INSERT INTO tombstones VALUES (?, ?, ?)", [kind, thing_id, utc_now()])


def put_back(cursor: DuckDBPyConnection, kind: Kind, thing_id: str) -> None:
    """Take the tombstone away; what has none stays as it is."""
    cursor.execute("DELETE FROM tombstones WHERE kind = ? AND id = ?", [kind, thing_id])


def utc_now() -> datetime:
    """Return the time as the store keeps it: in UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def as_utc(stored: datetime) -> datetime:
    """Give a stored time its zone back."""
    return stored.replace(tzinfo=UTC)
