"""Choosing the thresholds of strength for a retriever by vectors, on data that nothing is reported on."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from relic_core.domain import Claim, ContextSize
from relic_core.domain.figures import Figure, Table
from relic_core.errors import BadRequest
from relic_core.ports import VectorRetriever
from relic_core.retrieval import registry
from relic_core.retrieval.strength import OutOfVocabulary
from tools.tune.bm25 import check_split
from tools.tune.thresholds import FAIR, STRONG, BestHit, left_out, set_thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relic_core.domain import QuotationContext, Work
    from relic_core.ports import Benchmark, Progress
    from relic_core.retrieval.strength import Level, Threshold
    from relic_core.wiring import App

BARE = "a sentence"
"""The shape of a claim of one sentence without a mask, as readers type them."""
_SHAPES = (ContextSize(4, 4), ContextSize(1, 1))
_LEVELS: tuple[Level, ...] = ("strong", "fair", "weak")
_SEED = "bars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What thresholds are set by.

    - `others`: works that each claim is asked of beside its own.
    """

    benchmark: str
    retriever: str = "dense-relic"
    windows: int = 20
    others: int = 4


def choose_thresholds(app: App, question: Question, *, progress: Progress) -> tuple[Threshold, Table]:
    """Set thresholds, and say how often they would be right; works are prepared where they are not.

    - `app`: where the works are.
    - `progress`: told of works prepared, then of claims asked.

    Raises BadRequest: the benchmark is not for choosing by, or has a single work; the retriever compares no vectors; a
    number is out of its range.
    """
    if question.windows < 1 or question.others < 1:
        raise BadRequest("At least 1 window of each work and 1 other work are needed to set thresholds by.")
    benchmark = app.benchmarks.open(question.benchmark)
    check_split(benchmark)
    retriever = app.retrievers.get(question.retriever)
    if not isinstance(retriever, VectorRetriever):
        raise BadRequest(
            f"{registry.card(question.retriever).label} compares no vectors, and these thresholds are for scores of "
            "vectors. Name dense-relic or zero-shot."
        )
    windows = _some(benchmark, question.windows)
    works = {window.pool: benchmark.work(window.pool) for window in windows}
    for done, work in enumerate(works.values()):
        progress(done, len(works), f"Preparing {work.title}")
        retriever.prepare(work, lambda *_: progress(done, len(works), f"Preparing {work.title}"))  # noqa: B023
    hits: list[BestHit] = []
    for done, window in enumerate(windows):
        progress(done, len(windows), "Asking")
        hits += _asked(retriever, window, works, question.others)
    return set_thresholds(hits), _table(hits, benchmark, question)


def _some(benchmark: Benchmark, most: int) -> list[QuotationContext]:
    """Draw windows of every work."""
    by_work: dict[str, list[QuotationContext]] = {}
    for window in benchmark.windows():
        by_work.setdefault(window.pool, []).append(window)
    drawing = random.Random(_SEED)  # noqa: S311 - no secret
    drawn = [
        window for _, of_work in sorted(by_work.items()) for window in drawing.sample(of_work, min(most, len(of_work)))
    ]
    if len(by_work) <= 1:
        raise BadRequest(
            f"{benchmark.card.label} has claims about one work, and thresholds need others to compare it with."
        )
    return drawn


def _claims(window: QuotationContext) -> Iterator[tuple[str, Claim]]:
    for shape in _SHAPES:
        yield str(shape), window.claim(shape)
    if any(letter.isalpha() for letter in " ".join(window.left[-1:])):
        yield BARE, Claim(window.left[-1])


def _asked(
    retriever: VectorRetriever, window: QuotationContext, works: dict[str, Work], others: int
) -> Iterator[BestHit]:
    """Ask a window's claims of its own work and of some others; the same others for each of its shapes."""
    drawing = random.Random(f"{_SEED} {window.id}")  # noqa: S311 - no secret
    elsewhere = sorted(set(works) - {window.pool})
    pools = [window.pool, *drawing.sample(elsewhere, min(others, len(elsewhere)))]
    for shape, claim in _claims(window):
        vector = retriever.claim_vector(claim)
        for pool in pools:
            scores = retriever.score_vector(vector, works[pool].imprint, window.gold.length)
            foreign, best = OutOfVocabulary.of(claim, works[pool]), int(np.argmax(scores))
            own = pool == window.pool
            yield BestHit(
                about=window.pool,
                own=own,
                score=float(scores[best]),
                share=foreign.share,
                named=foreign.named,
                shape=shape,
                found=own and best == window.gold.start,
            )


def _table(hits: Sequence[BestHit], benchmark: Benchmark, question: Question) -> Table:
    threshold, levels = set_thresholds(hits), left_out(hits)
    rows = []
    for shape in dict.fromkeys(hit.shape for hit in hits):
        for own, where in ((True, "its own work"), (False, "another")):
            held = [level for hit, level in zip(hits, levels, strict=True) if (hit.shape, hit.own) == (shape, own)]
            shares = [held.count(level) / len(held) for level in _LEVELS]
            rows.append((shape, where, *(_share(share) for share in shares), f"{len(held):,}"))
    for level in _LEVELS:
        of_level = [hit for hit, said in zip(hits, levels, strict=True) if hit.own and said == level]
        found = sum(hit.found for hit in of_level) / len(of_level) if of_level else 0.0
        rows.append(("all", f"the critic's own, where {level}", _share(found), "", "", f"{len(of_level):,}"))
    said = (
        f"fair {threshold.fair:.3f}, strong {threshold.strong:.3f}, {threshold.per_unknown:.3f} more in "
        f"proportion to foreign words, {threshold.if_named:.3f} more for foreign names"
    )
    return Table(
        caption=f"Levels of the best hit of {registry.card(question.retriever).label}, {benchmark.card.label}.",
        heads=("claim", "asked of", *_LEVELS, "n"),
        rows=tuple(cast("list[tuple[str | Figure, ...]]", rows)),
        notes=(
            f"Thresholds: {said}. Of hits in other works {FAIR:.1%} may pass for fair and {STRONG:.1%} for strong.",
            "Each work's claims are judged by thresholds that were set without them.",
        ),
    )


def _share(value: float) -> Figure:
    return Figure(text=f"{100 * value:.1f}", value=100 * value)
