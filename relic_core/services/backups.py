"""Back-ups of a library, made while it is in use, and their restoring, which leaves the old library or the new."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from relic_core import config
from relic_core.config import Settings, provenance
from relic_core.domain import WorkSummary
from relic_core.domain.figures import many
from relic_core.errors import (
    BadBackup,
    BadRequest,
    NotFound,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from relic_core.formats.backups import DATA, SETTINGS, BackupFile, BackupWriter, Manifest, is_backup
from relic_core.formats.files import check_path, written_whole
from relic_core.library.sample import SOURCE as SAMPLE
from relic_core.ports import Progress
from relic_core.services.jobs import Jobs
from relic_core.services.models import choices_file
from relic_core.store import Store, migrations, swapping
from relic_core.store.locks import acquire, is_held
from relic_core.store.log_check import LOST, NOTE
from relic_core.training.folders import CHECKPOINTS, FOLDER, MODEL

_ROOM = 50_000_000
"""Bytes that a restore leaves free."""
_LOCK = ".restoring.lock"
_BEGUN = ".backing-up-"
"""Beginning of the names of files, held while a back-up is made, that say where its copy and its half stand."""
_LONGEST_PATH = 4_096
"""Bytes of a path; taking apart one of megabytes would take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did; `aside` is where the library that was there before is kept, if there was one."""

    manifest: Manifest
    aside: Path | None


class Backups:
    """Makes and restores back-ups of a data folder; `copy` and `alone` are those of its store."""

    def __init__(
        self,
        settings: Settings,
        jobs: Jobs,
        copy: Callable[[Path], int],
        alone: Callable[[], AbstractContextManager[Path]],
        summaries: Callable[[], tuple[WorkSummary, ...]],
    ) -> None:
        self._settings, self._jobs, self._copy, self._alone, self._summaries = settings, jobs, copy, alone, summaries
        self._data, self._store = settings.data, settings.store

    def make(
        self, target: Path, progress: Progress, *, models: bool = True, force: bool = False, even_empty: bool = False
    ) -> Manifest:
        """Write everything that cannot be made again into one file, which appears when it is whole and was read.

        - `even_empty`: with `force`, a library without works may replace a back-up that has some.

        Indexes, what can be fetched again, checkpoints of trainings and jobs that are under way are left out.
        """
        check_path(target)
        target = target.expanduser().absolute()
        self._check_target(target, force=force)
        if target.exists() and not even_empty:
            self._refuse_emptied(target)
        with contextlib.suppress(StoreFull):
            self._jobs.recent(0)  # takes those that have ended into the store
        self.sweep()
        half = target.with_name(f".{target.name}.store")
        with contextlib.ExitStack() as done:
            done.enter_context(_begun(self._data, target))
            done.callback(half.unlink, missing_ok=True)
            version = self._copy(half)
            try:
                works = migrations.read_copy(half)
            except StoreError as error:
                raise StoreError(
                    f"The store {self._store} is damaged and was not backed up; an earlier back-up stays as it was. "
                    f"{str(error).rstrip('.')}. Restore the last back-up that `restore --check` finds whole."
                ) from error
            collected = Collected(self._settings, models=models)
            with written_whole(target) as file, BackupWriter(file) as writer:
                os.fchmod(file.fileno(), 0o600)  # what people wrote and asked is in it
                writer.add_text(SETTINGS, config.as_file(self._settings))
                self._write(writer, [(self._store.name, half), *collected.files], collected.left_out, progress)
                made = Manifest(
                    program=provenance.code(),
                    store_version=version,
                    store_engine=migrations.ENGINE,
                    created=datetime.now(UTC).isoformat(timespec="seconds"),
                    works=works,
                    own=sum(work.source != SAMPLE for work in self._summaries()),
                    store=self._store.name,
                    left_out=tuple(collected.left_out),
                    members=writer.members,
                )
                writer.close(made)
        return made

    def sweep(self) -> None:
        """Take away what killed back-ups and restores left, unless a restore is under way; what cannot be stays."""
        with contextlib.suppress(OSError):
            turn = acquire(self._data / _LOCK) if self._data.is_dir() else None
            if turn is not None:
                try:
                    for left in leftovers(self._data, alone=True):
                        shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
                finally:
                    os.close(turn)

    def check(self, source: Path, progress: Progress) -> Manifest:
        """Unpack a back-up aside and hold every file of it to its manifest; raises as `restore`."""
        self.sweep()
        with contextlib.closing(BackupFile(source)) as backup, staged(backup, self._store, progress):
            return backup.manifest

    def restore(self, source: Path, progress: Progress, *, force: bool = False) -> Restored:
        """Put a back-up in the place of the library.

        Everything is unpacked and checked beside the library first. Killed at any moment, it leaves the old library or
        the new; a move that was begun is finished when it is next opened. What was there is kept aside.

        Raises BadRequest: the library holds something and `force` was not said; a job is under way.
        """
        with contextlib.closing(BackupFile(source)) as backup:
            if not force and (there := self._holds()):
                raise BadRequest(
                    f"The library {self._data} holds something already ({there}). With --force it is put aside, not "
                    "deleted; or name an empty folder with RELIC_DATA."
                )
            self._refuse_jobs()
            self.sweep()
            with staged(backup, self._store, progress) as folder:
                aside = self._swap(folder)
            return Restored(manifest=backup.manifest, aside=aside)

    def _write(
        self, writer: BackupWriter, files: list[tuple[str, Path]], left_out: list[str], progress: Progress
    ) -> None:
        total, done = sum(path.stat().st_size for _, path in files if path.is_file()), 0
        for name, path in files:
            progress(done, total, name)
            try:
                done += writer.add(DATA + name, path).bytes
            except FileNotFoundError:
                left_out.append(f"{name}: removed while the back-up was made")
        progress(total, total)

    def _swap(self, folder: Path) -> Path | None:
        aside = self._data / f"{swapping.ASIDE}{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
        with self._alone():
            try:
                swapping.decide(self._data, folder, aside, store=self._store.name)
            except OSError as error:
                raise unwritable(self._data, error) from error
            try:
                swapping.finish(self._data)
            except OSError as error:
                raise StoreReadOnly(
                    f"The restore was begun and {self._data} cannot be written any more ({error.strerror}). It is "
                    "finished when somebody next opens the library, once it can be written."
                ) from error
        return aside if aside.is_dir() else None

    def _check_target(self, target: Path, *, force: bool) -> None:
        if not self._store.is_file():
            raise NotFound(f"There is no library in {self._data} yet, so there is nothing to back up.")
        if target.is_relative_to(self._data):
            raise BadRequest(f"{target} lies in the data folder that is backed up. Name a file elsewhere.")
        if target.is_dir() or (target.exists() and not is_backup(target)):
            raise BadRequest(f"{target} is there already and is not a back-up. Name another file.")
        if target.exists() and not force:
            raise BadRequest(f"{target} is an earlier back-up. Name another file, or replace it with --force.")
        if not target.parent.is_dir():
            raise NotFound(f"There is no folder {target.parent}. Make it, or name a file in another.")

    def _refuse_emptied(self, target: Path) -> None:
        """Refuse to replace a back-up by one without works where it has, or may have, some; the sample is none."""
        works = self._summaries()
        if any(work.source != SAMPLE for work in works):
            return
        there = own = None
        with contextlib.suppress(BadBackup), contextlib.closing(BackupFile(target)) as earlier:
            there, own = earlier.manifest.works, earlier.manifest.own
        if there is None or (there > len(works) if own is None else own):
            raise BadRequest(
                f"The library has no works{' but the sample' if works else ''}, and {target}, an earlier back-up, has "
                f"{'an unknown number' if there is None else f'{there:,}'}. It was not replaced. If works are missing "
                "by mistake, restore it. To replace it all the same, add --even-empty."
            )

    def _holds(self) -> str:
        about = {f"{self._store.name}{end}" for end in (NOTE, LOST)}  # what they are about is what counts
        there = [path.name for path in swapping.contents(self._data, store=self._store.name) if path.name not in about]
        if self._store.name not in there:
            return ", ".join(there)
        try:
            works = len(self._summaries())
        except StoreError:
            return "a store that cannot be opened"
        return many(works, "work")

    def _refuse_jobs(self) -> None:
        active = self._jobs.under_way()
        if active:
            raise BadRequest(
                f"{active[0].title} is under way. Wait for its end, or stop it (`python -m relic_core jobs`), and "
                "restore then."
            )


class Collected:
    """The files of a data folder that go into a back-up, beside the store, and what does not, and why."""

    def __init__(self, settings: Settings, *, models: bool) -> None:
        self._settings = settings
        self._data = settings.data
        self._unwanted = {CHECKPOINTS: "steps in between of a training"} | ({} if models else {MODEL: "not asked for"})
        self.left_out = ["indexes: they can be built again"]
        self.files = tuple(self._files(models=models))

    def _files(self, *, models: bool) -> Iterator[tuple[str, Path]]:
        for top in swapping.contents(self._data, store=self._settings.store.name):
            if top.name.startswith(self._settings.store.name):
                continue
            if top == self._settings.jobs:
                self.left_out.append("jobs: those that have ended are in the store")
            elif top == choices_file(self._data) and not models:
                self.left_out.append(f"{top.name}: it chooses among models that are left out")
            else:
                yield from self._below(top)
        if (self._data / swapping.FETCHED).is_dir():
            self.left_out.append(f"{swapping.FETCHED}: they can be fetched again")

    def _below(self, top: Path) -> Iterator[tuple[str, Path]]:
        name = top.relative_to(self._data).as_posix()
        if top.is_symlink():
            self.left_out.append(f"{name}: a link")
        elif top.is_file():
            if not top.name.endswith(".lock"):
                yield name, top
        elif top.parent.parent == self._data / FOLDER and top.name in self._unwanted:
            self.left_out.append(f"{name}: {self._unwanted[top.name]}")
        elif top.is_dir():
            for path in sorted(top.iterdir()):
                if not path.name.startswith("."):
                    yield from self._below(path)


@contextlib.contextmanager
def staged(backup: BackupFile, store: Path, progress: Progress) -> Iterator[Path]:
    """Unpack a back-up into a folder inside the data folder, check all of it, and take it away again if it is not used.

    The store is in it under the library's own name. Raises BadBackup, or BadRequest: another is being restored.
    """
    _refuse_newer(backup)
    _refuse_moves(backup)
    data = store.parent
    with _one_at_a_time(data):
        folder = _made(data, backup.manifest.bytes)
        try:
            _unpack(backup, folder, progress)
            _try_store(backup, folder, store.name)
            yield folder
        finally:
            if not swapping.is_due(data):
                shutil.rmtree(folder, ignore_errors=True)


def leftovers(data: Path, *, alone: bool = False) -> list[Path]:
    """List copies of what people wrote that killed back-ups left, and `alone`, while nothing is restored, restores."""
    found: list[Path] = []
    if not swapping.is_due(data) and (alone or not is_held(data / _LOCK)):
        found += [*data.glob(f"{swapping.STAGED}*"), *data.glob(f".{swapping.MARKER}.*.half")]
    for record in data.glob(f"{_BEGUN}*"):
        if not is_held(record):
            with record.open("rb") as file:
                target = Path(os.fsdecode(file.read(_LONGEST_PATH)))
            beside = glob.escape(f".{target.name}.")
            with contextlib.suppress(OSError, ValueError):  # the record is damaged
                if target.name:
                    found += [*target.parent.glob(f"{beside}store*"), *target.parent.glob(f"{beside}*.half")]
            found.append(record)  # the last: it says where the others are
    return found


@contextlib.contextmanager
def _begun(data: Path, target: Path) -> Iterator[None]:
    """Write down where a back-up is being made, for as long as it is."""
    record, held = data / f"{_BEGUN}{secrets.token_hex(4)}", None
    try:
        held = acquire(record)
        record.write_bytes(os.fsencode(target))
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:  # a full disk is what one backs up to another from
            raise unwritable(data, error) from error
    try:
        yield
    finally:
        record.unlink(missing_ok=True)
        if held is not None:
            os.close(held)


def unwritable(data: Path, error: OSError) -> StoreReadOnly:
    """Make the error of a data folder that cannot be written."""
    return StoreReadOnly(
        f"The data folder {data} cannot be written ({error.strerror}). Make it writable or choose another with "
        "RELIC_DATA."
    )


def _refuse_newer(backup: BackupFile) -> None:
    known, manifest = migrations.known_version(), backup.manifest
    if manifest.store_version > known:
        raise BadBackup(
            f"{backup.path} was made by a newer version of this program ({manifest.program}; its store is at version "
            f"{manifest.store_version}, this program knows versions up to {known}). Nothing was changed. Update the "
            "program and restore again."
        )


def _refuse_moves(backup: BackupFile) -> None:
    """Refuse what only a restore writes: a process that opened the store beside it would move files as it says."""
    for name in backup.manifest.members:
        top = name.removeprefix(DATA).split("/")[0]
        if top == swapping.MARKER or top.startswith((swapping.ASIDE, ".")):
            raise BadBackup(
                f"{backup.path} cannot be restored: its member {name[:200]} is none that a back-up has. Nothing was "
                "changed. Take another back-up."
            )


@contextlib.contextmanager
def _one_at_a_time(data: Path) -> Iterator[None]:
    try:
        data.mkdir(parents=True, exist_ok=True)
        turn = acquire(data / _LOCK)
    except OSError as error:
        raise unwritable(data, error) from error
    if turn is None:
        raise BadRequest(f"A back-up is being restored into {data} already. Wait for its end.")
    try:
        yield
    finally:
        os.close(turn)


def _made(data: Path, size: int) -> Path:
    try:
        if shutil.disk_usage(data).free < size + _ROOM:
            raise StoreFull(
                f"The back-up unpacks to {size:,} bytes, and the disk of {data} has no room for it beside what is "
                "there. Make room and restore again; nothing was changed."
            )
        return Path(tempfile.mkdtemp(prefix=swapping.STAGED, dir=data))
    except OSError as error:
        raise unwritable(data, error) from error


def _unpack(backup: BackupFile, folder: Path, progress: Progress) -> None:
    done = 0
    for name, member in backup.manifest.members.items():
        progress(done, backup.manifest.bytes, name.removeprefix(DATA))
        path = folder / (f".{SETTINGS}" if name == SETTINGS else name.removeprefix(DATA))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            backup.unpack(name, path)
            with path.open("rb") as file:
                os.fsync(file.fileno())
        except OSError as error:
            raise unwritable(folder.parent, error) from error
        done += member.bytes
    (folder / f".{SETTINGS}").unlink()  # those in force stay


def _try_store(backup: BackupFile, folder: Path, name: str) -> None:
    """Read all of the store of the back-up, and open it, which also brings it up to date."""
    path = folder / name
    named = folder / backup.manifest.store
    if named != path:
        named.rename(path)
    try:
        migrations.check_schema(path, backup.manifest.store_version)
        migrations.read_copy(path)
        store = Store(path).works
        works, names = len(store.summaries()), [work.id for work in (*store.summaries(), *store.removed())]
    except StoreError as error:
        raise BadBackup(f"The store in {backup.path} cannot be opened. {error} Take another back-up.") from error
    if odd := [name for name in names if "/" in name or "\0" in name or name in {"", ".", ".."}]:
        raise BadBackup(
            f"The store in {backup.path} has a work '{odd[0]:.80}', whose indexes would lie outside their folder. "
            "Nothing was done. Take another back-up."
        )
    if works != backup.manifest.works:
        raise BadBackup(
            f"The store in {backup.path} has {works:,} works, and its manifest says {backup.manifest.works:,}: it was "
            "changed. Nothing was done. Take another back-up."
        )
    for beside in folder.glob(f"{name}.*"):  # its locks
        if beside.is_file():
            beside.unlink()
