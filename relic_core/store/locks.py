"""Advisory locks on files, let go by the kernel when their process ends, and whose turn it is with the store.

A process whose threads work on the store without a pause would never let its file go. So who waits for a turn first
takes the place of the next, and who sees that place taken begins no further unit of work until the file was let go.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from relic_core.errors import written_to

POLL_SECONDS = 0.1
_TELL_AFTER = 1.0
"""Seconds of waiting after which a message says so: shorter waits are nobody's concern."""


def acquire(path: Path) -> int | None:
    """Take the lock at once or not at all.

    Returns: an open file descriptor that holds the lock until every copy of it is closed, those inherited by child
    processes included; None where somebody else holds the lock.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock; a path that is not there is not held."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two who look at the same moment do not take each other for the holder.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)


@contextlib.contextmanager
def held(path: Path, *, while_waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock for the length of a block, waiting for it as long as it takes.

    - `while_waiting`: called about ten times a second during a wait; what it raises ends the wait.

    Raises StoreReadOnly, StoreFull: its folder cannot be made or written.
    """
    with written_to(
        path.parent, called="data and indexes", setting="RELIC_DATA or RELIC_INDEXES", then="try again, and it goes on"
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = acquire(path)
    while handle is None:
        if while_waiting is not None:
            while_waiting()
        time.sleep(POLL_SECONDS)
        handle = acquire(path)
    try:
        yield
    finally:
        os.close(handle)


def _nothing() -> None:
    """Do nothing while a click waits, which is soon over."""


@dataclass
class LockTimeout:
    """How long a unit of work waits for a store that another process holds, telling again and again after a moment."""

    seconds: float
    while_waiting: Callable[[], None] = _nothing

    def begin(self) -> Wait:
        """Begin to wait: the time runs from here."""
        return Wait(self)


class Wait:
    """One wait, from where it began."""

    def __init__(self, patience: LockTimeout) -> None:
        self._patience = patience
        self._began = time.monotonic()

    @property
    def over(self) -> bool:
        """Whether it has been long enough."""
        return time.monotonic() - self._began >= self._patience.seconds

    def tell(self) -> None:
        """Call back where the wait is more than a moment."""
        if time.monotonic() - self._began >= _TELL_AFTER:
            self._patience.while_waiting()

    def pause(self) -> None:
        """Wait a moment, of uneven length, so that two who wait do not keep meeting."""
        self.tell()
        time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 - a delay, not a secret


class FairLock:
    """The turns of all processes that use one store."""

    def __init__(self, store: Path) -> None:
        self.path = store.with_name(f"{store.name}.lock")
        self._next = store.with_name(f"{store.name}.next")

    def take(self, wait: Wait) -> int | None:
        """Take the turn, after those who came before: a descriptor that holds it until closed; None: too late."""
        place = _acquire(self._next, wait)
        try:
            # With the place not had, one look all the same: the turn may have come free.
            turn = acquire(self.path) if place is None else _acquire(self.path, wait)
        finally:
            if place is not None:
                os.close(place)
        if turn is not None:
            with contextlib.suppress(OSError):  # a full disk: who holds the store is then not told, that is all
                os.truncate(turn, 0)
                os.write(turn, str(os.getpid()).encode())
        return turn

    def holder(self) -> str:
        """Give the number of the process that wrote itself down last."""
        return self.path.read_text(encoding="ascii")

    def wanted(self) -> bool:
        """Whether another process, or another unit of work of this one, waits for the turn."""
        with contextlib.suppress(OSError):  # the folder has gone, or may not be read: using the store tells
            return is_held(self._next)
        return False


def _acquire(path: Path, wait: Wait) -> int | None:
    while (handle := acquire(path)) is None and not wait.over:
        wait.pause()
    return handle
