"""The first passages that a search found, kept so that what is found later can be held against them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relic_core.domain.searches import HeadHit, TopKSnapshot
from relic_core.store.rows import Rows, as_utc, utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from duckdb import DuckDBPyConnection


class SearchHeadRows(Rows):
    """Stored heads: appended where what made them differs from the last of the same search and retriever."""

    def add(self, search_id: str, heads: Sequence[TopKSnapshot]) -> int:
        """Append the heads that were made otherwise than the last ones kept.

        - `heads`: one for each column that has answered. Places that are not known are looked up.

        Returns: how many were appended.
        """
        with self._writing() as cursor:
            last = {
                retriever: tuple(made)
                for retriever, *made in cursor.execute(
                    "SELECT retriever, edition, maker, version FROM search_heads WHERE search_id = ? "
                    "QUALIFY row_number() OVER (PARTITION BY retriever ORDER BY created DESC, rowid DESC) = 1",
                    [search_id],
                ).fetchall()
            }
            new = [head for head in heads if last.get(head.retriever) != head.made_with]
            created = utc_now()
            for head in new:
                hits = _placed(cursor, head)
                cursor.execute(
                    "INSERT INTO search_heads (search_id, retriever, edition, maker, version, created, works, firsts, "
                    "ranks, scores, starts, ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        search_id,
                        head.retriever,
                        *head.made_with,
                        created,
                        [hit.work_id for hit in hits],
                        [hit.first for hit in hits],
                        [hit.rank for hit in hits],
                        [hit.score for hit in hits],
                        [hit.start for hit in hits],
                        [hit.end for hit in hits],
                    ],
                )
        return len(new)

    def of(self, search_id: str, *, length: int) -> tuple[tuple[datetime, TopKSnapshot], ...]:
        """List the heads of a search with the times at which they were kept, the oldest first.

        - `length`: sentences per passage, which the search says.
        """
        rows = self._all(
            "SELECT retriever, edition, maker, version, created, works, firsts, ranks, scores, starts, ends "
            "FROM search_heads WHERE search_id = ? ORDER BY created, rowid",
            [search_id],
        )
        return tuple(_head(row, length) for row in rows)


def _head(row: tuple[Any, ...], length: int) -> tuple[datetime, TopKSnapshot]:
    retriever, edition, maker, version, created, *lists = row
    hits = tuple(HeadHit(*each) for each in zip(*lists, strict=True))
    return as_utc(created), TopKSnapshot(
        retriever=retriever, length=length, edition=edition, maker=maker, version=version, hits=hits
    )


def _placed(cursor: DuckDBPyConnection, head: TopKSnapshot) -> tuple[HeadHit, ...]:
    """Fill in the offsets that are not known: the works of a library's hits are not all loaded."""
    unknown = [hit for hit in head.hits if not hit.end]
    if not unknown:
        return head.hits
    last = head.length - 1
    works = [hit.work_id for hit in unknown]
    rows = cursor.execute(
        "SELECT asked.work_id, asked.first, first.start_offset, last.end_offset "
        "FROM (SELECT unnest(?) AS work_id, unnest(?) AS first) AS asked "
        "JOIN sentences AS first ON first.work_id = asked.work_id AND first.position = asked.first "
        "JOIN sentences AS last ON last.work_id = asked.work_id AND last.position = asked.first + ?",
        [works, [hit.first for hit in unknown], last],
    ).fetchall()
    places = {(work_id, first): (start, end) for work_id, first, start, end in rows}
    return tuple(
        hit
        if hit.end
        else HeadHit(hit.work_id, hit.first, hit.rank, hit.score, *places.get((hit.work_id, hit.first), (0, 0)))
        for hit in head.hits
    )
