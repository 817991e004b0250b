"""Choosing how works are read: stretch lengths and overlaps tried against each other, and against spans read alone.

What is cheap to encode must not be worse to search. Indexes are made for one work at a time in a folder that is thrown
away.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from relic_core.domain import ContextSize, Outcome, QuotationContext, Run
from relic_core.domain.figures import Table
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.errors import BadRequest
from relic_core.evaluation import figures
from relic_core.evaluation.runner import answer, by_pool
from relic_core.library.sample import SPLIT as SAMPLE
from relic_core.ports import Benchmark, Progress, Retriever, silent
from relic_core.retrieval.dense import Dense, trained_model
from relic_core.retrieval.dense_alone import DenseAlone
from relic_core.wiring import App
from tools.tune.bm25 import check_split

Factory = Callable[[Path], Retriever]
"""Makes a retriever that keeps its indexes in a folder."""

NAMES = ("recall@10", "recall@50", "recall@100", "mean-rank", "median-rank", "mrr")
WINDOWS, CONTEXTS = (126, 254, 510), (0, 32, 64)
ALONE = "alone"
HALVED = "birco-novels"
"""The benchmark of the test split of which a half may be chosen by, for want of enough that is dev."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What readings are tried on.

    - `shapes`: how much context each claim takes; a table for each.
    - `works`: the most works, those that are quoted most for their length; 0 for all.
    - `half`: every other claim alone.
    """

    benchmark: str
    data: Path | None = None
    shapes: tuple[ContextSize, ...]
    works: int = 0
    half: bool = False


def compare_readings(
    app: App,
    question: Question,
    *,
    windows: Sequence[int] = WINDOWS,
    contexts: Sequence[int] = CONTEXTS,
    alone: bool = False,
    progress: Progress,
) -> tuple[Table, ...]:
    """Measure one-pass spans for each stretch length and context, and (`alone`) the same encoder's spans read alone.

    - `windows`, `contexts`: tokens of a stretch, and of its context on either side; pairs whose context fills the
      stretch are left out. The encoder's own are tried in any case; its indexes are left alone.

    Returns: for each shape one of figures and one of paired differences from the encoder's own reading.

    Raises BadRequest: the benchmark is not for choosing by, the encoder does not read in context, or a value is out of
    its range.
    """
    card = read_card(trained_model(app.settings))
    if card.spans != "in context":
        raise BadRequest(
            f"{card.name} reads every span alone, so there are no stretches to choose. Take an encoder whose card says "
            '"spans": "in context".'
        )
    if question.works < 0:
        raise BadRequest(f"The number of works is {question.works}; it must be 1 or more, or 0 for all.")
    benchmark = app.benchmarks.open(question.benchmark, data=question.data)
    _check(benchmark, question)
    asked = densest(benchmark, question.works) if question.works else benchmark.windows()
    if question.half:
        asked = every_other(asked)
    factories = _factories(card, windows, contexts, alone=alone)
    found = read_and_rank(benchmark, asked, factories, shapes=question.shapes, progress=progress)
    notes = _notes(benchmark, question, asked, card)
    made: list[Table] = []
    for shape in question.shapes:
        runs = [(_as_run(name, benchmark, shape, found[name, shape]), found[name, shape]) for name in factories]
        both = (*figures.tables(runs, names=NAMES), *([figures.comparison(runs, names=NAMES)] if len(runs) > 1 else []))
        made += [replace(table, notes=(*table.notes, *notes)) for table in both]
    return tuple(made)


def _check(benchmark: Benchmark, question: Question) -> None:
    """Refuse what is not for choosing by; the sample, and half of BIRCO's claims, pass until there is more that is."""
    halved = question.half and benchmark.card.name == HALVED
    if benchmark.card.split != SAMPLE and not halved:
        check_split(benchmark)


def _factories(
    card: EncoderCard, windows: Sequence[int], contexts: Sequence[int], *, alone: bool
) -> dict[str, Factory]:
    from relic_core.encoders.late_chunking import LateChunkingEncoder
    from relic_core.encoders.towers import PassageEncoder

    def in_context(stretch: int, context: int) -> Factory:
        def make(root: Path) -> Dense:
            encoder = LateChunkingEncoder(card, stretch=stretch, context=context)
            return Dense("readings", encoder=lambda: encoder, root=root, similarity=card.similarity)

        return make

    def by_itself(root: Path) -> DenseAlone:
        encoder = PassageEncoder(replace(card, spans="alone"))
        return DenseAlone("readings", encoder=lambda: encoder, root=root)

    own = LateChunkingEncoder(card).facts
    pairs = [(int(own["stretch_tokens"]), int(own["context_tokens"]))]
    for stretch, context in sorted(product(windows, contexts)):
        if 2 * context < stretch:
            LateChunkingEncoder(
                card, stretch=stretch, context=context
            )  # refuses what cannot be, before anything is encoded
            pairs.append((stretch, context))
    found = {f"{stretch}/{context}": in_context(stretch, context) for stretch, context in pairs}
    return {**found, ALONE: by_itself} if alone else found


