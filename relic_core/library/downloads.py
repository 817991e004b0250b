"""What was fetched from elsewhere, kept on disk, and the pause between two requests."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relic_core.errors import StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    Turn = Callable[[Callable[[], None]], AbstractContextManager[None]]
    """Keeps others out for the length of a block; calls what it is given while it waits."""

_STEP_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A file that was fetched.

    - `url`: where it was asked for.
    - `etag`, `last_modified`: as the server said; empty where it did not.
    - `fetched`: when the bytes came, in UTC.
    """

    data: bytes
    url: str
    etag: str
    last_modified: str
    fetched: datetime


class Downloads:
    """A folder of fetched files, one folder for each by its number.

    - `folder`: made when first written to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, number: int) -> Kept | None:
        """Return what was fetched; None where nothing was, or where its bytes are no longer those that were."""
        folder = self.folder / str(number)
        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            data = (folder / "text").read_bytes()
            if hashlib.sha256(data).hexdigest() != about["sha256"]:
                return None
            return Kept(
                data=data,
                url=str(about["url"]),
                etag=str(about["etag"]),
                last_modified=str(about["last_modified"]),
                fetched=datetime.fromisoformat(about["fetched"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None  # it is fetched anew

    def keep(self, number: int, kept: Kept) -> Kept:
        """Write a fetched file; what stood there before stays until the new one is whole.

        Raises StoreReadOnly: the folder cannot be written, or the disk is full.
        """
        folder = self.folder / str(number)
        about = {
            "url": kept.url,
            "etag": kept.etag,
            "last_modified": kept.last_modified,
            "sha256": hashlib.sha256(kept.data).hexdigest(),
            "fetched": kept.fetched.isoformat(),
        }
        self.write(folder / "text", kept.data)
        self.write(folder / "about.json", json.dumps(about, indent=1).encode())
        return kept

    def write(self, path: Path, data: bytes) -> None:
        """Write a file under another name and rename it, so that nobody ever reads half of it.

        The other name is one's own: two who fetch one book at once do not write into each other's file.

        Raises StoreReadOnly: the folder cannot be written, or the disk is full.
        """
        new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                new.write_bytes(data)
                new.replace(path)
            except OSError:
                new.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StoreReadOnly(
                f"The folder of downloads {self.folder} cannot be written ({error.strerror}). Make room on the disk, "
                "make the folder writable, or choose another data folder with RELIC_DATA; then try again."
            ) from error


class Gate:
    """Lets one request pass in some seconds, counted over all processes that use the same folder.

    - `downloads`: where the time of the last request is kept.
    - `pause`: least number of seconds between two requests.
    - `turn`: keeps other processes out.
    """

    def __init__(
        self,
        downloads: Downloads,
        pause: float,
        turn: Turn,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._downloads = downloads
        self._file = downloads.folder / "last_request.json"
        self._pause = pause
        self._turn = turn
        self._clock = clock
        self._sleep = sleep

    def now(self) -> float:
        """Return the time, in seconds."""
        return self._clock()

    def today(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.fromtimestamp(self._clock(), UTC)

    def wait(self, stop: Callable[[], None]) -> None:
        """Wait for the next request to be allowed; `stop` is called meanwhile, and what it raises ends the wait.

        Raises StoreReadOnly: the time cannot be written down, so that the next request would come too soon.
        """
        if self._pause <= 0:
            stop()
            return
        with self._turn(stop):
            passed = self._clock() - self._last()
            # A clock that was put back must not make anybody wait for the time before.
            self.rest(self._pause if passed < 0 else self._pause - passed, stop)
            self._downloads.write(self._file, json.dumps({"at": self._clock()}).encode())

    def rest(self, seconds: float, stop: Callable[[], None]) -> None:
        """Wait some seconds; `stop` is called meanwhile, and what it raises ends the wait."""
        until = self._clock() + seconds
        stop()
        while (left := until - self._clock()) > 0:
            self._sleep(min(left, _STEP_SECONDS))
            stop()

    def _last(self) -> float:
        try:
            return float(json.loads(self._file.read_text(encoding="utf-8"))["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0.0


def confirmed(kept: Kept, *, etag: str, last_modified: str) -> Kept:
    """Return what is kept with the marks that the server gave when it said that nothing has changed."""
    return replace(kept, etag=etag or kept.etag, last_modified=last_modified or kept.last_modified)
