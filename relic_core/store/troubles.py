"""DuckDB's errors about a file, translated for the person who meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from relic_core.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from relic_core.store.holders import holder

if TYPE_CHECKING:
    from pathlib import Path

_NO_ROOM = ("No space left", "Disk quota exceeded", "File too large")
"""What the system says where nothing more can be written: the disk, or the reader's share of it, is full."""


def is_about_the_file(error: duckdb.Error) -> bool:
    """Tell trouble with the file or the disk from a fault in our SQL, which is for us and not for the reader."""
    if isinstance(error, duckdb.IOException | duckdb.FatalException):
        return True
    return any(sign in str(error) for sign in ("Corrupt database", "Failed to commit"))


def busy(path: Path, who: str) -> StoreBusy:
    """Say that somebody else uses the store.

    - `who`: as `relic_core.store.holders` names it.
    """
    return StoreBusy(
        f"The store {path} is in use by another program ({who}). Try again in a moment; "
        "if this stays, end that program."
    )


def translate_error(path: Path, error: duckdb.Error) -> StoreError:
    """Turn DuckDB's error about a file into one for a person."""
    said = str(error).strip()
    if "Could not set lock" in said:
        return busy(path, holder(said))
    if "Permission denied" in said or "Read-only file system" in said:
        return StoreReadOnly(
            f"The store {path} cannot be written (permission denied or a read-only disk). Make the file and "
            "its folder writable or choose another data folder with RELIC_DATA."
        )
    if any(sign in said for sign in _NO_ROOM):
        return StoreFull(f"The disk of the store {path} is full. Make room and try again; nothing was lost.")
    if "storage version number" in said:
        return StoreTooNew(
            f"The store {path} was written by another version of DuckDB than the one installed "
            f"({duckdb.__version__}). Nothing was changed. Update the program's packages."
        )
    return StoreError(
        f"The store {path} cannot be read: {said.rstrip('.')}. Nothing was changed. Put back a copy of it, or "
        "move it away and start with a new one."
    )
