"""What studies are made from: the windows of benchmarks of whole works, and those that were mined here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import LENGTHS, MAX_CONTEXT, BenchmarkCard, QuotationContext
from relic_core.errors import BadBenchmark, BadRequest, NotFound, RelicError
from relic_core.evaluation.benchmarks import registry as benchmarks
from relic_core.evaluation.benchmarks.opened import Opened, book_of

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.ports import Benchmark
    from relic_core.wiring import App

_MINED = BenchmarkCard(
    name="",
    label="The windows mined here",
    description="Places in your own secondary sources where works of the library are quoted.",
    split="",
    pool="whole work",
    main_metric="recall@10",
    examples=None,
    books=None,
    source="The reader's secondary sources",
    licence="",
    citation="",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySource:
    """What a study can be made from.

    - `benchmark`, `label`: its name (empty for the windows mined here), and what pages call it.
    - `works`: key and title of each work, with its windows of all lengths.
    - `problem`: why it cannot be used now; empty where it can.
    """

    benchmark: str
    label: str
    works: tuple[tuple[str, str, int], ...] = ()
    problem: str = ""


def list_sources(app: App) -> tuple[StudySource, ...]:
    """List what studies can be made from, the windows mined here first."""
    cards = [card for card in app.benchmarks.cards() if card.pool == _MINED.pool]
    return tuple(_source(app, card) for card in (_MINED, *cards))


def _source(app: App, card: BenchmarkCard) -> StudySource:
    try:
        benchmark = opened(app, card.name)
    except RelicError as error:  # told, since the others can be used
        return StudySource(benchmark=card.name, label=card.label, problem=str(error))
    counts = Counter(window.book for window in benchmark.windows())
    works = tuple((book.key, book.title, counts[book.key]) for book in benchmark.books())
    return StudySource(benchmark=card.name, label=card.label, works=works)


def opened(app: App, name: str, *, data: Path | None = None) -> Benchmark:
    """Open what a study can be made from: a benchmark of whole works, or the windows mined here.

    Raises BadRequest: no benchmark has that name, or its queries come with given pools of passages.
    Raises NotFound: its data or works are not here; nothing was mined.
    """
    if not name:
        return mined(app)
    card = app.benchmarks.card(name)
    if card.pool != "whole work":
        raise BadRequest(
            f"{card.label} gives passages without the work around them, so that nobody could read further. Take a "
            "benchmark of whole works."
        )
    return app.benchmarks.open(name, data=data)


def has_work(app: App, slug: str) -> bool:
    """Whether a work of the catalogue is stored."""
    return slug in {each.entry.slug for each in app.catalogue.shelf() if each.work is not None}


def has_words(app: App, benchmark: str) -> bool:
    """Whether the words of a benchmark's windows are here."""
    try:
        return bool(benchmarks.unplaced(benchmark, settings=app.settings))
    except (NotFound, BadBenchmark):
        return False


def mined(app: App) -> Opened:
    """Give the windows that were mined from the reader's sources and are kept, as a benchmark.

    Raises NotFound: there is none.
    """
    found = [
        stored.window
        for some in app.store.windows.iterate()
        for stored in some
        if stored.window.has_context and stored.window.gold.length in LENGTHS
    ]
    works = app.works.load_all({window.work_id for window in found})
    windows = [
        QuotationContext(
            id=window.id,
            book=window.work_id,
            pool=window.work_id,
            left=window.left[-MAX_CONTEXT:],
            right=window.right[:MAX_CONTEXT],
            gold=window.gold,
        )
        for window in found
        if window.work_id in works
    ]
    if not windows:
        raise NotFound(
            "No window was mined from sources of your own yet. Mine some (python -m relic_core mine FOLDER), or make "
            "the study of a benchmark: sample, public-relic-test."
        )
    books = [book_of(key, work) for key, work in works.items()]
    return Opened(_MINED, windows, books=books, works=works)


def sources(app: App) -> dict[str, str]:
    """Name the secondary source of each mined window."""
    titles = {
        stored.source.id: ", ".join(filter(None, (stored.source.author, stored.source.title)))
        for stored in app.store.sources.all()
    }
    return {
        stored.window.id: titles.get(stored.window.source_id, "")
        for some in app.store.windows.iterate()
        for stored in some
    }
