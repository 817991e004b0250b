"""Preparing many works for searching by meaning, one after another, without standing in anybody's way.

Index jobs run one at a time. Of a whole shelf at most one is under way or waiting, and it is begun only where nobody
else's is. A reader who has another work prepared meanwhile comes first: the job of the shelf stops its own index, which
goes on later where it was, and waits until the reader's is done.
"""

from __future__ import annotations

import contextlib
from collections import deque
from typing import TYPE_CHECKING, Any

from relic_core.errors import NotFound, StoreBusy
from relic_core.ports import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from relic_core.domain import Job
    from relic_core.ports import Progress
    from relic_core.wiring import App

_AT_ONCE = 3
"""So few works are each given their own job right away."""
_LOOK_SECONDS = 1.0


class Preparing:
    """Works that wait to be prepared while others are being added.

    - `app`: where they are.
    - `expected`: how many there will be.
    """

    def __init__(self, app: App, expected: int) -> None:
        self._app = app
        self._one_by_one = expected > _AT_ONCE
        self._waiting: deque[str] = deque()

    def add(self, work_id: str) -> None:
        """Take a work: its index is begun now, or when that of the one before has ended."""
        if self._one_by_one:
            self._waiting.append(work_id)
            with contextlib.suppress(StoreBusy):  # it still waits, and is begun with the next or by a job of its own
                self.go_on()
        else:
            self._app.indexes.start(work_id)

    def go_on(self) -> None:
        """Begin the next index, unless one is still being built; a work that was removed meanwhile is passed over."""
        if self._app.jobs.under_way("index"):
            return
        while self._waiting:
            try:
                self._app.indexes.start(self._waiting[0])
            except NotFound:
                self._waiting.popleft()
                continue
            self._waiting.popleft()
            return

    def hand_over(self) -> None:
        """Leave what still waits to a job of its own."""
        if self._waiting:
            self._app.indexes.start_many(list(self._waiting))
            self._waiting.clear()


def run_prepare(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "prepare" job: have works prepared one by one; one that fails does not stop the rest.

    Of works that are ready the words alone are read, which were not kept by earlier versions of this program. Where the
    library has become too large for memory, the building of its compact index is begun at the end.

    - `app`: where the works are.
    - `arguments`: ``works``, a list of ids; ``retrievers``, those to prepare them for beside the usual ones, where
      there are any.
    - `progress`: told which work it has come to.
    """
    ids: Iterable[str] = arguments["works"]
    also: Sequence[str] = arguments.get("retrievers", ())
    works = {summary.id: summary.title for summary in app.works.summaries()}
    wanted = [work_id for work_id in ids if work_id in works]  # the others were removed meanwhile
    ready, said = 0, []
    for done, work_id in enumerate(wanted):

        def say(note: str, *, done: int = done) -> None:
            progress(done, len(wanted), note)

        try:
            if not app.indexes.missing(work_id, also):
                app.indexes.build(work_id, (), silent)
                ready += 1
                continue
            job = _prepare(app, work_id, works[work_id], also, say)
        except NotFound:
            continue  # removed meanwhile
        if job.state == "failed":
            said.append(f"{works[work_id]}: {job.note}")
        ready += job.state == "done"
    progress(len(wanted), len(wanted), "")
    if app.indexes.library_due():
        app.indexes.start_library()
    return " ".join([f"{ready} {'work is' if ready == 1 else 'works are'} ready to search.", *said])


def _prepare(app: App, work_id: str, title: str, also: Sequence[str], say: Callable[[str], None]) -> Job:
    """Have one work prepared and wait for it, behind whatever somebody else has asked for.

    Raises NotFound: the work was removed.
    """
    while True:
        say(f"Preparing {title}")
        while others := app.jobs.under_way("index"):
            say(f"{others[0].title} comes first")
            app.jobs.wait(others[0].id, _LOOK_SECONDS)
        job = app.indexes.start(work_id, also)
        gave_way = False
        while job.active:
            say(f"Preparing {title}")
            if not gave_way and any(other.id != job.id for other in app.jobs.under_way("index")):
                gave_way = True
                app.jobs.cancel(job.id)
            job = app.jobs.wait(job.id, _LOOK_SECONDS)
        if not (gave_way and job.state == "cancelled"):
            return job
