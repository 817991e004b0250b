"""Files of pairs and mined windows, as JSON lines or as Parquet: written row by row, with what made them.

A row is what JSON makes of a record: numbers, strings and lists, in one set of columns for every file, with words or
with offsets only. Where a row has no words it has digests of them (`passage_id`), by which somebody who holds the texts
can see that they were found again. A place in a text is a start and an end, counted in characters, half-open.

The first line of a file of JSON lines is its head, padded to one length and written last: what made it, its sources and
works, how many rows follow and their sha256. So a reader can tell whether it was cut short or changed.
Parquet has the same head in its metadata, and checksums of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from relic_core.domain import MinedWindow, Offsets, Pair, SecondarySource, passage_id
from relic_core.errors import BadBenchmark
from relic_core.formats import parquet_tables
from relic_core.formats.files import written_whole
from relic_core.formats.parquet_tables import Columns

JSON_LINES, PARQUET = ".jsonl", ".parquet"

PAIRS = "relic pairs/1"
WINDOWS = "relic mined windows/1"
PLACES_OF_PAIRS = "relic places of pairs/1"
PLACES_OF_WINDOWS = "relic places of mined windows/1"

SPLITS = ("training", "dev", "test", "left out")
"""What a pair or window may be used for: to learn from, to choose by, to report on, nothing."""

_BEFORE = dict.fromkeys(("id", "split", "source", "kind"), "text")
_WORDS = {"left": "texts", "quotation": "text", "right": "texts"}
_PLACES = dict.fromkeys(("quotation_start", "quotation_end", "passage_start", "passage_end"), "number")
_DIGESTS = {
    **dict.fromkeys(("left_sentences", "right_sentences"), "number"),
    **dict.fromkeys(("left_digest", "quotation_digest", "right_digest"), "text"),
}
_WORK = {
    "work": "text",
    **dict.fromkeys(("gold_start", "gold_length", "work_start", "work_end"), "number"),
    "lit": "places",
    "lit_in_work": "places",
    "score": "fraction",
    "match": "text",
    "evidence": "text",
}

COLUMNS: Mapping[str, Columns] = {
    PAIRS: {**_BEFORE, **_WORDS, **_PLACES},
    WINDOWS: {**_BEFORE, **_WORDS, **_PLACES, **_WORK, "sentences": "texts"},
    PLACES_OF_PAIRS: {**_BEFORE, **_PLACES, **_DIGESTS},
    PLACES_OF_WINDOWS: {**_BEFORE, **_PLACES, **_DIGESTS, **_WORK, "sentences_digest": "text"},
}
"""Format -> its columns in order, with their types."""

_DIGITS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A pair and what it may be used for; no `split` where nobody has decided yet."""

    pair: Pair
    split: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """A mined window with the work's own sentences, one for each of ``window.gold``, and the latest judgements."""

    window: MinedWindow
    sentences: tuple[str, ...]
    in_work: Offsets
    split: str = ""
    match: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedEdition:
    """A work that windows are on: golds and offsets belong to this text and these sentences (`fingerprint`)."""

    id: str
    title: str
    author: str
    year: int | None
    sha256: str
    fingerprint: str
    segmenter: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHeader:
    """What a file of pairs or windows says of itself; `made` says by what: program, rules of mining, choices."""

    made: Mapping[str, str]
    sources: tuple[SecondarySource, ...]
    works: tuple[QuotedEdition, ...] = ()

    def facts(self) -> dict[str, object]:
        """Say it in the words of JSON."""
        return {
            "made": dict(sorted(self.made.items())),
            "sources": [asdict(source) for source in self.sources],
            "works": [asdict(work) for work in self.works],
        }


def write_pairs(path: Path, head: FileHeader, rows: Iterable[PairRow], *, places: bool = False) -> int:
    """Write pairs, whole or not at all; the same pairs in the same order make the same bytes.

    - `path`: its suffix says in which form: ``.jsonl`` or ``.parquet``. A file that is there is replaced.
    - `places`: offsets and digests in place of words.

    Raises BadBenchmark: an id occurs twice, or a row has no words where words are to be written.
    """
    made = ((row.pair.id, bool(row.pair.quotation), _row(row.pair, row.split, places=places)) for row in rows)
    return _write(path, PLACES_OF_PAIRS if places else PAIRS, head, _checked_rows(path, made, places=places))


