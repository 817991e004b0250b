"""Batches for forward passes: rows of like length together, as many as make up so many tokens, padding counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.encoders.precision import Device

TOKENS: dict[Device, int] = {"cpu": 2048, "cuda": 65_536}
"""Tokens in a forward pass: on a processor larger ones are slower, a GPU wants more (docs/encoders.md)."""


def by_length(lengths: Sequence[int]) -> list[int]:
    """Order rows by their lengths, the longest first, so that a lack of memory shows at once.

    Examples
    --------
    >>> by_length([3, 5, 3])
    [1, 0, 2]
    """
    return sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))


def next_batch(order: Sequence[int], lengths: Sequence[int], at: int, tokens: int) -> list[int]:
    """Take the rows of the next forward pass.

    Parameters
    ----------
    order : sequence of int
        All rows, the longest first.
    lengths : sequence of int
        Of each row, in tokens, special ones included.
    at : int
        Where in `order` to begin.
    tokens : int
        As many as the rows may have together when padded to the first; one row is always taken.

    Examples
    --------
    >>> next_batch([1, 0, 2], [30, 50, 30], 0, 100), next_batch([1, 0, 2], [30, 50, 30], 2, 10)
    ([1, 0], [2])
    """
    return list(order[at : at + max(1, tokens // lengths[order[at]])])
