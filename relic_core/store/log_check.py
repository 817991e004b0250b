"""What DuckDB's write-ahead log has to hold: written down beside it, and compared when the store is next opened.

When the last unit of work ends, DuckDB takes the log into the file. Until then, and for as long as the disk is full,
what was acknowledged is in the log alone. A log that was cut, zeroed, emptied or deleted looks to DuckDB like one that
a kill cut short, and it says nothing. So after each commit the length and digest of the log are noted, with a digest of
the file's head, which changes whenever the log is taken in. If the head has changed since, the note does not count:
another program used the store, or another store is here. If the log has grown since, all is well: a process was killed
between its commit and its note. The note is written over in place, as a full disk has no room for a new file; half a
note counts as none.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from relic_core.errors import StoreReadOnly

NOTE = ".wal-note"
"""End of the note's name: a restore puts it aside with the log."""
LOST = ".lost"
"""End of the name of what says which losses there were; it goes aside likewise."""
_HEAD = 3 * 4096
"""Bytes at the beginning of DuckDB's file that say which of its blocks count."""
_ROOM = 512
"""Bytes of the note."""
_CHUNK = 1 << 20


class _Note(NamedTuple):
    """What the log held after a commit, and when the first and the last of its commits were."""

    head: str
    bytes: int
    digest: str
    first: str
    last: str


class LogCheck:
    """The log of one store; the caller has its turn, and calls one at a time."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._log = store.with_name(f"{store.name}.wal")
        self._path = store.with_name(f"{store.name}{NOTE}")
        self.losses = store.with_name(f"{store.name}{LOST}")
        """Says what was lost, one loss a line, until somebody deletes it."""
        self._note = self._file = -1
        """The open note and the open store. Closing the latter would end DuckDB's lock, so it waits for `end`."""
        self._start("", "")

    def begin(self) -> None:
        """Compare the log with the note, before DuckDB opens the store. Raises StoreReadOnly: a loss is unrecorded."""
        self._start("", "")
        with suppress(OSError):  # opening the store says what is wrong
            self._note = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            noted = _parsed(os.pread(self._note, _ROOM, 0))
            if noted is None:
                if not os.fstat(self._note).st_size:
                    self._write(b"")  # takes its room while there is some
            elif noted.head == self._read_head():
                self._start(noted.head, noted.first)
                self._read_log(noted.bytes)
                if (self._bytes, self._digest.hexdigest()) != (noted.bytes, noted.digest):
                    self._tell(noted)
                    self._start("", "")

    def keep(self) -> None:
        """Note what the log holds after a commit, while no other is under way."""
        with suppress(OSError):  # the commit counts, note or none
            now, head = datetime.now(UTC).isoformat(timespec="seconds"), self._read_head()
            if head != self._of:
                self._start(head, now)
            self._read_log()
            note = _Note(head, self._bytes, self._digest.hexdigest(), self._first, now)
            self._write(" ".join(map(str, note)).encode() if self._bytes else b"")

    def end(self, *, taken_in: bool) -> None:
        """Let go after the store was closed; the note goes if the log was taken in."""
        with suppress(OSError):
            if taken_in and self._of:
                self._write(b"")
        for handle in (self._note, self._file):
            if handle >= 0:
                os.close(handle)
        self._note = self._file = -1

    def _start(self, head: str, first: str) -> None:
        self._of, self._first, self._bytes, self._digest = head, first, 0, hashlib.sha256()

    def _read_head(self) -> str:
        if self._file < 0:
            self._file = os.open(self._store, os.O_RDONLY | os.O_CLOEXEC)
        return hashlib.sha256(os.pread(self._file, _HEAD, 0)).hexdigest()

    def _read_log(self, most: int | None = None) -> None:
        """Read on where the last look ended."""
        with suppress(FileNotFoundError), self._log.open("rb") as log:
            log.seek(self._bytes)
            while chunk := log.read(_CHUNK if most is None else min(_CHUNK, most - self._bytes)):
                self._digest.update(chunk)
                self._bytes += len(chunk)

    def _write(self, note: bytes) -> None:
        if self._note >= 0:
            os.pwrite(self._note, (note + b" " + _check(note) if note else b"").ljust(_ROOM), 0)

    def _tell(self, noted: _Note) -> None:
        first, last = (f"{datetime.fromisoformat(each):%Y-%m-%d %H:%M:%S}" for each in (noted.first, noted.last))
        size = self._log.stat().st_size if self._log.exists() else 0
        message = (
            f"Found on {datetime.now(UTC):%Y-%m-%d at %H:%M} UTC: of what was written between {first} and {last} UTC, "
            f"some or all is lost. It was only in {self._log.name}, which was cut short, changed or deleted while "
            f"nobody used the library ({noted.bytes:,} bytes before, {size:,} now). What was written earlier is not "
            f"affected. Look for what is missing, or restore a back-up; then delete {self.losses}, which ends this "
            "message.\n"
        )
        try:
            with self.losses.open("a", encoding="utf-8") as file:
                file.write(message)
        except OSError as error:
            raise StoreReadOnly(
                f"{self.losses} cannot be written ({error.strerror}), and it has to say this before the store is "
                f"used again: {message.strip()} Make room, or make the folder writable."
            ) from error
        self._write(b"")


def _check(note: bytes) -> bytes:
    return hashlib.sha256(note).hexdigest()[:16].encode()


def _parsed(content: bytes) -> _Note | None:
    """Give a note that was written whole, and None for any other bytes."""
    note, _, check = content.strip().rpartition(b" ")
    if not note or check != _check(note):
        return None
    head, size, digest, first, last = note.decode().split(" ")
    return _Note(head, int(size), digest, first, last)
