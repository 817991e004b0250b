"""The works of a store in memory: those loaded last, and what is known of all without loading them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, NamedTuple

from relic_core.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import Work, WorkSummary, WorkVersion
    from relic_core.store import Store
    from relic_core.store.works import Version

    Stamp = tuple[tuple[int, int], ...]

KEPT_CHARACTERS = 60_000_000
"""Of the texts kept in memory, in all; with its sentences a text takes about 6 bytes for each."""

LEAST_KEPT = 3
"""Works kept however long they are: a page, a comparison, and one more."""


class Standing(NamedTuple):
    """What stands in a store, and the stamp of the store when that was looked up.

    - `stamp`: as `Store.stamp` gave it.
    - `versions`: of the same works, by id.
    - `imprints`: of the same works, by id.
    """

    stamp: Stamp
    summaries: tuple[WorkSummary, ...]
    versions: dict[str, Version]
    imprints: dict[str, WorkVersion]


class _Loaded(NamedTuple):
    """A work in memory, which of its states it is, and the stamp of the store when that was last looked up."""

    work: Work
    version: Version
    stamp: Stamp


class Shelf:
    """Keeps what was read of a store for as long as it is true; safe to share between threads.

    - `store`: where the works are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._lock = threading.Lock()
        self._standing: Standing | None = None

    def load(self, work_id: str) -> Work:
        """Return a work.

        Raises NotFound: no stored work has that id.
        """
        store = self._store
        # Stamp and version are looked up before the work: what is written in between is noticed at the next call. The
        # lock is not held meanwhile, or those who wait for a busy store would wait one behind the other.
        stamp = store.stamp()
        with self._lock:
            loaded = self._loaded.get(work_id)
        if loaded is None or loaded.stamp != stamp:
            with store.works.together():
                version = store.works.version(work_id)
                work = loaded.work if loaded and loaded.version == version else store.works.load(work_id)
            loaded = _Loaded(work, version, stamp)
        with self._lock:
            self._loaded[work_id] = loaded
            self._loaded.move_to_end(work_id)
            kept = sum(len(each.work.text) for each in self._loaded.values())
            while kept > KEPT_CHARACTERS and len(self._loaded) > LEAST_KEPT:
                _, dropped = self._loaded.popitem(last=False)
                kept -= len(dropped.work.text)
        return loaded.work

    def load_all(self, work_ids: Iterable[str]) -> dict[str, Work]:
        """Return several works, the store opened once where it must be; those that are not stored are left out."""
        stamp = self._store.stamp()
        wanted = list(work_ids)
        with self._lock:
            known = all(each in self._loaded and self._loaded[each].stamp == stamp for each in wanted)
        found = {}
        with nullcontext() if known else self._store.works.together():
            for work_id in wanted:
                with suppress(NotFound):
                    found[work_id] = self.load(work_id)
        return found

    def standing(self) -> Standing:
        """Say what stands in the store; looked up anew only where something may have been written.

        Every search is written down, so most of what is written concerns no work: then the imprints, for which all
        sentences are read, stay what they are.
        """
        stamp = self._store.stamp()
        standing = self._standing
        if standing is None or standing.stamp != stamp:
            with self._store.works.together():
                versions = self._store.texts.versions()
                listed = self._store.works.summaries()
                if standing is not None and (versions, listed) == (standing.versions, standing.summaries):
                    imprints = standing.imprints
                else:
                    imprints = self._store.texts.imprints()
            # What is written between these steps has changed the stamp, and is looked up by the next call.
            summaries = tuple(each for each in listed if each.id in imprints)
            standing = self._standing = Standing(stamp, summaries, versions, imprints)
        return standing
