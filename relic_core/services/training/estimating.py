"""How long a training will take on this machine, and how much room it needs, said before it begins.

What goes through the model is counted in tokens, from the lengths of the texts; how fast they go is measured in about a
second with the very model, or taken from an earlier training here.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import Claim, Shape
from relic_core.encoders.one_pass import OnePassEncoder
from relic_core.encoders.weights import WEIGHTS, find_model
from relic_core.errors import BadWeights
from relic_core.training.recipes import BARE

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.encoders.cards import EncoderCard
    from relic_core.store.trainings import Material
    from relic_core.training.recipes import Recipe

FORWARD = 3.0
"""How many times as long as reading a token learning from it takes: forward, and backward twice that."""
AGAIN = 1.0
"""Added where states are made twice."""

_LETTERS = 4.3
"""Of a token of English prose."""
_WORD = 1.4
"""Tokens of a word, context of stretches included."""
_SIDES = 8
_CLAIMS = 24
_WORDS = 90
_COPIES = 3
"""A checkpoint holds the weights and two moments of each; two checkpoints are kept while a third is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a training will cost.

    Attributes
    ----------
    steps : int
        Batches that are learnt from.
    seconds : float
        All of it, validations included.
    validating : float
        Seconds of it for validations.
    disk : int
        Bytes that its files take at most.
    """

    steps: int
    seconds: float
    validating: float
    disk: int

    @property
    def words(self) -> str:
        """How long, in words."""
        return duration(self.seconds)


def reckon(recipe: Recipe, material: Material, *, most_pairs: int, use: str, words: int, speed: float) -> Estimate:
    """Reckon what a training will cost.

    Parameters
    ----------
    recipe : Recipe
        How.
    material : Material
        What there is to learn from.
    most_pairs : int
        The most pairs; 0 for all.
    use : str
        What of it: see `asking.USES`.
    words : int
        Of the works that one validation reads.
    speed : float
        Tokens that go through the base model in a second.

    Raises
    ------
    BadWeights
        The base model cannot be read.
    """
    pairs = 0 if use == "windows" else min(material.pairs, most_pairs or material.pairs)
    windows = 0 if use == "pairs" else material.windows
    of_pairs = -(-pairs // recipe.batch) if pairs > 1 and recipe.share < 1 else 0
    if of_pairs:
        of_windows = round(of_pairs * recipe.share / (1 - recipe.share)) if windows else 0
    else:
        of_windows = max(material.works, -(-windows // recipe.window_batch)) if windows and recipe.share else 0
    steps = math.ceil((of_pairs + of_windows) * recipe.epochs)
    share = of_windows / (of_pairs + of_windows) if steps else 0.0
    steps = min(steps, recipe.steps or steps)
    claim = _claim_tokens(recipe, material.context)
    passage = min(recipe.passage_tokens, material.quotation / _LETTERS) + 2
    stretches = recipe.window_batch + recipe.stretches if recipe.in_context else recipe.window_batch
    tokens = steps * (1 - share) * min(recipe.batch, max(pairs, 1)) * (claim + passage)
    tokens += (
        steps * share * (recipe.window_batch * claim + stretches * (recipe.window if recipe.in_context else passage))
    )
    learning = tokens * (FORWARD + AGAIN * recipe.cached) / speed
    times = 0 if not words else 1 + (-(-steps // recipe.validate_every) if recipe.validate_every else 1)
    spans = 1 if recipe.in_context else 5  # read alone, every length costs a pass
    validating = times * words * _WORD * spans / speed
    return Estimate(steps=steps, seconds=learning + validating, validating=validating, disk=room(recipe))


def room(recipe: Recipe) -> int:
    """Say how many bytes the files of a training take at most.

    Raises
    ------
    BadWeights
        The base model cannot be read.
    """
    whole, embedded = _sizes(find_model(recipe.base).folder / WEIGHTS)
    trained = whole - embedded if recipe.frozen_embeddings else whole
    towers = 1 if recipe.shared else 2
    return towers * (3 * _COPIES * trained + 2 * whole)


def measure(card: EncoderCard) -> float:
    """Measure how many tokens go through a model in a second on this machine, now.

    Raises
    ------
    BadWeights
        The model's files are missing or not the expected ones.
    """
    encoder = OnePassEncoder(card)
    claims = [Claim(left=" ".join(["quay", "and", "tide", f"{number}"] * (_WORDS // 4))) for number in range(_CLAIMS)]
    encoder.encode_claims(claims[:2])  # the first time it is loaded
    tokens = sum(len(encoder.pair.claim_ids(claim)) for claim in claims)
    best = math.inf
    for _ in range(2):
        began = time.perf_counter()
        encoder.encode_claims(claims)
        best = min(best, time.perf_counter() - began)
    return tokens / best


def duration(seconds: float) -> str:
    """Write a length of time as people say it.

    Examples
    --------
    >>> duration(20), duration(150), duration(5400), duration(40_000), duration(400_000)
    ('less than a minute', '3 minutes', '1 h 30 min', '11 hours', '5 days')
    """
    minutes = math.ceil(seconds / 60)
    if minutes <= 1:
        return "less than a minute"
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return f"{minutes} minutes"
    hours = seconds / 3600
    if hours < 4:  # noqa: PLR2004 - then minutes do not matter
        whole, rest = divmod(round(seconds / 600) * 10, 60)
        return f"{whole} h {rest} min" if rest else f"{whole} h"
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.0f} days"  # noqa: PLR2004 - two days


def _claim_tokens(recipe: Recipe, characters: float) -> float:
    """Expect the tokens of a claim over the recipe's shapes."""
    whole, total, all_weights = characters / _LETTERS, 0.0, 0.0
    for name, weight in recipe.shapes:
        shape = Shape(1, 0) if name == BARE else Shape.parse(name)
        total += weight * min(recipe.claim_tokens, whole * (shape.left + shape.right) / _SIDES)
        all_weights += weight
    return total / all_weights + 2


def _sizes(weights: Path) -> tuple[int, int]:
    """Give the bytes of all weights in float32, and of the embeddings among them, from the head of their file."""
    try:
        with weights.open("rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        counts = {name: math.prod(tensor["shape"]) for name, tensor in head.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise BadWeights(f"{weights} is no file of weights in safetensors ({error}). Put back a whole one.") from error
    return 4 * sum(counts.values()), 4 * sum(count for name, count in counts.items() if "embeddings." in name)
