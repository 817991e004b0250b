"""The notebook: collections and their notes, appended version by version, of which the last counts.

What was kept is written once; a removed collection hides its notes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any, ClassVar, Generic, TypeVar

from duckdb import DuckDBPyConnection

from relic_core.domain import Collection, CollectionCount, KeptPassage, Note
from relic_core.domain.notes import merged_tags
from relic_core.errors import NotFound
from relic_core.store.rows import Kind, Rows, as_utc, columns_of, first, hide, insert, put_back, record, utc_now, value

T = TypeVar("T")

_SELECT = (
    "SELECT id, collection_id, content, words, tags, verdict, position, created, updated, person "
    "FROM {view} WHERE person = ? "
)
_LIVE, _LATEST = _SELECT.format(view="live_notes"), _SELECT.format(view="latest_notes")
_EVERY = _SELECT.format(view="notes JOIN kept_passages ON note_id = id")


class Owned(Rows, ABC, Generic[T]):
    """Rows of which each is somebody's; `NotFound` where the person has none of an id."""

    kind: ClassVar[Kind]

    def get(self, row_id: str, person: str = "") -> T:
        """Return what has this id and was not removed. Raises NotFound."""
        with self._reading() as cursor:
            return self._find(cursor, row_id, person)

    def remove(self, row_id: str, person: str = "") -> T:
        """Hide what has this id behind a tombstone. Raises NotFound, also where it was removed before."""
        with self._writing() as cursor:
            found = self._find(cursor, row_id, person)
            hide(cursor, self.kind, row_id)
            return found

    def restore(self, row_id: str, person: str = "") -> T:
        """Undo a removal; what is there stays as it is. Raises NotFound, also where its collection was removed."""
        with self._writing() as cursor:
            put_back(cursor, self.kind, row_id)
            return self._find(cursor, row_id, person)

    @abstractmethod
    def _find(self, cursor: DuckDBPyConnection, row_id: str, person: str) -> T:
        """Read what has this id and was not removed."""


