"""Doing a training, in a job: reading what it learns from, looking for hard negatives, learning, validating."""

from __future__ import annotations

import contextlib
import shutil
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from relic_core.errors import BadRequest, JobCancelled, RelicError, StoreError
from relic_core.services.job_reports import WAITING
from relic_core.services.training import hard_negatives, material
from relic_core.services.training.asking import TrainingRequest, base_card
from relic_core.services.training.encoders import settled, start_card
from relic_core.services.training.estimating import duration
from relic_core.services.training.folders import CHECKPOINTS, FINISHED, TrainingFolder
from relic_core.services.training.telling import Wish
from relic_core.services.training.validating import Validation, draw
from relic_core.services.training.validating_rerankers import RerankerValidation, heads_of
from relic_core.training.recipes import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from relic_core.encoders.cards import EncoderCard
    from relic_core.ports import Progress
    from relic_core.services.training.material import Examples
    from relic_core.training.known_recipes import AnyRecipe
    from relic_core.training.sitting import Trained, Validate
    from relic_core.wiring import App


def run_train(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "train" job: ``training`` is the id; whether it is begun or resumed, its folder says.

    Raises JobCancelled: it was stopped; a checkpoint is written.
    Raises BadRequest: it is finished.
    Raises RelicError: it could not be done: too little to learn from, a bad model, a full disk, a loss that is no
    number.
    """
    folder = TrainingFolder.find(app.settings.data, arguments["training"])
    if folder.finished:
        raise BadRequest(FINISHED.format(name=folder.training.name))
    folder.append("started")
    try:
        made = _train(app, folder, progress)
    except JobCancelled:
        step = folder.checkpoint
        gone_on = f"It was stopped before it went on. Its last checkpoint is of step {step:,}."
        folder.append("stopped", step, note=gone_on if step else "It was stopped before its first step.")
        raise
    except RelicError as error:
        _failed(folder, str(error))
        raise
    except Exception as error:  # a fault of the program: whoever watches the training must see that it has ended
        _failed(folder, f"The program made a mistake ({error!r}). The output of its job has the details.")
        raise
    if not made.finished:
        folder.append("stopped", made.steps, note=f"Stopped after step {made.steps:,} of {made.of:,}.")
        raise JobCancelled
    note = f"{made.steps:,} steps in {duration(made.seconds)}."
    folder.append("finished", made.steps, note=note, seconds=made.seconds)
    for done in (CHECKPOINTS, "candidate"):  # nothing is gone on with any more, and that is written down before
        shutil.rmtree(folder.path / done, ignore_errors=True)
    return note


def _train(app: App, folder: TrainingFolder, progress: Progress) -> Trained:
    training = folder.training
    asked = TrainingRequest.from_json(training.name, training.recipe, training.asked)
    progress(0, 0, "Reading what was mined")
    examples, held, chosen = _examples(app, folder, asked, progress)
    still_to_look = chosen["hard"] is None or "looked" in chosen["hard"]
    asked = settled(app, folder, asked, ("start", "hard") if still_to_look else ("start",))
    windows = held.windows
    folder.append("chosen", validation=len(windows), held=len(windows) if chosen["held"] else 0)
    works = {work_id: app.works.load(work_id) for work_id in dict.fromkeys(each.work_id for each in windows)}
    progress(0, 0, "Loading the model")
    hard = hard_negatives.look_for(
        app,
        folder,
        asked,
        examples,
        chosen,
        work=app.works.load,
        progress=progress,
    )
    wish = Wish(progress)
    start = start_card(app, asked)
    validate = None
    if windows and isinstance(asked.recipe, Recipe):
        validate = _of_encoder(folder, start or base_card(asked.recipe), Validation(windows, works, wish.beside))
    elif windows:
        heads = heads_of(app.settings, folder, windows, works, progress)
        validate = _of_reranker(folder, RerankerValidation(windows, works, heads, wish.beside))
    progress(0, 0, "Reading the first batch")

    def told(said: Mapping[str, Any]) -> None:
        given = dict(said)
        folder.append(str(given.pop("event")), int(given.pop("step")), **given)
        wish.follow(said)

    # From here on a wish to stop must reach the training itself, which then writes a checkpoint.
    with app.store.patiently(app.settings.job_lock_seconds, lambda: wish.tell(WAITING)):
        return _teach(asked.recipe)(
            examples.pairs,
            examples.windows,
            folder.path,
            work=app.works.load,
            hard=hard,
            start=start,
            validate=validate,
            report=told,
            stop=lambda: wish.asked,
            resume=folder.has_checkpoint or folder.model.exists(),
        )


def _teach(recipe: AnyRecipe) -> Callable[..., Trained]:
    """Give what trains by a recipe."""
    if isinstance(recipe, Recipe):
        from relic_core.training.trainer import train

        return partial(train, recipe)
    from relic_core.training.reranking.trainer import train_reranker

    return partial(train_reranker, recipe)


def _examples(
    app: App, folder: TrainingFolder, asked: TrainingRequest, progress: Progress
) -> tuple[Examples, Examples, dict[str, Any]]:
    """Choose what is learnt from and validated on, and write it down; of one that is resumed, read the same again."""
    chosen = folder.examples()
    if chosen is None:
        found = material.gather(app, asked, progress)
        sentences = {summary.id: summary.sentences for summary in app.works.summaries()}
        dev = [
            stored.window for batch in app.store.windows.iterate(split="dev") for stored in batch if asked.validation
        ]
        drawn = draw(dev, found.windows, sentences, asked.validation)
        if drawn.held_back:
            on_works = [app.store.windows.of_work(work, show="all") for work in drawn.works]
            found = found.without(stored.window for windows in on_works for stored in windows)
            material.check(len(found.pairs), len(found.windows))
        chosen = {
            "pairs": [pair.id for pair in found.pairs],
            "windows": [window.id for window in found.windows],
            "validation": [window.id for window in drawn.windows],
            "held": drawn.held_back,
            "hard": None,
        }
        folder.write_examples(chosen)
        return found, material.Examples((), drawn.windows), chosen
    learnt = material.named(app, chosen["pairs"], chosen["windows"], progress)
    return learnt, material.named(app, (), chosen["validation"], progress), chosen


def _of_encoder(folder: TrainingFolder, card: EncoderCard, validation: Validation) -> Validate:
    """Measure what it begins from, where that reads spans in context: alone, that takes long."""
    if card.spans == "in context":
        _measure_before(folder, lambda: validation.measure(card))
    return validation


def _of_reranker(folder: TrainingFolder, validation: RerankerValidation) -> Validate:
    """Say what the ranking reaches that is to be reordered."""
    _measure_before(folder, validation.before)
    return validation


def _measure_before(folder: TrainingFolder, measure: Callable[[], Mapping[str, float]]) -> None:
    if not any(each.event == "before" for each in folder.events()):
        began = time.monotonic()
        figures = measure()
        folder.append("before", 0, **figures, took=time.monotonic() - began)


def _failed(folder: TrainingFolder, note: str) -> None:
    with contextlib.suppress(StoreError):  # the disk is full: the job still says why it ended
        folder.append("failed", note=note)
