"""Arranging the notebook: collections, and the order of notes in them; removing, and undoing it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relic_core.domain import Collection
from relic_core.domain.notes import checked_name
from relic_core.errors import BadRequest
from relic_core.services.notebook.keeping import new_id

if TYPE_CHECKING:
    from relic_core.domain import CollectionCount, Note
    from relic_core.wiring import App

FIRST_COLLECTION = "My notes"
"""What the collection is called that keeping makes where there is none."""


class Arranging:
    """The part of a notebook that puts notes in their places."""

    def __init__(self, app: App) -> None:
        self._app = app

    def collections(self, person: str = "") -> tuple[CollectionCount, ...]:
        """List the collections with how many notes each has, the oldest first."""
        return self._app.store.collections.all(person)

    def add_collection(self, name: str, person: str = "") -> Collection:
        """Make a collection.

        Raises BadRequest: the name is empty, too long, or taken.
        """
        collection = Collection(
            id=new_id(), name=self._free_name(name, person), created=datetime.now(UTC), person=person
        )
        self._app.store.collections.add(collection)
        return collection

    def rename_collection(self, collection_id: str, name: str, person: str = "") -> Collection:
        """Give a collection another name; errors as for `add_collection`, and NotFound."""
        free = self._free_name(name, person, but=collection_id)
        return self._app.store.collections.rename(collection_id, free, person)

    def remove_collection(self, collection_id: str, person: str = "") -> Collection:
        """Hide a collection with its notes; `undo_collection` brings both back. Raises NotFound."""
        return self._app.store.collections.remove(collection_id, person)

    def undo_collection(self, collection_id: str, person: str = "") -> Collection:
        """Bring a removed collection back. Raises NotFound."""
        return self._app.store.collections.restore(collection_id, person)

    def removed_collections(self, person: str = "") -> tuple[Collection, ...]:
        """List the collections that were removed, the last first."""
        return self._app.store.collections.removed(person)

    def move(self, note_id: str, steps: int, person: str = "") -> Note:
        """Move a note up (below 0) or down in its collection, as far as it goes. Raises NotFound."""
        rows = self._app.store.notes
        order = [note.id for note in rows.all(person, rows.get(note_id, person).collection_id)]
        return rows.place(note_id, max(0, order.index(note_id) + steps), person)

    def move_to(self, note_id: str, collection_id: str, person: str = "") -> Note:
        """Put a note at the end of another collection. Raises NotFound."""
        return self._app.store.notes.change(note_id, person, collection_id=collection_id)

    def remove(self, note_id: str, person: str = "") -> Note:
        """Hide a note; `undo` brings it back with its words. Raises NotFound."""
        return self._app.store.notes.remove(note_id, person)

    def undo(self, note_id: str, person: str = "") -> Note:
        """Bring a removed note back. Raises NotFound."""
        return self._app.store.notes.restore(note_id, person)

    def removed(self, person: str = "") -> tuple[Note, ...]:
        """List the notes that were removed, the last first."""
        return self._app.store.notes.removed(person)

    def current(self, person: str) -> Collection:
        """Give the collection that was kept in last, or made last; make one where there is none."""
        there = [each.collection for each in self.collections(person)]
        if not there:
            return self.add_collection(FIRST_COLLECTION, person)
        last = self._app.store.notes.last_kept(person)
        newest = there[-1]
        if last is None or newest.created > last.created:
            return newest
        # The collection may have been removed between the two looks: then it is the newest of the others.
        return next((each for each in there if each.id == last.collection_id), newest)

    def _free_name(self, name: str, person: str, *, but: str = "") -> str:
        checked = checked_name(name)
        for each in self.collections(person):
            if each.collection.id != but and each.collection.name.casefold() == checked.casefold():
                raise BadRequest(
                    f"You have a collection called “{each.collection.name}” already. Choose another name, or keep your "
                    "notes in that one."
                )
        return checked
