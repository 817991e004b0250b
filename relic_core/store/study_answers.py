"""Answers to studies, and who gave them: appended, never updated; erased for good when somebody asks for that."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from duckdb import DuckDBPyConnection

from relic_core.domain.studies import Annotator, Answer
from relic_core.errors import NotFound
from relic_core.store.rows import Rows, as_utc, columns_of, first, insert, record, utc_now, value

_SHIELD = "-" * 64
"""Stands before a person's words: the file keeps the first characters of the least and greatest text of a column among
its statistics, where nothing can be written over, and these must not be anybody's."""

_COLUMNS = ("number", "item_id", "annotator_id", "choice", "seconds", "comment", "created")
_ANSWERS = f"SELECT {', '.join(_COLUMNS)} FROM study_answers WHERE study_id = ? "  # noqa: S608 - our own names
_LATEST = _ANSWERS.replace("study_answers", "latest_study_answers")
_OF_ONE = "AND annotator_id = ?"


class AnnotatorCounts(NamedTuple):
    """An annotator, how many items they have answered, and when last (in UTC; None where never)."""

    annotator: Annotator
    answered: int
    last: datetime | None


class Standing(NamedTuple):
    """How a study stands for one annotator: their answers that count by item, and of each item how many others have."""

    answers: dict[str, Answer]
    others: dict[str, int]


class StudyAnswerRows(Rows):
    """Stored annotators and answers."""

    def join(self, study_id: str, name: str) -> Annotator:
        """Give the annotator of a name; a new one where the study has none who is called so."""
        with self._writing() as cursor:
            return _of_name(cursor, study_id, name) or _new(cursor, study_id, secrets.token_hex(6), name)

    def named(self, study_id: str, name: str) -> Annotator | None:
        """Find the annotator of a name; None where nobody is called so."""
        with self._reading() as cursor:
            return _of_name(cursor, study_id, name)

    def annotators(self, study_id: str) -> tuple[AnnotatorCounts, ...]:
        """List the annotators of a study in the order in which they joined."""
        rows = self._all(
            "SELECT a.id, a.name, a.joined, count(b.number), max(b.created) FROM study_annotators a "
            "LEFT JOIN latest_study_answers b ON b.study_id = a.study_id AND b.annotator_id = a.id "
            "WHERE a.study_id = ? GROUP BY a.id, a.name, a.joined ORDER BY a.joined, a.id",
            [study_id],
        )
        return tuple(
            AnnotatorCounts(_annotator(row[:3]), row[3], None if row[4] is None else as_utc(row[4])) for row in rows
        )

    def add(self, study_id: str, answer: Answer) -> Answer:
        """Append an answer; one that comes twice over, as after a lost connection, is kept once."""
        with self._writing() as cursor:
            _check(cursor, study_id, answer.annotator_id)
            before = first(
                cursor, f"{_LATEST}{_OF_ONE} AND item_id = ?", [study_id, answer.annotator_id, answer.item_id]
            )
            known = None if before is None else _answer(before)
            if known is not None and _same(known, answer) and known.comment == answer.comment:
                return known
            return _append(cursor, study_id, answer)

    def take_in(self, study_id: str, given: Sequence[tuple[Annotator, Sequence[Answer]]]) -> int:
        """Append what others answered elsewhere, in one transaction, but for what is here already; count the new ones.

        - `given`: who answered, by an id that is theirs wherever their answers go, and what, in the order in which it
          came. A name that somebody else has here gets a number.
        """
        count = 0
        with self._writing() as cursor:
            for annotator, answers in given:
                if not _is_here(cursor, study_id, annotator.id):
                    name, further = annotator.name, 1
                    while _of_name(cursor, study_id, name) is not None:
                        further += 1
                        name = f"{annotator.name} ({further})"
                    _new(cursor, study_id, annotator.id, name)
                rows = cursor.execute(_ANSWERS + _OF_ONE, [study_id, annotator.id]).fetchall()
                known = [_answer(row) for row in rows]
                for answer in answers:
                    if not any(_same(each, answer) for each in known):
                        _append(cursor, study_id, answer)
                        count += 1
        return count

    def standing(self, study_id: str, annotator_id: str) -> Standing:
        """Say how a study stands for one annotator."""
        with self._reading() as cursor:
            _check(cursor, study_id, annotator_id)
            rows = cursor.execute(_LATEST + _OF_ONE, [study_id, annotator_id]).fetchall()
            others = cursor.execute(
                "SELECT item_id, count(*) FROM latest_study_answers WHERE study_id = ? AND annotator_id <> ? "
                "GROUP BY item_id",
                [study_id, annotator_id],
            ).fetchall()
        return Standing({row[1]: _answer(row) for row in rows}, dict(others))

    def latest(self, study_id: str) -> tuple[Answer, ...]:
        """List the answers that count, in the order in which they came."""
        return tuple(map(_answer, self._all(_LATEST + "ORDER BY number", [study_id])))

    def all(self, study_id: str) -> tuple[Answer, ...]:
        """List every answer that was given, also those that another took the place of, in the order they came."""
        return tuple(map(_answer, self._all(_ANSWERS + "ORDER BY number", [study_id])))

    def count(self, study_id: str) -> tuple[int, int]:
        """Count the annotators of a study, and the answers ever given."""
        with self._reading() as cursor:
            annotators = value(cursor, "SELECT count(*) FROM study_annotators WHERE study_id = ?", [study_id])
            answers = value(cursor, "SELECT count(*) FROM study_answers WHERE study_id = ?", [study_id])
        return annotators, answers

    def erase(self, study_id: str, annotator_id: str) -> int:
        """Delete an annotator with all their answers, write over where these stood in the file, and count them.

        Raises StoreBusy: they are deleted, but others use the file, and it could not be written over: erase again.
        """
        with self._writing() as cursor:
            _check(cursor, study_id, annotator_id)
            rows = cursor.execute(
                "DELETE FROM study_answers WHERE study_id = ? AND annotator_id = ? RETURNING number",
                [study_id, annotator_id],
            )
            answers = len(rows.fetchall())
            cursor.execute("DELETE FROM study_annotators WHERE study_id = ? AND id = ?", [study_id, annotator_id])
            cursor.execute("INSERT INTO study_removals VALUES (?, ?, ?)", [study_id, answers, utc_now()])
        self.scrub()
        return answers

    def scrub(self) -> None:
        """Write over what was deleted of answers and annotators, which a database else keeps until it needs the room.

        Raises StoreBusy: others use the file all the while.
        """
        self._database.scrub(("study_answers", "study_annotators"), self._patience)


