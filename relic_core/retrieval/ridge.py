"""The ridge: how well each stretch of a work answers, so that a scene is seen before a passage is read.

Scores of two retrievers are on two scales, and what a reranker has not read it only puts below. So ranks are smoothed:
a span counts for 1 / (c + its rank), and a point is what the spans around it count for, the highest being 1.
"""

from __future__ import annotations

import numpy as np

from relic_core.domain import Ranking

POINTS = 200
_SPREAD = 1.2
"""Standard deviation of the smoothing, in points: about a page and a half of a novel."""
_FLAT = 0.004
"""What c is, as a share of the spans: the first ranks tell more than others, and none of them tells all."""


def ridge(ranking: Ranking, sentences: int) -> tuple[float, ...]:
    """Give `POINTS` heights from 0 to 1, from the first sentence of the ranking's only work to its last."""
    if not len(ranking) or sentences <= 0:
        return ()
    worth = 1.0 / (max(1.0, _FLAT * len(ranking)) + ranking.ranks)
    middles = ranking.start + (ranking.length - 1) / 2
    points = np.clip((middles * POINTS / sentences).astype(np.int64), 0, POINTS - 1)
    heights = np.bincount(points, weights=worth, minlength=POINTS)
    reach = np.arange(-4, 5)
    kernel = np.exp(-0.5 * (reach / _SPREAD) ** 2)
    smooth = np.convolve(heights, kernel / kernel.sum(), mode="same")
    low, high = float(smooth.min()), float(smooth.max())
    return tuple(np.round((smooth - low) / (high - low), 3).tolist()) if high > low else ()
