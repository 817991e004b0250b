"""The history of searches, and the first passages that each found, against which what is found later can be held.

Both are appended, never updated; what was asked names a search.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from duckdb import DuckDBPyConnection

from relic_core.domain import Search, SearchRequest
from relic_core.domain.searches import TopKHit, TopKSnapshot
from relic_core.errors import NotFound
from relic_core.formats.search_address import KEYS, from_json, to_json
from relic_core.store.rows import Rows, as_utc, columns_of, first, hide, insert, put_back, utc_now, value

ID_LETTERS = 7
"""35 bits: among ten thousand searches one chance in about 700 that two share a name, which then gets a letter more."""

_SHOWN = 40

_ASKED = ("work_id", "claim_text", "length", "retrievers", "results", "further")
_COLUMNS = f"id, {', '.join(_ASKED)}, created, made_with"
_SELECT = f"SELECT {_COLUMNS} FROM latest_searches "  # noqa: S608 - our own names


class SearchRows(Rows):
    """Stored searches, each with a short id for permalinks."""

    def keep(self, request: SearchRequest, *, made_with: str = "", person: str = "") -> Search:
        """Append a search; the same question has the same id every time, for everybody."""
        further = _further(request)
        retrievers = list(request.retrievers)
        asked = (request.work_id, request.claim_text, request.length, retrievers, request.results, further)
        digest = question_digest(*asked)
        with self._writing() as cursor:
            letters = ID_LETTERS
            while True:
                row = first(cursor, f"SELECT {', '.join(_ASKED)} FROM searches WHERE id = ?", [digest[:letters]])  # noqa: S608 - our own names
                if row is None or row == asked:
                    break
                letters += 1
            created = utc_now()
            columns = dict(zip(_ASKED, asked, strict=True))
            found = {"id": digest[:letters], "created": created, "made_with": made_with, "person": person}
            insert(cursor, "searches", columns | found)
            put_back(cursor, "search", f"{person}/{digest[:letters]}")
        return Search(digest[:letters], request, as_utc(created), made_with)

    def get(self, search_id: str) -> Search:
        """Return the latest search of this id, however it was typed; none that all who asked it have removed."""
        search_id = search_id.strip().lower()
        with self._reading() as cursor:
            row = first(cursor, _SELECT + "WHERE id = ?", [search_id])
            if row is not None:
                return _search(row)
            if first(cursor, "SELECT 1 FROM searches WHERE id = ?", [search_id]) is None:
                raise _unknown(search_id)
        raise NotFound(f"The search '{search_id[:_SHOWN]}' was removed. Who removed it can put it back (Searches).")

    def remove(self, search_id: str, person: str = "") -> Search:
        """Hide a search from the list of one person; it stays in the lists of others who asked the same.

        One that they removed before stays removed: a press that comes twice is one.
        """
        with self.together(write=True):
            found = self.undo(search_id, person)
            with self._writing() as cursor:
                hide(cursor, "search", f"{person}/{found.id}")
        return found

    def undo(self, search_id: str, person: str = "") -> Search:
        """Undo a removal; a search that is there stays as it is."""
        search_id = search_id.strip().lower()
        with self._writing() as cursor:
            row = first(
                cursor,
                f"SELECT {_COLUMNS} FROM searches WHERE id = ? AND coalesce(person, '') = ? ORDER BY created DESC",  # noqa: S608 - our own names
                [search_id, person],
            )
            if row is None:
                raise _unknown(search_id)
            put_back(cursor, "search", f"{person}/{search_id}")
            return _search(row)

    def removed(self, person: str = "") -> tuple[Search, ...]:
        """List what somebody asked and removed, the last removed first."""
        rows = self._all(
            f"SELECT {_COLUMNS} FROM searches JOIN (SELECT id AS hidden, max(removed) AS removed FROM tombstones "  # noqa: S608 - our own names
            "WHERE kind = 'search' GROUP BY id) ON hidden = concat(?, '/', id) WHERE coalesce(person, '') = ? "
            "QUALIFY row_number() OVER (PARTITION BY id ORDER BY created DESC) = 1 ORDER BY removed DESC, id",
            [person, person],
        )
        return tuple(_search(row) for row in rows)

    def recent(self, limit: int = 20) -> tuple[Search, ...]:
        """List the last questions, newest first, each once."""
        return tuple(map(_search, self._all(_SELECT + "ORDER BY created DESC, id LIMIT ?", [limit])))

    def asked(
        self, *, words: str = "", work_id: str | None = None, person: str = "", limit: int = 50, skip: int = 0
    ) -> tuple[tuple[Search, ...], int]:
        """List what somebody asked, newest first, each question once, and say how many there are.

        - `work_id`: only those of a work; of the whole library where empty.
        """
        wanted, values = ["coalesce(person, '') = ?"], [person]
        if words.strip():
            joined = "json_extract_string(nullif(further, ''), '$.conditions[*].claim')"
            wanted.append(f"contains(lower(concat_ws(' ', claim_text, array_to_string({joined}, ' '))), lower(?))")
            values.append(words.strip())
        if work_id is not None:
            wanted.append("work_id = ?")
            values.append(work_id)
        chosen = " AND ".join(wanted)
        with self._reading() as cursor:
            rows = cursor.execute(
                f"SELECT {_COLUMNS}, count(*) OVER () "  # noqa: S608 - our own conditions; what is given goes beside them
                f" FROM (SELECT * FROM live_searches WHERE {chosen} "
                "QUALIFY row_number() OVER (PARTITION BY id ORDER BY created DESC) = 1) "
                "ORDER BY created DESC, id LIMIT ? OFFSET ?",
                [*values, limit, skip],
            ).fetchall()
            if not rows and skip:
                many = value(cursor, f"SELECT count(DISTINCT id) FROM live_searches WHERE {chosen}", values)  # noqa: S608 - as above
            else:
                many = rows[0][-1] if rows else 0
        return tuple(_search(row[:-1]) for row in rows), int(many)

    def works_asked(self, *, person: str = "") -> tuple[str, ...]:
        """List the ids of the works that somebody searched, the last one first; empty for the whole library."""
        rows = self._all(
            "SELECT work_id FROM live_searches WHERE coalesce(person, '') = ? GROUP BY work_id "
            "ORDER BY max(created) DESC",
            [person],
        )
        return tuple(work_id for (work_id,) in rows)


def question_digest(
    work_id: str, claim_text: str, length: int, retrievers: Sequence[str], results: int, further: str = ""
) -> str:
    """Name a question by what is asked: 52 letters and digits, of which the store uses the first few.

    >>> question_digest("emma-1", "A claim", 1, ["bm25"], 10)[:7]
    '7kakmpc'
    """
    asked: list[object] = [work_id, claim_text, length, list(retrievers), results]
    if further:  # questions from before there was more to ask keep their names
        asked.append(further)
    return base64.b32encode(hashlib.sha256(json.dumps(asked).encode()).digest()).decode().lower().rstrip("=")


def _unknown(search_id: str) -> NotFound:
    return NotFound(
        f"There is no search '{search_id[:_SHOWN]}' in this store. It may have been made on another machine: ask there "
        "for the address that carries the search itself (Share), or type the claim again."
    )


def _further(request: SearchRequest) -> str:
    """Write what is asked beside work, claim and length; the same each time."""
    asked = {name: value for name, value in to_json(request).items() if name not in KEYS}
    # As rows have had it since before there were files of searches; ids are made of it.
    if request.work_filter:
        asked["narrowing"] = asdict(request.work_filter)
    if request.like:
        asked["like"] = asdict(request.like)
    return json.dumps(asked, ensure_ascii=False, sort_keys=True) if asked else ""


def _search(row: tuple[Any, ...]) -> Search:
    search_id, work_id, claim_text, length, retrievers, results, further, created, made_with = row
    asked = json.loads(further) if further else {}
    if "like" in asked:
        asked["like"]["work"] = asked["like"].pop("work_id")
    asked |= {"work": work_id, "claim": claim_text, "length": length, "retrievers": retrievers, "results": results}
    return Search(search_id, from_json(asked, f"search {search_id}"), as_utc(created), made_with)


_HITS = {"works": "work_id", "firsts": "first", "ranks": "rank", "scores": "score", "starts": "start", "ends": "end"}
"""Column of lists -> field of a hit."""


class TopKSnapshotRows(Rows):
    """Stored snapshots: appended where what made them differs from the last of the same search and retriever."""

    def add(self, search_id: str, snapshots: Sequence[TopKSnapshot]) -> int:
        """Append the snapshots that were made otherwise than the last ones kept, and count them.

        Places that are not known are looked up.
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
            new = [snapshot for snapshot in snapshots if last.get(snapshot.retriever) != snapshot.made_with]
            created = utc_now()
            for snapshot in new:
                columns = columns_of(snapshot, ("retriever", "edition", "maker", "version"))
                hits = _placed(cursor, snapshot)
                lists = {column: [getattr(hit, field) for hit in hits] for column, field in _HITS.items()}
                insert(cursor, "search_heads", {"search_id": search_id, "created": created, **columns, **lists})
        return len(new)

    def of(self, search_id: str, *, length: int) -> tuple[tuple[datetime, TopKSnapshot], ...]:
        """List the snapshots of a search, whose `length` it says, with the times they were kept, the oldest first."""
        rows = self._all(
            f"SELECT retriever, edition, maker, version, created, {', '.join(_HITS)} FROM search_heads"  # noqa: S608 - our own names
            "  WHERE search_id = ? ORDER BY created, rowid",
            [search_id],
        )
        return tuple(_snapshot(row, length) for row in rows)


def _snapshot(row: tuple[Any, ...], length: int) -> tuple[datetime, TopKSnapshot]:
    retriever, edition, maker, version, created, *lists = row
    hits = tuple(TopKHit(*each) for each in zip(*lists, strict=True))
    return as_utc(created), TopKSnapshot(
        retriever=retriever, length=length, edition=edition, maker=maker, version=version, hits=hits
    )


def _placed(cursor: DuckDBPyConnection, snapshot: TopKSnapshot) -> tuple[TopKHit, ...]:
    """Fill in the offsets that are not known: the works of a library's hits are not all loaded."""
    unknown = [hit for hit in snapshot.hits if not hit.end]
    if not unknown:
        return snapshot.hits
    last = snapshot.length - 1
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
        else TopKHit(hit.work_id, hit.first, hit.rank, hit.score, *places.get((hit.work_id, hit.first), (0, 0)))
        for hit in snapshot.hits
    )
