"""Functions for the engines' tests: worker processes find them by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

from relic_core.errors import BadRequest


def square(number: int) -> int:
    return number * number


def refuse(number: int) -> int:
    raise BadRequest(f"{number} is refused.")


def fall_over(number: int) -> int:
    """Die at 4 as a process does that the system ends for want of memory."""
    if number == 4:
        os._exit(9)
    return number


def lost(number: int, reason: str) -> str:
    assert "died" in reason
    return f"{number}: lost"


def process_id(_: int) -> int:
    return os.getpid()


def sleep_and_tell(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)
