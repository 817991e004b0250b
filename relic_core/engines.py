"""What applies one function to many tasks: several processes of one machine, or a cluster.

Both are `ports.Workers` and give the same results, in the order in which they are finished. Few tasks are on
their way at once, so that neither tasks nor results pile up in memory. A process that dies under a task, by want of
memory for example, costs that one task: what is given for it is made by the function `lost`, and the others are done.
A cluster's workers must run this very program: each compares its source before it does a task.

The cluster's engine is Dask. Ray would do the same work; in a trial it took 259 MB against 44 MB to install and 4.2
seconds against 0.8 to start, and Dask is pure Python under the BSD licence.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import cache
from importlib import metadata
from itertools import islice
from multiprocessing import connection
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from relic_core.config import provenance
from relic_core.errors import BadRequest, BadWeights, NotFound, RelicError
from relic_core.installed import more
from relic_core.ports import Workers

T = TypeVar("T")
R = TypeVar("R")

LOCAL = "local"
"""Names a cluster that is started on this machine for the time of the work."""

_AHEAD = 2
"""Tasks on their way for each worker: one it works on, and the next."""
_DIED = "the process that worked on it died, most often because the machine had too little memory"


def named(engine: str, *, lost: Callable[[Any, str], Any] | None = None) -> Workers | None:
    """Make the engine that is named ("local", ``dask://host:8786``); None where this process does the work."""
    return Dask(None if engine == LOCAL else engine, lost=lost) if engine else None


class Processes:
    """Works in several processes of this machine, which end with this one; as many as it has processors by default.

    They are spawned, not forked: a fork copies the locks of other threads as they happen to be.

    - `lost`: makes the result for a task whose process died, of the task and of the reason in plain words. Where not
      given, `RelicError` is raised.
    """

    def __init__(self, workers: int | None = None, *, lost: Callable[[Any, str], Any] | None = None) -> None:
        self.workers = _checked(workers)
        self._lost = lost or _raise_lost

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Generator[R]:
        """Apply a function to each task; see `ports.Workers`."""
        waiting = iter(tasks)
        suspects: list[T] = []
        while True:
            suspects = yield from self._pool(function, waiting, self.workers)
            if not suspects:
                return
            # One of them killed its process, and which is unknown: each gets a process to itself.
            for task in suspects:
                if (yield from self._pool(function, iter((task,)), 1)):
                    yield self._lost(task, _DIED)

    def _pool(self, function: Callable[[T], R], waiting: Iterator[T], workers: int) -> Generator[R, None, list[T]]:
        """Work through tasks until there are no more or a process dies; returns the tasks that were on their way."""
        pool = ProcessPoolExecutor(
            workers, mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent
        )
        running: dict[Future[R], T] = {}
        broken: list[T] = []
        try:
            while True:
                for task in islice(waiting, workers * _AHEAD - len(running)):
                    try:
                        running[pool.submit(function, task)] = task
                    except BrokenProcessPool:
                        broken.append(task)
                        break
                if broken or not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    try:
                        result = future.result()
                    except BrokenProcessPool:
                        broken.append(task)
                    else:
                        yield result
                if broken:
                    break
            # What was finished before a process died is not done twice.
            for future, task in running.items():
                with suppress(BrokenProcessPool):
                    result = future.result()
                    yield result
                    continue
                broken.append(task)
        finally:
            _end(pool)
        return broken


class Dask:
    """Works on a cluster of Dask, or on a local one that is started for the time of the work.

    The machines of a cluster have this program; docs/cluster.md says what else they must see. A task whose worker ends
    under it is given to another by Dask, and counts as lost after the fourth.

    - `address`: of the scheduler (``dask://host:8786``, ``tcp://host:8786``); a local cluster is started where not
      given.
    - `workers`: processes of the local cluster; for a scheduler, how many tasks are on their way at least.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        *,
        lost: Callable[[Any, str], Any] | None = None,
    ) -> None:
        self.address = address and address.replace("dask://", "tcp://", 1)
        self.workers = _checked(workers)
        self._lost = lost or _raise_lost
        _distributed()

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Generator[R]:
        """Apply a function to each task; see `ports.Workers`. Raises BadRequest: a worker runs another program."""
        distributed, program = _distributed(), _program()
        with ExitStack() as stack:
            if self.address is None:
                cluster = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=self.workers, threads_per_worker=1, dashboard_address=None, silence_logs=_ERRORS
                    )
                )
                client = stack.enter_context(distributed.Client(cluster))
            else:
                client = stack.enter_context(self._connected())
            waiting = iter(tasks)
            running: dict[str, T] = {}
            done = distributed.as_completed()

            def send() -> None:
                most = _AHEAD * max(self.workers, sum(client.nthreads().values()))  # workers may come and go
                for task in islice(waiting, max(0, most - len(running))):
                    call = pickle.dumps(_Call(program, pickle.dumps((function, task))))
                    future = client.submit(pickle.loads, call, pure=False)
                    running[future.key] = task
                    done.add(future)

            send()
            while running:
                future = next(done)
                task = running.pop(future.key)
                send()
                try:
                    result = pickle.loads(future.result())  # noqa: S301 - as Dask does with all that a worker sends
                except distributed.KilledWorker:
                    result = self._lost(task, _DIED)
                except CancelledError:
                    raise RelicError(
                        f"The scheduler of Dask at {self.address} went away. What was finished is kept; start the "
                        "scheduler again, and the same command goes on from there."
                    ) from None
                except ImportError as error:
                    raise BadRequest(
                        f"A worker of the cluster at {self.address} cannot load this program ({error}). Install the "
                        "same version on all of its machines, and start the workers again."
                    ) from None
                del future  # so that the cluster may forget the result
                yield result

    def _connected(self) -> AbstractContextManager[Any]:
        try:
            client = _distributed().Client(self.address, timeout=_PATIENCE)
        except (OSError, ValueError, TimeoutError) as error:
            raise NotFound(
                f"No scheduler of Dask answers at '{self.address}' ({str(error)[:200]}). Start one with `dask "
                "scheduler` and workers with `dask worker`, and give its address, dask://host:8786 for example."
            ) from None
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            client.close()
            raise NotFound(
                f"The scheduler of Dask at '{self.address}' has no workers. Start some with `dask worker "
                f"{self.address} --nthreads 1`, or wait until the cluster has started them, and try again."
            ) from None
        found: AbstractContextManager[Any] = client
        return found


_PATIENCE = "10s"
_ERRORS = 40
"""Dask's own log says what is reported here anyway."""


@cache
def _program() -> str:
    """Name what decides results beside models and the processor: this program's source, and what it computes with."""
    versions = (f"{name} {metadata.version(name).partition('+')[0]}" for name in ("numpy", "torch", "tokenizers"))
    return ", ".join([f"source {provenance.source()}", *versions])


class _Call:
    """A task as it is sent: bytes, whose unpickling does it.

    So nothing but a task fails where this program is not installed. A function of ours that Dask itself had to unpickle
    would end the worker, and the scheduler would need the program too.
    """

    def __init__(self, program: str, pickled: bytes) -> None:
        self._arguments = program, pickled

    def __reduce__(self) -> tuple[Callable[..., bytes], tuple[str, bytes]]:
        """Be unpickled by `_run`."""
        return _run, self._arguments


def _run(program: str, pickled: bytes) -> bytes:
    """Do a task on a worker of a cluster, once it is known that the program is the same; gives the result as bytes."""
    from distributed import get_worker

    if (here := _program()) != program:
        raise BadRequest(
            f"The worker {get_worker().address} runs another program ({here}) than the one that asks it ({program}), "
            "so that its results could differ. Install the same version on both, and start the worker again."
        )
    function, task = pickle.loads(pickled)  # noqa: S301 - as Dask sends it, and by the same connection
    try:
        return pickle.dumps(function(task))
    except RelicError as error:
        raise type(error)(f"{error} (So says the worker {get_worker().address}.)") from None


def check_model(here: object, wanted: object) -> None:
    """Refuse to compute with another model than the one that is asked for."""
    if here != wanted:
        raise BadWeights(
            f"The model here is another one ({here}) than the one that is asked for ({wanted}), so that results would "
            "differ. Put the same model there, of the same kind of processor or GPU, and start the worker again."
        )


def _distributed() -> ModuleType:
    try:
        import distributed
    except ImportError:
        raise NotFound(
            "Working on a cluster needs Dask, which is not installed. To have it: "
            f"{more('cluster')}; or name no engine (RELIC_ENGINE, --engine, --dask)."
        ) from None
    return distributed


def _checked(workers: int | None) -> int:
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers < 1:
        raise BadRequest(f"{workers} workers were asked for; at least 1 is needed.")
    return workers


def _raise_lost(task: object, reason: str) -> NoReturn:
    raise RelicError(
        f"A task was lost ({task!r:.200}): {reason}. Try again with fewer workers, or with more memory for each."
    )


def _end_with_parent() -> None:
    """Have this process end when the one that started it does, however that ends; Ctrl-C is for the parent alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            connection.wait([parent.sentinel])
            os._exit(1)

        threading.Thread(target=watch, name="ends with its parent", daemon=True).start()


def _end(pool: ProcessPoolExecutor) -> None:
    """End a pool at once: what still runs is not wanted any more."""
    for process in list((pool._processes or {}).values()):  # noqa: SLF001 - before Python 3.14 the only way to end them
        process.terminate()
    pool.shutdown(wait=True, cancel_futures=True)
