"""Opening the DuckDB file for one unit of work at a time, so that app, commands and jobs can share it.

While one process has a DuckDB file open every other is refused, even for reading. So each unit of work opens the file,
works and closes it; a process that finds it taken tries again for some seconds. Threads of one process share what is
open, opened by the first and closed by the last, and each works on a cursor of its own: a connection shared without
cursors hands one thread the rows of another. Units of work that overlap without a pause would keep the file for ever;
so none is begun while another process waits, until the file was let go (`relic_core.store.locks`). A server, whose
pages read in many units of work one behind the other, keeps the file open a moment longer behind one that only read,
unless another process waits when it ends.

DuckDB goes on from one unit of work to the next, and the file alone is opened and closed
(`relic_core.store.engine`). An engine that met trouble with the file is thrown away, and a process keeps one at a time.

DuckDB guards its file with a lock that the kernel drops as soon as any handle of the process on that file is closed:
one that is closed late leaves the next unguarded. A lock file of our own beside it, held from opening to closing, does
not depend on that; other programs are kept out, and are noticed, by DuckDB's.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import duckdb
from duckdb import DuckDBPyConnection

from relic_core.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly
from relic_core.store import swapping
from relic_core.store.engine import CONFIG, Engine, busy, is_about_the_file, named, translate_error
from relic_core.store.locks import FairLock, LockTimeout, Wait, held
from relic_core.store.log_check import LogCheck
from relic_core.store.migrations import Migration, make_store, migrate, read_migrations, version

_FILLER = "scrub_filler"
_BYTES = 8
"""Of a number of the filler."""
_LOOK_SECONDS = 0.05
"""Between two looks whether another process still waits."""


class Database:
    """One DuckDB file, shared by the threads of this process; made, with its folder, when first used."""

    _all: ClassVar[dict[Path, Database]] = {}
    _registering: ClassVar[threading.Lock] = threading.Lock()
    _warm: ClassVar[Database | None] = None
    """Whose engine goes on: that of the last file a process used."""

    def __init__(self, path: Path, steps: tuple[Migration, ...] | None = None) -> None:
        self.path = path
        self._steps = steps
        self._engine = Engine(path)
        self.log = LogCheck(path)
        self._spoilt = False
        """Whether the engine met trouble with the file."""
        self._written = False
        """Whether something was written since the file was opened."""
        self._turn = -1
        """The open lock file while the file is attached."""
        self._turns = FairLock(path)
        self._users = 0
        self.linger_seconds = 0.0
        self._left = 0.0
        self._closing: threading.Timer | None = None
        self._opening = threading.Condition()
        """Held while the file is opened or closed; told when it was let go."""
        self._writing = threading.Lock()
        self._mine = threading.local()

    @classmethod
    def at(cls, path: Path) -> Database:
        """Return the one database of this process for a path."""
        resolved = path.resolve()
        with cls._registering:
            return cls._all.setdefault(resolved, cls(resolved))

    @contextlib.contextmanager
    def reading(self, patience: LockTimeout) -> Iterator[DuckDBPyConnection]:
        """Give a cursor for one unit of work; fetch everything inside the block. Raises StoreError and its kinds."""
        mine = self._mine_to_write
        if mine is not None:
            yield mine
            return
        with self._cursor(patience.begin()) as cursor:
            yield cursor

    @contextlib.contextmanager
    def writing(self, patience: LockTimeout) -> Iterator[DuckDBPyConnection]:
        """Give a cursor inside a transaction: committed at the end of the block, dropped when anything is raised.

        One writer at a time in this process, and the file keeps other processes out, so what a block has read is
        still true when it writes. What the same thread reads and writes inside the block belongs to the transaction.
        """
        mine = self._mine_to_write
        if mine is not None:
            yield mine
            return
        # The wait begins here: writers that come together are refused together, not one behind the other.
        wait = patience.begin()
        with self._writing, self._cursor(wait) as cursor:
            cursor.begin()
            self._mine.cursor = cursor
            try:
                yield cursor
            finally:
                self._mine.cursor = None
            self._written = True
            cursor.commit()
            self.log.keep()

    def scrub(self, tables: Sequence[str], patience: LockTimeout) -> None:
        """Write over what was deleted from some tables, which the file else holds until it needs the room.

        The tables are written anew without their deleted rows; then a table of chance is made as large as all pages
        that are free, and dropped again. It takes some seconds for a file of hundreds of megabytes.

        Raises StoreBusy: others use it all the while; what was deleted stays in the file till this is done again.
        """
        wait = patience.begin()
        with self._writing, self._cursor(wait) as cursor:
            for table in tables:
                _write_anew(cursor, table)
            while not _write_over_free_pages(cursor):
                if wait.over:
                    raise StoreBusy(
                        f"What was removed is deleted, but {self.path} is being read and could not be written over. "
                        "Do it again in a moment."
                    )
                wait.pause()

    @contextlib.contextmanager
    def alone(self, patience: LockTimeout) -> Iterator[Path]:
        """Give the file while nobody, in no process, has it open. Parameters and errors as for `reading`."""
        wait = patience.begin()
        with self._writing, self._opening:
            while self._users and not wait.over:
                self._opening.wait(_LOOK_SECONDS)
            if self._users:
                raise busy(self.path, named("", str(os.getpid())))
            self._close()
            self._engine.stop()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            turn = self._take_turn(wait)
            try:
                self._finish_restoring()
                yield self.path
            finally:
                os.close(turn)

    def copy(self, target: Path, patience: LockTimeout) -> int:
        """Copy the file as it stands at one moment over `target`; give its last migration's number.

        Others wait meanwhile: a second for some hundred megabytes. What DuckDB keeps beside the file is taken into the
        copy, which needs nothing but itself.
        """
        with self.reading(patience) as cursor:  # tells what is wrong with it; brings it up to date
            number = version(cursor)
        beside, copied = (each.with_name(f"{each.name}.wal") for each in (self.path, target))
        try:
            with self.alone(patience) as path:
                target.touch(mode=0o600)
                shutil.copyfile(path, target)
                if beside.exists():  # its own disk may have no room to take this in; that of the copy has
                    copied.touch(mode=0o600)
                    shutil.copyfile(beside, copied)
            with duckdb.connect(target, config=CONFIG) as connection:
                connection.execute("CHECKPOINT")
        except duckdb.Error as error:
            raise StoreError(f"The store {self.path} cannot be copied: {str(error).strip()}.") from error
        except OSError as error:
            raise StoreReadOnly(
                f"{target} cannot be written ({error.strerror}). Name a file in a folder that is yours to write "
                "and has room."
            ) from error
        finally:
            copied.unlink(missing_ok=True)
        return number

    @classmethod
    def rest_at_exit(cls) -> None:
        """Stop what goes on before Python takes itself apart."""
        if cls._warm is not None:
            cls._warm.rest()

    def rest(self) -> None:
        """Stop DuckDB unless it is in use; the next unit of work starts it again."""
        if self._opening.acquire(blocking=False):
            try:
                if self._users == 0:
                    with contextlib.suppress(StoreError):  # it was only read
                        self._close()
                    self._engine.stop()
            finally:
                self._opening.release()

    @contextlib.contextmanager
    def _cursor(self, wait: Wait) -> Iterator[DuckDBPyConnection]:
        self._enter(wait)
        try:
            with self._engine.cursor() as cursor:  # which drops a transaction that was not committed
                yield cursor
        except duckdb.Error as error:
            if not is_about_the_file(error):
                raise
            self._spoilt = True
            raise translate_error(self.path, error) from error
        finally:
            self._leave()

    def _enter(self, wait: Wait) -> None:
        with self._opening:
            # A unit of work within another of its thread would wait for itself.
            while self._users and not self._begun and self._turns.wanted() and not wait.over:
                wait.tell()
                self._opening.wait(_LOOK_SECONDS)
            if self._turn >= 0 and not self._users and self._turns.wanted():
                self._close()
            if self._turn < 0:
                if not self._is_there():
                    self._create()
                self._turn = self._take_turn(wait)
                self._spoilt = self._written = False
                try:
                    self._finish_restoring()
                    self._keep_warm()
                    self.log.begin()
                    self._attach(wait)
                except BaseException:
                    self._engine.stop()
                    self.log.end(taken_in=False)
                    self._give_turn()
                    raise
            self._users += 1
            self._begun += 1

    def _leave(self) -> None:
        with self._opening:
            self._users -= 1
            self._begun -= 1
            if self._users == 0:
                self._opening.notify_all()
                if not self.linger_seconds or self._spoilt or self._written or self._turns.wanted():
                    self._close()
                else:
                    self._left = time.monotonic()
                    if self._closing is None:
                        self._close_after(self.linger_seconds)

    def _close_after(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._close_idle)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # the system gives no more threads
            self._close()
        else:
            self._closing = timer

    def _close_idle(self) -> None:
        with self._opening:
            self._closing = None
            if self._users or self._turn < 0:
                return
            if (left := self._left + self.linger_seconds - time.monotonic()) > 0:
                self._close_after(left)
                return
            with contextlib.suppress(StoreError):  # it was only read, and the next unit of work meets it too
                self._close()

    def _close(self) -> None:
        """Close the file, if it is open; the caller holds `_opening`, and no unit of work is under way."""
        if self._turn < 0:
            return
        taken_in = False
        try:
            if self._spoilt:
                self._engine.stop()
            else:
                self._engine.detach()
                taken_in = True
        except duckdb.Error as error:
            self._engine.stop()
            trouble = translate_error(self.path, error)
            if not isinstance(trouble, StoreFull):  # what was committed lies beside the file till there is room
                raise trouble from error
        finally:
            self.log.end(taken_in=taken_in)
            self._give_turn()

    def _give_turn(self) -> None:
        os.close(self._turn)
        self._turn = -1

    def _keep_warm(self) -> None:
        """Let this engine go on between units of work, and that of the file used before rest."""
        with self._registering:
            before, Database._warm = Database._warm, self
        if before is not None and before is not self:
            before.rest()

    def _attach(self, wait: Wait) -> None:
        """Open the file, trying again while another process holds it, as long as the wait lasts; migrate if needed."""
        while True:
            try:
                self._engine.attach()
                break
            except duckdb.Error as error:
                trouble = translate_error(self.path, error)
                if not isinstance(trouble, StoreBusy) or wait.over:
                    raise trouble from error
            wait.pause()
        try:
            with self._engine.cursor() as cursor:
                migrate(cursor, read_migrations() if self._steps is None else self._steps)
        except duckdb.Error as error:
            raise translate_error(self.path, error) from error

    @property
    def _mine_to_write(self) -> DuckDBPyConnection | None:
        """The cursor of the transaction that this thread is in, if it is in one."""
        cursor: DuckDBPyConnection | None = getattr(self._mine, "cursor", None)
        return cursor

    @property
    def _begun(self) -> int:
        """How many units of work this thread is in."""
        return getattr(self._mine, "begun", 0)

    @_begun.setter
    def _begun(self, begun: int) -> None:
        self._mine.begun = begun

    def _take_turn(self, wait: Wait) -> int:
        """Take the lock file beside the store, as long as the wait lasts; gives its descriptor."""
        try:
            turn = self._turns.take(wait)
            if turn is None:
                raise busy(self.path, named("", self._turns.holder()))
        except OSError as error:
            raise StoreReadOnly(
                f"The store {self.path} cannot be used: {self._turns.path.name} beside it cannot be written "
                f"({error.strerror}). Make the file and its folder writable or choose another data folder with "
                "RELIC_DATA."
            ) from error
        return turn

    def _finish_restoring(self) -> None:
        """Do the rest of a restore that was decided and then killed, before anything is read."""
        if swapping.is_due(self.path.parent):
            try:
                swapping.finish(self.path.parent)
            except OSError as error:
                raise StoreReadOnly(
                    f"A restore of {self.path.parent} was begun and cannot be finished ({error.strerror}). Make the "
                    "folder writable, or make room; it is finished when somebody next opens the library."
                ) from error

    def _is_there(self) -> bool:
        """Whether there is a store, or will be. Raises StoreError: it was emptied, or only its log is left."""
        size, log = _size(self.path), self.path.with_name(f"{self.path.name}.wal")
        if size is None and not _size(log):
            return False  # not there, or out of reach, which making it tells
        if size or swapping.is_due(self.path.parent):
            return True
        what = "is empty (0 bytes)" if size == 0 else f"is gone, and {log.name}, which belongs to it, is still there"
        raise StoreError(
            f"The store {self.path} {what}. This program leaves no such thing: it was damaged. Nothing was changed. "
            "Restore a back-up (`python -m relic_core restore FILE.zip --force`). If nothing was ever kept here, "
            f"delete {self.path.name if size == 0 else log.name} and start again."
        )

    def _create(self) -> None:
        """Make a new store under another name and rename it, so that one killed half-way leaves no broken store."""
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with held(self.path.with_name(f"{self.path.name}.creating")):
                if self._is_there():
                    return
                new.unlink(missing_ok=True)
                Path(f"{new}.wal").unlink(missing_ok=True)
                make_store(new, self._steps)
                new.rename(self.path)
        except duckdb.Error as error:
            raise translate_error(self.path, error) from error
        except OSError as error:
            raise StoreReadOnly(
                f"The data folder {self.path.parent} cannot be written ({error.strerror}). Make it writable or choose "
                "another with RELIC_DATA."
            ) from error


def _size(path: Path) -> int | None:
    """Give the size of a file; None where it is not there or out of reach."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def _write_anew(cursor: DuckDBPyConnection, table: str) -> None:
    """Write a table of our own, without indexes, anew without its deleted rows; its pages become free."""
    cursor.begin()
    ((made,),) = cursor.execute(
        "SELECT sql FROM duckdb_tables() WHERE database_name = current_database() AND table_name = ?", [table]
    ).fetchall()
    anew = f"{table}_anew"
    cursor.execute(made.replace(f"TABLE {table}(", f"TABLE {anew}(", 1))
    cursor.execute(f"INSERT INTO {anew} SELECT * FROM {table} ORDER BY rowid")  # noqa: S608 - names of our own tables
    cursor.execute(f"DROP TABLE {table}")
    cursor.execute(f"ALTER TABLE {anew} RENAME TO {table}")
    cursor.commit()


def _write_over_free_pages(cursor: DuckDBPyConnection) -> bool:
    """Fill every free page with numbers drawn by chance, and free it again; false where others read just now."""
    try:
        _done(cursor, f"DROP TABLE IF EXISTS {_FILLER}")
        _done(cursor, "CHECKPOINT")
        ((free, size),) = cursor.execute(
            "SELECT free_blocks, block_size FROM pragma_database_size() WHERE database_name = current_database()"
        ).fetchall()
        # Numbers by chance are not compressed, so that they take the room that they should.
        numbers = (free + 1) * size // _BYTES
        _done(cursor, f"CREATE TABLE {_FILLER} AS SELECT (random() * 9e18)::BIGINT AS n FROM range({numbers})")  # noqa: S608 - a number of ours
        _done(cursor, "CHECKPOINT")
        _done(cursor, f"DROP TABLE {_FILLER}")
        _done(cursor, "CHECKPOINT")
    except duckdb.TransactionException:
        return False
    return True


def _done(cursor: DuckDBPyConnection, statement: str) -> None:
    """Run a statement to its end: one whose result was not fetched is still under way, and stops a checkpoint."""
    cursor.execute(statement).fetchall()


atexit.register(Database.rest_at_exit)
