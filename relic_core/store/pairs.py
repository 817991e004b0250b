"""Pairs: quotations of secondary sources with their contexts, read in batches since there are many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relic_core.domain import Pair
from relic_core.store.rows import Rows, add_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from duckdb import DuckDBPyConnection

BATCH = 5_000
_COLUMNS = "id, source_id, kind, left_context, quotation, right_context, at_start, at_end, passage_start, passage_end"


class PairRows(Rows):
    """Stored pairs of the sources that were not removed; what reprints repeat is there once."""

    def count(self) -> int:
        """Count the pairs."""
        with self._reading() as cursor:
            ((count,),) = cursor.execute("SELECT count(*) FROM live_pairs").fetchall()
        return int(count)

    def ids(self) -> tuple[str, ...]:
        """List the ids of all pairs, by source and where they stand in it."""
        with self._reading() as cursor:
            rows = cursor.execute("SELECT id FROM live_pairs ORDER BY source_id, at_start, id").fetchall()
        return tuple(pair_id for (pair_id,) in rows)

    def of_source(self, source_id: str) -> tuple[Pair, ...]:
        """List the pairs of a source in its order."""
        with self._reading() as cursor:
            return _read(cursor, [source_id], "")

    def iterate(self, split: str = "", *, batch: int = BATCH) -> Iterator[tuple[Pair, ...]]:
        """Give all pairs, by source and where they stand in it, in batches of whole sources.

        The file is opened for each batch and closed again, so that nobody waits for whoever makes use of them.

        - `split`: only those of a split; all where empty.
        - `batch`: about how many at once: sources are taken together until they have so many.
        """
        with self._reading() as cursor:
            counts = cursor.execute(
                "SELECT source_id, count(*) FROM pairs WHERE source_id IN (SELECT id FROM live_sources) "
                "GROUP BY source_id ORDER BY source_id"
            ).fetchall()
        for sources in in_batches(counts, batch):
            with self._reading() as cursor:
                found = _read(cursor, sources, split)
            if found:
                yield found


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


def insert(cursor: DuckDBPyConnection, found: Sequence[Pair]) -> None:
    """Append pairs; of those with one id in one source only the first."""
    kept = list({(pair.source_id, pair.id): pair for pair in reversed(found)}.values())[::-1]
    add_many(
        cursor,
        "pairs",
        {
            "id": [pair.id for pair in kept],
            "source_id": [pair.source_id for pair in kept],
            "kind": [pair.kind for pair in kept],
            "left_context": [joined(pair.left) for pair in kept],
            "quotation": [pair.quotation for pair in kept],
            "right_context": [joined(pair.right) for pair in kept],
            "at_start": [pair.at[0] for pair in kept],
            "at_end": [pair.at[1] for pair in kept],
            "passage_start": [pair.passage[0] for pair in kept],
            "passage_end": [pair.passage[1] for pair in kept],
        },
    )


def _read(cursor: DuckDBPyConnection, sources: Sequence[str], split: str) -> tuple[Pair, ...]:
    within = "AND id IN (SELECT id FROM splits WHERE kind = 'pair' AND split = ?) " if split else ""
    rows = cursor.execute(
        f"SELECT {_COLUMNS} FROM live_pairs WHERE list_contains(?, source_id) {within}"  # noqa: S608 - our own names
        "ORDER BY source_id, at_start, id",
        [list(sources), *([split] if split else [])],
    ).fetchall()
    return tuple(_pair(row) for row in rows)


def _pair(row: Sequence[Any]) -> Pair:
    pair_id, source_id, kind, left, quotation, right, at_start, at_end, passage_start, passage_end = row
    return Pair(
        id=pair_id,
        source_id=source_id,
        kind=kind,
        left=parted(left),
        quotation=quotation,
        right=parted(right),
        at=(at_start, at_end),
        passage=(passage_start, passage_end),
    )
