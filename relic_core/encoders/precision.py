"""The number format of inference and where it is done, by machine.

On CPUs that multiply bfloat16 in hardware, bfloat16 is several times as fast as float32 and the vectors of sentences
keep a cosine of 0.9999 to those of float32 (measured with all-MiniLM-L6-v2). Elsewhere bfloat16 would be slower. An
NVIDIA GPU is used where there is one, in bfloat16 if it has that, else in float16.

None of this imports torch where nothing looks like a GPU: the app asks for an encoder's identity before it encodes.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

Precision = Literal["float32", "bfloat16", "float16"]
Device = Literal["cpu", "cuda"]

_CPUINFO = Path("/proc/cpuinfo")
_FLAGS = frozenset({"amx_bf16", "avx512_bf16"})
_WITH_BFLOAT16 = re.compile("BF16|FP16|AMX|DEFAULT", re.IGNORECASE)
_DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""What a driver leaves on Linux, and on Linux under Windows."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a model computes."""

    precision: Precision
    device: Device = "cpu"

    def __str__(self) -> str:
        """Name it, as identities of encoders do.

        >>> print(Arithmetic("bfloat16"), "/", Arithmetic("float16", "cuda"))
        bfloat16 / float16 on cuda
        """
        return self.precision if self.device == "cpu" else f"{self.precision} on {self.device}"


@cache
def best_arithmetic() -> Arithmetic:
    """Choose for this machine: its NVIDIA GPU where there is one that torch can use, else the processor.

    To keep off the GPU, set ``CUDA_VISIBLE_DEVICES`` to nothing, as for every program that uses torch.
    """
    if seems_to_have_gpu():
        import torch

        found = gpu_arithmetic(torch.cuda)
        if found is not None:
            return found
    return Arithmetic(best_precision())


def seems_to_have_gpu(drivers: tuple[Path, ...] = _DRIVERS) -> bool:
    """Say whether it is worth importing torch to look for a GPU: there is a driver, and torch is built for one."""
    if not any(path.exists() for path in drivers) and shutil.which("nvidia-smi") is None:
        return False
    return not metadata.version("torch").endswith("+cpu")


def gpu_arithmetic(cuda: Any) -> Arithmetic | None:  # noqa: ANN401 - a module
    """Choose the number format of a GPU; None where there is none that can be used."""
    if not cuda.is_available():
        return None
    in_hardware = cuda.is_bf16_supported(including_emulation=False)
    return Arithmetic("bfloat16" if in_hardware else "float16", "cuda")


@cache
def best_precision(cpuinfo: Path = _CPUINFO) -> Precision:
    """Choose the number format for this machine's processor, without importing torch; float32 where it is not known.

    Where oneDNN's own ``ONEDNN_MAX_CPU_ISA`` keeps it from multiplying bfloat16 ("AVX2"), that is taken too.
    """
    if not _WITH_BFLOAT16.search(os.environ.get("ONEDNN_MAX_CPU_ISA", "DEFAULT")):
        return "float32"
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "float32"
    flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), [])
    return "bfloat16" if _FLAGS.intersection(flags) else "float32"
