"""Who has signed in, what each person keeps, and making all of it another's.

Transferring is the one place where rows of people are changed in place: what is transferred keeps all its versions and
its times, and nothing stays behind that would be nobody's. The id of a note holds whose it is, so notes get other ids,
and a passage that is kept again is found. What both have is brought together:

* collections of one name become one, the notes that came at its end;
* a note that both have stays in its place, with the words, tags and verdict of both, as far as one note can hold them:
  what it cannot is in its earlier versions;
* what one of them removed and the other did not is there.
"""

from __future__ import annotations

import json
from dataclasses import replace

from duckdb import DuckDBPyConnection

from relic_core.domain import note_id
from relic_core.domain.notes import brought_together
from relic_core.domain.people import Holding
from relic_core.store.notes import append_note, end_of, latest_notes
from relic_core.store.rows import Rows, as_utc, put_back, utc_now, value

_COUNTED = {
    "notes": ("live_notes", "latest_notes"),
    "collections": ("live_collections", "latest_collections"),
    "searches": ("live_searches", "searches"),
}
"""What a person keeps -> where those are that are there, and where all are, the removed ones too."""


class PeopleRows(Rows):
    """People by their ids and by digests of their addresses; no name and no address is stored."""

    def seen(self, person: str, address: str) -> None:
        """Remember that somebody signed in with an address; the two are written once."""
        with self._reading() as cursor:
            if _last_address(cursor).get(person) == address:
                return
        with self._writing() as cursor:
            cursor.execute("INSERT INTO people VALUES (?, ?, ?)", [person, address, utc_now()])

    def with_address(self, address: str) -> tuple[str, ...]:
        """List the ids of all who signed in with an address, which is one person for each provider."""
        rows = self._all("SELECT DISTINCT person FROM people WHERE address = ? ORDER BY person", [address])
        return tuple(person for (person,) in rows)

    def holdings(self) -> tuple[Holding, ...]:
        """List what everybody keeps who keeps something or has signed in, by their ids; nobody's own first."""
        with self._reading() as cursor:
            return _holdings(cursor)

    def transfer_ownership(self, source: str, target: str) -> Holding:
        """Make everything that one person keeps another's, in one transaction; see above. Returns: what moved."""
        with self._writing() as cursor:
            moved = next((each for each in _holdings(cursor) if each.person == source), Holding(person=source))
            if not moved.empty:
                _transfer_collections(cursor, source, target)
                _transfer_notes(cursor, source, target)
                _transfer_searches(cursor, source, target)
                _transfer_further(cursor, source, target)
            return moved


def _holdings(cursor: DuckDBPyConnection) -> tuple[Holding, ...]:
    addresses = _last_address(cursor)
    live = {name: _counted(cursor, view) for name, (view, _) in _COUNTED.items()}
    every = {name: _counted(cursor, view) for name, (_, view) in _COUNTED.items()}
    people = sorted(set(addresses).union(*every.values()))
    return tuple(
        Holding(
            person=person,
            notes=live["notes"].get(person, 0),
            collections=live["collections"].get(person, 0),
            searches=live["searches"].get(person, 0),
            removed=sum(every[name].get(person, 0) - live[name].get(person, 0) for name in _COUNTED),
            address=addresses.get(person, ""),
        )
        for person in people
    )


def _counted(cursor: DuckDBPyConnection, view: str) -> dict[str, int]:
    return dict(
        cursor.execute(
            f"SELECT coalesce(person, '') AS whose, count(DISTINCT id) FROM {view} GROUP BY whose"  # noqa: S608 - our own names
        ).fetchall()
    )


def _last_address(cursor: DuckDBPyConnection) -> dict[str, str]:
    rows = cursor.execute("SELECT person, arg_max(address, seen) FROM people GROUP BY person").fetchall()
    return dict(rows)


def _transfer_collections(cursor: DuckDBPyConnection, source: str, target: str) -> None:
    """Hand collections over; one whose name the other has is brought into that."""
    there = {
        name.casefold(): collection_id
        for collection_id, name in cursor.execute(
            "SELECT id, name FROM live_collections WHERE person = ?", [target]
        ).fetchall()
    }
    rows = cursor.execute(
        "SELECT id, name, id IN (SELECT id FROM live_collections) FROM latest_collections WHERE person = ? "
        "ORDER BY created, id",
        [source],
    ).fetchall()
    for collection_id, name, live in rows:
        home = there.get(name.casefold()) if live else None
        if home is None:
            cursor.execute("UPDATE collections SET person = ? WHERE id = ?", [target, collection_id])
            continue
        least = value(
            cursor, "SELECT coalesce(min(position), 0) FROM latest_notes WHERE collection_id = ?", [collection_id]
        )
        cursor.execute(
            "UPDATE notes SET collection_id = ?, position = position + ? WHERE collection_id = ?",
            [home, end_of(cursor, home) - least, collection_id],
        )
        cursor.execute("DELETE FROM collections WHERE id = ?", [collection_id])


