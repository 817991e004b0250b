"""The notebook as JSON: collections with their notes, each with the passage as it was kept.

::

    {
     "format": "relic notebook/1",
     "made_with": "relic_core 0.1.0",
     "sha256": "…",                                over "collections"
     "collections": [{"id": "…", "name": "My notes", "created": "…", "notes": [
       {"created": "…", "updated": "…", "words": "…", "tags": ["…"], "verdict": "supports",
        "kept": {"work_id": "…", "sha256": "…", "at": "3.5.2", "length": 1, "quotation": "…", …}}, …]}, …]
    }

Notes are in their order. Nobody's name is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from typing import NamedTuple

from relic_core import __version__
from relic_core.domain import Address, Collection, KeptPassage, Note, note_id
from relic_core.domain.notes import checked_name, checked_tags, checked_verdict, checked_words
from relic_core.errors import BadRequest
from relic_core.formats.envelope import Envelope
from relic_core.formats.files import Moment, Name, Strict, checked

FILE = Envelope("notebook", 1, ("collections",), {"made_with": f"relic_core {__version__}"})


class Section(NamedTuple):
    """A collection with its notes in their order."""

    collection: Collection
    notes: tuple[Note, ...]


def notes_of(sections: Iterable[Section]) -> Iterator[Note]:
    """Give the notes of collections, one after another."""
    return chain.from_iterable(section.notes for section in sections)


class _Note(Strict):
    created: Moment
    updated: Moment
    words: str
    tags: list[str]
    verdict: str | None
    kept: KeptPassage


class _Collection(Strict):
    id: Name
    name: str
    created: Moment
    notes: list[_Note]


class _Notebook(Strict):
    collections: list[_Collection]


def write_notebook(sections: Iterable[Section]) -> bytes:
    """Write collections as a file: the same notes make the same bytes."""
    collections = []
    for collection, notes in sections:
        listed = [
            {
                "created": note.created.isoformat(),
                "updated": note.updated.isoformat(),
                "words": note.words,
                "tags": list(note.tags),
                "verdict": note.verdict,
                "kept": asdict(note.kept),
            }
            for note in notes
        ]
        collections.append(
            {
                "id": collection.id,
                "name": collection.name,
                "created": collection.created.isoformat(),
                "notes": listed,
            }
        )
    return FILE.write({"collections": collections})


def read_notebook(data: bytes, source: str, *, person: str = "") -> tuple[Section, ...]:
    """Read the file of a notebook and check all of it. Raises BadBenchmark: it is none, damaged, or too new."""
    read = checked(_Notebook, FILE.read(data, source), source)
    try:
        sections = tuple(_section(each, person) for each in read.collections)
    except (BadRequest, ValueError) as error:
        raise FILE.damaged(source, str(error)) from None
    ids = [note.id for note in notes_of(sections)]
    if len(set(ids)) < len(ids) or len({section.collection.id for section in sections}) < len(sections):
        raise FILE.damaged(source, "a note or a collection is in it twice")
    return sections


def _section(read: _Collection, person: str) -> Section:
    collection = Collection(id=read.id, name=checked_name(read.name), created=read.created, person=person)
    return Section(collection, tuple(_note(each, read.id, person, at) for at, each in enumerate(read.notes, 1)))


def _note(read: _Note, collection_id: str, person: str, at: int) -> Note:
    kept = read.kept
    if kept.end <= kept.start:
        raise ValueError("a passage ends before it begins")
    Address.parse(kept.at)
    return Note(
        id=note_id(person, kept),
        collection_id=collection_id,
        kept=kept,
        words=checked_words(read.words),
        tags=checked_tags(read.tags),
        verdict=None if read.verdict is None else checked_verdict(read.verdict),
        position=float(at),
        created=read.created,
        updated=read.updated,
        person=person,
    )
