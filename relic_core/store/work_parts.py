"""The chapters, paragraphs, sentences and left-out stretches of a work, from rows to objects."""

from __future__ import annotations

from collections import deque
from dataclasses import fields
from itertools import repeat
from typing import TYPE_CHECKING, Any

from relic_core.domain import Chapter, LeftOut, Paragraph, Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection

NONE = -1
"""Stands for no number in columns that are filled by arrays."""
PARTS: Mapping[str, type[Any]] = {
    "chapters": Chapter,
    "paragraphs": Paragraph,
    "sentences": Sentence,
    "left_out": LeftOut,
}
"""Tables of the parts of a work, and what their rows become."""
_FIELDS = {"index": "position", "start": "start_offset", "end": "end_offset"}
"""Fields of the parts that are called otherwise in the tables, where their names mean something else."""


def read_part(cursor: DuckDBPyConnection, table: str, work_id: str) -> tuple[Any, ...]:
    """Read the rows of one part of a work, in the order of the text.

    - `table`: one of `PARTS`.
    """
    kind = PARTS[table]
    names = [field.name for field in fields(kind)]
    columns = ", ".join(_FIELDS.get(name, name) for name in names)
    query = f"SELECT {columns} FROM {table} WHERE work_id = ? ORDER BY position"  # noqa: S608 - one of PARTS
    cursor.execute(query, [work_id])
    if table == "sentences":  # many, and numbers alone
        found: list[Sequence[Any]] = [column.tolist() for column in cursor.fetchnumpy().values()]
    else:
        found = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    for optional in {"line", "note_to"}.intersection(names):
        at = names.index(optional)
        found[at] = [None if number == NONE else number for number in found[at]]
    return _make_all(kind, dict(zip(names, found, strict=True)))


def _make_all(kind: type[Any], columns: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    """Make many rows of a frozen dataclass with slots, slot by slot.

    That takes a third of the time of its constructor, which looks up how to get past its own freezing field by field.
    `columns` holds every field.
    """
    made = list(map(object.__new__, repeat(kind, len(next(iter(columns.values()))))))
    for name, values in columns.items():
        deque(map(getattr(kind, name).__set__, made, values), maxlen=0)
    return tuple(made)