def _transfer_notes(cursor: DuckDBPyConnection, source: str, target: str) -> None:
    """Hand notes over, each under the id that it has there."""
    theirs, ours = latest_notes(cursor, source), latest_notes(cursor, target)
    live = {each for (each,) in cursor.execute("SELECT id FROM live_notes").fetchall()}
    names = {each.id: note_id(target, each.kept) for each in theirs.values()}
    both = {old: new for old, new in names.items() if new in ours}
    for old, new in both.items():
        _make_room(cursor, old, new)
    _rename(cursor, names, target)
    for old, new in both.items():
        if old in live:
            there = ours[new] if new in live else None
            put_back(cursor, "note", new)
            came = replace(theirs[old], id=new, person=target)
            wanted = came if there is None else brought_together(came, there)
            if wanted != there:
                append_note(cursor, replace(wanted, updated=as_utc(utc_now())))


def _transfer_searches(cursor: DuckDBPyConnection, source: str, target: str) -> None:
    theirs, ours = _asked(cursor, source), _asked(cursor, target)
    cursor.execute("UPDATE searches SET person = ? WHERE coalesce(person, '') = ?", [target, source])
    for search_id, live in theirs.items():
        before, after = f"{source}/{search_id}", f"{target}/{search_id}"
        if live:
            put_back(cursor, "search", after)
        elif search_id in ours:
            put_back(cursor, "search", before)
        else:
            cursor.execute("UPDATE tombstones SET id = ? WHERE kind = 'search' AND id = ?", [after, before])


def _transfer_further(cursor: DuckDBPyConnection, source: str, target: str) -> None:
    """Hand over what was asked of a model about searches; where both asked, what came stands at the end."""
    theirs, ours = _asked_further(cursor, source), _asked_further(cursor, target)
    cursor.execute(
        "UPDATE reading_texts SET claim = split_part(claim, '/', 1) || '/' || ? "
        "WHERE kind = 'further' AND split_part(claim, '/', 2) = ?",
        [target, source],
    )
    for search_id in theirs.keys() & ours.keys():
        both = json.dumps(list(dict.fromkeys([*ours[search_id], *theirs[search_id]])))
        cursor.execute(
            "INSERT INTO reading_texts VALUES (?, ?, ?, ?)", ["further", f"{search_id}/{target}", both, utc_now()]
        )


def _asked_further(cursor: DuckDBPyConnection, person: str) -> dict[str, list[str]]:
    rows = cursor.execute(
        "SELECT split_part(claim, '/', 1), arg_max(text, created) FROM reading_texts "
        "WHERE kind = 'further' AND split_part(claim, '/', 2) = ? GROUP BY ALL",
        [person],
    ).fetchall()
    return {search_id: json.loads(text) for search_id, text in rows}


def _make_room(cursor: DuckDBPyConnection, old: str, new: str) -> None:
    """Let a note that both have keep what it was kept with; the versions that come stand before its own."""
    many = value(cursor, "SELECT max(number) FROM notes WHERE id = ?", [old])
    cursor.execute("UPDATE notes SET number = number + ? WHERE id = ?", [many, new])
    cursor.execute("DELETE FROM kept_passages WHERE note_id = ?", [old])
    put_back(cursor, "note", old)


def _rename(cursor: DuckDBPyConnection, names: dict[str, str], target: str) -> None:
    listed = [list(names), list(names.values())]
    renamed = "FROM (SELECT unnest(?) AS before, unnest(?) AS after) AS renamed WHERE"
    cursor.execute(f"UPDATE notes SET id = renamed.after {renamed} notes.id = renamed.before", listed)  # noqa: S608 - our own words
    cursor.execute(
        f"UPDATE kept_passages SET note_id = renamed.after, person = ? {renamed} note_id = renamed.before",  # noqa: S608 - as above
        [target, *listed],
    )
    cursor.execute(
        f"UPDATE tombstones SET id = renamed.after {renamed} kind = 'note' AND tombstones.id = renamed.before",  # noqa: S608 - as above
        listed,
    )


def _asked(cursor: DuckDBPyConnection, person: str) -> dict[str, bool]:
    rows = cursor.execute(
        "SELECT DISTINCT id, id IN (SELECT id FROM live_searches WHERE coalesce(person, '') = ?) FROM searches "
        "WHERE coalesce(person, '') = ?",
        [person, person],
    ).fetchall()
    return dict(rows)
