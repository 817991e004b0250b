"""Opening the DuckDB file for one unit of work at a time, so that app, commands and jobs can share it.

While one process has a DuckDB file open every other is refused, even for reading. So each unit of work opens the file,
works and closes it; a process that finds it taken tries again for some seconds. Threads of one process share one
connection, opened by the first and closed by the last, and each works on a cursor of its own: a connection shared
without cursors hands one thread the rows of another.

DuckDB guards its file with a lock that the kernel drops as soon as any handle of the process on that file is closed:
one that is closed late leaves the next unguarded. A lock file of our own beside it, held from opening to closing, does
not depend on that; other programs are kept out, and are noticed, by DuckDB's.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import duckdb

from relic_core.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from relic_core.store import scrubbing, swapping
from relic_core.store.holders import holder, named
from relic_core.store.locks import acquire, held
from relic_core.store.migrations import Migration, migrate, read_migrations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from duckdb import DuckDBPyConnection

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # No statement may reach the network or another file.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    # DuckDB's own default is most of the machine, too much beside an encoder.
    "memory_limit": "1GB",
    "threads": "2",
}

_NO_ROOM = ("No space left", "Disk quota exceeded", "File too large")
"""What the system says where nothing more can be written: the disk, or the reader's share of it, is full."""


class Database:
    """One DuckDB file, shared by the threads of this process.

    Parameters
    ----------
    path : Path
        The file; made, with its folder, when first used.
    steps : tuple of Migration, optional
        In place of those that ship with the program.
    """

    _all: ClassVar[dict[Path, Database]] = {}
    _registering: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: Path, steps: tuple[Migration, ...] | None = None) -> None:
        self.path = path
        self._steps = steps
        self._connection: DuckDBPyConnection | None = None
        self._turn = -1
        """The open lock file while there is a connection."""
        self._users = 0
        self._opening = threading.Lock()
        self._writing = threading.Lock()

    @classmethod
    def at(cls, path: Path) -> Database:
        """Return the one database of this process for a path."""
        resolved = path.resolve()
        with cls._registering:
            return cls._all.setdefault(resolved, cls(resolved))

    @contextlib.contextmanager
    def reading(self, *, lock_seconds: float) -> Iterator[DuckDBPyConnection]:
        """Give a cursor for one unit of work; fetch everything inside the block.

        Parameters
        ----------
        lock_seconds : float
            How long to wait for another process that holds the file, in seconds.

        Raises
        ------
        StoreBusy, StoreTooNew, StoreReadOnly, StoreError
            As their names say.
        """
        with self._cursor(time.monotonic() + lock_seconds) as cursor:
            yield cursor

    @contextlib.contextmanager
    def writing(self, *, lock_seconds: float) -> Iterator[DuckDBPyConnection]:
        """Give a cursor inside a transaction: committed at the end of the block, dropped when anything is raised.

        One writer at a time in this process, and the file keeps other processes out, so what a block has read is
        still true when it writes. Parameters and errors as for `reading`.
        """
        # The wait begins here: writers that come together are refused together, not one behind the other.
        deadline = time.monotonic() + lock_seconds
        with self._writing, self._cursor(deadline) as cursor:
            cursor.begin()
            yield cursor
            cursor.commit()

    def scrub(self, tables: Sequence[str], *, lock_seconds: float) -> None:
        """Write over what was deleted from some tables, which the file else holds until it needs the room.

        The tables are written anew without their deleted rows; then a table of chance is made as large as all pages
        that are free, and dropped again. It takes some seconds for a file of hundreds of megabytes.

        Parameters
        ----------
        tables : sequence of str
            Names of our own tables.
        lock_seconds : float
            How long to wait for others who use the file, in seconds.

        Raises
        ------
        StoreBusy
            They use it all the while. Nothing is lost; what was deleted stays in the file till this is done again.
        """
        deadline = time.monotonic() + lock_seconds
        with self._writing, self._cursor(deadline) as cursor:
            for table in tables:
                scrubbing.write_anew(cursor, table)
            while not scrubbing.write_over_free_pages(cursor):
                if time.monotonic() >= deadline:
                    raise StoreBusy(
                        f"What was removed is deleted, but {self.path} is being read and could not be written over. "
                        "Do it again in a moment."
                    )
                _pause()

    @contextlib.contextmanager
    def alone(self, *, lock_seconds: float) -> Iterator[Path]:
        """Give the file with no connection open, in this process or another, till the block ends.

        Parameters and errors as for `reading`. Others wait for the end of the block as they wait for one another.
        """
        deadline = time.monotonic() + lock_seconds
        with self._writing, self._nobody_inside(deadline):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            turn = self._take_turn(deadline)
            try:
                self._finish_restoring()
                yield self.path
            finally:
                os.close(turn)

    @contextlib.contextmanager
    def _nobody_inside(self, deadline: float) -> Iterator[None]:
        while True:
            with self._opening:
                if self._users == 0:
                    yield
                    return
            if time.monotonic() >= deadline:
                raise self._busy(named("", str(os.getpid())))
            _pause()

    @contextlib.contextmanager
    def _cursor(self, deadline: float) -> Iterator[DuckDBPyConnection]:
        connection = self._enter(deadline)
        try:
            cursor = connection.cursor()
            try:
                yield cursor
            except duckdb.Error as error:
                if not _is_about_the_file(error):
                    raise
                raise self._told(error) from error
            finally:
                # Closing the cursor also drops a transaction that was not committed.
                cursor.close()
        finally:
            self._leave()

    def _enter(self, deadline: float) -> DuckDBPyConnection:
        with self._opening:
            if self._connection is None:
                if not self._holds_something():
                    self._create()
                self._turn = self._take_turn(deadline)
                try:
                    self._finish_restoring()
                    self._connection = self._open(self.path, deadline)
                except BaseException:
                    os.close(self._turn)
                    raise
            self._users += 1
            return self._connection

    def _leave(self) -> None:
        with self._opening:
            self._users -= 1
            if self._users == 0 and self._connection is not None:
                try:
                    self._connection.close()
                finally:
                    self._connection = None
                    os.close(self._turn)

    def _take_turn(self, deadline: float) -> int:
        """Take the lock file beside the store, waiting until `deadline`; gives its descriptor."""
        path = self.path.with_name(f"{self.path.name}.lock")
        while True:
            try:
                turn = acquire(path)
                if turn is None and time.monotonic() >= deadline:
                    raise self._busy(named("", path.read_text(encoding="ascii")))
            except OSError as error:
                raise StoreReadOnly(
                    f"The store {self.path} cannot be used: {path.name} beside it cannot be written "
                    f"({error.strerror}). Make the file and its folder writable or choose another data folder with "
                    "RELIC_DATA."
                ) from error
            if turn is not None:
                with contextlib.suppress(OSError):  # a full disk: who holds the store is then not told, that is all
                    os.truncate(turn, 0)
                    os.write(turn, str(os.getpid()).encode())
                return turn
            _pause()

    def _finish_restoring(self) -> None:
        """Do the rest of a restore that was decided and then killed, before anything is read."""
        if swapping.is_due(self.path.parent):
            try:
                swapping.finish(self.path.parent)
            except OSError as error:
                raise StoreReadOnly(
                    f"A restore of {self.path.parent} was begun and cannot be finished ({error.strerror}). Make the "
                    "folder writable, or make room; it is finished by whoever opens the library next."
                ) from error

    def _holds_something(self) -> bool:
        """Whether there is a store: a file without a byte, as a failed copy leaves, is none."""
        try:
            return self.path.stat().st_size > 0
        except OSError:
            return False  # not there, or out of reach, which making it tells

    def _create(self) -> None:
        """Make a new store under another name and rename it, so that one killed half-way leaves no broken store."""
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with held(self.path.with_name(f"{self.path.name}.creating")):
                if self._holds_something():
                    return
                new.unlink(missing_ok=True)
                Path(f"{new}.wal").unlink(missing_ok=True)
                self._open(new, time.monotonic()).close()
                new.rename(self.path)
        except OSError as error:
            raise StoreReadOnly(
                f"The data folder {self.path.parent} cannot be written ({error.strerror}). Make it writable or choose "
                "another with RELIC_DATA."
            ) from error

    def _open(self, path: Path, deadline: float) -> DuckDBPyConnection:
        """Open and, where needed, migrate; try again until `deadline` while another process holds the file."""
        while True:
            try:
                connection = duckdb.connect(path, config=CONFIG)
                break
            except duckdb.Error as error:
                told = self._told(error)
                if not isinstance(told, StoreBusy) or time.monotonic() >= deadline:
                    raise told from error
            _pause()
        try:
            migrate(connection, read_migrations() if self._steps is None else self._steps)
        except duckdb.Error as error:
            connection.close()
            raise self._told(error) from error
        except StoreError:
            connection.close()
            raise
        return connection

    def _busy(self, who: str) -> StoreBusy:
        return StoreBusy(
            f"The store {self.path} is in use by another program ({who}). Try again in a moment; "
            "if this stays, end that program."
        )

    def _told(self, error: duckdb.Error) -> StoreError:
        """Turn DuckDB's error about a file into one for a person."""
        said = str(error).strip()
        if "Could not set lock" in said:
            return self._busy(holder(said))
        if "Permission denied" in said or "Read-only file system" in said:
            return StoreReadOnly(
                f"The store {self.path} cannot be written (permission denied or a read-only disk). Make the file and "
                "its folder writable or choose another data folder with RELIC_DATA."
            )
        if any(sign in said for sign in _NO_ROOM):
            return StoreFull(f"The disk of the store {self.path} is full. Make room and try again; nothing was lost.")
        if "storage version number" in said:
            return StoreTooNew(
                f"The store {self.path} was written by another version of DuckDB than the one installed "
                f"({duckdb.__version__}). Nothing was changed. Update the program's packages."
            )
        return StoreError(
            f"The store {self.path} cannot be read: {said.rstrip('.')}. Nothing was changed. Put back a copy of it, or "
            "move it away and start with a new one."
        )


def _is_about_the_file(error: duckdb.Error) -> bool:
    """Tell trouble with the file or the disk from a fault in our SQL, which is for us and not for the reader."""
    if isinstance(error, duckdb.IOException | duckdb.FatalException):
        return True
    return any(sign in str(error) for sign in ("Corrupt database", "Failed to commit"))


def _pause() -> None:
    """Wait a moment, of uneven length, so that two who wait do not keep meeting."""
    time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 - a delay, not a secret
