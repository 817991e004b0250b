"""Runs and windows as Parquet, for those who go on in a notebook: one row each, columns named as the records' fields.

What a table cannot say in columns (the facts of a run; which benchmark windows are of) stands in the file's metadata
(`parquet_tables`). A place in a text is a start and an end, counted in characters, half-open.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from relic_core.domain import MAX_CONTEXT, MIN_LENGTH, Outcome, QuotationContext, Span
from relic_core.errors import BadBenchmark
from relic_core.formats import parquet_tables
from relic_core.formats.files import Strict, checked
from relic_core.formats.run_files import RunFacts, check_outcomes, facts_of, run_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import Offsets, Run

OUTCOMES = "relic outcomes/1"
WINDOWS = "relic windows/1"
"""Names and versions of the two formats: a file of another version is refused."""

_OUTCOME_COLUMNS = {
    "example_id": "text",
    "book": "text",
    "length": "number",
    "kind": "text",
    "candidates": "number",
    "rank": "number?",
    "overlap_rank": "number?",
    "gold": "place",
    "first": "places",
}
_WINDOW_COLUMNS = {
    "id": "text",
    "book": "text",
    "pool": "text",
    "left": "texts",
    "right": "texts",
    "gold_start": "number",
    "gold_length": "number",
    "kind": "text",
}


class _Facts(Strict):
    facts: dict[str, str]


def write_outcomes(path: Path, run: Run, outcomes: Sequence[Outcome]) -> None:
    """Write a run with its outcomes, whole or not at all; the same run makes the same bytes.

    - `run`: what was measured. Whether it came with the program (`Run.shipped`) is no part of a file.

    Raises BadBenchmark: the outcomes are not those of the run.
    Raises StoreError: the file cannot be written.
    """
    check_outcomes(str(path), run, outcomes)
    rows = [
        {**asdict(each), "gold": _place(each.gold), "first": [_place(at) for at in each.first]} for each in outcomes
    ]
    parquet_tables.write(path, OUTCOMES, {"run": facts_of(run)}, _OUTCOME_COLUMNS, [rows])


def read_outcomes(path: Path) -> tuple[Run, tuple[Outcome, ...]]:
    """Read a run with its outcomes.

    Returns: in the order of the benchmark.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is damaged, of another form or version, a column is missing or of another type, or the
    outcomes are not those of the run.
    """
    facts, rows = _read(path, OUTCOMES, ("run",), _OUTCOME_COLUMNS)
    here = f"{path}: the run"
    run = run_of(checked(RunFacts, facts["run"], here), here)
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


def write_windows(path: Path, windows: Sequence[QuotationContext], facts: Mapping[str, str]) -> None:
    """Write windows, whole or not at all; the same windows make the same bytes.

    - `facts`: what they are of: the benchmark, the hash of its data, its licence.

    Raises BadBenchmark: they would not be read again (`read_windows`).
    Raises StoreError: the file cannot be written.
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
    parquet_tables.write(path, WINDOWS, {"facts": dict(facts)}, _WINDOW_COLUMNS, [rows])


def read_windows(path: Path) -> tuple[tuple[QuotationContext, ...], dict[str, str]]:
    """Read windows and what they are of.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is damaged, of another form or version, a column is missing or of another type, an id occurs
    twice, a context has more than four sentences, or a gold is no span.
    """
    said, rows = _read(path, WINDOWS, ("facts",), _WINDOW_COLUMNS)
    windows = tuple(
        QuotationContext(
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
    return windows, checked(_Facts, said, f"{path}: the metadata").facts


def _read(
    path: Path, form: str, said: Sequence[str], columns: Mapping[str, str]
) -> tuple[dict[str, object], list[dict[str, Any]]]:
    head, batches = parquet_tables.read(path, form, said, columns)
    return head, list(chain.from_iterable(batches))


def _check_windows(here: str, windows: Sequence[QuotationContext]) -> None:
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
