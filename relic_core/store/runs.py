"""Runs and their outcomes, example by example: appended, never updated; removing adds a tombstone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from duckdb import DuckDBPyConnection

from relic_core.domain import Book, ContextSize, Outcome, Run
from relic_core.domain.runs import ImportedRanking, Offsets
from relic_core.errors import NotFound
from relic_core.store.rows import Removable, add_many, columns_of, first, insert, put_back, record, utc_now, value

_COLUMNS = (
    "id", "benchmark", "split", "pool", "data_hash", "retriever", "label", "shape", "configuration", "books",
    "examples", "code", "machine", "seconds", "index_bytes", "created",
)  # fmt: skip
_SELECT = f"SELECT {', '.join(_COLUMNS)}, tags FROM live_runs "  # noqa: S608 - our own names
_PLAIN = ("example_id", "book", "length", "kind", "candidates")
_OUTCOMES = (
    f"SELECT {', '.join(_PLAIN)}, gold_rank, overlap_rank, gold_start, gold_end, first_hits FROM outcomes "  # noqa: S608
    "WHERE run_id = ? AND version = (SELECT max(version) FROM runs WHERE id = ?) ORDER BY position"
)


_IMPORTED = "FROM imported_rankings AS imported JOIN live_runs AS run ON run.id = imported.run_id"


class RunRows(Removable[Run]):
    """Stored runs."""

    kind = "run"

    def add(self, run: Run, outcomes: Sequence[Outcome], *, again: bool = False) -> bool:
        """Keep a run and all its outcomes, `again` in the place of what is there, whose rows stay where they are.

        Returns: false where it is there already and nothing is written, but that it comes back if it was removed.
        """
        with self._writing() as cursor:
            put_back(cursor, "run", run.id)
            last = value(cursor, "SELECT coalesce(max(version), 0) FROM runs WHERE id = ?", [run.id])
            if last and not again:
                return False
            books = json.dumps([asdict(book) for book in run.books])
            own = {**columns_of(run, _COLUMNS), "shape": str(run.shape), "books": books, "version": last + 1}
            insert(cursor, "runs", own)
            columns: dict[str, Sequence[object]] = {
                "run_id": [run.id] * len(outcomes),
                "version": [last + 1] * len(outcomes),
                "position": list(range(len(outcomes))),
                **{name: [getattr(outcome, name) for outcome in outcomes] for name in _PLAIN},
                "gold_rank": [outcome.rank or 0 for outcome in outcomes],
                "overlap_rank": [outcome.overlap_rank or 0 for outcome in outcomes],
                "gold_start": [outcome.gold[0] for outcome in outcomes],
                "gold_end": [outcome.gold[1] for outcome in outcomes],
                "first_hits": [_first_hits(outcome) for outcome in outcomes],
            }
            add_many(cursor, "outcomes", columns)
        return True

    def all(self) -> tuple[Run, ...]:
        """List the runs, newest first."""
        return tuple(_run(row) for row in self._all(_SELECT + "ORDER BY created DESC, id"))

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """List the outcomes of a run in the order of its benchmark; empty where there is no such run."""
        return tuple(
            Outcome(
                **dict(zip(_PLAIN, plain, strict=True)),
                rank=rank or None,
                overlap_rank=overlap_rank or None,
                gold=(start, end),
                **_hits(json.loads(hits)),
            )
            for *plain, rank, overlap_rank, start, end, hits in self._all(_OUTCOMES, [run_id, run_id])
        )

    def add_imported(self, run_id: str, rankings: Sequence[ImportedRanking]) -> None:
        """Keep what another system ranked for the claims of a run; it counts from now on."""
        with self._writing() as cursor:
            columns: dict[str, Sequence[object]] = {
                "run_id": [run_id] * len(rankings),
                "claim": [each.claim for each in rankings],
                "work": [each.work for each in rankings],
                "places": [json.dumps(each.places) for each in rankings],
                "created": [utc_now()] * len(rankings),
            }
            add_many(cursor, "imported_rankings", columns)

    def imported_ranking(self, retriever: str, claim: str, work: str) -> tuple[Offsets, ...] | None:
        """Give what a system ranked for a claim in the text of a work, both by their digests; None where nothing."""
        row = self._one(
            f"SELECT places {_IMPORTED} WHERE retriever = ? AND claim = ? AND work = ? "
            "ORDER BY imported.created DESC LIMIT 1",
            [retriever, claim, work],
        )
        return None if row is None else tuple((start, end) for start, end in json.loads(row[0]))

    def imported_systems(self) -> tuple[tuple[str, str], ...]:
        """List the systems that ranked passages of a work: their names as retrievers, each with the work's digest."""
        return tuple(
            (name, work) for name, work in self._all(f"SELECT DISTINCT retriever, work {_IMPORTED} ORDER BY ALL")
        )

    def tag(self, run_id: str, tags: Sequence[str]) -> None:
        """Give a run these tags in place of those it has."""
        self.get(run_id)
        with self._writing() as cursor:
            cursor.execute("INSERT INTO run_tags VALUES (?, ?, ?)", [run_id, list(dict.fromkeys(tags)), utc_now()])

    def judge_case(self, run_id: str, example_id: str, codes: Sequence[str], judge: str) -> None:
        """Append what somebody says of a case."""
        with self._writing() as cursor:
            row = {"run_id": run_id, "example_id": example_id, "codes": json.dumps(codes), "judge": judge}
            insert(cursor, "case_judgements", {**row, "created": utc_now()})

    def case_judgements(self, run_id: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """List what was last said of the cases of a run: example, judge, codes."""
        rows = self._all(
            "SELECT example_id, judge, codes FROM case_judgements WHERE run_id = ? QUALIFY row_number() OVER "
            "(PARTITION BY example_id, judge ORDER BY created DESC, rowid DESC) = 1 ORDER BY example_id, judge",
            [run_id],
        )
        return tuple((example_id, judge, tuple(json.loads(codes))) for example_id, judge, codes in rows)

    def _find(self, cursor: DuckDBPyConnection, row_id: str) -> Run:
        row = first(cursor, f"{_SELECT}WHERE id = ?", [row_id])
        if row is None:
            raise NotFound(
                f"There is no run '{row_id}' in this store. `python -m relic_core runs` lists those there are."
            )
        return _run(row)


def _first_hits(outcome: Outcome) -> str:
    """Write the first hits; of judged passages an object that holds their ranks and grades besides."""
    return json.dumps({"first": outcome.first, "graded": outcome.graded} if outcome.graded else outcome.first)


def _hits(stored: Any) -> dict[str, Any]:  # noqa: ANN401 - as read from JSON
    both = stored if isinstance(stored, dict) else {"first": stored}
    return {name: tuple(map(tuple, pairs)) for name, pairs in both.items()}


def _run(row: tuple[Any, ...]) -> Run:
    run = record(Run, (*_COLUMNS, "tags"), row, parsed=("configuration", "books", "machine"))
    books: Any = run.books  # as they are stored, until here
    return replace(
        run, shape=ContextSize.parse(str(run.shape)), books=tuple(Book(**book) for book in books), tags=tuple(run.tags)
    )
