"""What of a data folder goes into a back-up, and what does not, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.services.models import choices_file
from relic_core.store import swapping
from relic_core.training.folders import CHECKPOINTS, FOLDER, MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from relic_core.config import Settings


class Collected:
    """The files of a data folder that go into a back-up, beside the store.

    - `models`: take the models that were trained here along.

    - `files`: each with its name below the data folder.
    - `left_out`: what of the folder does not go in, and why.
    """

    def __init__(self, settings: Settings, *, models: bool) -> None:
        self._settings = settings
        self._data = settings.data
        self._unwanted = {CHECKPOINTS: "steps in between of a training"} | ({} if models else {MODEL: "not asked for"})
        self.left_out = ["indexes: they can be built again"]
        self.files = tuple(self._files(models=models))

    def _files(self, *, models: bool) -> Iterator[tuple[str, Path]]:
        for top in swapping.contents(self._data, store=self._settings.store.name):
            if top.name.startswith(self._settings.store.name):
                continue
            if top == self._settings.jobs:
                self.left_out.append("jobs: those that have ended are in the store")
            elif top == choices_file(self._data) and not models:
                self.left_out.append(f"{top.name}: it chooses among models that are left out")
            else:
                yield from self._below(top)
        if (self._data / swapping.FETCHED).is_dir():
            self.left_out.append(f"{swapping.FETCHED}: they can be fetched again")

    def _below(self, top: Path) -> Iterator[tuple[str, Path]]:
        name = top.relative_to(self._data).as_posix()
        if top.is_symlink():
            self.left_out.append(f"{name}: a link")
        elif top.is_file():
            if not top.name.endswith(".lock"):
                yield name, top
        elif top.parent.parent == self._data / FOLDER and top.name in self._unwanted:
            self.left_out.append(f"{name}: {self._unwanted[top.name]}")
        elif top.is_dir():
            for path in sorted(top.iterdir()):
                if not path.name.startswith("."):
                    yield from self._below(path)
