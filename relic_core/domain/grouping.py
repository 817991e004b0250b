"""Putting things together by what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Put together what has one key, keys and items in the order of the items.

    >>> grouped(["rain", "river", "sea"], key=len)
    {4: ['rain'], 5: ['river'], 3: ['sea']}
    """
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
