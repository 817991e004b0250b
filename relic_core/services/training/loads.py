"""How much a training reads: batches, and the tokens that go through its model, reckoned from the lengths of texts.

What goes through once, and is learnt from, costs several times what reading it costs; the factors are measured
(all-MiniLM-L6-v2 in bfloat16, one thread), and tokens here are as many as would cost the same if they were only read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from relic_core.domain import ContextSize
from relic_core.retrieval.reranked import HEAD
from relic_core.training.known_recipes import loop_of
from relic_core.training.recipes import BARE, Recipe

if TYPE_CHECKING:
    from relic_core.encoders.cards import Reading
    from relic_core.store.trainings import Material
    from relic_core.training.known_recipes import AnyRecipe
    from relic_core.training.reranking.recipe import RerankerRecipe

FORWARD = 3.0
"""How many times as long as reading a token learning from it takes: forward, and backward twice that."""
AGAIN = 1.0
"""Added where states are made twice."""
WORD = 1.4
"""Tokens of a word of a work, context of stretches included."""


class Joint(NamedTuple):
    """What a token costs of a claim and a passage read together, by a token of a text read by itself."""

    learnt: float
    read: float


JOINT: dict[Reading, Joint] = {"claim first": Joint(6.5, 2.2), "together": Joint(8.0, 1.2)}
"""Each passage's tokens look at the claim's too; where the claim is read first, its own are counted once."""

_LETTERS = 4.3
"""Of a token of English prose."""
_SENTENCE = 25
"""Tokens of a sentence."""
_SIDES = 8


class Batches(NamedTuple):
    """How many batches there are, and how many of them hold windows."""

    steps: int
    of_windows: int

    @property
    def of_pairs(self) -> int:
        """How many hold pairs."""
        return self.steps - self.of_windows


def batches(recipe: AnyRecipe, material: Material, *, pairs: int, windows: int) -> Batches:
    """Count the batches of a training.

    - `material`: on how many works the windows are.
    """
    loop = loop_of(recipe)
    of_pairs = -(-pairs // loop.batch) if pairs > 1 and loop.share < 1 else 0
    if of_pairs:
        of_windows = round(of_pairs * loop.share / (1 - loop.share)) if windows else 0
    else:
        of_windows = max(material.works, -(-windows // loop.window_batch)) if windows and loop.share else 0
    steps = math.ceil((of_pairs + of_windows) * loop.epochs)
    share = of_windows / (of_pairs + of_windows) if steps else 0.0
    steps = min(steps, loop.steps or steps)
    return Batches(steps, round(steps * share))


def learnt(recipe: AnyRecipe, material: Material, made: Batches, *, pairs: int) -> float:
    """Reckon what learning costs, in tokens read.

    - `material`: how long texts are.
    - `made`: as `batches` counts them.
    """
    loop = loop_of(recipe)
    claim = _claim_tokens(loop, material.context)
    of_pairs, of_windows = made.of_pairs * min(loop.batch, max(pairs, 1)), made.of_windows * loop.window_batch
    if not isinstance(recipe, Recipe):
        cost = JOINT[recipe.reading]
        passage = _quotation(material)
        tokens = of_pairs * _list(recipe, claim, passage) + of_windows * _list(recipe, claim, passage + _beside(recipe))
        return tokens * (cost.learnt + cost.read * recipe.cached)
    passage = min(recipe.passage_tokens, material.quotation / _LETTERS) + 2
    tokens = of_pairs * (claim + passage) + of_windows * claim
    if recipe.in_context:
        tokens += made.of_windows * (recipe.window_batch + recipe.stretches) * recipe.window
    else:
        tokens += of_windows * passage
    return tokens * (FORWARD + AGAIN * recipe.cached)


def validated(recipe: AnyRecipe, material: Material, *, windows: int, words: int) -> tuple[float, float]:
    """Reckon what a validation costs, in tokens read: before the first step, and each time.

    - `material`: how long texts are.
    - `windows`, `words`: that it is validated on; of their works.
    """
    if isinstance(recipe, Recipe):
        spans = 1 if recipe.in_context else 5  # read alone, every length costs a pass
        return words * WORD * spans, words * WORD * spans
    claim = min(recipe.claim_tokens, material.context / _LETTERS)
    passage = _quotation(material) + _beside(recipe)
    return words * WORD, windows * _list(recipe, claim, passage, HEAD) * JOINT[recipe.reading].read


def looked_through(recipe: AnyRecipe, material: Material, made: Batches, *, pairs: int, words: int) -> float:
    """Reckon what looking for hard negatives costs, in tokens read.

    - `recipe`: how much of what there is a training reads.
    - `material`: how long texts are.
    - `made`: as `batches` counts them.
    """
    loop = loop_of(recipe)
    claims = min(pairs, made.of_pairs * loop.batch)
    tokens = claims * (material.context / _LETTERS + _quotation(material))
    if made.of_windows:
        tokens += (
            words * WORD + min(material.windows, made.of_windows * loop.window_batch) * material.context / _LETTERS
        )
    return tokens


def _list(recipe: RerankerRecipe, claim: float, passage: float, passages: int = 0) -> float:
    """Give the tokens of a claim and its passages."""
    count = passages or 1 + recipe.negatives
    passage = min(passage, recipe.window - claim)
    return count * (claim + passage) if recipe.reading == "together" else claim + count * passage


def _beside(recipe: RerankerRecipe) -> float:
    """Give the tokens on either side of a span of a work that are read with it."""
    return 2.0 * recipe.context * _SENTENCE


def _quotation(material: Material) -> float:
    return material.quotation / _LETTERS + 2


def _claim_tokens(recipe: Recipe, characters: float) -> float:
    """Expect the tokens of a claim over the recipe's shapes."""
    whole, total, all_weights = characters / _LETTERS, 0.0, 0.0
    for name, weight in recipe.shapes:
        shape = ContextSize(1, 0) if name == BARE else ContextSize.parse(name)
        total += weight * min(recipe.claim_tokens, whole * (shape.left + shape.right) / _SIDES)
        all_weights += weight
    return total / all_weights + 2
