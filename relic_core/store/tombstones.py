"""Tombstones: what is removed stays in the store and is not shown, and can be put back (DESIGN: nothing is lost)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from relic_core.store.rows import utc_now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Kind = Literal["work", "source", "run", "training", "study", "search", "collection", "note"]
"""What can be removed and put back."""


def hide(cursor: DuckDBPyConnection, kind: Kind, thing_id: str) -> None:
    """Set a tombstone on what is live."""
    cursor.execute("INSERT INTO tombstones VALUES (?, ?, ?)", [kind, thing_id, utc_now()])


def put_back(cursor: DuckDBPyConnection, kind: Kind, thing_id: str) -> None:
    """Take the tombstone away; what has none stays as it is."""
    cursor.execute("DELETE FROM tombstones WHERE kind = ? AND id = ?", [kind, thing_id])
