"""Runs and windows as Parquet, for those who go on in a notebook: one row each, columns named as the records' fields.

What a table cannot say in columns (the facts of a run; which benchmark windows are of) is in the file's metadata
(`parquet_tables`). A place in a text is a start and an end, counted in characters, half-open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from relic_core.domain import Offsets, Outcome, QuotationContext, Run
from relic_core.formats import parquet_tables
from relic_core.formats.run_files import check_outcomes, facts_of

OUTCOMES = "relic outcomes/1"
WINDOWS = "relic windows/1"

_OUTCOME_COLUMNS = {
    "example_id": "text",
    "book": "text",
    "length": "number",
    "kind": "text",
    "label": "text",
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
    "label": "text",
}


def write_outcomes(path: Path, run: Run, outcomes: Sequence[Outcome], labels: Mapping[str, str] | None = None) -> None:
    """Write a run with its outcomes, whole or not at all; the same run makes the same bytes."""
    check_outcomes(str(path), run, outcomes)
    rows = [
        {
            **asdict(each),
            "gold": _place(each.gold),
            "first": list(map(_place, each.first)),
            "label": (labels or {}).get(each.example_id, ""),
        }
        for each in outcomes
    ]
    parquet_tables.write(path, OUTCOMES, {"run": facts_of(run)}, _OUTCOME_COLUMNS, [rows])


def write_windows(
    path: Path,
    windows: Sequence[QuotationContext],
    facts: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
) -> None:
    """Write windows, whole or not at all, with what they are of; the same windows make the same bytes."""
    rows = [
        {
            **{name: getattr(window, name) for name in ("id", "book", "pool", "kind")},
            "left": list(window.left),
            "right": list(window.right),
            "gold_start": window.gold.start,
            "gold_length": window.gold.length,
            "label": (labels or {}).get(window.id, ""),
        }
        for window in windows
    ]
    parquet_tables.write(path, WINDOWS, {"facts": dict(facts)}, _WINDOW_COLUMNS, [rows])


def _place(offsets: Offsets) -> dict[str, int]:
    return {"start": offsets[0], "end": offsets[1]}
