"""Files of pairs and mined windows, as JSON lines or as Parquet: written and read row by row, with what made them.

The first line of a file of JSON lines is its head, padded to one length and written last: what made it, its sources and
works, how many rows follow and their sha256. So a file that was cut short or changed is told before a row is used.
Parquet has the same head in its metadata, and checksums of its own.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats import pair_reading, pair_rows, parquet_tables
from relic_core.formats.files import as_object, parse, written_whole
from relic_core.formats.pair_rows import HEAD, PAIRS, PLACES_OF_PAIRS, PLACES_OF_WINDOWS, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from relic_core.formats.pair_rows import Head, PairRow, WindowRow

JSON_LINES, PARQUET = ".jsonl", ".parquet"

R = TypeVar("R")

_DIGITS = 64
_LONGEST_HEAD = 256 * 2**20


@dataclass(frozen=True, slots=True)
class PairFile(Generic[R]):
    """A file that was opened: its head, checked, and its rows, checked as they are taken.

    - `rows`: pairs or windows (`PairRow`, `WindowRow`) in the order of the file; to be taken once.
    """

    head: Head
    rows: Iterator[R]


def write_pairs(path: Path, head: Head, rows: Iterable[PairRow], *, places: bool = False) -> int:
    """Write pairs, whole or not at all; the same pairs in the same order make the same bytes.

    - `path`: the file, whose suffix says in which form: ``.jsonl`` or ``.parquet``. One that is there is replaced.
    - `head`: what made them, and their sources.
    - `rows`: taken as they are written.
    - `places`: offsets and digests in place of words.

    Returns: how many were written.

    Raises BadBenchmark: the name ends otherwise, an id occurs twice, or a row has no words where words are to be
    written.
    Raises StoreError: the file cannot be written.
    """
    made = ((row.pair.id, bool(row.pair.quotation), pair_rows.row_of_pair(row, places=places)) for row in rows)
    return _write(path, PLACES_OF_PAIRS if places else PAIRS, head, _told(path, made, places=places))


def write_windows(path: Path, head: Head, rows: Iterable[WindowRow], *, places: bool = False) -> int:
    """Write windows; parameters, result and errors as those of `write_pairs`."""
    made = ((row.window.id, bool(row.window.quotation), pair_rows.row_of_window(row, places=places)) for row in rows)
    return _write(path, PLACES_OF_WINDOWS if places else WINDOWS, head, _told(path, made, places=places))


def read_pairs(path: Path) -> PairFile[PairRow]:
    """Open a file of pairs that `write_pairs` wrote, with their words.

    Returns: its head, and its rows as they are taken: many pairs need not be in memory at once.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is damaged, cut short or changed, of another form or version. What is wrong with a row (its
    columns, its offsets, an id that occurs twice, a source that the head does not name) is raised when the row is
    taken.
    """
    return _read(path, PAIRS, pair_reading.pair_of_row, lambda row: row.pair.id)


def read_windows(path: Path) -> PairFile[WindowRow]:
    """Open a file of windows; result and errors as those of `read_pairs`."""
    return _read(path, WINDOWS, pair_reading.window_of_row, lambda row: row.window.id)


def _told(path: Path, made: Iterable[tuple[str, bool, dict[str, Any]]], *, places: bool) -> Iterator[dict[str, Any]]:
    """Pass rows on that can be read again."""
    seen: set[str] = set()
    for name, worded, row in made:
        if name in seen:
            raise BadBenchmark(f"{path}: the id '{name:.80}' occurs twice. An id names one passage.")
        if not (worded or places):
            raise BadBenchmark(
                f"{path}: '{name:.80}' was mined without its words. Write offsets only, or mine its source again with "
                "the words."
            )
        seen.add(name)
        yield row


def _write(path: Path, form: str, head: Head, rows: Iterator[dict[str, Any]]) -> int:
    if path.suffix == PARQUET:
        batches = iter(lambda: list(islice(rows, parquet_tables.BATCH)), [])
        return parquet_tables.write(path, form, head.facts(), pair_rows.COLUMNS[form], batches)
    if path.suffix != JSON_LINES:
        raise BadBenchmark(
            f"{path.name}: pairs and windows are written as JSON lines ({JSON_LINES}) or Parquet ({PARQUET}). Let the "
            "name end in one of these."
        )
    return _write_lines(path, form, head, rows)


def _write_lines(path: Path, form: str, head: Head, rows: Iterator[dict[str, Any]]) -> int:
    count, digest = 0, hashlib.sha256()
    with written_whole(path) as file:
        file.write(_head_line(path, form, head, parquet_tables.MAX_ROWS, "0" * _DIGITS))
        for row in rows:
            line = _line(path, row)
            digest.update(line)
            file.write(line)
            count += 1
        file.seek(0)
        file.write(_head_line(path, form, head, count, digest.hexdigest()))
    return count


def _head_line(path: Path, form: str, head: Head, rows: int, sha256: str) -> bytes:
    """Set the head; the same length for any number of rows, so that it can be written when that is known."""
    line = _line(path, {"format": form, **head.facts(), "rows": rows, "sha256": sha256})
    return line[:-1] + b" " * (len(str(parquet_tables.MAX_ROWS)) - len(str(rows))) + b"\n"


def _line(path: Path, row: dict[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except ValueError as error:  # half a character, or a number that is none
        raise BadBenchmark(f"{path}: this cannot be written as JSON ({error!s:.200}).") from None


def _read(path: Path, form: str, take: Callable[[object, str, Head], R], name: Callable[[R], str]) -> PairFile[R]:
    if path.suffix == PARQUET:
        facts, batches = parquet_tables.read(path, form, HEAD, pair_rows.COLUMNS[form])
        raw: Iterator[object] = (row for batch in batches for row in batch)
    elif path.suffix == JSON_LINES:
        facts, raw = _read_lines(path, form)
    else:
        raise BadBenchmark(f"{path.name} is not read: pairs and windows are in {JSON_LINES} or {PARQUET} files.")
    head = pair_reading.head_of(facts, f"{path}: the head")

    def rows() -> Iterator[R]:
        seen: set[str] = set()
        for number, each in enumerate(raw, start=1):
            row = take(each, f"{path}: row {number:,}", head)
            if name(row) in seen:
                raise BadBenchmark(f"{path}: row {number:,} has the id '{name(row):.80}', which occurs twice.")
            seen.add(name(row))
            yield row

    return PairFile(head, rows())


def _read_lines(path: Path, form: str) -> tuple[dict[str, object], Iterator[object]]:
    """Check the head and the sha256 of all rows before the first is given."""
    try:
        with path.open("rb") as file:
            first = file.readline(_LONGEST_HEAD)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}. Check the name, or export it first.") from None
    except OSError as error:
        raise BadBenchmark(f"{path} cannot be read ({error.strerror}). Name a file that is yours to read.") from None
    head = as_object(parse(_decoded(first, path, 1), f"{path}: the head"), f"{path}: the head")
    found = head.pop("format", None)
    if found != form:
        given = f"of the format '{found:.60}'" if isinstance(found, str) else "of another origin"
        raise BadBenchmark(
            f"{path} is {given}, and '{form}' is wanted. Export it anew with this version of the program."
        )
    facts = as_object(head, f"{path}: the head", (*HEAD, "rows", "sha256"))
    if facts["sha256"] != digest:
        raise BadBenchmark(
            f"{path}: the rows are not those that were written ({facts['rows']} rows). The file was cut short, damaged "
            "or changed by hand; export it anew."
        )
    return {name: facts[name] for name in HEAD}, _lines(path)


def _lines(path: Path) -> Iterator[object]:
    with path.open("rb") as file:
        file.readline(_LONGEST_HEAD)
        for number, line in enumerate(file, start=2):
            yield parse(_decoded(line, path, number), f"{path}, line {number:,},")


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise BadBenchmark(
            f"{path}, line {number:,}, is not text in UTF-8. It was damaged or is no file of JSON lines."
        ) from None
