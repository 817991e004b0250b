"""Batches for forward passes: rows of like length together, smaller ones where memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from relic_core.encoders.precision import Arithmetic, Device
from relic_core.encoders.weights import NAMED_BY
from relic_core.errors import RelicError
from relic_core.ports import Progress

Scores = npt.NDArray[np.float32]

_PHRASES = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")
"""What a `RuntimeError` of torch says in lower case where it could not get memory, on a GPU and on a CPU."""


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that there was too little memory.

    >>> is_out_of_memory(RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"))
    True
    >>> is_out_of_memory(RuntimeError("The size of tensor a must match the size of tensor b"))
    False
    """
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(phrase in str(error).lower() for phrase in _PHRASES)


def too_little_memory(encoder: str, reading: str, device: str) -> RelicError:
    """Make the error for the person whose machine has too little memory while "reading 'Emma'" or "being loaded"."""
    where = "The memory of the GPU" if device == "cuda" else "Memory"
    apart = (
        " Set CUDA_VISIBLE_DEVICES to nothing to compute on the processor instead, or close other programs that use "
        "the GPU."
        if device == "cuda"
        else " Close other programs and try again: what was read so far is kept."
    )
    return RelicError(
        f"{where} ran out while the encoder {encoder} was {reading}.{apart} If that does "
        "not help, take a smaller model, or write a smaller window into its card (docs/encoders.md). "
        f"{NAMED_BY}"
    )


T = TypeVar("T")

TOKENS: dict[Device, int] = {"cpu": 2048, "cuda": 65_536}
"""Tokens in a forward pass: on a processor larger ones are slower, a GPU wants more (docs/encoders.md)."""
_SHORT = 1024
"""The same where short passages are read beside a claim on a processor: a sixth less time than with all of them."""


def in_batches(
    lengths: Sequence[int],
    run: Callable[[list[int]], T],
    *,
    device: Device,
    too_little: Callable[[], RelicError],
    tokens: int = 0,
) -> Iterator[tuple[list[int], T]]:
    """Run rows, those of like length together; where memory runs out in smaller batches, down to a single row.

    - `lengths`: of each row, in tokens that go through the model.
    - `too_little`: makes the error for a memory that does not hold a single row.
    - `tokens`: in a batch at most; by default what is best for long rows.

    Yields: the rows of a batch, the longest of all first, and what `run` gave for them.

    >>> def run(members):
    ...     if len(members) > 1:
    ...         raise MemoryError
    ...     return "done"
    >>> list(in_batches([30, 50], run, device="cpu", too_little=lambda: RelicError("too little")))
    [([1], 'done'), ([0], 'done')]
    """
    # The longest first, so that a lack of memory shows at once.
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    tokens, at = tokens or TOKENS[device], 0
    while at < len(order):
        members = order[at : at + max(1, tokens // lengths[order[at]])]
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


SCORING = "Reading passages together with the claim"


def scored(
    lengths: Sequence[int],
    score: Callable[[list[int]], Scores],
    *,
    arithmetic: Arithmetic,
    name: str,
    progress: Progress,
) -> Scores:
    """Score rows by batches as `in_batches` makes them; shape (n_rows,). Raises RelicError: a score is not a number."""

    def too_little() -> RelicError:
        where = "The memory of the GPU" if arithmetic.device == "cuda" else "Memory"
        return RelicError(
            f"{where} ran out while {name} reordered passages. Close other programs and try again, search without "
            "reordering, or take a smaller model."
        )

    found, done = np.zeros(len(lengths), dtype=np.float32), 0
    progress(done, len(lengths), SCORING)
    device = arithmetic.device
    tokens = min(TOKENS[device], _SHORT) if device == "cpu" else 0
    for members, scores in in_batches(lengths, score, device=device, too_little=too_little, tokens=tokens):
        found[members] = scores
        done += len(members)
        progress(done, len(lengths), SCORING)
    if not np.isfinite(found).all():
        raise RelicError(f"{name} gave scores that are not numbers. Its weights are of no use: train it anew.")
    return found
