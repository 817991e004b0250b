"""Works: what is said of them, their texts in pieces, their chapters, paragraphs and sentences.

A text is stored in pieces: DuckDB reads a column of long texts whole to give one of them, and finds a few short pieces
fast. War and Peace, of 74 works, comes in about 25 ms so, and in 100 to 200 ms as one value.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from duckdb import DuckDBPyConnection

from relic_core.domain import (
    Chapter,
    EditionDetails,
    LeftOut,
    Offsets,
    Paragraph,
    Sentence,
    Work,
    WorkSummary,
    WorkVersion,
    fingerprint,
    reading,
)
from relic_core.errors import NotFound
from relic_core.store.rows import Removable, Rows, add_many, columns_of, first, insert, put_back, record, utc_now

Numbers = npt.NDArray[np.int32]

Outcome = Literal["added", "already", "corrected", "restored", "cut again"]

_SUMMARY = tuple(field.name for field in fields(WorkSummary))
_SELECT = f"SELECT {', '.join(_SUMMARY)} FROM "  # noqa: S608 - our own names
_WORK = ("id", "title", "author", "sha256", "segmenter", "year", "translator", "source", "format", "guessed", "cuts")


PIECE = 8192
"""Characters of a piece; the migration that made the table has the same number."""
NONE = -1
"""Stands for no number in columns that are filled by arrays."""
PARTS: Mapping[str, type[Any]] = {
    "chapters": Chapter,
    "paragraphs": Paragraph,
    "sentences": Sentence,
    "left_out": LeftOut,
}
"""Tables of the parts of a work, and what their rows become."""
_FIELDS = {"index": "position", "start": "start_offset", "end": "end_offset"}
"""Fields of the parts that are called otherwise in the tables, where their names mean something else."""


class Version(NamedTuple):
    """What tells two states of a stored work apart: its text, who cut its sentences, and when it was last written."""

    sha256: str
    segmenter: str
    written: datetime


class WorkRows(Removable[WorkSummary]):
    """Stored works; a removed work keeps its rows under a tombstone until its text is added again."""

    kind = "work"

    def add(self, work: Work, *, given: Container[str] = ()) -> tuple[WorkSummary, Outcome]:
        """Add a work in one transaction, unless its text is there already.

        A text that is there already keeps its id. It is written anew where it had been removed (with the metadata of
        `work`) and where another segmenter cut it. Otherwise the metadata stored stand, but for those that were given
        expressly. The date at which it was first added stays in every case.

        - `given`: which of "title", "author", "translator" and "year" the reader gave: they correct what is stored.
        """
        with self._writing() as cursor:
            found = cursor.execute(
                "SELECT id, title, author, translator, source, year, guessed, segmenter, added, "
                "id NOT IN (SELECT id FROM live_works) "
                "FROM works WHERE sha256 = ?",
                [work.sha256],
            ).fetchone()
            outcome: Outcome = "added"
            added = utc_now()
            if found is not None:
                stored_id, *values, segmenter, added, removed = found
                stored = dict(zip(("title", "author", "translator", "source", "year", "guessed"), values, strict=True))
                unsure = ", ".join(name for name in stored["guessed"].split(", ") if name not in given)
                work = replace(work, id=stored_id)
                if removed:
                    outcome = "restored"
                else:
                    kept = {name: value for name, value in stored.items() if name not in given}
                    work = replace(work, **kept | {"guessed": unsure})
                    if segmenter != work.segmenter:
                        outcome = "cut again"
                    elif any(getattr(work, name) != value for name, value in stored.items()):
                        outcome = "corrected"
                    else:
                        return _summary(cursor, stored_id), "already"
                if segmenter == work.segmenter:  # other rules cut golds of their own
                    _move_golds(cursor, work)
                _drop(cursor, stored_id)
            _insert(cursor, work, added)
            return _summary(cursor, work.id), outcome

    def read_anew(self, work: Work) -> WorkSummary:
        """Write a stored work anew that was read otherwise; golds move with their sentences."""
        with self._writing() as cursor:
            added = _summary(cursor, work.id).added
            _move_golds(cursor, work)
            _drop(cursor, work.id)
            _insert(cursor, work, added)
            return _summary(cursor, work.id)

    def summaries(self) -> tuple[WorkSummary, ...]:
        """List the works by title."""
        return tuple(_as_summary(row) for row in self._all(_SELECT + "live_works ORDER BY lower(title), id"))

    def version(self, work_id: str) -> Version:
        """Say which state of a work is stored."""
        row = self._one("SELECT sha256, segmenter, coalesce(written, added) FROM live_works WHERE id = ?", [work_id])
        if row is None:
            raise unknown_work(work_id)
        return Version(*row)

    def load(self, work_id: str) -> Work:
        """Return a work as it was added."""
        with self._reading() as cursor:
            row = first(cursor, f"SELECT {', '.join(_WORK)} FROM live_works WHERE id = ?", [work_id])  # noqa: S608 - our own names
            if row is None:
                raise unknown_work(work_id)
            text = read_text(cursor, work_id)
            parts: dict[str, Any] = {table: _read_part(cursor, table, work_id) for table in PARTS}
        known = dict(zip(_WORK, row, strict=True))
        return Work(text=text, **parts, **known | {"cuts": tuple(known["cuts"] or ())})

    def not_looked_through(self) -> tuple[str, ...]:
        """Give the ids of works that an earlier version added, in which nobody has looked for broken words."""
        return tuple(work_id for (work_id,) in self._all("SELECT id FROM live_works WHERE cuts IS NULL ORDER BY id"))

    def keep_cuts(self, work_id: str, cuts: Sequence[Offsets]) -> None:
        """Keep what was found in such a work; one that has any is read anew, and prepared anew."""
        with self._writing() as cursor:
            cursor.execute(
                "UPDATE works SET cuts = ?, written = if(?, ?, written) WHERE id = ? AND cuts IS NULL",
                [cuts, bool(cuts), utc_now(), work_id],
            )

    def begin(self, work_ids: Collection[str]) -> dict[str, str]:
        """Give the first characters of works' texts, where a header stands: no more than one piece of each."""
        query = "SELECT work_id, piece FROM texts WHERE position = 0 AND list_contains(?, work_id)"
        return dict(self._all(query, [list(work_ids)]))

    def is_removed(self, sha256: str) -> bool:
        """Whether a text is stored, and hidden behind a tombstone."""
        return bool(
            self._one("SELECT 1 FROM works WHERE sha256 = ? AND id NOT IN (SELECT id FROM live_works)", [sha256])
        )

    def removed(self) -> tuple[WorkSummary, ...]:
        """List the works behind tombstones, the last removed first."""
        behind = "works JOIN tombstones USING (id) WHERE kind = 'work' ORDER BY removed DESC, id"
        return tuple(_as_summary(row) for row in self._all(_SELECT + behind))

    def described(self, work_id: str) -> WorkSummary:
        """Return the line of a work, also of one that was removed."""
        with self._reading() as cursor:
            return _summary(cursor, work_id, "works")

    def describe(self, work_id: str, *, title: str, author: str, translator: str, year: int | None) -> WorkSummary:
        """Correct or confirm what is said of a work; its id, its text and the date at which it was added stay."""
        with self._writing() as cursor:
            _summary(cursor, work_id)
            cursor.execute(
                "UPDATE works SET title = ?, author = ?, translator = ?, year = ?, guessed = '', written = ? "
                "WHERE id = ?",
                [title, author, translator, year, utc_now(), work_id],
            )
            return _summary(cursor, work_id)

    def _find(self, cursor: DuckDBPyConnection, row_id: str) -> WorkSummary:
        return _summary(cursor, row_id)


