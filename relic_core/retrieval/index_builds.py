"""An index while it is being built: the lock of whoever builds it, and the pieces that are done."""

from __future__ import annotations

import shutil
import time
import uuid
import zipfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.retrieval import index_files
from relic_core.retrieval.index_files import DAMAGED, HALF_MADE, writing
from relic_core.store import locks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.retrieval.index_files import Arrays, Recipe

_PARTS = ".parts"
_LOCK = ".lock"


@contextmanager
def building(root: Path, recipe: Recipe, *, while_waiting: Callable[[], None]) -> Iterator[None]:
    """Be the only one, among all threads and processes, who builds an index; waits for another who does.

    What builds of it that were killed while saving have left behind is deleted first.

    - `while_waiting`: called about ten times a second during a wait; what it raises ends the wait.

    Raises StoreReadOnly: the folder cannot be written.
    """
    folder = recipe.folder(root)
    with ExitStack() as stack:
        with writing(root):
            folder.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locks.held(folder.with_suffix(_LOCK), while_waiting=while_waiting))
        for pattern in (f"{HALF_MADE}{folder.name}-*", f"{DAMAGED}*"):
            for left in folder.parent.glob(pattern):
                shutil.rmtree(left, ignore_errors=True)
        yield


def build(
    root: Path,
    recipe: Recipe,
    pieces: Sequence[range],
    *,
    make: Callable[[range], Arrays],
    join: Callable[[Sequence[Arrays]], tuple[Arrays, Mapping[str, Any]]],
    told: Callable[[int, str], None],
) -> None:
    """Build an index piece by piece, unless it is there; goes on where an earlier build was stopped.

    - `pieces`: what the rows of the index stand for, in order: sentences, or spans.
    - `make`: makes the arrays of a piece, a row for each of its members.
    - `join`: makes the arrays of the index and the notes for its manifest from the arrays of all pieces.
    - `told`: told how many rows are done, and with what the build is busy.

    Raises StoreReadOnly: the folder cannot be written.
    """
    with building(root, recipe, while_waiting=lambda: told(0, "Another program is preparing this work")):
        if index_files.exists(root, recipe):  # somebody finished it during the wait
            return
        began = time.perf_counter()
        told(0, "Loading the encoder")
        parts = Parts(root, recipe)
        done = []
        for number, piece in enumerate(pieces):
            part = parts.load(number)
            if part is None or any(len(array) != len(piece) for array in part.values()):
                part = dict(make(piece))
                parts.save(number, part)
            done.append(part)
            told(piece.stop, "Reading the work")
        arrays, notes = join(done)
        index_files.save(root, recipe, arrays, notes={**notes, "seconds": round(time.perf_counter() - began, 2)})
        parts.clear()


class Parts:
    """The finished parts of an index that is still being built, so that a build that was stopped goes on.

    - `recipe`: what the index is made of; parts of another recipe are never found.
    """

    def __init__(self, root: Path, recipe: Recipe) -> None:
        self._root = root
        self._folder = recipe.folder(root).with_suffix(_PARTS)

    def load(self, number: int) -> dict[str, npt.NDArray[Any]] | None:
        """Read a part; None where it is not there or not whole."""
        try:
            path = self._folder / f"{number:05}.npz"
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except (OSError, EOFError, ValueError, zipfile.BadZipFile):  # not there, or damaged: it is made again
            return None

    def save(self, number: int, arrays: Arrays) -> None:
        """Keep a part."""
        half = self._folder / f"{uuid.uuid4().hex}.half.npz"
        with writing(self._root):
            self._folder.mkdir(parents=True, exist_ok=True)
            np.savez(half, allow_pickle=False, **arrays)
            half.replace(self._folder / f"{number:05}.npz")

    def clear(self) -> None:
        """Forget all parts."""
        shutil.rmtree(self._folder, ignore_errors=True)