class NoteRows(Owned[Note]):
    """Stored notes; every call is about those of one person."""

    kind = "note"

    def keep(self, note: Note) -> tuple[Note, bool]:
        """Add a note at the end of its collection; False where it is there already, and nothing is written.

        A note that was removed, or whose collection was, comes back with its words, in the collection given.
        """
        with self._writing() as cursor:
            if not is_live(cursor, note.collection_id, note.person):
                raise unknown_collection(note.collection_id)
            if _row(cursor, _LIVE, note.id, note.person) is not None:
                return self._find(cursor, note.id, note.person), False
            known = _row(cursor, _LATEST, note.id, note.person)
            put_back(cursor, "note", note.id)
            position = end_of(cursor, note.collection_id)
            if known is None:
                note = replace(note, position=position)
                _insert_kept(cursor, note)
            else:
                stored = _note(known)
                note = replace(stored, collection_id=note.collection_id, position=position, updated=note.updated)
            append_note(cursor, note)
            return note, True

    def all(self, person: str = "", collection_id: str = "") -> tuple[Note, ...]:
        """List somebody's notes: those of one collection in its order, or all, collection by collection."""
        within = "AND collection_id = ? " if collection_id else ""
        rows = self._all(
            f"{_LIVE}{within}ORDER BY (SELECT created FROM live_collections WHERE id = collection_id), "  # noqa: S608
            "collection_id, position, created, id",
            [person, *([collection_id] if collection_id else [])],
        )
        return tuple(_note(row) for row in rows)

    def last_kept(self, person: str = "") -> Note | None:
        """Give the note that was kept last; None where there is none."""
        row = self._one(f"{_LIVE}ORDER BY created DESC, id LIMIT 1", [person])
        return None if row is None else _note(row)

    def versions(self, note_id: str, person: str = "") -> tuple[Note, ...]:
        """Give every version of a note that says something else than the one before, the newest first."""
        with self._reading() as cursor:
            self._find(cursor, note_id, person)
            rows = cursor.execute(f"{_EVERY}AND id = ? ORDER BY number", [person, note_id]).fetchall()
        groups = groupby(map(_note, rows), lambda note: (note.words, note.tags, note.verdict))
        return tuple(next(same) for _, same in groups)[::-1]

    def rewritten(self, person: str = "") -> set[str]:
        """Give the ids of somebody's notes of which an earlier version says something that the last does not."""
        rows = self._all(
            "SELECT DISTINCT id FROM notes JOIN live_notes AS last USING (id) WHERE person = ? AND (notes.words, "
            "notes.tags, notes.verdict) NOT IN ((last.words, last.tags, last.verdict), ('', '[]', ''))",
            [person],
        )
        return {note_id for (note_id,) in rows}

    def change(self, note_id: str, person: str = "", seen: Note | None = None, **changed: Any) -> tuple[Note, Note]:  # noqa: ANN401 - fields of a note
        """Append a version in which some fields differ, in one transaction with reading the last; none where none do.

        - `seen`: the version that the change was made on: what has become of its tags since, counts too.

        Returns: the last version before, and the one that counts now.
        """
        with self._writing() as cursor:
            note = self._find(cursor, note_id, person)
            collection_id = str(changed.get("collection_id", note.collection_id))
            if collection_id != note.collection_id:
                if not is_live(cursor, collection_id, person):
                    raise unknown_collection(collection_id)
                changed["position"] = end_of(cursor, collection_id)
            if seen is not None and "tags" in changed:
                changed["tags"] = merged_tags(seen.tags, note.tags, changed["tags"])
            wanted = replace(note, **changed)
            if wanted == note:
                return note, note
            wanted = replace(wanted, updated=as_utc(utc_now()))
            append_note(cursor, wanted)
            return note, wanted

    def place(self, note_id: str, at: int, person: str = "") -> Note:
        """Put a note at a place of its collection, counted from 0; beyond the end is the end.

        Only the note is written anew, between its new neighbours; the whole collection where no number is left there.
        """
        with self._writing() as cursor:
            note = self._find(cursor, note_id, person)
            others = [
                each
                for row in cursor.execute(
                    f"{_LIVE}AND collection_id = ? ORDER BY position, created, id", [person, note.collection_id]
                ).fetchall()
                if (each := _note(row)).id != note.id
            ]
            at = max(0, min(at, len(others)))
            before = others[at - 1].position if at else None
            after = others[at].position if at < len(others) else None
            position = _between(before, after)
            now = as_utc(utc_now())
            if position is not None:
                moved = replace(note, position=position, updated=now)
                append_note(cursor, moved)
                return moved
            others.insert(at, note)
            for number, each in enumerate(others, start=1):
                append_note(cursor, replace(each, position=float(number), updated=now))
            return replace(note, position=float(at + 1), updated=now)

    def removed(self, person: str = "") -> tuple[Note, ...]:
        """List somebody's notes behind tombstones whose collection is there, the last removed first."""
        rows = self._all(
            f"{_LATEST}AND id IN (SELECT id FROM tombstones WHERE kind = 'note') "  # noqa: S608 - our own names
            "AND collection_id IN (SELECT id FROM live_collections) "
            "ORDER BY (SELECT max(removed) FROM tombstones WHERE kind = 'note' AND id = latest_notes.id) DESC, id",
            [person],
        )
        return tuple(_note(row) for row in rows)

    def _find(self, cursor: DuckDBPyConnection, row_id: str, person: str) -> Note:
        row = _row(cursor, _LIVE, row_id, person)
        if row is None:
            raise unknown_note(row_id)
        return _note(row)

    def take_in(self, collections: Sequence[Collection], notes: Sequence[Note]) -> None:
        """Add collections, and notes or later versions of them, all in one transaction.

        A note whose id is known gets a version more; one that was removed comes back. Positions are kept.
        """
        with self._writing() as cursor:
            for collection in collections:
                append_collection(cursor, collection)
            for note in notes:
                put_back(cursor, "note", note.id)
                if _row(cursor, _LATEST, note.id, note.person) is None:
                    _insert_kept(cursor, note)
                append_note(cursor, note)

    def known(self, person: str = "") -> dict[str, Note]:
        """Give every note that somebody ever kept, removed ones too, by its id."""
        with self._reading() as cursor:
            return latest_notes(cursor, person)


def unknown_note(note_id: str) -> NotFound:
    """Make the error for a note that is not there."""
    return NotFound(
        f"There is no note '{note_id:.40}' in your notebook. It may have been removed: then it can be put back there."
    )


def _between(before: float | None, after: float | None) -> float | None:
    """Give a number between two; None where there is none left.

    >>> _between(1.0, 2.0), _between(None, 1.0), _between(3.0, None), _between(1.0, 1.0)
    (1.5, 0.0, 4.0, None)
    """
    if before is None or after is None:
        return 1.0 if before == after else after - 1 if after is not None else (before or 0.0) + 1
    middle = (before + after) / 2
    return middle if before < middle < after else None


def latest_notes(cursor: DuckDBPyConnection, person: str) -> dict[str, Note]:
    """Give every note that somebody ever kept by its id, inside a transaction."""
    return {note.id: note for note in map(_note, cursor.execute(_LATEST, [person]).fetchall())}


