"""Serving the app to journeys: as a reader starts it, or forked from a process that has its libraries read."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from relic_core.config import Settings
from relic_core.wiring import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relic_core.wiring import App

PROJECT = Path(__file__).resolve().parents[2]
SETUP_SECONDS = 300
START_SECONDS = 60
SERVED: set[int] = set()
"""Ports of all servers that there were: at their addresses pages may have kept something."""
_LEFT: list[int] = []
"""Ports of servers that have ended, for those that come: of an address that it knows Chromium has all files."""
STOP_SECONDS = 10

# Reading the libraries takes most of a server's start, and there are some twenty servers.
_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(
    ["streamlit.web.cli", "pandas", "relic_core.wiring", "transformers.models.bert.modeling_bert"]
)


@dataclass(frozen=True)
class Server:
    """A running app, whose store and indexes stand in `folder`."""

    url: str
    folder: Path

    def bench(self) -> App:
        """Open its store from outside."""
        return build(Settings(data=self.folder / "data", indexes=self.folder / "indexes"))


class _Process(Protocol):
    """A process, begun in either way."""

    pid: int

    def alive(self) -> bool: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def ended(self, seconds: float) -> bool: ...


class _Begun:
    """One of Python's own, as a reader begins it."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *command], cwd=PROJECT, env=environment, stdout=out, stderr=subprocess.STDOUT
            )
        self.pid, self.terminate, self.kill = self._process.pid, self._process.terminate, self._process.kill

    def alive(self) -> bool:
        return self._process.poll() is None

    def ended(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True


class _Forked:
    """One that has the libraries from the process it was forked from."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self._process = _FORKED.Process(target=_run, args=(command, environment, log))
        self._process.start()
        self.pid = self._process.pid
        self.alive, self.terminate, self.kill = self._process.is_alive, self._process.terminate, self._process.kill

    def ended(self, seconds: float) -> bool:
        self._process.join(seconds)
        return not self.alive()


def _run(command: list[str], environment: dict[str, str], log: Path) -> None:
    """Be `python -m` with this command."""
    with log.open("wb") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(PROJECT)
    sys.path[0] = str(PROJECT)
    sys.argv = command
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # which a forked process leaves out


def prepare(folder: Path) -> None:
    """Add the sample to a new store in `folder` and index it, as `make app` does; add a reranker that takes no time."""
    process = _FORKED.Process(target=_prepare, args=(folder,))
    process.start()
    process.join(SETUP_SECONDS)
    assert process.exitcode == 0, (folder / "setup.log").read_text(encoding="utf-8")


def _prepare(folder: Path) -> None:
    from tests.making_rerankers import make_cross_encoder
    from tests.tiny_models import bert

    bert(folder / "bert")
    make_cross_encoder(folder / "reranker", folder / "bert")
    _run(["relic_core", "setup"], _environment(folder), folder / "setup.log")


def copied(prepared: Path, folder: Path) -> Path:
    """Copy what was prepared to another folder, to be served and written to."""
    return shutil.copytree(prepared, folder, dirs_exist_ok=True)


def _environment(folder: Path) -> dict[str, str]:
    names = {"RELIC_DATA": "data", "RELIC_INDEXES": "indexes", "RELIC_RERANKER": "reranker"}
    folders = {variable: str(folder / name) for variable, name in names.items()}
    return {**os.environ, "RELIC_FETCH_LARGER": "no", **folders}


@contextmanager
def serving(folder: Path, *, port: int = 0, cold: bool = False, **environment: str) -> Iterator[Server]:
    """Serve what was prepared in `folder` until the block ends, then look into what the server wrote.

    `port` is 0 for one that is free; `cold` begins the server as a reader does, with every library still to be read;
    `environment` is beside that of the tests.
    """
    with socket.create_server(("127.0.0.1", port or (_LEFT.pop() if _LEFT else 0))) as free:
        port = free.getsockname()[1]
    SERVED.add(port)
    with _running(_Begun if cold else _Forked, _environment(folder) | environment, folder, port) as (log, _):
        yield Server(f"http://localhost:{port}", folder)
    _LEFT.append(port)
    written = log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in written, written[-8000:]
    assert "Network URL" not in written, "it is open to other machines"


@contextmanager
def forked(folder: Path, _app: Path, environment: dict[str, str], *, port: int) -> Iterator[tuple[int, float]]:
    """Serve as `tools.bench.parts.server` does, without its time."""
    with _running(_Forked, environment, folder, port) as (_, process):
        yield process, 0.0


@contextmanager
def _running(
    begin: Callable[..., _Process], environment: dict[str, str], folder: Path, port: int
) -> Iterator[tuple[Path, int]]:
    """Run a server until the block ends; gives what it writes to, and the id of its process."""
    command = ["streamlit", "run", str(PROJECT / "app.py"), f"--server.port={port}", "--server.headless=true"]
    log = folder / f"server-{port}.log"
    process = begin(command, environment, log)
    try:
        _wait_until_healthy(f"http://localhost:{port}", process, log)
        yield log, process.pid
    finally:
        process.terminate()
        if not process.ended(STOP_SECONDS):
            process.kill()
            process.ended(STOP_SECONDS)


def _wait_until_healthy(url: str, process: _Process, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.alive():
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310 - our own loopback address
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"The app did not start within {START_SECONDS} s:\n{log.read_text(encoding='utf-8')[-8000:]}")
