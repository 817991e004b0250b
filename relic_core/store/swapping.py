"""One library put in the place of another: decided by one small file, and finished by the next process.

What is to come stands whole in a folder of its own below the data folder. Writing the marker decides: killed before,
the old library is there; killed after, the next who opens the store moves what has not been moved yet, before anything
is read. Each move is one renaming, and the store's file is replaced in one, so it is never missing. All of it happens
inside the data folder, which may be a mounted volume that cannot be renamed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from annotated_types import Predicate

from relic_core.errors import StoreError
from relic_core.formats.files import Strict, record_in
from relic_core.store.log_check import LOST

MARKER = "restoring.json"
ASIDE = "before-restore-"
STAGED = ".restoring-"
FETCHED = "downloads"
"""What can be fetched again is left where it is."""


def contents(data: Path, *, store: str) -> Iterator[Path]:
    """List what makes a library, at the top of its data folder: not its locks, nor what an earlier one left."""
    for path in sorted(data.iterdir()) if data.is_dir() else ():
        of_store = path.name.startswith((f"{store}.wal", f"{store}{LOST}"))
        beside = path.name.startswith(f"{store}.") and not of_store  # locks and the like
        if not beside and path.name not in {MARKER, FETCHED} and not path.name.startswith((ASIDE, ".")):
            yield path


def decide(data: Path, staged: Path, aside: Path, *, store: str) -> None:
    """Write down that what is staged takes the place of what is there; `finish` does it."""
    decision = {
        "staged": staged.name,
        "aside": aside.name,
        "store": store,
        "old": [path.name for path in contents(data, store=store)],
        "new": sorted(path.name for path in staged.iterdir()),
    }
    half = data / f".{MARKER}.{secrets.token_hex(4)}.half"
    try:
        with half.open("x", encoding="utf-8") as file:
            json.dump(decision, file)
            file.flush()
            os.fsync(file.fileno())
        half.replace(data / MARKER)
    finally:
        half.unlink(missing_ok=True)
    _sync(data)


def is_due(data: Path) -> bool:
    """Whether a restore was decided and has not been done to its end."""
    return (data / MARKER).exists()


def finish(data: Path) -> None:
    """Do what was decided, from wherever it was left; after an OSError again. The caller keeps everybody else away."""
    marker = data / MARKER
    decision = _decided(marker)
    staged, aside, store = data / decision.staged, data / decision.aside, decision.store
    aside.mkdir(exist_ok=True)
    for name in decision.old:
        comes = (staged / name).exists()
        replaced = name in decision.new and not comes
        if not replaced and not (aside / name).exists():
            _put_aside(data / name, aside / name, keep=comes and name == store)
    for name in decision.new:
        if not (staged / name).exists():
            continue
        if name != store and (data / name).exists():  # made meanwhile, by a program that did not know
            (data / name).rename(aside / f"{name}.{secrets.token_hex(4)}")
        (staged / name).replace(data / name)
    _sync(data)
    shutil.rmtree(staged, ignore_errors=True)
    with contextlib.suppress(OSError):  # nothing was there before: an empty folder tells nothing
        aside.rmdir()
    marker.unlink()
    _sync(data)


def _is_name(name: str) -> bool:
    return name not in {"", ".", ".."} and not {"/", "\0"} & set(name)


_Name = Annotated[str, Predicate(_is_name)]


class _Marker(Strict):
    staged: _Name
    aside: _Name
    store: _Name
    old: tuple[_Name, ...]
    new: tuple[_Name, ...]


def _decided(marker: Path) -> _Marker:
    try:
        return record_in(_Marker, marker)
    except ValueError as error:
        why = str(error)
    raise StoreError(
        f"A restore was begun, and {marker}, which says what is still to be moved, is damaged ({why:.200}). Nothing "
        f"was moved. What was there before is in {ASIDE}… beside it, what was to come in {STAGED}…: keep a copy of the "
        "folder, delete the file, and restore the back-up again with --force."
    )


def _put_aside(path: Path, aside: Path, *, keep: bool) -> None:
    """Move something aside; where `keep`, leave it there too, to be replaced in one step."""
    with contextlib.suppress(FileNotFoundError):
        if not keep:
            path.rename(aside)
            return
        try:
            os.link(path, aside)
        except FileNotFoundError:
            raise
        except OSError:  # a file system without hard links
            half = aside.with_name(f".{aside.name}.half")
            shutil.copyfile(path, half)
            half.rename(aside)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
