"""Doing a training, in a job: reading what it learns from, looking for hard negatives, learning, validating."""

from __future__ import annotations

import contextlib
import shutil
import time
from typing import TYPE_CHECKING, Any, TypeVar

from relic_core.domain import Span
from relic_core.encoders.cards import read_card
from relic_core.encoders.one_pass import OnePassEncoder
from relic_core.errors import BadRequest, JobCancelled, RelicError, StoreBusy, StoreError
from relic_core.services.training import material
from relic_core.services.training.asking import Asked, base_card
from relic_core.services.training.estimating import duration
from relic_core.services.training.folders import CHECKPOINTS, FOLDER, MODEL, TrainingFolder
from relic_core.services.training.validating import Validation, draw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from relic_core.encoders.cards import EncoderCard
    from relic_core.ports import Progress
    from relic_core.services.training.material import Examples
    from relic_core.services.workbench import Workbench
    from relic_core.training.collating import HardNegatives
    from relic_core.training.sitting import Trained

    T = TypeVar("T")

BASE = "base"
_BUSY_SECONDS = 600.0
_LOOK_SECONDS = 2.0
_HARD = 5
"""Hard negatives that are looked for, of which each reading takes some."""


def run_train(workbench: Workbench, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "train" job: ``training`` is the id; whether it is begun or resumed, its folder says.

    Raises
    ------
    JobCancelled
        It was stopped; a checkpoint is written.
    RelicError
        It could not be done: too little to learn from, a bad model, a full disk, a loss that is no number.
    """
    folder = TrainingFolder.find(workbench.settings.data, arguments["training"])
    folder.append("started")
    try:
        made = _train(workbench, folder, progress)
    except JobCancelled:
        folder.append("stopped", note="It was stopped before its first step.")
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
    for done in (CHECKPOINTS, "candidate"):  # nothing is gone on with any more
        shutil.rmtree(folder.path / done, ignore_errors=True)
    note = f"{made.steps:,} steps in {duration(made.seconds)}."
    folder.append("finished", made.steps, note=note, seconds=made.seconds)
    return note


def _train(workbench: Workbench, folder: TrainingFolder, progress: Progress) -> Trained:
    training = folder.training
    asked = Asked.from_json(training.name, training.recipe, training.asked)
    progress(0, 0, "Reading what was mined")
    examples, held, chosen = _examples(workbench, folder, asked, progress)
    windows = held.windows
    folder.append("chosen", validation=len(windows), held=len(windows) if chosen["held"] else 0)
    works = {work_id: workbench.works.load(work_id) for work_id in dict.fromkeys(each.work_id for each in windows)}
    progress(0, 0, "Loading the model")
    from relic_core.training.trainer import train

    hard = _hard(workbench, folder, asked, examples, chosen, progress)
    wish = _Wish(progress)
    validation = Validation(windows, works, wish.quietly) if windows else None
    if validation is not None and not any(each.event == "before" for each in folder.events()):
        _measure_base(folder, asked, validation)
    progress(0, 0, "Reading the first batch")

    def told(said: Mapping[str, Any]) -> None:
        given = dict(said)
        folder.append(str(given.pop("event")), int(given.pop("step")), **given)
        wish.follow(said)

    return train(
        asked.recipe,
        examples.pairs,
        examples.windows,
        folder.path,
        work=_patient(workbench.works.load, wish),
        hard=hard,
        validate=validation,
        report=told,
        stop=lambda: wish.asked,
        resume=folder.has_checkpoint or (folder.path / MODEL).exists(),
    )


class _Wish:
    """Tells the job how far the training is, and remembers that somebody asked it to stop.

    The job's own way of stopping, an error raised out of its report, would end a training without a checkpoint.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done, self._total = 0, 0
        self._asked = False

    @property
    def asked(self) -> bool:
        """Whether somebody asked."""
        self._tell("")
        return self._asked

    def follow(self, said: Mapping[str, Any]) -> None:
        """Tell of what the training reports."""
        self._done, self._total = int(said["step"]), int(said.get("of", self._total))
        if said["event"] == "step":
            self._tell(f"step {self._done:,} of {self._total:,}")
        elif said["event"] == "checkpoint":
            self._tell("a checkpoint was written")

    def quietly(self, done: int, total: int, note: str = "") -> None:
        """Tell of work on the way that has its own count."""
        self._tell(f"{note.lower()}: {done} of {total} works")

    def waiting(self) -> None:
        """Tell that the store is in use."""
        self._tell("waiting for the store, which another program uses")

    def _tell(self, note: str) -> None:
        try:
            self._progress(self._done, self._total, note)
        except JobCancelled:
            self._asked = True


def _examples(
    workbench: Workbench, folder: TrainingFolder, asked: Asked, progress: Progress
) -> tuple[Examples, Examples, dict[str, Any]]:
    """Choose what is learnt from and validated on, and write it down; of one that is resumed, read the same again."""
    chosen = folder.examples()
    if chosen is None:
        found = material.gather(workbench, asked, progress)
        sentences = {summary.id: summary.sentences for summary in workbench.works.summaries()}
        dev = [
            stored.window
            for batch in workbench.store.windows.iterate(split="dev")
            for stored in batch
            if asked.validation
        ]
        drawn = draw(dev, found.windows, sentences, asked.validation)
        if drawn.held_back:
            found = found.without(drawn.windows)
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
    learnt = material.named(workbench, chosen["pairs"], chosen["windows"], progress)
    return learnt, material.named(workbench, (), chosen["validation"], progress), chosen


def _measure_base(folder: TrainingFolder, asked: Asked, validation: Validation) -> None:
    """Measure what the base reaches untaught, where it reads spans in context: alone, that takes long."""
    card = base_card(asked.recipe)
    if card.spans == "in context":
        began = time.monotonic()
        figures = validation.measure(card)
        folder.append("before", 0, **figures, took=time.monotonic() - began)


def _hard(
    workbench: Workbench,
    folder: TrainingFolder,
    asked: Asked,
    examples: Examples,
    chosen: dict[str, Any],
    progress: Progress,
) -> HardNegatives | None:
    """Look for hard negatives with the model asked for, or read those that were found; None where none are wanted."""
    if not asked.hard:
        return None
    from relic_core.training.collating import HardNegatives
    from relic_core.training.hard_negatives import Guard, mine

    if chosen["hard"] is None:
        guard = Guard(count=max(_HARD, asked.recipe.hard_negatives))
        found = mine(
            OnePassEncoder(hard_card(workbench, asked)),
            examples.pairs,
            examples.windows,
            work=workbench.works.load,
            progress=progress,
            guard=guard,
            passage_tokens=asked.recipe.passage_tokens,
        )
        numbers = {pair.quotation: number for number, pair in enumerate(examples.pairs)}
        chosen["hard"] = {
            "pairs": {key: [numbers[text] for text in texts] for key, texts in found.pairs.items()},
            "windows": {key: [[span.start, span.length] for span in spans] for key, spans in found.windows.items()},
        }
        folder.write_examples(chosen)
        folder.append("hard negatives", 0, pairs=len(found.pairs), windows=len(found.windows))
    said = chosen["hard"]
    return HardNegatives(
        {key: tuple(examples.pairs[number].quotation for number in numbers) for key, numbers in said["pairs"].items()},
        {key: tuple(Span(start, length) for start, length in spans) for key, spans in said["windows"].items()},
    )


def hard_card(workbench: Workbench, asked: Asked) -> EncoderCard:
    """Find the model that looks for hard negatives.

    Raises
    ------
    BadRequest
        It is a training without a model, or one that reads spans by themselves.
    BadWeights
        There is no such model.
    """
    card = base_card(asked.recipe) if asked.hard == BASE else read_card(_hard_model(workbench, asked))
    if card.spans != "in context":
        raise BadRequest(
            f"{card.name} reads every span by itself, and hard negatives are looked for in context. Take another model."
        )
    return card


def _hard_model(workbench: Workbench, asked: Asked) -> str:
    folder = TrainingFolder(workbench.settings.data / FOLDER / asked.hard)
    if not folder.path.is_dir() or "/" in asked.hard:
        return asked.hard
    if not folder.has_model:
        raise BadRequest(f"The training {asked.hard} has no model yet to look for hard negatives with. Take another.")
    return str(folder.card)


def _patient(load: Callable[[str], T], wish: _Wish) -> Callable[[str], T]:
    """Wait for a store that another program uses: a training of hours must not end for that."""

    def patiently(work_id: str) -> T:
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return load(work_id)
            except StoreBusy:
                if time.monotonic() > deadline:
                    raise
                wish.waiting()
                time.sleep(_LOOK_SECONDS)

    return patiently


def _failed(folder: TrainingFolder, note: str) -> None:
    with contextlib.suppress(StoreError):  # the disk is full: the job still says why it ended
        folder.append("failed", note=note)
