"""Works for benchmarks: made by hand, or read from a folder of novels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import NotFound
from relic_core.text.reading import read_work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import Work


class Shelf:
    """A source of works: those given, and those of a folder, each read once."""

    def __init__(self, works: dict[str, Work] | None = None, *, folder: Path | None = None) -> None:
        self._works = dict(works or {})
        self._folder = folder

    def find(self, keys: Sequence[str]) -> dict[str, Work]:
        for key in keys:
            if key not in self._works:
                if self._folder is None:
                    raise NotFound(f"The shelf has no {key}.")
                path = self._folder / f"{key}.txt"
                self._works[key] = read_work(path.read_bytes(), name=path.name)
        return {key: self._works[key] for key in keys}
