"""DuckDB, started once and given a file for as long as one is needed, and its errors in words for a person.

Starting DuckDB costs eight times as much as opening a file. So it is started without a file of its own; the store's is
attached to it and detached again, which closes the file and gives up DuckDB's lock on it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from relic_core.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreTooNew

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # No statement may reach the network or another file.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # DuckDB's own default is most of the machine, too much beside an encoder.
    "memory_limit": "1GB",
    "threads": "2",
}

_NAME = "store"
"""What the file is called inside."""

_BESIDE = (".wal", ".wal.checkpoint", ".wal.recovery")


class Engine:
    """DuckDB for one file, and no other; calls of several threads must come one after the other, but for `cursor`."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._running: DuckDBPyConnection | None = None

    def attach(self) -> None:
        """Open the file, which is there; DuckDB is started where it does not run."""
        written = self._path.replace("'", "''")
        self._started().execute(f"ATTACH '{written}' AS {_NAME} (TYPE duckdb)")

    def detach(self) -> None:
        """Close the file; no cursor may be open."""
        self._started().execute(f"DETACH {_NAME}")

    @contextlib.contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """Give a cursor on the file; closing it drops a transaction that was not committed."""
        with contextlib.closing(self._started().cursor()) as cursor:
            cursor.execute(f"USE {_NAME}")
            yield cursor

    def stop(self) -> None:
        """Stop DuckDB, which closes whatever it holds."""
        if self._running is not None:
            try:
                self._running.close()
            finally:
                self._running = None

    def _started(self) -> DuckDBPyConnection:
        if self._running is None:
            overflow = f"{self._path}.tmp"
            self._running = duckdb.connect(":memory:", config=CONFIG | {"temp_directory": overflow})
            self._running.execute("SET allowed_directories = ?", [[overflow]])
            self._running.execute("SET allowed_paths = ?", [[self._path, *(self._path + end for end in _BESIDE)]])
            self._running.execute("SET enable_external_access = false")
        return self._running


_NO_ROOM = ("No space left", "Disk quota exceeded", "File too large")
"""What the system says where nothing more can be written: the disk, or the reader's share of it, is full."""


def is_about_the_file(error: duckdb.Error) -> bool:
    """Tell trouble with the file or the disk from a fault in our SQL, which is for us and not for the reader."""
    if isinstance(error, duckdb.IOException | duckdb.FatalException):
        return True
    return any(sign in str(error) for sign in ("Corrupt database", "Failed to commit"))


def busy(path: Path, who: str) -> StoreBusy:
    """Say that somebody else uses the store; `who` as `named` does."""
    return StoreBusy(
        f"The store {path} is in use by another program ({who}). Try again in a moment; "
        "if this stays, end that program."
    )


def translate_error(path: Path, error: duckdb.Error) -> StoreError:
    """Turn DuckDB's error about a file into one for a person."""
    message = str(error).strip()
    if "Could not set lock" in message:
        return busy(path, holder(message))
    if "Permission denied" in message or "Read-only file system" in message:
        return StoreReadOnly(
            f"The store {path} cannot be written (permission denied or a read-only disk). Make the file and "
            "its folder writable or choose another data folder with RELIC_DATA."
        )
    if any(sign in message for sign in _NO_ROOM):
        return StoreFull(f"The disk of the store {path} is full. Make room and try again; nothing was lost.")
    if "storage version number" in message:
        return StoreTooNew(
            f"The store {path} was written by another version of DuckDB than the one installed "
            f"({duckdb.__version__}). Nothing was changed. Update the program's packages."
        )
    return StoreError(
        f"The store {path} cannot be read: {message.rstrip('.')}. Nothing was changed. Put back a copy of it, or "
        "move it away and start with a new one."
    )


def holder(message: str) -> str:
    """Name the process in DuckDB's message about a lock.

    >>> holder("Conflicting lock is held in /usr/bin/python3.11 (PID 0). See also ...")
    '/usr/bin/python3.11, process 0'
    >>> holder("Could not set lock on file")
    'it does not say which'
    """
    found = re.search(r"held in (.+?) \(PID (\d+)\)", message)
    return named(found[1], found[2]) if found else named("", "")


def named(command: str, process: str) -> str:
    """Name a process by its number, with its command as far as the system tells it."""
    if not process:
        return "it does not say which"
    with contextlib.suppress(OSError):  # no /proc outside Linux, and the process may just have ended
        arguments = Path("/proc", process, "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        command = " ".join(os.fsdecode(argument) for argument in arguments)[:200] or command
    return f"{command}, process {process}" if command else f"process {process}"
