"""Tables of what the bench has measured, one for each part: for a terminal, and for the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain.figures import Table
from relic_core.reporting import tables
from tools.bench.bench import number
from tools.bench.running import PARTS
from tools.between_marks import put_between

if TYPE_CHECKING:
    from pathlib import Path

    from tools.bench.bench import Figure, Measured
    from tools.bench.running import Report

MARKS = "bench"
"""Name of the marks between which a page has the tables."""

_HEADS = ("what", "value", "baseline", "of the baseline", "ratio", "target", "met")


def write(report: Report, form: str) -> str:
    """Write the tables of a report after what measured them.

    - `form`: as `relic_core.reporting.tables.write`.
    """
    told = "\n".join(_lines(report))
    return f"{told}\n\n{tables.write(tuple(_table(part) for part in report.parts), form)}"


def put_into(path: Path, report: Report) -> bool:
    """Put the tables between the marks of a page, in Markdown; see `put_between`."""
    return put_between(path, MARKS, write(report, "markdown"))


def _lines(report: Report) -> list[str]:
    machine = report.machine
    hardware = (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}; torch "
        f"computes with {machine['threads']} threads. AMX: {_yes(machine['amx'])}, AVX512-BF16: "
        f"{_yes(machine['avx512_bf16'])}."
    )
    software = (
        f"RELiC Workbench {report.code}, Python {machine['python']}, torch {machine['torch']}, sentence-transformers "
        f"{machine['sentence-transformers']}, faiss {machine['faiss-cpu']}, bm25s {machine['bm25s']}; {report.date}, "
        f"{number(report.seconds / 60)} minutes. Asked: {report.claims}."
    )
    return [
        hardware,
        "",
        software,
        *(["", "Only a trial that every part runs: the figures mean nothing."] if report.quick else []),
        *(line for note in report.notes for line in ("", note)),
    ]


def _table(measured: Measured) -> Table:
    about = PARTS[measured.part][1]
    on = f". Measured on: {measured.on}" if measured.on else ""
    return Table(
        caption=f"{measured.part}: {about}{on}",
        heads=_HEADS if measured.figures else ("what",),
        rows=tuple(_row(figure) for figure in measured.figures),
        notes=measured.notes,
    )


def _row(figure: Figure) -> tuple[str, ...]:
    target = figure.target
    unit = ""
    if target is not None:
        unit = figure.unit if target.of == "value" else "times"
    return (
        figure.what,
        _with(figure.value, figure.unit),
        figure.baseline,
        "" if figure.baseline_value is None else _with(figure.baseline_value, figure.unit),
        "" if figure.ratio is None else number(figure.ratio),
        "" if target is None else f"{target.bound} {_short(target.limit)} {unit}".strip(),
        {None: "", True: "yes", False: "no"}[figure.met],
    )


def _with(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".strip()


def _short(limit: float) -> str:
    """Write a limit as it was laid down: 300, 0.8."""
    return f"{limit:,g}"


def _yes(said: object) -> str:
    return "yes" if said else "no"
