"""Running out of memory: torch says it in several ways, and the reader is told in one."""

from __future__ import annotations

from relic_core.encoders.weights import NAMED_BY
from relic_core.errors import RelicError

_SAID = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")
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
    return isinstance(error, RuntimeError) and any(said in str(error).lower() for said in _SAID)


def too_little_memory(encoder: str, reading: str, device: str) -> RelicError:
    """Make the error for the person whose machine has too little memory.

    - `reading`: what it was doing: "reading 'Emma'", "being loaded".
    - `device`: where it computes: "cpu", "cuda".
    """
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
