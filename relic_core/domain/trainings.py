"""Trainings: models taught on what was mined here, and what was told of them step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

TrainingState = Literal["waiting", "running", "stopped", "failed", "finished"]
"""Where a training stands. One that was stopped, or failed, can be resumed from its last checkpoint."""


ModelKind = Literal["encoder", "reranker"]
"""What a training makes: dense-RELiC, which finds passages, or a cross-encoder, which reorders what was found."""

MODEL_KINDS: tuple[ModelKind, ...] = get_args(ModelKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A model being taught, or one that was.

    - `id`: short and unique; names the folder of its files.
    - `asked`: what it is taught on, as JSON: which pairs and windows, how many, how it is validated.
    """

    id: str
    name: str
    recipe: Mapping[str, Any]
    asked: Mapping[str, Any]
    created: datetime

    @property
    def kind(self) -> ModelKind:
        """What it makes; a recipe that does not say it makes an encoder."""
        return "reranker" if self.recipe.get("kind") == "reranker" else "encoder"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingEvent:
    """One thing that a training told: a step, a validation, a checkpoint, its beginning, its end.

    - `number`: its line in the journal, from 1.
    - `event`: "step", "validation", "before" (what the base model reaches), "checkpoint", "begins", "started",
      "stopped", "failed", "finished" and the like.
    - `step`: after how many steps; 0 before the first.
    - `said`: what goes with it: figures, or words.
    """

    number: int
    at: datetime
    event: str
    step: int = 0
    said: Mapping[str, Any] = field(default_factory=dict)
