"""Recipes of cross-encoders: what decides a training, as one JSON object with a digest."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from relic_core.domain import MAX_LENGTH
from relic_core.encoders.cards import LEAST_WINDOW, HeadPooling, Reading, RerankerCard
from relic_core.errors import BadRequest, BadWeights
from relic_core.training.recipes import BARE, Precision, Recipe, Schedule
from relic_core.training.written_recipes import WrittenRecipe

if TYPE_CHECKING:
    from relic_core.domain.trainings import ModelKind

_OWN = ("reading", "context", "negatives", "pooling")


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerRecipe(WrittenRecipe):
    """How a cross-encoder is trained.

    - `reading`: how claims and passages see each other: see `RerankerCard`.
    - `pooling`: what the score is made of: see `RerankerCard`.
    - `context`: sentences of the work on either side of a window's span, 0 or 1. Quotations of pairs have none.
    - `negatives`: passages beside the claim's own: hard ones where any are given, then others of its source or its
      work.

    Raises BadRequest: a value is none of the allowed ones.

    >>> RerankerRecipe(negatives=0)
    Traceback (most recent call last):
        ...
    relic_core.errors.BadRequest: The recipe's negatives is 0; it must be a whole number from 1 to 100.
    """

    kind: ClassVar[ModelKind] = "reranker"
    called: ClassVar[str] = "a reranker's recipe"

    name: str = "reranker"
    base: str = ""
    reading: Reading = "claim first"
    pooling: HeadPooling = "likeness"
    mask: bool = True
    context: int = 0
    negatives: int = 7
    batch: int = 16
    window_batch: int = 16
    share: float = 0.15
    cached: bool = False
    chunk_tokens: int = 0
    epochs: float = 1.0
    steps: int = 0
    learning_rate: float = 5e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    schedule: Schedule = "linear"
    precision: Precision = "bfloat16"
    dropout: float = 0.0
    frozen_embeddings: bool = True
    lora_rank: int = 0
    shapes: tuple[tuple[str, float], ...] = (("4/4", 4.0), ("1/1", 3.0), ("1/0", 1.5), ("0/1", 0.5), (BARE, 1.0))
    claim_tokens: int = 200
    window: int = 382
    longest: int = MAX_LENGTH
    seed: int = 20220
    validate_every: int = 250
    patience: int = 6
    watch: str = "recall@10"

    def __post_init__(self) -> None:
        """Check the values."""
        most = 100
        if type(self.negatives) is not int or not 1 <= self.negatives <= most:
            given = json.dumps(self.negatives, default=str)
            raise BadRequest(f"The recipe's negatives is {given}; it must be a whole number from 1 to {most}.")
        checked = self.training
        for field in fields(self):  # 1 and 1.0 are one recipe
            if field.name not in _OWN:
                object.__setattr__(self, field.name, getattr(checked, field.name))
        try:
            self.card()
        except BadWeights as error:
            raise BadRequest(f"The recipe makes no reranker. {error}") from error

    @property
    def training(self) -> Recipe:
        """What it has in common with the recipe of a dual encoder: batches, optimiser, what is learnt."""
        common = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _OWN}
        return Recipe(**common, hard_negatives=self.negatives, passage_tokens=LEAST_WINDOW)

    def card(self, mask: str = "") -> RerankerCard:
        """Say how the cross-encoder made is used; its files are still to be written."""
        return RerankerCard(
            name=f"cross-encoder ({self.name})",
            reading=self.reading,
            pooling=self.pooling,
            mask=mask,
            claim_tokens=self.claim_tokens,
            window=self.window,
            context=self.context,
        )
