"""What is kept of using the program: jobs and searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core.domain.scopes import EVERYWHERE, SeedPassage, WorkFilter

if TYPE_CHECKING:
    from datetime import datetime


JobState = Literal["queued", "running", "done", "failed", "cancelled"]


WAITING = "waiting for the store, which another program uses"
"""What is said of a job meanwhile."""


@dataclass(frozen=True, slots=True)
class Job:
    """Long work with progress, outliving the page that started it.

    - `kind`: which registered work it does ("add", "index").
    - `title`: what a person calls it ("Indexing Emma").
    - `subject`: the work, folder or study it is about; empty where none. Asking again for the same kind and subject
      while one is queued or running gives that one.
    - `state`: where it stands.
    - `done`, `total`: steps done and in all; total 0 while unknown.
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


@dataclass(frozen=True, slots=True)
class Search:
    """One line of the history of searches: enough to run it again.

    - `id`: short and unique; what a permalink carries.
    - `work_id`: the work searched; empty where it was the whole library.
    - `claim_text`: the claim as typed, its mask included; empty where passages like another were looked for.
    - `retrievers`: the retrievers shown, in order.
    - `results`: how many results were asked for.
    - `made_with`: work hash, models and version that answered, for a reader who reopens it elsewhere.
    - `chapters`: chapters that the search was limited to, numbered from 1 as in addresses; empty where it was not.
    - `narrowing`: which works of the library were searched.
    - `like`: the passage that others were to be like.
    """

    id: str
    work_id: str
    claim_text: str
    length: int
    retrievers: tuple[str, ...]
    results: int
    created: datetime
    made_with: str = ""
    chapters: tuple[int, ...] = ()
    narrowing: WorkFilter = EVERYWHERE
    like: SeedPassage | None = None
