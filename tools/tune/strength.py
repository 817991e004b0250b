"""Thresholds of strength that critics' claims of three shapes would give (`relic_core.evaluation.calibrating`)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from relic_core.domain import Claim, ContextSize, QuotationContext
from relic_core.domain.calibration import Level, Threshold
from relic_core.domain.figures import Figure, Table
from relic_core.errors import BadRequest
from relic_core.evaluation.calibrating import (
    FAIR,
    STRONG,
    WORKS,
    BestHit,
    best_hits,
    prepare,
    set_thresholds,
)
from relic_core.ports import Benchmark, Progress
from relic_core.retrieval import registry
from relic_core.retrieval.vectors import VectorSearch
from relic_core.wiring import App
from tools.tune.bm25 import check_split

BARE = "a sentence"
"""The shape of a claim of one sentence without a mask, as readers type them."""
_SHAPES = (ContextSize(4, 4), ContextSize(1, 1))
_LEVELS: tuple[Level, ...] = ("strong", "fair", "weak")
_SEED = "bars"
"""Draws the windows; another word would draw others."""


def level_of(hit: BestHit, threshold: Threshold) -> Level:
    """Judge a hit."""
    return threshold.level(hit.score, hit.share, hit.named)


def left_out(hits: Sequence[BestHit], *, fair: float = FAIR, strong: float = STRONG) -> list[Level]:
    """Judge each hit by thresholds that were set without the claims about its work; levels in the order of `hits`.

    Raises BadRequest: as `set_thresholds`: of claims about one work alone, none can be left out.
    """
    thresholds = {
        about: set_thresholds([hit for hit in hits if hit.about != about], fair=fair, strong=strong)
        for about in dict.fromkeys(hit.about for hit in hits)
    }
    return [level_of(hit, thresholds[hit.about]) for hit in hits]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What thresholds are set by; each claim is asked of so many other works beside its own."""

    benchmark: str
    retriever: str = "dense-relic"
    windows: int = 20
    others: int = WORKS


def choose_thresholds(app: App, question: Question, *, progress: Progress) -> tuple[Threshold, Table]:
    """Set thresholds, and say how often they would be right; works are prepared where they are not.

    Raises BadRequest: the benchmark is not for choosing by, or has a single work; the retriever compares no vectors; a
    number is out of its range.
    """
    if question.windows < 1 or question.others < 1:
        raise BadRequest("At least 1 window of each work and 1 other work are needed to set thresholds by.")
    benchmark = app.benchmarks.open(question.benchmark)
    check_split(benchmark)
    retriever = app.retrievers.get(question.retriever)
    if not isinstance(retriever, VectorSearch):
        raise BadRequest(
            f"{registry.card(question.retriever).label} compares no vectors, and these thresholds are for scores of "
            "vectors. Name dense-relic or zero-shot."
        )
    windows = _some(benchmark, question.windows)
    works = {window.pool: benchmark.work(window.pool) for window in windows}
    prepare(retriever, list(works.values()), progress)
    hits: list[BestHit] = []
    for done, window in enumerate(windows):
        progress(done, len(windows), "Asking")
        for shape, claim in _claims(window):
            found = best_hits(retriever, claim, window, works, question.others)
            hits += [replace(hit, shape=shape) for hit in found]
    return set_thresholds(hits), _table(hits, benchmark, question)


def _some(benchmark: Benchmark, most: int) -> list[QuotationContext]:
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


def _table(hits: Sequence[BestHit], benchmark: Benchmark, question: Question) -> Table:
    threshold, levels = set_thresholds(hits), left_out(hits)
    rows: list[tuple[str | Figure, ...]] = []
    for shape in dict.fromkeys(hit.shape for hit in hits):
        for own, where in ((True, "its own work"), (False, "another")):
            held = [level for hit, level in zip(hits, levels, strict=True) if (hit.shape, hit.own) == (shape, own)]
            shares = [held.count(level) / len(held) for level in _LEVELS]
            rows.append((shape, where, *(_share(share) for share in shares), f"{len(held):,}"))
    for level in _LEVELS:
        of_level = [hit for hit, of_hit in zip(hits, levels, strict=True) if hit.own and of_hit == level]
        found = sum(hit.found for hit in of_level) / len(of_level) if of_level else 0.0
        rows.append(("all", f"the critic's own, where {level}", _share(found), "", "", f"{len(of_level):,}"))
    written = (
        f"fair {threshold.fair:.3f}, strong {threshold.strong:.3f}, {threshold.per_unknown:.3f} more in "
        f"proportion to foreign words, {threshold.if_named:.3f} more for foreign names"
    )
    return Table(
        caption=f"Levels of the best hit of {registry.card(question.retriever).label}, {benchmark.card.label}.",
        heads=("claim", "asked of", *_LEVELS, "n"),
        rows=tuple(rows),
        notes=(
            f"Thresholds: {written}. Of hits in other works {FAIR:.1%} may pass for fair and {STRONG:.1%} for strong.",
            "Each work's claims are judged by thresholds that were set without them.",
        ),
    )


def _share(value: float) -> Figure:
    return Figure(text=f"{100 * value:.1f}", value=100 * value)
