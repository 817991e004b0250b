"""Thresholds for the strength of hits: how good the best hit of a claim must be, so that another book hardly has it.

A claim is asked of the work it is about and of others. Its best score in another work shows what chance gives, and that
chance is better the fewer of the claim's words are foreign to the work: a logistic regression of "own work or another"
on score, share of foreign words and foreign names gives by how much the threshold is to rise with either. Where it
stands follows from how often another work may pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relic_core.errors import BadRequest
from relic_core.retrieval.strength import Threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from relic_core.retrieval.strength import Level

    Floats = npt.NDArray[np.float64]

FAIR, STRONG = 0.08, 0.015
"""Shares of claims for which the best hit in another work may pass for fair, and for strong."""

_ROUNDS = 50
_RIDGE = 1e-3
"""Keeps weights finite where own and other works can be told apart without a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestHit:
    """The best hit of a claim in one work.

    - `own`: whether it was found there.
    - `share`, `named`: how far the claim's words are foreign to the work searched: as
      `relic_core.retrieval.strength.OutOfVocabulary`.
    - `shape`: how much context the claim took.
    - `found`: whether the hit is the quotation that the critic chose.
    """

    about: str
    own: bool
    score: float
    share: float
    named: bool
    shape: str = ""
    found: bool = False


def level_of(hit: BestHit, threshold: Threshold) -> Level:
    """Judge a hit."""
    return threshold.level(hit.score, hit.share, hit.named)


def set_thresholds(hits: Sequence[BestHit], *, fair: float = FAIR, strong: float = STRONG) -> Threshold:
    """Set the thresholds by the best hits of claims in their own works and in others.

    - `fair`, `strong`: shares of the hits in other works that may pass.

    Raises BadRequest: there are no hits of one kind.

    >>> own = [BestHit(about="a", own=True, score=0.6 + at / 100, share=0.1, named=False) for at in range(20)]
    >>> other = [BestHit(about="a", own=False, score=0.4 + at / 100, share=0.1, named=False) for at in range(20)]
    >>> threshold = set_thresholds(own + other, fair=0.1, strong=0.05)
    >>> [level_of(hit, threshold) for hit in (own[0], other[0])]
    ['strong', 'weak']
    """
    is_own = np.array([hit.own for hit in hits], dtype=np.bool_)
    if not is_own.any() or is_own.all():
        raise BadRequest(
            "Thresholds are set by hits in works that claims are about and in others, and those of one kind are "
            "missing. Take a benchmark of two works or more."
        )
    facts = np.array([[hit.score, hit.share, float(hit.named)] for hit in hits])
    weights = _logistic(facts, is_own.astype(np.float64))
    per_unknown, if_named = (max(0.0, -weight / weights[0]) if weights[0] > 0 else 0.0 for weight in weights[1:])
    reached = facts @ np.array([1.0, -per_unknown, -if_named])
    least, most = np.quantile(reached[~is_own], [1 - fair, 1 - strong])
    return Threshold(fair=float(least), strong=float(most), per_unknown=float(per_unknown), if_named=float(if_named))


def _logistic(facts: Floats, own: Floats) -> Floats:
    """Fit a logistic regression by Newton's method, both kinds weighing the same; shape (n_facts,), no constant."""
    spread = facts.std(0)
    spread[spread == 0] = 1.0
    given = np.column_stack([(facts - facts.mean(0)) / spread, np.ones(len(facts))])
    balance = np.where(own == 1, 0.5 / own.sum(), 0.5 / (len(own) - own.sum())) * len(own)
    weights = np.zeros(given.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(given @ weights, -30, 30)))
        slope = given.T @ (balance * (chance - own)) + _RIDGE * weights
        curve = (given * (balance * chance * (1 - chance))[:, None]).T @ given + _RIDGE * np.eye(len(weights))
        weights = weights - np.linalg.solve(curve, slope)
    fitted: Floats = weights[:-1] / spread
    return fitted


def left_out(hits: Sequence[BestHit], *, fair: float = FAIR, strong: float = STRONG) -> list[Level]:
    """Judge each hit by thresholds that were set without the claims about its work; levels in the order of `hits`.

    Raises BadRequest: as `set_thresholds`: of claims about one work alone, none can be left out.
    """
    thresholds = {
        about: set_thresholds([hit for hit in hits if hit.about != about], fair=fair, strong=strong)
        for about in dict.fromkeys(hit.about for hit in hits)
    }
    return [level_of(hit, thresholds[hit.about]) for hit in hits]
