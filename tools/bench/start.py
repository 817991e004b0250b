"""How long one waits after starting: for the app's server, and for a first answer from a process that knows nothing.

The pages themselves are not drawn: a browser would be needed. What a first page waits for beyond its server is what a
first answer waits for: our modules, the store, the model and the index, and they are in the second figure.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.config import PROJECT
from relic_core.errors import RelicError
from relic_core.wiring import build
from tools.bench.bench import LONGEST, named
from tools.bench.figures import Measured, as_fast, not_measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tools.bench.bench import Bench

PART = "start"

_PATIENCE = 120.0
_LOOK_SECONDS = 0.02
_LIBRARIES = "import torch, transformers; transformers.AutoModel"
_HERE = "127.0.0.1"


def measure(bench: Bench) -> Measured:
    """Start the app and an empty one in turn; then ask in fresh processes, in turn with the libraries alone."""
    work = bench.prepared(LONGEST)
    if work is None:
        return not_measured(PART, "no work is prepared. Prepare one first: python -m relic_core index WORK")
    settings = bench.app.settings
    ours: list[float] = []
    empty: list[float] = []
    answers: list[float] = []
    libraries: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        blank = Path(folder) / "blank.py"
        blank.write_text("", encoding="utf-8")
        # A store of its own: what is asked would come into the history of the reader's.
        apart = replace(settings, data=Path(folder) / "data")
        build(apart).store.works.add(work)
        environment = {**os.environ, **apart.to_environment()}
        for _ in range(bench.effort.starts):
            bench.say("starting the app")
            empty.append(seconds_to_health(blank, environment))
            ours.append(seconds_to_health(PROJECT / "app.py", environment))
            bench.say("a first answer")
            libraries.append(_seconds_of(["-c", _LIBRARIES], environment))
            asking = ["-m", "relic_core", "search", work.id, bench.claims[0].words]
            answers.append(_seconds_of(asking, environment))
    return Measured(
        part=PART,
        on=named(work),
        figures=(
            as_fast("`streamlit run app.py` until its server is healthy", ours, "an empty app", empty, unit="s"),
            as_fast(
                "`python -m relic_core search` in a fresh process, until it has answered and ended",
                answers,
                "importing torch and transformers",
                libraries,
                unit="s",
            ),
        ),
        notes=("No page is drawn: that takes a browser.",),
    )


@contextlib.contextmanager
def server(app: Path, environment: Mapping[str, str], *, port: int = 0) -> Iterator[tuple[int, float]]:
    """Start an app with Streamlit on a port of this machine, wait until its server is healthy, and end it after.

    - `port`: where; a free one if 0.

    What it yields:
    - `process`: its id.
    - `seconds`: from the start of the process to the first healthy answer.

    Raises RelicError: it ended by itself, or was not healthy in time.
    """
    port = port or free_port()
    options = {
        "server.port": port,
        "server.address": _HERE,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "streamlit", "run", str(app), *flags],
            cwd=app.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
        try:
            while not _healthy(port):
                waited = time.perf_counter() - began
                if process.poll() is not None or waited > _PATIENCE:
                    said.seek(0)
                    last = said.read().decode(errors="replace").strip().splitlines()[-1:]
                    raise RelicError(
                        f"Streamlit did not come up with {app.name} in {waited:.0f} s: {''.join(last) or 'no word'}. "
                        "Start the app by hand to see why (README)."
                    )
                time.sleep(_LOOK_SECONDS)
            yield process.pid, time.perf_counter() - began
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """Give a port of this machine on which nobody listens."""
    with socket.socket() as free:
        free.bind((_HERE, 0))
        port: int = free.getsockname()[1]
    return port


def seconds_to_health(app: Path, environment: Mapping[str, str]) -> float:
    """Start an app and end it; in seconds, until its server was healthy. Raises as `server`."""
    with server(app, environment) as (_, seconds):
        return seconds


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection(_HERE, port, timeout=5)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == http.client.OK
        except OSError:  # nobody listens yet
            return False


def _seconds_of(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run Python and take the time.

    Raises RelicError: it failed.
    """
    began = time.perf_counter()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *arguments],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RelicError(f"A process that the bench started failed: {''.join(said) or done.returncode}")
    return seconds
