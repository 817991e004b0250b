"""Index files: what a retriever prepared for a work, in a folder with a manifest that is checked before it is used.

An index is found by what it was made of: ``<indexes>/<retriever>/<work id>/<digest of the recipe>/``. Another text,
segmenter, encoder or code version gives another digest, so an index that no longer fits is simply not found. Folders
are written under another name and renamed when complete. `index_builds` sees to it that no index is built twice.

Indexes that are no longer found stay: a work that was removed may come back, and so may an encoder. While nothing is
being prepared, any of these folders may be deleted by hand; what is missed is built again.
"""

from __future__ import annotations

import errno
import json
import shutil
import uuid
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core import __version__
from relic_core.errors import NoIndex, StaleIndex
from relic_core.retrieval.checked_files import content, digest_of, digest_of_facts, mapped, parsed, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import WorkVersion

    Arrays = Mapping[str, npt.NDArray[Any]]
    Writers = Mapping[str, Callable[[Path], None]]

MANIFEST = "manifest.json"
HALF_MADE = ".making-"
DAMAGED = ".damaged-"
"""Names of folders that are no index yet, or no longer, begin so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an index is made of; two indexes with the same recipe are the same.

    - `work`: the work's fingerprint: text and sentences.
    - `encoder`: identity of the encoder: weights, number format, pooling, stretches.
    - `code`: version of the code that lays out the arrays.
    """

    retriever: str
    work_id: str
    title: str
    work: str
    segmenter: str
    encoder: str
    code: str

    @classmethod
    def of(cls, work: WorkVersion, *, retriever: str, encoder: str, code: str) -> Recipe:
        """Make the recipe of a work's index."""
        return cls(
            retriever=retriever,
            work_id=work.id,
            title=work.title,
            work=work.fingerprint,
            segmenter=work.segmenter,
            encoder=encoder,
            code=code,
        )

    @property
    def facts(self) -> dict[str, str]:
        """The recipe as written to manifests."""
        return {
            "retriever": self.retriever,
            "work_id": self.work_id,
            "work": self.work,
            "segmenter": self.segmenter,
            "encoder": self.encoder,
            "code": self.code,
        }

    @property
    def digest(self) -> str:
        """Sha256 over the facts."""
        return digest_of_facts(self.facts)

    def folder(self, root: Path) -> Path:
        """Where the index is kept."""
        return root / self.retriever / self.work_id / self.digest[:12]


def exists(root: Path, recipe: Recipe) -> bool:
    """Whether an index is there and whole, as far as its manifest and the sizes of its files tell."""
    try:
        _read_manifest(root, recipe)
    except StaleIndex:
        return False
    return True


def stamp(root: Path, recipe: Recipe) -> tuple[tuple[int, ...], ...]:
    """Give what changes when a file of an index is changed or replaced. Raises as `load`."""
    return _look(root, recipe)[1]


def size(root: Path, recipe: Recipe) -> int:
    """Give the bytes of an index on disk, its manifest apart. Raises as `load`."""
    return sum(int(entry["bytes"]) for entry in _files(_read_manifest(root, recipe)).values())


def notes(root: Path, recipe: Recipe) -> dict[str, Any]:
    """Read what the manifest says beside the recipe. Raises as `load`."""
    said: dict[str, Any] = _read_manifest(root, recipe)["notes"]
    return said


def load(root: Path, recipe: Recipe) -> dict[str, npt.NDArray[Any]]:
    """Open an index, its arrays memory-mapped and read-only.

    The manifest and the sizes of the files are checked every time, their content the first time in a process. An index
    whose content was changed is deleted, so that other processes do not take it for whole.

    Raises NoIndex: it has not been built.
    Raises StaleIndex: it is damaged or was changed by hand.
    """
    arrays = {}
    for name in _read_manifest(root, recipe)["arrays"]:
        path = checked(root, recipe, f"{name}.npy")
        try:
            arrays[name] = mapped(path)
        except (ValueError, OSError):
            raise _damaged(recipe, f"{path.name} cannot be read") from None
    return arrays


def checked(root: Path, recipe: Recipe, name: str) -> Path:
    """Find one file of an index, its content checked as by `load`, whose errors this raises."""
    sizes = _files(_read_manifest(root, recipe))
    path = recipe.folder(root) / name
    try:
        whole = content.of(path) == sizes[name]["sha256"]
    except FileNotFoundError:  # the folder went away since the manifest was read
        raise NoIndex(_unprepared(recipe)) from None
    if not whole:
        _remove(path.parent)
        raise _damaged(recipe, f"the content of {name} was changed")
    return path


