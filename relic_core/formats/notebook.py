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

Notes stand in their order. Nobody's name is in it. The file is checked whole: by its digest, and by what a note may be.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from relic_core import __version__
from relic_core.domain import ORIGINS, Address, Collection, KeptPassage, Note, note_id
from relic_core.domain.notes import checked_name, checked_tags, checked_verdict, checked_words
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.files import as_object, as_string, as_strings, check_text, kind_of, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME, VERSION = "relic notebook", 1
"""Name and version of the format: a later version is refused."""

_HEAD = ("format", "made_with", "sha256", "collections")
_COLLECTION = ("id", "name", "created", "notes")
_NOTE = ("created", "updated", "words", "tags", "verdict", "kept")
_KEPT = tuple(field.name for field in fields(KeptPassage))
_NUMBERS = ("length", "start", "end", "paragraph", "rank")
_FORMAT = re.compile(rf"{NAME}/(\d{{1,6}})")


class Section(NamedTuple):
    """A collection with its notes in their order."""

    collection: Collection
    notes: tuple[Note, ...]


def write_notebook(sections: Iterable[Section]) -> bytes:
    """Write collections as a file: the same notes make the same bytes."""
    content = [
        {
            "id": collection.id,
            "name": collection.name,
            "created": collection.created.isoformat(),
            "notes": [_content(note) for note in notes],
        }
        for collection, notes in sections
    ]
    whole = {
        "format": f"{NAME}/{VERSION}",
        "made_with": f"relic_core {__version__}",
        "sha256": _digest(content),
        "collections": content,
    }
    return f"{json.dumps(whole, indent=1, ensure_ascii=False)}\n".encode()


def read_notebook(data: bytes, source: str, *, person: str = "") -> tuple[Section, ...]:
    """Read the file of a notebook and check all of it.

    - `person`: whose the notes are to be.

    Raises BadBenchmark: it is no notebook, was damaged or changed by hand, or was written by a newer version of this
    program.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadBenchmark(
            f"{source} is not text in UTF-8 (byte {error.start:,}), so it is no notebook. Choose the JSON file that "
            "the notebook saved."
        ) from None
    raw = parse(text, source)
    _check_format(raw, source)
    content = as_object(raw, source, _HEAD)
    check_text(text, source)
    listed = content["collections"]
    if content["sha256"] != _digest(listed):
        raise _damaged(source, "its content is not what its sha256 says: it was changed by hand, or on the way")
    try:
        sections = tuple(
            _section(each, f"{source}, collection {at}", person) for at, each in enumerate(_as_list(listed), 1)
        )
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, BadRequest) as error:
        raise _damaged(source, str(error)) from None
    ids = [note.id for section in sections for note in section.notes]
    if len(set(ids)) < len(ids) or len({section.collection.id for section in sections}) < len(sections):
        raise _damaged(source, "a note or a collection stands in it twice")
    return sections


def _check_format(raw: object, source: str) -> None:
    """Say of a file what it is before it is held to what this version knows."""
    said = raw.get("format") if isinstance(raw, dict) else None
    found = _FORMAT.fullmatch(said) if isinstance(said, str) else None
    if found is None:
        raise BadBenchmark(
            f"{source} is no notebook of this program: it does not begin with the format '{NAME}/{VERSION}'. Choose "
            "the JSON file that the notebook saved."
        )
    if int(found[1]) != VERSION:
        raise BadBenchmark(
            f"{source} was written by a newer version of this program (format {found[0]}; this one reads "
            f"{NAME}/{VERSION}). Nothing was taken in. Update the program, or save the notebook anew with this version."
        )


def _content(note: Note) -> dict[str, Any]:
    return {
        "created": note.created.isoformat(),
        "updated": note.updated.isoformat(),
        "words": note.words,
        "tags": list(note.tags),
        "verdict": note.verdict,
        "kept": asdict(note.kept),
    }


def _section(raw: object, here: str, person: str) -> Section:
    said = as_object(raw, here, _COLLECTION)
    collection = Collection(
        id=as_string(said["id"], f"{here}, id,"),
        name=checked_name(as_string(said["name"], f"{here}, name,")),
        created=_time(said["created"]),
        person=person,
    )
    listed = enumerate(_as_list(said["notes"]), 1)
    return Section(
        collection, tuple(_note(each, f"{here}, note {at}", collection.id, person, at) for at, each in listed)
    )


def _as_list(raw: object) -> list[object]:
    if not isinstance(raw, list):
        raise TypeError(f"collections and notes are lists, and there is {kind_of(raw)}")
    return raw


def _note(raw: object, here: str, collection_id: str, person: str, at: int) -> Note:
    said = as_object(raw, here, _NOTE)
    verdict = said["verdict"]
    kept = _kept(as_object(said["kept"], f"{here}, kept,", _KEPT), f"{here}, kept,")
    return Note(
        id=note_id(person, kept),
        collection_id=collection_id,
        kept=kept,
        words=checked_words(as_string(said["words"], f"{here}, words,", empty=True)),
        tags=checked_tags(as_strings(said["tags"], f"{here}, tags,")),
        verdict=None if verdict is None else checked_verdict(as_string(verdict, f"{here}, verdict,")),
        position=float(at),
        created=_time(said["created"]),
        updated=_time(said["updated"]),
        person=person,
    )


def _kept(said: Mapping[str, Any], here: str) -> KeptPassage:
    for name in _KEPT:
        if name in _NUMBERS or (name == "line" and said[name] is not None):
            if type(said[name]) is not int or said[name] < 0:
                raise ValueError(f"{here} '{name}' is a whole number from 0")
        elif name != "line":
            as_string(said[name], f"{here} '{name}'", empty=name not in {"work_id", "sha256", "title", "quotation"})
    if said["origin"] not in ORIGINS or said["length"] < 1 or not said["start"] < said["end"]:
        raise ValueError(f"{here} its page, length or place is one that cannot be")
    Address.parse(said["at"])
    return KeptPassage(**said)


def _time(written: object) -> datetime:
    read = datetime.fromisoformat(str(written))
    if read.tzinfo is None:
        raise ValueError(f"the time {written!s:.40} has no zone")
    return read.astimezone(UTC)


def _damaged(source: str, what: str) -> BadBenchmark:
    return BadBenchmark(
        f"{source} cannot be taken in as a notebook: {what:.300}. Your notebook is as it was; save the file anew where "
        "it came from."
    )


def _digest(content: object) -> str:
    compact = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(compact.encode("utf-8", "surrogatepass")).hexdigest()
