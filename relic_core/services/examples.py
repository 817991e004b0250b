"""Examples: claims whose quotation is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.library import sample

if TYPE_CHECKING:
    from relic_core.domain import Example, Work
    from relic_core.wiring import App


class Examples:
    """The examples of the store."""

    def __init__(self, app: App) -> None:
        self._app = app

    def of_split(self, split: str) -> tuple[Example, ...]:
        """List the examples of a split ("sample") in order; empty where there are none."""
        return self._app.store.examples.of_split(split)

    def ensure_sample(self, work: Work) -> tuple[Example, ...]:
        """Place the excerpts that ship with the program in the sample work, and keep them.

        Writes only what has changed since the last time.

        Raises BadText: an excerpt that does not fit the work.
        """
        examples = sample.align(work, sample.read_excerpts())
        if examples != self.of_split(sample.SPLIT):
            self._app.store.examples.replace(sample.SPLIT, examples)
        return examples
