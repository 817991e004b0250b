"""A sitting: a training from its beginning, or from where the last one left it, to its end or to a stop.

What is taught is a `TrainingJob`: of a dual encoder or of a cross-encoder, the sitting is the same.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from torch import nn
from transformers import set_seed

from relic_core.errors import BadRequest
from relic_core.training import checkpoints, processes
from relic_core.training.batching import plan
from relic_core.training.disk import tidy
from relic_core.training.exporting import keep_model
from relic_core.training.loop import Loop, quiet
from relic_core.training.stopping import terminated
from relic_core.training.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from relic_core.encoders.weights import ModelFiles
    from relic_core.training.batching import Planned
    from relic_core.training.collating import Features, Material
    from relic_core.training.known_recipes import AnyRecipe
    from relic_core.training.recipes import Recipe
    from relic_core.training.starts import Start

    Validate = Callable[[Path], Mapping[str, float]]
    Report = Callable[[Mapping[str, Any]], None]

M = TypeVar("M", bound=nn.Module)

MODEL = "model"
"""Folder, within that of a training, of the best weights so far."""

CANDIDATE = "candidate"
CHECKPOINTS = "checkpoints"
CHECKPOINT_SECONDS = 600.0

_VERSIONS = ("torch", "transformers", "accelerate", "peft", "tokenizers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a training made.

    - `folder`: the best weights; where nothing validated them, the last. Of a dual encoder with ``claims/``,
      ``passages/``, ``encoder.json``, which RELIC_TRAINED can name, and ``training.json``.
    - `finished`: whether it ended by itself; else it was stopped, and can be resumed.
    - `figures`: what the validation of these weights gave.
    - `seconds`: of training and validation, over all sittings.
    """

    folder: Path
    steps: int
    of: int
    finished: bool
    figures: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob(Generic[M]):
    """What is taught.

    - `loop`: batches, optimiser, when to validate: the recipe itself, or what a reranker's has in common with it.
    - `start`: what it goes on from, in place of the base.
    - `collator`: makes the tensors of a planned batch.
    - `model`: makes the model; the seed is set before.
    - `write`: writes a model into a folder, with the record of what made it.
    """

    name: str
    recipe: AnyRecipe
    loop: Recipe
    base: ModelFiles
    start: Start | None
    material: Material
    collator: Callable[[Sequence[Planned]], Features]
    model: Callable[[], M]
    write: Callable[[Path, M, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Under what terms a training sits; see `relic_core.training.trainer.train`."""

    validate: Validate | None = None
    report: Report | None = None
    stop: Callable[[], bool] | None = None
    resume: bool = False
    checkpoint_seconds: float = CHECKPOINT_SECONDS


def sit(lesson: TrainingJob[M], folder: Path, terms: Terms) -> Trained:
    """Train from the beginning, or go on; raises as `relic_core.training.trainer.train`."""
    material, kept = lesson.material, folder / CHECKPOINTS
    planned = plan(
        lesson.loop, [pair.source_id for pair in material.pairs], [window.work_id for window in material.windows]
    )
    origin = checkpoints.Origin(
        recipe=lesson.recipe.to_json(),
        recipe_digest=lesson.recipe.digest,
        data_digest=data_digest(material),
        base_digest=lesson.base.digest,
        start_digest="" if lesson.start is None else lesson.start.digest,
        processes=processes.count(),
    )
    found = _where_it_was_left(folder, origin, resume=terms.resume)
    set_seed(lesson.loop.seed)
    model = lesson.model()

    def written(name: str, figures: Mapping[str, float]) -> Path:
        lesson.write(folder / name, model, _record(lesson, origin, figures, watch.seconds))
        return folder / name

    def validated(step: int) -> Mapping[str, float]:
        assert terms.validate is not None  # noqa: S101 - asked for only where it is given
        return terms.validate(written(CANDIDATE, {"step": step}))

    report = _unheard if terms.report is None else terms.report
    with terminated() as asked, quiet():
        watch = Watch(
            lesson.loop,
            validate=validated if terms.validate else None,
            keep=lambda figures: keep_model(folder / CANDIDATE, folder / MODEL, figures),
            report=report,
            stop=lambda: asked() or (terms.stop is not None and terms.stop()),
            checkpoint_seconds=terms.checkpoint_seconds,
        )
        loop = Loop(
            recipe=lesson.loop,
            model=model,
            planned=planned,
            collator=lesson.collator,
            folder=kept,
            origin=origin,
            state=watch.state,
            callback=watch,
        )
        watch.loop = loop
        if found is not None:
            watch.go_on(found[1])
        first = 0 if found is None else checkpoints.step_of(found[0])
        if processes.is_first():
            counted = {"pairs": len(material.pairs), "windows": len(material.windows)}
            report({"event": "begins", "step": first, "of": loop.steps, **counted})
        if not watch.given_up:
            loop.train(resume_from_checkpoint=None if found is None else str(found[0]))
    finished = not watch.stopped
    if finished and processes.is_first() and not (folder / MODEL).exists():
        written(MODEL, {})
    return Trained(
        folder=folder / MODEL,
        steps=max(first, loop.state.global_step),
        of=loop.steps,
        finished=finished,
        figures=dict(watch.best),
        seconds=watch.seconds,
    )


def data_digest(material: Material) -> str:
    """Hash what is learnt from: the examples in their order, with their words, and their hard negatives."""
    digest, hard = hashlib.sha256(), material.hard
    for pair in material.pairs:
        said = [pair.id, pair.source_id, pair.left, pair.quotation, pair.right, list(hard.pairs.get(pair.id, ()))]
        digest.update(json.dumps(said).encode())
    for window in material.windows:
        spans = [(span.start, span.length) for span in (window.gold, *hard.windows.get(window.id, ()))]
        digest.update(json.dumps([window.id, window.work_id, window.left, window.right, spans]).encode())
    return digest.hexdigest()


def _where_it_was_left(
    folder: Path, origin: checkpoints.Origin, *, resume: bool
) -> tuple[Path, Mapping[str, Any]] | None:
    """Find the checkpoint to go on from; None where there is none. A training that is not to go on is kept."""
    kept = folder / CHECKPOINTS
    if processes.is_first():
        tidy(folder)
        tidy(kept)
    if resume:
        return checkpoints.last_good(kept, origin)
    if checkpoints.in_order(kept) or (folder / MODEL).exists():
        raise BadRequest(
            f"There is a training in {folder} already. Resume it, or name a folder that is empty or not there."
        )
    return None


def _record(
    lesson: TrainingJob[M], origin: checkpoints.Origin, figures: Mapping[str, float], seconds: float
) -> dict[str, Any]:
    return {
        "card": lesson.name,
        "recipe": origin.recipe,
        "recipe_digest": origin.recipe_digest,
        "data_digest": origin.data_digest,
        "base_digest": origin.base_digest,
        **({} if lesson.start is None else {"start": lesson.start.name, "start_digest": origin.start_digest}),
        "seed": lesson.loop.seed,
        "pairs": len(lesson.material.pairs),
        "windows": len(lesson.material.windows),
        "figures": dict(figures),
        "seconds": round(seconds, 1),
        "versions": {name: metadata.version(name) for name in _VERSIONS},
    }


def _unheard(_said: Mapping[str, Any]) -> None:
    """Report to nobody."""
