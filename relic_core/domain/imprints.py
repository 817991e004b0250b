"""What is known of a work without its text: a line of the catalogue, and what names its indexes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    import numpy.typing as npt

Format = Literal["plain text", "EPUB", "TEI"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkVersion:
    """What names the indexes of a work, without its text.

    - `fingerprint`: as `Work.fingerprint`.
    """

    id: str
    title: str
    fingerprint: str
    segmenter: str
    sentences: int

    def candidates(self, length: int) -> int:
        """Count the spans of `length` sentences."""
        return max(0, self.sentences - length + 1)


def fingerprint(sha256: str, places: npt.NDArray[np.int64]) -> str:
    """Digest a text and where its sentences stand.

    - `places`: where each sentence starts and ends.
    """
    return hashlib.sha256(sha256.encode() + places.astype("<i8").tobytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class WorkSummary:
    """A line of the catalogue of stored works, without the text."""

    id: str
    title: str
    author: str
    year: int | None
    translator: str
    source: str
    sha256: str
    chapters: int
    sentences: int
    words: int
    added: datetime
    format: Format = "plain text"
