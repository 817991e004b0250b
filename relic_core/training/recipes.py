"""Recipes of encoders: all that decides what a training makes of its data, as one JSON object with a digest."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from relic_core.domain import MAX_LENGTH, ContextSize
from relic_core.encoders.cards import LEAST_WINDOW, WINDOW
from relic_core.errors import BadRequest
from relic_core.training.written_recipes import WrittenRecipe

Pooling = Literal["mean", "first"]
Similarity = Literal["cosine", "dot"]
Precision = Literal["bfloat16", "float32"]
Schedule = Literal["linear", "constant"]

BARE = "bare"
"""The shape of a prompt: one sentence beside the quotation, and no mask."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "pooling": get_args(Pooling),
    "similarity": get_args(Similarity),
    "precision": get_args(Precision),
    "schedule": get_args(Schedule),
}
_WHOLE: dict[str, tuple[int, int]] = {
    "batch": (2, 4096),
    "window_batch": (1, 4096),
    "stretches": (1, 4096),
    "chunk_tokens": (0, 1_000_000),
    "lora_rank": (0, 1024),
    "claim_tokens": (LEAST_WINDOW, 8192),
    "passage_tokens": (LEAST_WINDOW, 8192),
    "window": (LEAST_WINDOW, 8192),
    "hard_negatives": (0, 100),
    "longest": (1, 100),
    "seed": (0, 2**31 - 1),
    "steps": (0, 10**9),
    "validate_every": (0, 10**9),
    "patience": (0, 10**6),
}
_NUMBERS: dict[str, tuple[float, float]] = {
    "epochs": (0.0, 1000.0),
    "learning_rate": (0.0, 1.0),
    "warmup": (0.0, 1.0),
    "weight_decay": (0.0, 1.0),
    "dropout": (0.0, 0.9),
    "temperature": (0.0, 100.0),
    "clip": (0.0, 1000.0),
    "share": (0.0, 1.0),
    "blend": (0.0, 1.0),
}
_MORE_THAN_ZERO = {"epochs", "learning_rate", "temperature"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(WrittenRecipe):
    """How dense-RELiC is trained.

    - `base`: the model both encoders begin from: a folder, a hub name in the local cache; empty for the packaged
      all-MiniLM-L6-v2.
    - `shared`: one encoder for claims and quotations instead of two.
    - `pooling`: the vector of a text: the mean of its tokens' states, or its first token's. Spans are read in their
      context where it is the mean, by themselves where it is the first.
    - `similarity`: how a claim is compared with a quotation; cosines are divided by `temperature` in the loss.
    - `temperature`: divides the cosines; inner products are taken as they are.
    - `mask`: whether the tokenizer's mask token stands in a claim where the quotation was masked.
    - `batch`: pairs in a batch, all of one secondary source where it has as many (paper, section 3.2).
    - `window_batch`, `stretches`: Windows in a batch, all on one work; and stretches of the work in it, filled up by
      chance.
    - `share`: share of the batches that hold windows; 0 to 1.
    - `cached`: whether forward passes are made twice, so that memory holds the states of one chunk at a time; the
      gradient is the same.
    - `chunk_tokens`: tokens of a forward pass, padding counted; 0 for as many as suit the machine.
    - `epochs`: times all pairs are read.
    - `steps`: the most steps, 0 for as many as the epochs have.
    - `learning_rate`, `warmup`, `weight_decay`, `clip`: of AdamW: the highest rate; the share of all steps in which it
      rises; decay; the largest norm of the gradient, 0 for any.
    - `schedule`: whether the rate falls to zero after the warm-up.
    - `precision`: of the matrix products; weights and sums are float32.
    - `dropout`: on a processor its random numbers cost as much as all the rest.
    - `frozen_embeddings`: whether the embeddings stay those of the base, so that only layers are learnt.
    - `lora_rank`: rank of low-rank adapters of the layers' matrices (LoRA), trained in their stead; 0 trains the
      layers.
    - `blend`: how far the way from what the training begins from, its base or its start, to what was learnt is gone in
      the weights that are written and validated; 1 for all of it: see `exporting.blended`.
    - `shapes`: context shapes ("4/4", "1/0", "bare" for a prompt without a mask) with their weights: one is drawn for
      every example each time it is read.
    - `claim_tokens`, `passage_tokens`: the most tokens of a claim, and of a quotation that is read by itself.
    - `claim_windows`: of the encoder made: tokens to each of which it cuts a claim, see `EncoderCard`. In training a
      claim is read once.
    - `window`: tokens of a stretch of a work, special tokens apart; also the window of the encoder made.
    - `longest`: the most sentences of a window's quotation; windows on longer ones are left out.
    - `hard_negatives`: of each example, where any were given.
    - `validate_every`, `patience`: steps between two validations, 0 for one at the end; validations without a better
      score after which training stops, 0 for never.
    - `watch`: the figure of the validation that decides which weights are kept.

    Raises BadRequest: a value is none of the allowed ones.

    >>> Recipe(pooling="last")
    Traceback (most recent call last):
        ...
    relic_core.errors.BadRequest: The recipe's pooling is "last"; it must be "mean" or "first".
    """

    name: str = "default"
    base: str = ""
    shared: bool = False
    pooling: Pooling = "mean"
    similarity: Similarity = "cosine"
    temperature: float = 0.05
    mask: bool = True
    batch: int = 100
    window_batch: int = 16
    stretches: int = 24
    share: float = 0.15
    cached: bool = False
    chunk_tokens: int = 0
    epochs: float = 1.0
    steps: int = 0
    learning_rate: float = 2e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    schedule: Schedule = "linear"
    precision: Precision = "bfloat16"
    dropout: float = 0.0
    frozen_embeddings: bool = True
    lora_rank: int = 0
    blend: float = 1.0
    shapes: tuple[tuple[str, float], ...] = (("4/4", 4.0), ("1/1", 3.0), ("1/0", 1.5), ("0/1", 0.5), (BARE, 1.0))
    claim_tokens: int = 176
    passage_tokens: int = 72
    claim_windows: tuple[int, ...] = ()
    window: int = WINDOW
    longest: int = MAX_LENGTH
    hard_negatives: int = 1
    seed: int = 20220
    validate_every: int = 250
    patience: int = 6
    watch: str = "recall@10"

    def __post_init__(self) -> None:
        """Check the values."""
        for field in fields(self):
            self._check(field.name, getattr(self, field.name))
        for name in _NUMBERS:  # 1 and 1.0 are one recipe, and have one digest
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "shapes", tuple((shape, float(weight)) for shape, weight in self.shapes))
        if self.claim_tokens > self.window or self.passage_tokens > self.window:
            raise BadRequest(
                f"The recipe reads claims of {self.claim_tokens} and quotations of {self.passage_tokens} tokens, and "
                f"its window has {self.window}. Neither may be longer than the window."
            )

    def _check(self, name: str, value: object) -> None:
        if name in _CHOICES:
            if value not in _CHOICES[name]:
                self._refuse(name, " or ".join(f'"{each}"' for each in _CHOICES[name]))
        elif name in _WHOLE or name in _NUMBERS:
            self._check_number(name, value)
        elif name == "shapes":
            self._check_shapes(value)
        elif name == "claim_windows":
            self._check_windows(value)
        elif name in {"name", "base", "watch"}:
            if not isinstance(value, str) or (name != "base" and not value.strip()):
                self._refuse(name, "a text")
        elif not isinstance(value, bool):
            self._refuse(name, "true or false")

    def _check_number(self, name: str, value: object) -> None:
        if name in _WHOLE:
            fewest, most = _WHOLE[name]
            if type(value) is not int or not fewest <= value <= most:
                self._refuse(name, f"a whole number from {fewest:,} to {most:,}")
            return
        least, highest = _NUMBERS[name]
        if not _is_number(value, least, highest) or (name in _MORE_THAN_ZERO and not value):
            self._refuse(name, f"a number {'above' if name in _MORE_THAN_ZERO else 'from'} {least:g} to {highest:g}")

    def _check_windows(self, value: object) -> None:
        most = self.window
        if not isinstance(value, tuple) or not all(
            type(each) is int and LEAST_WINDOW <= each <= most for each in value
        ):
            self._refuse("claim_windows", f"a list of whole numbers of tokens, {LEAST_WINDOW} to {most}")

    def _check_shapes(self, value: object) -> None:
        rows = value if isinstance(value, tuple) else ()
        if not rows or not all(
            isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], str) and _is_number(row[1], 0.0, 1e9)  # noqa: PLR2004
            for row in rows
        ):
            self._refuse("shapes", 'a list of shapes with weights: [["4/4", 2], ["1/0", 1], ["bare", 1]]')
        for shape, _ in rows:
            if shape != BARE:
                ContextSize.parse(shape)
        if not sum(weight for _, weight in rows):
            self._refuse("shapes", "a list in which one weight at least is above 0")

    def _refuse(self, name: str, allowed: str) -> None:
        given = json.dumps(getattr(self, name), ensure_ascii=False, default=str)
        raise BadRequest(f"The recipe's {name} is {given}; it must be {allowed}.")

    @property
    def in_context(self) -> bool:
        """Whether spans of works are read in their context: only a mean can be taken there."""
        return self.pooling == "mean"


def _is_number(value: object, least: float, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and least <= value <= most


DEFAULT = Recipe(blend=0.5, claim_windows=(176, 96, 48))
"""That of the encoder that comes with the program; docs/training.md says what each of its choices is worth."""

PAPER = Recipe(
    name="paper",
    base="roberta-base",
    pooling="first",
    similarity="dot",
    batch=100,
    window_batch=100,
    share=0.0,
    cached=True,
    epochs=10.0,
    learning_rate=1e-5,
    warmup=0.0,
    weight_decay=0.0,
    clip=0.0,
    schedule="constant",
    precision="float32",
    dropout=0.1,
    frozen_embeddings=False,
    shapes=(("4/4", 1.0),),
    claim_tokens=510,
    passage_tokens=510,
    window=510,
    hard_negatives=0,
    patience=0,
)
"""RELiC, section 3.2: RoBERTa-base, the first token's state, inner products, batches of 100, ten epochs, Adam at 1e-5.

What the paper does not say: whether claims were cut (here to what RoBERTa reads) and how the rate went (here constant).
"""

LAPTOP = replace(DEFAULT, name="laptop", batch=48, window_batch=8, stretches=12, cached=True, validate_every=100)
