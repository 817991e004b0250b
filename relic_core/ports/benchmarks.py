"""Benchmarks: claims whose quotation is known, and where their works come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from relic_core.domain import BenchmarkCard, Book, QuotationContext, Work


class Benchmark(Protocol):
    """Claims whose quotation is known, and what it is to be chosen from."""

    @property
    def card(self) -> BenchmarkCard:
        """What it is."""

    @property
    def data_hash(self) -> str:
        """Sha256 over the windows and the works that hold their candidates: other sentences, another hash."""

    def windows(self) -> tuple[QuotationContext, ...]:
        """List all windows in the order of the benchmark, each with its gold checked against its work.

        Raises BadBenchmark: the data are damaged, or of another text.
        Raises NotFound: data or works that are not here; the message says how to get them.
        """

    def books(self) -> tuple[Book, ...]:
        """List the quoted works, each once, in the order of their first window."""

    def work(self, pool: str) -> Work:
        """Give the work whose spans are the candidates of every window of this pool.

        A given pool comes as a work of which each passage is one sentence and one chapter of its own.
        """

    def candidates(self, window: QuotationContext) -> npt.NDArray[np.int64] | None:
        """List where the spans that count as candidates of the gold's length start, ascending; None for all spans."""


class WorkSource(Protocol):
    """Finds the works that a benchmark's quotations come from."""

    def find(self, keys: Sequence[str]) -> dict[str, Work]:
        """Give the works of some slugs of the catalogue.

        Raises NotFound: some are not in the library; the message names them and how to add them.
        """
