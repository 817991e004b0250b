"""Which models the app searches with: chosen among trainings and what comes along, kept in a file of the data folder.

There are two: the encoder finds passages, the reranker reorders them. What the settings ``RELIC_TRAINED`` and
``RELIC_RERANKER`` name stands over a choice. The file holds after each choice both models, so that the last can be
taken back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from relic_core.config import ASSETS, Settings
from relic_core.domain.trainings import MODEL_KINDS, ModelKind, Training
from relic_core.encoders.cards import CARD, read_card, read_reranker
from relic_core.encoders.weights import LARGE, find_model, is_large_installed
from relic_core.errors import BadRequest, BadWeights, NotFound
from relic_core.formats.files import Strict, record_in, write_whole
from relic_core.installed import COMMAND
from relic_core.training.folders import FOLDER, MODEL, TrainingFolder

PACKAGED_LARGE = "packaged-large"
"""Stands for the encoder that comes with the program and lies over the larger base, which has to be installed."""
PACKAGED: dict[str, tuple[ModelKind, ...]] = {
    "packaged": MODEL_KINDS,
    "packaged-encoder": ("encoder",),
    "packaged-reranker": ("reranker",),
    PACKAGED_LARGE: ("encoder",),
}
"""Stand for models that come with the program where the id of a training could, and of which kinds these are."""

TRAINED_LARGE = ASSETS / "weights" / "dense-relic-large"

SETTINGS: dict[ModelKind, str] = {"encoder": "RELIC_TRAINED", "reranker": "RELIC_RERANKER"}
"""What names a model over the head of a choice."""

_FILE = "model.json"
_VERSION = 2
_OF_ENCODERS = 1
"""The version from before rerankers could be chosen."""
_KEPT = 20
_UNDO = f"Choose another, or go back to the packaged one (`{COMMAND} train --use packaged-{{kind}}`)."
_OF: Mapping[str, ModelKind] = {"dense-relic": "encoder", "reranked": "reranker"}
"""By retriever the kind of model that stands behind it and can be chosen among the trainings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model that was made the default; `digest` is that of its files as they were then, `at` is in UTC.

    - `training`: its training, or `PACKAGED_LARGE`.
    """

    training: str
    name: str
    digest: str
    at: datetime

    @property
    def is_large(self) -> bool:
        """Whether it is the encoder that comes with the program and lies over the larger base."""
        return self.training == PACKAGED_LARGE

    @property
    def named(self) -> str:
        """How its name follows on "the model": one that was trained here is the model of its training."""
        return self.name if self.is_large else f"of {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is chosen of each kind; None for the packaged model that is used where nothing is chosen."""

    encoder: Choice | None = None
    reranker: Choice | None = None

    def of(self, kind: ModelKind) -> Choice | None:
        """Give what is chosen of one kind."""
        return self.encoder if kind == "encoder" else self.reranker

    @property
    def trainings(self) -> tuple[str, ...]:
        """The ids of the trainings that they are of, or what stands for one; empty where nothing is chosen."""
        return tuple(choice.training if choice else "" for choice in (self.encoder, self.reranker))


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """The model of one kind that the app searches with, and why it is that one.

    - `fixed`: what the setting names: it stands over the choice. Empty where it names nothing.
    - `problem`: why the choice cannot be used, and what to do; empty where it can.
    """

    choice: Choice | None
    fixed: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """Both models that the app searches with, what going back would bring, and why no choice can be read."""

    encoder: Default
    reranker: Default
    before: Chosen = field(default_factory=Chosen)
    problem: str = ""

    def of(self, kind: ModelKind) -> Default:
        """Give one of the two."""
        return self.encoder if kind == "encoder" else self.reranker

    def use(self, training_id: str) -> bool:
        """Whether the model of a training is one of them."""
        return any(each.choice and each.choice.training == training_id for each in (self.encoder, self.reranker))

    @property
    def offers_large(self) -> bool:
        """Whether the encoder over the larger base could be searched with, and nothing else leads to it."""
        near = (self.encoder.choice, self.before.encoder)  # going back leads to the second, and is offered by itself
        chosen = any(choice and choice.is_large for choice in near)
        return not self.encoder.fixed and not chosen and is_large_installed()


def is_large(model: str) -> bool:
    """Whether a model, as the settings name it, is the encoder that comes with the program for the larger base."""
    return Path(model) in {TRAINED_LARGE, TRAINED_LARGE / CARD}


