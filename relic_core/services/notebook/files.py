"""The notebook as files: JSON out and in, and verdicts as an evaluation set."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats.files import read_bytes, written_whole
from relic_core.formats.notebook import Section, read_notebook, write_notebook
from relic_core.services.notebook import evaluation_set
from relic_core.services.notebook.keeping import new_id
from relic_core.services.notebook.standing import Editions

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.domain import Collection, Note
    from relic_core.services.notebook.evaluation_set import EvaluationSet
    from relic_core.wiring import App

LARGEST = 50_000_000
"""In bytes: some ten thousand notes."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What a file added.

    - `new`: notes that were not here.
    - `newer`: notes that were here and are now as the file has them, since they were changed there later. What they
      said before stays in the store.
    - `there`: notes that were here, and stay as they are.
    """

    new: int
    newer: int
    there: int


class Files:
    """What goes out of the notebook of an app, and comes in."""

    def __init__(self, app: App) -> None:
        self._app = app

    def export(self, collection_id: str = "", person: str = "") -> bytes:
        """Write the notebook, or one collection, as JSON.

        Raises NotFound: there is no such collection.
        """
        return write_notebook(self.sections(collection_id, person))

    def sections(self, collection_id: str = "", person: str = "") -> tuple[Section, ...]:
        """Give the notebook, or one collection, with its notes in order. Raises NotFound."""
        store = self._app.store
        if collection_id:
            chosen = [store.collections.get(collection_id, person)]
        else:
            chosen = [each.collection for each in store.collections.all(person)]
        return tuple(Section(collection, store.notes.all(person, collection.id)) for collection in chosen)

    def evaluation_set(self, collection_id: str = "", person: str = "") -> EvaluationSet:
        """Make an evaluation set of the passages that support their claims.

        Raises BadRequest: there is none; the message says why.
        Raises NotFound: there is no such collection.
        """
        editions = Editions(self._app)
        views = [editions.view(note) for section in self.sections(collection_id, person) for note in section.notes]
        return evaluation_set.make(self._app, views)

    def take_in(self, data: bytes, name: str = "The file", person: str = "") -> TakenIn:
        """Take in a notebook that was saved before, here or elsewhere, all of it or nothing.

        A note that is not here is added at the end of its collection, which is found by its id or name, or made. One
        that is here takes words, tags and verdict from the file if it was changed there later. So the same file twice
        adds nothing.

        - `person`: whose the notes are to be.

        Raises BadBenchmark: it is no notebook, was damaged or changed by hand, is too large, or was written by a newer
        version.
        """
        if len(data) > LARGEST:
            raise BadBenchmark(f"{name} is too large for a notebook: at most {LARGEST:,} bytes are read.")
        sections = read_notebook(data, name, person=person)
        rows = self._app.store.notes
        known = rows.known(person)
        live = {note.id for note in rows.all(person)}
        homes = _Homes(self._app, person)
        notes: list[Note] = []
        new = newer = there = 0
        for section in sections:
            for note in section.notes:
                here = known.get(note.id)
                if here is None or note.id not in live:
                    home, position = homes.end_of(section.collection)
                    best = note if here is None or note.updated > here.updated else here
                    notes.append(replace(best, collection_id=home, position=position))
                    new += 1
                elif note.updated > here.updated:
                    notes.append(
                        replace(here, words=note.words, tags=note.tags, verdict=note.verdict, updated=note.updated)
                    )
                    newer += 1
                else:
                    there += 1
            if not section.notes:
                homes.of(section.collection)
        rows.take_in(homes.made, notes)
        return TakenIn(new, newer, there)

    def take_in_file(self, path: Path, person: str = "") -> TakenIn:
        """Take in a notebook from a file; raises NotFound too, else as `take_in`."""
        return self.take_in(read_bytes(path, at_most=LARGEST), str(path), person)

    def write(self, path: Path, content: bytes) -> None:
        """Write what one of these gave into a file, whole or not at all.

        Raises StoreError: the file cannot be written.
        """
        with written_whole(path) as file:
            file.write(content)

    def file_name(self, end: str, collection_id: str = "", person: str = "") -> str:
        """Name a file of the notebook: "notebook.json", "notebook light-and-water.json"."""
        if not collection_id:
            return f"notebook.{end}"
        name = self._app.store.collections.get(collection_id, person).name
        slug = re.sub(r"[\W_]+", "-", name.casefold()).strip("-")[:60]
        return f"notebook {slug}.{end}" if slug else f"notebook.{end}"


class _Homes:
    """Finds the collections here that those of a file mean, and makes those that are lacking."""

    def __init__(self, app: App, person: str) -> None:
        counts = app.store.collections.all(person)
        self._rows, self._person = app.store.notes, person
        self._by_id = {each.collection.id: each.collection for each in counts}
        self._by_name = {each.collection.name.casefold(): each.collection for each in counts}
        self._ends: dict[str, float] = {}
        self.made: list[Collection] = []

    def of(self, collection: Collection) -> Collection:
        """Give the collection here."""
        here = self._by_id.get(collection.id) or self._by_name.get(collection.name.casefold())
        if here is None:
            here = replace(collection, id=new_id())
            self.made.append(here)
            self._by_id[collection.id] = self._by_name[here.name.casefold()] = here
        return here

    def end_of(self, collection: Collection) -> tuple[str, float]:
        """Give the id of the collection here, and the next place at its end."""
        home = self.of(collection).id
        if home not in self._ends:
            notes = self._rows.all(self._person, home) if self._by_id.get(home) else ()
            self._ends[home] = max((note.position for note in notes), default=0.0)
        self._ends[home] += 1
        return home, self._ends[home]
