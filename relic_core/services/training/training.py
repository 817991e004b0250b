"""Trainings: started, watched, stopped, resumed, compared, made the default, removed and put back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relic_core.domain.trainings import MODEL_KINDS
from relic_core.errors import BadRequest, NotFound
from relic_core.reporting import trainings as reported
from relic_core.services.training import beginning, chosen, encoders, estimating, material, prospects
from relic_core.services.training.comparing import differences
from relic_core.services.training.folders import FINISHED, TrainingFolder
from relic_core.services.training.following import follow
from relic_core.training.known_recipes import RECIPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain.trainings import ModelKind, Training, TrainingEvent
    from relic_core.encoders.cards import EncoderCard
    from relic_core.reporting.tables import Table
    from relic_core.services.training.asking import TrainingRequest
    from relic_core.services.training.choices import Choice, Chosen
    from relic_core.services.training.chosen import Defaults
    from relic_core.services.training.following import Followed
    from relic_core.services.training.prospects import Prospect
    from relic_core.training.known_recipes import AnyRecipe
    from relic_core.wiring import App

KIND = "train"


class Trainings:
    """The trainings of an app."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._speeds: dict[EncoderCard, float] = {}

    @property
    def recipes(self) -> Mapping[str, AnyRecipe]:
        """The recipes that come with the program, by name."""
        return RECIPES

    # ---- before one begins, and doing it --------------------------------------------------------------------------

    def prospect(self, asked: TrainingRequest) -> Prospect:
        """Say what a training would learn from, what is missing, and how long it would take here: see `prospects`."""
        return prospects.look_ahead(self._app, asked, self.speed)

    def lacking(self) -> str:
        """Say why nothing can be learnt yet, and what to do; empty where something can."""
        return material.lacking(self._app.store.trainings.material())

    def speed(self, card: EncoderCard) -> float:
        """Give the tokens that go through a model in a second here: measured once, which takes some seconds."""
        if card not in self._speeds:
            self._speeds[card] = estimating.measure(card)
        return self._speeds[card]

    def start(self, asked: TrainingRequest) -> Training:
        """Start a training, as a job that outlives this process.

        Raises BadRequest, BadWeights, StoreFull: as `beginning.check`.
        Raises StoreReadOnly: the data folder cannot be written.
        """
        beginning.check(self._app, asked)
        name = asked.name.strip() or f"{asked.recipe.name}, {datetime.now(UTC):%d %b %H:%M}"
        folder = TrainingFolder.create(
            self._app.settings.data, name=name, recipe=asked.recipe.to_json(), asked=asked.to_json()
        )
        encoders.settle(self._app, folder, asked)
        self._submit(folder)
        return folder.training

    def resume(self, training_id: str) -> Followed:
        """Go on with a training that was stopped or failed, from its last checkpoint.

        Raises NotFound: there is none, or its files are not there.
        Raises BadRequest: it is waiting, running or finished.
        """
        followed = self.get(training_id)
        name = followed.training.name
        if followed.active:
            raise BadRequest(f"{name} is {followed.state} already.")
        if followed.state == "finished":
            raise BadRequest(FINISHED.format(name=name))
        self._submit(TrainingFolder.find(self._app.settings.data, training_id))
        return self.get(training_id)

    def stop(self, training_id: str) -> Followed:
        """Ask a training to stop after the step it is in, with a checkpoint; one that has ended stays as it is.

        Raises NotFound: there is no such training.
        """
        followed = self.get(training_id)
        if followed.job:
            self._app.jobs.cancel(followed.job)
        return self.get(training_id)

    def _submit(self, folder: TrainingFolder) -> None:
        training = folder.training
        self._app.jobs.start(
            KIND, title=f"Training {training.name}", subject=training.id, arguments={"training": training.id}
        )

    # ---- looking --------------------------------------------------------------------------------------------------

    def all(self) -> tuple[Followed, ...]:
        """List the trainings, newest first; what they have told is taken into the store."""
        self._take_in()
        return tuple(self._followed(training) for training in self._app.store.trainings.all())

    def get(self, training_id: str) -> Followed:
        """Return a training as it stands now.

        Raises NotFound: there is none.
        """
        try:
            training = TrainingFolder.find(self._app.settings.data, training_id).training
        except NotFound:
            training = self._app.store.trainings.get(training_id)
        return self._followed(training)

    def compared(self, training_ids: Sequence[str]) -> tuple[Table, ...]:
        """Set trainings side by side: the figures of their best weights, and in what they differ.

        Raises NotFound: one is not there.
        """
        chosen_ones = [self.get(each) for each in dict.fromkeys(training_ids)]
        names = [each.training.name for each in chosen_ones]
        made = reported.comparison(
            names,
            [each.best for each in chosen_ones],
            [each.before for each in chosen_ones],
            [(each.state, f"{each.step:,}", estimating.duration(each.seconds)) for each in chosen_ones],
        )
        return made, reported.differences(names, differences([each.training for each in chosen_ones]))

    def find(self, said: str) -> Followed:
        """Find the training a person means by its id, the beginning of it, or its name.

        Raises NotFound: none fits.
        Raises BadRequest: several fit.
        """
        every, wanted = self.all(), said.strip()
        for fits in (
            [each for each in every if each.training.id == wanted],
            [each for each in every if each.training.name.casefold() == wanted.casefold()],
            [each for each in every if wanted and each.training.id.startswith(wanted)],
        ):
            if len(fits) == 1:
                return fits[0]
            if fits:
                named = ", ".join(f"{each.training.id} ({each.training.name})" for each in fits)
                raise BadRequest(f"'{said}' fits several trainings: {named}. Give the id.")
        raise NotFound(f"There is no training '{said}'. `python -m relic_core train --list` lists those there are.")

    def _followed(self, training: Training) -> Followed:
        try:
            folder = TrainingFolder.find(self._app.settings.data, training.id)
        except NotFound:
            return follow(training, self._app.store.trainings.events(training.id), there=False)
        job = next((job for job in self._app.jobs.under_way(KIND) if job.subject == training.id), None)
        return follow(
            training,
            folder.events(),
            job=(job.id, job.state, job.note) if job else ("", "", ""),
            has_model=folder.has_model,
            size=folder.bytes,
        )

    def _take_in(self) -> None:
        """Take what trainings have told into the store."""
        kept = self._app.store.trainings.counts()
        for folder in TrainingFolder.all(self._app.settings.data):
            events: Sequence[TrainingEvent] = folder.events()
            if len(events) > kept.get(folder.path.name, -1):
                self._app.store.trainings.take_in(folder.training, events)

    # ---- the default, removing ------------------------------------------------------------------------------------

    @property
    def default(self) -> Defaults:
        """Which encoder and which reranker the app searches with."""
        return chosen.default(self._app.settings.data, self._app.named_models)

    def use(self, training_id: str) -> Choice:
        """Make the model of a training the app's default: its encoder, or its reranker.

        Raises NotFound, BadRequest, BadWeights: there is no such training; it has no model yet, or is still at it; its
        model is damaged.
        Raises StoreError: the choice cannot be written down.
        """
        followed = self.get(training_id)
        if followed.active and followed.has_model:
            raise BadRequest(
                f"{followed.training.name} is {followed.state}, and its model may change under those who search with "
                "it. Wait until it has ended, or stop it first."
            )
        return chosen.choose(self._app.settings.data, followed.training)

    def use_packaged(self, kinds: Sequence[ModelKind] = MODEL_KINDS) -> None:
        """Make the models that come with the program the defaults; raises StoreError as `use`."""
        chosen.choose_packaged(self._app.settings.data, kinds)

    def go_back(self) -> Chosen:
        """Take back the last choice, of whichever kind; see `chosen.go_back`."""
        return chosen.go_back(self._app.settings.data)

    def removed(self) -> tuple[Training, ...]:
        """List the trainings that were removed, the last removed first."""
        return self._app.store.trainings.removed()

    def remove(self, training_id: str) -> Training:
        """Take a training out of the list; its files stay, and it can be put back.

        Raises NotFound: there is none.
        Raises BadRequest: it is running, or its model is the default.
        """
        followed = self.get(training_id)
        if followed.active:
            raise BadRequest(f"{followed.training.name} is {followed.state}. Stop it first.")
        if self.default.use(training_id):
            raise BadRequest(
                f"The app searches with the model of {followed.training.name}. Make another the default first, or go "
                "back to the packaged one."
            )
        self._take_in()
        return self._app.store.trainings.remove(training_id)

    def restore(self, training_id: str) -> Training:
        """Put a removed training back. Raises NotFound where there never was one."""
        return self._app.store.trainings.restore(training_id)
