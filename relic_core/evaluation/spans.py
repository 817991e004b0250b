"""Agreement on spans: how far readers who marked one stretch of words around the same anchor marked the same.

With s and t two spans of one item and LCS the words that both hold in a row (Manjavacas, Long and Kestemont 2019,
section 4):

    O(s, t) = LCS / (|s| + |t| - LCS)        A = LCS        D = |s| + |t| - 2 LCS
    O_o = mean of O        O_e = sum A / (sum A + sum D)        kappa = (O_o - O_e) / (1 - O_e)

Their O_e comes from the same pairs as O_o. Beside it stands a chance of another kind: how much the spans of different
items overlap when laid on one another at their anchors. Spans are half-open, in words from the anchor.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    Marked = tuple[int, int]


def shared(s: Marked, t: Marked) -> int:
    """Count the words that two spans share."""
    return max(0, min(s[1], t[1]) - max(s[0], t[0]))


def overlap(s: Marked, t: Marked) -> float:
    """Compute O: 1 for equal spans, 0 for those that share no word.

    >>> overlap((3, 8), (4, 9)), overlap((0, 2), (0, 2))
    (0.6666666666666666, 1.0)
    """
    both = shared(s, t)
    return both / (s[1] - s[0] + t[1] - t[0] - both)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanAgreement:
    """How far readers agree on spans.

    - `expected`, `kappa`: as the paper has them; kappa is None where all spans are equal.
    - `chance`: overlap of the spans of different items; None where there is one item.
    - `perfect`: share of the pairs of readers who marked the same.
    """

    observed: float
    expected: float
    kappa: float | None
    chance: float | None
    perfect: float


def agreement(items: Sequence[Sequence[Marked]]) -> SpanAgreement:
    """Compare the spans of each item, one for each reader who marked it.

    Raises BadRequest: a span without words, or no item that two readers marked.
    """
    if any(end <= start for spans in items for start, end in spans):
        raise BadRequest("A span holds at least one word: its end stands behind its beginning.")
    pairs = [pair for spans in items for pair in combinations(spans, 2)]
    if not pairs:
        raise BadRequest("Agreement on spans needs an item that two readers have marked.")
    agreed = sum(shared(s, t) for s, t in pairs)
    disagreed = sum(s[1] - s[0] + t[1] - t[0] - 2 * shared(s, t) for s, t in pairs)
    observed = sum(overlap(s, t) for s, t in pairs) / len(pairs)
    expected = agreed / (agreed + disagreed)
    others = [overlap(s, t) for one, other in combinations(items, 2) for s in one for t in other]
    return SpanAgreement(
        observed=observed,
        expected=expected,
        kappa=(observed - expected) / (1 - expected) if disagreed else None,
        chance=sum(others) / len(others) if others else None,
        perfect=sum(s == t for s, t in pairs) / len(pairs),
    )


def consensus(spans: Sequence[Marked]) -> Marked:
    """Give the span that overlaps all marked ones most; of equals the shortest, then the first.

    >>> consensus([(3, 8), (4, 9), (4, 8)])
    (4, 8)
    """
    starts, ends = ({span[side] for span in spans} for side in (0, 1))
    made = [(start, end) for start in starts for end in ends if start < end]
    return min(made, key=lambda each: (-sum(overlap(each, span) for span in spans), each[1] - each[0], each))
