"""Back-ups of a library, made while it is in use, and their restoring, which leaves the old library or the new."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relic_core import config
from relic_core.config import provenance
from relic_core.errors import BadRequest, NotFound, StoreError, StoreReadOnly
from relic_core.formats.backups import DATA, SETTINGS, BackupFile, BackupWriter, Manifest, is_backup
from relic_core.formats.files import written_whole
from relic_core.services.backups.collecting import Collected
from relic_core.services.backups.staging import staged, unwritable
from relic_core.store import migrations, swapping

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.ports import Progress
    from relic_core.wiring import App


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did.

    - `manifest`: what the back-up says of itself.
    - `aside`: where the library that was there before is kept; None where there was none.
    """

    manifest: Manifest
    aside: Path | None


class Backups:
    """Makes and restores back-ups of an app's data folder."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._data = app.settings.data
        self._store = app.settings.store

    def make(self, target: Path, progress: Progress, *, models: bool = True, force: bool = False) -> Manifest:
        """Write everything that cannot be made again into one file, which appears when it is whole.

        Indexes, what can be fetched again, checkpoints of trainings and jobs that are under way are left out.

        - `progress`: told how many bytes are done.
        - `models`: take the models that were trained here along.
        - `force`: also where an earlier back-up stands under that name, which is replaced when this one is whole.

        Raises NotFound: there is nothing to back up, or no folder for the file.
        Raises BadRequest: something stands under that name, or it lies inside the data folder.
        Raises StoreError: the store cannot be read, or the file cannot be written.
        """
        target = target.expanduser().absolute()
        self._check_target(target, force=force)
        self._app.jobs.recent(0)  # takes those that have ended into the store
        half = target.with_name(f".{target.name}.store")
        try:
            version = self._app.store.copy(half)
            collected = Collected(self._app.settings, models=models)
            with written_whole(target) as file, BackupWriter(file) as writer:
                os.fchmod(file.fileno(), 0o600)  # what people wrote and asked is in it
                writer.add_text(SETTINGS, config.as_file(self._app.settings))
                self._write(writer, [(self._store.name, half), *collected.files], collected.left_out, progress)
                made = Manifest(
                    program=provenance.code(),
                    store_version=version,
                    store_engine=migrations.ENGINE,
                    created=datetime.now(UTC).isoformat(timespec="seconds"),
                    works=migrations.count_works(half),
                    store=self._store.name,
                    left_out=tuple(collected.left_out),
                    members=writer.members,
                )
                writer.close(made)
        finally:
            half.unlink(missing_ok=True)
        return made

    def check(self, source: Path, progress: Progress) -> Manifest:
        """Unpack a back-up aside and hold every file of it to its manifest; the library is left alone.

        Raises NotFound, BadBackup, StoreError: as `restore` does.
        """
        with contextlib.closing(BackupFile(source)) as backup, staged(backup, self._store, progress):
            return backup.manifest

    def restore(self, source: Path, progress: Progress, *, force: bool = False) -> Restored:
        """Put a back-up in the place of the library.

        Everything is unpacked and checked beside the library first. Killed at any moment, it leaves the old library or
        the new; a move that was begun is finished by whoever next opens it. What was there is kept aside.

        - `progress`: told how many bytes are done.
        - `force`: also where the library holds something.

        Raises NotFound: there is no such file.
        Raises BadBackup: it is damaged, was changed, or is of a newer version.
        Raises BadRequest: the library holds something and `force` was not said; a job is under way.
        Raises StoreFull, StoreReadOnly, StoreBusy: as their names say.
        """
        with contextlib.closing(BackupFile(source)) as backup:
            if not force and (there := self._holds()):
                raise BadRequest(
                    f"The library {self._data} holds something already ({there}). With --force it is put aside, not "
                    "deleted; or name an empty folder with RELIC_DATA."
                )
            self._refuse_jobs()
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
        with self._app.store.alone():
            try:
                swapping.decide(self._data, folder, aside, store=self._store.name)
            except OSError as error:
                raise unwritable(self._data, error) from error
            try:
                swapping.finish(self._data)
            except OSError as error:
                raise StoreReadOnly(
                    f"The restore was begun and {self._data} cannot be written any more ({error.strerror}). It is "
                    "finished by whoever opens the library next, once it can be."
                ) from error
        return aside if aside.is_dir() else None

    def _check_target(self, target: Path, *, force: bool) -> None:
        if not self._store.is_file():
            raise NotFound(f"There is no library in {self._data} yet, so there is nothing to back up.")
        if target.is_relative_to(self._data):
            raise BadRequest(f"{target} lies in the data folder that is backed up. Name a file elsewhere.")
        if target.is_dir() or (target.exists() and not is_backup(target)):
            raise BadRequest(f"{target} is there already and is no back-up. Name another file.")
        if target.exists() and not force:
            raise BadRequest(f"{target} is an earlier back-up. Name another file, or replace it with --force.")
        if not target.parent.is_dir():
            raise NotFound(f"There is no folder {target.parent}. Make it, or name a file in another.")

    def _holds(self) -> str:
        """Say what the library holds; nothing where it is empty."""
        there = [path.name for path in swapping.contents(self._data, store=self._store.name)]
        if self._store.name not in there:
            return ", ".join(there)
        try:
            works = len(self._app.works.summaries())
        except StoreError:
            return "a store that cannot be opened"
        return "1 work" if works == 1 else f"{works:,} works"

    def _refuse_jobs(self) -> None:
        active = self._app.jobs.under_way()
        if active:
            raise BadRequest(
                f"{active[0].title} is under way. Wait for its end, or stop it (`python -m relic_core jobs`), and "
                "restore then."
            )
