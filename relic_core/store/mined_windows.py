"""Mined windows, why some are set aside, and which sentences of a work they quote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from relic_core.domain import MinedWindow, Span
from relic_core.errors import NotFound
from relic_core.store.pairs import in_batches, joined, parted
from relic_core.store.rows import Rows, add_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from duckdb import DuckDBPyConnection

Show = Literal["kept", "set aside", "all"]
"""Which windows are given: those that count, those that were left out for a reason, or both."""

BATCH = 2_000
_SELECT = (
    "SELECT id, source_id, work_id, kind, left_context, quotation, right_context, gold_start, gold_length, at_start, "
    "at_end, passage_start, passage_end, lit, lit_in_work, score, reason FROM live_windows "
)
_COUNT = "SELECT count(*) FROM live_windows "
_GOLDS = "SELECT source_id, gold_start, gold_length FROM live_windows "
_REASONS = (
    "SELECT window_id, reason FROM window_reasons "
    "WHERE window_id IN (SELECT id FROM live_windows) OR window_id NOT IN (SELECT id FROM windows)"
)
_SHOWN: dict[Show, str] = {"kept": "reason = ''", "set aside": "reason <> ''", "all": "true"}
_BY_SOURCE = "ORDER BY source_id, at_start, at_end, work_id, gold_start, id"
_BY_WORK = "ORDER BY work_id, gold_start, gold_length, source_id, at_start, id"


class StoredWindow(NamedTuple):
    """A window, and why it is set aside; empty where it is kept."""

    window: MinedWindow
    set_aside: str


class WindowRows(Rows):
    """Stored windows; those of a removed source or work, or of a work cut anew since, are not there."""

    def get(self, window_id: str) -> StoredWindow:
        """Return a window.

        Raises NotFound: there is none, or its source or work was removed.
        """
        with self._reading() as cursor:
            row = cursor.execute(_SELECT + "WHERE id = ?", [window_id]).fetchone()
        if row is None:
            raise NotFound(
                f"There is no window '{window_id}'. Its source or its work may have been removed, or mined anew; "
                "`python -m relic_core sources` lists the sources there are."
            )
        return _stored(row)

    def of_source(self, source_id: str, show: Show = "kept") -> tuple[StoredWindow, ...]:
        """List the windows of a source in its order."""
        return self.page(source_id=source_id, show=show).windows

    def of_work(self, work_id: str, show: Show = "kept") -> tuple[StoredWindow, ...]:
        """List the windows on a work in the order of the work."""
        return self.page(work_id=work_id, show=show).windows

    def page(
        self,
        *,
        source_id: str = "",
        work_id: str = "",
        show: Show = "kept",
        start: int = 0,
        limit: int | None = None,
    ) -> WindowPage:
        """List some windows, and count all that fit: in the order of the source where one is named, else of the work.

        - `source_id`, `work_id`: of this source, on this work; of any where empty.
        - `start`, `limit`: how many to pass over, and how many to give at most; all where there is no limit.
        """
        where = f"WHERE (? = '' OR source_id = ?) AND (? = '' OR work_id = ?) AND {_SHOWN[show]} "
        values: list[object] = [source_id, source_id, work_id, work_id]
        cut = "" if limit is None else " LIMIT ? OFFSET ?"
        with self._reading() as cursor:
            ((total,),) = cursor.execute(_COUNT + where, values).fetchall()
            rows = cursor.execute(
                _SELECT + where + (_BY_SOURCE if source_id else _BY_WORK) + cut,
                values if limit is None else [*values, limit, start],
            ).fetchall()
        return WindowPage(total, tuple(_stored(row) for row in rows))

    def iterate(
        self, show: Show = "kept", *, split: str = "", batch: int = BATCH
    ) -> Iterator[tuple[StoredWindow, ...]]:
        """Give all windows, by source and where they stand in it, in batches of whole sources.

        Parameters and what is yielded are those of `PairRows.iterate`, but for `show`, which is as for `page`.
        """
        within = "AND id IN (SELECT id FROM splits WHERE kind = 'window' AND split = ?) " if split else ""
        with self._reading() as cursor:
            counts = cursor.execute(
                "SELECT source_id, count(*) FROM live_windows GROUP BY source_id ORDER BY source_id"
            ).fetchall()
        for sources in in_batches(counts, batch):
            with self._reading() as cursor:
                rows = cursor.execute(
                    _SELECT + f"WHERE list_contains(?, source_id) AND {_SHOWN[show]} {within}" + _BY_SOURCE,
                    [sources, *([split] if split else [])],
                ).fetchall()
            if rows:
                yield tuple(_stored(row) for row in rows)

    def some(self, window_ids: Sequence[str]) -> tuple[StoredWindow, ...]:
        """Return windows in the order in which they are named; those that are not there are passed over."""
        with self._reading() as cursor:
            rows = cursor.execute(_SELECT + "WHERE list_contains(?, id)", [list(window_ids)]).fetchall()
        found = {stored.window.id: stored for stored in map(_stored, rows)}
        return tuple(found[window_id] for window_id in window_ids if window_id in found)

    def ids(self) -> tuple[str, ...]:
        """List the ids of the kept windows in their order."""
        with self._reading() as cursor:
            rows = cursor.execute("SELECT id FROM live_windows WHERE reason = '' ORDER BY id").fetchall()
        return tuple(window_id for (window_id,) in rows)

    def golds(self, work_id: str) -> tuple[tuple[str, int, int], ...]:
        """List what the kept windows on a work quote: source, index of the first sentence, how many sentences."""
        with self._reading() as cursor:
            rows = cursor.execute(
                _GOLDS + "WHERE work_id = ? AND reason = '' " + _BY_WORK,
                [work_id],
            ).fetchall()
        return tuple(rows)

    def quoting(self, work_id: str, sentence: int) -> tuple[StoredWindow, ...]:
        """List the kept windows that quote a sentence of a work, by source."""
        with self._reading() as cursor:
            rows = cursor.execute(
                _SELECT
                + "WHERE work_id = ? AND gold_start <= ? AND gold_start + gold_length > ? AND reason = '' "
                + _BY_SOURCE,
                [work_id, sentence, sentence],
            ).fetchall()
        return tuple(_stored(row) for row in rows)

    def quoted_works(self) -> tuple[tuple[str, str, str, int], ...]:
        """Count the kept windows of each source on each work: source, work, its title, windows; the most first."""
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT source_id, work_id, any_value(work_title), count(*) FROM live_windows WHERE reason = '' "
                "GROUP BY source_id, work_id ORDER BY source_id, count(*) DESC, lower(any_value(work_title)), work_id"
            ).fetchall()
        return tuple(rows)

    def set_aside(self, reasons: Mapping[str, str]) -> None:
        """Write down which windows are set aside, and why, in the place of what was written of them before.

        Windows of a removed source or work, at which nobody has looked now, keep their reasons until they come back.
        """
        with self._writing() as cursor:
            before = dict(cursor.execute(_REASONS).fetchall())
            if before == dict(reasons):
                return
            cursor.execute(
                "DELETE FROM window_reasons WHERE list_contains(?, window_id) "
                "OR window_id IN (SELECT id FROM live_windows) OR window_id NOT IN (SELECT id FROM windows)",
                [list(reasons)],
            )
            add_many(cursor, "window_reasons", {"window_id": list(reasons), "reason": list(reasons.values())})


class WindowPage(NamedTuple):
    """Some windows, and how many there are in all."""

    total: int
    windows: tuple[StoredWindow, ...]


def insert(cursor: DuckDBPyConnection, windows: Sequence[MinedWindow], segmenters: Mapping[str, str]) -> None:
    """Append windows, each id once; `segmenters` says who cut the sentences of each work."""
    kept = list({window.id: window for window in windows}.values())
    add_many(
        cursor,
        "windows",
        {
            "id": [window.id for window in kept],
            "source_id": [window.source_id for window in kept],
            "work_id": [window.work_id for window in kept],
            "segmenter": [segmenters[window.work_id] for window in kept],
            "kind": [window.kind for window in kept],
            "left_context": [joined(window.left) for window in kept],
            "quotation": [window.quotation for window in kept],
            "right_context": [joined(window.right) for window in kept],
            "gold_start": [window.gold.start for window in kept],
            "gold_length": [window.gold.length for window in kept],
            "at_start": [window.at[0] for window in kept],
            "at_end": [window.at[1] for window in kept],
            "passage_start": [window.passage[0] for window in kept],
            "passage_end": [window.passage[1] for window in kept],
            "lit": [json.dumps(window.lit) for window in kept],
            "lit_in_work": [json.dumps(window.lit_in_work) for window in kept],
            "score": [float(window.score) for window in kept],
        },
    )


def _stored(row: Sequence[Any]) -> StoredWindow:
    (
        window_id,
        source_id,
        work_id,
        kind,
        left,
        quotation,
        right,
        gold_start,
        gold_length,
        at_start,
        at_end,
        passage_start,
        passage_end,
        lit,
        lit_in_work,
        score,
        reason,
    ) = row
    window = MinedWindow(
        id=window_id,
        source_id=source_id,
        work_id=work_id,
        kind=kind,
        left=parted(left),
        quotation=quotation,
        right=parted(right),
        gold=Span(gold_start, gold_length),
        at=(at_start, at_end),
        passage=(passage_start, passage_end),
        lit=_stretches(lit),
        lit_in_work=_stretches(lit_in_work),
        score=score,
    )
    return StoredWindow(window, reason)


def _stretches(column: str) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in json.loads(column))
