"""Long work: telling how far it has come, running it elsewhere, sharing it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

T = TypeVar("T")
R = TypeVar("R")


class Progress(Protocol):
    """Told how far long work has come; may raise `JobCancelled` to stop it."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report `done` of `total` steps, with a short note for a person."""


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing: a `Progress` for those whom nobody watches."""


class Executor(Protocol):
    """Runs jobs, here or in another process."""

    def submit(self, folder: Path, alive: int) -> None:
        """Run the job of a folder, now or soon.

        - `alive`: a file descriptor with a lock that shows the job to be alive. The caller closes its own copy
          afterwards; a process that runs the job inherits it and keeps it to its end.
        """


class Workers(Protocol):
    """Applies one function to many things: in this process, in several, or on a cluster."""

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to each task.

        - `function`: found by its name in an importable module, without side effects that the caller relies on.
        - `tasks`: taken as workers become free, so that many large tasks are never in memory at once.

        Yields: the results, in the order in which they are finished. An error that a task raises is raised here.
        """
