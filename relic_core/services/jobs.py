"""Jobs: long work that outlives the page that started it, watched through its journal."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from relic_core.config import PROJECT, Settings
from relic_core.domain import Job
from relic_core.errors import JobCancelled, NotFound, RelicError, StoreError, StoreReadOnly, unknown_name
from relic_core.ports import Executor, Progress
from relic_core.store import locks
from relic_core.store.jobs import ENDED, STOPPED, JobFolder, JobReport, JobRows, JobSpec, failed_note, stopped_note
from relic_core.text.decoding import storable

JobFunction = Callable[[dict[str, Any], Progress], str]
"""Does the work with the arguments of the job, tells how far it has come, and returns the closing note."""

ONE_AT_A_TIME = frozenset({"calibrate", "fetch", "index", "library", "mine", "prepare", "study-models", "train"})
"""Kinds that use all of the machine, or of a mirror's patience: the next waits until the one before has ended."""

_OF_ONE_PROCESS = ("ACCELERATE_", "GROUP_", "LOCAL_RANK", "LOCAL_WORLD_", "MASTER_", "RANK", "ROLE_", "TORCHELASTIC_",
                   "WORLD_SIZE")  # fmt: skip
"""Beginnings of the variables by which ``accelerate launch`` tells one of several processes which it is: a job that
took them for its own would wait for the others."""

_POLL_SECONDS = 0.1
_BEGUN_AGAIN = 3
"""So often a job that is killed is begun again by itself: more, and it may be what brings the machine down."""

logger = logging.getLogger(__name__)


