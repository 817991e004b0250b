"""A process on a library: it holds the store, writes searches till it is stopped or kills itself, or edits a note.

Run as ``python -m tools.reliability.process hold SECONDS``, ``... write NAME [BYTES]`` (with BYTES, no file may grow
beyond them, as on a disk that is full), ``... die NAME TIMES`` or ``... edit NOTE NAME TIMES``.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from threading import Thread

from relic_core.domain import SearchRequest
from relic_core.errors import RelicError
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
from relic_core.wiring import build

REFUSED = 3
_MOST = 100_000


def hold(seconds: str) -> int:
    """Hold the store; say when it is held."""
    with build().store.alone():
        print("held", flush=True)
        time.sleep(float(seconds))
    return 0


def write(name: str, limit: str = "") -> int:
    """Write, and tell each number once it is acknowledged; end with `REFUSED` and the reason where one was not."""
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    app = build()
    for number in range(_MOST):
        try:
            app.history.keep(SearchRequest(work_id="w", claim_text=claim(name, number)))
        except RelicError as error:
            print(f"refused {type(error).__name__}: {error}")
            return REFUSED
        print(number, flush=True)
    return 0


def die(name: str, times: str) -> int:
    """Write while the store stays open, so that DuckDB does not take its log into the file, and be killed."""
    app = build()

    def keep() -> None:
        for number in range(int(times)):
            app.history.keep(SearchRequest(work_id="w", claim_text=claim(name, number)))

    with Database.at(app.store.path).reading(LockTimeout(1)):
        writer = Thread(target=keep)
        writer.start()
        writer.join()
        os.kill(os.getpid(), signal.SIGKILL)
    return 0


def edit(note_id: str, name: str, times: str) -> int:
    """Write about a note again and again, each time over what was seen the time before."""
    app = build()
    seen = app.notebook.note(note_id).note
    for number in range(int(times)):
        seen, _ = app.notebook.write_over(seen, words=f"{name} {number}")
    return 0


def claim(name: str, number: int) -> str:
    """Give the words of a search: long enough to fill a disk, and unlike any other."""
    return f"{name} {number} " + f"{number * 7919:x} " * 200


if __name__ == "__main__":
    commands: dict[str, Callable[..., int]] = {"hold": hold, "write": write, "die": die, "edit": edit}
    does, *given = sys.argv[1:]
    sys.exit(commands[does](*given))
