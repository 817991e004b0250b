"""Studies of the proxy task: what they are, what they tell annotators, who runs them; appended, never updated.

The code of who runs a study opens its results and its management on the page, so that annotators get no hint. A code is
not kept, only what it was sealed to (scrypt with a salt). It guards the page alone: anyone who can run the program's
commands, or read its files, has the study anyway, and can give it another code.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from duckdb import DuckDBPyConnection

from relic_core.domain.studies import ModelAnswers, Study, StudyTerms
from relic_core.errors import BadRequest, NotFound, StudyFrozen
from relic_core.formats.studies import item_content, making_content, study_of
from relic_core.installed import COMMAND
from relic_core.store.rows import (
    Removable,
    add_many,
    as_utc,
    columns_of,
    first,
    insert,
    put_back,
    record,
    utc_now,
    value,
)

FROZEN = ("instructions", "wanted")
"""Terms that do not change once there is an answer."""

_COLUMNS = ("id", "name", "version", "earlier", "works", "making", "created")
_MODEL = ("id", "study_id", "retriever", "label", "configuration", "choices", "ranks", "code", "created")
_TERMS = ("instructions", "wanted", "consent", "privacy", "revealed", "runner")
LONGEST_CODE = 200
_SCHEME = "scrypt"
_SALT = 16
"""Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCounts:
    """A line of the list of studies; `answers` counts each item once for each annotator."""

    id: str
    name: str
    version: int
    items: int
    works: tuple[str, ...]
    annotators: int
    answers: int
    created: datetime
    kind: str = "proxy"


class StudyRows(Removable[Study]):
    """Stored studies; the answers to one that was removed stay."""

    kind = "study"

    def add(self, study: Study, terms: StudyTerms) -> bool:
        """Keep a study with its items and terms, in one transaction.

        Returns: false where it is there already: nothing is written, but a study that was removed comes back.
        """
        with self._writing() as cursor:
            put_back(cursor, "study", study.id)
            if value(cursor, "SELECT count(*) FROM studies WHERE id = ?", [study.id]):
                return False
            own = {
                "works": json.dumps([asdict(work) for work in study.works]),
                "making": making_content(study.making),
                "items": len(study.items),
            }
            insert(cursor, "studies", columns_of(study, _COLUMNS) | own)
            add_many(
                cursor,
                "study_items",
                {
                    "study_id": [study.id for _ in study.items],
                    "position": list(range(len(study.items))),
                    "id": [item.id for item in study.items],
                    "content": [json.dumps(item_content(item), ensure_ascii=False) for item in study.items],
                },
            )
            _append_terms(cursor, study.id, {name: getattr(terms, name) for name in _TERMS})
        return True

    def all(self, *, removed: bool = False) -> tuple[StudyCounts, ...]:
        """List the studies, newest first; or those that were removed."""
        such = "IN" if removed else "NOT IN"
        rows = self._all(
            "SELECT id, name, version, items, works, "  # noqa: S608 - our own names
            "(SELECT count(*) FROM study_annotators WHERE study_id = studies.id), "
            "(SELECT count(*) FROM latest_study_answers WHERE study_id = studies.id), created, making FROM studies "
            f"WHERE id {such} (SELECT id FROM tombstones WHERE kind = 'study') ORDER BY created DESC, id"
        )
        return tuple(
            StudyCounts(
                id=study_id,
                name=name,
                version=version,
                items=items,
                works=tuple(work["title"] for work in json.loads(works)),
                annotators=annotators,
                answers=answers,
                created=as_utc(created),
                kind=json.loads(making).get("kind", "proxy"),
            )
            for study_id, name, version, items, works, annotators, answers, created, making in rows
        )

    def later(self, study_id: str) -> str:
        """Give the id of the version that was made from a study, the last of several; empty where there is none."""
        rows = self._all("SELECT id FROM live_studies WHERE earlier = ? ORDER BY created DESC, id", [study_id])
        return rows[0][0] if rows else ""

    def is_known(self, study_id: str) -> bool:
        """Whether the study is there, or was and was removed."""
        return self._one("SELECT 1 FROM studies WHERE id = ?", [study_id]) is not None

    def terms(self, study_id: str) -> StudyTerms:
        """Give what a study asks and tells now."""
        rows = self._all("SELECT kind, said FROM latest_study_terms WHERE study_id = ?", [study_id])
        if not rows:
            raise unknown_study(study_id)
        return StudyTerms(**{kind: json.loads(text) for kind, text in rows})

    def change_terms(self, study_id: str, changes: Mapping[str, str | int | bool]) -> None:
        """Append what a study asks and tells from now on, in one transaction with looking for answers.

        Raises StudyFrozen: what people have answered by is to be changed.
        """
        before = self.terms(study_id)
        new = {name: term for name, term in changes.items() if term != getattr(before, name)}
        with self._writing() as cursor:
            answers = value(cursor, "SELECT count(*) FROM study_answers WHERE study_id = ?", [study_id])
            if answers and (frozen := [name for name in FROZEN if name in new]):
                raise StudyFrozen(
                    f"There are {answers:,} answers to this study, so its {' and '.join(frozen)} cannot be changed: "
                    "others would have answered another question. Make a new version of it; the consent text, the "
                    "privacy line and whether right and wrong are shown can be changed here."
                )
            _append_terms(cursor, study_id, new)

    def add_models(self, answers: ModelAnswers) -> None:
        """Append what a retriever answered; under an id that is there it replaces what was."""
        with self._writing() as cursor:
            insert(cursor, "study_models", columns_of(answers, _MODEL))

    def models(self, study_id: str) -> tuple[ModelAnswers, ...]:
        """List what retrievers answered to a study, oldest first; of each id the last."""
        rows = self._all(
            f"SELECT {', '.join(_MODEL)} FROM latest_study_models WHERE study_id = ? ORDER BY created, id",  # noqa: S608 - our own names
            [study_id],
        )
        return tuple(record(ModelAnswers, _MODEL, row, parsed=("configuration", "choices", "ranks")) for row in rows)

    def sealed(self, study_id: str) -> str:
        """Give the sealed code of a study, the last that was given; empty where it has none."""
        row = self._one("SELECT sealed FROM latest_study_owners WHERE study_id = ?", [study_id])
        return "" if row is None else str(row[0])

    def add_owner(self, study_id: str, sealed: str) -> None:
        """Append a sealed code, which counts from now on; an empty one takes it away."""
        with self._writing() as cursor:
            cursor.execute("INSERT INTO study_owners VALUES (?, ?, ?)", [study_id, sealed, utc_now()])

    def _find(self, cursor: DuckDBPyConnection, row_id: str) -> Study:
        row = first(cursor, f"SELECT {', '.join(_COLUMNS)} FROM live_studies WHERE id = ?", [row_id])  # noqa: S608 - our own names
        if row is None:
            raise unknown_study(row_id)
        *values, works, making, created = row
        content = dict(zip(_COLUMNS, values, strict=False)) | {
            "works": json.loads(works),
            "making": json.loads(making),
            "created": as_utc(created).isoformat(),
        }
        items = cursor.execute("SELECT content FROM study_items WHERE study_id = ? ORDER BY position", [row_id])
        return study_of(content, [json.loads(text) for (text,) in items.fetchall()], f"study {row_id}")


