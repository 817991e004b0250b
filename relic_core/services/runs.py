"""Runs: those that came with the program and those made here."""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING

from relic_core.config import ASSETS
from relic_core.errors import BadRequest
from relic_core.formats.run_files import SUFFIX, read_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import Outcome, Run
    from relic_core.wiring import App

SHIPPED = ASSETS / "results"
"""Folder of the runs that come with the program."""


class Runs:
    """The runs of an app.

    - `shipped`: folder of the runs that come with the program.
    """

    def __init__(self, app: App, *, shipped: Path | None = None) -> None:
        self._app = app
        self._folder = SHIPPED if shipped is None else shipped
        self._shipped: dict[str, tuple[Run, tuple[Outcome, ...]]] | None = None
        self._stored: dict[str, Run] = {}
        self._outcomes: dict[str, tuple[Run, tuple[Outcome, ...]]] = {}
        self._lock = threading.Lock()

    def all(self) -> tuple[Run, ...]:
        """List all runs, newest first, each id once.

        Raises BadBenchmark: a run that came with the program is damaged.
        """
        shipped = self._came_with()
        runs = {run_id: run for run_id, (run, _) in shipped.items()}
        self._stored = {run.id: run for run in self._app.store.runs.all()}
        for run in self._stored.values():
            came = runs.get(run.id)
            newest = run if came is None or run.created > came.created else came
            runs[run.id] = dataclasses.replace(newest, tags=run.tags, shipped=came is not None)
        return tuple(sorted(runs.values(), key=lambda run: (-run.created.timestamp(), run.id)))

    def get(self, run_id: str) -> Run:
        """Return a run.

        Raises NotFound: there is none, or it was removed.
        """
        for run in self.all():
            if run.id == run_id:
                return run
        return self._app.store.runs.get(run_id)

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """List the outcomes of a run in the order of its benchmark.

        Raises NotFound: there is no such run, or it was removed.
        """
        shipped = self._came_with().get(run_id)
        run = self._stored.get(run_id)  # as listed last: asking the store anew takes longer than all the rest
        if shipped is not None and (run is None or run.created <= shipped[0].created):
            return shipped[1]
        if run is None:
            run = self._stored[run_id] = self._app.store.runs.get(run_id)
        kept = self._outcomes.get(run_id)
        if kept is None or kept[0] != run:  # measured again, here or by another program
            kept = run, self._app.store.runs.outcomes(run_id)
            with self._lock:
                self._outcomes[run_id] = kept
        return kept[1]

    def tag(self, run_id: str, tags: Sequence[str]) -> None:
        """Give a run these tags in place of those it has; one that came with the program is copied into the store.

        Raises NotFound: there is no such run.
        """
        shipped = self._came_with().get(run_id)
        if shipped is not None:
            self._app.store.runs.add(*shipped)
        self._app.store.runs.tag(run_id, tags)

    def remove(self, run_id: str) -> None:
        """Hide a run; `restore` brings it back.

        Raises NotFound: there is no such run.
        Raises BadRequest: it came with the program.
        """
        if run_id in self._came_with():
            raise BadRequest(
                f"The run '{run_id}' came with the program and cannot be removed: the documentation's figures rest on "
                "it. Choose other runs to leave it out of a table."
            )
        self._app.store.runs.remove(run_id)
        self._stored.pop(run_id, None)

    def restore(self, run_id: str) -> Run:
        """Bring a removed run back.

        Raises NotFound: there never was such a run.
        """
        return self._app.store.runs.restore(run_id)

    def _came_with(self) -> dict[str, tuple[Run, tuple[Outcome, ...]]]:
        """Read the runs that came with the program, once."""
        with self._lock:
            if self._shipped is None:
                read = [read_run(path, shipped=True) for path in sorted(self._folder.glob(f"*{SUFFIX}"))]
                self._shipped = {run.id: (run, outcomes) for run, outcomes in read}
            return self._shipped
