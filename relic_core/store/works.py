"""Works with their texts, chapters, paragraphs and sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from relic_core.domain import Work, WorkSummary
from relic_core.errors import NotFound
from relic_core.store import tombstones
from relic_core.store.rows import Rows, add_many, as_utc, utc_now
from relic_core.store.text_pieces import read_text, write_text
from relic_core.store.work_parts import NONE, PARTS, read_part

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from duckdb import DuckDBPyConnection

Outcome = Literal["added", "already", "corrected", "restored", "cut again"]

_SUMMARY = (
    "SELECT id, title, author, year, translator, source, sha256, chapters, sentences, words, added, format "
    "FROM live_works "
)


class Version(NamedTuple):
    """What tells two states of a stored work apart: its text, who cut its sentences, and when it was last written."""

    sha256: str
    segmenter: str
    written: datetime


class WorkRows(Rows):
    """Stored works; a removed work keeps its rows under a tombstone until its text is added again."""

    def add(self, work: Work, *, given: Container[str] = ()) -> tuple[WorkSummary, Outcome]:
        """Add a work in one transaction, unless its text is there already.

        A text that is there already keeps its id. It is written anew where it had been removed (with the metadata of
        `work`) and where another segmenter cut it. Otherwise the metadata stored stand, but for those that were given
        expressly. The date at which it was first added stays in every case.

        - `given`: which of "title", "author", "translator" and "year" the reader gave: they correct what is stored.

        What it returns:
        - `summary`: the stored work.
        - `outcome`: what was done.
        """
        with self._writing() as cursor:
            found = cursor.execute(
                "SELECT id, title, author, translator, source, year, segmenter, added, "
                "id NOT IN (SELECT id FROM live_works) "
                "FROM works WHERE sha256 = ?",
                [work.sha256],
            ).fetchone()
            outcome: Outcome = "added"
            added = utc_now()
            if found is not None:
                stored_id, *values, segmenter, added, removed = found
                stored = dict(zip(("title", "author", "translator", "source", "year"), values, strict=True))
                work = replace(work, id=stored_id)
                if removed:
                    outcome = "restored"
                else:
                    work = replace(work, **{name: value for name, value in stored.items() if name not in given})
                    if segmenter != work.segmenter:
                        outcome = "cut again"
                    elif any(getattr(work, name) != value for name, value in stored.items()):
                        outcome = "corrected"
                    else:
                        return _summary(cursor, stored_id), "already"
                _drop(cursor, stored_id)
            _insert(cursor, work, added)
            return _summary(cursor, work.id), outcome

    def summaries(self) -> tuple[WorkSummary, ...]:
        """List the works by title."""
        with self._reading() as cursor:
            rows = cursor.execute(_SUMMARY + "ORDER BY lower(title), id").fetchall()
        return tuple(_as_summary(row) for row in rows)

    def version(self, work_id: str) -> Version:
        """Say which state of a work is stored.

        Raises NotFound: there is no such work, or it was removed.
        """
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT sha256, segmenter, coalesce(written, added) FROM live_works WHERE id = ?", [work_id]
            ).fetchone()
        if row is None:
            raise unknown_work(work_id)
        return Version(*row)

    def together(self) -> AbstractContextManager[object]:
        """Keep the file open: units of work inside need not open it each, which takes as long as reading a short work.

        Raises StoreBusy, StoreTooNew, StoreReadOnly, StoreError: as their names say.
        """
        return self._reading()

    def load(self, work_id: str) -> Work:
        """Return a work as it was added.

        Raises NotFound: there is no such work, or it was removed.
        """
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT title, author, sha256, segmenter, year, translator, source, format FROM live_works "
                "WHERE id = ?",
                [work_id],
            ).fetchone()
            if row is None:
                raise unknown_work(work_id)
            text = read_text(cursor, work_id)
            chapters, paragraphs, sentences, left_out = (read_part(cursor, table, work_id) for table in PARTS)
        title, author, sha256, segmenter, year, translator, source, file_format = row
        return Work(
            id=work_id,
            title=title,
            author=author,
            text=text,
            sha256=sha256,
            segmenter=segmenter,
            chapters=chapters,
            paragraphs=paragraphs,
            sentences=sentences,
            left_out=left_out,
            year=year,
            translator=translator,
            source=source,
            format=file_format,
        )

    def begin(self, work_ids: Collection[str]) -> dict[str, str]:
        """Give the first characters of works' texts, where a header stands: no more than one piece of each."""
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT work_id, piece FROM texts WHERE position = 0 AND list_contains(?, work_id)", [list(work_ids)]
            ).fetchall()
        return {str(work_id): str(piece) for work_id, piece in rows}

    def is_removed(self, sha256: str) -> bool:
        """Whether a text is stored, and hidden behind a tombstone."""
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT count(*) FROM works WHERE sha256 = ? AND id NOT IN (SELECT id FROM live_works)", [sha256]
            ).fetchone()
        return bool(row and row[0])

    def removed(self) -> tuple[WorkSummary, ...]:
        """List the works behind tombstones, the last removed first."""
        with self._reading() as cursor:
            rows = cursor.execute(
                _SUMMARY.replace("live_works", "works JOIN tombstones USING (id)")
                + "WHERE kind = 'work' ORDER BY removed DESC, id"
            ).fetchall()
        return tuple(_as_summary(row) for row in rows)

    def described(self, work_id: str) -> WorkSummary:
        """Return the line of a work, also of one that was removed.

        Raises NotFound: there never was such a work.
        """
        with self._reading() as cursor:
            row = cursor.execute(_SUMMARY.replace("live_works", "works") + "WHERE id = ?", [work_id]).fetchone()
        if row is None:
            raise unknown_work(work_id)
        return _as_summary(row)

    def describe(self, work_id: str, *, title: str, author: str, translator: str, year: int | None) -> WorkSummary:
        """Correct what is said of a work; its id, its text and the date at which it was added stay.

        Raises NotFound: there is no such work, or it was removed.
        """
        with self._writing() as cursor:
            _summary(cursor, work_id)
            cursor.execute(
                "UPDATE works SET title = ?, author = ?, translator = ?, year = ?, written = ? WHERE id = ?",
                [title, author, translator, year, utc_now(), work_id],
            )
            return _summary(cursor, work_id)

    def remove(self, work_id: str) -> WorkSummary:
        """Hide a work behind a tombstone.

        Raises NotFound: there is no such work, or it was removed before.
        """
        with self._writing() as cursor:
            summary = _summary(cursor, work_id)
            tombstones.hide(cursor, "work", work_id)
            return summary

    def restore(self, work_id: str) -> WorkSummary:
        """Undo a removal; a work that is there stays as it is.

        Raises NotFound: there never was such a work.
        """
        with self._writing() as cursor:
            tombstones.put_back(cursor, "work", work_id)
            return _summary(cursor, work_id)


