"""Judgements on mined windows: appended, never updated; the last answer counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relic_core.domain import Judgement
from relic_core.store.rows import Rows, as_utc

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from relic_core.domain import Question

_COLUMNS = "window_id, question, answer, judge, comment, created"


class JudgementRows(Rows):
    """Stored judgements."""

    def add(self, judgement: Judgement) -> None:
        """Append a judgement."""
        with self._writing() as cursor:
            cursor.execute(
                f"INSERT INTO judgements ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
                [
                    judgement.window_id,
                    judgement.question,
                    judgement.answer,
                    judgement.judge,
                    judgement.comment,
                    judgement.created.replace(tzinfo=None),
                ],
            )

    def latest(self, window_ids: Collection[str] | None = None) -> dict[tuple[str, Question], Judgement]:
        """Give the answer that counts to each question: of each judge the last, across judges the last.

        - `window_ids`: of these windows; of all where not given.
        """
        of_some = "" if window_ids is None else "WHERE list_contains(?, window_id) "
        with self._reading() as cursor:
            rows = cursor.execute(
                f"SELECT {_COLUMNS} FROM latest_judgements {of_some}ORDER BY window_id, question",  # noqa: S608
                [] if window_ids is None else [list(window_ids)],
            ).fetchall()
        return {(judgement.window_id, judgement.question): judgement for judgement in _judgements(rows)}

    def last_of(self, judge: str, window_id: str, question: Question) -> str:
        """Give the last answer of one judge to a question, whatever others say; empty where there is none."""
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT answer FROM judgements WHERE judge = ? AND window_id = ? AND question = ? "
                "ORDER BY created DESC, rowid DESC LIMIT 1",
                [judge, window_id, question],
            ).fetchall()
        return str(rows[0][0]) if rows else ""

    def all(self) -> tuple[Judgement, ...]:
        """List every judgement ever made, in the order in which they were."""
        with self._reading() as cursor:
            rows = cursor.execute(f"SELECT {_COLUMNS} FROM judgements ORDER BY created, rowid").fetchall()  # noqa: S608
        return tuple(_judgements(rows))


def _judgements(rows: Iterable[tuple[Any, ...]]) -> Iterable[Judgement]:
    for window_id, question, answer, judge, comment, created in rows:
        yield Judgement(
            window_id=window_id,
            question=question,
            answer=answer,
            judge=judge,
            comment=comment,
            created=as_utc(created),
        )
