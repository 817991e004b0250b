"""A copy of the store as it stands at one moment, taken while the app and commands go on using it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import duckdb

from relic_core.errors import StoreError, StoreReadOnly
from relic_core.store.engine import CONFIG
from relic_core.store.migrations import read_migrations, version

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.store.connection import Database
    from relic_core.store.turns import LockTimeout

ENGINE = str(duckdb.__version__)


def copy(database: Database, target: Path, patience: LockTimeout) -> int:
    """Copy the store's file, with all that was written to it.

    Others wait while the file is copied: a second for some hundred megabytes. Nothing is open meanwhile, and what
    DuckDB keeps beside the file was taken into it before, so the copy needs nothing but itself.

    - `target`: where to; replaced if it is there.
    - `patience`: how long to wait for others.

    Returns: the number of its last migration.

    Raises StoreError: the store cannot be opened, or its copy cannot be written.
    """
    with database.reading(patience) as cursor:  # tells what is wrong with it; brings it up to date
        number = version(cursor)
    with database.alone(patience) as path:
        try:
            with duckdb.connect(path, config=CONFIG) as connection:
                connection.execute("CHECKPOINT")
        except duckdb.Error as error:
            raise StoreError(f"The store {path} cannot be copied: {str(error).strip()}.") from error
        if path.with_name(f"{path.name}.wal").exists():
            raise StoreError(f"The store {path} cannot be copied: a program holds back what it wrote.")
        try:
            target.touch(mode=0o600)
            shutil.copyfile(path, target)
        except OSError as error:
            raise StoreReadOnly(
                f"{target} cannot be written ({error.strerror}). Name a file in a folder that is yours to write "
                "and has room."
            ) from error
    return number


def known_version() -> int:
    """Say which migration this program knows last."""
    return read_migrations()[-1].number


def count_works(path: Path) -> int:
    """Count the works of a copy, which is looked into and left as it is."""
    with duckdb.connect(path, read_only=True, config=CONFIG) as connection:
        ((number,),) = connection.execute("SELECT count(*) FROM live_works").fetchall()
    return int(number)
