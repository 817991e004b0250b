"""What applies a function to many tasks: the same results everywhere, few tasks ahead, one lost by a dying process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relic_core import engines
from relic_core.engines import Dask, Processes
from relic_core.errors import BadRequest, NotFound, RelicError
from tests.inline import InProcess
from tests.unit import engine_tasks
from tests.unit.engine_tasks import fall_over, refuse, square

PROJECT = Path(__file__).resolve().parents[2]


def test_processes_give_what_this_process_gives():
    assert sorted(Processes(2).map(square, range(20))) == sorted(InProcess().map(square, range(20)))


def test_a_local_cluster_of_two_gives_what_this_process_gives():
    pytest.importorskip("distributed")
    assert sorted(Dask(workers=2).map(square, range(20))) == sorted(InProcess().map(square, range(20)))


def test_a_cluster_that_lost_workers_goes_on_with_those_it_has(monkeypatch):
    distributed = pytest.importorskip("distributed")
    threads = iter([8])
    monkeypatch.setattr(distributed.Client, "nthreads", lambda _self: {"worker": next(threads, 1)})
    assert sorted(Dask(workers=1).map(square, range(20))) == [each**2 for each in range(20)]


def test_tasks_are_taken_as_workers_become_free():
    taken = []

    def tasks():
        for number in range(50):
            taken.append(number)
            yield number

    results = Processes(1).map(square, tasks())
    next(results)
    assert len(taken) <= 1 + 2 * engines._AHEAD
    results.close()


@pytest.mark.parametrize("make", [InProcess, lambda: Processes(1)])
def test_an_error_of_a_task_is_raised_here(make):
    with pytest.raises(BadRequest, match="7 is refused"):
        list(make().map(refuse, [7]))


def test_a_process_that_dies_costs_its_task_and_no_other():
    results = list(Processes(2, lost=engine_tasks.lost).map(fall_over, range(9)))
    assert sorted(map(str, results)) == sorted([*map(str, (0, 1, 2, 3, 5, 6, 7, 8)), "4: lost"])


def test_a_lost_task_is_an_error_where_nobody_says_what_to_make_of_it():
    with pytest.raises(RelicError, match="A task was lost"):
        list(Processes(1).map(fall_over, [4]))


def test_no_worker_outlives_a_run_that_is_broken_off():
    results = Processes(2).map(engine_tasks.process_id, range(100))
    process = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    program = (
        "from relic_core.engines import Processes\n"
        "from tests.unit.engine_tasks import sleep_and_tell\n"
        "if __name__ == '__main__':\n"
        f"    list(Processes(1).map(sleep_and_tell, [{str(tmp_path / 'worker')!r}]))\n"
    )
    (tmp_path / "run.py").write_text(program)
    path = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen([sys.executable, str(tmp_path / "run.py")], env={**os.environ, "PYTHONPATH": path})
    worker = _wait_for(tmp_path / "worker")
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while _lives(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(worker)


def _wait_for(path: Path) -> int:
    deadline = time.monotonic() + 60
    while not (path.is_file() and path.read_text()):
        assert time.monotonic() < deadline, "The worker never began."
        time.sleep(0.05)
    return int(path.read_text())


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("workers", [0, -1])
def test_fewer_than_one_worker_is_refused(workers):
    with pytest.raises(BadRequest, match="at least 1"):
        Processes(workers)


def test_without_dask_the_file_of_requirements_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(NotFound, match=r"requirements-cluster\.txt"):
        Dask()


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "_PATIENCE", "1s")
    with pytest.raises(NotFound, match="tcp://"):
        list(Dask("tcp://127.0.0.1:9").map(square, [1]))
