"""Doing a training, in a job: reading what it learns from, looking for hard negatives, learning, validating."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from relic_core.config import Settings
from relic_core.domain import MinedWindow, Work
from relic_core.domain.records import WAITING
from relic_core.domain.trainings import duration
from relic_core.errors import BadRequest, JobCancelled, StoreError
from relic_core.ports import Progress
from relic_core.store.jobs import failed_note
from relic_core.training import hard_negatives
from relic_core.training.collating import Material
from relic_core.training.examples import Examples, TrainingData, check_enough
from relic_core.training.folders import CHECKPOINTS, FINISHED, TrainingFolder
from relic_core.training.learners import query_card
from relic_core.training.published import LEARNT, LossValidation, published
from relic_core.training.recipes import EncoderRecipe, SourceRecipe, Supervision
from relic_core.training.requests import TrainingRequest, base_card, settled, start_card
from relic_core.training.sources import ChooseSources, SourceValidation
from relic_core.training.trainer import CANDIDATE, Trained, Validate, train_on_all
from relic_core.training.validation import RerankerValidation, Validation, draw, first_stage_of


class Journal:
    """Writes what happens in a training into its journal; the job says of it how far that is.

    A wish to stop is remembered: the job's own way of stopping, an error raised out of its report, would end a training
    without a checkpoint.
    """

    def __init__(self, folder: TrainingFolder, progress: Progress) -> None:
        self._folder, self._progress = folder, progress
        self._done, self._total = 0, 0
        self._stop = False

    def stop(self) -> bool:
        """Whether somebody asked to stop."""
        self.tell("")
        return self._stop

    def __call__(self, event: str, step: int, **facts: Any) -> None:  # noqa: ANN401 - figures, as a rule
        """Write one event."""
        self._folder.append(event, step, **facts)
        self._done, self._total = step, facts.get("of", self._total)
        if event == "step":
            self.tell(f"step {step:,} of {self._total:,}")
        elif event == "checkpoint":
            self.tell("a checkpoint was written")

    def tell(self, note: str) -> None:
        """Say what it is doing, beside the steps."""
        try:
            self._progress(self._done, self._total, note)
        except JobCancelled:
            self._stop = True

    def beside(self, done: int, total: int, note: str = "") -> None:  # noqa: ARG002 - as every report is called
        """Tell of work that has a count of its own, which its note says."""
        self.tell(note)


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """Does trainings in a job.

    - `patiently`: waits longer for the store in a block, told what to do while it waits.
    - `train`: learns from what was chosen, as `trainer.train` does; by default on all cards.
    """

    settings: Settings
    data: TrainingData
    load_work: Callable[[str], Work]
    patiently: Callable[[Callable[[], None]], AbstractContextManager[None]]
    choose_sources: ChooseSources
    train: Callable[..., Trained] = train_on_all

    def run(self, training_id: str, progress: Progress) -> str:
        """Do a training to its end, from where its folder says it is. Raises JobCancelled: a checkpoint is written."""
        folder = TrainingFolder.find(self.settings.data, training_id)
        if folder.finished:
            raise BadRequest(FINISHED.format(name=folder.training.name))
        folder.append("started")
        try:
            made = self.learn(folder, progress)
        except JobCancelled:
            step = folder.checkpoint
            note = f"Stopped after step {step:,}." if step else "It was stopped before its first step."
            folder.append("stopped", step, note=note)
            raise
        except Exception as error:
            with contextlib.suppress(StoreError):  # the disk is full: the job still says why it ended
                folder.append("failed", note=failed_note(error))
            raise
        note = f"{made.steps:,} steps in {duration(made.seconds)}."
        folder.append("finished", made.steps, note=note, seconds=made.seconds)
        for done in (CHECKPOINTS, CANDIDATE):  # nothing is gone on with any more, and that is written down before
            shutil.rmtree(folder.path / done, ignore_errors=True)
        return note

    def learn(self, folder: TrainingFolder, progress: Progress) -> Trained:
        """Choose what to train and validate on, look for hard negatives, and train; all as the folder asks."""
        request = TrainingRequest.of(folder.training)
        progress(0, 0, "Reading the quotations")
        read = published(request) if request.data else None
        load_work: Callable[[str], Work] = self.load_work if read is None else read.works.__getitem__
        if read is None:
            examples, held, chosen = self._examples(folder, request, progress)
        else:
            examples, held, chosen = Examples((), read.windows), read.validation, {"hard": None, "held": False}
            check_enough(0, len(examples.windows))
        still_to_look = chosen["hard"] is None or "looked" in chosen["hard"]
        request = settled(self.settings, folder, request, ("start", "hard") if still_to_look else ("start",))
        folder.append("chosen", validation=len(held), held=len(held) if chosen["held"] else 0)
        quoted = dict.fromkeys(each.work_id for each in held)
        works = {work_id: load_work(work_id) for work_id in quoted}
        progress(0, 0, "Loading the model")
        hard = hard_negatives.look_for(
            self.settings, folder, request, examples, chosen, work=load_work, progress=progress
        )
        journal = Journal(folder, progress)
        validate: Validate | None
        if read is None:
            validate = self._validation(folder, request, held, works, journal, progress)
        else:
            assert isinstance(request.recipe, EncoderRecipe)  # noqa: S101 - as the request was checked
            validate = LossValidation(request.recipe, read, journal.beside) if held else None
        progress(0, 0, "Reading the first batch")
        recipe, sources = request.recipe, dict[str, tuple[str, ...]]()
        windows = examples.windows
        if isinstance(recipe, SourceRecipe):
            most = recipe.candidates if recipe.retrieves else 1
            sources = self.choose_sources(recipe.supervision, windows, load_work, most)
            windows = tuple(window for window in windows if window.id in sources)
        learnt = LEARNT if read else ""
        material = Material(examples.pairs, windows, load_work, hard, sources, learnt)
        # From here on a wish to stop must reach the training itself, which then writes a checkpoint.
        with self.patiently(lambda: journal.tell(WAITING)):
            made = self.train(
                recipe,
                material,
                folder.path,
                start=start_card(self.settings, request),
                validate=validate,
                report=journal,
                stop=journal.stop,
            )
        if not made.finished:
            raise JobCancelled
        return made

    def _examples(
        self, folder: TrainingFolder, request: TrainingRequest, progress: Progress
    ) -> tuple[Examples, tuple[MinedWindow, ...], dict[str, Any]]:
        """Choose what to train and validate on, and write it down; if resumed, read the same again."""
        chosen, data = folder.examples(), self.data
        if chosen is not None:
            found = data.named(chosen["pairs"], chosen["windows"], progress)
            return found, data.named((), chosen["validation"], progress).windows, chosen
        found = data.gather(request, progress)
        sentences = {summary.id: summary.sentences for summary in data.works()}
        dev = data.windows("dev") if request.validation else []
        drawn = draw(dev, found.windows, sentences, request.validation)
        if drawn.held_back:
            found = found.without(data.on_works(drawn.works))
            check_enough(len(found.pairs), len(found.windows))
        chosen = {
            "pairs": [pair.id for pair in found.pairs],
            "windows": [window.id for window in found.windows],
            "validation": [window.id for window in drawn.windows],
            "held": drawn.held_back,
            "hard": None,
        }
        folder.write_examples(chosen)
        return found, drawn.windows, chosen

    def _validation(
        self,
        folder: TrainingFolder,
        request: TrainingRequest,
        windows: tuple[MinedWindow, ...],
        works: Mapping[str, Work],
        journal: Journal,
        progress: Progress,
    ) -> Validate | None:
        """Make the validation, and write down what is reached before the first step, once in a training.

        An encoder's is what it begins from, where that reads spans in context (alone, that takes long); a reranker's
        the ranking that it is to reorder; a model's for attribution what it begins from.
        """
        if not windows:
            return None
        recipe = request.recipe
        if isinstance(recipe, SourceRecipe):
            supervision: Supervision = "retrieved" if recipe.retrieves else "pair"
            sources = self.choose_sources(supervision, windows, works.__getitem__, recipe.candidates)
            likelihoods = SourceValidation(recipe, windows, sources, journal.beside)
            begun = query_card(recipe, start_card(self.settings, request)) if recipe.retrieves else recipe.base
            _measure_before(folder, lambda: likelihoods.measure(begun))
            return likelihoods
        if not isinstance(request.recipe, EncoderRecipe):
            first_stage = first_stage_of(self.settings, folder, windows, works, progress)
            reordering = RerankerValidation(windows, works, first_stage, journal.beside)
            _measure_before(folder, reordering.before)
            return reordering
        validation = Validation(windows, works, journal.beside)
        card = replace(start_card(self.settings, request) or base_card(request.recipe), scoring=request.recipe.scoring)
        if card.spans == "in context":
            _measure_before(folder, lambda: validation.measure(card))
        return validation


def _measure_before(folder: TrainingFolder, measure: Callable[[], Mapping[str, float]]) -> None:
    if not any(each.event == "before" for each in folder.events()):
        began = time.monotonic()
        figures = measure()
        folder.append("before", 0, **figures, took=time.monotonic() - began)
