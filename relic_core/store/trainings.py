"""Trainings and what they told: taken in from their journals, never updated; removing adds a tombstone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duckdb import DuckDBPyConnection

from relic_core.domain.spans import MAX_LENGTH
from relic_core.domain.trainings import Training, TrainingEvent
from relic_core.errors import NotFound
from relic_core.store.rows import Removable, add_many, columns_of, first, insert, record, value

_COLUMNS = ("id", "name", "recipe", "asked", "created")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM "  # noqa: S608 - our own names
_EVENT = ("number", "at", "event", "step", "facts")
_PAIRS = (
    "SELECT count(*), avg(length(left_context) + length(right_context)), "
    "avg(length(quotation)) FROM live_pairs WHERE (? OR list_contains(?, source_id)) "
    "AND id IN (SELECT id FROM splits WHERE kind = 'pair' AND split = 'training')"
)
_WINDOWS = (
    "SELECT count(*), count(DISTINCT work_id) FROM live_windows WHERE reason = '' "
    "AND gold_length <= ? AND left_context || right_context <> '' AND (? OR list_contains(?, source_id)) "
    "AND id IN (SELECT id FROM splits WHERE kind = 'window' AND split = ?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """How much of what was mined may be learnt from, without reading it.

    - `mined_pairs`, `mined_windows`: all there are, for training or not.
    - `context`, `quotation`: characters of a pair's context and of its quotation, on the average.
    """

    pairs: int
    windows: int
    works: int
    dev: int
    mined_pairs: int
    mined_windows: int
    context: float
    quotation: float


class TrainingRows(Removable[Training]):
    """Stored trainings; the files and events of one that was removed stay."""

    kind = "training"

    def take_in(self, training: Training, events: Sequence[TrainingEvent]) -> int:
        """Keep a training and those of its events that are not kept yet, in one transaction, and count these."""
        with self._writing() as cursor:
            if not value(cursor, "SELECT count(*) FROM trainings WHERE id = ?", [training.id]):
                insert(cursor, "trainings", columns_of(training, _COLUMNS))
            last = value(
                cursor, "SELECT coalesce(max(number), 0) FROM training_events WHERE training_id = ?", [training.id]
            )
            new = [each for each in events if each.number > last]
            add_many(
                cursor,
                "training_events",
                {
                    "training_id": [training.id for _ in new],
                    "number": [each.number for each in new],
                    "happened": [each.at.replace(tzinfo=None) for each in new],
                    "event": [each.event for each in new],
                    "step": [each.step for each in new],
                    "said": [json.dumps(dict(each.facts)) for each in new],
                },
            )
        return len(new)

    def material(self, sources: Sequence[str] = ()) -> Material:
        """Count what may be learnt from, in some sources where they are given."""
        among = [not sources, list(sources)]
        with self._reading() as cursor:
            ((pairs, context, quotation),) = cursor.execute(_PAIRS, among).fetchall()
            ((windows, works),) = cursor.execute(_WINDOWS, [MAX_LENGTH, *among, "training"]).fetchall()
            ((dev, _),) = cursor.execute(_WINDOWS, [MAX_LENGTH, True, [], "dev"]).fetchall()
            mined_pairs = value(cursor, "SELECT count(*) FROM live_pairs")
            mined_windows = value(cursor, "SELECT count(*) FROM live_windows WHERE reason = ''")
        return Material(
            pairs=pairs,
            windows=windows,
            works=works,
            dev=dev,
            mined_pairs=mined_pairs,
            mined_windows=mined_windows,
            context=context or 0.0,
            quotation=quotation or 0.0,
        )

    def counts(self) -> dict[str, int]:
        """Say of each training, removed ones included, how many events are kept."""
        rows = self._all(
            "SELECT trainings.id, count(training_events.number) FROM trainings "
            "LEFT JOIN training_events ON training_events.training_id = trainings.id GROUP BY trainings.id"
        )
        return dict(rows)

    def all(self) -> tuple[Training, ...]:
        """List the trainings, newest first."""
        return tuple(map(_training, self._all(f"{_SELECT}live_trainings ORDER BY created DESC, id")))

    def removed(self) -> tuple[Training, ...]:
        """List the trainings that were removed, the last removed first."""
        behind = "trainings JOIN tombstones USING (id) WHERE kind = 'training' ORDER BY removed DESC, id"
        return tuple(map(_training, self._all(_SELECT + behind)))

    def events(self, training_id: str) -> tuple[TrainingEvent, ...]:
        """List what a training told, in order; empty where nothing was taken in."""
        rows = self._all(
            "SELECT number, happened, event, step, said FROM training_events WHERE training_id = ? ORDER BY number",
            [training_id],
        )
        return tuple(record(TrainingEvent, _EVENT, row, parsed=("facts",)) for row in rows)

    def _find(self, cursor: DuckDBPyConnection, row_id: str) -> Training:
        row = first(cursor, f"{_SELECT}live_trainings WHERE id = ?", [row_id])
        if row is None:
            raise NotFound(
                f"There is no training '{row_id}'. `python -m relic_core train --list` lists those there are."
            )
        return _training(row)


def _training(row: tuple[Any, ...]) -> Training:
    return record(Training, _COLUMNS, row, parsed=("recipe", "asked"))
