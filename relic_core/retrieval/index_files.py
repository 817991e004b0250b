"""Index files: what a retriever prepared for a work, in a folder with a manifest that is checked before it is used.

An index is found by what it was made of: ``<indexes>/<retriever>/<work id>/<digest of the recipe>/``. Another text,
segmenter, encoder or code version gives another digest, so an index that no longer fits is simply not found. Folders
are written under another name and renamed when complete; a lock sees to it that no index is built twice.

Indexes that are no longer found stay: a work that was removed may come back, and so may an encoder. While nothing is
being prepared, any of these folders may be deleted by hand; what is missed is built again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import shutil
import threading
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from relic_core import __version__
from relic_core.caching import LRUCache
from relic_core.domain import WorkVersion
from relic_core.errors import NoIndex, StaleIndex, written_to
from relic_core.formats.files import FileDigest, Moment, Strict, digest_of, record_in, record_of
from relic_core.store import locks

Arrays = Mapping[str, npt.NDArray[Any]]
Writers = Mapping[str, Callable[[Path], object]]
Stamp = tuple[tuple[int, ...], ...]

T = TypeVar("T")

MANIFEST = "manifest.json"
HALF_MADE = ".making-"
DAMAGED = ".damaged-"
"""Names of folders that are no index yet, or no longer, begin so."""
_PARTS = ".parts"
_LOCK = ".lock"
_CHECKED = ".checked"
"""A file of an index whose content was checked: what its files were then."""

_REMEMBERED = 100_000
"""Of files what was found out about so many is remembered: those of the indexes of 30,000 works."""

_FORGOTTEN = 30 * 86_400.0
"""In seconds: parts that no build has added to for so long belong to one that nobody goes on with."""

_SETTLED = 2.0
"""In seconds: a file changed later than this ago may change again and keep its time, whose steps are coarse."""
_MOST_FILES = 12_000
"""Kept open together, so that a search of thousands of works finds those of the last one open."""


writing = partial(written_to, called="indexes", setting="RELIC_INDEXES", then="prepare the work again, and it goes on")
"""Says in plain words why a folder of indexes cannot be written."""


def digest_of_facts(facts: Mapping[str, Any]) -> str:
    """Sha256 over facts that JSON can hold, whatever their order."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _remembered(find_out: Callable[[Path], T]) -> Callable[[Path], T]:
    """Remember what was found out about files, as long as they keep their size and times."""
    known: LRUCache[T] = LRUCache(_REMEMBERED)

    def of(path: Path) -> T:
        stat = path.stat()
        if time.time() - max(stat.st_mtime, stat.st_ctime) <= _SETTLED:
            return find_out(path)
        key = (str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        return known.get(key, lambda: find_out(path))

    return of


_content = _remembered(digest_of)


class _Form(Strict):
    """What a manifest must say beside its recipe."""

    arrays: dict[str, FileDigest]
    files: dict[str, FileDigest] = Field(default_factory=dict)
    notes: dict[str, Any]
    created: Moment


_mapping = threading.Lock()


def _mapped(path: Path) -> npt.NDArray[Any]:
    """Open an array, memory-mapped and read-only; one at a time.

    Numpy parses the head of a file with `ast`, which on some Pythons (3.11.7) fails now and then in several threads at
    once.
    """
    with _mapping:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an index is made of; two indexes with the same recipe are the same.

    - `work`: the work's reading: text, sentences and what is cut from these.
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
            work=work.reading,
            segmenter=work.segmenter,
            encoder=encoder,
            code=code,
        )

    @classmethod
    def in_manifest(cls, manifest: Mapping[str, Any]) -> Recipe:
        """Read the recipe from a manifest."""
        return cls(**{field.name: manifest[field.name] for field in fields(cls)})

    @property
    def facts(self) -> dict[str, str]:
        """The recipe as written to manifests."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "title"}

    @property
    def digest(self) -> str:
        """Sha256 over the facts."""
        return digest_of_facts(self.facts)

    def folder(self, root: Path) -> Path:
        """Where the index is kept."""
        return _place(root, self)[0]


@lru_cache(_REMEMBERED)
def _place(root: Path, recipe: Recipe) -> tuple[Path, Path, str]:
    """Give folder, manifest and digest of an index, which a search of many works asks for again and again."""
    digest = digest_of_facts(recipe.facts)
    folder = root / recipe.retriever / recipe.work_id / digest[:12]
    return folder, folder / MANIFEST, digest


@dataclass(frozen=True, slots=True)
class _Manifest:
    """A manifest as it was read, but for its own digest: that of its recipe, and the bytes of each file by its name."""

    content: dict[str, Any]
    digest: str
    sizes: dict[str, int]


@_remembered
def _parsed(path: Path) -> _Manifest:
    """Read a manifest; ValueError where it is none, or not as it was written."""
    data = path.read_bytes()
    manifest, recipe = record_of(dict[str, Any], data), record_of(Recipe, data, extra="ignore")
    record_of(_Form, data, extra="ignore")
    if manifest.pop("manifest", None) != digest_of_facts(manifest):
        raise ValueError
    sizes = {name: entry["bytes"] for name, entry in _files(manifest).items()}
    if not all(name.replace(".", "").isidentifier() for name in sizes):  # they become paths, and must not lead outside
        raise ValueError
    return _Manifest(manifest, recipe.digest, sizes)


def exists(root: Path, recipe: Recipe) -> bool:
    """Whether an index is there and whole, as far as its manifest and the sizes of its files tell."""
    try:
        _look(root, recipe)[0]
    except StaleIndex:
        return False
    return True


def stamp(root: Path, recipe: Recipe) -> Stamp:
    """Give what changes when a file of an index is changed or replaced. Raises as `load`."""
    return _look(root, recipe)[1]


def size(root: Path, recipe: Recipe) -> int:
    """Give the bytes of an index on disk, its manifest apart. Raises as `load`."""
    return sum(_look(root, recipe)[0].sizes.values())


def notes(root: Path, recipe: Recipe) -> dict[str, Any]:
    """Read what the manifest says beside the recipe. Raises as `load`."""
    kept_notes: dict[str, Any] = _look(root, recipe)[0].content["notes"]
    return kept_notes


def load(root: Path, recipe: Recipe) -> dict[str, npt.NDArray[Any]]:
    """Open an index, its arrays memory-mapped and read-only.

    The manifest and the sizes of the files are checked every time, their content once, and again where their times or
    places on disk have changed since. An index whose content was changed is deleted, so that other processes do not
    take it for whole.

    Raises NoIndex: it has not been built.
    Raises StaleIndex: it is damaged or was changed by hand.
    """
    manifest, now = _look(root, recipe)
    folder = recipe.folder(root)
    before = _checked_before(folder) == now
    arrays = {}
    for name in manifest.content["arrays"]:
        path = folder / f"{name}.npy" if before else checked(root, recipe, f"{name}.npy")
        try:
            arrays[name] = _mapped(path)
        except (ValueError, OSError):
            raise _damaged(recipe, f"{path.name} cannot be read") from None
    if not before and arrays and time.time() - max(times[-1] for times in now) / 1e9 > _SETTLED:
        with suppress(OSError):  # a folder that cannot be written is checked by every process
            (folder / _CHECKED).write_text(json.dumps(now), encoding="utf-8")
    return arrays


def _checked_before(folder: Path) -> Stamp | None:
    """Read what the files of an index were when their content was checked; None where it was not."""
    with suppress(OSError, ValueError, TypeError):
        return record_in(tuple[tuple[int, ...], ...], folder / _CHECKED)
    return None


def checked(root: Path, recipe: Recipe, name: str) -> Path:
    """Find one file of an index, its content checked as by `load`, whose errors this raises."""
    entries = _files(_look(root, recipe)[0].content)
    path = recipe.folder(root) / name
    try:
        whole = _content(path) == entries[name]["sha256"]
    except FileNotFoundError:  # the folder went away since the manifest was read
        raise NoIndex(_unprepared(recipe)) from None
    if not whole:
        _remove(path.parent)
        raise _damaged(recipe, f"the content of {name} was changed")
    return path


def manifests(root: Path, retriever: str, work_id: str) -> tuple[dict[str, Any], ...]:
    """Read the manifests of all whole indexes that a retriever has of a work, the newest first, other encoders' too.

    The facts of the recipe, "title", "arrays", "notes", "program" and "created".
    """
    found = (_in_folder(root, path.parent) for path in (root / retriever / work_id).glob(f"[!.]*/{MANIFEST}"))
    return tuple(sorted((manifest for manifest in found if manifest), key=itemgetter("created"), reverse=True))


def _in_folder(root: Path, folder: Path) -> dict[str, Any] | None:
    """Read the manifest of the index in a folder; None where it is damaged, or belongs to another."""
    with suppress(StaleIndex, ValueError, OSError, KeyError, TypeError):
        recipe = Recipe.in_manifest(_parsed(folder / MANIFEST).content)
        if recipe.folder(root) == folder:
            return _look(root, recipe)[0].content
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What indexes there are of works: how many whole ones, and where damaged ones are."""

    whole: int
    damaged: tuple[str, ...]


