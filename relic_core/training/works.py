"""Works in training: cut into the stretches in which an index reads them, so that spans are pooled the same way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from relic_core.domain import Work
    from relic_core.encoders.late_chunking import LateChunkingEncoder


@dataclass(frozen=True, slots=True)
class CutWork:
    """A work cut into stretches.

    - `rows`: token ids of each stretch, special tokens left out.
    - `cores`: of each, where the tokens begin whose states are kept, and the sentence each of them belongs to.
    """

    rows: list[npt.NDArray[np.int32]]
    cores: list[tuple[int, npt.NDArray[np.int32]]]
    counts: npt.NDArray[np.int32]

    def holding(self, spans: Iterable[Span]) -> list[int]:
        """List the stretches whose kept tokens are those of some spans, in their order."""
        firsts = np.array([owners[0] for _, owners in self.cores])
        lasts = np.array([owners[-1] for _, owners in self.cores])
        found: set[int] = set()
        for span in spans:
            found.update(np.flatnonzero((firsts < span.end) & (lasts >= span.start)).tolist())
        return sorted(found)

    def complete(self, chosen: Sequence[int]) -> list[int]:
        """List the sentences all of whose tokens are kept of some stretches, ascending."""
        if not chosen:
            return []
        owners, kept = np.unique(np.concatenate([self.cores[row][1] for row in chosen]), return_counts=True)
        return [int(owner) for owner, count in zip(owners, kept, strict=True) if count == self.counts[owner]]


class CutWorks:
    """The works that windows quote, each read and cut when first needed.

    - `encoder`: says how works are cut.
    """

    def __init__(self, encoder: LateChunkingEncoder, work: Callable[[str], Work]) -> None:
        self._encoder = encoder
        self._work = work
        self._cut: dict[str, CutWork] = {}

    def get(self, work_id: str) -> CutWork:
        """Give a work, cut."""
        if work_id not in self._cut:
            rows, cores, counts = self._encoder.cut(self._work(work_id))
            self._cut[work_id] = CutWork(
                [np.array(row, dtype=np.int32) for row in rows],
                [(first, owners.astype(np.int32)) for first, owners in cores],
                counts,
            )
        return self._cut[work_id]


def runs(sentences: Sequence[int], length: int) -> list[Span]:
    """List the spans of a length all of whose sentences are among some, ascending.

    >>> runs([3, 4, 5, 9], 2)
    [Span(start=3, length=2), Span(start=4, length=2)]
    """
    breaks = [0, *(at for at, (one, two) in enumerate(pairwise(sentences), 1) if two != one + 1), len(sentences)]
    return [Span(sentences[at], length) for first, last in pairwise(breaks) for at in range(first, last - length + 1)]