def seal(code: str) -> str:
    """Seal a code: what is kept of it, from which it cannot be read; empty for an empty one.

    Raises BadRequest: it is too long.

    >>> sealed = seal("ferry")
    >>> "ferry" in sealed, fits("ferry", sealed), fits("Ferry", sealed), seal(" ")
    (False, True, False, '')
    """
    if len(code) > LONGEST_CODE:
        raise BadRequest(
            f"A code may have {LONGEST_CODE} characters, and this has {len(code):,}. Choose a shorter one."
        )
    if not code.strip():
        return ""
    salt = secrets.token_bytes(_SALT)
    return f"{_SCHEME}${salt.hex()}${_digest(code, salt).hex()}"


def fits(code: str, sealed: str) -> bool:
    """Whether a code is the one that was sealed."""
    _, salt, digest = sealed.split("$")
    return hmac.compare_digest(_digest(code[: LONGEST_CODE + 1], bytes.fromhex(salt)), bytes.fromhex(digest))


def _digest(code: str, salt: bytes) -> bytes:
    return hashlib.scrypt(code.strip().encode("utf-8", "surrogatepass"), salt=salt, n=2**14, r=8, p=1)


def unknown_study(study_id: str) -> NotFound:
    """Make the error for a study that is not there."""
    return NotFound(
        f"There is no study '{study_id:.40}' here. `{COMMAND} study` lists those there are; one that was "
        "removed can be brought back."
    )


def _append_terms(cursor: DuckDBPyConnection, study_id: str, terms: Mapping[str, str | int | bool]) -> None:
    now = utc_now()
    for kind, text in terms.items():
        cursor.execute("INSERT INTO study_terms VALUES (?, ?, ?, ?)", [study_id, kind, json.dumps(text), now])