def survey(root: Path, *, thorough: bool = False) -> Survey:
    """Look through the indexes of works (`thorough`: hold every file to its hash); no model is loaded for it."""
    whole, damaged = 0, []
    for folder in sorted(path.parent for path in root.glob(f"[!.]*/[!.]*/[!.]*/{MANIFEST}")):
        manifest = _in_folder(root, folder)
        if manifest is None or (thorough and not _holds(folder, manifest)):
            damaged.append(folder.relative_to(root).as_posix())
        else:
            whole += 1
    return Survey(whole=whole, damaged=tuple(damaged))


def _holds(folder: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return all(digest_of(folder / name) == entry["sha256"] for name, entry in _files(manifest).items())
    except OSError:
        return False


def files_allowed() -> int:
    """Count the files that indexes may keep open together: a third of what this process may have open.

    That is raised as far as the system lets us: a shell usually allows a thousand, and a search of thousands of works
    comes back to those it has opened.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 3 * _MOST_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):  # some systems allow fewer than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_FILES if soft == resource.RLIM_INFINITY else min(_MOST_FILES, soft // 3)


def kept_open(root: Path, opened: Callable[[Recipe], T], *, most: int) -> Callable[[Recipe], T]:
    """Keep the last indexes open that were asked for, each as long as its files are what they were.

    - `most`: an array that is memory-mapped keeps its file open (`files_allowed`).
    """
    kept: LRUCache[T] = LRUCache(most)
    return lambda recipe: kept.get((_place(root, recipe)[2], stamp(root, recipe)), lambda: opened(recipe))


def save(
    root: Path,
    recipe: Recipe,
    arrays: Arrays,
    *,
    files: Writers | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Path:
    """Write an index whole or not at all; where another process has written the same meanwhile, that one stays.

    - `files`: what writes its other files, by their names.
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


@contextmanager
def building(root: Path, recipe: Recipe, *, while_waiting: Callable[[], None]) -> Iterator[None]:
    """Be the only one, among all threads and processes, who builds an index; waits for another who does.

    What builds of it that were killed while saving have left behind is deleted first, and old parts of others.
    """
    folder = recipe.folder(root)
    with ExitStack() as stack:
        with writing(root):
            folder.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locks.held(folder.with_suffix(_LOCK), while_waiting=while_waiting))
        for pattern in (f"{HALF_MADE}{folder.name}-*", f"{DAMAGED}*"):
            for left in folder.parent.glob(pattern):
                shutil.rmtree(left, ignore_errors=True)
        for left in folder.parent.glob(f"*{_PARTS}"):
            with suppress(FileNotFoundError):  # whose build has just ended
                if left != folder.with_suffix(_PARTS) and time.time() - left.stat().st_mtime > _FORGOTTEN:
                    shutil.rmtree(left, ignore_errors=True)
        yield


