"""Jobs and tasks that are done here and now, in the process of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from relic_core.wiring import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from relic_core.config import Settings

T = TypeVar("T")
R = TypeVar("R")


class InlineExecutor:
    """Runs each job to its end before `submit` returns."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def submit(self, folder: Path, alive: int) -> None:
        """Run the job on an app of its own, as another process would."""
        build(self._settings, executor=self).jobs.run(folder)


class InProcess:
    """Does one task after the other."""

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to each task; see `ports.Workers`."""
        yield from map(function, tasks)
