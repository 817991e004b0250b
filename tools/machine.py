"""The machine that measures, with all that its speed hangs on, and whether others are at work on it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from relic_core.config.provenance import machine, processor

_MEMINFO = Path("/proc/meminfo")

FLAGS = (
    "f16c", "fma", "avx", "avx2", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16",
    "amx_tile", "amx_bf16", "amx_int8", "asimd", "asimdhp", "bf16", "i8mm", "sve",
)  # fmt: skip
"""What makes a difference to encoders and to products of matrices, of all that a processor says it can do."""

PACKAGES = ("numpy", "torch", "transformers", "sentence-transformers", "faiss-cpu", "bm25s", "rank-bm25", "streamlit")

_BUSY = 0.5
"""Of the cores: a load above it is told, since it makes every figure worse and some ratios too."""


def in_full() -> dict[str, str | int | float]:
    """Describe the machine with all that its speed hangs on, and the versions of libraries; imports none of them."""
    flags, _ = processor()
    return {
        **machine(),
        "release": platform.release(),
        "flags": " ".join(flag for flag in FLAGS if flag in flags),
        "memory_gb": _memory_gb(),
        **{name: _version(name) for name in PACKAGES},
    }


def busy() -> str:
    """Say in a sentence that others are at work on the machine; empty where they are not, or nobody can tell."""
    try:
        load = os.getloadavg()[0]
    except OSError:
        return ""
    cores = os.cpu_count() or 1
    if load <= _BUSY * cores:
        return ""
    return (
        f"The machine was busy when the run began (load {load:.1f} on {cores} cores): times are longer than it needs, "
        "and ratios of things that were not measured in the same minutes are unsure."
    )


def _memory_gb() -> float:
    try:
        first = _MEMINFO.read_text(encoding="utf-8").split("\n", 1)[0]
    except OSError:
        return 0.0
    return round(int(first.split()[1]) / 2**20, 1)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
