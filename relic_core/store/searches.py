"""The history of searches: appended, never updated; what was asked names it."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from relic_core.domain import Search
from relic_core.errors import NotFound
from relic_core.store.rows import Rows, as_utc, utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence

ID_LETTERS = 7
"""35 bits: among ten thousand searches one chance in about 700 that two share a name, which then gets a letter more."""

_SELECT = "SELECT id, work_id, claim_text, length, retrievers, results, created, made_with FROM latest_searches "


class SearchRows(Rows):
    """Stored searches."""

    def add(
        self,
        work_id: str,
        claim_text: str,
        *,
        length: int,
        retrievers: Sequence[str],
        results: int,
        made_with: str = "",
    ) -> Search:
        """Append a search; the same question has the same id every time."""
        digest = question_digest(work_id, claim_text, length=length, retrievers=retrievers, results=results)
        asked = (work_id, claim_text, length, list(retrievers), results)
        with self._writing() as cursor:
            letters = ID_LETTERS
            while True:
                row = cursor.execute(
                    "SELECT work_id, claim_text, length, retrievers, results FROM searches WHERE id = ? LIMIT 1",
                    [digest[:letters]],
                ).fetchone()
                if row is None or row == asked:
                    break
                letters += 1
            created = utc_now()
            cursor.execute(
                "INSERT INTO searches VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [digest[:letters], *asked, created, made_with],
            )
        return _search((digest[:letters], *asked, created, made_with))

    def get(self, search_id: str) -> Search:
        """Return the latest search of this id.

        Raises
        ------
        NotFound
            There is none.
        """
        with self._reading() as cursor:
            row = cursor.execute(_SELECT + "WHERE id = ?", [search_id]).fetchone()
        if row is None:
            raise NotFound(
                f"There is no search '{search_id}' in this store. It may have been made on another machine: type the "
                "claim again."
            )
        return _search(row)

    def recent(self, limit: int) -> tuple[Search, ...]:
        """List the last questions, newest first, each once."""
        with self._reading() as cursor:
            rows = cursor.execute(
                _SELECT + "ORDER BY created DESC, id LIMIT ?",
                [limit],
            ).fetchall()
        return tuple(_search(row) for row in rows)


def question_digest(work_id: str, claim_text: str, *, length: int, retrievers: Sequence[str], results: int) -> str:
    """Name a question by what is asked: 52 letters and digits, of which the store uses the first few.

    Examples
    --------
    >>> question_digest("emma-1", "A claim", length=1, retrievers=["bm25"], results=10)[:7]
    '7kakmpc'
    """
    asked = json.dumps([work_id, claim_text, length, list(retrievers), results], ensure_ascii=True)
    return base64.b32encode(hashlib.sha256(asked.encode()).digest()).decode().lower().rstrip("=")


def _search(row: tuple[Any, ...]) -> Search:
    search_id, work_id, claim_text, length, retrievers, results, created, made_with = row
    return Search(
        id=search_id,
        work_id=work_id,
        claim_text=claim_text,
        length=length,
        retrievers=tuple(retrievers),
        results=results,
        created=as_utc(created),
        made_with=made_with,
    )
