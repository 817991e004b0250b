"""Benchmarks, opened over the works of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import NotFound
from relic_core.evaluation.benchmarks import registry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import BenchmarkCard, Work
    from relic_core.ports import Benchmark
    from relic_core.services.catalogue import Shelved
    from relic_core.wiring import App


class Benchmarks:
    """The benchmarks of an app; also the source of the works that they quote."""

    def __init__(self, app: App) -> None:
        self._app = app

    def cards(self) -> tuple[BenchmarkCard, ...]:
        """List all benchmarks."""
        return registry.cards()

    def card(self, name: str) -> BenchmarkCard:
        """Describe one benchmark.

        Raises BadRequest: no benchmark has that name.
        """
        return registry.card(name)

    def open(self, name: str, *, data: Path | None = None) -> Benchmark:
        """Open a benchmark.

        - `data`: the reader's own file or folder, in place of ``RELIC_BENCHMARKS``.

        Raises BadRequest: no benchmark has that name.
        Raises BadBenchmark: its data are damaged.
        Raises NotFound: its data are not here, or works that it quotes.
        """
        return registry.open_benchmark(name, settings=self._app.settings, works=self, data=data)

    def find(self, keys: Sequence[str]) -> dict[str, Work]:
        """Give the stored works of some slugs of the catalogue.

        Raises NotFound: some are not in the library; the message names them and how to add them.
        """
        shelf = {each.entry.slug: each for each in self._app.catalogue.shelf()}
        missing = [key for key in dict.fromkeys(keys) if key not in shelf or shelf[key].work is None]
        if missing:
            raise NotFound(self._how_to_add(missing, shelf))
        return {key: self._app.works.load(work.id) for key in keys if (work := shelf[key].work) is not None}

    def _how_to_add(self, missing: Sequence[str], shelf: dict[str, Shelved]) -> str:
        there = [key for key in missing if key in shelf and shelf[key].origin != "none"]
        nowhere = [key for key in missing if key not in there]
        count = "A work is" if len(missing) == 1 else f"{len(missing)} works are"
        said = [f"{count} needed that {'is' if len(missing) == 1 else 'are'} not in the library."]
        if there:
            said.append(
                f"Add {'it' if len(there) == 1 else 'them'}: python -m relic_core catalogue --add {' '.join(there)}"
            )
            if self._app.settings.library is None:
                said.append("(set RELIC_LIBRARY to a folder with NAME.txt files to take them from there instead).")
        if nowhere:
            said.append(
                f"Not free to fetch: {', '.join(nowhere)}. Put your own copy into the folder RELIC_LIBRARY as NAME.txt."
            )
        return " ".join(said)
