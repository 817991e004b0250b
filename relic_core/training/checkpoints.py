"""Checkpoints: all that is needed to go on with a training, written whole, checked before it is used.

Here too: folders that are written whole or not at all, and what is said where the disk has no room for them.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from relic_core.errors import BadRequest, BadWeights, StoreError, StoreFull
from relic_core.formats.files import digest_of, record_in, written_whole

_FULL = {errno.ENOSPC, errno.EDQUOT}
_SIGNS = ("no space left", "disk quota", "file write failed", "unexpected pos", "inline_container")
"""What torch and safetensors say where a file could not be written to its end."""


@contextlib.contextmanager
def room_for(path: Path) -> Iterator[None]:
    """Tell of a disk that has no room (StoreFull), or does not let itself be written (StoreError), in words."""
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
    message = str(error).lower()
    return isinstance(error, OSError | SafetensorError | RuntimeError) and any(words in message for words in _SIGNS)


@contextlib.contextmanager
def written_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write in that takes its name, in the place of an older one, only when all is written."""
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


MANIFEST = "checkpoint.json"
KEPT = 2
"""Checkpoints kept: the last, and the one before should the last be damaged."""

_NAME = re.compile(r"checkpoint-(\d+)")
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a checkpoint depends on: digests of the recipe, of the examples in their order, of what it began from.

    - `start_digest`: of the encoder that is gone on from; empty where the training begins from the base.
    - `processes`: how many train together.
    """

    recipe: Mapping[str, Any]
    recipe_digest: str
    data_digest: str
    base_digest: str
    start_digest: str = ""
    processes: int = 1


@dataclass(frozen=True, slots=True)
class _Version:
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest(Origin):
    version: int
    state: dict[str, Any]
    files: dict[str, str]


def seal(folder: Path, origin: Origin, state: Mapping[str, Any]) -> None:
    """Write the manifest of a checkpoint whose files are all there; `state` is what else is needed to go on."""
    files = {path.name: digest_of(path) for path in sorted(folder.iterdir()) if path.name != MANIFEST}
    manifest = {"version": _VERSION, **asdict(origin), "state": dict(state), "files": files}
    with written_whole(folder / MANIFEST) as file:
        file.write((json.dumps(manifest, indent=1) + "\n").encode())


def in_order(folder: Path) -> list[Path]:
    """List the checkpoints of a training, the earliest first."""
    if not folder.is_dir():
        return []
    named = [(int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    return [path for _, path in sorted(named)]


def step_of(checkpoint: Path) -> int:
    """Say after how many steps a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def rotate(folder: Path) -> None:
    """Take away all but the last checkpoints."""
    for path in in_order(folder)[:-KEPT]:
        shutil.rmtree(path, ignore_errors=True)


def last_good(folder: Path, origin: Origin) -> tuple[Path, dict[str, Any]] | None:
    """Find the last checkpoint that is whole, to go on from, and its state; None where there is none at all.

    Raises BadWeights: there are checkpoints and all are damaged.
    """
    found = in_order(folder)
    damaged = []
    for path in reversed(found):
        try:
            return path, _opened(path, origin)
        except BadWeights as error:
            damaged.append(str(error))
    if damaged:
        raise BadWeights(f"{damaged[0]} No other in {folder} is whole. Start the training anew in another folder.")
    return None


def _opened(path: Path, origin: Origin) -> dict[str, Any]:
    try:
        version = record_in(_Version, path / MANIFEST, extra="ignore").version  # first: others may hold other things
        if version != _VERSION:
            raise BadRequest(
                f"The checkpoint {path} was written by another version of this program (as version {version} "
                f"of checkpoints; this one reads {_VERSION}). Resume it with that version, or start a new training in "
                "another folder."
            )
        manifest = record_in(_Manifest, path / MANIFEST)
    except (OSError, ValueError) as error:
        raise BadWeights(f"The checkpoint {path} is not whole: its {MANIFEST} cannot be read ({error}).") from error
    _check_origin(path, manifest, origin)
    for name, digest in manifest.files.items():
        file = path / name
        if not file.is_file() or digest_of(file) != digest:
            raise BadWeights(f"The checkpoint {path} is damaged: {name} is not as it was written.")
    return manifest.state


def _check_origin(path: Path, manifest: _Manifest, origin: Origin) -> None:
    if manifest.recipe_digest != origin.recipe_digest:
        before = manifest.recipe
        keys = sorted({*before, *origin.recipe} - {"name"})
        apart = [key for key in keys if before.get(key) != origin.recipe.get(key)]
        diff = "; ".join(f"{key}: {before.get(key)!r} then, {origin.recipe.get(key)!r} now" for key in apart[:4])
        raise BadRequest(
            f"The checkpoint {path} is of another configuration ({diff}). Resume it with the recipe it was begun with, "
            "or start a new training in another folder."
        )
    for key, what in (
        ("data_digest", "other examples than those given now"),
        ("base_digest", "another base model"),
        ("start_digest", "another encoder to go on from"),
        ("processes", f"{manifest.processes} process(es), and now there are {origin.processes}"),
    ):
        if getattr(manifest, key) != getattr(origin, key):
            raise BadRequest(
                f"The checkpoint {path} is of a training with {what}. Resume it with what it was begun with, or start "
                "a new training in another folder."
            )
