"""Verdicts of two readers on the same passages: how far they agree.

Cohen's kappa is the share of equal verdicts, less what two readers would share who gave each verdict as often and
without looking, over what is then left to reach (Cohen 1960, "A coefficient of agreement for nominal scales").
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadersAgreement:
    """How far two readers agree.

    - `equal`, `passages`: passages on which their verdicts are the same, and all that both read.
    - `kappa`: Cohen's, -1 to 1, 0 being chance; None where both gave one and the same verdict throughout, so that
      chance alone would make them agree and nothing can be said.
    """

    equal: int
    passages: int
    kappa: float | None


def readers_agreement(first: Sequence[str], second: Sequence[str]) -> ReadersAgreement:
    """Compare the verdicts of two readers on the same passages.

    - `first`, `second`: one verdict for each passage, in the same order; none is nearer to another than the third is.

    Raises BadRequest: there are none, or they are not of the same passages.

    >>> readers_agreement(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    ReadersAgreement(equal=3, passages=4, kappa=0.5)
    """
    n = len(first)
    if n == 0 or len(second) != n:
        raise BadRequest(
            f"Agreement takes two readers' verdicts on the same passages; given were {n:,} and {len(second):,}."
        )
    equal = sum(a == b for a, b in zip(first, second, strict=True))
    mine, theirs = Counter(first), Counter(second)
    by_chance = sum(mine[verdict] * theirs[verdict] for verdict in mine)  # over n * n
    possible = n * n - by_chance
    return ReadersAgreement(equal=equal, passages=n, kappa=(equal * n - by_chance) / possible if possible else None)
