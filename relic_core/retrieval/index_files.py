"""Index files: what a retriever prepared for a work, in a folder with a manifest that is checked before it is used.

An index is found by what it was made of: ``<indexes>/<retriever>/<work id>/<digest of the recipe>/``. Another text,
segmenter, encoder or code version gives another digest, so an index that no longer fits is simply not found. Folders
are written under another name and renamed when complete. `index_builds` sees to it that no index is built twice.

Indexes that are no longer found stay: a work that was removed may come back, and so may an encoder. While nothing is
being prepared, any of these folders may be deleted by hand; what is missed is built again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import threading
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core import __version__
from relic_core.errors import NoIndex, StaleIndex, StoreError, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Imprint

    Arrays = Mapping[str, npt.NDArray[Any]]

MANIFEST = "manifest.json"
HALF_MADE = ".making-"
DAMAGED = ".damaged-"
"""Names of folders that are no index yet, or no longer, begin so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an index is made of; two indexes with the same recipe are the same.

    Attributes
    ----------
    retriever : str
        The retriever's registered name.
    work_id, title : str
        The work, and what people call it.
    work : str
        The work's fingerprint: text and sentences.
    segmenter : str
        Who cut the sentences.
    encoder : str
        Identity of the encoder: weights, number format, pooling, stretches.
    code : str
        Version of the code that lays out the arrays.
    """

    retriever: str
    work_id: str
    title: str
    work: str
    segmenter: str
    encoder: str
    code: str

    @classmethod
    def of(cls, work: Imprint, *, retriever: str, encoder: str, code: str) -> Recipe:
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
        return _digest(self.facts)

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


def load(root: Path, recipe: Recipe) -> dict[str, npt.NDArray[Any]]:
    """Open an index, its arrays memory-mapped and read-only.

    The manifest and the sizes of the files are checked every time, their content the first time in a process. An index
    whose content was changed is deleted, so that other processes do not take it for whole.

    Raises
    ------
    NoIndex
        It has not been built.
    StaleIndex
        It is damaged or was changed by hand.
    """
    manifest = _read_manifest(root, recipe)
    folder = recipe.folder(root)
    arrays = {}
    for name, entry in manifest["arrays"].items():
        path = folder / f"{name}.npy"
        if not _content_is(path, entry["sha256"]):
            _remove(folder)
            raise _damaged(recipe, f"the content of {path.name} was changed")
        try:
            arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError):
            raise _damaged(recipe, f"{path.name} cannot be read") from None
    return arrays


def manifests(root: Path, retriever: str, work_id: str) -> tuple[dict[str, Any], ...]:
    """Read the manifests of all whole indexes that a retriever has of a work, those of other encoders included.

    Returns
    -------
    tuple of dict
        The facts of the recipe, "title", "arrays", "notes", "program" and "created"; the newest first.
    """
    found = []
    for path in (root / retriever / work_id).glob(f"[!.]*/{MANIFEST}"):
        with suppress(StaleIndex, ValueError, OSError, KeyError, TypeError):  # a damaged one is no index
            said = json.loads(path.read_text(encoding="utf-8"))
            recipe = Recipe(**{name: said[name] for name in Recipe.__slots__})
            if recipe.folder(root) == path.parent:
                found.append(_read_manifest(root, recipe))
    return tuple(sorted(found, key=itemgetter("created"), reverse=True))


def save(root: Path, recipe: Recipe, arrays: Arrays, *, notes: Mapping[str, str | int | float] | None = None) -> Path:
    """Write an index whole or not at all.

    Parameters
    ----------
    root : Path
        Folder of all indexes.
    recipe : Recipe
        What the index is made of.
    arrays : mapping of str to array
        What it holds, by name.
    notes : mapping, optional
        Further facts for the manifest (seconds, tokens).

    Returns
    -------
    Path
        Its folder. Where another process has written the same index meanwhile, that one stays.

    Raises
    ------
    StoreReadOnly
        The folder cannot be written.
    """
    target = recipe.folder(root)
    making = target.with_name(f"{HALF_MADE}{target.name}-{uuid.uuid4().hex[:8]}")
    with writing(root):
        try:
            making.mkdir(parents=True)
            entries = {}
            for name, array in arrays.items():
                path = making / f"{name}.npy"
                np.save(path, array, allow_pickle=False)
                entries[name] = {"bytes": path.stat().st_size, "sha256": _hash_file(path)}
            manifest: dict[str, Any] = {
                **recipe.facts,
                "title": recipe.title,
                "arrays": entries,
                "notes": dict(notes or {}),
                "program": __version__,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            manifest["manifest"] = _digest(manifest)
            (making / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False), encoding="utf-8")
            _move_into_place(making, target, root, recipe)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return target


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Say in plain words why a folder of indexes cannot be written.

    Raises
    ------
    StoreReadOnly
        The right to write there is missing.
    StoreError
        The disk is full.
    """
    try:
        yield
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}:
            raise StoreReadOnly(
                f"The folder of indexes {root} cannot be written ({error.strerror}). "
                "Give this program the right to write there, or set RELIC_INDEXES to another folder."
            ) from error
        if error.errno == errno.ENOSPC:
            raise StoreError(
                f"The disk that holds the indexes ({root}) is full. Make room, or set RELIC_INDEXES to a folder "
                "on another disk; then prepare the work again, and it goes on where it stopped."
            ) from error
        raise


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
    folder = recipe.folder(root)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        if folder.is_dir():
            raise _damaged(recipe, f"{MANIFEST} is missing") from None
        raise NoIndex(f"{recipe.title} has not been prepared for {recipe.retriever} yet. Prepare it first.") from None
    except (ValueError, OSError):
        raise _damaged(recipe, f"{MANIFEST} cannot be read") from None
    if not isinstance(manifest, dict) or manifest.pop("manifest", None) != _digest(manifest):
        raise _damaged(recipe, f"{MANIFEST} was changed")
    if any(manifest.get(name) != value for name, value in recipe.facts.items()):
        raise _damaged(recipe, f"{MANIFEST} belongs to another index")
    for name, entry in manifest["arrays"].items():
        if not name.isidentifier():  # it becomes a path, and must not lead out of the folder
            raise _damaged(recipe, f"{MANIFEST} names an array that is none")
        path = folder / f"{name}.npy"
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            raise _damaged(recipe, f"{path.name} is missing or not whole")
    return manifest


def _damaged(recipe: Recipe, what: str) -> StaleIndex:
    return StaleIndex(
        f"The index of {recipe.title} for {recipe.retriever} is damaged ({what}). "
        "Prepare the work again; nothing else is lost."
    )


def _digest(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_checked: set[tuple[Path, int, int, str]] = set()
_checked_lock = threading.Lock()


def _content_is(path: Path, sha256: str) -> bool:
    """Compare a file's content with its digest, once per process unless its size or time changes."""
    stat = path.stat()
    key = (path, stat.st_size, stat.st_mtime_ns, sha256)
    with _checked_lock:
        if key in _checked:
            return True
    if _hash_file(path) != sha256:
        return False
    with _checked_lock:
        _checked.add(key)
    return True
