"""How far two ranked lists agree at their heads: overlap at k, and rank-biased overlap.

Rank-biased overlap (Webber, Moffat and Zobel 2010, "A similarity measure for indefinite rankings", ACM Transactions on
Information Systems 28(4)) is the overlap of the first d of both, averaged over all depths d with weights that fall by
the factor p from each depth to the next: what stands first counts most. With p = 0.9 the first ten ranks carry 86% of
the weight. Lists end, so what is given is the extrapolated measure, RBO_EXT: it takes the agreement at the end of what
was seen to go on below. With X_d the number of things that the first d of both share, s and l the lengths of the
shorter and the longer list (their equation 32)::

    RBO_EXT = (1 - p) / p * (sum_{d=1}^{l} X_d / d * p^d  +  sum_{d=s+1}^{l} X_s (d - s) / (s d) * p^d)
              + ((X_l - X_s) / l + X_s / s) * p^l
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

P = 0.9
"""How far down a reader goes on: between 0 and 1, the larger the deeper."""


def overlap_at(first: Sequence[Hashable], second: Sequence[Hashable], k: int) -> int:
    """Count what the first `k` of two lists share.

    - `first`, `second`: best first, nothing twice.

    >>> overlap_at("abcd", "badx", 2), overlap_at("abcd", "badx", 3)
    (2, 2)
    """
    return len(set(first[:k]) & set(second[:k]))


def rank_biased_overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Measure how alike two ranked lists are, from 0, nothing shared, to 1, the same list.

    - `first`, `second`: best first, nothing twice; they need not have one length.

    Returns: RBO_EXT. 1 for two empty lists, 0 where one of the two is empty.

    >>> rank_biased_overlap("abc", "abc"), rank_biased_overlap("abc", "xyz")
    (1.0, 0.0)
    >>> round(rank_biased_overlap("abc", "acb"), 4), round(rank_biased_overlap("abc", "bca"), 4)
    (0.955, 0.855)
    """
    shorter, longer = sorted((first, second), key=len)
    s, length = len(shorter), len(longer)
    if s == 0:
        return 1.0 if length == 0 else 0.0
    shared = [overlap_at(shorter, longer, d) for d in range(1, length + 1)]
    below = shared[s - 1]
    weighted = sum(shared[d - 1] / d * P**d for d in range(1, length + 1))
    weighted += sum(below * (d - s) / (s * d) * P**d for d in range(s + 1, length + 1))
    found = (1 - P) / P * weighted + ((shared[length - 1] - below) / length + below / s) * P**length
    return min(1.0, max(0.0, round(found, 12)))  # sums of floats may miss 0 or 1 by their last digit