def build(
    root: Path,
    recipe: Recipe,
    pieces: Sequence[range],
    *,
    make: Callable[[range], Arrays],
    join: Callable[[Sequence[Arrays]], tuple[Arrays, Mapping[str, Any]]],
    report: Callable[[int, str], None],
) -> None:
    """Build an index piece by piece, unless it is there; goes on where an earlier build was stopped.

    - `pieces`: what the rows of the index stand for, in order: sentences, or spans.
    - `make`: makes the arrays of a piece, the first of them with a row for each of its members.
    - `join`: makes the arrays of the index and the notes for its manifest from the arrays of all pieces.
    - `report`: told how many rows are done, and with what the build is busy.
    """
    with building(root, recipe, while_waiting=lambda: report(0, "Another program is preparing this work")):
        if exists(root, recipe):  # somebody finished it during the wait
            return
        began = time.perf_counter()
        report(0, "Loading the encoder")
        parts = Parts(root, recipe)
        done = []
        for number, piece in enumerate(pieces):
            part = parts.load(number, len(piece))
            if part is None:
                part = dict(make(piece))
                parts.save(number, part)
            done.append(part)
            report(piece.stop, "Reading the work")
        arrays, notes = join(done)
        save(root, recipe, arrays, notes={**notes, "seconds": round(time.perf_counter() - began, 2)})
        parts.clear()