def unknown_work(work_id: str) -> NotFound:
    """Make the error for a work that is not there."""
    return NotFound(
        f"There is no work '{work_id:.60}' in your library. It may be on another machine, or be another edition; one "
        "that was removed can be put back there."
    )


def _summary(cursor: DuckDBPyConnection, work_id: str, table: str = "live_works") -> WorkSummary:
    row = first(cursor, f"{_SELECT}{table} WHERE id = ?", [work_id])
    if row is None:
        raise unknown_work(work_id)
    return _as_summary(row)


def _as_summary(row: tuple[Any, ...]) -> WorkSummary:
    return record(WorkSummary, _SUMMARY, row)


def _move_golds(cursor: DuckDBPyConnection, work: Work) -> None:
    """Have golds of a stored work be the sentences of its new reading that hold their words.

    What is no longer text goes to the sentence before.
    """
    stored = "SELECT start_offset, end_offset FROM sentences WHERE work_id = ? ORDER BY position"
    before = cursor.execute(stored, [work.id]).fetchnumpy()
    after = [sentence.start for sentence in work.sentences]
    firsts = (np.searchsorted(after, before["start_offset"], side="right") - 1).clip(0).tolist()
    lasts = (np.searchsorted(after, before["end_offset"]) - 1).clip(0).tolist()
    for table in ("windows", "examples"):
        cursor.execute(
            f"UPDATE {table} SET gold_start = $firsts[gold_start + 1], "  # noqa: S608 - our own names
            "gold_length = $lasts[gold_start + gold_length] - $firsts[gold_start + 1] + 1 "
            "WHERE work_id = $work AND gold_start + gold_length <= len($lasts) "
            "AND id NOT IN (SELECT id FROM windows WHERE segmenter <> $cut)",
            {"firsts": firsts, "lasts": lasts, "work": work.id, "cut": work.segmenter},
        )


