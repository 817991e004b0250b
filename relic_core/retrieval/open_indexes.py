"""Indexes that are open: the last few, as long as their files are there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from relic_core.retrieval import index_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.retrieval.index_files import Recipe

T = TypeVar("T")


class OpenIndexes(Generic[T]):
    """Opens indexes and keeps the last few open; safe to share between threads.

    Parameters
    ----------
    root : Path
        Folder of all indexes.
    made_of : callable
        Makes what answers of an index's arrays.
    kept : int, optional
        How many stay open.
    """

    def __init__(self, root: Path, made_of: Callable[[dict[str, npt.NDArray[Any]]], T], *, kept: int = 6) -> None:
        self._root = root
        self._made_of = made_of
        self._kept = kept
        self._lock = threading.Lock()
        self._open: OrderedDict[str, T] = OrderedDict()

    def get(self, recipe: Recipe) -> T:
        """Open an index, or take it from those that are open.

        Raises
        ------
        NoIndex, StaleIndex
            As `index_files.load`.
        """
        with self._lock:
            index = self._open.pop(recipe.digest, None)
            if index is None or not index_files.exists(self._root, recipe):
                index = self._made_of(index_files.load(self._root, recipe))
            self._open[recipe.digest] = index
            while len(self._open) > self._kept:
                self._open.popitem(last=False)
            return index
