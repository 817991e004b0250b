"""Calibration: what the scores of one model are worth, so that they can be called strong or weak, joined and fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from relic_core.domain.searches import Joined

Level = Literal["strong", "fair", "weak"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """What a hit of one retriever must reach.

    - `fair`, `strong`: the least for either level, when the work has all the claim's words.
    - `per_unknown`: added in proportion to the share of the claim's words that the work never uses.
    - `if_named`: added when the claim names somebody or something the work never names.
    - `spread`: added to the deviation, so that a few near-equal scores do not make a large z.
    """

    fair: float
    strong: float
    per_unknown: float
    if_named: float
    by_z: bool = False
    spread: float = 0.0

    def level(self, reached: float, share: float, named: bool) -> Level:
        """Give the level of a score or z for a claim with so many unknown words."""
        reached -= self.per_unknown * share + self.if_named * named
        return "strong" if reached >= self.strong else "fair" if reached >= self.fair else "weak"


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """What makes a probability of a score: 1 / (1 + exp(-(slope * score + intercept)))."""

    slope: float
    intercept: float

    def __call__(self, scores: npt.NDArray[np.floating]) -> Floats:
        """Give the probability of each score."""
        logits = self.slope * scores.astype(np.float64) + self.intercept
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -50, 50))))


@dataclass(frozen=True, slots=True)
class Joining:
    """What joins the claims of one retriever.

    - `sigmoids`: for passages of one to five sentences.
    - `threshold`, `threshold_and`: the probability from which a unit belongs to the answer, and that where claims are
      joined by and; chosen on dev for F1. What bears two claims is rarer, and less rare than chance would have it.
    """

    sigmoids: tuple[Sigmoid, ...]
    threshold: float
    threshold_and: float

    def least(self, joined: Sequence[Joined]) -> float:
        """Give the threshold for claims that are joined so, the first by and."""
        return self.threshold_and if joined.count("and") > 1 else self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionWeights:
    """What a ranking counts for in Combined, by its retriever; 1 where none is given.

    - `short`: of a short claim, which names little of what stands around a line, and of words where nothing is known of
      what does.
    - `most`: standard deviations that a ranking may add at most for a short claim: there one rare word would lift a
      stub above all else.
    """

    long: Mapping[str, float]
    short: Mapping[str, float]
    most: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What is known of the scores of one encoder.

    - `model`: the digest of its files and of how they are used, as in the identity of the encoder.
    - `strength`: None where it is not known how close other books would come.
    - `joined`: by retriever: of the encoder alone, and of Combined.
    """

    model: str
    strength: Threshold | None
    joined: Mapping[str, Joining]
    fusion: FusionWeights
