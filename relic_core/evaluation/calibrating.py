"""Calibrating an encoder: how good a hit must be, how likely a score is, what words count for beside it; fitted on dev.

Strength: a claim is asked of the work it is about and of others. Its best score in another work shows what chance
gives, and that chance is better the fewer of the claim's words are foreign to the work: a logistic regression of "own
work or another" on score, share of foreign words and foreign names gives by how much the threshold is to rise with
either. Where it is follows from how often another work may pass.

Joined claims: a logistic regression on scores separates the passage that answers a claim from a hundred others.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from relic_core.config import Settings
from relic_core.domain import LENGTHS, Claim, Corpus, QuotationContext, Ranking, Span, Work
from relic_core.domain.calibration import Calibration, Floats, FusionWeights, Joining, Sigmoid, Threshold
from relic_core.encoders.cards import CARD
from relic_core.errors import BadRequest
from relic_core.ports import Benchmark, CorpusRetriever, Progress, Retriever
from relic_core.retrieval import calibration, composing, registry
from relic_core.retrieval.fusion import WEIGHTS, fuse
from relic_core.retrieval.strength import OutOfVocabulary

FAIR, STRONG = 0.08, 0.015
"""Shares of claims for which the best hit in another work may pass for fair, and for strong."""
WORKS, PASSAGES = 4, 100
"""How many other works a claim is asked of, and with how many passages its own is compared."""

_SEED = "bars"
"""Draws the other works; another word would draw others."""
_DRAWING = "composed claims 1"
_ROUNDS = 50
_RIDGE = 1.0
"""Short claims hardly name what their own novel does not: without it, a foreign name alone would decide."""
_GRID = np.round(np.concatenate([np.arange(0.002, 0.1, 0.002), np.arange(0.1, 1, 0.01)]), 3)
_AND = {"fusion": 0.04 / 0.39, "dense-relic": 0.022 / 0.36}
"""How far the threshold falls where claims are joined by and: as on critics' claims with the program's dense-RELiC
(`tools.composed measure --choose`), since well-known claims hardly share a sentence."""
_COUNTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
_SURE = 2.0
"""Standard errors by which other weights must be better than the usual ones: of few claims chance would choose."""


def calibrate(settings: Settings, folder: Path, benchmark: Benchmark, progress: Progress) -> str:
    """Calibrate the encoder in a folder by short claims, write that beside its weights, and say how it came out."""
    made: dict[str, Retriever] = {}
    combined = registry.create("fusion", settings=replace(settings, trained=str(folder / CARD)), made=made)
    parts = [cast("CorpusRetriever", made[name]) for name in registry.card("fusion").components]
    windows = benchmark.windows()
    works = {window.pool: benchmark.work(window.pool) for window in windows}
    prepare(combined, list(works.values()), progress)
    hits: list[BestHit] = []
    for done, window in enumerate(windows):
        progress(done, len(windows), "Asking of other works")
        hits += best_hits(parts[0], Claim(window.left[-1]), window, works)
    claims = list({(window.pool, window.left): window for window in windows}.values())
    asked: list[list[list[Ranking]]] = []
    for done, window in enumerate(claims):
        progress(done, len(claims), "Asking")
        claim, corpus = Claim(window.left[-1]), Corpus.of(works[window.pool])
        asked.append([[part.rank(claim, corpus, length) for part in parts] for length in LENGTHS])
    weights = _best_weights(claims, [of[0] for of in asked])
    rankings = {
        "fusion": [[fuse(each, short=True, weights=weights) for each in of] for of in asked],
        "dense-relic": [[each[0] for each in of] for of in asked],
    }
    strength, anew = set_thresholds(hits), " anew" * (folder / calibration.FILE).exists()
    path = calibration.write(
        folder,
        Calibration(
            model=calibration.model_of(made["dense-relic"].encoder_identity),
            strength=strength,
            joined={name: _joining(claims, of, _AND[name]) for name, of in rankings.items()},
            fusion=weights,
        ),
    )
    passing: dict[bool, list[bool]] = {True: [], False: []}
    for hit in hits:
        passing[hit.own].append(strength.level(hit.score, hit.share, hit.named) != "weak")
    own, other = np.mean(passing[True]), np.mean(passing[False])
    return (
        f"{path} was fitted{anew} on {len(claims)} claims about {len(works)} works. The best hit is fair or strong for "
        f"{own:.0%} of claims in their own work, and for {other:.0%} in another."
    )


def _joining(claims: Sequence[QuotationContext], rankings: Sequence[Sequence[Ranking]], fall: float) -> Joining:
    """Fit the sigmoids of a retriever, and choose its threshold by pairs of claims about a work, joined by or.

    - `rankings`: for each claim one for each length.
    """
    sigmoids = tuple(fitted(list(map(draw, claims, of_length))) for of_length in zip(*rankings, strict=True))
    scored = [sigmoids[0](composing.reached(of[0])) for of in rankings]
    pairs = [
        (composing.compose(("and", "or"), np.stack([scored[one], scored[two]])), answers(claims[one], claims[two]))
        for one, two in combinations(range(len(claims)), 2)
        if claims[one].pool == claims[two].pool
    ]
    threshold = best_threshold(pairs)
    return Joining(sigmoids, threshold, max(0.001, round(threshold * fall, 3)))


def _best_weights(claims: Sequence[QuotationContext], asked: Sequence[Sequence[Ranking]]) -> FusionWeights:
    """Choose what words and surroundings count for, by the reciprocal rank of the first sentence that answers."""

    def reached(weights: FusionWeights) -> Floats:
        fused = [fuse(parts, short=True, weights=weights) for parts in asked]
        return np.array([1 / each.ranks[answers(claim)].min() for claim, each in zip(claims, fused, strict=True)])

    tried = [
        replace(WEIGHTS, short={"bm25": words, "surroundings": around}) for words, around in product(_COUNTS, _COUNTS)
    ]
    best = max(tried, key=lambda weights: float(reached(weights).mean()))
    gain = reached(best) - reached(WEIGHTS)
    return best if gain.mean() > _SURE * gain.std() / len(gain) ** 0.5 else WEIGHTS


def places(window: QuotationContext) -> tuple[Span, ...]:
    """List the spans that answer a claim."""
    return window.accepted or (window.gold,)


def answers(*windows: QuotationContext) -> list[int]:
    """List the sentences that answer one of some claims."""
    found = set[int]()
    for place in chain.from_iterable(map(places, windows)):
        found.update(range(place.start, place.end))
    return sorted(found)


def prepare(retriever: Retriever, works: Sequence[Work], progress: Progress) -> None:
    """Prepare works where they are not."""
    for done, work in enumerate(works):
        retriever.prepare(work, lambda *_: progress(done, len(works), f"Preparing {work.title}"))  # noqa: B023


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
    found: bool = False
    shape: str = ""


def best_hits(
    retriever: CorpusRetriever,
    claim: Claim,
    window: QuotationContext,
    works: Mapping[str, Work],
    others: int = WORKS,
) -> Iterator[BestHit]:
    """Ask a window's claim, of whatever shape, of its own work and of some others, the same for all shapes."""
    drawing = random.Random(f"{_SEED} {window.id}")  # noqa: S311 - no secret
    rest = sorted(set(works) - {window.pool})
    for pool in (window.pool, *drawing.sample(rest, min(others, len(rest)))):
        scores = retriever.rank(claim, Corpus.of(works[pool]), window.gold.length).scores
        unknown, best = OutOfVocabulary.of(claim, works[pool]), int(np.argmax(scores))
        yield BestHit(
            about=window.pool,
            own=pool == window.pool,
            score=float(scores[best]),
            share=unknown.share,
            named=unknown.named,
            found=pool == window.pool and best == window.gold.start,
        )


