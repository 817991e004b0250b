"""The folder of a training: what is asked, a journal that it appends to, the examples it learns from, its weights.

A training never holds the store while it works. Its journal is taken into the store when somebody next looks.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from relic_core.domain.bounds import Count
from relic_core.domain.trainings import Training, TrainingEvent
from relic_core.errors import BadRequest, NotFound, StoreFull, StoreReadOnly
from relic_core.formats.files import Moment, Strict, record_in, record_of, records_in_lines, written_whole
from relic_core.store.jobs import append_line

FOLDER = "trainings"
MODEL = "model"
CHECKPOINTS = "checkpoints"
FINISHED = "{name} is finished: there is nothing to go on with. Start a new training."

_ASKED = "asked.json"
_EXAMPLES = "examples.json"
_JOURNAL = "journal.jsonl"
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_ID = re.compile(r"[a-z2-7]{8}")


class _Event(Strict):
    at: Moment
    event: str
    step: Count


class TrainingFolder:
    """One training on disk, in a folder named by its id."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, data: Path, *, name: str, recipe: Mapping[str, Any], asked: Mapping[str, Any]) -> TrainingFolder:
        """Make the folder of a new training below the data folder."""
        folder = cls(data / FOLDER / "".join(secrets.choice(_LETTERS) for _ in range(8)))
        try:
            folder.path.mkdir(parents=True)
        except OSError as error:
            raise StoreReadOnly(
                f"The folder {folder.path.parent} cannot be written ({error.strerror}). Make it writable, make room, "
                "or choose another data folder with RELIC_DATA."
            ) from error
        settings = {
            "id": folder.path.name,
            "name": name,
            "recipe": dict(recipe),
            "asked": dict(asked),
            "created": datetime.now(UTC).isoformat(),
        }
        folder.write(_ASKED, settings)
        return folder

    @classmethod
    def find(cls, data: Path, training_id: str) -> TrainingFolder:
        """Return the folder of a training. Raises NotFound: its files are not there."""
        folder = cls(data / FOLDER / training_id)
        if not _ID.fullmatch(training_id) or not (folder.path / _ASKED).is_file():
            raise NotFound(
                f"The files of the training '{training_id}' are not in {data / FOLDER}: they were deleted or moved. "
                "Put them back, or start the training anew."
            )
        return folder

    @classmethod
    def all(cls, data: Path) -> tuple[TrainingFolder, ...]:
        """List the trainings there are; a folder that is not there has none."""
        return tuple(cls(path.parent) for path in sorted((data / FOLDER).glob(f"*/{_ASKED}")))

    @property
    def training(self) -> Training:
        """What is asked. Raises NotFound: it cannot be read."""
        try:
            return replace(record_in(Training, self.path / _ASKED), id=self.path.name)
        except (OSError, ValueError) as error:
            raise NotFound(f"{self.path / _ASKED} cannot be read ({error}). Start the training anew.") from error

    @property
    def model(self) -> Path:
        """The folder of the best weights so far; it may not be there yet."""
        return self.path / MODEL

    @property
    def card(self) -> Path:
        """The card of an encoder's best weights so far; it may not be there yet."""
        from relic_core.encoders.cards import CARD

        return self.model / CARD

    @property
    def has_model(self) -> bool:
        """Whether there are weights to use."""
        from relic_core.encoders.cards import CARD, RERANKER_CARD
        from relic_core.encoders.weights import WEIGHTS

        return any((self.model / name).is_file() for name in (CARD, RERANKER_CARD, WEIGHTS))

    @property
    def checkpoint(self) -> int:
        """Step of the last checkpoint, as the journal tells; 0 where there was none."""
        return next((each.step for each in reversed(self.events()) if each.event == "checkpoint"), 0)

    @property
    def finished(self) -> bool:
        """Whether it ended by itself, as the journal tells."""
        return any(each.event == "finished" for each in self.events())

    @property
    def bytes(self) -> int:
        """Size of all its files."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())

    def append(self, event: str, step: int = 0, **facts: Any) -> None:  # noqa: ANN401 - any JSON
        """Write one event into the journal. Raises StoreFull: the disk has no room for it."""
        path = self.path / _JOURNAL
        try:
            append_line(path, {"at": datetime.now(UTC).isoformat(), "event": event, "step": step, **facts})
        except OSError as error:
            raise StoreFull(
                f"{path} cannot be written ({error.strerror}). Make room, and resume the training: what was written "
                "before is kept."
            ) from error

    def events(self) -> tuple[TrainingEvent, ...]:
        """Read the journal; a line cut short when its writer was killed is passed over."""
        lines = records_in_lines(self.path / _JOURNAL, partial(record_of, _Event, extra="allow"))
        return tuple(
            TrainingEvent(number=number, at=each.at, event=each.event, step=each.step, facts=each.model_extra or {})
            for number, each in enumerate(lines, start=1)
            if each is not None
        )

    def examples(self) -> dict[str, Any] | None:
        """Read which examples it is trained on and which it is validated on; None before they were chosen."""
        return self.read(_EXAMPLES, ("pairs", "windows", "validation", "held", "hard"))

    def read(self, name: str, keys: Sequence[str]) -> dict[str, Any] | None:
        """Read keys of a JSON file that `write` wrote; None where there is none. Raises BadRequest: it is damaged."""
        path = self.path / name
        if not path.is_file():
            return None
        try:
            record = record_in(dict[str, Any], path)
            return {key: record[key] for key in keys}
        except (OSError, ValueError, KeyError) as error:
            raise BadRequest(f"{path} is damaged ({error}). Start the training anew.") from error

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        """Write a JSON file whole."""
        with written_whole(self.path / name) as file:
            file.write(json.dumps(record, ensure_ascii=True).encode())

    def write_examples(self, examples: Mapping[str, Any]) -> None:
        """Write down which examples it is trained on, so that a resumed training uses the same."""
        self.write(_EXAMPLES, examples)
