"""What was made last, kept in memory. Not cachetools: two threads that ask for one key at once would both make it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")


class _Entry(Generic[T]):
    """What is kept under a key; `value` is there once it was made, and `size` is 0 until then."""

    value: T

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.size = 0


class LRUCache(Generic[T]):
    """Keeps what was asked for last; safe to share between threads: those who ask for the same wait for its making.

    - `most`: of things; where `size` gives the bytes of one, in bytes. What was asked for last is kept however large.

    >>> kept = LRUCache(5, len)
    >>> [kept.get(text, text.encode) for text in ("abc", "de", "fgh")]
    [b'abc', b'de', b'fgh']
    >>> kept.size  # "abc" had to go
    5
    """

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        self._most = most
        self._size_of = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Entry[T]] = OrderedDict()
        self.size = 0

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Give what is kept under a key, or make it; what `make` raises is raised, and not kept."""
        with self._lock:
            entry = self._kept.setdefault(key, _Entry())
            self._kept.move_to_end(key)
        with entry.lock:
            if not hasattr(entry, "value"):
                try:
                    entry.value = make()
                finally:
                    self._count(key, entry)
            return entry.value

    def _count(self, key: Hashable, entry: _Entry[T]) -> None:
        """Count what was made, or forget that it could not be, and let go of what was asked for longest ago."""
        with self._lock:
            if not hasattr(entry, "value"):
                if self._kept.get(key) is entry:
                    del self._kept[key]
                return
            if self._kept.setdefault(key, entry) is not entry:  # it failed first, and others made it meanwhile
                return
            entry.size = self._size_of(entry.value)
            self.size += entry.size
            while self.size > self._most:
                made = (other for other, each in self._kept.items() if hasattr(each, "value"))
                oldest, *more = islice(made, 2)
                if not more:
                    return
                self.size -= self._kept.pop(oldest).size
