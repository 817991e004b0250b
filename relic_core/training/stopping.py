"""Being asked to stop: a training ends after the step it is in, with a checkpoint."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


@contextlib.contextmanager
def terminated() -> Iterator[Callable[[], bool]]:
    """Take SIGTERM as the wish to stop; in other threads than the main one, which gets no signals, as before.

    Yields: says whether the signal came.
    """
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came.is_set
        return

    def take(_signal: int, _frame: FrameType | None) -> None:
        came.set()

    before = signal.signal(signal.SIGTERM, take)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGTERM, before)
