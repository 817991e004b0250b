"""Batches for forward passes: rows of like length together, as many as make up so many tokens, padding counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from relic_core.encoders.memory import is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from relic_core.encoders.precision import Device
    from relic_core.errors import RelicError

T = TypeVar("T")

TOKENS: dict[Device, int] = {"cpu": 2048, "cuda": 65_536}
"""Tokens in a forward pass: on a processor larger ones are slower, a GPU wants more (docs/encoders.md)."""


def by_length(lengths: Sequence[int]) -> list[int]:
    """Order rows by their lengths, the longest first, so that a lack of memory shows at once.

    >>> by_length([3, 5, 3])
    [1, 0, 2]
    """
    return sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))


def next_batch(order: Sequence[int], lengths: Sequence[int], at: int, tokens: int) -> list[int]:
    """Take the rows of the next forward pass.

    - `order`: all rows, the longest first.
    - `lengths`: of each row, in tokens, special ones included.
    - `at`: where in `order` to begin.
    - `tokens`: as many as the rows may have together when padded to the first; one row is always taken.

    >>> next_batch([1, 0, 2], [30, 50, 30], 0, 100), next_batch([1, 0, 2], [30, 50, 30], 2, 10)
    ([1, 0], [2])
    """
    return list(order[at : at + max(1, tokens // lengths[order[at]])])


def in_batches(
    lengths: Sequence[int],
    run: Callable[[list[int]], T],
    *,
    device: Device,
    too_little: Callable[[], RelicError],
) -> Iterator[tuple[list[int], T]]:
    """Run rows, those of like length together; where memory runs out in smaller batches, down to a single row.

    - `lengths`: of each row, in tokens that go through the model.
    - `device`: where: it decides how large a batch is.
    - `too_little`: makes the error for a memory that does not hold a single row.

    Yields: the rows of a batch, the longest of all first, and what `run` gave for them.

    Raises RelicError: memory ran out over a single row.

    >>> def run(members):
    ...     if len(members) > 1:
    ...         raise MemoryError
    ...     return "done"
    >>> list(in_batches([30, 50], run, device="cpu", too_little=lambda: RelicError("too little")))
    [([1], 'done'), ([0], 'done')]
    """
    order, tokens, at = by_length(lengths), TOKENS[device], 0
    while at < len(order):
        members = next_batch(order, lengths, at, tokens)
        try:
            done = run(members)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if len(members) == 1:
                raise too_little() from error
            tokens = len(members) * lengths[members[0]] // 2
            continue
        at += len(members)
        yield members, done
