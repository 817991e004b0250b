"""The file of what was chosen to search with: after each choice both models, so that the last can be taken back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from relic_core.domain.trainings import MODEL_KINDS
from relic_core.errors import BadWeights
from relic_core.formats.files import written_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.domain.trainings import ModelKind

_FILE = "model.json"
_VERSION = 2
_OF_ENCODERS = 1
"""The version from before rerankers could be chosen."""
_KEPT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model that was made the default.

    - `digest`: of the files of its model, as they were then.
    - `at`: when it was chosen, in UTC.
    """

    training: str
    name: str
    digest: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is chosen of each kind; None for the model that comes with the program."""

    encoder: Choice | None = None
    reranker: Choice | None = None

    def of(self, kind: ModelKind) -> Choice | None:
        """Give what is chosen of one kind."""
        return self.encoder if kind == "encoder" else self.reranker


def choices_file(data: Path) -> Path:
    """Say where it is, below the data folder."""
    return data / _FILE


def read_choices(data: Path) -> tuple[Chosen, ...]:
    """Read what was chosen, the last last; nothing where nothing ever was.

    Raises BadWeights: the file is damaged.
    """
    path = choices_file(data)
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_chosen(each) for each in _of_any_version(said))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadWeights(
            f"{path}, which says with which models to search, cannot be read ({error}). Choose a model anew on the "
            "page Training, or with `python -m relic_core train --use packaged`."
        ) from error


def write_choices(data: Path, choices: Sequence[Chosen]) -> None:
    """Write what was chosen, the last last; of many, the last.

    Raises StoreError: the data folder cannot be written.
    """
    said = {
        "version": _VERSION,
        "chosen": [{kind: _written(each.of(kind)) for kind in MODEL_KINDS} for each in choices[-_KEPT:]],
    }
    with written_whole(choices_file(data)) as file:
        file.write((json.dumps(said, indent=1) + "\n").encode())


def _of_any_version(said: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 - any JSON
    if said["version"] == _OF_ENCODERS:
        return [{"encoder": each if each["training"] else None, "reranker": None} for each in said["chosen"]]
    if said["version"] != _VERSION:
        raise ValueError(f"its version is {said['version']!r}, and {_VERSION} is known")
    return list(said["chosen"])


def _chosen(said: Mapping[str, Any]) -> Chosen:
    return Chosen(**{kind: _choice(said[kind]) for kind in MODEL_KINDS})


def _choice(said: Mapping[str, Any] | None) -> Choice | None:
    if said is None:
        return None
    return Choice(
        training=str(said["training"]),
        name=str(said["name"]),
        digest=str(said["digest"]),
        at=datetime.fromisoformat(said["at"]),
    )


def _written(choice: Choice | None) -> dict[str, str] | None:
    if choice is None:
        return None
    return {"training": choice.training, "name": choice.name, "digest": choice.digest, "at": choice.at.isoformat()}
