"""Cutting a work's tokens into stretches: a token is encoded once for itself and, near a border, again as context."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens that go through the encoder together.

    - `core_start`, `core_end`: the tokens whose states are taken from this stretch; the rest are context on either
      side.
    """

    start: int
    end: int
    core_start: int
    core_end: int


def cut_stretches(sentence_of: npt.NDArray[np.int64], *, window: int, context: int) -> list[Stretch]:
    """Cut the tokens of a run of sentences into stretches.

    Cores follow each other without gaps, end at the ends of sentences and are about equally long, so each sentence is
    taken from the stretch in which it has context on both sides; a sentence longer than a core is cut.

    - `sentence_of`: the sentence each token belongs to, not decreasing.
    - `window`: the most tokens in a stretch, special tokens apart.
    - `context`: tokens of context on either side of a core, fewer at the ends of the run.

    Returns: in order; their cores hold every token once.

    >>> for stretch in cut_stretches(np.array([0, 0, 0, 1, 1, 2]), window=5, context=1):
    ...     print(stretch)
    Stretch(start=0, end=4, core_start=0, core_end=3)
    Stretch(start=2, end=6, core_start=3, core_end=6)
    """
    total = len(sentence_of)
    if total == 0:
        return []
    room = window - 2 * context
    if room < 1:
        raise ValueError(f"a window of {window} tokens has no room for {context} tokens of context on either side")
    target = total / -(-total // room)  # equal cores rather than a short last one
    ends = [0, *(np.flatnonzero(np.diff(sentence_of)) + 1).tolist(), total]
    borders = [0]
    for previous, end in pairwise(ends):
        start = borders[-1]
        if previous > start and (end - start > room or end - start - target > target - (previous - start)):
            borders.append(previous)
        while end - borders[-1] > room:
            borders.append(borders[-1] + room)
    if borders[-1] < total:
        borders.append(total)
    return [Stretch(max(0, start - context), min(total, end + context), start, end) for start, end in pairwise(borders)]
