"""A back-up unpacked beside the library and checked to the last byte, before anything is decided."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.errors import BadBackup, BadRequest, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from relic_core.formats.backups import DATA, SETTINGS
from relic_core.store import Store, migrations, swapping
from relic_core.store.locks import acquire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relic_core.formats.backups import BackupFile
    from relic_core.ports import Progress

_ROOM = 50_000_000
"""Bytes that a restore leaves free."""
_LOCK = ".restoring.lock"


@contextlib.contextmanager
def staged(backup: BackupFile, store: Path, progress: Progress) -> Iterator[Path]:
    """Unpack a back-up into a folder inside the data folder, check all of it, and take it away again if it is not used.

    - `store`: the store of the library; its folder is the data folder.
    - `progress`: told how many bytes are done.

    Yields: the folder, with the store under the library's own name.

    Raises BadBackup: it is of a newer version, damaged, or was changed.
    Raises BadRequest: another one is being restored.
    Raises StoreFull, StoreReadOnly: it cannot be unpacked.
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


def unwritable(data: Path, error: OSError) -> StoreReadOnly:
    """Make the error of a data folder that cannot be written."""
    return StoreReadOnly(
        f"The data folder {data} cannot be written ({error.strerror}). Make it writable or choose another with "
        "RELIC_DATA."
    )


def _refuse_newer(backup: BackupFile) -> None:
    known, said = migrations.known_version(), backup.manifest
    if said.store_version > known:
        raise BadBackup(
            f"{backup.path} was made by a newer version of this program ({said.program}; its store is at version "
            f"{said.store_version}, this program knows versions up to {known}). Nothing was changed. Update the "
            "program and restore again."
        )


def _refuse_moves(backup: BackupFile) -> None:
    """Refuse what only a restore writes: whoever opened the store beside it would move files as it says."""
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
    """Make the folder, where there is room, and clear away what one that was killed before it decided has left."""
    try:
        if not swapping.is_due(data):
            for left in data.glob(f"{swapping.STAGED}*"):
                shutil.rmtree(left, ignore_errors=True)
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
        path = folder / name.removeprefix(DATA)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            backup.unpack(name, path)
            with path.open("rb") as file:
                os.fsync(file.fileno())
        except OSError as error:
            raise unwritable(folder.parent, error) from error
        done += member.bytes
    (folder / SETTINGS).unlink()  # those in force stay


def _try_store(backup: BackupFile, folder: Path, name: str) -> None:
    """Open the store of the back-up, which also brings it up to date."""
    path = folder / name
    named = folder / backup.manifest.store
    if named != path:
        named.rename(path)
    try:
        works = len(Store(path).works.summaries())
    except StoreTooNew as error:
        raise BadBackup(f"{backup.path} was made by a newer version of this program. {error}") from error
    except StoreError as error:
        raise BadBackup(f"The store in {backup.path} cannot be opened. {error}") from error
    if works != backup.manifest.works:
        raise BadBackup(
            f"The store in {backup.path} has {works:,} works, and its manifest says {backup.manifest.works:,}: it was "
            "changed. Nothing was done. Take another back-up."
        )
    for beside in folder.glob(f"{name}.*"):  # its locks
        if beside.is_file():
            beside.unlink()
