"""Splits: which pairs and windows are for development, for testing, for training, and which are left out, and why.

Examples, claims with the spans that were masked, are kept by split.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Literal

from duckdb import DuckDBPyConnection

from relic_core.domain import Claim, Example, Span
from relic_core.store.rows import Rows, add_many, utc_now

Kind = Literal["pair", "window"]
Row = tuple[str, str, str]
"""Id, split ("dev", "test", "training", "left out"), and why it is in it; the reason may be empty."""

_THERE_IS = """
SELECT string_agg(id, ',' ORDER BY id) FROM (
    SELECT 'pair ' || id AS id FROM live_pairs UNION ALL SELECT 'window ' || id FROM live_windows WHERE reason = ''
)
"""


class SplitRows(Rows):
    """Stored splits."""

    def replace(self, kind: Kind, rows: Sequence[Row]) -> None:
        """Write down a split in the place of the one before, in one transaction."""
        with self._writing() as cursor:
            _replace(cursor, kind, rows)

    def keep(
        self, windows: Sequence[Row], pairs: Sequence[Row], examples: Mapping[str, Sequence[Example]], digest: str
    ) -> None:
        """Write down the splits of all that was mined, with examples by split; `digest` is of what they are made of."""
        with self._writing() as cursor:
            _replace(cursor, "window", windows)
            _replace(cursor, "pair", pairs)
            for split, those in examples.items():
                replace_examples(cursor, split, those)
            cursor.execute("DELETE FROM parted")
            cursor.execute("INSERT INTO parted VALUES (?, ?)", [digest, utc_now()])

    def of(self, kind: Kind) -> dict[str, tuple[str, str]]:
        """Give the split of each pair or window, and why it is in it."""
        rows = self._all("SELECT id, split, reason FROM splits WHERE kind = ? ORDER BY id", [kind])
        return {row_id: (split, reason) for row_id, split, reason in rows}

    def digest(self, parts: Mapping[str, str]) -> str:
        """Make a digest of all that splits are made of now: all pairs, all kept windows, works measured -> part."""
        ((there,),) = self._all(_THERE_IS)
        return hashlib.sha256(json.dumps([there, sorted(parts.items())]).encode()).hexdigest()

    def kept_digest(self) -> str:
        """Tell what the splits were made of; empty where there are none, or nobody wrote it down."""
        found = self._one("SELECT digest FROM parted")
        return str(found[0]) if found else ""

    def counts(self, kind: Kind) -> dict[str, int]:
        """Count how many are in each split."""
        rows = self._all("SELECT split, count(*) FROM splits WHERE kind = ? GROUP BY split ORDER BY split", [kind])
        return dict(rows)


def _replace(cursor: DuckDBPyConnection, kind: Kind, rows: Sequence[Row]) -> None:
    cursor.execute("DELETE FROM splits WHERE kind = ?", [kind])
    now = utc_now()
    add_many(
        cursor,
        "splits",
        {
            "kind": [kind for _ in rows],
            "id": [row_id for row_id, _, _ in rows],
            "split": [split for _, split, _ in rows],
            "reason": [reason for _, _, reason in rows],
            "created": [now for _ in rows],
        },
    )


class ExampleRows(Rows):
    """Stored examples, kept by split."""

    def replace(self, split: str, examples: Sequence[Example]) -> None:
        """Put these examples in the place of all that a split has, in one transaction."""
        with self._writing() as cursor:
            replace_examples(cursor, split, examples)

    def of_split(self, split: str) -> tuple[Example, ...]:
        """List the examples of a split in the order they were given; those of removed works stay."""
        rows = self._all(
            "SELECT id, work_id, left_context, right_context, masked, gold_start, gold_length, kind "
            "FROM examples WHERE split = ? ORDER BY position",
            [split],
        )
        return tuple(
            Example(
                id=example_id,
                work_id=work_id,
                claim=Claim(left=left, right=right, masked=masked),
                gold=Span(start, length),
                kind=kind,
                split=split,
            )
            for example_id, work_id, left, right, masked, start, length, kind in rows
        )


def replace_examples(cursor: DuckDBPyConnection, split: str, examples: Sequence[Example]) -> None:
    """Put these examples in the place of all that a split has."""
    cursor.execute("DELETE FROM examples WHERE split = ?", [split])
    columns: dict[str, Sequence[object]] = {
        "split": [split for _ in examples],
        "position": list(range(len(examples))),
        "id": [example.id for example in examples],
        "work_id": [example.work_id for example in examples],
        "left_context": [example.claim.left for example in examples],
        "right_context": [example.claim.right for example in examples],
        "masked": [example.claim.masked for example in examples],
        "gold_start": [example.gold.start for example in examples],
        "gold_length": [example.gold.length for example in examples],
        "kind": [example.kind for example in examples],
    }
    add_many(cursor, "examples", columns)
