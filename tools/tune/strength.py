"""Thresholds of strength: how good the best hit of a claim must be, so that another book hardly has it.

A claim is asked of the work it is about and of others. Its best score in another work shows what chance gives, and that
chance is better the fewer of the claim's words are foreign to the work: a logistic regression of "own work or another"
on score, share of foreign words and foreign names gives by how much the threshold is to rise with either. Where it
stands follows from how often another work may pass.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, ContextSize, QuotationContext, Work
from relic_core.domain.figures import Figure, Table
from relic_core.errors import BadRequest
from relic_core.ports import Benchmark, Progress, VectorRetriever
from relic_core.retrieval import registry
from relic_core.retrieval.strength import Level, OutOfVocabulary, Threshold
from relic_core.wiring import App
from tools.tune.bm25 import check_split

Floats = npt.NDArray[np.float64]

BARE = "a sentence"
"""The shape of a claim of one sentence without a mask, as readers type them."""
_SHAPES = (ContextSize(4, 4), ContextSize(1, 1))
_LEVELS: tuple[Level, ...] = ("strong", "fair", "weak")
_SEED = "bars"
"""Draws the windows and the other works; another word would draw others."""

FAIR, STRONG = 0.08, 0.015
"""Shares of claims for which the best hit in another work may pass for fair, and for strong."""

_ROUNDS = 50
_RIDGE = 1e-3
"""Keeps weights finite where own and other works can be told apart without a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestHit:
    """The best hit of a claim in one work (`own`: its own); `found`: it is the quotation that the critic chose.

    - `share`, `named`: how far the claim's words are foreign to the work searched: as
      `relic_core.retrieval.strength.OutOfVocabulary`.
    """

    about: str
    own: bool
    score: float
    share: float
    named: bool
    shape: str = ""
    found: bool = False


def level_of(hit: BestHit, threshold: Threshold) -> Level:
    """Judge a hit."""
    return threshold.level(hit.score, hit.share, hit.named)


def set_thresholds(hits: Sequence[BestHit], *, fair: float = FAIR, strong: float = STRONG) -> Threshold:
    """Set the thresholds by the best hits of claims in their own works and in others.

    - `fair`, `strong`: shares of the hits in other works that may pass.

    Raises BadRequest: there are no hits of one kind.

    >>> own = [BestHit(about="a", own=True, score=0.6 + at / 100, share=0.1, named=False) for at in range(20)]
    >>> other = [BestHit(about="a", own=False, score=0.4 + at / 100, share=0.1, named=False) for at in range(20)]
    >>> threshold = set_thresholds(own + other, fair=0.1, strong=0.05)
    >>> [level_of(hit, threshold) for hit in (own[0], other[0])]
    ['strong', 'weak']
    """
    is_own = np.array([hit.own for hit in hits], dtype=np.bool_)
    if not is_own.any() or is_own.all():
        raise BadRequest(
            "Thresholds are set by hits in works that claims are about and in others, and those of one kind are "
            "missing. Take a benchmark of two works or more."
        )
    facts = np.array([[hit.score, hit.share, float(hit.named)] for hit in hits])
    weights = _logistic(facts, is_own.astype(np.float64))
    per_unknown, if_named = (max(0.0, -weight / weights[0]) if weights[0] > 0 else 0.0 for weight in weights[1:])
    reached = facts @ np.array([1.0, -per_unknown, -if_named])
    least, most = np.quantile(reached[~is_own], [1 - fair, 1 - strong])
    return Threshold(fair=float(least), strong=float(most), per_unknown=float(per_unknown), if_named=float(if_named))


def _logistic(facts: Floats, own: Floats) -> Floats:
    """Fit a logistic regression by Newton's method, both kinds weighing the same; shape (n_facts,), no constant."""
    spread = facts.std(0)
    spread[spread == 0] = 1.0
    given = np.column_stack([(facts - facts.mean(0)) / spread, np.ones(len(facts))])
    balance = np.where(own == 1, 0.5 / own.sum(), 0.5 / (len(own) - own.sum())) * len(own)
    weights = np.zeros(given.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(given @ weights, -30, 30)))
        slope = given.T @ (balance * (chance - own)) + _RIDGE * weights
        curve = (given * (balance * chance * (1 - chance))[:, None]).T @ given + _RIDGE * np.eye(len(weights))
        weights = weights - np.linalg.solve(curve, slope)
    fitted: Floats = weights[:-1] / spread
    return fitted


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
    others: int = 4


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
            scores = retriever.score_vector(vector, works[pool].version, window.gold.length)
            unknown, best = OutOfVocabulary.of(claim, works[pool]), int(np.argmax(scores))
            own = pool == window.pool
            yield BestHit(
                about=window.pool,
                own=own,
                score=float(scores[best]),
                share=unknown.share,
                named=unknown.named,
                shape=shape,
                found=own and best == window.gold.start,
            )


def _table(hits: Sequence[BestHit], benchmark: Benchmark, question: Question) -> Table:
    threshold, levels = set_thresholds(hits), left_out(hits)
    rows: list[tuple[str | Figure, ...]] = []
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
        rows=tuple(rows),
        notes=(
            f"Thresholds: {said}. Of hits in other works {FAIR:.1%} may pass for fair and {STRONG:.1%} for strong.",
            "Each work's claims are judged by thresholds that were set without them.",
        ),
    )


def _share(value: float) -> Figure:
    return Figure(text=f"{100 * value:.1f}", value=100 * value)
