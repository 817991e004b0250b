"""What a training tells its job, and how it hears that it is to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relic_core.errors import JobCancelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.ports import Progress


class Wish:
    """Tells the job how far the training is, and remembers that somebody asked it to stop.

    The job's own way of stopping, an error raised out of its report, would end a training without a checkpoint.
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
