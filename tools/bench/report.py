"""What the bench has measured: figures beside their baselines, as a file and as tables."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from relic_core.domain.figures import Table
from relic_core.errors import BadRequest
from relic_core.formats.files import read_text, written_whole
from relic_core.reporting import tables

PARTS = {
    "bm25": "queries by words against rank_bm25",
    "building": "building an index against sentence-transformers on every span",
    "latency": "how long an answer from one work takes",
    "library": "how long an answer from the whole library takes",
    "reading": "what asking a language model's server costs beside the model",
    "memory": "the most memory that the app holds with three works open",
    "start": "from starting to a server that is up, and to a first answer",
    "plain": "the same answers without AMX and native bfloat16",
    "agreement": "whether rankings in bfloat16 are those in float32",
}
"""By name, what each measures; ``tools.bench.parts`` has a function of that name for each."""

_HEADS = ("what", "value", "baseline", "of the baseline", "ratio", "target", "met")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a figure has to come to; `of` is which number of it is held against it."""

    of: Literal["ratio", "value"]
    bound: Literal["at least", "at most", "under"]
    limit: float

    def holds(self, number: float) -> bool:
        """Whether a number comes up to it.

        >>> Target(of="value", bound="under", limit=30).holds(30.0)
        False
        """
        if self.bound == "at least":
            return number >= self.limit
        return number <= self.limit if self.bound == "at most" else number < self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number.

    - `unit`: "ms", "s", "MB", "tokens/s", "%"; empty for a bare number.
    - `baseline_value`: in the same unit.
    - `ratio`: how many times better than the baseline, or how large a share of it, as the part's page in the
      documentation says.
    - `repetitions`: how many measurements the number stands for.
    """

    what: str
    value: float
    unit: str
    baseline: str = ""
    baseline_value: float | None = None
    ratio: float | None = None
    target: Target | None = None
    repetitions: int = 1

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        number = self.value if self.target.of == "value" else self.ratio
        return number is not None and self.target.holds(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one part has measured.

    - `on`: what it was measured on: a work and its size, the library.
    - `figures`: in the order in which they are read; empty where nothing could be measured.
    - `notes`: sentences that a reader of the figures needs: what was extrapolated, or why nothing was measured.
    """

    part: str = ""
    on: str
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of the bench has measured.

    - `machine`: the processor, its memory, and the versions of what was measured.
    - `code`: version of the program, and its commit where that is known.
    - `date`: when the run began, UTC, ISO 8601.
    - `quick`: only as much was done as shows that every part runs; the figures mean nothing.
    - `notes`: what holds for all parts: that the machine was busy.
    """

    format: Literal["relic bench/1"] = "relic bench/1"
    machine: dict[str, str | int | float]
    code: str
    date: str
    seconds: float
    claims: str
    quick: bool
    notes: tuple[str, ...] = ()
    parts: tuple[Measured, ...] = ()


def write(report: Report) -> str:
    """Write a report as JSON; `read` reads it."""
    plain: dict[str, Any] = asdict(report)
    for part, measured in zip(plain["parts"], report.parts, strict=True):
        for row, figure in zip(part["figures"], measured.figures, strict=True):
            row["met"] = figure.met
    return json.dumps(plain, ensure_ascii=False, indent=2)


def keep(report: Report, path: Path) -> None:
    """Write a report into a file, whole or not at all; raises as `written_whole`."""
    with written_whole(path) as file:
        file.write(f"{write(report)}\n".encode())


def read(path: Path) -> Report:
    """Read a report that was kept. Raises BadRequest: it is not a report of this version's bench."""
    text = read_text(path)
    try:
        return TypeAdapter(Report).validate_json(text)
    except ValueError:
        raise BadRequest(
            f"{path} holds no figures of this version's bench. Measure again: python -m tools.bench --out {path}"
        ) from None


def as_tables(report: Report, form: str) -> str:
    """Write the tables of a report after what measured them; ``form`` as `relic_core.reporting.tables.write`."""
    machine = report.machine
    amx, bf16 = ("yes" if machine[flag] else "no" for flag in ("amx", "avx512_bf16"))
    hardware = (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}; torch "
        f"computes with {machine['threads']} threads. AMX: {amx}, AVX512-BF16: {bf16}."
    )
    software = (
        f"RELiC Workbench {report.code}, Python {machine['python']}, torch {machine['torch']}, sentence-transformers "
        f"{machine['sentence-transformers']}, faiss {machine['faiss-cpu']}, bm25s {machine['bm25s']}; {report.date}, "
        f"{number(report.seconds / 60)} minutes. Asked: {report.claims}."
    )
    trial = ["Only a trial that every part runs: the figures mean nothing."] if report.quick else []
    made = tables.write(tuple(_table(part) for part in report.parts), form)
    return "\n\n".join([hardware, software, *trial, *report.notes, made])


def _table(measured: Measured) -> Table:
    on = f". Measured on: {measured.on}" if measured.on else ""
    return Table(
        caption=f"{measured.part}: {PARTS.get(measured.part, '')}{on}",
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
        "" if target is None else f"{target.bound} {target.limit:,g} {unit}".strip(),
        {None: "", True: "yes", False: "no"}[figure.met],
    )


def _with(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".strip()


def number(value: float) -> str:
    """Write a number with about three digits.

    >>> number(1234.5), number(12.345), number(1.2345), number(0.012345)
    ('1,234', '12.3', '1.23', '0.012')
    """
    digits = max(0, 3 - len(f"{abs(value):.0f}")) if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"
