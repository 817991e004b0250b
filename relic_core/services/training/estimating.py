"""How long a training will take on this machine, and how much room it needs, said before it begins.

What goes through the model is counted in tokens, from the lengths of the texts; how fast they go is measured in about a
second with the very model.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from relic_core.domain import Claim
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.weights import WEIGHTS, find_model
from relic_core.errors import BadWeights
from relic_core.services.training import loads
from relic_core.training.known_recipes import loop_of
from relic_core.training.recipes import Recipe

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.encoders.cards import EncoderCard
    from relic_core.store.trainings import Material
    from relic_core.training.known_recipes import AnyRecipe

_CLAIMS = 24
_WORDS = 90
_CHECKPOINTS = 3 * 3
"""A checkpoint holds the weights and two moments of each; two checkpoints are kept while a third is written."""
_MODELS = 3
"""The best so far, the one validated last, and the one that is being written."""


class Validated(NamedTuple):
    """What a training is validated on: windows, and the words of their works."""

    windows: int
    words: int


class Looking(NamedTuple):
    """How hard negatives are looked for: tokens a second through that model, 0 for not; words of the windows' works."""

    speed: float
    words: int


NOT_LOOKED_FOR = Looking(0.0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a training will cost.

    - `steps`: batches that are learnt from.
    - `looking`, `validating`: seconds of it for looking for hard negatives, and for validations.
    - `disk`: bytes that its files take at most.
    """

    steps: int
    seconds: float
    looking: float
    validating: float
    disk: int

    @property
    def words(self) -> str:
        """How long, in words."""
        return duration(self.seconds)


def reckon(
    recipe: AnyRecipe,
    material: Material,
    *,
    most_pairs: int,
    use: str,
    validated: Validated,
    speed: float,
    looking: Looking = NOT_LOOKED_FOR,
) -> Estimate:
    """Reckon what a training will cost.

    - `most_pairs`: the most pairs; 0 for all.
    - `use`: what of it: see `asking.USES`.
    - `speed`: tokens that go through the base model in a second.
    - `looking`: how hard negatives are looked for.

    Raises BadWeights: the base model cannot be read.
    """
    pairs = 0 if use == "windows" else min(material.pairs, most_pairs or material.pairs)
    windows = 0 if use == "pairs" else material.windows
    made = loads.batches(recipe, material, pairs=pairs, windows=windows)
    learning = loads.learnt(recipe, material, made, pairs=pairs) / speed
    validating = 0.0
    if validated.words:
        every = loop_of(recipe).validate_every
        before, each = loads.validated(recipe, material, windows=validated.windows, words=validated.words)
        validating = (before + each * (-(-made.steps // every) if every else 1)) / speed
    looked = 0.0
    if looking.speed:
        looked = loads.looked_through(recipe, material, made, pairs=pairs, words=looking.words) / looking.speed
    return Estimate(
        steps=made.steps,
        seconds=looked + learning + validating,
        looking=looked,
        validating=validating,
        disk=room(recipe),
    )


def room(recipe: AnyRecipe) -> int:
    """Say how many bytes the files of a training take at most.

    A model that keeps its base's embeddings, where the base is found on any machine, is written as what was learnt, in
    float16; else whole, in float32.

    Raises BadWeights: the base model cannot be read.
    """
    from relic_core.training.bases import keeps_embeddings

    loop, base = loop_of(recipe), find_model(recipe.base)
    whole, embedded = _sizes(base.folder / WEIGHTS)
    kept = keeps_embeddings(loop)
    layers = whole - embedded
    written = layers // 2 if kept and base.anywhere is not None else whole
    towers = 2 if isinstance(recipe, Recipe) and not recipe.shared else 1
    return towers * (_CHECKPOINTS * (layers if kept else whole) + _MODELS * written)


def measure(card: EncoderCard) -> float:
    """Measure how many tokens go through a model in a second on this machine, now.

    Raises BadWeights: the model's files are missing or not the expected ones.
    """
    encoder = LateChunkingEncoder(card)
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


def _sizes(weights: Path) -> tuple[int, int]:
    """Give the bytes of all weights in float32, and of the embeddings among them, from the head of their file."""
    try:
        with weights.open("rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        counts = {name: math.prod(tensor["shape"]) for name, tensor in head.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise BadWeights(f"{weights} is no file of weights in safetensors ({error}). Put back a whole one.") from error
    return 4 * sum(counts.values()), 4 * sum(count for name, count in counts.items() if "embeddings." in name)
