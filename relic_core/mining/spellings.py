"""Words as works and sources are compared by them, and hashes of runs of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relic_core.text.variants import one_spelling
from relic_core.text.words import fold

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int32]
    Hashes = npt.NDArray[np.uint64]

RUN = 4
"""Words in a run: runs of three are too common to look up, and of five one slip of the pen spoils five."""
UNKNOWN = -1
"""Number of a word that none of the works has."""


_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def spelt(word: str) -> str:
    """Bring a word to the spelling under which it is compared.

    >>> spelt("Honour’d"), spelt("DON'T"), spelt("Brontë")
    ('honored', 'dont', 'bronte')
    """
    folded = one_spelling(fold(word)).replace("'", "")
    return folded or word


def run_hashes(numbers: Numbers) -> Hashes:
    """Hash every run of words."""
    count = max(0, len(numbers) - RUN + 1)
    made = np.zeros(count, dtype=np.uint64)
    for at in range(RUN):
        made += numbers[at : at + count].astype(np.uint64) + np.uint64(1)
        made *= _FACTOR
        made ^= made >> _SHIFT
    return made
