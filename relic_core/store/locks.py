"""Advisory locks on files: held by a process, let go by the kernel when it ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL_SECONDS = 0.1


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

    - `path`: the lock file; made where missing, never removed.
    - `while_waiting`: called about ten times a second during a wait; what it raises ends the wait.
    """
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
