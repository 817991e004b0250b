"""What all tests share: a clean environment, no network, the corpus where there is one."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from relic_core.domain import Work

PROJECT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RELIC_SHARED") or PROJECT.parent / "shared")

# A developer's own settings must not reach the tests, and no library may look for models or send figures.
for name in [name for name in os.environ if name.startswith(("RELIC_", "STREAMLIT_"))]:
    del os.environ[name]
os.environ["RELIC_CONFIG"] = os.devnull
os.environ["RELIC_FETCH_LARGER"] = "no"
os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", STREAMLIT_BROWSER_GATHER_USAGE_STATS="false")
# There is a process of tests for each core already.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No deadline: CI's machines are shared. The same examples every time in CI: a red run must mean a change of ours.
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")

# Libraries are large and stay: looking through their objects for garbage, again and again, takes a tenth of all time.
gc.set_threshold(20_000, 20, 50)


def pytest_xdist_auto_num_workers() -> int:
    """Give `-n auto` a worker more than there are processors: journeys in the browser wait half of their time."""
    return len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [None] * (os.cpu_count() or 1)) + 1


def pytest_collection_finish() -> None:
    """Keep what the libraries and the tests consist of out of all later looking for garbage."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Give all of it back: libraries in C look for what was left at the end."""
    gc.unfreeze()


_away: list[str] = []


class NetworkUsed(RuntimeError):
    """A test, or what it called, reached for another machine."""


def _stay_here(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse look-ups of and connections to other machines (an audit hook: libraries in C are seen too)."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else str(host or "")
    if host not in {"", "localhost", "::1", "::", "0.0.0.0"} and not host.startswith("127."):  # noqa: S104 - compared, not bound
        _away.append(host)
        raise NetworkUsed(f"Tests use no network, and {host} was asked for.")


sys.addaudithook(_stay_here)


@pytest.fixture(autouse=True)
def _no_network():
    """Fail a test that reached for the network even where the refusal was swallowed on the way."""
    _away.clear()
    yield
    assert not _away, f"The test reached for {_away}."


@pytest.fixture(autouse=True)
def _main_module():
    """Put the main module back: AppTest leaves app.py there, and any process that is spawned later would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session", autouse=True)
def _stores_are_copied(tmp_path_factory):
    """Make a new store once and copy it for each test: its tables take a hundred times as long as its bytes.

    DuckDB has one thread, as everything has here.
    """
    from relic_core.store import connection, engine

    make, made = connection.make_store, tmp_path_factory.mktemp("store") / "empty.duckdb"

    def copy(path, steps=None):
        if steps is not None:
            make(path, steps)
            return
        if not made.exists():
            make(made)
        shutil.copyfile(made, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "make_store", copy)
        patch.setitem(engine.CONFIG, "threads", "1")
        yield


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Path:
    """Return a folder with the sample added and indexed, as `make app` leaves it; do not write to it.

    It is made once for all processes that run tests.
    """
    from tests.browser.serving import prepare

    own = tmp_path_factory.getbasetemp()
    root = own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own
    folder = root / "prepared"
    with (root / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            prepare(own / "preparing")
            (own / "preparing").rename(folder)
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real novels and benchmarks: ``RELIC_SHARED``, or ``shared`` beside the project."""
    if not (SHARED / "corpus" / "primary").is_dir():
        pytest.skip(f"There is no corpus at {SHARED}; RELIC_SHARED names another place.")
    return SHARED


@pytest.fixture(scope="session")
def uncut_novels(shared) -> dict[str, Work]:
    """Read every novel of the corpus once, by its file's stem, without sentences: they take longer than all the rest.

    Once in each process that runs tests, so tests that use it had better stand in few files.
    """
    from relic_core.library.reading import read_file

    uncut = SimpleNamespace(identity="none/1", segment=lambda *_: [])
    paths = sorted((shared / "corpus" / "primary").glob("*.txt"))
    return {path.stem: read_file(path.read_bytes(), name=path.name, segmenter=uncut) for path in paths}


@pytest.fixture
def settings(tmp_path):
    """Return settings whose store and indexes are the test's own."""
    from relic_core.config import Settings

    return Settings(data=tmp_path / "data", indexes=tmp_path / "indexes")


@pytest.fixture
def kept_open(settings):
    """Keep the store open for tests that are a single process: opening it for each unit of work is a third of them."""
    from relic_core.store.connection import Database
    from relic_core.store.locks import LockTimeout

    with Database.at(settings.store).reading(LockTimeout(1)):
        yield


@pytest.fixture
def bench(settings):
    """Build the app on the test's own store; jobs are done at once."""
    from relic_core.wiring import build
    from tests.inline import InlineExecutor

    return build(settings, executor=InlineExecutor(settings))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Make a tiny model that trainings begin from."""
    from tests.making_training import make_base

    return make_base(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture
def run(settings, monkeypatch, capsys):
    """Run a command on the test's own store; gives what became of it (`tests.typed.Ran`)."""
    from relic_core import cli
    from tests.typed import Ran

    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("os.nice", lambda _steps: 0)  # a job steps back for the pages; this process has none to serve
    shown, errors = cli.show_error, []
    monkeypatch.setattr(cli, "show_error", lambda error: (errors.append(error), shown(error)))

    def run(*typed):
        errors.clear()
        code = cli.main([*map(str, typed)])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Ran(code, said.out, said.err, errors[0] if errors else None)

    return run
