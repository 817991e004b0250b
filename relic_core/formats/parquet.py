"""Runs and windows as Parquet, for those who go on in a notebook: one row each, columns named as the records' fields.

What a table cannot say in columns (the facts of a run; which benchmark windows are of) stands as JSON in the file's
metadata, under the key ``relic``, with the name and version of the format. Checksums of the pages are written and
verified. A place in a text is a start and an end, counted in characters, half-open.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from relic_core.domain import MAX_CONTEXT, MIN_LENGTH, Outcome, Span, Window
from relic_core.errors import BadBenchmark
from relic_core.formats.files import as_object, parse, read_bytes, written_whole
from relic_core.formats.run_facts import check_outcomes, facts_of, run_of, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import Offsets, Run

OUTCOMES = "relic outcomes/1"
WINDOWS = "relic windows/1"
"""Names and versions of the two formats: a file of another version is refused."""

MAX_ROWS = 5_000_000
"""Longer tables are not read: RELiC has some eighty thousand quotations."""

_KEY = b"relic"

# Name of each column -> its type (as `_types` names them) and whether it may be empty.
_OUTCOME_COLUMNS = {
    "example_id": ("text", False),
    "book": ("text", False),
    "length": ("number", False),
    "kind": ("text", False),
    "candidates": ("number", False),
    "rank": ("number", True),
    "overlap_rank": ("number", True),
    "gold": ("place", False),
    "first": ("places", False),
}
_WINDOW_COLUMNS = {
    "id": ("text", False),
    "book": ("text", False),
    "pool": ("text", False),
    "left": ("texts", False),
    "right": ("texts", False),
    "gold_start": ("number", False),
    "gold_length": ("number", False),
    "kind": ("text", False),
}


def write_outcomes(path: Path, run: Run, outcomes: Sequence[Outcome]) -> None:
    """Write a run with its outcomes, whole or not at all; the same run makes the same bytes.

    Parameters
    ----------
    path : Path
        The file; one that is there is replaced.
    run : Run
        What was measured. Whether it came with the program (`Run.shipped`) is no part of a file.
    outcomes : sequence of Outcome
        All of them, in the order of the benchmark.

    Raises
    ------
    BadBenchmark
        The outcomes are not those of the run.
    StoreError
        The file cannot be written.
    """
    check_outcomes(str(path), run, outcomes)
    rows = [
        {**asdict(each), "gold": _place(each.gold), "first": [_place(at) for at in each.first]} for each in outcomes
    ]
    _write(path, OUTCOMES, {"run": facts_of(run)}, _OUTCOME_COLUMNS, rows)


def read_outcomes(path: Path) -> tuple[Run, tuple[Outcome, ...]]:
    """Read a run with its outcomes.

    Returns
    -------
    (Run, tuple of Outcome)
        In the order of the benchmark.

    Raises
    ------
    NotFound
        There is no such file.
    BadBenchmark
        It is damaged, of another form or version, a column is missing or of another type, or the outcomes are not those
        of the run.
    """
    facts, rows = _read(path, OUTCOMES, ("run",), _OUTCOME_COLUMNS)
    run = run_of(facts["run"], f"{path}: the run")
    outcomes = tuple(
        Outcome(
            **{
                **row,
                "gold": (row["gold"]["start"], row["gold"]["end"]),
                "first": tuple((place["start"], place["end"]) for place in row["first"]),
            }
        )
        for row in rows
    )
    check_outcomes(str(path), run, outcomes)
    return run, outcomes


def write_windows(path: Path, windows: Sequence[Window], facts: Mapping[str, str]) -> None:
    """Write windows, whole or not at all; the same windows make the same bytes.

    Parameters
    ----------
    path : Path
        The file; one that is there is replaced.
    windows : sequence of Window
        In the order of their benchmark.
    facts : mapping of str to str
        What they are of: the benchmark, the hash of its data, its licence.

    Raises
    ------
    BadBenchmark
        They would not be read again (`read_windows`).
    StoreError
        The file cannot be written.
    """
    _check_windows(str(path), windows)
    rows = [
        {
            **{name: getattr(window, name) for name in ("id", "book", "pool", "kind")},
            "left": list(window.left),
            "right": list(window.right),
            "gold_start": window.gold.start,
            "gold_length": window.gold.length,
        }
        for window in windows
    ]
    _write(path, WINDOWS, {"facts": dict(facts)}, _WINDOW_COLUMNS, rows)


def read_windows(path: Path) -> tuple[tuple[Window, ...], dict[str, str]]:
    """Read windows and what they are of.

    Returns
    -------
    windows : tuple of Window
        In the order of their benchmark.
    facts : dict of str to str
        As they were written.

    Raises
    ------
    NotFound
        There is no such file.
    BadBenchmark
        It is damaged, of another form or version, a column is missing or of another type, an id occurs twice, a context
        has more than four sentences, or a gold is no span.
    """
    said, rows = _read(path, WINDOWS, ("facts",), _WINDOW_COLUMNS)
    windows = tuple(
        Window(
            id=row["id"],
            book=row["book"],
            pool=row["pool"],
            left=tuple(row["left"]),
            right=tuple(row["right"]),
            gold=Span(row["gold_start"], row["gold_length"]),
            kind=row["kind"],
        )
        for row in rows
    )
    _check_windows(str(path), windows)
    return windows, words(said["facts"], f"{path}: the facts")


def _types() -> dict[str, Any]:
    """Name pyarrow's types; in a function, since importing it takes a while and few commands need it."""
    import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types

    place = pa.struct([pa.field("start", pa.int64(), nullable=False), pa.field("end", pa.int64(), nullable=False)])
    return {
        "text": pa.string(),
        "texts": pa.list_(pa.field("element", pa.string(), nullable=False)),
        "number": pa.int64(),
        "place": place,
        "places": pa.list_(pa.field("element", place, nullable=False)),
    }