def set_thresholds(hits: Sequence[BestHit], *, fair: float = FAIR, strong: float = STRONG) -> Threshold:
    """Set the thresholds by the best hits of claims in their own works and in others.

    - `fair`, `strong`: shares of the hits in other works that may pass.

    Raises BadRequest: there are no hits of one kind.

    >>> own = [BestHit(about="a", own=True, score=0.6 + at / 100, share=0.1, named=False) for at in range(20)]
    >>> other = [BestHit(about="a", own=False, score=0.4 + at / 100, share=0.1, named=False) for at in range(20)]
    >>> threshold = set_thresholds(own + other, fair=0.1, strong=0.05)
    >>> [threshold.level(hit.score, hit.share, hit.named) for hit in (own[0], other[0])]
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
    """Fit a logistic regression, both kinds weighing the same; shape (n_facts,), no constant."""
    spread = facts.std(0)
    spread[spread == 0] = 1.0
    given = np.column_stack([(facts - facts.mean(0)) / spread, np.ones(len(facts))])
    balance = np.where(own == 1, 0.5 / own.sum(), 0.5 / (len(own) - own.sum())) * len(own)
    fitted: Floats = _newton(given, own, balance, _RIDGE)[:-1] / spread
    return fitted


def _newton(given: Floats, target: Floats, balance: Floats | float, ridge: float) -> Floats:
    """Fit the weights of a logistic regression by Newton's method; shape (n_facts,)."""
    weights = np.zeros(given.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(given @ weights, -30, 30)))
        slope = given.T @ (balance * (chance - target)) + ridge * weights
        curve = (given * (balance * chance * (1 - chance))[:, None]).T @ given + ridge * np.eye(len(weights))
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def fit_sigmoid(scores: Floats, is_gold: npt.NDArray[np.bool_]) -> Sigmoid:
    """Fit a sigmoid, with Platt's targets.

    >>> scores = np.array([0.0, 1.0, 2.0, 3.0])
    >>> fit_sigmoid(scores, scores > 1)(np.array([1.5])).round(2).tolist()
    [0.5]
    """
    golds = int(is_gold.sum())
    target = np.where(is_gold, (golds + 1) / (golds + 2), 1 / (len(scores) - golds + 2))
    given = np.column_stack([scores, np.ones(len(scores))])
    return Sigmoid(*np.round(_newton(given, target, 1.0, 1e-9), 3).tolist())


