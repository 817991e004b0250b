"""Trainings: started, watched, stopped, resumed, compared, made the default, removed and put back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from relic_core.config import Settings
from relic_core.domain import Job
from relic_core.domain.figures import Table
from relic_core.domain.trainings import Followed, ModelKind, Training, TrainingEvent, follow
from relic_core.encoders.cards import CARD
from relic_core.errors import BadRequest, NotFound
from relic_core.library.naming import meant
from relic_core.reporting import trainings as reported
from relic_core.retrieval.calibration import FILE
from relic_core.services import models
from relic_core.services.jobs import Jobs
from relic_core.store.trainings import TrainingRows
from relic_core.training.folders import FINISHED, TrainingFolder
from relic_core.training.requests import TrainingRequest, settle

KIND = "train"


class Trainings:
    """The trainings there are; models that the settings name stand over a choice."""

    def __init__(
        self,
        settings: Settings,
        rows: TrainingRows,
        jobs: Jobs,
        named_models: Mapping[ModelKind, str],
        check: Callable[[TrainingRequest], None],
    ) -> None:
        self._settings = settings
        self._data = settings.data
        self._rows, self.removed, self.restore = rows, rows.removed, rows.restore
        self._jobs = jobs
        self._named_models = named_models
        self._check = check

    def start(self, request: TrainingRequest) -> Training:
        """Start a training, as a job that outlives this process; raises as `TrainingPlans.check`."""
        self._check(request)
        name = request.name.strip() or f"{request.recipe.name}, {datetime.now(UTC):%d %b %H:%M}"
        folder = TrainingFolder.create(self._data, name=name, recipe=request.recipe.to_json(), asked=request.to_json())
        settle(self._settings, folder, request)
        self._submit(folder)
        return folder.training

    def resume(self, training_id: str) -> Followed:
        """Go on with a training that was stopped or failed, from its last checkpoint."""
        followed = self.get(training_id)
        name = followed.training.name
        if followed.active:
            raise BadRequest(f"{name} is {followed.state} already.")
        if followed.state == "finished":
            raise BadRequest(FINISHED.format(name=name))
        self._submit(TrainingFolder.find(self._data, training_id))
        return self.get(training_id)

    def stop(self, training_id: str) -> Followed:
        """Ask a training to stop after the step it is in, with a checkpoint; one that has ended stays as it is."""
        followed = self.get(training_id)
        if followed.job:
            self._jobs.cancel(followed.job)
        return self.get(training_id)

    def _submit(self, folder: TrainingFolder) -> None:
        training = folder.training
        self._jobs.start(
            KIND, title=f"Training {training.name}", subject=training.id, arguments={"training": training.id}
        )

    # ---- looking --------------------------------------------------------------------------------------------------

    def all(self) -> tuple[Followed, ...]:
        """List the trainings, newest first; what they have told is taken into the store."""
        self._take_in()
        return tuple(map(self._followed, self._rows.all()))

    def get(self, training_id: str) -> Followed:
        """Return a training as it stands now."""
        try:
            training = TrainingFolder.find(self._data, training_id).training
        except NotFound:
            training = self._rows.get(training_id)
        return self._followed(training)

    def compared(self, training_ids: Sequence[str]) -> tuple[Table, ...]:
        """Set trainings side by side: the figures of their best weights, and in what they differ."""
        return reported.compared([self.get(each) for each in dict.fromkeys(training_ids)])

    def find(self, given: str) -> Followed:
        """Find the training a person means by its id, the beginning of it, or its name; its shape may be left out."""
        every, wanted = self.all(), given.strip()
        family = f"{wanted.casefold()} "
        fits = (
            [each for each in every if each.training.id == wanted],
            [each for each in every if each.training.name.casefold() == wanted.casefold()],
            [each for each in every if wanted and each.training.id.startswith(wanted)],
            [each for each in every if wanted and each.training.name.casefold().startswith(family)],
        )
        found = meant(given, fits, kind="trainings", called=lambda each: f"{each.training.id} ({each.training.name})")
        if found is not None:
            return found
        raise NotFound(f"There is no training '{given}'. `python -m relic_core train --list` lists those there are.")

    def _followed(self, training: Training) -> Followed:
        try:
            folder = TrainingFolder.find(self._data, training.id)
        except NotFound:
            return follow(training, self._rows.events(training.id), there=False)
        job = next((job for job in self._jobs.under_way(KIND) if job.subject == training.id), None)
        return follow(training, folder.events(), job=job, has_model=folder.has_model, size=folder.bytes)

    def _take_in(self) -> None:
        kept = self._rows.counts()
        for folder in TrainingFolder.all(self._data):
            events: Sequence[TrainingEvent] = folder.events()
            if len(events) > kept.get(folder.path.name, -1):
                self._rows.take_in(folder.training, events)

    # ---- the default, removing ------------------------------------------------------------------------------------

    @property
    def default(self) -> models.Defaults:
        """Which encoder and which reranker the app searches with."""
        return models.default(self._data, self._named_models)

    def use(self, training_id: str) -> models.Choice:
        """Make the model of a training the app's default: its encoder, or its reranker."""
        return models.choose(self._data, self._at_rest(self.get(training_id)))

    def encoder(self, named: str) -> Path:
        """Find the folder of an encoder, which may be named itself, or by its training."""
        if (folder := Path(named).expanduser()).joinpath(CARD).is_file():
            return folder
        if folder.is_dir() or len(folder.parts) > 1:
            raise NotFound(
                f"{folder} is not the folder of an encoder: it has no {CARD}. Name one that has, or a training."
            )
        training = self._at_rest(self.find(named))
        if training.kind != "encoder":
            raise BadRequest(f"{training.name} is no encoder. What is calibrated is the encoder that finds passages.")
        return models.searchable(self._data, training)

    def calibrate(self, training_id: str) -> Job:
        """Calibrate its encoder by a job, which first adds the novels that this takes where the library lacks them."""
        training = self._at_rest(self.get(training_id))
        return self._jobs.start(
            "calibrate",
            title=f"Calibrating {training.name}",
            subject=training.id,
            arguments={"training": training.id},
        )

    def is_calibrated(self, named: str) -> bool:
        """Whether an encoder has a calibration beside it; named as for `encoder`."""
        return (self.encoder(named) / FILE).is_file()

    def _at_rest(self, followed: Followed) -> Training:
        if followed.active and followed.has_model:
            raise BadRequest(
                f"{followed.training.name} is {followed.state}, and its model may change under those who search with "
                "it. Wait until it has ended, or stop it first."
            )
        return followed.training

    def use_packaged(self, which: str = "packaged") -> None:
        """Make models that come with the program the defaults, named as in `models.PACKAGED`; raises as `use`."""
        models.choose_packaged(self._data, which)

    def go_back(self) -> models.Chosen:
        """Take back the last choice, of whichever kind; see `models.go_back`."""
        return models.go_back(self._data)

    def remove(self, training_id: str) -> Training:
        """Take a training out of the list, unless it runs or is the default; its files stay, and it can be put back."""
        followed = self.get(training_id)
        if followed.active:
            raise BadRequest(f"{followed.training.name} is {followed.state}. Stop it first.")
        if self.default.use(training_id):
            raise BadRequest(
                f"The app searches with the model of {followed.training.name}. Make another the default first, or go "
                "back to the packaged one."
            )
        self._take_in()
        return self._rows.remove(training_id)
