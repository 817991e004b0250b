"""Whose turn it is with the store: a lock file beside it, and another for who comes next.

A process whose threads work on the store without a pause would never let its file go. So whoever waits for a turn
first takes the place of the next; who sees that place taken begins no further unit of work until the file was let go.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.store.locks import acquire, is_held

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TELL_AFTER = 1.0
"""Seconds of waiting after which whoever waits is told of it: shorter waits are nobody's concern."""


def _nothing() -> None:
    """Do nothing while a click waits, which is soon over."""


@dataclass
class LockTimeout:
    """How long a unit of work waits for a store that another process holds.

    - `while_waiting`: called again and again during a wait of more than a moment; what it raises ends the wait.
    """

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
        """Tell whoever waits, where it is more than a moment."""
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
        """Take the turn, after those who came before.

        Returns: a descriptor that holds the turn until it is closed; None where the wait was over first.

        Raises OSError: the lock files cannot be written.
        """
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
