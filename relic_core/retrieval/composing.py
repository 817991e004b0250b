"""Claims joined by and, or, but not: what each passage, chapter or work is worth for all of them together.

The scores of a claim become probabilities by a sigmoid (Platt 1999), so that those of several claims can be joined as
independent events: and is the product, or is 1 - (1 - p)(1 - q), but not is p(1 - q). All that is joined by and is one
alternative, each claim joined by or another, and what must not hold is taken from the whole, so the order of the rows
decides nothing. A chapter or a work has for each claim the probability of its best passage.

The sigmoids of a model are in its calibration, those for words here. They were fitted on claims of dev, a sentence
before a critic's quotation each, with the quotation's passage against a hundred others of its work: `python -m
tools.composed fit`. So p is the probability that a passage is such a one where one in a hundred is. docs/evaluation.md
says on which works, and how far the probabilities hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from relic_core.domain import Condition, Hit, Joined, Ranking, Span, Unit, Work
from relic_core.domain.calibration import Calibration, Floats, Joining, Sigmoid
from relic_core.errors import BadRequest
from relic_core.retrieval.search import Findings, PartBorne, Verdicts
from relic_core.retrieval.strength import Strength

_WORDS = {
    "bm25": Joining(
        (
            Sigmoid(0.297, -4.702),
            Sigmoid(0.353, -4.747),
            Sigmoid(0.403, -4.793),
            Sigmoid(0.467, -4.856),
            Sigmoid(0.45, -4.841),
        ),
        threshold=0.068,
        threshold_and=0.002,
    )
}
"""Of retrievers without a model."""


def joining(retriever: str, calibration: Calibration | None) -> Joining:
    """Find what joins the claims of a retriever, with the calibration of its encoder. Raises BadRequest: nothing."""
    known = {**_WORDS, **(calibration.joined if calibration else {})}
    if retriever not in known:
        raise BadRequest(
            "It cannot answer joined claims: no probabilities are known for its scores, or for those of its model. "
            "Search by words, or with the model that comes with the program; a model of your own can be calibrated "
            "(python -m relic_core train --calibrate ID)."
        )
    return known[retriever]


def reached(ranking: Ranking) -> Floats:
    """Give the scores that sigmoids take: less their mean, over their standard deviation.

    So claims long and short, and works of one tone or many, are on one scale. Of a claim all spans are to be given,
    candidates or not.
    """
    scores = ranking.scores.astype(np.float64)
    spread = float(scores.std()) if len(scores) else 0.0
    return np.asarray((scores - scores.mean()) / spread if spread else np.zeros(len(scores)))


def compose(joined: Sequence[Joined], probabilities: Floats) -> Floats:
    """Join the probabilities of some claims, shape (n_claims, n); the same to the last bit whatever their order.

    >>> two = np.array([[0.9], [0.4]])
    >>> [round(float(compose(("and", how), two)[0]), 2) for how in ("and", "or", "not")]
    [0.36, 0.94, 0.54]
    """
    of = {how: probabilities[[each == how for each in joined]] for how in ("and", "or", "not")}
    alternatives = [*of["or"], *([_product(of["and"])] if len(of["and"]) else [])]
    misses = _product(1 - np.array(alternatives))
    return np.asarray((1 - misses) * _product(1 - of["not"]))


def _product(factors: Floats) -> Floats:
    """Multiply along the first axis, the smallest first, since rounding goes by the order."""
    return np.asarray(np.prod(np.sort(factors, axis=0), axis=0))


@dataclass(frozen=True, eq=False)
class Composed:
    """What was found for joined claims.

    - `ranking`: one passage for each unit, that which bears a claim best; its score is the unit's probability.
    - `probabilities`: of each claim for each unit; shape (n_claims, n_units).
    - `bearing`: the first sentence of the passage of the unit that bears each claim best; shape (n_claims, n_units).
    """

    ranking: Ranking
    probabilities: Floats
    bearing: npt.NDArray[np.int32]

    def at(self, hit: Hit) -> int:
        """Give the position of a unit."""
        part = self.ranking.part(hit.work_id)
        return int(part.start + np.searchsorted(self.ranking.start[part], hit.span.start))


def aligned(rankings: Sequence[Ranking], sigmoid: Sigmoid) -> tuple[Ranking, Floats]:
    """Give all spans that rankings by one retriever found as one ranking, and the probability that each gives them.

    A span that an approximate ranking did not find has the least probability among those that it found.
    """
    first = rankings[0]
    probabilities = [sigmoid(reached(each)) for each in rankings]
    keys = [(each.work.astype(np.int64) << 32) | each.start for each in rankings]
    if all(np.array_equal(each, keys[0]) for each in keys):
        return first, np.stack(probabilities)
    found = np.unique(np.concatenate(keys))
    joined = np.empty((len(rankings), len(found)))
    for row, each, key in zip(joined, probabilities, keys, strict=True):
        row[:] = each.min(initial=1.0)
        row[np.searchsorted(found, key)] = each
    work, start = (found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32)
    return replace(first, work=work, start=start, scores=joined[0].astype(np.float32)), joined


def compose_rankings(
    rows: Sequence[Condition], rankings: Sequence[Ranking], sigmoid: Sigmoid, findings: Findings, *, unit: Unit
) -> Composed:
    """Rank units for joined claims by the rankings of all spans that one retriever has for each.

    - `findings`: says which spans are candidates. A passage is of the chapter in which it begins.
    """
    whole, probabilities = aligned(rankings, sigmoid)
    kept = findings.kept(whole)
    ranking, probabilities = whole.only(kept, left_out=findings.left_out(whole)), probabilities[:, kept]
    of = np.arange(len(ranking), dtype=np.int64)
    if unit == "work":
        of = ranking.work.astype(np.int64)
    elif unit == "chapter" and findings.corpus.whole:
        sentences = findings.corpus.whole.sentences
        of = np.fromiter((each.chapter for each in sentences), np.int64, len(sentences))[ranking.start]
    begins = np.diff(of, prepend=-1) != 0
    firsts, number = np.flatnonzero(begins), np.cumsum(begins) - 1
    best = np.stack([np.maximum.reduceat(each, firsts) if len(firsts) else each for each in probabilities])
    bearing = np.empty(best.shape, dtype=np.int64)
    for at, (each, most) in enumerate(zip(probabilities, best, strict=True)):
        places = np.flatnonzero(each == most[number])
        bearing[at] = places[np.unique(number[places], return_index=True)[1]]
    wanted = [at for at, row in enumerate(rows) if row.joined != "not"]
    # Of claims equally probable the first in the text, whatever the order of the rows.
    shown = np.where(best[wanted] == best[wanted].max(axis=0), bearing[wanted], len(of)).min(axis=0)
    units = replace(
        ranking,
        work=ranking.work[shown],
        start=ranking.start[shown],
        scores=compose([row.joined for row in rows], best).astype(np.float32),
    )
    return Composed(units, best, ranking.start[bearing])


class ComposedVerdicts(Verdicts):
    """Says of the hits of a composed search whether they belong to the answer, and what bears each claim."""

    def __init__(
        self, rows: Sequence[Condition], composed: Mapping[str, Composed], thresholds: Mapping[str, float]
    ) -> None:
        self._rows = rows
        self._composed = composed
        self._thresholds = thresholds

    def in_answer(self, retriever: str) -> int:
        """Count the units of the answer."""
        return int((self._composed[retriever].ranking.scores >= self._thresholds[retriever]).sum())

    def of(self, retriever: str, hit: Hit) -> Strength:
        """Say whether a hit belongs to the answer: fair where it does, else weak."""
        least = self._thresholds[retriever]
        reason = f"Its probability is {hit.score:.2g}, and the answer begins at {least:.2g}."
        return Strength("fair" if hit.score >= least else "weak", 0.0, reason)

    def parts(self, retriever: str, hit: Hit, work: Work) -> tuple[PartBorne, ...]:
        """Say what a hit's unit is worth for each claim, and which of its passages bears it."""
        composed = self._composed[retriever]
        at = composed.at(hit)
        return tuple(
            PartBorne(row, float(probability), span := Span(int(start), hit.span.length), work.place(span))
            for row, probability, start in zip(
                self._rows, composed.probabilities[:, at], composed.bearing[:, at], strict=True
            )
        )