class Jobs:
    """The jobs there are: those in the folder of jobs, and those that the store has taken in."""

    def __init__(
        self,
        rows: JobRows,
        folder: Path,
        executor: Executor,
        functions: Mapping[str, JobFunction],
        patiently: Callable[[Callable[[], None]], AbstractContextManager[None]],
    ) -> None:
        self._rows, self._path, self._executor = rows, folder, executor
        self._functions, self._patiently = functions, patiently

    def start(self, kind: str, *, title: str, subject: str = "", arguments: dict[str, Any] | None = None) -> Job:
        """Start a job, or give the one of this kind and subject, if it has one, that is still queued or running."""
        self._function(kind)
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            with locks.held(self._path / "start.lock"):
                for earlier, job in self._in_folders():
                    if subject and (job.kind, job.subject) == (kind, storable(subject)):
                        if job.active:
                            return job
                        if earlier.gave_way:  # this is how it goes on
                            earlier.remove()
                JobFolder.sweep(self._path)
                folder, alive = JobFolder.create(
                    self._path, kind=kind, title=title, subject=subject, arguments=arguments or {}
                )
        except OSError as error:
            raise StoreReadOnly(
                f"The folder of jobs {self._path} cannot be written ({error.strerror}). Make it writable or choose "
                "another data folder with RELIC_DATA."
            ) from error
        try:
            self._executor.submit(folder.path, alive)
        except OSError as error:
            folder.remove()
            raise StoreError(
                f"The job could not be started ({error.strerror}). Make room on the disk and in memory, end other "
                "programs, and try again."
            ) from error
        finally:
            os.close(alive)
        return folder.job()

    def get(self, job_id: str) -> Job:
        """Return a job as it stands now."""
        with contextlib.suppress(NotFound):  # then it was taken into the store, or never was
            return JobFolder.find(self._path, job_id).job()
        return self._rows.get(job_id)

    def recent(self, limit: int = 20) -> tuple[Job, ...]:
        """List the latest jobs: those still queued or running, then those that have ended; newest first.

        Takes jobs that have ended into the store. What was begun again is listed by its last job, not as stopped.
        """
        found = self._in_folders()
        ended = [(folder, job) for folder, job in found if not job.active and not folder.gave_way]
        if ended:
            self._rows.add([job for _, job in ended])
            for folder, _ in ended:
                folder.put_away()
        active = sorted((job for _, job in found if job.active), key=lambda job: job.created, reverse=True)
        listed: list[Job] = []
        for job in (*active, *self._rows.recent(limit)):
            again = any((each.kind, each.subject) == (job.kind, job.subject) for each in listed if each.subject)
            if not again or job.state not in {"cancelled", "failed"}:
                listed.append(job)
        return tuple(listed[:limit])

    def killed(self, *kinds: str) -> list[JobSpec]:
        """Say what was asked of jobs that were killed and not begun again since; not if that happens each time."""
        found: dict[tuple[str, str], list[tuple[Job, JobSpec]]] = {}
        for folder in (*JobFolder.all(self._path), *JobFolder.all(self._path / ENDED)):
            with contextlib.suppress(NotFound):
                if (spec := folder.spec).kind in kinds:
                    found.setdefault((spec.kind, spec.subject), []).append((folder.job(), spec))
        last = [max(jobs, key=lambda each: each[0].created) for jobs in found.values()]
        killed = {key: sum(job.note == STOPPED for job, _ in jobs) for key, jobs in found.items()}
        return [
            spec
            for job, spec in sorted(last, key=lambda each: each[0].created)
            if job.note == STOPPED and killed[spec.kind, spec.subject] <= _BEGUN_AGAIN
        ]

    def under_way(self, kind: str = "") -> tuple[Job, ...]:
        """List the jobs that are queued or running, of one kind or of all, the oldest first."""
        found = [job for _, job in self._in_folders() if job.active and job.kind == (kind or job.kind)]
        return tuple(sorted(found, key=lambda job: job.created))

    def latest(self, kind: str, subject: str) -> Job | None:
        """Give the last job that was started of a kind and subject, however it stands; None where there was none."""
        found = [job for _, job in self._in_folders() if (job.kind, job.subject) == (kind, storable(subject))]
        if found:  # younger than all that the store has taken in
            return max(found, key=lambda job: job.created)
        return self._rows.latest(kind, storable(subject))

    def cancel(self, job_id: str, behind: str = "") -> Job:
        """Ask a job to stop at its next report; `behind` another, it is begun again and not listed as stopped."""
        job = self.get(job_id)
        if job.active:
            with contextlib.suppress(FileNotFoundError):  # it has just ended and been taken in
                JobFolder.find(self._path, job_id).ask_to_stop(behind)
            job = self.get(job_id)
        return job

    def wait(self, job_id: str, timeout: float) -> Job:
        """Wait until a job ends, at most `timeout` seconds, and return it as it then stands."""
        deadline = time.monotonic() + timeout
        while (job := self.get(job_id)).active and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return job

    def run(self, folder: Path) -> Job:
        """Do the job of a folder, here and now, and write how it ended into its journal."""
        job = JobFolder(folder)
        spec = job.spec
        report = JobReport(job)
        try:
            function = self._function(spec.kind)
            with self._turn(spec.kind, report), self._patiently(report.store_in_use):
                report.state("running")
                note = function(spec.arguments, report)
        except JobCancelled:
            report.state("cancelled", stopped_note(spec.kind))
        except Exception as error:
            if not isinstance(error, RelicError):
                logger.exception("The job %s (%s) failed", spec.id, spec.kind)
            report.state("failed", failed_note(error))
        else:
            report.state("done", note)
        return job.job()

    def _function(self, kind: str) -> JobFunction:
        if kind not in self._functions:
            raise unknown_name("kind of job", kind, self._functions)
        return self._functions[kind]

    def _in_folders(self) -> list[tuple[JobFolder, Job]]:
        found = []
        for folder in JobFolder.all(self._path):
            with contextlib.suppress(NotFound):  # somebody else has just put it away
                found.append((folder, folder.job()))
        return found

    def _turn(self, kind: str, report: JobReport) -> AbstractContextManager[None]:
        if kind not in ONE_AT_A_TIME:
            return contextlib.nullcontext()
        return locks.held(self._path / f"{kind}.lock", while_waiting=lambda: report.waiting(lambda: self._before(kind)))

    def _before(self, kind: str) -> str:
        running = [job for job in self.under_way(kind) if job.state == "running"]
        if not running:
            return "Waiting for its turn."
        title = running[0].title
        if kind == "index":
            return f"Waiting for {title.removeprefix('Preparing ')}, which is being prepared."
        return f"Waiting for this to end: {title}."


class SubprocessExecutor:
    """Runs each job in a process of its own, ``program job FOLDER``, which goes on when this one ends."""

    def __init__(self, settings: Settings, program: Sequence[str] = ("-m", "relic_core")) -> None:
        self._settings = settings
        self._program = program

    def submit(self, folder: Path, alive: int) -> None:
        """Start the process, in a session of its own."""
        modules = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH", "")]))
        own = {name: value for name, value in os.environ.items() if not name.startswith(_OF_ONE_PROCESS)}
        with (folder / "output.txt").open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, *self._program, "job", str(folder)],
                env={**own, **self._settings.to_environment(), "PYTHONPATH": modules},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(alive,),
                start_new_session=True,
            )
        # Somebody has to take the exit status, or ended jobs stay behind as zombies of a server that runs for weeks.
        threading.Thread(target=process.wait, name=f"job {folder.name}", daemon=True).start()
