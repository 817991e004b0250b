"""Which windows make a benchmark: none that holds its own answer, and no source with more than a quarter of a work's.

One book of synopses can hold most of the windows on an author, and a figure over them would tell of that book.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from relic_core.domain import MinedWindow

SEED = "relic-workbench public-domain RELiC 1"
"""Decides, with a window's id, which windows of a source are taken first."""
SHARE = 4
"""At most one window in so many of a work's may be of one source."""
_RUN = 8


def largest_total(counts: Iterable[int], *, share: int = SHARE) -> int:
    """Say how many windows of a work can be kept so that no source has more than its share of those kept.

    Exact, in whole numbers: `t` can be kept if sources can give `t` where each gives at most ``t // share``. A work
    that fewer than `share` sources quote can keep none.

    - `share`: 4 for a quarter.

    >>> largest_total([100, 5, 5, 5]), largest_total([3, 1, 1, 1]), largest_total([50, 50, 50]), largest_total([2] * 5)
    (20, 4, 0, 10)
    """
    given = list(counts)
    return next(total for total in range(sum(given), -1, -1) if sum(min(one, total // share) for one in given) >= total)


def capped(windows: Mapping[str, str], *, seed: str = SEED, share: int = SHARE) -> frozenset[str]:
    """Choose windows of one work so that as many as possible stay and no source has more than its share.

    - `seed`: the order in which windows are taken is that of a hash of the seed and the id: as good as drawn by lot,
      and the same on every machine.
    - `share`: 4 for a quarter.
    """
    of_source: dict[str, list[str]] = defaultdict(list)
    for name in sorted(windows, key=lambda name: _lot(seed, name)):
        of_source[windows[name]].append(name)
    total = largest_total(map(len, of_source.values()), share=share)
    taken = [name for names in of_source.values() for name in names[: total // share]]
    return frozenset(sorted(taken, key=lambda name: _lot(seed, name))[:total])


def share_of_largest(windows: Mapping[str, str]) -> float:
    """Give the share of the source that has the most of a work's windows; 0 of none.

    >>> share_of_largest({"w1": "a", "w2": "a", "w3": "b", "w4": "c"})
    0.5
    """
    counts = Counter(windows.values())
    return max(counts.values()) / len(windows) if windows else 0.0


def holds_its_answer(window: MinedWindow, gold: str) -> bool:
    """Whether the context holds eight words in a row of the sentences quoted, or all of them where they are fewer."""
    answer = _words(gold)
    claim = f" {' '.join(_words(' '.join((*window.left, *window.right))))} "
    runs = (answer[at : at + _RUN] for at in range(max(1, len(answer) - _RUN + 1)))
    return any(f" {' '.join(run)} " in claim for run in runs)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _lot(seed: str, name: str) -> str:
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()
