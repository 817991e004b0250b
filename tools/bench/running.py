"""Running the parts of the bench one after another, and keeping what came out."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from relic_core.config.machine import busy, in_full
from relic_core.config.provenance import code
from relic_core.errors import BadRequest, NotFound, unknown_name
from relic_core.formats.files import read_text, written_whole
from tools.bench.bench import QUICK, USUAL, Bench, Figure, Measured, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from relic_core.domain import Claim
    from relic_core.ports import Progress
    from relic_core.wiring import App

PARTS = {
    "bm25": ("measure_words", "queries by words against rank_bm25"),
    "building": ("measure_building", "building an index against sentence-transformers on every span"),
    "encoder": ("measure_encoder", "tokens a second against the model's bare forward pass"),
    "latency": ("measure_latency", "how long an answer from one work takes"),
    "library": ("measure_library", "how long an answer from the whole library takes"),
    "memory": ("measure_memory", "the most memory that the app holds with three works open"),
    "start": ("measure_start", "from starting to a server that is up, and to a first answer"),
    "doubling": ("measure_doubling", "how cost grows with a work's length"),
    "agreement": ("measure_formats", "whether rankings in bfloat16 are those in float32"),
    "mining": ("measure_quotations", "finding the quotations of a work in a source against Quid"),
}
"""By name: its function in `tools.bench.parts`, and what it measures, in a few words."""

FORMAT = "relic bench/1"
"""What a file of figures calls itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of the bench has measured.

    - `machine`: what measured: the processor, its memory, and the versions of what was measured.
    - `code`: version of the program, and its commit where that is known.
    - `date`: when the run began, UTC, ISO 8601.
    - `quick`: only as much was done as shows that every part runs; the figures mean nothing.
    - `notes`: what holds for all parts: that the machine was busy.
    - `parts`: in the order of `PARTS`.
    """

    machine: dict[str, str | int | float]
    code: str
    date: str
    seconds: float
    claims: str
    quick: bool
    notes: tuple[str, ...] = field(default=())
    parts: tuple[Measured, ...] = field(default=())


def measure(
    app: App,
    parts: Sequence[str],
    *,
    work_id: str = "",
    full: bool = False,
    quick: bool = False,
    progress: Progress,
) -> Report:
    """Measure.

    - `app`: where the works and their indexes are; nothing in it is changed.
    - `parts`: names of `PARTS`; all where there are none.
    - `work_id`: the work that every part takes, in place of its own.
    - `full`: measure baselines whole that are reckoned from a part otherwise.
    - `quick`: do only as much as shows that every part runs.

    Raises BadRequest: a part that there is not.
    Raises NotFound: the sample's examples, whose claims are asked, are not in the store; or there is no work.
    """
    for part in parts:
        if part not in PARTS:
            raise unknown_name("part of the bench", part, PARTS)
    chosen = [part for part in PARTS if part in parts or not parts]
    effort = QUICK if quick else USUAL
    claims = _claims(app, effort.claims)
    began, at, note = time.perf_counter(), datetime.now(UTC), busy()
    found = []
    for done, part in enumerate(chosen):
        progress(done, len(chosen), part)

        def say(what: str, done: int = done, part: str = part) -> None:
            progress(done, len(chosen), f"{part}: {what}")

        bench = Bench(app=app, effort=effort, work_id=work_id, full=full, claims=claims, say=say)
        found.append(_function(part)(bench))
    progress(len(chosen), len(chosen), "")
    from tools.bench.parts import threads

    return Report(
        machine={**in_full(), "threads": threads()},
        code=code(),
        date=at.isoformat(timespec="seconds"),
        seconds=round(time.perf_counter() - began, 1),
        claims=_said(claims),
        quick=quick,
        notes=(note,) if note else (),
        parts=tuple(found),
    )


def write(report: Report) -> str:
    """Write a report as JSON; `read` reads it."""
    plain: dict[str, Any] = {"format": FORMAT, **asdict(report)}
    for part, measured in zip(plain["parts"], report.parts, strict=True):
        for row, figure in zip(part["figures"], measured.figures, strict=True):
            row["met"] = figure.met
    return json.dumps(plain, ensure_ascii=False, indent=2)


def keep(report: Report, path: Path) -> None:
    """Write a report into a file, whole or not at all; raises as `written_whole`."""
    with written_whole(path) as file:
        file.write(f"{write(report)}\n".encode())


def read(path: Path) -> Report:
    """Read a report that was kept.

    Raises NotFound: there is no such file.
    Raises BadRequest: it is no report of this version's bench.
    """
    refused = BadRequest(
        f"{path} holds no figures of this version's bench. Measure again: python -m tools.bench --out {path}"
    )
    text = read_text(path)
    try:
        plain = json.loads(text)
        version = plain.pop("format")
        plain.update(notes=tuple(plain["notes"]), parts=tuple(map(_measured, plain["parts"])))
        report = Report(**plain)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise refused from None
    if version != FORMAT:
        raise refused
    return report


def _measured(plain: dict[str, Any]) -> Measured:
    figures = []
    for row in plain["figures"]:
        said = {name: value for name, value in row.items() if name != "met"}
        target = said.pop("target")
        figures.append(Figure(**said, target=None if target is None else Target(**target)))
    return Measured(**{**plain, "figures": tuple(figures), "notes": tuple(plain["notes"])})


def _claims(app: App, most: int) -> tuple[Claim, ...]:
    """Take the longest claims of the sample, those of pages of criticism."""
    examples = app.store.examples.of_split("sample")
    if not examples:
        raise NotFound("The claims to measure with are those of the sample. Add it first: python -m relic_core setup.")
    longest = sorted(examples, key=lambda each: (-len(each.claim.words), each.id))
    return tuple(each.claim for each in longest[:most])


def _said(claims: Sequence[Claim]) -> str:
    words = round(sum(len(claim.words.split()) for claim in claims) / len(claims))
    return (
        f"{len(claims)} claims of the sample, the longest, with the sentences of criticism around the quotation, up to "
        f"4 on either side ({words} words)"
    )


def _function(part: str) -> Callable[[Bench], Measured]:
    from tools.bench import parts

    return cast("Callable[[Bench], Measured]", getattr(parts, PARTS[part][0]))