class Parts:
    """The finished parts of an index that is still being built, so that a build that was stopped goes on."""

    def __init__(self, root: Path, recipe: Recipe) -> None:
        self._root = root
        self._folder = recipe.folder(root).with_suffix(_PARTS)

    def load(self, number: int, rows: int | None = None) -> dict[str, npt.NDArray[Any]] | None:
        """Read a part; None where it is not there, not whole, or its first array has other than `rows` rows."""
        try:
            path = self._folder / f"{number:05}.npz"
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                found = {name: stored[name] for name in stored.files}
        except (OSError, EOFError, ValueError, zipfile.BadZipFile):  # not there, or damaged: it is made again
            return None
        return found if rows is None or len(next(iter(found.values()), ())) == rows else None

    def save(self, number: int, arrays: Arrays) -> None:
        """Keep a part."""
        self.write(f"{number:05}.npz", lambda half: np.savez(half, allow_pickle=False, **arrays))

    def path(self, name: str) -> Path:
        """Say where another file of the build is kept."""
        return self._folder / name

    def write(self, name: str, write: Callable[[Path], object]) -> None:
        """Write a file of the build, whole or not at all."""
        half = (self._folder / name).with_stem(f"{uuid.uuid4().hex}.half")  # numpy wants its own suffix
        with writing(self._root):
            self._folder.mkdir(parents=True, exist_ok=True)
            write(half)
            half.replace(self._folder / name)

    def clear(self) -> None:
        """Forget all parts."""
        shutil.rmtree(self._folder, ignore_errors=True)


def remove(root: Path, recipe: Recipe) -> None:
    """Delete an index; a process that has it open keeps it until it closes it."""
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


def _look(root: Path, recipe: Recipe) -> tuple[_Manifest, Stamp]:
    """Read a manifest, and see that its files are there; also give what tells them from others of the same names."""
    folder, path, digest = _place(root, recipe)
    try:
        manifest = _parsed(path)
    except FileNotFoundError:
        if folder.is_dir():
            raise _damaged(recipe, f"{MANIFEST} is missing") from None
        raise NoIndex(_unprepared(recipe)) from None
    except (ValueError, OSError):
        raise _damaged(recipe, f"{MANIFEST} was changed or cannot be read") from None
    if manifest.digest != digest:
        raise _damaged(recipe, f"{MANIFEST} belongs to another index")
    stamps = []
    for name, size in manifest.sizes.items():
        try:
            stat = os.stat(f"{folder}/{name}")  # noqa: PTH116 - a library of thousands of works is looked through
        except OSError:
            raise _damaged(recipe, f"{name} is missing") from None
        if stat.st_size != size:
            raise _damaged(recipe, f"{name} is not whole")
        stamps.append((stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns))
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
