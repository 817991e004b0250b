"""Pairs: quotations of secondary sources with their contexts, read in batches since there are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from relic_core.domain import MinedWindow, Pair
from relic_core.store.rows import Rows, add_many

BATCH = 5_000
PASSAGE = "id, source_id, kind, left_context, quotation, right_context, at_start, at_end, passage_start, passage_end"
"""Columns that pairs and windows have in common."""


class PairRows(Rows):
    """Stored pairs of the sources that were not removed; what reprints repeat is there once."""

    def count(self) -> int:
        """Count the pairs."""
        ((count,),) = self._all("SELECT count(*) FROM live_pairs")
        return int(count)

    def ids(self) -> tuple[str, ...]:
        """List the ids of all pairs, by source and place in it."""
        rows = self._all("SELECT id FROM live_pairs ORDER BY source_id, at_start, id")
        return tuple(pair_id for (pair_id,) in rows)

    def of_source(self, source_id: str) -> tuple[Pair, ...]:
        """List the pairs of a source in its order."""
        return self._read([source_id], "")

    def iterate(self, split: str = "", *, batch: int = BATCH) -> Iterator[tuple[Pair, ...]]:
        """Give all pairs, by source and place in it, in batches of whole sources, about so many at once.

        The file is opened for each batch and closed again, so that nobody waits for what is done with them.
        """
        counts = self._all(
            "SELECT source_id, count(*) FROM pairs WHERE source_id IN (SELECT id FROM live_sources) "
            "GROUP BY source_id ORDER BY source_id"
        )
        for sources in in_batches(counts, batch):
            if found := self._read(sources, split):
                yield found

    def _read(self, sources: Sequence[str], split: str) -> tuple[Pair, ...]:
        within = "AND id IN (SELECT id FROM splits WHERE kind = 'pair' AND split = ?) " if split else ""
        rows = self._all(
            f"SELECT {PASSAGE} FROM live_pairs WHERE list_contains(?, source_id) {within}"  # noqa: S608 - our own names
            "ORDER BY source_id, at_start, id",
            [list(sources), *([split] if split else [])],
        )
        return tuple(Pair(**passage_fields(row)) for row in rows)


def in_batches(counts: Sequence[tuple[str, int]], most: int) -> Iterator[list[str]]:
    """Take names together until they stand for about so many things; one alone may stand for more.

    >>> list(in_batches([("a", 2), ("b", 3), ("c", 4), ("d", 9), ("e", 1)], 5))
    [['a', 'b'], ['c'], ['d'], ['e']]
    """
    taken: list[str] = []
    size = 0
    for name, count in counts:
        if taken and size + count > most:
            yield taken
            taken, size = [], 0
        taken.append(name)
        size += count
    if taken:
        yield taken


def joined(sentences: Sequence[str]) -> str:
    r"""Write the sentences of a context as one column; none of them is empty, or `parted` could not tell.

    >>> parted(joined(["It rained.", "He\nwrote."])), parted(joined([]))
    (('It rained.', 'He wrote.'), ())
    """
    return "\n".join(" ".join(sentence.split("\n")) for sentence in sentences if sentence)


def parted(column: str) -> tuple[str, ...]:
    """Undo `joined`."""
    return tuple(column.split("\n")) if column else ()


def passage_columns(passages: Sequence[Pair | MinedWindow]) -> dict[str, list[object]]:
    """Set what pairs and windows have in common as the columns of `PASSAGE`."""
    return {
        "id": [each.id for each in passages],
        "source_id": [each.source_id for each in passages],
        "kind": [each.kind for each in passages],
        "left_context": [joined(each.left) for each in passages],
        "quotation": [each.quotation for each in passages],
        "right_context": [joined(each.right) for each in passages],
        "at_start": [each.at[0] for each in passages],
        "at_end": [each.at[1] for each in passages],
        "passage_start": [each.passage[0] for each in passages],
        "passage_end": [each.passage[1] for each in passages],
    }


def passage_fields(row: Sequence[Any]) -> dict[str, Any]:
    """Take the columns of `PASSAGE` back, as arguments of `Pair` or `MinedWindow`."""
    passage_id, source_id, kind, left, quotation, right, at_start, at_end, passage_start, passage_end = row
    return {
        "id": passage_id,
        "source_id": source_id,
        "kind": kind,
        "left": parted(left),
        "quotation": quotation,
        "right": parted(right),
        "at": (at_start, at_end),
        "passage": (passage_start, passage_end),
    }


def add_pairs(cursor: DuckDBPyConnection, found: Sequence[Pair]) -> None:
    """Append pairs; of those with one id in one source only the first."""
    kept = list({(pair.source_id, pair.id): pair for pair in reversed(found)}.values())[::-1]
    add_many(cursor, "pairs", passage_columns(kept))
