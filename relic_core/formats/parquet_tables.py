"""Tables of records as Parquet: columns with types, and what a table cannot say in columns in the file's metadata.

The metadata hold JSON under the key ``relic``, with the name and version of the format. Checksums of the pages are
written and verified. Rows are written and read in batches, so that a table need not fit into memory as records.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from relic_core.errors import BadBenchmark
from relic_core.formats.files import as_object, parse, read_bytes, written_whole

Columns = Mapping[str, str]
"""Name of each column -> its type: "text", "texts", "number", "fraction", "place", "places"; with a question mark
where it may be empty."""
Records = list[dict[str, Any]]

MAX_ROWS = 5_000_000
"""Longer tables are not read: RELiC has some eighty thousand quotations."""

BATCH = 5_000

_KEY = b"relic"


def write(path: Path, form: str, metadata: Mapping[str, object], columns: Columns, batches: Iterable[Records]) -> int:
    """Write a table, whole or not at all; the same records in the same batches make the same bytes.

    - `batches`: records with a value for each column; each batch is a row group of the file.
    """
    import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
    from pyarrow import parquet

    with _fitting(path):
        head = json.dumps({"format": form, **metadata}, ensure_ascii=False, sort_keys=True, allow_nan=False).encode()
    types = _types()
    fields = [pa.field(name, types[kind.rstrip("?")], nullable=kind.endswith("?")) for name, kind in columns.items()]
    schema = pa.schema(fields, metadata={_KEY: head})
    rows = 0
    settings = {"compression": "zstd", "compression_level": 12, "write_page_checksum": True}
    with written_whole(path) as file, parquet.ParquetWriter(file, schema, **settings) as writer:
        for batch in batches:
            with _fitting(path):
                table = pa.Table.from_pylist(batch, schema=schema)
            writer.write_table(table)
            rows += len(batch)
    return rows


def read(path: Path, form: str, keys: Sequence[str], columns: Columns) -> tuple[dict[str, object], Iterator[Records]]:
    """Read a table; its metadata and columns are checked at once, its rows as they are taken.

    Raises BadBenchmark: it is damaged, of another form or version, or a column is missing or of another type. That rows
    are damaged shows when they are taken.
    """
    import pyarrow as pa
    from pyarrow import parquet

    data = read_bytes(path)
    with _readable(path):
        file = parquet.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        head = _checked_head(path, file, form, columns)
    return as_object(head, f"{path}: the metadata", keys), _batches(path, file)


def _batches(path: Path, file: Any) -> Iterator[Records]:  # noqa: ANN401 - pyarrow ships no types
    with _readable(path):
        batches = file.iter_batches(batch_size=BATCH)
    while True:
        with _readable(path):
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)  # offsets and text, which a damaged file may have wrong
            records: Records = batch.to_pylist()
        yield records


def _types() -> dict[str, Any]:
    """Name pyarrow's types; in a function, since importing it takes a while and few commands need it."""
    import pyarrow as pa

    place = pa.struct([pa.field("start", pa.int64(), nullable=False), pa.field("end", pa.int64(), nullable=False)])
    return {
        "text": pa.string(),
        "texts": pa.list_(pa.field("element", pa.string(), nullable=False)),
        "number": pa.int64(),
        "fraction": pa.float64(),
        "place": place,
        "places": pa.list_(pa.field("element", place, nullable=False)),
    }


@contextlib.contextmanager
def _fitting(path: Path) -> Iterator[None]:
    try:
        yield
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError) as error:  # pyarrow's errors are of these kinds
        raise BadBenchmark(
            f"{path}: this cannot be written as Parquet ({error!s:.200}). Text must be whole characters, and numbers "
            "whole ones of at most 64 bits."
        ) from None


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:  # pyarrow raises all three
        what = (str(error).splitlines() or ["no reason given"])[0]
        raise BadBenchmark(
            f"{path} cannot be read as Parquet ({what:.200}). It was cut short or damaged, or is of another format: "
            "export it anew."
        ) from None


def _checked_head(
    path: Path,
    file: Any,  # noqa: ANN401 - pyarrow ships no types
    form: str,
    columns: Columns,
) -> dict[str, object]:
    """Take what a file says of itself, and refuse one that is not of a format before any row is read."""
    head = as_object(
        parse((file.schema_arrow.metadata or {}).get(_KEY, b"{}").decode(), f"{path}: the head"), f"{path}: the head"
    )
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
    for name, kind in columns.items():
        column, wanted = schema.field(name), types[kind.rstrip("?")]
        if not column.type.equals(wanted):
            raise BadBenchmark(f"{path}: the column '{name}' is of type {column.type}, and {wanted} is wanted.")
        if column.nullable and not kind.endswith("?"):
            raise BadBenchmark(f"{path}: the column '{name}' may have empty cells here, and must have none.")
    return head