def _drop(cursor: DuckDBPyConnection, work_id: str) -> None:
    cursor.execute("DELETE FROM works WHERE id = ?", [work_id])
    put_back(cursor, "work", work_id)
    for part in ("texts", *PARTS):
        cursor.execute(f"DELETE FROM {part} WHERE work_id = ?", [work_id])  # noqa: S608 - one of PARTS


def _insert(cursor: DuckDBPyConnection, work: Work, added: datetime) -> None:
    work_columns = columns_of(work, _WORK)
    counts = {
        "chapters": len(work.chapters),
        "sentences": len(work.sentences),
        "words": sum(len(work.text[sentence.start : sentence.end].split()) for sentence in work.sentences),
    }
    insert(cursor, "works", work_columns | counts | {"added": added, "written": utc_now()})
    pieces = [work.text[start : start + PIECE] for start in range(0, len(work.text), PIECE)]
    positions = list(range(len(pieces)))
    add_many(cursor, "texts", {"work_id": [work.id] * len(pieces), "position": positions, "piece": pieces})
    for table, kind in PARTS.items():
        rows = getattr(work, table)
        columns: dict[str, Sequence[object]] = {"work_id": [work.id] * len(rows), "position": list(range(len(rows)))}
        for name in (field.name for field in fields(kind) if field.name != "index"):
            values = [getattr(row, name) for row in rows]
            columns[_FIELDS.get(name, name)] = [NONE if value is None else value for value in values]
        add_many(cursor, table, columns)


def read_text(cursor: DuckDBPyConnection, work_id: str) -> str:
    """Put the text of a work together; empty where none is stored."""
    rows = cursor.execute("SELECT piece FROM texts WHERE work_id = ? ORDER BY position", [work_id]).fetchall()
    return "".join(piece for (piece,) in rows)


def _read_part(cursor: DuckDBPyConnection, table: str, work_id: str) -> tuple[Any, ...]:
    kind = PARTS[table]
    names = [field.name for field in fields(kind)]
    columns = ", ".join(_FIELDS.get(name, name) for name in names)
    query = f"SELECT {columns} FROM {table} WHERE work_id = ? ORDER BY position"  # noqa: S608 - one of PARTS
    cursor.execute(query, [work_id])
    found: list[Sequence[Any]] = [column.tolist() for column in cursor.fetchnumpy().values()]
    for optional in {"line", "note_to"}.intersection(names):
        at = names.index(optional)
        found[at] = [None if number == NONE else number for number in found[at]]
    return _make_all(kind, dict(zip(names, found, strict=True)))


