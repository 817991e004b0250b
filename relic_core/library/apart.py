"""Large files read for their previews in a process of its own, with limits: other people's pages go on meanwhile."""

from __future__ import annotations

import logging
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import IO

from relic_core.config import PROJECT
from relic_core.errors import BadText, RelicError
from relic_core.library.archives import Archive, is_zip
from relic_core.library.composing import Edition
from relic_core.library.previews import Pickled, Preview, Upload, beginning_of, make_preview
from relic_core.library.reading import read_edition
from relic_core.text.metadata import Metadata
from relic_core.text.reading import work_id

LARGE = 1_000_000
"""Bytes, unpacked: smaller files are read at once, in a second or two."""
MEGABYTES, SECONDS = 2_000, 90
"""What one file may take of memory and of a processor's time; 20 MB of novels take 500 MB and 20 seconds."""
_PIPE, _POLL = subprocess.PIPE, 0.25
_NO_MEMORY = 3
_TOO_MUCH = {_NO_MEMORY, -signal.SIGXCPU, -signal.SIGKILL}
"""How the process ends that met a limit."""
_PLACES = threading.BoundedSemaphore(2)
"""How many files are read at once, of all visitors."""
_TURNS: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""By visitor, who has one file read after the other."""
_Answer = tuple[Preview, bytes] | RelicError | str
"""What was read, why it cannot be, or what failed."""


def is_large(data: bytes) -> bool:
    """Whether a file is to be read in a process of its own."""
    size = len(data)
    with suppress(RelicError):
        size = Archive(data).size if is_zip(data) else size
    return size > LARGE


def read(asked: Upload, *, whose: str, wait: Callable[[], object]) -> Preview:
    """Read a file as `read_edition` does; the preview holds the beginning of the work, and what `again` takes.

    - `wait`: called several times a second; what it raises ends the reading.
    Raises BadText: it takes more memory or time than is allowed, or reading it fails.
    """
    own = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # each thread would take memory
    command = [sys.executable, "-m", __name__, str(SECONDS), str(MEGABYTES)]
    answer = b""
    with _turn(whose, wait), subprocess.Popen(command, cwd=PROJECT, env=own, stdin=_PIPE, stdout=_PIPE) as process:  # noqa: S603 - our own program
        # `communicate` would lose what it has not written at a timeout.
        stdin, process.stdin = process.stdin, None
        threading.Thread(target=_give, args=(asked, stdin), daemon=True).start()
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    answer = process.communicate(timeout=_POLL)[0]
                    break
                wait()
        finally:
            process.kill()
    if process.returncode in _TOO_MUCH:
        raise BadText(
            f"The file takes more than {SECONDS} seconds or {MEGABYTES:,} MB of memory to read, far more than a book "
            "of its size does, so it was given up. Split it into volumes and add each."
        )
    found: _Answer = f"its process ended with {process.returncode}"
    if answer:
        found = pickle.loads(answer)  # noqa: S301 - of our own process
    if isinstance(found, RelicError):
        raise found
    if isinstance(found, str):
        logging.getLogger(__name__).error("%s cannot be read: %s", asked.name, found)
        raise BadText("The file cannot be read. It may be damaged: save it anew, or in another format, and add that.")
    preview, edition = found
    return replace(preview, kept=Pickled(asked, edition, whose))


def again(kept: Pickled, corrections: Metadata) -> Edition:
    """Give what was read for a preview, with what a person says of it: read anew where that changes how it is read."""
    edition: Edition = pickle.loads(kept.edition)  # noqa: S301 - of our own process
    work = edition.work
    if corrections.given and work.format != "plain text":  # names tell there what is a heading, or by another hand
        anew = read(kept.asked._replace(metadata=corrections), whose=kept.whose, wait=kept.wait)
        return again(anew.kept or kept, Metadata())
    guessed = tuple(filter(None, work.guessed.split(", ")))
    known = Metadata(work.title, work.author, work.translator, work.year, guessed).corrected(corrections)
    described = {each: getattr(known, each) for each in ("title", "author", "translator", "year")}
    work = replace(work, id=work_id(known.title, work.sha256), guessed=", ".join(known.guessed), **described)
    return replace(edition, work=work)


def _give(asked: Upload, stdin: IO[bytes] | None) -> None:
    if stdin is not None:
        with suppress(OSError), stdin:  # the process may have been killed
            pickle.dump(asked, stdin)


@contextmanager
def _turn(whose: str, wait: Callable[[], object]) -> Iterator[None]:
    with ExitStack() as held:
        for each in (_TURNS[whose], _PLACES):
            while not each.acquire(timeout=_POLL):
                wait()
            held.callback(each.release)
        yield


def _limit(seconds: int, megabytes: int) -> None:
    """Limit this process: its time everywhere, its memory by the system, or by looking where that limits none."""
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    most = megabytes * 1_000_000
    if sys.platform == "darwin":
        threading.Thread(target=_end_beyond, args=(most,), daemon=True).start()
    else:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _end_beyond(most: int) -> None:
    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < most:
        time.sleep(_POLL)
    os._exit(_NO_MEMORY)


def main() -> None:
    """Read what standard input asks for, and answer on standard output."""
    _limit(*map(int, sys.argv[1:]))
    try:
        asked: Upload = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that started this
        edition = read_edition(**asked._asdict(), source=asked.name)
        preview = replace(make_preview(edition), work=beginning_of(edition.work))
        written = pickle.dumps((preview, pickle.dumps(edition)))
    except MemoryError:
        os._exit(_NO_MEMORY)
    except RelicError as error:
        written = pickle.dumps(error)
    except Exception:  # noqa: BLE001 - logged by the process that started this
        written = pickle.dumps(traceback.format_exc())
    sys.stdout.buffer.write(written)


if __name__ == "__main__":
    main()
