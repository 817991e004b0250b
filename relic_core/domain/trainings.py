"""Trainings: models trained on what was mined here, what they told step by step, and how they go by that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any, Literal, get_args

from relic_core.domain.records import Job

TrainingState = Literal["waiting", "running", "stopped", "failed", "finished"]
"""Where a training stands. One that was stopped, or failed, can be resumed from its last checkpoint."""


ModelKind = Literal["encoder", "reranker", "source"]
"""What a training makes: dense-RELiC, which finds passages; a cross-encoder, which reorders what was found; or a model
for attribution, which says where a quotation comes from."""

MODEL_KINDS: tuple[ModelKind, ...] = ("encoder", "reranker")
"""Of which searches use one each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A model being trained, or one that was, and what it was asked to learn from, as JSON."""

    id: str
    name: str
    recipe: Mapping[str, Any]
    asked: Mapping[str, Any]
    created: datetime

    @property
    def kind(self) -> ModelKind:
        """What it makes; a recipe that does not say it makes an encoder."""
        kind: ModelKind = self.recipe.get("kind", "encoder")
        return kind if kind in get_args(ModelKind) else "encoder"

    @property
    def is_late(self) -> bool:
        """Whether it makes an encoder for late interaction, which gives no vectors to search by."""
        return self.recipe.get("scoring") == "late"

    @property
    def selectable(self) -> bool:
        """Whether what it makes can be chosen as the default of its kind; else a setting names it."""
        return self.kind in MODEL_KINDS and not self.is_late


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingEvent:
    """One thing that a training told: a step, a validation, a checkpoint, its beginning, its end.

    - `number`: its line in the journal, from 1.
    - `event`: "step", "validation", "before" (what the base model reaches), "checkpoint", "begins", "started",
      "stopped", "failed", "finished" and the like.
    - `facts`: what goes with it: figures, or words.
    """

    number: int
    at: datetime
    event: str
    step: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)


KILLED = (
    "It ended without a word: the machine was switched off, memory ran out, or somebody ended its process. Resume it: "
    "it goes on from its last checkpoint."
)
NOT_BEGUN = "It was stopped before it began. Resume it to begin."
_STATES = {"started", "stopped", "failed", "finished"}
_RECENT = 40
"""Steps whose median pace says how long the others will take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A training and how it goes; numbers are 0 while unknown.

    - `note`: what it is doing, how it ended, or what to do, in plain words; empty where the state says all.
    - `step`, `of`: steps made and planned.
    - `seconds`: spent so far, over all runs.
    - `left`: seconds that it still takes, from the steps made so far; None while unknown or where it is not running.
    - `validations`: the figures of each, with its "step"; what it began from reaches stands first, as step 0.
    - `held_back`: windows kept back from learning, to validate on; 0 where the store has others.
    - `checkpoint`: step of the last.
    - `has_model`, `resumable`: whether there are weights to search with; whether it can be gone on with.
    - `job`: id of the job that is doing it; empty where none is.
    """

    training: Training
    state: TrainingState
    note: str
    step: int
    of: int
    seconds: float
    left: float | None
    memory: float
    losses: tuple[tuple[int, float], ...]
    validations: tuple[Mapping[str, Any], ...]
    pairs: int
    windows: int
    held_back: int
    checkpoint: int
    has_model: bool
    resumable: bool
    bytes: int
    job: str

    @property
    def active(self) -> bool:
        """Whether it is waiting or running."""
        return self.state in {"waiting", "running"}

    @property
    def watch(self) -> str:
        """The figure that decides which weights are kept."""
        return str(self.training.recipe.get("watch", "recall@10"))

    @property
    def before(self) -> Mapping[str, Any]:
        """What is reached before the first step; empty where that was not measured."""
        return next((each for each in self.validations if not each["step"]), {})

    @property
    def best(self) -> Mapping[str, Any]:
        """The figures of the weights that are kept; empty before the first validation."""
        found = [each for each in self.validations if each["step"]]
        return max(found, key=lambda each: float(each.get(self.watch, -math.inf)), default={})


def follow(
    training: Training,
    events: Sequence[TrainingEvent],
    *,
    job: Job | None = None,
    has_model: bool = False,
    there: bool = True,
    size: int = 0,
) -> Followed:
    """Work out how a training goes."""
    steps = _steps_made(events)
    state, note = _state(events, job)
    begins = next((each.facts for each in reversed(events) if each.event == "begins"), {})
    checkpoint = max((each.step for each in events if each.event == "checkpoint"), default=0)
    step = steps[-1].step if steps else 0
    of = int(begins.get("of", 0))
    timed = [each.facts for each in events if "seconds" in each.facts]
    return Followed(
        training=training,
        state=state,
        note=note if there else "Its files were deleted or moved; what it told is kept.",
        step=step,
        of=of,
        seconds=float(timed[-1]["seconds"]) if timed else 0.0,
        left=_left(events, steps, of, training.recipe) if state == "running" else None,
        memory=max((float(facts.get("memory_mib", 0.0)) for facts in timed), default=0.0),
        losses=tuple((each.step, float(each.facts["loss"])) for each in steps),
        validations=_validations(events),
        pairs=int(begins.get("pairs", 0)),
        windows=int(begins.get("windows", 0)),
        held_back=next((int(each.facts.get("held", 0)) for each in reversed(events) if each.event == "chosen"), 0),
        checkpoint=checkpoint,
        has_model=has_model,
        resumable=there and state in {"stopped", "failed"},
        bytes=size,
        job=job.id if job else "",
    )


def _state(events: Sequence[TrainingEvent], job: Job | None) -> tuple[TrainingState, str]:
    last = next((each for each in reversed(events) if each.event in _STATES), None)
    if job:
        return ("running", job.note) if job.state == "running" else ("waiting", job.note or "It is about to begin.")
    if last is None:
        return "stopped", NOT_BEGUN
    note_text = str(last.facts.get("note", ""))
    if last.event == "started":
        return "failed", KILLED
    if last.event == "finished":
        return "finished", note_text
    return ("stopped", note_text) if last.event == "stopped" else ("failed", note_text)


def _steps_made(events: Sequence[TrainingEvent]) -> list[TrainingEvent]:
    """List the steps, each as it was made last: what was made after the last checkpoint is made again."""
    made: dict[int, TrainingEvent] = {}
    for each in events:
        if each.event == "begins":
            made = {step: kept for step, kept in made.items() if step <= each.step}
        elif each.event == "step":
            made[each.step] = each
    return [made[step] for step in sorted(made)]


def _validations(events: Sequence[TrainingEvent]) -> tuple[Mapping[str, Any], ...]:
    found: dict[int, Mapping[str, Any]] = {}
    for each in events:
        if each.event == "begins":
            found = {step: figures for step, figures in found.items() if step <= each.step}
        elif each.event in {"validation", "before"}:
            figures = {key: value for key, value in each.facts.items() if key not in {"seconds", "memory_mib"}}
            found[each.step] = {**figures, "step": each.step}
    return tuple(found[step] for step in sorted(found))


def _left(
    events: Sequence[TrainingEvent], steps: Sequence[TrainingEvent], of: int, recipe: Mapping[str, Any]
) -> float | None:
    """Say how many seconds are left: the steps to come at the pace of the last, and the validations to come."""
    recent = [float(each.facts["step_seconds"]) for each in steps[-_RECENT:] if "step_seconds" in each.facts]
    if not recent or not of:
        return None
    to_come = of - steps[-1].step
    return to_come * median(recent) + _still_validating(events, of, int(recipe.get("validate_every", 0)))


def _still_validating(events: Sequence[TrainingEvent], of: int, every: int) -> float:
    """Say how many seconds the validations to come will take: each as long as the last, or as that before the first."""
    held = next((int(each.facts.get("validation", 0)) for each in reversed(events) if each.event == "chosen"), None)
    took = [
        float(each.facts["took"]) for each in events if each.event in {"validation", "before"} and "took" in each.facts
    ]
    done = {each.step for each in events if each.event == "validation"}
    if held == 0 or not took:
        return 0.0
    gap = max(done) / len(done) if done else every or of
    return max(0, math.ceil(of / gap) - len(done)) * took[-1]


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