def _write(
    path: Path,
    form: str,
    said: Mapping[str, object],
    columns: Mapping[str, tuple[str, bool]],
    rows: list[dict[str, Any]],
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        head = json.dumps({"format": form, **said}, ensure_ascii=False, sort_keys=True, allow_nan=False).encode()
        types = _types()
        schema = pa.schema(
            [pa.field(name, types[kind], nullable=empty) for name, (kind, empty) in columns.items()],
            metadata={_KEY: head},
        )
        table = pa.Table.from_pylist(rows, schema=schema)
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError) as error:  # pyarrow's errors are of these kinds
        raise BadBenchmark(
            f"{path}: this cannot be written as Parquet ({error!s:.200}). Text must be whole characters, and numbers "
            "whole ones of at most 64 bits."
        ) from None
    with written_whole(path) as file:
        parquet.write_table(table, file, write_page_checksum=True)


def _read(
    path: Path, form: str, said: Sequence[str], columns: Mapping[str, tuple[str, bool]]
) -> tuple[dict[str, object], list[dict[str, Any]]]:
    import pyarrow as pa
    from pyarrow import parquet

    data = read_bytes(path)
    try:
        file = parquet.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        head = _checked_head(path, file, form, columns)
        table = file.read()
        table.validate(full=True)  # offsets and text, which a damaged file may have wrong
        rows: list[dict[str, Any]] = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:  # pyarrow raises all three
        what = (str(error).splitlines() or ["no reason given"])[0]
        raise BadBenchmark(
            f"{path} cannot be read as Parquet ({what:.200}). It was cut short or damaged, or is of another format: "
            "export it anew."
        ) from None
    return as_object(head, f"{path}: the metadata", said), rows


def _checked_head(
    path: Path,
    file: Any,  # noqa: ANN401 - pyarrow ships no types
    form: str,
    columns: Mapping[str, tuple[str, bool]],
) -> dict[str, object]:
    """Take what a file says of itself, and refuse one that is not of a format before any row is read."""
    written = (file.schema_arrow.metadata or {}).get(_KEY, b"{}").decode()
    head = as_object(parse(written, f"{path}: the metadata"), f"{path}: the metadata")
    found = head.pop("format", None)
    if found != form:
        given = f"of the format '{found:.60}'" if isinstance(found, str) else "of another origin"
        raise BadBenchmark(
            f"{path} is {given}, and '{form}' is wanted. Export it anew with this version of the program."
        )
    if file.metadata.num_rows > MAX_ROWS:
        raise BadBenchmark(f"{path} has {file.metadata.num_rows:,} rows; at most {MAX_ROWS:,} are read.")
    types = _types()
    schema = file.schema_arrow
    if sorted(schema.names) != sorted(columns):
        raise BadBenchmark(
            f"{path} has the columns {', '.join(schema.names):.300}; these are wanted: {', '.join(columns)}."
        )
    for name, (kind, empty) in columns.items():
        column = schema.field(name)
        if not column.type.equals(types[kind]):
            raise BadBenchmark(f"{path}: the column '{name}' is of type {column.type}, and {types[kind]} is wanted.")
        if column.nullable and not empty:
            raise BadBenchmark(f"{path}: the column '{name}' may have empty cells here, and must have none.")
    return head


def _check_windows(here: str, windows: Sequence[Window]) -> None:
    seen: set[str] = set()
    for window in windows:
        there = f"{here}: window '{window.id:.80}'"
        if window.id in seen:
            raise BadBenchmark(f"{there} occurs twice.")
        seen.add(window.id)
        if max(len(window.left), len(window.right)) > MAX_CONTEXT:
            raise BadBenchmark(f"{there} has more than {MAX_CONTEXT} sentences on one side.")
        if window.gold.start < 0 or window.gold.length < MIN_LENGTH:
            raise BadBenchmark(
                f"{there}: {window.gold.length} sentences from {window.gold.start} are no quotation; it would be at "
                f"least {MIN_LENGTH}, from 0 or later."
            )


def _place(offsets: Offsets) -> dict[str, int]:
    return {"start": offsets[0], "end": offsets[1]}
