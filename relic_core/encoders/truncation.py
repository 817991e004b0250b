"""Truncation: what is kept of a claim, or of what stands around a passage, that is longer than a model reads.

A claim without a gap keeps its beginning. `TowerPair.claim_tokens` cuts a claim for an encoder, to its card's window.
"""

from __future__ import annotations


def share_around(before: int, after: int, room: int) -> tuple[int, int]:
    """Say how many tokens are kept before a gap and after it, those nearest to it, of a room for both.

    Each side has half of the room, and what the other leaves of its half.

    >>> share_around(10, 10, 7), share_around(10, 2, 6), share_around(1, 10, 6), share_around(1, 1, 9)
    ((4, 3), (4, 2), (1, 5), (1, 1))
    """
    behind = min(after, max(room - before, room // 2))
    return min(before, room - behind), behind
