"""Secondary sources, and under what they were mined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from duckdb import DuckDBPyConnection

from relic_core.domain import MinedWindow, Pair, SecondarySource
from relic_core.errors import NotFound
from relic_core.store.mined_windows import add_windows
from relic_core.store.pairs import PASSAGE, add_pairs, passage_fields
from relic_core.store.rows import Removable, columns_of, insert, record, utc_now, value

_COLUMNS = ("id", "title", "author", "name", "sha256", "characters", "number", "origin", "licence")
_SELECT = f"SELECT {', '.join(_COLUMNS)}, language, problem FROM "  # noqa: S608 - our own names


class StoredSource(NamedTuple):
    """A source, its language ("en", "fr"; empty where not told), and why nothing was found in it (empty if well)."""

    source: SecondarySource
    language: str
    problem: str


class Counts(NamedTuple):
    """How much was mined from a source: pairs, windows that are kept, windows that were set aside."""

    source_id: str
    pairs: int
    windows: int
    set_aside: int


class Known(NamedTuple):
    """What was mined of a source, from one file and under one version of the rules."""

    source_id: str
    file: str
    rules: str
    works: frozenset[str]
    pairs: bool
    root: str
    removed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedSource:
    """What one mining of one source found.

    - `file`: sha256 of the bytes it was read from; empty where it could not be read.
    - `rules`: versions of all rules that decide what is found.
    - `segmenters`: id of a work → who cut its sentences, for the works of `windows` and those whose windows are
      replaced.
    - `pairs`: none where no pairs were made: those there are stay.
    """

    source: SecondarySource
    file: str = ""
    root: str = ""
    rules: str
    language: str = ""
    problem: str = ""
    works: tuple[str, ...] = ()
    segmenters: Mapping[str, str]
    pairs: tuple[Pair, ...] | None = None
    windows: tuple[MinedWindow, ...] = ()
    dropped: Mapping[str, int]
    seconds: float = 0.0
    code: str = ""


class SourceRows(Removable[SecondarySource]):
    """Stored sources; one that was removed keeps its rows, and all that was mined from it, under a tombstone."""

    kind = "source"

    def add(self, *mined: MinedSource) -> None:
        """Keep what a mining found in some sources, in one transaction.

        It takes the place of what was found before: of the pairs of the source, where pairs were made; of its windows
        on the works looked for. Where the rules are others than before, of all that was found in it. A source that had
        been removed comes back only by `restore`.
        """
        with self._writing() as cursor:
            for each in mined:
                self._add(cursor, each)

    def _add(self, cursor: DuckDBPyConnection, mined: MinedSource) -> None:
        source = mined.source
        if value(cursor, "SELECT count(*) FROM sources WHERE id = ?", [source.id]):
            self._replace(cursor, mined)
        # What could not be read before has a line of its own, by its name.
        cursor.execute(
            "DELETE FROM sources WHERE id = ? OR (problem <> '' AND sha256 = '' AND name = ? AND origin = ?)",
            [source.id, source.name, source.origin],
        )
        values = columns_of(source, _COLUMNS) | {"number": source.number or 0}
        insert(cursor, "sources", values | {"language": mined.language, "problem": mined.problem, "added": utc_now()})
        add_pairs(cursor, mined.pairs or ())
        add_windows(cursor, mined.windows, mined.segmenters)
        if mined.file:
            columns = columns_of(mined, ("file", "root", "rules", "dropped", "seconds", "code"))
            pairs = mined.pairs is not None
            own = {"source_id": source.id, "works": list(mined.works), "pairs": pairs, "mined": utc_now()}
            insert(cursor, "mined", columns | own)

    def _replace(self, cursor: DuckDBPyConnection, mined: MinedSource) -> None:
        source_id = mined.source.id
        ruled = cursor.execute("SELECT DISTINCT rules FROM mined WHERE source_id = ?", [source_id]).fetchall()
        if any(rules != mined.rules for (rules,) in ruled):
            for table in ("mined", "pairs", "windows"):
                cursor.execute(f"DELETE FROM {table} WHERE source_id = ?", [source_id])  # noqa: S608 - our own names
            return
        if mined.pairs is not None:
            cursor.execute("DELETE FROM pairs WHERE source_id = ?", [source_id])
        cursor.execute(
            "DELETE FROM windows WHERE source_id = ? AND list_contains(?, work_id)", [source_id, list(mined.segmenters)]
        )

    def known(self) -> tuple[Known, ...]:
        """List what was mined: a row for each source and each file that it was read from, removed sources too."""
        rows = self._all(
            "SELECT source_id, file, rules, flatten(list(works)), bool_or(pairs), arg_max(root, mined), "
            "source_id NOT IN (SELECT id FROM live_sources) FROM mined GROUP BY source_id, file, rules "
            "ORDER BY source_id, file, rules"
        )
        return tuple(
            Known(source_id, file, rules, frozenset(works), pairs_made, root, removed)
            for source_id, file, rules, works, pairs_made, root, removed in rows
        )

    def ids(self) -> dict[str, str]:
        """Give the id under which each text is stored, by its sha256; removed sources too."""
        rows = self._all("SELECT sha256, id FROM sources WHERE sha256 <> ''")
        return dict(rows)

    def all(self) -> tuple[StoredSource, ...]:
        """List the sources by title."""
        rows = self._all(_SELECT + "live_sources ORDER BY lower(title), id")
        return tuple(_stored(row) for row in rows)

    def holding(self, pattern: str, most: int) -> tuple[Pair, ...]:
        """Give the quotations that a pattern fits, or that it fits something around: so many at most."""
        rows = self._all(
            f"SELECT {PASSAGE} FROM (SELECT {PASSAGE} FROM pairs UNION ALL SELECT {PASSAGE} FROM windows) "  # noqa: S608
            "WHERE source_id IN (SELECT id FROM live_sources) AND (regexp_matches(left_context, $1) "
            "OR regexp_matches(quotation, $1) OR regexp_matches(right_context, $1)) "
            "ORDER BY source_id, at_start, id LIMIT $2",
            [pattern, most],
        )
        return tuple(Pair(**passage_fields(row)) for row in rows)

    def removed(self) -> tuple[SecondarySource, ...]:
        """List the sources behind tombstones, the last removed first."""
        rows = self._all(_SELECT + "sources JOIN tombstones USING (id) WHERE kind = 'source' ORDER BY removed DESC, id")
        return tuple(_stored(row).source for row in rows)

    def counts(self) -> tuple[Counts, ...]:
        """Count what was mined from each source, also from those with nothing."""
        rows = self._all(
            "SELECT id, coalesce(p.count, 0), coalesce(w.kept, 0), coalesce(w.aside, 0) FROM live_sources "
            "LEFT JOIN (SELECT source_id, count(*) AS count FROM live_pairs GROUP BY source_id) AS p "
            "ON p.source_id = id "
            "LEFT JOIN (SELECT source_id, count(*) FILTER (reason = '') AS kept, "
            "count(*) FILTER (reason <> '') AS aside FROM live_windows GROUP BY source_id) AS w "
            "ON w.source_id = id ORDER BY id"
        )
        return tuple(Counts(*row) for row in rows)

    def get(self, source_id: str) -> SecondarySource:
        """Return a source, also one that was removed."""
        with self._reading() as cursor:
            return _get(cursor, source_id, "sources")

    def _find(self, cursor: DuckDBPyConnection, row_id: str) -> SecondarySource:
        return _get(cursor, row_id, "live_sources")


def _get(cursor: DuckDBPyConnection, source_id: str, table: str) -> SecondarySource:
    row = cursor.execute(_SELECT + f"{table} WHERE id = ?", [source_id]).fetchone()
    if row is None:
        raise NotFound(
            f"There is no secondary source '{source_id:.60}' in your library. It may be on another machine; one that "
            "was removed can be added again."
        )
    return _stored(row).source


def _stored(row: Sequence[Any]) -> StoredSource:
    *values, language, problem = row
    source = record(SecondarySource, _COLUMNS, values)
    return StoredSource(replace(source, number=source.number or None), language, problem)
