"""Files of indexes on the disk: why they cannot be written, and whether they are still what they were when checked."""

from __future__ import annotations

import errno
import hashlib
import json
import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from relic_core.errors import StoreError, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import numpy.typing as npt

T = TypeVar("T")

_SETTLED = 2.0
"""In seconds: a file changed later than this ago may change again and keep its time, whose steps are coarse."""


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Say in plain words why a folder of indexes cannot be written.

    Raises StoreReadOnly: the right to write there is missing.
    Raises StoreError: the disk is full.
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


def digest_of(path: Path) -> str:
    """Sha256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_facts(facts: Mapping[str, Any]) -> str:
    """Sha256 over facts that JSON can hold, whatever their order."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Remembered(Generic[T]):
    """What was found out about files, as long as they keep their size and times; safe to share between threads.

    - `find_out`: finds it out; what it raises is raised, and not remembered.
    """

    def __init__(self, find_out: Callable[[Path], T], *, kept: int = 10_000) -> None:
        self._find_out = find_out
        self._kept = kept
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, int, int, int, int], T] = OrderedDict()

    def of(self, path: Path) -> T:
        """Tell it of a file: from memory, or found out now. Raises what `find_out` raises, and OSError."""
        stat = path.stat()
        key = (str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = self._find_out(path)
        if time.time() - max(stat.st_mtime, stat.st_ctime) > _SETTLED:
            with self._lock:
                self._known[key] = found
                while len(self._known) > self._kept:
                    self._known.popitem(last=False)
        return found


_mapping = threading.Lock()


def mapped(path: Path) -> npt.NDArray[Any]:
    """Open an array, memory-mapped and read-only; one at a time.

    Numpy parses the head of a file with `ast`, which on some Pythons (3.11.7) fails now and then in several threads at
    once.

    Raises ValueError, OSError: it cannot be read.
    """
    with _mapping:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


content = Remembered(digest_of)
"""Sha256 of the content of files."""


def _parse(path: Path) -> dict[str, Any]:
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(manifest, dict) or manifest.pop("manifest", None) != digest_of_facts(manifest):
        raise ValueError
    entries = manifest.get("arrays"), manifest.get("files", {})
    whole = all(isinstance(held, dict) and all(map(_is_entry, held.values())) for held in entries)
    if not (whole and isinstance(manifest.get("notes"), dict)):
        raise ValueError
    return manifest


def _is_entry(entry: object) -> bool:
    """Whether this is what a manifest says of a file."""
    return isinstance(entry, dict) and isinstance(entry.get("bytes"), int) and isinstance(entry.get("sha256"), str)


parsed = Remembered(_parse)
"""Manifests, without their own digest; ValueError where a file is none, or not as it was written."""
