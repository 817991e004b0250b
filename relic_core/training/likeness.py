"""Which quotations are no negatives of each other: the same, one within the other, or with a run of words in common."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

RUN = 8
"""Words in a row that make two quotations overlap."""

_WORD = re.compile(r"[^\W_]+")


def alike(texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Say which texts overlap: they share `RUN` words in a row, or the words of one stand within the other's.

    Case and punctuation do not count. A text without words is like every other: it can be told from none.

    Returns: symmetric; True on the diagonal.

    >>> alike(["She came in.", "When she came in, it rained.", "It rained"]).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    words = [_WORD.findall(text.casefold()) for text in texts]
    found = np.eye(len(texts), dtype=np.bool_)
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, each in enumerate(words):
        for run in {tuple(each[at : at + RUN]) for at in range(len(each) - RUN + 1)}:
            holders[run].append(number)
    for members in holders.values():
        if len(members) > 1:
            found[np.ix_(members, members)] = True
    spelt = [f" {' '.join(each)} " for each in words]
    for number, each in enumerate(words):
        if len(each) < RUN:  # a longer one that stands within another shares a run with it
            within = [other for other, text in enumerate(spelt) if not each or spelt[number] in text]
            found[number, within] = found[within, number] = True
    return found