def called(name: str) -> str:
    """Give what names are compared by: case, spaces and forms of one letter make no difference.

    >>> called("  Anna  K."), called("ANNA K.")
    ('anna k.', 'anna k.')
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _is_here(cursor: DuckDBPyConnection, study_id: str, annotator_id: str) -> bool:
    query = "SELECT 1 FROM study_annotators WHERE study_id = ? AND id = ?"
    return first(cursor, query, [study_id, annotator_id]) is not None


def _check(cursor: DuckDBPyConnection, study_id: str, annotator_id: str) -> None:
    if not _is_here(cursor, study_id, annotator_id):
        raise NotFound(
            "This study has no such annotator; perhaps their answers were removed. Give your name or code again to "
            "begin anew."
        )


def _of_name(cursor: DuckDBPyConnection, study_id: str, name: str) -> Annotator | None:
    row = cursor.execute(
        "SELECT id, name, joined FROM study_annotators WHERE study_id = ? AND called = ?",
        [study_id, _SHIELD + called(name)],
    ).fetchone()
    return None if row is None else _annotator(row)


def _new(cursor: DuckDBPyConnection, study_id: str, annotator_id: str, name: str) -> Annotator:
    row = (annotator_id, _SHIELD + name, utc_now())
    cursor.execute(
        "INSERT INTO study_annotators VALUES (?, ?, ?, ?, ?)", [study_id, row[0], _SHIELD + called(name), *row[1:]]
    )
    return _annotator(row)


def _append(cursor: DuckDBPyConnection, study_id: str, answer: Answer) -> Answer:
    last = value(cursor, "SELECT coalesce(max(number), 0) FROM study_answers WHERE study_id = ?", [study_id])
    own = {"study_id": study_id, "number": last + 1, "comment": _SHIELD + answer.comment}
    insert(cursor, "study_answers", columns_of(answer, _COLUMNS) | own)
    return replace(answer, number=last + 1)


def _same(one: Answer, other: Answer) -> bool:
    """Whether two answers are one that came twice: nobody takes as long to the tenth of a second a second time."""
    return (one.item_id, one.choice, round(one.seconds, 1)) == (other.item_id, other.choice, round(other.seconds, 1))


def _annotator(row: tuple[Any, ...]) -> Annotator:
    return Annotator(id=row[0], name=row[1].removeprefix(_SHIELD), joined=as_utc(row[2]))


def _answer(row: tuple[Any, ...]) -> Answer:
    answer = record(Answer, _COLUMNS, row)
    return replace(answer, comment=answer.comment.removeprefix(_SHIELD))
