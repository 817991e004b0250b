"""Choosing how works are read: stretch lengths and overlaps tried against each other, and against spans read alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING

from relic_core.domain import Run
from relic_core.encoders.cards import read_card
from relic_core.errors import BadRequest
from relic_core.evaluation import figures
from relic_core.library.sample import SPLIT as SAMPLE
from relic_core.retrieval.dense import Dense, trained_model
from relic_core.retrieval.dense_alone import DenseAlone
from tools.tune import readings
from tools.tune.bm25 import check_split

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import ContextSize, Outcome, QuotationContext
    from relic_core.domain.figures import Table
    from relic_core.encoders.cards import EncoderCard
    from relic_core.ports import Benchmark, Progress
    from relic_core.wiring import App
    from tools.tune.readings import Factory

NAMES = ("recall@10", "recall@50", "recall@100", "mean-rank", "median-rank", "mrr")
WINDOWS, CONTEXTS = (126, 254, 510), (0, 32, 64)
ALONE = "alone"
HALVED = "birco-novels"
"""The benchmark of the test split of which a half may be chosen by, for want of enough that is dev."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What readings are tried on.

    - `data`: the reader's own file or folder.
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
    """Measure one-pass spans for each stretch length and context, and the same encoder's spans read alone.

    - `app`: where the works are, and which encoder; its indexes are left alone.
    - `windows`, `contexts`: tokens of a stretch, and of its context on either side; pairs whose context fills the
      stretch are left out. The encoder's own are tried in any case.
    - `alone`: whether spans are read alone too.
    - `progress`: told how many works have been read, all readings counted.

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
    asked = readings.densest(benchmark, question.works) if question.works else benchmark.windows()
    if question.half:
        asked = readings.every_other(asked)
    factories = _factories(card, windows, contexts, alone=alone)
    found = readings.read_and_rank(benchmark, asked, factories, shapes=question.shapes, progress=progress)
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
    """Give readings by name, the encoder's own first. Encoders are made for one work each, and not kept."""
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
    """Say what the names of readings mean, and what the figures may be used for."""
    named = (
        f"{card.name}; a reading is named by its stretches' tokens / context on either side; {ALONE}: every span is "
        "read by itself. To choose a default by, not to report."
    )
    said = [named]
    every = len(benchmark.windows())
    if question.half:
        said.append(f"HALF: {len(asked):,} of {every:,} claims (every other by its id); the other half stays unseen.")
    elif len(asked) < every:
        said.append(f"A part: {len(asked):,} of {every:,} claims, about the works most quoted for their length.")
    return tuple(said)