def end_of(cursor: DuckDBPyConnection, collection_id: str) -> float:
    """Give the next place at the end of a collection."""
    last = value(cursor, "SELECT coalesce(max(position), 0) FROM latest_notes WHERE collection_id = ?", [collection_id])
    return float(last) + 1


def _row(cursor: DuckDBPyConnection, select: str, note_id: str, person: str) -> tuple[Any, ...] | None:
    return first(cursor, f"{select}AND id = ?", [person, note_id])


def _insert_kept(cursor: DuckDBPyConnection, note: Note) -> None:
    content = json.dumps(asdict(note.kept), ensure_ascii=False)
    own = {"note_id": note.id, "content": content}
    insert(cursor, "kept_passages", columns_of(note, ("person", "created")) | own)


def append_note(cursor: DuckDBPyConnection, note: Note) -> None:
    """Append a version of a note, inside a transaction."""
    number = value(cursor, "SELECT coalesce(max(number), 0) + 1 FROM notes WHERE id = ?", [note.id])
    columns = columns_of(note, ("id", "collection_id", "words", "position", "updated"))
    tags = json.dumps(note.tags, ensure_ascii=False)
    insert(cursor, "notes", columns | {"number": number, "tags": tags, "verdict": note.verdict or ""})


def _note(row: tuple[Any, ...]) -> Note:
    note_id, collection_id, content, words, tags, verdict, position, created, updated, person = row
    return Note(
        id=note_id,
        collection_id=collection_id,
        kept=KeptPassage(**json.loads(content)),
        words=words,
        tags=tuple(json.loads(tags)),
        verdict=verdict or None,
        position=position,
        created=as_utc(created),
        updated=as_utc(updated),
        person=person,
    )


_COLUMNS = ("id", "name", "created", "person")
_COLLECTION = f"SELECT {', '.join(_COLUMNS)} FROM "  # noqa: S608 - our own names


class CollectionRows(Owned[Collection]):
    """Stored collections of notes; every call is about those of one person. One that is removed hides its notes."""

    kind = "collection"

    def add(self, collection: Collection) -> None:
        """Append a collection."""
        with self._writing() as cursor:
            append_collection(cursor, collection)

    def rename(self, collection_id: str, name: str, person: str = "") -> Collection:
        """Append another name of a collection, unless it is called so already."""
        with self._writing() as cursor:
            collection = self._find(cursor, collection_id, person)
            renamed = replace(collection, name=name)
            if renamed != collection:
                append_collection(cursor, renamed)
            return renamed

    def all(self, person: str = "") -> tuple[CollectionCount, ...]:
        """List somebody's collections, the oldest first."""
        rows = self._all(
            f"SELECT {', '.join(_COLUMNS)}, "  # noqa: S608 - our own names
            "(SELECT count(*) FROM live_notes WHERE collection_id = live_collections.id) "
            "FROM live_collections WHERE person = ? ORDER BY created, id",
            [person],
        )
        return tuple(CollectionCount(_collection(row[:-1]), row[-1]) for row in rows)

    def removed(self, person: str = "") -> tuple[Collection, ...]:
        """List somebody's collections behind tombstones, the last removed first."""
        rows = self._all(
            f"{_COLLECTION}latest_collections JOIN tombstones USING (id) "
            "WHERE kind = 'collection' AND person = ? ORDER BY removed DESC, id",
            [person],
        )
        return tuple(_collection(row) for row in rows)

    def _find(self, cursor: DuckDBPyConnection, row_id: str, person: str) -> Collection:
        row = first(cursor, f"{_COLLECTION}live_collections WHERE id = ? AND person = ?", [row_id, person])
        if row is None:
            raise unknown_collection(row_id)
        return _collection(row)


def append_collection(cursor: DuckDBPyConnection, collection: Collection) -> None:
    """Append a version of a collection, inside a transaction."""
    number = value(cursor, "SELECT coalesce(max(number), 0) + 1 FROM collections WHERE id = ?", [collection.id])
    insert(cursor, "collections", columns_of(collection, _COLUMNS) | {"number": number, "written": utc_now()})


def is_live(cursor: DuckDBPyConnection, collection_id: str, person: str) -> bool:
    """Whether somebody has this collection, and has not removed it."""
    query = "SELECT 1 FROM live_collections WHERE id = ? AND person = ?"
    return first(cursor, query, [collection_id, person]) is not None


def unknown_collection(collection_id: str) -> NotFound:
    """Make the error for a collection that is not there."""
    return NotFound(
        f"There is no collection '{collection_id:.40}' in your notebook. One that was removed can be put back there."
    )


def _collection(row: tuple[Any, ...]) -> Collection:
    return record(Collection, _COLUMNS, row)
