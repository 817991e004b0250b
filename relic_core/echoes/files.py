"""Echoes ready to be set: pairs of passages with the words that they share, and as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from relic_core.domain import Place, Span, Work
from relic_core.errors import unknown_name
from relic_core.formats.escaping import BOM, as_csv
from relic_core.formats.files import write_whole
from relic_core.reporting.passages import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One passage of a pair, with the words lit that echo the other.

    - `met`: of lit words that the other does not share, the word of it that they meet.
    """

    work: Work
    span: Span
    place: Place
    passage: Passage
    met: Mapping[str, str]

    @property
    def text(self) -> str:
        """Its words on one line."""
        return " ".join(self.passage.plain.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """A pair of passages, the best being number 1."""

    number: int
    score: float
    a: Side
    b: Side


FORMS = ("csv", "json", "tei")
_COLUMNS = ("work", "id", "place", "address", "sentences", "passage")


def write(echoes: Iterable[Echo], form: str) -> bytes:
    """Write pairs as a table, as JSON, or as TEI links between passages named by work and address."""
    rows = []
    for each in echoes:
        row: dict[str, str | float] = {"number": each.number, "score": each.score}
        for name, side in (("a", each.a), ("b", each.b)):
            row |= {f"{name}_{column}": value for column, value in _row(side)}
        rows.append(row)
    if form == "json":
        return json.dumps(rows, ensure_ascii=False, indent=1).encode()
    if form == "csv":
        heads = ("number", "score", *(f"{name}_{column}" for name, column in product("ab", _COLUMNS)))
        return (BOM + as_csv([heads, *(row.values() for row in rows)])).encode()
    if form != "tei":
        raise unknown_name("form", form, FORMS)
    links = "".join(
        f'  <link type="echo" n="{row["number"]}" target="{_target(row, "a")} {_target(row, "b")}"/>\n' for row in rows
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<linkGrp xmlns="http://www.tei-c.org/ns/1.0" type="echoes">\n{links}</linkGrp>\n'
    ).encode()


def save(echoes: Iterable[Echo], form: str, path: Path) -> None:
    """Write pairs to a file, whole or not at all. Raises BadRequest, StoreError: it cannot be written."""
    write_whole(path, write(echoes, form))


def _row(side: Side) -> tuple[tuple[str, str | int], ...]:
    values = (side.work.title, side.work.id, side.place.label, str(side.place.address), side.span.length, side.text)
    return tuple(zip(_COLUMNS, values, strict=True))


def _target(row: dict[str, str | float], name: str) -> str:
    return f"{row[f'{name}_id']}#{row[f'{name}_address']}"  # both are letters, digits, dots and hyphens
