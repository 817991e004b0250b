"""The benchmarks there are. Adding one is one file with a card and a `create` function, and one line here."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from relic_core.config import Settings
from relic_core.domain import BenchmarkCard, QuotationContext
from relic_core.errors import unknown_name
from relic_core.evaluation.benchmarks.opened import Opened
from relic_core.ports import Benchmark, WorkSource

_MODULES = {
    "public-relic-test": "relic_core.evaluation.benchmarks.public_relic:TEST",
    "public-relic-dev": "relic_core.evaluation.benchmarks.public_relic:DEV",
    "birco-novels": "relic_core.evaluation.benchmarks.birco:NOVELS",
    "birco-pools": "relic_core.evaluation.benchmarks.birco:POOLS",
    "birco-pools-whole": "relic_core.evaluation.benchmarks.birco:WHOLE",
    "public-relic-dev-all": "relic_core.evaluation.benchmarks.public_relic:DEV_ALL",
    "public-relic-test-all": "relic_core.evaluation.benchmarks.public_relic:TEST_ALL",
    "public-relic-dev-short": "relic_core.evaluation.benchmarks.public_relic:DEV_SHORT",
    "loci-dev": "relic_core.evaluation.benchmarks.loci:DEV",
    "loci-test": "relic_core.evaluation.benchmarks.loci:TEST",
    "relic": "relic_core.evaluation.benchmarks.relic",
    "birco-arguana": "relic_core.evaluation.benchmarks.judged:ARGUANA",
    "birco-wtb": "relic_core.evaluation.benchmarks.judged:WTB",
    "birco-clinical-trial": "relic_core.evaluation.benchmarks.judged:CLINICAL_TRIAL",
    "birco-doris-mae-dev": "relic_core.evaluation.benchmarks.judged:DORIS_MAE",
    "judged": "relic_core.evaluation.benchmarks.judged:JUDGED",
    "sample": "relic_core.evaluation.benchmarks.sample",
}
"""By name, in the order in which pages list them; a module is loaded when it is asked for. One that holds several
benchmarks names the object of each behind a colon."""


class _Module(Protocol):
    """What the file of a benchmark holds."""

    @property
    def CARD(self) -> BenchmarkCard: ...  # noqa: N802 - a constant in most of them

    def create(self, settings: Settings, works: WorkSource, data: Path | None) -> Opened: ...


def names() -> tuple[str, ...]:
    """List the names of all benchmarks, without loading any."""
    return tuple(_MODULES)


def cards() -> tuple[BenchmarkCard, ...]:
    """List all benchmarks, in the order in which pages show them."""
    return tuple(card(name) for name in _MODULES)


def card(name: str) -> BenchmarkCard:
    """Describe one benchmark, as it is before it is opened.

    >>> card("sample").examples, card("birco/wtb").name
    (72, 'birco-wtb')
    """
    return _module(name).CARD


def open_benchmark(name: str, *, settings: Settings, works: WorkSource, data: Path | None = None) -> Benchmark:
    """Open a benchmark: read its files, find its works, check all of it.

    Raises BadRequest: no benchmark has that name, or it takes no file of the reader's own.
    Raises NotFound: data or works that are not here; the message says how to get them.
    Raises BadBenchmark: the data are damaged, not those the card speaks of, or of another text.
    """
    opened = _module(name).create(settings, works, data)
    if data is not None:
        opened.card = replace(opened.card, own=True)
    return opened


def unplaced(name: str, *, settings: Settings) -> tuple[QuotationContext, ...]:
    """Read the windows of a benchmark without its works, for their claims; none where it cannot be read so."""
    read = getattr(_module(name), "unplaced", None)
    return read(settings) if read is not None else ()


def _module(name: str) -> _Module:
    found = _MODULES.get(name.replace("/", "-"))  # birco/wtb, as ir_datasets writes names
    if found is None:
        raise unknown_name("benchmark", name, _MODULES)
    path, _, member = found.partition(":")
    module = import_module(path)
    return cast("_Module", getattr(module, member) if member else module)