def best_threshold(found: Sequence[tuple[Floats, Sequence[int]]]) -> float:
    """Choose the probability from which sentences answer a claim: that of the best mean F1.

    - `found`: for each claim the probability of every sentence, and the sentences that answer it.

    >>> best_threshold([(np.array([0.1, 0.3, 0.5, 0.2]), [1, 2])])
    0.21
    """
    return float(max(_GRID.tolist(), key=lambda threshold: sum(f1(*each, threshold) for each in found)))


def f1(probabilities: Floats, right: Sequence[int], threshold: float) -> float:
    """Give F1 of the set of all sentences from a threshold on."""
    given = probabilities >= threshold
    return 2 * int(given[list(right)].sum()) / (int(given.sum()) + len(right))


@dataclass(frozen=True, slots=True)
class Scored:
    """What some spans of a work score for a claim about it, and which of them are the critic's."""

    work: str
    scores: Floats
    is_gold: npt.NDArray[np.bool_]


def draw(window: QuotationContext, ranking: Ranking, others: int = PASSAGES) -> Scored:
    """Draw a span within each place that answers, or around it, and for each others that share no sentence with any."""
    drawing = random.Random(f"{_DRAWING} {window.id} {ranking.length}")  # noqa: S311 - no secret
    length, spans, right = ranking.length, len(ranking), places(window)
    own, near = [], set[int]()
    for place in right:
        first, last = sorted((place.start, place.end - length))
        own.append(drawing.randint(max(0, first), min(last, spans - 1)))
        near.update(range(place.start - length + 1, place.end))
    rest = [at for at in range(spans) if at not in near]
    drawn = [*own, *drawing.sample(rest, min(others * len(own), len(rest)))]
    return Scored(window.pool, composing.reached(ranking)[drawn], np.arange(len(drawn)) < len(own))


def fitted(of: Sequence[Scored]) -> Sigmoid:
    """Fit a sigmoid to what was drawn."""
    return fit_sigmoid(np.concatenate([each.scores for each in of]), np.concatenate([each.is_gold for each in of]))
