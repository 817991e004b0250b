"""Random order: what a retriever gets that reads neither the claim nor the work, the floor under every other figure.

The order is drawn anew for each claim, work and length, and is the same each time it is asked for: the generator is
seeded with a digest of the three. Scores are the places of the order, so that no two spans tie and a gold is equally
likely to have any rank.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from relic_core.config import Settings
from relic_core.domain import Claim, Scores, Work
from relic_core.ports import Retriever
from relic_core.text.masking import claim_tokens

CODE = "random/1"
"""Version of how orders are drawn: a new one draws others."""


class RandomOrder(Retriever):
    """Puts the spans in a random order."""

    name = "random"

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed

    @property
    def configuration(self) -> Mapping[str, str]:
        """The seed, and the version of the draw."""
        return {"seed": str(self._seed), "code": CODE}

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences: above 0 up to 1, each value once."""
        claim_tokens(claim)
        keys = [self._seed, claim.left, claim.right, claim.masked, work.fingerprint, length]
        seed = int.from_bytes(hashlib.sha256(json.dumps(keys).encode()).digest(), "big")
        count = work.candidates(length)
        # The bits of PCG64 are the same in every release of numpy; what a Generator makes of them need not be.
        order = np.argsort(np.random.PCG64(seed).random_raw(count), kind="stable")
        scores = np.empty(count, dtype=np.float32)
        scores[order] = np.arange(1, count + 1, dtype=np.float32) / max(1, count)
        return scores


def create(settings: Settings, components: Sequence[Retriever]) -> RandomOrder:  # noqa: ARG001 - the registry's signature
    """Make the retriever."""
    return RandomOrder()
