"""Batches as a collator makes them, put together in as few bytes as they need and taken apart again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Features = dict[str, torch.Tensor]
Array = npt.NDArray[Any]

ROWS = {"claims": ("claim_lengths", 0), "passages": ("passage_lengths", 0), "segments": ("passage_lengths", -1)}
"""Tensors of rows of unlike lengths: where these are, and what a row is filled up with."""
_SIZE, _WIDTH = ".size", ".width"


def narrowed(values: Array) -> Array:
    """Give whole numbers in two bytes each where these hold them."""
    if values.dtype.kind not in "iu" or values.itemsize == 1:
        return values
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    for kind in (np.int16, np.uint16, np.int32):
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return values.astype(kind)
    return values


def together(batches: Iterable[Features]) -> dict[str, Array]:
    """Put batches together, without what rows are filled up with; `Batches` takes them apart."""
    found: dict[str, list[Array]] = defaultdict(list)
    for batch in batches:
        for key, tensor in batch.items():
            values = _flat(key, batch).numpy()
            found[key + _SIZE].append(np.array([len(values)]))
            if tensor.dtype == torch.bool:
                found[key + _WIDTH].append(np.array([tensor.shape[-1]]))
                values = np.packbits(values)
            found[key].append(narrowed(values))
    return {key: narrowed(np.concatenate(arrays)) for key, arrays in found.items()}


class Batches:
    """Batches that `together` put together, one at a time."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays
        self._keys = [key for key in arrays if not key.endswith((_SIZE, _WIDTH))]
        self._ends = {}
        for key in self._keys:
            stored = arrays[key + _SIZE].astype(np.int64)
            stored = -(-stored // 8) if key + _WIDTH in arrays else stored
            self._ends[key] = np.append(0, np.cumsum(stored))

    def __len__(self) -> int:
        return len(self._arrays[self._keys[0] + _SIZE]) if self._keys else 0

    def __getitem__(self, number: int) -> Features:
        """Give a batch as the collator made it."""
        flat = {key: self._values(key, number) for key in self._keys}
        return {key: _in_rows(key, flat) for key in flat}

    def _values(self, key: str, number: int) -> torch.Tensor:
        first, last = self._ends[key][number : number + 2]
        values = self._arrays[key][first:last]
        if key + _WIDTH in self._arrays:
            size, width = (int(self._arrays[key + end][number]) for end in (_SIZE, _WIDTH))
            return torch.from_numpy(np.unpackbits(values, count=size).astype(np.bool_).reshape(-1, width))
        return torch.from_numpy(values.astype(np.int64) if values.dtype.kind in "iu" else values.copy())


def _flat(key: str, batch: Features) -> torch.Tensor:
    if key not in ROWS:
        return batch[key].flatten()
    return batch[key][_filled(batch[ROWS[key][0]])]


def _in_rows(key: str, flat: Features) -> torch.Tensor:
    if key not in ROWS:
        return flat[key]
    lengths, value = flat[ROWS[key][0]], ROWS[key][1]
    mask = _filled(lengths)
    return torch.full(mask.shape, value).masked_scatter(mask, flat[key])


def _filled(lengths: torch.Tensor) -> torch.Tensor:
    return torch.arange(int(lengths.max())) < lengths.unsqueeze(1)
