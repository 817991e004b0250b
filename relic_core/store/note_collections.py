"""Collections of the notebook: their names are appended, and the last counts; a removed one hides its notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relic_core.domain import Collection, CollectionCount
from relic_core.errors import NotFound
from relic_core.store.rows import Rows, as_utc, hide, put_back, utc_now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_COLUMNS = "id, name, created, person"


class CollectionRows(Rows):
    """Stored collections of notes; every call is about those of one person."""

    def add(self, collection: Collection) -> None:
        """Append a collection."""
        with self._writing() as cursor:
            append_collection(cursor, collection)

    def rename(self, collection_id: str, name: str, person: str = "") -> Collection:
        """Append another name of a collection, unless it is called so already.

        Raises NotFound: this person has none of that id, or removed it.
        """
        with self._writing() as cursor:
            collection = _live(cursor, collection_id, person)
            renamed = replace(collection, name=name)
            if renamed != collection:
                append_collection(cursor, renamed)
            return renamed

    def all(self, person: str = "") -> tuple[CollectionCount, ...]:
        """List somebody's collections, the oldest first."""
        rows = self._all(
            f"SELECT {_COLUMNS}, "  # noqa: S608 - our own names
            "(SELECT count(*) FROM live_notes WHERE collection_id = live_collections.id) "
            "FROM live_collections WHERE person = ? ORDER BY created, id",
            [person],
        )
        return tuple(CollectionCount(_collection(row[:-1]), row[-1]) for row in rows)

    def get(self, collection_id: str, person: str = "") -> Collection:
        """Return a collection.

        Raises NotFound: this person has none of that id, or removed it.
        """
        with self._reading() as cursor:
            return _live(cursor, collection_id, person)

    def removed(self, person: str = "") -> tuple[Collection, ...]:
        """List somebody's collections behind tombstones, the last removed first."""
        rows = self._all(
            f"SELECT {_COLUMNS} FROM latest_collections JOIN tombstones USING (id) "  # noqa: S608 - our own names
            "WHERE kind = 'collection' AND person = ? ORDER BY removed DESC, id",
            [person],
        )
        return tuple(_collection(row) for row in rows)

    def remove(self, collection_id: str, person: str = "") -> Collection:
        """Hide a collection with its notes.

        Raises NotFound: this person has none of that id, or removed it before.
        """
        with self._writing() as cursor:
            collection = _live(cursor, collection_id, person)
            hide(cursor, "collection", collection_id)
            return collection

    def restore(self, collection_id: str, person: str = "") -> Collection:
        """Undo a removal; a collection that is there stays as it is.

        Raises NotFound: this person never had one of that id.
        """
        with self._writing() as cursor:
            row = cursor.execute(
                f"SELECT {_COLUMNS} FROM latest_collections WHERE id = ? AND person = ?",  # noqa: S608 - our own names
                [collection_id, person],
            ).fetchone()
            if row is None:
                raise unknown_collection(collection_id)
            put_back(cursor, "collection", collection_id)
            return _collection(row)


def append_collection(cursor: DuckDBPyConnection, collection: Collection) -> None:
    """Append a version of a collection, inside a transaction."""
    cursor.execute(
        "INSERT INTO collections SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ? FROM collections WHERE id = ?",
        [
            collection.id,
            collection.person,
            collection.name,
            collection.created.replace(tzinfo=None),
            utc_now(),
            collection.id,
        ],
    )


def is_live(cursor: DuckDBPyConnection, collection_id: str, person: str) -> bool:
    """Whether somebody has this collection, and has not removed it."""
    ((count,),) = cursor.execute(
        "SELECT count(*) FROM live_collections WHERE id = ? AND person = ?", [collection_id, person]
    ).fetchall()
    return bool(count)


def unknown_collection(collection_id: str) -> NotFound:
    """Make the error for a collection that is not there."""
    return NotFound(
        f"There is no collection '{collection_id:.40}' in your notebook. One that was removed can be put back there."
    )


def _live(cursor: DuckDBPyConnection, collection_id: str, person: str) -> Collection:
    row = cursor.execute(
        f"SELECT {_COLUMNS} FROM live_collections WHERE id = ? AND person = ?",  # noqa: S608 - our own names
        [collection_id, person],
    ).fetchone()
    if row is None:
        raise unknown_collection(collection_id)
    return _collection(row)


def _collection(row: tuple[Any, ...]) -> Collection:
    collection_id, name, created, person = row
    return Collection(id=collection_id, name=name, created=as_utc(created), person=person)
