"""Making deleted rows unreadable: a database marks them, and their words stay in its file until it needs the room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FILLER = "scrub_filler"
_BYTES = 8
"""Of a number of the filler."""


def write_anew(cursor: DuckDBPyConnection, table: str) -> None:
    """Write a table anew without its deleted rows, in one transaction; its pages become free.

    - `table`: one of our own, without indexes.
    """
    cursor.begin()
    ((made,),) = cursor.execute(
        "SELECT sql FROM duckdb_tables() WHERE database_name = current_database() AND table_name = ?", [table]
    ).fetchall()
    anew = f"{table}_anew"
    cursor.execute(made.replace(f"TABLE {table}(", f"TABLE {anew}(", 1))
    cursor.execute(f"INSERT INTO {anew} SELECT * FROM {table} ORDER BY rowid")  # noqa: S608 - names of our own tables
    cursor.execute(f"DROP TABLE {table}")
    cursor.execute(f"ALTER TABLE {anew} RENAME TO {table}")
    cursor.commit()


def write_over_free_pages(cursor: DuckDBPyConnection) -> bool:
    """Fill every free page of the file with numbers drawn by chance, and free it again.

    Returns: false where others read just now, and it has to be tried again.
    """
    try:
        _done(cursor, f"DROP TABLE IF EXISTS {_FILLER}")
        _done(cursor, "CHECKPOINT")
        ((free, size),) = cursor.execute(
            "SELECT free_blocks, block_size FROM pragma_database_size() WHERE database_name = current_database()"
        ).fetchall()
        # Numbers by chance are not compressed, so that they take the room that they should.
        numbers = (free + 1) * size // _BYTES
        _done(cursor, f"CREATE TABLE {_FILLER} AS SELECT (random() * 9e18)::BIGINT AS n FROM range({numbers})")  # noqa: S608 - a number of ours
        _done(cursor, "CHECKPOINT")
        _done(cursor, f"DROP TABLE {_FILLER}")
        _done(cursor, "CHECKPOINT")
    except duckdb.TransactionException:
        return False
    return True


def _done(cursor: DuckDBPyConnection, statement: str) -> None:
    """Run a statement to its end: one whose result was not fetched is still under way, and stops a checkpoint."""
    cursor.execute(statement).fetchall()
