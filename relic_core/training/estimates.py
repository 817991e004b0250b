"""How long a training will take on this machine, and how much room it needs, said before it begins.

What goes through the model is counted in tokens, from the lengths of the texts; how fast they go is measured in about a
second with the very model. What goes through once in training costs several times what reading it costs; the
factors are measured (all-MiniLM-L6-v2 in bfloat16, one thread), and tokens here are as many as would cost the same if
they were only read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from relic_core.domain import Claim, ContextSize
from relic_core.domain.attribution import Target
from relic_core.domain.trainings import duration
from relic_core.encoders.cards import EncoderCard, Reading
from relic_core.encoders.generator import OBSERVED, PIECES, SpanLikelihood
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.weights import WEIGHTS, find_model
from relic_core.errors import BadWeights
from relic_core.formats.files import record_of
from relic_core.ports import silent
from relic_core.retrieval.reranked import TOP_K
from relic_core.store.trainings import Material
from relic_core.training.recipes import BARE, AnyRecipe, EncoderRecipe, RerankerRecipe, SourceRecipe

_FORWARD = 3.0
"""How many times as long as reading a token learning from it takes: forward, and backward twice that."""
_AGAIN = 1.0
"""Added where states are made twice."""
_TOKENS_OF_WORD = 1.4
"""Tokens of a word of a work, context of stretches included."""


_LEARNT_TOGETHER: dict[Reading, float] = {"claim first": 6.5, "together": 8.0}
_READ_TOGETHER: dict[Reading, float] = {"claim first": 2.2, "together": 1.2}
"""What a token costs, learnt from or read, of a claim and a passage read together, by a token of a text by itself. Each
passage's tokens look at the claim's too; where the claim is read first, its own are counted once."""

_MET = 0.08
"""What meeting a token costs, for the claims of a window in late interaction, by what reading it does."""
_WORKS = 4
"""Among which the windows of a validation are, more or less."""

_LETTERS = 4.3
"""Of a token of English prose."""
_SENTENCE = 25
"""Tokens of a sentence."""
_SIDES = 8
_SOURCE = 300
"""Tokens of a source."""

_CLAIMS = 24
_WORDS = 90
_CHECKPOINTS = 3 * 3
"""A checkpoint holds the weights and two moments of each; two checkpoints are kept while a third is written."""
_MODELS = 3
"""The best so far, the one validated last, and the one that is being written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a training will cost: of its seconds those that look for hard negatives; the most bytes of its files."""

    steps: int
    seconds: float
    looking: float
    disk: int

    @property
    def words(self) -> str:
        """How long, in words: "about 5 minutes", "less than a minute"."""
        words = duration(self.seconds)
        return words if words.startswith("less") else f"about {words}"


def reckon(
    recipe: AnyRecipe,
    material: Material,
    speed: float,
    *,
    validated: int = 0,
    validated_words: int = 0,
    looking_speed: float = 0.0,
    looked_words: int = 0,
) -> Estimate:
    """Reckon what a training will cost.

    - `speed`: tokens that go through the base model in a second.
    - `validated`, `validated_words`: windows that it is validated on, and words of their works.
    - `looking_speed`, `looked_words`: tokens a second through the model that looks for hard negatives, 0 where none are
      looked for; words of the windows' works.
    """
    made = _batches(recipe, material)
    seconds = _learnt(recipe, material, made) / speed
    if validated_words:
        every = recipe.validate_every
        before, each = _validated(recipe, material, windows=validated, words=validated_words)
        seconds += (before + each * (-(-made.steps // every) if every else 1)) / speed
    looked = _looked_through(recipe, material, made, looked_words) / looking_speed if looking_speed else 0.0
    return Estimate(steps=made.steps, seconds=looked + seconds, looking=looked, disk=room(recipe))


def room(recipe: AnyRecipe) -> int:
    """Say how many bytes the files of a training take at most.

    A model that keeps its base's embeddings, where the base is found on any machine, is written as what was learnt, in
    float16; else whole, in float32.
    """
    if isinstance(recipe, SourceRecipe) and recipe.retrieves:
        recipe = recipe.encoder()
    base = find_model(recipe.base)
    whole, embedded = _sizes(base.folder / WEIGHTS)
    kept = recipe.keeps_embeddings
    layers = whole - embedded
    written = layers // 2 if kept and base.anywhere is not None else whole
    towers = 2 if isinstance(recipe, EncoderRecipe) and not recipe.shared else 1
    return towers * (_CHECKPOINTS * (layers if kept else whole) + _MODELS * written)


def measure(model: EncoderCard | str) -> float:
    """Measure how many tokens go through an encoder, or a model that generates text, in a second here and now."""
    texts = [" ".join(["quay", "and", "tide", f"{number}"] * (_WORDS // 4)) for number in range(_CLAIMS)]
    run: Callable[[list[str]], object]
    if isinstance(model, str):
        reader, target = SpanLikelihood(model, precision="float32"), Target.between("quay", "tide", "and")
        run = lambda some: reader(target, some, silent)  # noqa: E731 - beside the other
        tokens = sum(len(row) for row in reader.cut(target, texts)[0])
    else:
        encoder = LateChunkingEncoder(model)
        run = lambda some: encoder.encode_claims([Claim(text) for text in some])  # noqa: E731
        tokens = sum(len(encoder.pair.claim_ids(Claim(text))) for text in texts)
    run(texts[:2])  # the first time it is loaded
    best = math.inf
    for _ in range(2):
        began = time.perf_counter()
        run(texts)
        best = min(best, time.perf_counter() - began)
    return tokens / best


def _sizes(weights: Path) -> tuple[int, int]:
    """Give the bytes of all weights in float32, and of the embeddings among them, from the head of their file."""
    try:
        with weights.open("rb") as file:
            head = record_of(dict[str, dict[str, Any]], file.read(int.from_bytes(file.read(8), "little")))
        counts = {name: math.prod(map(int, tensor["shape"])) for name, tensor in head.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise BadWeights(
            f"{weights} is not a file of weights in safetensors ({error}). Put back a whole one."
        ) from error
    return 4 * sum(counts.values()), 4 * sum(count for name, count in counts.items() if "embeddings." in name)


class _Batches(NamedTuple):
    """How many batches there are, and how many of them hold windows."""

    steps: int
    of_windows: int

    @property
    def of_pairs(self) -> int:
        """How many hold pairs."""
        return self.steps - self.of_windows


def _batches(recipe: AnyRecipe, material: Material) -> _Batches:
    pairs, windows = material.pairs, material.windows
    of_pairs = -(-pairs // recipe.batch) if pairs > 1 and recipe.share < 1 else 0
    if of_pairs:
        of_windows = round(of_pairs * recipe.share / (1 - recipe.share)) if windows else 0
    else:
        of_windows = max(material.works, -(-windows // recipe.window_batch)) if windows and recipe.share else 0
    steps = math.ceil((of_pairs + of_windows) * recipe.epochs)
    share = of_windows / (of_pairs + of_windows) if steps else 0.0
    steps = min(steps, recipe.steps or steps)
    return _Batches(steps, round(steps * share))


def _learnt(recipe: AnyRecipe, material: Material, made: _Batches) -> float:
    claim = _claim_tokens(recipe, material.context)
    of_pairs = made.of_pairs * min(recipe.batch, max(material.pairs, 1))
    of_windows = made.of_windows * recipe.window_batch
    if isinstance(recipe, SourceRecipe):  # an encoder costs little beside what a generator reads for it, once
        if recipe.retrieves:
            return _generator_tokens(recipe, material, min(of_windows, material.windows))
        return _generator_tokens(recipe, material, of_windows) * _FORWARD
    if not isinstance(recipe, EncoderRecipe):
        passage = _quotation(material)
        tokens = of_pairs * _list(recipe, claim, passage) + of_windows * _list(recipe, claim, passage + _beside(recipe))
        return tokens * (_LEARNT_TOGETHER[recipe.reading] + _READ_TOGETHER[recipe.reading] * recipe.cached)
    passage = min(recipe.passage_tokens, material.quotation / _LETTERS) + 2
    tokens = of_pairs * (claim + passage) + of_windows * claim
    if recipe.in_context:
        tokens += made.of_windows * (recipe.window_batch + recipe.stretches) * recipe.window
    else:
        tokens += of_windows * passage
    return tokens * (_FORWARD + _AGAIN * recipe.cached)


def _validated(recipe: AnyRecipe, material: Material, *, windows: int, words: int) -> tuple[float, float]:
    if isinstance(recipe, EncoderRecipe):
        spans = 1.0 if recipe.in_context else 5.0  # read alone, every length costs a pass
        if recipe.is_late:
            spans += _MET * windows / _WORKS
        return words * _TOKENS_OF_WORD * spans, words * _TOKENS_OF_WORD * spans
    if isinstance(recipe, SourceRecipe):
        once = _generator_tokens(recipe, material, windows)
        return once, 0.0 if recipe.retrieves else once
    claim = min(recipe.claim_tokens, material.context / _LETTERS)
    passage = _quotation(material) + _beside(recipe)
    return words * _TOKENS_OF_WORD, windows * _list(recipe, claim, passage, TOP_K) * _READ_TOGETHER[recipe.reading]


def _looked_through(recipe: AnyRecipe, material: Material, made: _Batches, words: int) -> float:
    claims = min(material.pairs, made.of_pairs * recipe.batch)
    tokens = claims * (material.context / _LETTERS + _quotation(material))
    if made.of_windows:
        claims_of_windows = min(material.windows, made.of_windows * recipe.window_batch)
        tokens += words * _TOKENS_OF_WORD + claims_of_windows * material.context / _LETTERS
    return tokens


def _generator_tokens(recipe: SourceRecipe, material: Material, windows: int) -> float:
    around, quotation = min(OBSERVED, material.context / _LETTERS), min(PIECES, _quotation(material))
    return windows * (recipe.candidates if recipe.retrieves else 1) * (around + _SOURCE + quotation)


def _list(recipe: RerankerRecipe, claim: float, passage: float, passages: int = 0) -> float:
    count = passages or 1 + recipe.negatives
    passage = min(passage, recipe.window - claim)
    return count * (claim + passage) if recipe.reading == "together" else claim + count * passage


def _beside(recipe: RerankerRecipe) -> float:
    return 2.0 * recipe.context * _SENTENCE


def _quotation(material: Material) -> float:
    return material.quotation / _LETTERS + 2


def _claim_tokens(recipe: AnyRecipe, characters: float) -> float:
    whole, total, all_weights = characters / _LETTERS, 0.0, 0.0
    for name, weight in recipe.shapes:
        shape = ContextSize(1, 0) if name == BARE else ContextSize.parse(name)
        total += weight * min(recipe.claim_tokens, whole * (shape.left + shape.right) / _SIDES)
        all_weights += weight
    return total / all_weights + 2