def unknown_work(work_id: str) -> NotFound:
    """Make the error for a work that is not there."""
    return NotFound(
        f"There is no work '{work_id:.60}' in your library. It may be on another machine, or be another edition; one "
        "that was removed can be put back there."
    )


def _summary(cursor: DuckDBPyConnection, work_id: str) -> WorkSummary:
    row = cursor.execute(_SUMMARY + "WHERE id = ?", [work_id]).fetchone()
    if row is None:
        raise unknown_work(work_id)
    return _as_summary(row)


def _as_summary(row: tuple[Any, ...]) -> WorkSummary:
    work_id, title, author, year, translator, source, sha256, chapters, sentences, words, added, file_format = row
    return WorkSummary(
        id=work_id,
        title=title,
        author=author,
        year=year,
        translator=translator,
        source=source,
        sha256=sha256,
        chapters=chapters,
        sentences=sentences,
        words=words,
        added=as_utc(added),
        format=file_format,
    )


def _drop(cursor: DuckDBPyConnection, work_id: str) -> None:
    cursor.execute("DELETE FROM works WHERE id = ?", [work_id])
    tombstones.put_back(cursor, "work", work_id)
    for part in ("texts", *PARTS):
        cursor.execute(f"DELETE FROM {part} WHERE work_id = ?", [work_id])  # noqa: S608 - one of PARTS


def _insert(cursor: DuckDBPyConnection, work: Work, added: datetime) -> None:
    cursor.execute(
        """
        INSERT INTO works (id, title, author, translator, source, year, sha256, segmenter, chapters, sentences, words,
                           added, written, format)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
            work.id,
            work.title,
            work.author,
            work.translator,
            work.source,
            work.year,
            work.sha256,
            work.segmenter,
            len(work.chapters),
            len(work.sentences),
            sum(len(work.text[sentence.start : sentence.end].split()) for sentence in work.sentences),
            added,
            utc_now(),
            work.format,
        ],
    )
    write_text(cursor, work.id, work.text)
    further = {
        "chapters": ("number", "title", "part"),
        "paragraphs": ("chapter", "number", "kind", "speaker", "line", "note_to"),
        "sentences": ("chapter", "paragraph"),
        "left_out": ("kind",),
    }
    for part in PARTS:
        rows = getattr(work, part)
        columns: dict[str, Sequence[object]] = {
            "work_id": [work.id] * len(rows),
            "position": list(range(len(rows))),
            "start_offset": [row.start for row in rows],
            "end_offset": [row.end for row in rows],
        }
        for name in further[part]:
            columns[name] = [NONE if (value := getattr(row, name)) is None else value for row in rows]
        add_many(cursor, part, columns)
