"""Preparing many works for searching by meaning, one after another, without standing in anybody's way.

Index jobs run one at a time, and whoever waits for the machine next gets it. So of a whole shelf at most one job is
under way or waiting: a reader who opens another work and has it prepared is behind one work and not behind fifty.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from relic_core.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.ports import Progress
    from relic_core.services.workbench import Workbench

_AT_ONCE = 3
"""So few works are each given their own job right away."""
_LOOK_SECONDS = 1.0


class Preparing:
    """Works that wait to be prepared while others are being added.

    Parameters
    ----------
    workbench : Workbench
        Where they are.
    expected : int
        How many there will be.
    """

    def __init__(self, workbench: Workbench, expected: int) -> None:
        self._workbench = workbench
        self._one_by_one = expected > _AT_ONCE
        self._waiting: deque[str] = deque()
        self._job = ""

    def add(self, work_id: str) -> None:
        """Take a work: its index is begun now, or when that of the one before has ended."""
        if self._one_by_one:
            self._waiting.append(work_id)
            self.go_on()
        else:
            self._workbench.indexes.start(work_id)

    def go_on(self) -> None:
        """Begin the next index, unless the one before is still being built."""
        if self._waiting and not (self._job and self._workbench.jobs.get(self._job).active):
            self._job = self._workbench.indexes.start(self._waiting.popleft()).id

    def hand_over(self) -> None:
        """Leave what still waits to a job of its own."""
        if self._waiting:
            count = len(self._waiting)
            self._workbench.jobs.start(
                "prepare",
                title=f"Preparing {count} works" if count > 1 else "Preparing one more work",
                arguments={"works": list(self._waiting)},
            )
            self._waiting.clear()


def run_prepare(workbench: Workbench, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "prepare" job: have works prepared one by one; one that fails does not stop the rest.

    Parameters
    ----------
    workbench : Workbench
        Where the works are.
    arguments : dict
        ``works``, a list of ids.
    progress : Progress
        Told which work it has come to.
    """
    ids: Iterable[str] = arguments["works"]
    works = {summary.id: summary.title for summary in workbench.works.summaries()}
    wanted = [work_id for work_id in ids if work_id in works]  # the others were removed meanwhile
    said = []
    for done, work_id in enumerate(wanted):
        progress(done, len(wanted), f"Preparing {works[work_id]}")
        try:
            job = workbench.indexes.start(work_id)
            while job.active:
                progress(done, len(wanted), f"Preparing {works[work_id]}")
                job = workbench.jobs.wait(job.id, _LOOK_SECONDS)
        except NotFound:
            continue  # removed meanwhile
        if job.state == "failed":
            said.append(f"{works[work_id]}: {job.note}")
    progress(len(wanted), len(wanted), "")
    ready = len(wanted) - len(said)
    return " ".join([f"{ready} {'work is' if ready == 1 else 'works are'} ready to search.", *said])
