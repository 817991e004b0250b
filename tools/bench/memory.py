"""The most memory that the app holds with three works open: what it does itself, and the server that it does it in.

What the app does is done in a process of its own with the same settings: three works are read, and each is asked by
every retriever that pages offer, for every length. The server is started as a reader starts it and looked at from
outside, since this package stands without pages. Added up, Python counts twice, and what a browser's session costs
(the tables and charts of pages) does not count.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.config import PROJECT
from relic_core.domain import LENGTHS
from relic_core.services.answers import SearchRequest
from relic_core.wiring import build
from tools.bench import start
from tools.bench.bench import DENSE
from tools.bench.figures import Figure, Measured, Target, not_measured

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from relic_core.config import Settings
    from tools.bench.bench import Bench

PART = "memory"

_OPEN = 3
_LIMIT_MB = 1500.0
_PROCESSES = Path("/proc")


def measure(bench: Bench) -> Measured:
    """Have a new process do what the app does, and ask it how large it was at most; then look at the server."""
    works = sorted(
        (each for each in bench.app.works.summaries() if bench.work_id in {"", each.id}),
        key=lambda each: (bench.app.indexes.ready(each.id, DENSE), each.sentences),
        reverse=True,
    )[:_OPEN]
    if not works:
        return not_measured(PART, "no work is stored. Add the sample first: python -m relic_core setup.")
    prepared = sum(bench.app.indexes.ready(each.id, DENSE) for each in works)
    bench.say("a process of its own")
    spawned = multiprocessing.get_context("spawn")
    here, there = spawned.Pipe(duplex=False)
    child = spawned.Process(
        target=_work,
        args=(bench.app.settings, [each.id for each in works], bench.claims[0].words, there),
        name="what the app does",
    )
    child.start()
    there.close()  # so that the end of the child is noticed here
    try:
        loaded, peak = here.recv()
    except EOFError:
        child.join()
        return not_measured(PART, f"the process ended with {child.exitcode} before it could tell.")
    finally:
        child.join()
    done = Figure(
        what=f"answering with {len(works)} works open, at most",
        value=peak,
        unit="MB",
        baseline="the same before a work is opened",
        baseline_value=loaded,
        ratio=peak / loaded,
    )
    notes = [] if prepared == len(works) else [f"Only {prepared} of the {len(works)} works are prepared."]
    figures = [done]
    bench.say("the app's server")
    with start.server(PROJECT / "app.py", {**os.environ, **bench.app.settings.to_environment()}) as (process, _):
        beside = peak_mb(process)
    if beside:
        figures += [
            Figure(what="the app's server before a page is opened", value=beside, unit="MB"),
            Figure(
                what="both together",
                value=peak + beside,
                unit="MB",
                baseline="answering alone",
                baseline_value=peak,
                ratio=(peak + beside) / peak,
                target=Target(of="value", bound="under", limit=_LIMIT_MB),
            ),
        ]
    else:
        notes.append("This system does not tell how large another process is, so the app's server is not in it.")
    return Measured(
        part=PART,
        on=", ".join(f"{each.title} ({each.sentences:,} sentences)" for each in works),
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _work(settings: Settings, work_ids: list[str], claim: str, told: Connection) -> None:
    """Do in this process what the app does, and send how many MB it had before the first work, and at most."""
    app = build(settings)
    names = tuple(card.name for card in app.indexes.usual())
    loaded = peak_mb(os.getpid())
    for work_id in work_ids:
        for length in LENGTHS:
            app.search.run(SearchRequest(work_id=work_id, claim_text=claim, length=length, retrievers=names))
    told.send((loaded, peak_mb(os.getpid())))
    told.close()


def peak_mb(process: int) -> float:
    """Give the most memory that a process has held, in MB of a million bytes; mapped files that were read count.

    Linux hands the maximum that `getrusage` tells on to a process from the one that started it, so there it is read
    from ``/proc``. Elsewhere only this process can be asked, and 0 is given of another.
    """
    status = _PROCESSES / str(process) / "status"
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
    if process != os.getpid():
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6
