"""What a job tells of itself while it works: how far it has come, and what it waits for."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from relic_core.domain.records import WAITING
from relic_core.errors import JobCancelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from relic_core.store.journal import JobFolder

_SHORTEST_PAUSE = 0.25
_LOOK_SECONDS = 2.0
"""Between two looks at what a job waits for."""


class JobReport:
    """Writes progress into a journal, not too often, and stops the work when that was asked for."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._began = self._written = time.monotonic()
        self._first = True
        self._waits_for = ""
        self._looked = -math.inf

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Write how far the work has come, now and then."""
        self.stop_if_asked()
        now = time.monotonic()
        # The longer it has been running the seldomer, so that the journal of a long job stays quick to read.
        pause = max(_SHORTEST_PAUSE, (now - self._began) / 2_000)
        if self._first or now - self._written >= pause or done >= total:
            self._first = False
            self._written = now
            self._folder.append(done=done, total=total, **({"note": note} if note else {}))

    def state(self, state: str, note: str = "") -> None:
        """Write a change of state."""
        self._folder.append(state=state, note=note)

    def waiting(self, say: Callable[[], str]) -> None:
        """Tell what the job waits for; it is looked up now and then, and written where it has changed."""
        self.stop_if_asked()
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        said = say()
        if said != self._waits_for:
            self._waits_for = said
            self._first = False
            self.state("queued", said)

    def store_in_use(self) -> None:
        """Tell that the job waits for the store, now and then."""
        self.stop_if_asked()
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._folder.append(note=WAITING)

    def stop_if_asked(self) -> None:
        """Raise `JobCancelled` where somebody asked the job to stop."""
        if self._folder.stop_asked:
            raise JobCancelled
