"""All rows, one after another, on a library made for them; and the tables of the documentation."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.config import Settings
from relic_core.config.machine import busy, in_full
from relic_core.config.provenance import code
from relic_core.domain.figures import Table
from relic_core.errors import unknown_name
from relic_core.reporting.tables import write as write_tables
from relic_core.wiring import App, build
from tools.between_marks import put_between
from tools.reliability import faults, load, pages
from tools.reliability.rows import Row, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from relic_core.ports import Progress

PARTS: Mapping[str, Callable[[Trial], Row]] = {
    "searchers": load.searchers,
    "browsers": pages.browsers,
    "killed": faults.killed,
    "full": faults.full_disk,
    "locked": faults.locked,
    "index": faults.index_gone,
    "overnight": pages.overnight,
}
MARKS = "reliability"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run has found.

    - `rows`: in the order of `PARTS`.
    - `code`, `date`, `command`, `note`: version of the program; when; how it was called; whether the machine was busy.
    """

    rows: tuple[Row, ...]
    machine: Mapping[str, str | int | float]
    code: str
    date: str
    command: str
    note: str
    seconds: float

    @property
    def held(self) -> bool:
        """Whether everything that could be tried came as expected."""
        return all(row.held is not False for row in self.rows)

    @property
    def lost(self) -> int:
        """How many acknowledged writes were lost, all rows together."""
        return int(sum(row.counts.get("lost", 0) for row in self.rows))


def run(
    parts: Sequence[str],
    progress: Progress,
    *,
    searchers: int = 20,
    browsers: int = 4,
    rounds: int = 5,
    command: str = "",
) -> Report:
    """Do all of it, to a library in a folder that is deleted afterwards.

    - `parts`: names of `PARTS`; all where there are none.
    - `searchers`, `browsers`, `rounds`: how many at once, and how often things are repeated.
    - `command`: how it was called, for the report.

    Raises BadRequest: there is no such part.
    """
    for part in parts:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    chosen = [part for part in PARTS if not parts or part in parts]
    began, date, note = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds"), busy()
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        progress(0, len(chosen), "preparing the sample")
        bench = _library(at)
        examples = tuple(example.claim.words for example in bench.examples.of_split("sample")) or ("A claim",)
        rows = []
        for number, part in enumerate(chosen):
            trial = Trial(
                app=bench,
                folder=at,
                work_id=_sample(bench),
                claims=examples,
                searchers=searchers,
                browsers=browsers,
                rounds=rounds,
                say=partial(progress, number, len(chosen)),
            )
            rows.append(PARTS[part](trial))
    return Report(
        rows=tuple(rows),
        machine=in_full(),
        code=code(),
        date=date,
        command=command,
        note=note,
        seconds=time.perf_counter() - began,
    )


def write(report: Report, form: str = "markdown") -> str:
    """Write the report: what ran it, a table of how it came out, and each row in its own words.

    - `form`: for a terminal, or for the documentation.
    """
    machine = report.machine
    ran_on = (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}; Python "
        f"{machine['python']}, Streamlit {machine['streamlit']}, RELiC Workbench {report.code}; {report.date}, "
        f"{report.seconds / 60:.1f} minutes. Made by `{report.command}`."
    )
    table = Table(
        caption=f"Acknowledged writes lost, all together: {report.lost}",
        heads=("what", "as expected", "counted"),
        rows=tuple((row.name, _came(row), _counted(row)) for row in report.rows),
    )
    head = "### {}" if form == "markdown" else "{}"
    told = [
        f"{head.format(row.name[:1].upper() + row.name[1:])}\n\nDone: {row.done}\n\nExpected: {row.expected}\n\n"
        f"Happened: {row.happened}"
        for row in report.rows
    ]
    return "\n\n".join([ran_on, *filter(None, [report.note]), write_tables((table,), form), *told])


def _came(row: Row) -> str:
    return {True: "yes", False: "no", None: "not tried"}[row.held]


def _counted(row: Row) -> str:
    return ", ".join(f"{name} {f'{value:,.1f}'.removesuffix('.0')}" for name, value in row.counts.items())


def put_into(path: Path, report: Report) -> bool:
    """Put the report between the marks of a page; see `put_between`."""
    return put_between(path, MARKS, write(report))


def _library(folder: Path) -> App:
    settings = Settings(data=folder / "data", indexes=folder / "indexes")
    bench = build(settings)
    bench.works.ensure_sample()
    work_id = _sample(bench)
    bench.indexes.build(work_id, bench.indexes.missing(work_id), lambda _done, _total, _note="": None)
    return bench


def _sample(bench: App) -> str:
    return bench.works.summaries()[0].id
