"""Fusion: several rankings of the same spans made into one, by how far each span stands out in each of them.

    score(span) = sum over rankings of weight * (its score - their mean) / their standard deviation

A sum of standardised scores keeps how clearly a span leads, which ranks throw away, and lets the better ranking count
for more: on claims that nothing here learnt from, it beats reciprocal rank fusion, which falls behind the better of two
unequal rankings (docs/reranking.md has the figures; Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for
Hybrid Retrieval", find the same of search on the web).

Works that one of the rankings lacks are left out of all, and nothing is counted of them: a work that only one of two
retrievers has read could never stand high, and it would look as if nothing were to be found in it. Spans that one
ranking was to find and did not, since it is not exact, get from it what the last that it found gets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

import numpy as np
import numpy.typing as npt

from relic_core.config import Settings
from relic_core.domain import LENGTHS, Claim, Corpus, Ranking, Scores, Span, Work, WorkVersion, rank_scores
from relic_core.domain.calibration import FusionWeights
from relic_core.errors import NoIndex
from relic_core.ports import CorpusRetriever, Progress, Retriever, silent
from relic_core.retrieval import calibration

Keys = npt.NDArray[np.int64]

WEIGHTS = FusionWeights(
    long={"bm25": 0.07, "surroundings": 0.4}, short={"bm25": 0.15, "surroundings": 0.1}, most={"bm25": 5.0}
)
"""Those of encoders without a calibration: of long claims chosen on half of `public-relic-dev`, that of words for short
ones on `public-relic-dev-short`, the others on the well-known passages of dev (docs/evaluation.md)."""

_BITS = 32
_START = (1 << _BITS) - 1
"""A work and a start make one number that sorts by work, then by start."""


def fuse(rankings: Sequence[Ranking], *, short: bool = False, weights: FusionWeights = WEIGHTS) -> Ranking:
    """Fuse rankings of one length, at least one; works that are in several are in the same order.

    - `short`: of a short claim.

    Returns: over the works that all of the rankings are of, with every span that one of them found; exact where all
    are.

    >>> rankings = [
    ...     rank_scores("a", "emma", 1, np.array(scores, dtype=np.float32)) for scores in ([1, 2, 3], [0, 5, 1])
    ... ]
    >>> fuse(rankings).order.tolist()
    [1, 2, 0]
    """
    works = _common(rankings)
    rankings = [_of_works(ranking, works) for ranking in rankings]
    keys = [(ranking.work.astype(np.int64) << _BITS) | ranking.start for ranking in rankings]
    found = _union(keys)
    placed = any(each.retriever == "surroundings" and len(each) and np.ptp(each.scores) for each in rankings)
    counts, most = weights.long if placed and not short else weights.short, weights.most if short else {}
    shares = [
        share(each.scores, counts.get(each.retriever, 1.0), most.get(each.retriever, np.inf)) for each in rankings
    ]
    return Ranking(
        retriever="fusion",
        length=rankings[0].length,
        works=works,
        work=(found >> _BITS).astype(np.int32),
        start=(found & _START).astype(np.int32),
        scores=sum_of_shares([_spread(part, each, found) for part, each in zip(shares, keys, strict=True)]),
        candidates=max(ranking.candidates for ranking in rankings),
        exact=all(ranking.exact for ranking in rankings),
    )


def _common(rankings: Sequence[Ranking]) -> tuple[str, ...]:
    if len({ranking.length for ranking in rankings}) != 1:
        raise ValueError("rankings to be fused must be of spans of the same length, and at least one")
    shared = set.intersection(*(set(ranking.works) for ranking in rankings))
    orders = {tuple(work for work in ranking.works if work in shared) for ranking in rankings}
    if len(orders) != 1:
        raise ValueError("rankings to be fused must have their works in the same order")
    return orders.pop()


def _of_works(ranking: Ranking, works: tuple[str, ...]) -> Ranking:
    if ranking.works == works:
        return ranking
    number = np.array([works.index(work) if work in works else -1 for work in ranking.works], dtype=np.int32)
    of = number[ranking.work]
    kept = of >= 0
    return replace(
        ranking,
        works=works,
        work=of[kept],
        start=ranking.start[kept],
        scores=ranking.scores[kept],
        candidates=int(np.count_nonzero(kept)),  # where it is not exact, those of an exact one count
        recall=None,
    )


def _union(keys: Sequence[Keys]) -> Keys:
    found = max(keys, key=len)
    for each in keys:
        if len(found) and not np.array_equal(each, found):
            nearest = found[np.minimum(np.searchsorted(found, each), len(found) - 1)]
            if len(new := each[nearest != each]):
                found = np.sort(np.concatenate([found, new]))
    return found


def _spread(shares: npt.NDArray[np.float64], keys: Keys, found: Keys) -> npt.NDArray[np.float64]:
    """Put the shares of some spans in their places among all that were found; elsewhere the least of them."""
    if len(keys) == len(found):
        return shares
    spread = np.full(len(found), shares.min(initial=0.0))
    spread[np.searchsorted(found, keys)] = shares
    return spread


def share(scores: Scores, weight: float = 1.0, most: float = np.inf) -> npt.NDArray[np.float64]:
    """Give what one ranking adds to each span; shape (n_spans,), 0 for all where no score differs from another.

    - `most`: standard deviations that count.

    >>> share(np.array([1.0, 3.0], dtype=np.float32), 0.5).tolist()
    [-0.5, 0.5]
    """
    exact = scores.astype(np.float64)
    if not len(exact) or exact.min() == exact.max():
        return np.zeros(len(exact))
    return np.asarray(weight * np.minimum((exact - exact.mean()) / exact.std(), most), dtype=np.float64)


def sum_of_shares(shares: Sequence[npt.NDArray[np.float64]]) -> Scores:
    """Add up the shares of several rankings; the same sum in any order of them."""
    total: Scores = np.sort(np.stack(shares), axis=0).sum(axis=0).astype(np.float32)
    return total


class Fusion(Retriever):
    """Ranks by the fused scores of other retrievers."""

    name = "fusion"

    def __init__(self, components: Sequence[Retriever]) -> None:
        self._components = tuple(components)

    @property
    def weights(self) -> FusionWeights:
        """What the components count for, as the calibration of the encoder says."""
        known = calibration.of(self._components)
        return known.fusion if known else WEIGHTS

    @property
    def configuration(self) -> Mapping[str, str]:
        """The weights, and all that decides the scores of the components, each under its name."""
        parts: dict[str, str] = {}
        for component in self._components:
            parts |= {f"{component.name} {name}": value for name, value in component.configuration.items()}
        names, weights = [component.name for component in self._components], self.weights

        def listed(counts: Mapping[str, float]) -> str:
            return ", ".join(f"{name} {counts.get(name, 1.0):g}" for name in names)

        most = ", ".join(f"{name} {weights.most[name]:g}" for name in names if name in weights.most)
        short = {"of a short claim": listed(weights.short)} if "surroundings" in names else {}
        return {
            "weights": listed(weights.long if short else weights.short),
            **short,
            **({"of a short claim at most": most} if most else {}),
            **parts,
        }

    def ready(self, work: Work, *lengths: int) -> bool:
        """Whether all components are."""
        return all(component.ready(work, *lengths) for component in self._components)

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Prepare the components one after the other."""
        for component in self._components:
            component.prepare(work, progress, lengths=lengths)

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences; shape (n_candidates,). Raises what the components raise."""
        waiting = [component.name for component in self._components if not component.ready(work, length)]
        if waiting:
            raise NoIndex(f"{work.title} has not been prepared for {' and '.join(waiting)} yet. Prepare it first.")
        parts = [
            rank_scores(component.name, work.id, length, component.score(claim, work, length))
            for component in self._components
        ]
        return fuse(parts, short=claim.short, weights=self.weights).scores

    def missing(self, works: Sequence[WorkVersion], *lengths: int) -> tuple[str, ...]:
        """Give the ids of the works that one of the components lacks."""
        lacking = set(chain.from_iterable(component.missing(works, *lengths) for component in self._of_corpora))
        return tuple(work.id for work in works if work.id in lacking)

    def rank(
        self, claim: Claim, corpus: Corpus, length: int, *, like: tuple[WorkVersion, Span] | None = None
    ) -> Ranking:
        """Rank the spans of `length` sentences of the works that no component lacks. Raises what components raise."""
        lacking = () if corpus.whole else self.missing(corpus.versions, length)
        present = replace(corpus, versions=tuple(work for work in corpus.versions if work.id not in lacking))
        parts = [component.rank(claim, present, length, like=like) for component in self._of_corpora]
        return fuse(parts, short=claim.short, weights=self.weights)

    def combine(
        self,
        claim: Claim,
        corpus: Corpus,  # noqa: ARG002 - the port's
        rankings: Sequence[Ranking],
        progress: Progress = silent,  # noqa: ARG002 - the port's
    ) -> Ranking:
        """Fuse the rankings of the components."""
        return fuse(rankings, short=claim.short, weights=self.weights)

    @property
    def _of_corpora(self) -> tuple[CorpusRetriever, ...]:
        return cast("tuple[CorpusRetriever, ...]", self._components)


def create(settings: Settings, components: Sequence[Retriever]) -> Fusion:  # noqa: ARG001 - the registry's signature
    """Make the fusion of its components."""
    return Fusion(components)