def encoder_is_open(data: Path) -> bool:
    """Whether nobody ever chose an encoder, nor took a choice back: the program may then choose one.

    Choosing the small model leaves a line in the file, too; a line with a reranker alone chooses no encoder.
    """
    if not choices_file(data).exists():
        return True
    try:
        choices = _read(data)
    except BadWeights:
        return False
    return bool(choices) and all(each.encoder is None and each.reranker is not None for each in choices)


def wants_large(data: Path) -> bool:
    """Whether the encoder over the larger base is the choice, or would be: see `encoder_is_open`."""
    if encoder_is_open(data):
        return True
    with suppress(BadWeights):
        encoder = _last(_read(data)).encoder
        return encoder is not None and encoder.is_large
    return False


def with_chosen(settings: Settings) -> Settings:
    """Put the models that were chosen into settings that name none.

    A choice that cannot be read is not passed over: searching then says so, and `default` says what to do.
    """
    try:
        chosen = _last(_read(settings.data))
    except BadWeights:
        file = str(choices_file(settings.data))  # no model: opening it says why
        return replace(settings, trained=settings.trained or file, reranker=settings.reranker or file)
    encoder = str(_model(settings.data, chosen.encoder) / CARD) if chosen.encoder else ""
    reranker = str(_model(settings.data, chosen.reranker)) if chosen.reranker else ""
    return replace(settings, trained=settings.trained or encoder, reranker=settings.reranker or reranker)


def stamp(data: Path) -> tuple[int, int]:
    """Tell whether another model may have been chosen since: equal stamps, none was."""
    try:
        status = choices_file(data).stat()
    except OSError:  # nothing was chosen
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def choices_file(data: Path) -> Path:
    """Say where the choices are, below the data folder."""
    return data / _FILE


def default(data: Path, fixed: Mapping[ModelKind, str]) -> Defaults:
    """Say which models are the defaults; `fixed` is what the settings name."""
    try:
        choices = _read(data)
    except BadWeights as error:
        return Defaults(
            encoder=Default(choice=None, fixed=fixed["encoder"]),
            reranker=Default(choice=None, fixed=fixed["reranker"]),
            problem=str(error),
        )
    now = _last(choices)

    def of(kind: ModelKind) -> Default:
        choice = now.of(kind)
        return Default(choice=choice, fixed=fixed[kind], problem=_problem(data, kind, choice) if choice else "")

    return Defaults(encoder=of("encoder"), reranker=of("reranker"), before=_last(choices[:-1]))


def naming(data: Path, training: Training) -> str:
    """Say how a model is used that cannot be chosen as a default."""
    model = data / FOLDER / training.id / MODEL
    if training.is_late:
        return (
            "It compares single words, for the column Late interaction. Name it by "
            f"RELIC_LATE={model / CARD} (docs/encoders.md, Word by word)."
        )
    named = f"RELIC_RERANKER=likelihood:{model}"
    if training.recipe.get("supervision") == "retrieved":
        named = f"RELIC_MODEL={model / CARD}"
    return (
        f"It says where a quotation comes from, and searches do not use it. Name it by {named} (docs/attribution.md)."
    )


def searchable(data: Path, training: Training) -> Path:
    """Find the model of a training, with which the app can search. Raises BadRequest: it has none."""
    folder = TrainingFolder.find(data, training.id)
    if not folder.has_model:
        raise BadRequest(
            f"The training {training.name} has no model yet. Let it run until it has been validated once, or to "
            "its end."
        )
    if not training.selectable:
        raise BadRequest(f"{training.name} cannot be made the default. {naming(data, training)}")
    return folder.model


def choose(data: Path, training: Training) -> Choice:
    """Make the model of a training, whose files are checked, the default of its kind."""
    digest = _digest(searchable(data, training), training.kind)
    made = Choice(training=training.id, name=training.name, digest=digest, at=datetime.now(UTC))
    _add(data, {training.kind: made})
    return made


def choose_packaged(data: Path, which: str = "packaged") -> None:
    """Make models that come with the program the defaults, named as in `PACKAGED`. Raises StoreError as `choose`."""
    made = None
    if which == PACKAGED_LARGE:
        digest = _digest(TRAINED_LARGE, "encoder")
        made = Choice(training=PACKAGED_LARGE, name="dense-RELiC, larger", digest=digest, at=datetime.now(UTC))
    _add(data, dict.fromkeys(PACKAGED[which], made))


