"""What a training tells its job, and how it hears that it is to stop; waiting for a store that is in use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from relic_core.errors import JobCancelled, StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from relic_core.ports import Progress

    T = TypeVar("T")

_BUSY_SECONDS = 600.0
_LOOK_SECONDS = 2.0

WAITING = "waiting for the store, which another program uses"


class Wish:
    """Tells the job how far the training is, and remembers that somebody asked it to stop.

    The job's own way of stopping, an error raised out of its report, would end a training without a checkpoint.

    Parameters
    ----------
    progress : Progress
        The job's report.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done, self._total = 0, 0
        self._asked = False

    @property
    def asked(self) -> bool:
        """Whether somebody asked."""
        self.tell("")
        return self._asked

    def follow(self, said: Mapping[str, Any]) -> None:
        """Tell of what the training reports."""
        self._done, self._total = int(said["step"]), int(said.get("of", self._total))
        if said["event"] == "step":
            self.tell(f"step {self._done:,} of {self._total:,}")
        elif said["event"] == "checkpoint":
            self.tell("a checkpoint was written")

    def tell(self, note: str) -> None:
        """Say what it is doing, beside the steps."""
        try:
            self._progress(self._done, self._total, note)
        except JobCancelled:
            self._asked = True

    def beside(self, done: int, total: int, note: str = "") -> None:  # noqa: ARG002 - as every report is called
        """Tell of work that has a count of its own, which its note says."""
        self.tell(note)


def patient(load: Callable[[str], T], waiting: Callable[[], None]) -> Callable[[str], T]:
    """Wait for a store that another program uses: a training of hours must not end for that.

    Parameters
    ----------
    load : callable
        Reads something of the store by its id.
    waiting : callable
        Is told each time that it could not.
    """

    def patiently(work_id: str) -> T:
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return load(work_id)
            except StoreBusy:
                if time.monotonic() > deadline:
                    raise
                waiting()
                time.sleep(_LOOK_SECONDS)

    return patiently
