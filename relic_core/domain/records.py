"""Jobs: long work, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

JobState = Literal["queued", "running", "done", "failed", "cancelled"]


WAITING = "waiting for the store, which another program uses"
"""What is said of a job meanwhile."""


@dataclass(frozen=True, slots=True)
class Job:
    """Long work with progress, outliving the page that started it.

    - `kind`: which registered work it does ("add", "index").
    - `subject`: the work, folder or study it is about. Asking again for the same kind and subject while one is queued
      or running gives that one.
    - `total`: 0 while unknown.
    - `note`: what it is doing now, or how it ended, in plain words; lines after the first tell what went wrong on the
      way.
    - `seconds_left`: an estimate from the steps done so far; None while unknown.
    """

    id: str
    kind: str
    title: str
    subject: str
    state: JobState
    done: int
    total: int
    note: str
    created: datetime
    updated: datetime
    seconds_left: float | None = None

    @property
    def active(self) -> bool:
        """Whether it is still queued or running."""
        return self.state in {"queued", "running"}