def go_back(data: Path) -> Chosen:
    """Take back the last choice, of whichever kind it was; where there was none, the packaged models stay."""
    choices = _read(data)
    now, before = _last(choices), _last(choices[:-1])
    for kind in MODEL_KINDS:
        choice = before.of(kind)
        if choice and choice != now.of(kind):
            _check_there(data, choice)
    _write(data, choices[:-1])
    return before


def own_models(data: Path, named: Mapping[ModelKind, str]) -> dict[str, tuple[str, str]]:
    """Name the chosen models that are searched with, and where they are from, by retriever; settings come first."""
    try:
        now = _last(_read(data))
    except BadWeights:  # searching tells it
        return {}
    found = {}
    for retriever, kind in _OF.items():
        choice = now.of(kind)
        if choice is None or named[kind]:
            continue
        where = f", over {LARGE}"
        if not choice.is_large:
            where = ", trained here"
            with suppress(NotFound):
                where += f" on {TrainingFolder(data / FOLDER / choice.training).training.created:%-d %B %Y}"
        found[retriever] = choice.name, f"{choice.name}{where}"
    return found


class _Version(Strict):
    version: int


class _OfEncoders(_Version):
    chosen: tuple[Choice, ...]


class _Choices(_Version):
    version: Literal[2]
    chosen: tuple[Chosen, ...]


def _read(data: Path) -> tuple[Chosen, ...]:
    """Read what was chosen, the last last; nothing where nothing ever was. Raises BadWeights: the file is damaged."""
    path = choices_file(data)
    try:
        if record_in(_Version, path, extra="ignore").version == _OF_ENCODERS:
            before = record_in(_OfEncoders, path).chosen
            return tuple(Chosen(encoder=each if each.training else None) for each in before)
        return record_in(_Choices, path).chosen
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise BadWeights(
            f"{path}, which says with which models to search, cannot be read ({error}). Choose a model anew on the "
            "page Training, or with `python -m relic_core train --use packaged`."
        ) from error


def _write(data: Path, choices: Sequence[Chosen]) -> None:
    """Write what was chosen, the last last; of many, the last."""
    record = {"version": _VERSION, "chosen": [asdict(each) for each in choices[-_KEPT:]]}
    with suppress(OSError):  # writing says what is wrong
        data.mkdir(parents=True, exist_ok=True)
    write_whole(choices_file(data), json.dumps(record, indent=1, default=datetime.isoformat) + "\n")


def _last(choices: Sequence[Chosen]) -> Chosen:
    return choices[-1] if choices else Chosen()


def _add(data: Path, made: Mapping[ModelKind, Choice | None]) -> None:
    try:
        choices = _read(data)
    except BadWeights:  # it is written anew, and what was wrong with it was reported
        choices = ()
    now = _last(choices)
    new = Chosen(**{kind: made.get(kind, now.of(kind)) for kind in MODEL_KINDS})
    again = now.trainings == new.trainings
    _write(data, (*(choices[:-1] if again else choices), new))  # going back always brings something else


def _model(data: Path, choice: Choice) -> Path:
    return TRAINED_LARGE if choice.is_large else TrainingFolder(data / FOLDER / choice.training).model


def _check_there(data: Path, choice: Choice) -> None:
    """Raise NotFound where the training of a chosen model is gone, and BadWeights where the larger base is."""
    if choice.is_large:
        _digest(TRAINED_LARGE, "encoder")
    else:
        TrainingFolder.find(data, choice.training)


def _digest(model: Path, kind: ModelKind) -> str:
    if kind == "reranker":
        return read_reranker(model)[1].digest
    read = read_card(str(model / CARD))
    return " ".join(find_model(tower).digest for tower in (read.query_model, read.passage_model))


def _problem(data: Path, kind: ModelKind, choice: Choice) -> str:
    undo = _UNDO.format(kind=kind)
    try:
        _check_there(data, choice)
        if choice.is_large:  # a newer program may bring other weights
            return ""
        folder = TrainingFolder.find(data, choice.training)
        if not folder.has_model:
            return f"The model of {choice.name} is not there any more. {undo}"
        if _digest(folder.model, kind) != choice.digest:
            return (
                f"The model of {choice.name} is not as it was when it was made the default: its training went on, or a "
                f"file was damaged. Make it the default again if that is meant. {undo}"
            )
    except (NotFound, BadWeights) as error:
        return f"{error} {undo}"
    return ""
