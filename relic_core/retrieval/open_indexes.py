"""Indexes that are open: the last ones used, as long as their files are there and what they were."""

from __future__ import annotations

import resource
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from relic_core.retrieval import index_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from relic_core.retrieval.index_files import Recipe

T = TypeVar("T")

_MOST = 4_000


def files_allowed() -> int:
    """Count the files that indexes may keep open together: a third of what this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(1, min(_MOST, soft // 3))


@dataclass(frozen=True, slots=True)
class _Open(Generic[T]):
    """An open index, how many files it keeps open, and what tells them from others of the same names."""

    index: T
    files: int
    stamp: tuple[tuple[int, ...], ...]


class OpenIndexes(Generic[T]):
    """Opens indexes and keeps those last used open; safe to share between threads.

    An array that is memory-mapped keeps its file open, so open files are counted, not indexes: a library of a hundred
    works stays open under the usual limit of 1,024.

    - `made_of`: makes what answers of what was loaded.
    - `files`: how many files may stay open; the index asked for last stays open in any case.
    - `load`: opens the files of an index, each under a name, after it has checked them; by default its arrays.
    """

    def __init__(
        self,
        root: Path,
        made_of: Callable[[dict[str, Any]], T],
        *,
        files: int | None = None,
        load: Callable[[Path, Recipe], dict[str, Any]] = index_files.load,
    ) -> None:
        self._root = root
        self._made_of = made_of
        self._load = load
        self._files = files_allowed() if files is None else files
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Open[T]] = OrderedDict()

    def get(self, recipe: Recipe) -> T:
        """Open an index, or take it from those that are open.

        Raises NoIndex, StaleIndex: as `load`.
        """
        key = recipe.digest
        stamp = index_files.stamp(self._root, recipe)
        with self._lock:
            entry = self._open.get(key)
        if entry is None or entry.stamp != stamp:
            loaded = self._load(self._root, recipe)
            entry = _Open(self._made_of(loaded), len(loaded), stamp)
        with self._lock:
            self._open[key] = entry
            self._open.move_to_end(key)
            while len(self._open) > 1 and sum(each.files for each in self._open.values()) > self._files:
                self._open.popitem(last=False)
        return entry.index