def write_windows(path: Path, head: FileHeader, rows: Iterable[WindowRow], *, places: bool = False) -> int:
    """Write windows; parameters, result and errors as those of `write_pairs`."""
    made = ((row.window.id, bool(row.window.quotation), _row_of_window(row, places=places)) for row in rows)
    return _write(path, PLACES_OF_WINDOWS if places else WINDOWS, head, _checked_rows(path, made, places=places))


def _checked_rows(
    path: Path, made: Iterable[tuple[str, bool, dict[str, Any]]], *, places: bool
) -> Iterator[dict[str, Any]]:
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


def _write(path: Path, form: str, head: FileHeader, rows: Iterator[dict[str, Any]]) -> int:
    if path.suffix == PARQUET:
        batches = iter(lambda: list(islice(rows, parquet_tables.BATCH)), [])
        return parquet_tables.write(path, form, head.facts(), COLUMNS[form], batches)
    if path.suffix != JSON_LINES:
        raise BadBenchmark(
            f"{path.name}: pairs and windows are written as JSON lines ({JSON_LINES}) or Parquet ({PARQUET}). Let the "
            "name end in one of these."
        )
    return _write_lines(path, form, head, rows)


def _write_lines(path: Path, form: str, head: FileHeader, rows: Iterator[dict[str, Any]]) -> int:
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


def _head_line(path: Path, form: str, head: FileHeader, rows: int, sha256: str) -> bytes:
    """Set the head; the same length for any number of rows, so that it can be written when that is known."""
    line = _line(path, {"format": form, **head.facts(), "rows": rows, "sha256": sha256})
    return line[:-1] + b" " * (len(str(parquet_tables.MAX_ROWS)) - len(str(rows))) + b"\n"


def _line(path: Path, row: dict[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except ValueError as error:  # half a character, or a number that is none
        raise BadBenchmark(f"{path}: this cannot be written as JSON ({error!s:.200}).") from None


def _row_of_window(row: WindowRow, *, places: bool) -> dict[str, Any]:
    """Set a window as a row; with `places`, offsets and digests in place of its words."""
    window = row.window
    own: dict[str, Any] = {
        "work": window.work_id,
        "gold_start": window.gold.start,
        "gold_length": window.gold.length,
        "work_start": row.in_work[0],
        "work_end": row.in_work[1],
        "lit": [{"start": start, "end": end} for start, end in window.lit],
        "lit_in_work": [{"start": start, "end": end} for start, end in window.lit_in_work],
        "score": float(window.score),
        "match": row.match,
        "evidence": row.evidence,
    }
    last = {"sentences_digest": passage_id(*row.sentences)} if places else {"sentences": list(row.sentences)}
    return {**_row(window, row.split, places=places), **own, **last}


def _row(passage: Pair | MinedWindow, split: str, *, places: bool) -> dict[str, Any]:
    """Set a pair, or what a window has in common with one, as a row; places as in `_row_of_window`."""
    row: dict[str, Any] = {"id": passage.id, "split": split, "source": passage.source_id, "kind": passage.kind}
    where = {
        "quotation_start": passage.at[0],
        "quotation_end": passage.at[1],
        "passage_start": passage.passage[0],
        "passage_end": passage.passage[1],
    }
    if not places:
        texts = {"left": list(passage.left), "quotation": passage.quotation, "right": list(passage.right)}
        return {**row, **texts, **where}
    known = bool(passage.quotation)  # else it was mined without its words, and of these nothing is known here
    return {
        **row,
        **where,
        "left_sentences": len(passage.left),
        "right_sentences": len(passage.right),
        "left_digest": passage_id(*passage.left) if known else "",
        "quotation_digest": passage_id(passage.quotation) if known else "",
        "right_digest": passage_id(*passage.right) if known else "",
    }