def manifests(root: Path, retriever: str, work_id: str) -> tuple[dict[str, Any], ...]:
    """Read the manifests of all whole indexes that a retriever has of a work, those of other encoders included.

    Returns: the facts of the recipe, "title", "arrays", "notes", "program" and "created"; the newest first.
    """
    found = []
    for path in (root / retriever / work_id).glob(f"[!.]*/{MANIFEST}"):
        with suppress(StaleIndex, ValueError, OSError, KeyError, TypeError):  # a damaged one is no index
            said = json.loads(path.read_text(encoding="utf-8"))
            recipe = Recipe(**{name: said[name] for name in Recipe.__slots__})
            if recipe.folder(root) == path.parent:
                found.append(_read_manifest(root, recipe))
    return tuple(sorted(found, key=itemgetter("created"), reverse=True))


def save(
    root: Path,
    recipe: Recipe,
    arrays: Arrays,
    *,
    files: Writers | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Path:
    """Write an index whole or not at all.

    - `files`: what writes its other files, by their names.
    - `notes`: further facts for the manifest, which JSON can hold.

    Returns: its folder. Where another process has written the same index meanwhile, that one stays.

    Raises StoreReadOnly: the folder cannot be written.
    """
    target = recipe.folder(root)
    making = target.with_name(f"{HALF_MADE}{target.name}-{uuid.uuid4().hex[:8]}")
    with writing(root):
        try:
            making.mkdir(parents=True)
            for name, array in arrays.items():
                np.save(making / f"{name}.npy", array, allow_pickle=False)
            for name, write in (files or {}).items():
                write(making / name)
            manifest: dict[str, Any] = {
                **recipe.facts,
                "title": recipe.title,
                "arrays": {name: _entry(making / f"{name}.npy") for name in arrays},
                "notes": dict(notes or {}),
                "program": __version__,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            if files:
                manifest["files"] = {name: _entry(making / name) for name in files}
            manifest["manifest"] = digest_of_facts(manifest)
            (making / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False), encoding="utf-8")
            _move_into_place(making, target, root, recipe)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return target


def remove(root: Path, recipe: Recipe) -> None:
    """Delete an index; whoever has it open keeps it until they close it."""
    _remove(recipe.folder(root))


def _move_into_place(making: Path, target: Path, root: Path, recipe: Recipe) -> None:
    """Rename a finished folder to its name; give way to a whole index, move a damaged one aside."""
    for _ in range(3):  # another process may finish between the look and the rename
        try:
            making.rename(target)
        except OSError as error:
            if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:  # which of the two depends on the file system
                raise
            if exists(root, recipe):
                return
            _remove(target)
        else:
            return
    raise _damaged(recipe, "it was changed while it was being replaced")


def _remove(folder: Path) -> None:
    """Delete an index; renamed first, so that nobody finds half of it."""
    aside = folder.with_name(f"{DAMAGED}{uuid.uuid4().hex[:8]}")
    with suppress(OSError):  # gone already, or not ours to delete: what is damaged is refused anyway
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def _read_manifest(root: Path, recipe: Recipe) -> dict[str, Any]:
    return _look(root, recipe)[0]


def _look(root: Path, recipe: Recipe) -> tuple[dict[str, Any], tuple[tuple[int, ...], ...]]:
    """Read a manifest, and see that its files are there; also give what tells them from others of the same names."""
    folder = recipe.folder(root)
    try:
        manifest = parsed.of(folder / MANIFEST)
    except FileNotFoundError:
        if folder.is_dir():
            raise _damaged(recipe, f"{MANIFEST} is missing") from None
        raise NoIndex(_unprepared(recipe)) from None
    except (ValueError, OSError):
        raise _damaged(recipe, f"{MANIFEST} was changed or cannot be read") from None
    if any(manifest.get(name) != value for name, value in recipe.facts.items()):
        raise _damaged(recipe, f"{MANIFEST} belongs to another index")
    stamps = []
    for name, entry in _files(manifest).items():
        if not name.replace(".", "").isidentifier():  # it becomes a path, and must not lead out of the folder
            raise _damaged(recipe, f"{MANIFEST} names a file that is none")
        try:
            stat = (folder / name).stat()
        except OSError:
            raise _damaged(recipe, f"{name} is missing") from None
        if stat.st_size != entry["bytes"]:
            raise _damaged(recipe, f"{name} is not whole")
        stamps.append((stat.st_ino, stat.st_mtime_ns))
    return manifest, tuple(stamps)


def _files(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give size and digest of each file of an index, by its name."""
    return {**{f"{name}.npy": entry for name, entry in manifest["arrays"].items()}, **manifest.get("files", {})}


def _entry(path: Path) -> dict[str, str | int]:
    return {"bytes": path.stat().st_size, "sha256": digest_of(path)}


def _unprepared(recipe: Recipe) -> str:
    return f"{recipe.title} has not been prepared for {recipe.retriever} yet. Prepare it first."


def _damaged(recipe: Recipe, what: str) -> StaleIndex:
    return StaleIndex(
        f"The index of {recipe.title} for {recipe.retriever} is damaged ({what}). "
        "Prepare the work again; nothing else is lost."
    )
