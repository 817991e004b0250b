"""Who has signed in, what each person keeps, and handing all of it over to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain.people import Holding
from relic_core.store import handing_over
from relic_core.store.rows import Rows, utc_now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
        with self._reading() as cursor:
            rows = cursor.execute("SELECT DISTINCT person FROM people WHERE address = ? ORDER BY person", [address])
            return tuple(person for (person,) in rows.fetchall())

    def holdings(self) -> tuple[Holding, ...]:
        """List what everybody keeps who keeps something or has signed in, by their ids; nobody's own first."""
        with self._reading() as cursor:
            return _holdings(cursor)

    def hand_over(self, source: str, target: str) -> Holding:
        """Make everything that one person keeps another's, in one transaction; see `handing_over`.

        Returns: what moved. Done again, nothing is left to move.
        """
        with self._writing() as cursor:
            moved = next((each for each in _holdings(cursor) if each.person == source), Holding(person=source))
            if not moved.empty:
                handing_over.collections(cursor, source, target)
                handing_over.notes(cursor, source, target)
                handing_over.searches(cursor, source, target)
            return moved


def _holdings(cursor: DuckDBPyConnection) -> tuple[Holding, ...]:
    addresses = _last_address(cursor)
    live = {name: _counted(cursor, view) for name, (view, _) in _COUNTED.items()}
    every = {name: _counted(cursor, view) for name, (_, view) in _COUNTED.items()}
    people = sorted({*addresses, *(person for counts in every.values() for person in counts)})
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
    """Count what each person has in a view."""
    return dict(
        cursor.execute(
            f"SELECT coalesce(person, '') AS whose, count(DISTINCT id) FROM {view} GROUP BY whose"  # noqa: S608 - our own names
        ).fetchall()
    )


def _last_address(cursor: DuckDBPyConnection) -> dict[str, str]:
    """Give the address that each person signed in with last."""
    rows = cursor.execute("SELECT person, arg_max(address, seen) FROM people GROUP BY person").fetchall()
    return dict(rows)