def _make_all(kind: type[Any], columns: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    """Make many rows of a frozen dataclass with slots, slot by slot.

    That takes a third of the time of its constructor, which looks up how to get past its own freezing field by field.
    `columns` holds every field.
    """
    made = list(map(object.__new__, repeat(kind, len(next(iter(columns.values()))))))
    for name, values in columns.items():
        deque(map(getattr(kind, name).__set__, made, values), maxlen=0)
    return tuple(made)


class StoredText(NamedTuple):
    """The text of a work, and where its chapters, paragraphs and sentences stand, as `Work` has them.

    - `chapters`: they are few, so they come as they are.
    - `paragraph_starts`, `paragraph_numbers`, `paragraph_lines`: first character, number in the chapter, and number of
      the first line of verse or -1.
    - `sentence_starts`, `sentence_ends`, `sentence_chapters`, `sentence_paragraphs`: character offsets, and indices of
      chapter and paragraph.
    """

    version: Version
    text: str
    chapters: tuple[Chapter, ...]
    paragraph_starts: Numbers
    paragraph_numbers: Numbers
    paragraph_lines: Numbers
    paragraph_notes: npt.NDArray[np.bool_]
    paragraph_speakers: npt.NDArray[np.object_]
    sentence_starts: Numbers
    sentence_ends: Numbers
    sentence_chapters: Numbers
    sentence_paragraphs: Numbers


class TextRows(Rows):
    """The stored works as texts and arrays; works behind tombstones are not there."""

    def versions(self) -> dict[str, Version]:
        """Say of every work which state of it is stored."""
        rows = self._all("SELECT id, sha256, segmenter, coalesce(written, added) FROM live_works")
        return {work_id: Version(*values) for work_id, *values in rows}

    def work_versions(self) -> dict[str, WorkVersion]:
        """Give what names the indexes of every work, by its id, without loading any."""
        with self._reading() as cursor:
            works = cursor.execute("SELECT id, title, sha256, segmenter, cuts FROM live_works").fetchall()
            counts = cursor.execute(
                "SELECT work_id, count(*) FROM sentences GROUP BY work_id ORDER BY work_id"
            ).fetchall()
            found = cursor.execute(
                "SELECT start_offset, end_offset FROM sentences ORDER BY work_id, position"
            ).fetchnumpy()
        places = np.stack([found["start_offset"], found["end_offset"]], axis=1)
        borders = np.cumsum([0, *(count for _, count in counts)])
        of_work = {
            work_id: places[first:last]
            for (work_id, _), first, last in zip(counts, borders[:-1], borders[1:], strict=True)
        }
        versions = {}
        for work_id, title, sha256, segmenter, cuts in works:
            digest = fingerprint(sha256, of_work.get(work_id, places[:0]))
            versions[work_id] = WorkVersion(
                id=work_id,
                title=title,
                fingerprint=digest,
                reading=reading(digest, cuts or ()),
                segmenter=segmenter,
                sentences=len(of_work.get(work_id, ())),
            )
        return versions

    def read(self, work_ids: Sequence[str]) -> dict[str, StoredText]:
        """Return the texts of some works and their arrays."""
        read = {}
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT id, sha256, segmenter, coalesce(written, added) FROM live_works WHERE list_contains(?, id)",
                [list(work_ids)],
            ).fetchall()
            for work_id, *version in rows:
                read[work_id] = _text(cursor, work_id, Version(*version), read_text(cursor, work_id))
        for work_id in work_ids:
            if work_id not in read:
                raise unknown_work(work_id)
        return read


def _text(cursor: DuckDBPyConnection, work_id: str, version: Version, text: str) -> StoredText:
    chapters = cursor.execute(
        "SELECT position, start_offset, end_offset, number, title, part FROM chapters WHERE work_id = ? "
        "ORDER BY position",
        [work_id],
    ).fetchall()
    paragraphs = _arrays(
        cursor,
        "SELECT start_offset, number, coalesce(line, -1) AS line, kind = 'note' AS note, "
        "coalesce(speaker, '') AS speaker FROM paragraphs WHERE work_id = ? ORDER BY position",
        work_id,
    )
    sentences = _arrays(
        cursor,
        "SELECT start_offset, end_offset, chapter, paragraph FROM sentences WHERE work_id = ? ORDER BY position",
        work_id,
    )
    return StoredText(
        version=version,
        text=text,
        chapters=tuple(Chapter(*values) for values in chapters),
        paragraph_starts=paragraphs["start_offset"],
        paragraph_numbers=paragraphs["number"],
        paragraph_lines=paragraphs["line"],
        paragraph_notes=paragraphs["note"],
        paragraph_speakers=paragraphs["speaker"],
        sentence_starts=sentences["start_offset"],
        sentence_ends=sentences["end_offset"],
        sentence_chapters=sentences["chapter"],
        sentence_paragraphs=sentences["paragraph"],
    )


def _arrays(cursor: DuckDBPyConnection, query: str, work_id: str) -> dict[str, Any]:
    """Fetch the columns of one work as arrays; none of them holds NULL."""
    found = cursor.execute(query, [work_id]).fetchnumpy()
    return {name: np.asarray(column) for name, column in found.items()}


_DETAILS = tuple(field.name for field in fields(EditionDetails))


class EditionDetailsRows(Rows):
    """Stored details of editions."""

    def add(self, work_id: str, details: EditionDetails) -> None:
        """Append the details of a work, which count from now on."""
        with self._writing() as cursor:
            insert(
                cursor, "edition_details", {"work_id": work_id, **columns_of(details, _DETAILS), "created": utc_now()}
            )

    def latest(self, work_ids: Collection[str]) -> dict[str, EditionDetails]:
        """Give the details that count of each work; those of which none were said are left out."""
        rows = self._all(
            f"SELECT work_id, {', '.join(_DETAILS)} FROM latest_edition_details "  # noqa: S608 - our own names
            "WHERE list_contains(?, work_id)",
            [list(work_ids)],
        )
        return {work_id: record(EditionDetails, _DETAILS, values) for work_id, *values in rows}
