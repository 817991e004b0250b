"""Mined windows, why some are set aside, which sentences of a work they quote, and what judges say of them.

Judgements are appended, never updated; the last answer counts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from duckdb import DuckDBPyConnection

from relic_core.domain import Judgement, MinedWindow, Span, WindowQuestion
from relic_core.errors import NotFound
from relic_core.store.pairs import PASSAGE, in_batches, passage_columns, passage_fields
from relic_core.store.rows import Rows, add_many, columns_of, insert, value

Show = Literal["kept", "set aside", "all"]
"""Which windows are given: those that count, those that were left out for a reason, or both."""

UNLABELLED = "none"
BATCH = 2_000
_SELECT = f"SELECT {PASSAGE}, work_id, gold_start, gold_length, lit, lit_in_work, score, reason FROM live_windows "  # noqa: S608
_COUNT = "SELECT count(*) FROM live_windows "
_GOLDS = "SELECT source_id, gold_start, gold_length FROM live_windows "
_REASONS = (
    "SELECT window_id, reason FROM window_reasons "
    "WHERE window_id IN (SELECT id FROM live_windows) OR window_id NOT IN (SELECT id FROM windows)"
)
_JUDGEMENT = ("window_id", "question", "answer", "judge", "comment", "created")
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
        """Return a window. Raises NotFound: also where its source or work was removed."""
        row = self._one(_SELECT + "WHERE id = ?", [window_id])
        if row is None:
            raise NotFound(
                f"There is no window '{window_id}'. Its source or its work may have been removed, or mined anew; "
                "`python -m relic_core sources` lists the sources there are."
            )
        return _stored(row)

    def page(
        self,
        *,
        source_id: str = "",
        work_id: str = "",
        show: Show = "kept",
        evidence: str = "",
        start: int = 0,
        limit: int | None = None,
    ) -> tuple[int, tuple[StoredWindow, ...]]:
        """List some windows, and count all that fit: in the order of the source if one is named, else of the work.

        - `evidence`: only those that readers say are there for this; `UNLABELLED` for those nobody has labelled.
        """
        where = f"WHERE (? = '' OR source_id = ?) AND (? = '' OR work_id = ?) AND {_SHOWN[show]} "
        where += "AND (? = '' OR coalesce((SELECT answer FROM latest_judgements WHERE question = 'evidence' "
        where += f"AND window_id = live_windows.id), '{UNLABELLED}') = ?) "
        values: list[object] = [source_id, source_id, work_id, work_id, evidence, evidence]
        cut = "" if limit is None else " LIMIT ? OFFSET ?"
        with self._reading() as cursor:
            total = value(cursor, _COUNT + where, values)
            rows = cursor.execute(
                _SELECT + where + (_BY_SOURCE if source_id else _BY_WORK) + cut,
                values if limit is None else [*values, limit, start],
            ).fetchall()
        return total, tuple(_stored(row) for row in rows)

    def iterate(
        self, show: Show = "kept", *, split: str = "", batch: int = BATCH
    ) -> Iterator[tuple[StoredWindow, ...]]:
        """Give all windows, by source and place in it, in batches of whole sources.

        Parameters and what is yielded are those of `PairRows.iterate`, but for `show`, which is as for `page`.
        """
        within = "AND id IN (SELECT id FROM splits WHERE kind = 'window' AND split = ?) " if split else ""
        counts = self._all("SELECT source_id, count(*) FROM live_windows GROUP BY source_id ORDER BY source_id")
        for sources in in_batches(counts, batch):
            rows = self._all(
                _SELECT + f"WHERE list_contains(?, source_id) AND {_SHOWN[show]} {within}" + _BY_SOURCE,
                [sources, *([split] if split else [])],
            )
            if rows:
                yield tuple(_stored(row) for row in rows)

    def one_by_one(self, *, split: str = "") -> Iterator[MinedWindow]:
        """Give the windows that `iterate` gives, without what is stored about them."""
        for stored in chain.from_iterable(self.iterate(split=split)):
            yield stored.window

    def some(self, window_ids: Sequence[str]) -> tuple[StoredWindow, ...]:
        """Return windows in the order in which they are named; those that are not there are passed over."""
        rows = self._all(_SELECT + "WHERE list_contains(?, id)", [list(window_ids)]) if window_ids else []
        found = {stored.window.id: stored for stored in map(_stored, rows)}
        return tuple(found[window_id] for window_id in window_ids if window_id in found)

    def ids(self) -> tuple[str, ...]:
        """List the ids of the kept windows in their order."""
        rows = self._all("SELECT id FROM live_windows WHERE reason = '' ORDER BY id")
        return tuple(window_id for (window_id,) in rows)

    def golds(self, work_id: str) -> tuple[tuple[str, int, int], ...]:
        """List what the kept windows on a work quote: source, index of the first sentence, how many sentences."""
        return tuple(self._all(f"{_GOLDS}WHERE work_id = ? AND reason = '' {_BY_WORK}", [work_id]))

    def books(self, work_id: str) -> frozenset[str | int]:
        """Name the sources that windows on a work, kept or set aside, come from: hashes, and numbers of books."""
        rows = self._all(
            "SELECT sha256, number FROM live_sources "
            "WHERE id IN (SELECT source_id FROM live_windows WHERE work_id = ?)",
            [work_id],
        )
        return frozenset(chain.from_iterable(rows))

    def quoting(self, work_id: str, sentence: int) -> tuple[StoredWindow, ...]:
        """List the kept windows that quote a sentence of a work, by source."""
        rows = self._all(
            _SELECT
            + "WHERE work_id = ? AND gold_start <= ? AND gold_start + gold_length > ? AND reason = '' "
            + _BY_SOURCE,
            [work_id, sentence, sentence],
        )
        return tuple(_stored(row) for row in rows)

    def quoted_works(self) -> tuple[tuple[str, str, str, int], ...]:
        """Count the kept windows of each source on each work: source, work, its title, windows; the most first."""
        rows = self._all(
            "SELECT source_id, work_id, any_value(work_title), count(*) FROM live_windows WHERE reason = '' "
            "GROUP BY source_id, work_id ORDER BY source_id, count(*) DESC, lower(any_value(work_title)), work_id"
        )
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

    def judge(self, *judgements: Judgement) -> None:
        """Append judgements, in one transaction."""
        with self._writing() as cursor:
            for judgement in judgements:
                insert(cursor, "judgements", columns_of(judgement, _JUDGEMENT))

    def answers(self, window_ids: Collection[str] | None = None) -> dict[tuple[str, WindowQuestion], str]:
        """Give the answer that counts to each question: of each judge the last, across judges the last."""
        of_some = "" if window_ids is None else "WHERE list_contains(?, window_id)"
        rows = self._all(
            f"SELECT window_id, question, answer FROM latest_judgements {of_some}",  # noqa: S608 - our own names
            [] if window_ids is None else [list(window_ids)],
        )
        return {(window_id, question): answer for window_id, question, answer in rows}

    def evidence(self) -> dict[str, str]:
        """Give what each labelled quotation is there for, by window, also of benchmarks whose windows are not here."""
        return {window_id: answer for (window_id, question), answer in self.answers().items() if question == "evidence"}

    def last_answer(self, judge: str, window_id: str, question: WindowQuestion) -> str:
        """Give the last answer of one judge to a question, whatever others say; empty where there is none."""
        rows = self._all(
            "SELECT answer FROM judgements WHERE judge = ? AND window_id = ? AND question = ? "
            "ORDER BY created DESC, rowid DESC LIMIT 1",
            [judge, window_id, question],
        )
        return str(rows[0][0]) if rows else ""


def add_windows(cursor: DuckDBPyConnection, windows: Sequence[MinedWindow], segmenters: Mapping[str, str]) -> None:
    """Append windows, each id once; `segmenters` says who cut the sentences of each work."""
    kept = list({window.id: window for window in windows}.values())
    own: dict[str, Sequence[object]] = {
        "work_id": [window.work_id for window in kept],
        "segmenter": [segmenters[window.work_id] for window in kept],
        "gold_start": [window.gold.start for window in kept],
        "gold_length": [window.gold.length for window in kept],
        "lit": [json.dumps(window.lit) for window in kept],
        "lit_in_work": [json.dumps(window.lit_in_work) for window in kept],
        "score": [float(window.score) for window in kept],
    }
    add_many(cursor, "windows", {**passage_columns(kept), **own})


def _stored(row: Sequence[Any]) -> StoredWindow:
    *passage, work_id, gold_start, gold_length, lit, lit_in_work, score, reason = row
    window = MinedWindow(
        **passage_fields(passage),
        work_id=work_id,
        gold=Span(gold_start, gold_length),
        lit=_stretches(lit),
        lit_in_work=_stretches(lit_in_work),
        score=score,
    )
    return StoredWindow(window, reason)


def _stretches(column: str) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in json.loads(column))
