"""Cutting a claim to the tokens that a model reads of it."""

from __future__ import annotations

from collections.abc import Sized


def kept(left: Sized, right: Sized, room: int, *, gap: bool = True) -> tuple[slice, slice]:
    """Say which tokens left and right of a gap are kept, of a room for both: those nearest to the gap.

    Each side has half of the room, and what the other leaves of its half. A text without a gap keeps its beginning.

    >>> def cut(left, right, room, **given):
    ...     before, after = kept(left, right, room, **given)
    ...     return left[before], right[after]
    >>> cut("a long left", "and a right", 6), cut("a long left", "an", 6), cut("on", "and a right", 6)
    (('eft', 'and'), ('left', 'an'), ('on', 'and '))
    >>> cut("a long left", "and a right", 6, gap=False), cut("on", "and a right", 6, gap=False)
    (('a long', ''), ('on', 'and '))
    """
    before, after = len(left), len(right)
    if not gap:
        before = min(before, room)
        return slice(0, before), slice(0, min(after, room - before))
    after = min(after, max(room - before, room // 2))
    return slice(max(0, before + after - room), before), slice(0, after)
