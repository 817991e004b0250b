"""Serving the app to the journeys: as a reader starts it, or forked from a process that has its libraries read."""

from __future__ import annotations

import atexit
import multiprocessing
import os
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

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
STOP_SECONDS = 10

# Reading the libraries takes most of a server's start, and there are some thirty servers.
_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(
    ["streamlit.web.cli", "pandas", "relic_core.wiring", "transformers.models.bert.modeling_bert"]
)


@dataclass(frozen=True)
class Server:
    """A running app."""

    url: str
    log: Path


class _Process(Protocol):
    """A process, begun in either way."""

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
        self.terminate, self.kill = self._process.terminate, self._process.kill

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
        self._process = _FORKED.Process(target=_run, args=(command, environment, str(log)))
        self._process.start()
        self.alive, self.terminate, self.kill = self._process.is_alive, self._process.terminate, self._process.kill

    def ended(self, seconds: float) -> bool:
        self._process.join(seconds)
        return not self.alive()


def _run(command: list[str], environment: dict[str, str], log: str) -> None:
    """Be `python -m streamlit`."""
    with Path(log).open("wb") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(PROJECT)
    sys.path[0] = str(PROJECT)
    sys.argv = command
    from streamlit.web.cli import main

    try:
        main(prog_name="streamlit")
    finally:
        atexit._run_exitfuncs()  # which a forked process leaves out


@contextmanager
def serving(environment: dict[str, str], log: Path, *, port: int = 0, cold: bool = False) -> Iterator[Server]:
    """Serve the app until the block ends, then look for tracebacks in what it wrote.

    Parameters
    ----------
    environment : dict
        All of its environment.
    log : Path
        The file that it writes to.
    port : int
        Where it listens; 0 for one that is free.
    cold : bool
        Whether it is begun as a reader begins it, with every library still to be read.
    """
    with socket.create_server(("127.0.0.1", port)) as free:
        port = free.getsockname()[1]
    command = ["streamlit", "run", str(PROJECT / "app.py"), f"--server.port={port}", "--server.headless=true"]
    url = f"http://localhost:{port}"
    process = (_Begun if cold else _Forked)(command, environment, log)
    try:
        _wait_until_healthy(url, process, log)
        yield Server(url=url, log=log)
    finally:
        process.terminate()
        if not process.ended(STOP_SECONDS):
            process.kill()
            process.ended(STOP_SECONDS)
    written = log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in written, written[-8000:]


def _wait_until_healthy(url: str, process: _Process, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.alive():
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310 - our own loopback address
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"The app did not start within {START_SECONDS} s:\n{log.read_text(encoding='utf-8')[-8000:]}")
