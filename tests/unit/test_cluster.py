"""Long work on a cluster of two real workers gives to the bit what one process gives, also when a worker is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from relic_core import engines
from relic_core.domain import ContextSize
from relic_core.engines import Dask
from relic_core.errors import BadRequest
from relic_core.ports import silent
from relic_core.retrieval import dense
from relic_core.training.folders import TrainingFolder
from relic_core.wiring import build
from tests.criticism import ESSAYS, SECOND, add_novel, write_books
from tests.making import make_work
from tests.making_training import NOUNS, make_base
from tests.small_benchmark import SmallBenchmark
from tests.small_training import asked_of_reranker, furnish
from tests.unit.engine_tasks import process_id

distributed = pytest.importorskip("distributed")
PROJECT = Path(__file__).resolve().parents[2]
SHAPE = ContextSize(1, 1)
BLOCK = 20


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start a scheduler and two workers as a person does, without the program where the scheduler runs."""
    folder = tmp_path_factory.mktemp("cluster")
    found = folder / "scheduler.json"
    told = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])}
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def start(what, *options, env):
        line = [sys.executable, "-m", "dask", what, "--no-dashboard", "--scheduler-file", str(found), *options]
        return subprocess.Popen(line, env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    started = [start("scheduler", "--host", "127.0.0.1", "--port", "0", env=plain)]
    started += [start("worker", "--nthreads", "1", "--host", "127.0.0.1", env=told) for _ in range(2)]
    try:
        deadline = time.monotonic() + 60
        while not (found.exists() and found.read_text().endswith("}")):  # it is seen before it is written
            assert time.monotonic() < deadline, "The scheduler never began."
            time.sleep(0.05)
        address = json.loads(found.read_text())["address"]
        with distributed.Client(address) as client:
            client.wait_for_workers(2, timeout=60)
        yield address.replace("tcp://", "dask://")
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:  # a worker may wait for ever for a scheduler that has ended
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("encoder") / "dense", positions=256)


@pytest.fixture
def both(cluster, encoder, tmp_path):
    """Return an app that works on the cluster and one that works in this process, each with a store of its own."""

    def make(name, engine):
        from relic_core.config import Settings

        folder = tmp_path / name
        given = Settings(data=folder / "data", indexes=folder / "indexes", trained=str(encoder), engine=engine)
        return build(given, executor=SimpleNamespace(submit=lambda *_: None))

    return make("there", cluster), make("here", "")


def contents(folder):
    """Read every array below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.npy"))}


def test_works_are_prepared_to_the_bit_though_a_worker_is_killed(both, monkeypatch):
    there, here = both
    monkeypatch.setattr(dense, "BLOCK", BLOCK)
    lines = [f"A {NOUNS[at % 13]} , and {NOUNS[at * 7 % 11]} it was {at} ." for at in range(BLOCK)]
    works = [make_work(*[lines] * count, title=title) for count, title in ((3, "Long"), (1, "Short"), (2, "Middling"))]
    for bench in both:
        for work in works:
            bench.store.works.add(work)
    ids = [work.id for work in works]
    told, killed = [], []

    def progress(done, total, note=""):
        told.append((done, total))
        if not killed:
            with distributed.Client(there.settings.engine.replace("dask", "tcp")) as client:
                killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    ready = dict(there.indexes.build_many(ids, ["dense-relic"], progress))
    assert {work.id: problem for work, problem in ready.items()} == dict.fromkeys(ids, "")
    assert len(killed) == 2
    assert told == sorted(told)
    assert told[-1] == (6 * BLOCK, 6 * BLOCK)
    for work_id in ids:
        here.indexes.build(work_id, ["dense-relic"], silent)
    assert contents(there.settings.indexes) == contents(here.settings.indexes)
    assert not list(there.settings.indexes.rglob("*.npz"))


def test_a_run_has_the_outcomes_and_the_id_of_one_process_and_goes_on_where_it_was_interrupted(both):
    said = []

    def interrupt(done, total, note=""):
        if done >= total / 2:
            raise KeyboardInterrupt

    def measure(bench, progress=silent):
        return bench.measuring.measure(SmallBenchmark(64), "fusion", SHAPE, tell=said.append, progress=progress)

    there, here = both
    with pytest.raises(KeyboardInterrupt):
        measure(there, interrupt)
    kept = len(next(there.settings.data.rglob("partial.jsonl")).read_text().splitlines())
    assert kept > 32
    assert not said
    spread, one = measure(there), measure(here)
    assert len(said) == 1
    assert spread.outcomes == one.outcomes
    assert (spread.run.id, spread.run.index_bytes) == (one.run.id, one.run.index_bytes)


def test_hard_negatives_are_those_of_one_process(both, tmp_path):
    base, found = make_base(tmp_path / "base"), []
    for bench in both:
        furnish(bench)
        training = bench.trainings.start(asked_of_reranker(base, steps=0, validation=0))
        bench.run_training(training.id, silent)
        found.append(TrainingFolder.find(bench.settings.data, training.id).examples()["hard"])
    assert found[0] == found[1]
    assert found[0]["pairs"]
    assert found[0]["windows"]


def test_mining_finds_what_processes_find(both, tmp_path):
    books, found = write_books(tmp_path / "books", essays=ESSAYS, widows=SECOND), []
    for bench in both:
        add_novel(bench)
        found.append(bench.mining.run([books]).figures.rpartition(" in ")[0])
    assert found[0] == found[1]


def test_a_worker_with_another_program_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(engines, "_program", lambda: "source of another version")
    with pytest.raises(BadRequest, match="source of another version"):
        list(Dask(cluster).map(process_id, [1]))
