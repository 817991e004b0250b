"""Agreement: how far two retrievers rank the spans of a work alike, as one encoder in two number formats should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import rank_scores
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Claim, Ranking, Work
    from relic_core.ports import Retriever

TOP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far two retrievers agree, each figure the mean over the claims.

    - `overlap_at_10`: share of the first ten of one that are among the first ten of the other, 0 to 1; of all
      candidates where there are fewer.
    - `correlation`: spearman's rank correlation over all candidates, -1 to 1; 1 where there is one candidate.
    - `claims`: how many were asked.
    """

    overlap_at_10: float
    correlation: float
    claims: int


def agreement(a: Retriever, b: Retriever, work: Work, claims: Sequence[Claim], length: int) -> Agreement:
    """Compare the rankings of two retrievers that have both prepared a work.

    - `a`, `b`: in either order: the figures are the same.
    - `work`: whose spans are ranked.
    - `claims`: what is asked; at least one.

    Raises BadRequest: there is no claim, or no span of this length.
    Raises NoIndex: one of the retrievers has not prepared the work.
    Raises BadClaim: a claim holds nothing to search with.
    """
    candidates = work.candidates(length)
    if not claims or candidates == 0:
        raise BadRequest(
            f"Rankings of {candidates:,} spans of {length} sentences of {work.title} for {len(claims):,} claims cannot "
            "be compared: it takes a span and a claim at least. Choose a shorter length, or name claims."
        )
    overlaps, correlations = [], []
    for claim in claims:
        first, second = (rank_scores(each.name, work.id, length, each.score(claim, work, length)) for each in (a, b))
        top = min(TOP, candidates)
        overlaps.append(len(np.intersect1d(first.order[:top], second.order[:top])) / top)
        correlations.append(spearman(first, second))
    return Agreement(
        overlap_at_10=float(np.mean(overlaps)), correlation=float(np.mean(correlations)), claims=len(claims)
    )


def spearman(a: Ranking, b: Ranking) -> float:
    """Correlate the ranks of two rankings of the same spans (Spearman 1904); no two ranks of a ranking are equal.

    >>> def ranked(*scores):
    ...     return rank_scores("demo", "work", 1, np.array(scores, dtype=np.float32))
    >>> spearman(ranked(3, 2, 1), ranked(9, 5, 1)), spearman(ranked(3, 2, 1), ranked(1, 2, 3))
    (1.0, -1.0)
    """
    n = len(a)
    if n < 2:  # noqa: PLR2004 - one candidate has one place
        return 1.0
    apart = (a.ranks - b.ranks).astype(np.float64)
    return float(1 - 6 * np.sum(apart**2) / (n * (n * n - 1.0)))
