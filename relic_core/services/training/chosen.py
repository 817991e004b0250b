"""Which model the app searches with: chosen among the trainings, kept in one small file below the data folder.

What the setting ``RELIC_TRAINED`` names stands over it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from relic_core.encoders.cards import read_card
from relic_core.encoders.weights import find_model
from relic_core.errors import BadRequest, BadWeights, NotFound
from relic_core.formats.files import written_whole
from relic_core.services.training.folders import FOLDER, TrainingFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.config import Settings

PACKAGED = "packaged"
"""Stands for the model that comes with the program where the id of a training could."""

_FILE = "model.json"
_VERSION = 1
_KEPT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model that was made the default.

    Attributes
    ----------
    training : str
        Id of the training that made it; empty for the packaged model.
    name : str
        What the training is called.
    digest : str
        Of the files of its encoders, as they were then.
    at : datetime
        When it was chosen, in UTC.
    """

    training: str
    name: str
    digest: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """The model that the app searches with, and why it is that one.

    Attributes
    ----------
    choice : Choice or None
        What was chosen last; None where nothing was, or the packaged model.
    before : Choice or None
        What was the default before it; None for the packaged model.
    fixed : str
        What ``RELIC_TRAINED`` names: it stands over the choice. Empty where it names nothing.
    problem : str
        Why the choice cannot be used, and what to do; empty where it can.
    """

    choice: Choice | None
    before: Choice | None
    fixed: str = ""
    problem: str = ""


def with_chosen(settings: Settings) -> Settings:
    """Put the model that was chosen into settings that name none.

    A choice that cannot be read is not passed over: searching by meaning then says so, and `default` says what to do.
    """
    if settings.trained:
        return settings
    try:
        chosen = _read(settings.data)
    except BadWeights:
        return replace(settings, trained=str(_path(settings.data)))  # no card, as whoever opens it will be told
    if not chosen or not chosen[-1].training:
        return settings
    return replace(settings, trained=str(TrainingFolder(settings.data / FOLDER / chosen[-1].training).card))


def stamp(data: Path) -> tuple[int, int]:
    """Tell whether another model may have been chosen since: equal stamps, none was."""
    try:
        status = _path(data).stat()
    except OSError:  # nothing was chosen
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def default(data: Path, fixed: str = "") -> Default:
    """Say which model is the default.

    Parameters
    ----------
    data : Path
        The data folder.
    fixed : str
        What ``RELIC_TRAINED`` names.
    """
    try:
        chosen = _read(data)
    except BadWeights as error:
        return Default(choice=None, before=None, fixed=fixed, problem=str(error))
    now = chosen[-1] if chosen and chosen[-1].training else None
    before = chosen[-2] if len(chosen) > 1 and chosen[-2].training else None
    return Default(choice=now, before=before, fixed=fixed, problem=_problem(data, now) if now else "")


def choose(data: Path, training_id: str, name: str = "") -> Choice:
    """Make a model the default.

    Parameters
    ----------
    data : Path
        The data folder.
    training_id : str
        Of a training that has a model; empty for the packaged one.
    name : str
        What the training is called.

    Raises
    ------
    NotFound, BadRequest
        The training's files are not there, or it has no model yet.
    BadWeights
        Its model is damaged.
    StoreError
        The data folder cannot be written.
    """
    digest = ""
    if training_id:
        folder = TrainingFolder.find(data, training_id)
        if not folder.has_model:
            raise BadRequest(
                f"The training {name or training_id} has no model yet. Let it run until it has been validated once, or "
                "to its end."
            )
        digest = _digest(folder.card)
    made = Choice(training=training_id, name=name, digest=digest, at=datetime.now(UTC))
    try:
        earlier = _read(data)
    except BadWeights:  # it is written anew, and what was wrong with it was told
        earlier = ()
    _write(data, (*earlier, made)[-_KEPT:])
    return made


def go_back(data: Path) -> Choice | None:
    """Make the model the default that was it before; the packaged one where there was none.

    Returns
    -------
    Choice or None
        What is the default now; None for the packaged model.

    Raises
    ------
    NotFound
        The files of the one before are not there any more.
    BadWeights
        What was chosen cannot be read.
    StoreError
        The data folder cannot be written.
    """
    earlier = _read(data)[:-1]
    if earlier and earlier[-1].training:
        TrainingFolder.find(data, earlier[-1].training)
    _write(data, earlier)
    return earlier[-1] if earlier and earlier[-1].training else None


def _path(data: Path) -> Path:
    return data / _FILE


def _digest(card: Path) -> str:
    read = read_card(str(card))
    return " ".join(find_model(tower).digest for tower in (read.query_model, read.passage_model))


def _problem(data: Path, choice: Choice) -> str:
    """Say what is the matter with a choice."""
    undo = "Choose another, or go back to the packaged model (`python -m relic_core train --use packaged`)."
    try:
        folder = TrainingFolder.find(data, choice.training)
        if not folder.has_model:
            return f"The model of {choice.name} is not there any more. {undo}"
        if _digest(folder.card) != choice.digest:
            return (
                f"The model of {choice.name} is not as it was when it was made the default: its training went on, or a "
                f"file was damaged. Make it the default again if that is meant. {undo}"
            )
    except (NotFound, BadWeights) as error:
        return f"{error} {undo}"
    return ""


def _read(data: Path) -> tuple[Choice, ...]:
    """Read what was chosen, the last last.

    Raises
    ------
    BadWeights
        The file is damaged.
    """
    path = _path(data)
    try:
        return _choices(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadWeights(
            f"{path}, which says with which model to search, cannot be read ({error}). Choose a model anew on the page "
            "Training, or with `python -m relic_core train --use packaged`."
        ) from error


def _choices(said: Any) -> tuple[Choice, ...]:  # noqa: ANN401 - any JSON
    if said["version"] != _VERSION:
        raise ValueError(f"its version is {said['version']!r}, and {_VERSION} is known")
    return tuple(
        Choice(
            training=str(each["training"]),
            name=str(each["name"]),
            digest=str(each["digest"]),
            at=datetime.fromisoformat(each["at"]),
        )
        for each in said["chosen"]
    )


def _write(data: Path, chosen: Sequence[Choice]) -> None:
    said = {
        "version": _VERSION,
        "chosen": [
            {"training": each.training, "name": each.name, "digest": each.digest, "at": each.at.isoformat()}
            for each in chosen
        ],
    }
    with written_whole(_path(data)) as file:
        file.write((json.dumps(said, indent=1) + "\n").encode())
