"""Examples: claims with the spans that were masked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain import Claim, Example, Span
from relic_core.store.rows import Rows, add_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection


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
