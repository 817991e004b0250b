"""Runs and their outcomes, example by example: appended, never updated; removing adds a tombstone."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from relic_core.domain import Book, ContextSize, Outcome, Run
from relic_core.errors import NotFound
from relic_core.store.rows import Rows, add_many, as_utc, hide, put_back, utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence

_SELECT = (
    "SELECT id, benchmark, split, pool, data_hash, retriever, label, shape, configuration, books, examples, code, "
    "machine, seconds, index_bytes, created, tags FROM live_runs "
)
_OUTCOMES = (
    "SELECT example_id, book, length, kind, candidates, gold_rank, overlap_rank, gold_start, gold_end, first_hits "
    "FROM outcomes WHERE run_id = ? AND version = (SELECT max(version) FROM runs WHERE id = ?) ORDER BY position"
)


class RunRows(Rows):
    """Stored runs."""

    def add(self, run: Run, outcomes: Sequence[Outcome], *, again: bool = False) -> bool:
        """Keep a run and all its outcomes, in one transaction.

        - `outcomes`: in the order of the benchmark.
        - `again`: put it in the place of what is there under its id, whose rows stay where they are.

        Returns: false where a run of this id is there already and is not to be replaced: nothing is written, but a run
        that was removed comes back, with the outcomes that it had.
        """
        with self._writing() as cursor:
            put_back(cursor, "run", run.id)
            (last,) = cursor.execute("SELECT coalesce(max(version), 0) FROM runs WHERE id = ?", [run.id]).fetchall()[0]
            if last and not again:
                return False
            cursor.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    run.id,
                    last + 1,
                    run.benchmark,
                    run.split,
                    run.pool,
                    run.data_hash,
                    run.retriever,
                    run.label,
                    str(run.shape),
                    json.dumps(dict(run.configuration)),
                    json.dumps([asdict(book) for book in run.books]),
                    run.examples,
                    run.code,
                    json.dumps(dict(run.machine)),
                    run.seconds,
                    run.index_bytes,
                    run.created.replace(tzinfo=None),
                ],
            )
            columns: dict[str, Sequence[object]] = {
                "run_id": [run.id for _ in outcomes],
                "version": [last + 1 for _ in outcomes],
                "position": list(range(len(outcomes))),
                "example_id": [outcome.example_id for outcome in outcomes],
                "book": [outcome.book for outcome in outcomes],
                "length": [outcome.length for outcome in outcomes],
                "kind": [outcome.kind for outcome in outcomes],
                "candidates": [outcome.candidates for outcome in outcomes],
                "gold_rank": [outcome.rank or 0 for outcome in outcomes],
                "overlap_rank": [outcome.overlap_rank or 0 for outcome in outcomes],
                "gold_start": [outcome.gold[0] for outcome in outcomes],
                "gold_end": [outcome.gold[1] for outcome in outcomes],
                "first_hits": [json.dumps(outcome.first) for outcome in outcomes],
            }
            add_many(cursor, "outcomes", columns)
        return True

    def get(self, run_id: str) -> Run:
        """Return a run.

        Raises NotFound: there is none, or it was removed.
        """
        row = self._one(_SELECT + "WHERE id = ?", [run_id])
        if row is None:
            raise NotFound(
                f"There is no run '{run_id}' in this store. `python -m relic_core runs` lists those there are."
            )
        return _run(row)

    def all(self) -> tuple[Run, ...]:
        """List the runs, newest first."""
        rows = self._all(_SELECT + "ORDER BY created DESC, id")
        return tuple(_run(row) for row in rows)

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """List the outcomes of a run in the order of its benchmark; empty where there is no such run."""
        rows = self._all(_OUTCOMES, [run_id, run_id])
        return tuple(
            Outcome(
                example_id=example_id,
                book=book,
                length=length,
                kind=kind,
                candidates=candidates,
                rank=rank or None,
                overlap_rank=overlap_rank or None,
                gold=(start, end),
                first=tuple((first, last) for first, last in json.loads(hits)),
            )
            for example_id, book, length, kind, candidates, rank, overlap_rank, start, end, hits in rows
        )

    def tag(self, run_id: str, tags: Sequence[str]) -> None:
        """Give a run these tags in place of those it has.

        Raises NotFound: there is no such run.
        """
        self.get(run_id)
        with self._writing() as cursor:
            cursor.execute("INSERT INTO run_tags VALUES (?, ?, ?)", [run_id, list(dict.fromkeys(tags)), utc_now()])

    def remove(self, run_id: str) -> None:
        """Hide a run behind a tombstone.

        Raises NotFound: there is no such run.
        """
        self.get(run_id)
        with self._writing() as cursor:
            hide(cursor, "run", run_id)

    def restore(self, run_id: str) -> Run:
        """Take the tombstone of a run away.

        Raises NotFound: there never was such a run.
        """
        with self._writing() as cursor:
            put_back(cursor, "run", run_id)
        return self.get(run_id)


def _run(row: tuple[Any, ...]) -> Run:
    (
        run_id,
        benchmark,
        split,
        pool,
        data_hash,
        retriever,
        label,
        shape,
        configuration,
        books,
        examples,
        code,
        machine,
        seconds,
        index_bytes,
        created,
        tags,
    ) = row
    return Run(
        id=run_id,
        benchmark=benchmark,
        split=split,
        pool=pool,
        data_hash=data_hash,
        retriever=retriever,
        label=label,
        shape=ContextSize.parse(shape),
        configuration=json.loads(configuration),
        books=tuple(Book(**book) for book in json.loads(books)),
        examples=examples,
        code=code,
        machine=json.loads(machine),
        seconds=seconds,
        index_bytes=index_bytes,
        created=as_utc(created),
        tags=tuple(tags),
    )