def _as_run(name: str, benchmark: Benchmark, shape: ContextSize, outcomes: Sequence[Outcome]) -> Run:
    """Put what was measured into the form that tables are made of; it is not kept as a run."""
    card, keys = benchmark.card, {outcome.book for outcome in outcomes}
    return Run(
        id="reading",
        benchmark=card.name,
        split=card.split,
        pool=card.pool,
        data_hash=benchmark.data_hash,
        retriever="dense-relic",
        label=name,
        shape=shape,
        configuration={},
        books=tuple(book for book in benchmark.books() if book.key in keys),
        examples=len(outcomes),
        code="",
        machine={},
        seconds=0.0,
        index_bytes=0,
        created=datetime.now(UTC),
    )


def _notes(
    benchmark: Benchmark, question: Question, asked: Sequence[QuotationContext], card: EncoderCard
) -> tuple[str, ...]:
    named = (
        f"{card.name}; a reading is named by its stretches' tokens / context on either side; {ALONE}: every span is "
        "read by itself. To choose a default by, not to report."
    )
    notes = [named]
    every = len(benchmark.windows())
    if question.half:
        notes.append(f"HALF: {len(asked):,} of {every:,} claims (every other by its id); the other half stays unseen.")
    elif len(asked) < every:
        notes.append(f"A part: {len(asked):,} of {every:,} claims, about the works most quoted for their length.")
    return tuple(notes)


def densest(benchmark: Benchmark, works: int) -> tuple[QuotationContext, ...]:
    """Take the windows of the works that are quoted most for their length: most claims for what encoding costs."""
    windows = benchmark.windows()
    pools = by_pool(windows)
    order = sorted(pools, key=lambda pool: (-len(pools[pool]) / max(1, len(benchmark.work(pool).sentences)), pool))
    taken = set(order[:works])
    return tuple(window for window in windows if window.pool in taken)


def every_other(windows: Sequence[QuotationContext]) -> tuple[QuotationContext, ...]:
    """Take the first, the third and so on by their ids: a half that is the same whatever the order.

    >>> from relic_core.domain import Span, QuotationContext
    >>> some = [QuotationContext(id=id, book="b", pool="b", left=("a",), right=(), gold=Span(0, 1)) for id in "cab"]
    >>> [window.id for window in every_other(some)]
    ['c', 'a']
    """
    half = {window.id for window in sorted(windows, key=lambda window: window.id)[::2]}
    return tuple(window for window in windows if window.id in half)


def read_and_rank(
    benchmark: Benchmark,
    windows: Sequence[QuotationContext],
    readings: Mapping[str, Factory],
    *,
    shapes: Sequence[ContextSize],
    progress: Progress,
) -> dict[tuple[str, ContextSize], tuple[Outcome, ...]]:
    """Rank the windows of a benchmark by several readings of its works; outcomes in the order of `windows`.

    One reading is done with before the next is begun, so that one encoder is in memory at a time, and one work's index
    on disk; works are encoded once for all shapes.
    """
    pools = by_pool(windows)
    found: dict[tuple[str, ContextSize], tuple[Outcome, ...]] = {}
    done, total = 0, len(pools) * len(readings)
    for name, factory in readings.items():
        outcomes: dict[tuple[ContextSize, str], Outcome] = {}
        for pool, some in pools.items():
            work = benchmark.work(pool)
            with tempfile.TemporaryDirectory(prefix="relic-readings-") as folder:
                retriever = factory(Path(folder))
                lengths = sorted({window.gold.length for window in some})
                progress(done, total, f"{name}: {work.title}")
                retriever.prepare(work, silent, lengths=lengths)
                for shape in shapes:
                    for window in some:
                        outcomes[shape, window.id] = answer(benchmark, retriever, window, work, shape)
            done += 1
            progress(done, total, name)
        for shape in shapes:
            found[name, shape] = tuple(outcomes[shape, window.id] for window in windows)
    return found
