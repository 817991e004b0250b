"""Folders that are written whole or not at all, and what is said where the disk has no room for them."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from typing import TYPE_CHECKING

from safetensors import SafetensorError

from relic_core.errors import StoreError, StoreFull

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT}
_SAID = ("no space left", "disk quota", "file write failed", "unexpected pos", "inline_container")
"""What torch and safetensors say where a file could not be written to its end."""


@contextlib.contextmanager
def room_for(path: Path) -> Iterator[None]:
    """Tell of a disk that has no room, or does not let itself be written, in words.

    Raises StoreFull: the disk has no room left.
    Raises StoreError: it cannot be written for another reason.
    """
    try:
        yield
    except (OSError, SafetensorError, RuntimeError, StoreError) as error:
        if _is_full(error):
            raise StoreFull(
                f"The disk has no room for {path}. What was written before it is whole and kept: make room (a "
                "checkpoint takes about three times what is trained, in float32) and resume the training."
            ) from error
        if isinstance(error, RuntimeError | StoreError):
            raise
        raise StoreError(
            f"{path} cannot be written ({error}). Name a folder that is yours to write, and resume the training."
        ) from error


def _is_full(error: BaseException) -> bool:
    """Whether an error, or what it was raised from, says that the disk is full."""
    causes = [error, error.__cause__]
    if any(isinstance(each, OSError) and each.errno in _FULL for each in causes):
        return True
    said = str(error).lower()
    return isinstance(error, OSError | SafetensorError | RuntimeError) and any(words in said for words in _SAID)


@contextlib.contextmanager
def written_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write in that takes its name, in the place of an older one, when all is written.

    Raises StoreFull, StoreError: as `room_for`; what was half written is taken away.
    """
    half = folder.with_name(f".{folder.name}.half")
    with room_for(folder):
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        try:
            yield half
            for path in half.rglob("*"):
                if path.is_file():
                    with path.open("rb") as file:
                        os.fsync(file.fileno())
            take_name(half, folder)
        except BaseException:
            shutil.rmtree(half, ignore_errors=True)
            raise


def take_name(made: Path, folder: Path) -> None:
    """Let a folder that is whole take the name of another, which goes away."""
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    made.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def tidy(folder: Path) -> None:
    """Clear up what a process that was killed while it wrote left in a folder; what was being replaced is put back."""
    if not folder.is_dir():
        return
    for half in folder.glob(".*.half"):
        shutil.rmtree(half, ignore_errors=True)
    for old in folder.glob(".*.old"):
        name = folder / old.name.removeprefix(".").removesuffix(".old")
        if name.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(name)
