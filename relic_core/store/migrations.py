"""Numbered SQL files that bring a store from one version to the next, each in one transaction with its own record."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from relic_core.config import ASSETS
from relic_core.errors import StoreError, StoreTooNew
from relic_core.store.engine import CONFIG

FOLDER = ASSETS / "migrations"
ENGINE = str(duckdb.__version__)


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number, from 1, its name and its statements."""

    number: int
    name: str
    sql: str


@cache
def read_migrations(folder: Path = FOLDER) -> tuple[Migration, ...]:
    """Read the steps of a folder of files called ``0001_name.sql``, ``0002_name.sql`` and so on, without a gap."""
    steps: list[Migration] = []
    for path in sorted(folder.glob("*.sql")):
        named = re.fullmatch(r"(\d{4})_(\w+)\.sql", path.name)
        if named is None or int(named[1]) != len(steps) + 1:
            raise StoreError(
                f"The migration {path} is out of order: expected number {len(steps) + 1}, as in 0001_name.sql."
            )
        steps.append(Migration(number=int(named[1]), name=named[2], sql=path.read_text(encoding="utf-8")))
    return tuple(steps)


def version(connection: DuckDBPyConnection) -> int:
    """Return the number of the last step applied, 0 for an empty file. Raises StoreError: no table of it is ours."""
    try:
        # All rows are fetched: a result that is still open keeps a transaction open as long as the connection.
        ((last,),) = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchall()
    except duckdb.CatalogException:
        if connection.execute("SELECT 1 FROM duckdb_tables() LIMIT 1").fetchall():
            raise StoreError(
                "The file is a DuckDB database of another program (it has no table 'migrations'). "
                "Move it away or choose another data folder with RELIC_DATA."
            ) from None
        return 0
    return int(last)


def migrate(connection: DuckDBPyConnection, steps: tuple[Migration, ...]) -> None:
    """Apply the steps that are still missing. Raises StoreTooNew: it has steps unknown here; nothing is written."""
    current = version(connection)
    known = steps[-1].number
    if current > known:
        raise StoreTooNew(
            f"The store was written by a newer version of this program (it is at version {current}, this program knows "
            f"versions up to {known}). Nothing was changed. Update the program, or choose another data folder with "
            "RELIC_DATA."
        )
    for step in steps[current:]:
        connection.begin()
        if step.number == 1:
            connection.execute(
                "CREATE TABLE migrations (number INTEGER NOT NULL, name VARCHAR NOT NULL, applied TIMESTAMP NOT NULL)"
            )
        connection.execute(step.sql)
        connection.execute(
            "INSERT INTO migrations VALUES (?, ?, ?)", [step.number, step.name, datetime.now(UTC).replace(tzinfo=None)]
        )
        connection.commit()


def make_store(path: Path, steps: tuple[Migration, ...] | None = None) -> None:
    """Make the file of a store, with all its tables and nothing in them."""
    with contextlib.closing(duckdb.connect(path, config=CONFIG)) as fresh:
        migrate(fresh, read_migrations() if steps is None else steps)


def known_version() -> int:
    """Say which migration this program knows last."""
    return read_migrations()[-1].number


def check_schema(path: Path, number: int) -> None:
    """See that a store that somebody gave has the tables and views that the migrations make, and nothing else.

    Nothing in it is run before that: a view may never come to an end.
    """
    try:
        with duckdb.connect(path, read_only=True, config=CONFIG | {"enable_external_access": "false"}) as given:
            odd = sorted(_schema(given) ^ _schema_after(number))
            if odd or version(given) != number:
                which = f"{odd[0][0]} {odd[0][1]:.80}" if odd else "number"
                raise StoreError(f"It was changed: it is none that the migrations up to {number} make ({which}).")
    except duckdb.Error as error:
        raise StoreError(f"It cannot be read: {str(error).strip():.400}") from error


_CATALOGUE = (
    ("table", "SELECT table_name, sql FROM duckdb_tables() WHERE NOT internal AND database_name = current_database()"),
    ("view", "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal AND database_name = current_database()"),
    ("function", "SELECT function_name, macro_definition FROM duckdb_functions() WHERE NOT internal"),
    ("type", "SELECT type_name, logical_type FROM duckdb_types() WHERE NOT internal"),
    ("sequence", "SELECT sequence_name, sql FROM duckdb_sequences() WHERE database_name = current_database()"),
    ("index", "SELECT index_name, sql FROM duckdb_indexes() WHERE database_name = current_database()"),
    ("schema", "SELECT schema_name, sql FROM duckdb_schemas() WHERE NOT internal"),
)


def _schema(connection: DuckDBPyConnection) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (kind, str(name), str(sql)) for kind, asked in _CATALOGUE for name, sql in connection.execute(asked).fetchall()
    )


@cache
def _schema_after(number: int) -> frozenset[tuple[str, str, str]]:
    with duckdb.connect(":memory:", config=CONFIG) as fresh:
        migrate(fresh, read_migrations()[: max(number, 1)])
        return _schema(fresh)


def read_rows(connection: DuckDBPyConnection) -> None:
    """Read every column of every row: DuckDB compares a block with its checksum when it reads it, and not before."""
    asked = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND database_name = current_database()"
    for (table,) in connection.execute(asked).fetchall():
        connection.execute(f'SELECT bit_xor(hash(row)) FROM "{table}" AS row').fetchall()  # noqa: S608 - a name of ours


def read_copy(path: Path) -> int:
    """Read every row of a copy of a store, which is left as it is, and count its works. Raises StoreError: damaged."""
    try:
        with duckdb.connect(path, read_only=True, config=CONFIG) as connection:
            read_rows(connection)
            ((number,),) = connection.execute("SELECT count(*) FROM live_works").fetchall()
    except duckdb.Error as error:
        raise StoreError(f"It cannot be read: {str(error).strip():.400}") from error
    return int(number)
