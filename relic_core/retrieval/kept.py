"""What was made last, kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")


class LRUCache(Generic[T]):
    """Keeps what was asked for last; safe to share between threads, which wait for one another's making.

    - `most`: of things; where `size` gives the bytes of one, in bytes. What was asked for last is kept however large.

    >>> kept = LRUCache(5, len)
    >>> [kept.get(text, text.encode) for text in ("abc", "de", "fgh")]
    [b'abc', b'de', b'fgh']
    >>> kept.bytes  # "abc" had to go
    5
    """

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        self._most = most
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    @property
    def bytes(self) -> int:
        """How much is kept."""
        return sum(size for _, size in self._kept.values())

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Give what is kept under a key, or make it."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                made = make()
                found = made, self._size(made)
            self._kept[key] = found
            while self.bytes > self._most and len(self._kept) > 1:
                self._kept.popitem(last=False)
            return found[0]
