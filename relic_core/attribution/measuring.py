"""Attribution measured: windows whose quotation is from a work of the library, and every stretch of all works.

How a window is asked, and what its gold is, is in docs/attribution.md, "Measuring". Whether a source is called
found is measured twice, with the work and without it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import numpy.typing as npt

from relic_core.attribution.ranking import MEANING, TOP_K, Attributor, Ints, Stretches, fuse, rerank, strong
from relic_core.domain import Claim, Outcome, QuotationContext, Scores, Work, best_first
from relic_core.domain.attribution import Target
from relic_core.domain.figures import Cell, Table
from relic_core.domain.rankings import rank_at
from relic_core.evaluation import intervals, metrics
from relic_core.evaluation.figures import figure_of
from relic_core.evaluation.figures import measured as measured_of
from relic_core.formats.attribution import AttributionSet
from relic_core.ports import Progress
from relic_core.text.words import WORD, WorkWords, content_tokens

Reranker = Callable[[Target, bool, Ints], Scores]

WAYS = ("visible", "masked", "edited")

METRICS = ("recall@1", "recall@10", "recall@100", "mrr")

_DROPPED, _MOVED = 0.15, 0.1
"""Shares of the words that are left out, and that change places with the next one, in an edited quotation."""
_NAMES = ("Ashworth", "Belton", "Crane", "Dalby", "Ferris", "Harlow", "Marsden", "Orme")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionQuery:
    """A target whose source is known.

    - `key`: what the stretches know its source by.
    - `golds`: the stretches that are right.
    - `length`: sentences of the quotation; 0 where that is not known.
    """

    id: str
    target: Target
    key: str
    golds: Ints
    length: int = 0


@dataclass(frozen=True)
class Measured:
    """What systems made of the questions.

    - `outcomes`: by system, way, and "stretch" or "work".
    - `strong`: by way, and whether the source was among the works: how often a source was called found.
    """

    outcomes: dict[tuple[str, str, str], list[Outcome]] = field(default_factory=dict)
    strong: dict[tuple[str, bool], list[tuple[str, bool]]] = field(default_factory=dict)


def of_windows(
    windows: Sequence[QuotationContext], attributor: Attributor, works: Mapping[str, Work]
) -> list[AttributionQuery]:
    """Make questions of the windows of a benchmark; a quotation without a content word is left out.

    - `works`: the work of each pool, whose words stand for the source's own where these are not known.
    """
    stretches, made = attributor.stretches, []
    number = {key: at for at, key in enumerate(stretches.keys)}
    for window in windows:
        work, gold = works[window.pool], window.gold
        span = window.quotation or work.span_text(gold)
        if not content_tokens(span):
            continue
        right = (stretches.work == number[work.id]) & (stretches.start < gold.end) & (stretches.end > gold.start)
        target = Target.between(" ".join(window.left), span, " ".join(window.right))
        made.append(
            AttributionQuery(id=window.id, target=target, key=work.id, golds=np.flatnonzero(right), length=gold.length)
        )
    return made


def of_queries(
    given: AttributionSet,
) -> tuple[Attributor, list[AttributionQuery], npt.NDArray[np.object_]]:
    """Make questions of a file of queries: all sources are candidates, and any part of its work is right by work.

    Returns: what ranks them, the questions, and the sources' texts as models read them.
    """
    by_work: dict[str, list[str]] = {}
    for name, source in given.sources.items():
        by_work.setdefault(source.work, []).append(name)
    ordered = list(chain.from_iterable(by_work.values()))
    sources = [given.sources[name] for name in ordered]
    stretches = Stretches.of((each.work, each.named, WorkWords.of_texts([each.text])) for each in sources)
    at = {name: number for number, name in enumerate(ordered)}
    asked = [
        AttributionQuery(id=name, target=target, key=given.sources[source].work, golds=np.array([at[source]]))
        for name, (target, source) in given.queries.items()
    ]
    texts = np.array([f"{each.named}. {each.text}" for each in sources], dtype=object)
    return Attributor(stretches), asked, texts


def edited(span: str, seed: str) -> str:
    """Edit a quotation as one from memory: words dropped, neighbours exchanged, names replaced by others.

    >>> edited("It was the best of times, it was the worst of times, said Mr Lorry.", "4")
    'the It best of times, it was the worst of said Mr Crane.'
    """
    rng = random.Random(seed)  # noqa: S311 - the same edits every time
    names = {match.group() for match in WORD.finditer(span) if match.start() and match.group()[0].isupper()}
    replaced = {name: rng.choice(_NAMES) for name in sorted(names) if len(name) > len("Mr.")}
    pieces = WORD.sub(lambda match: replaced.get(match.group(), match.group()), span).split(" ")
    kept = [piece for piece in pieces if rng.random() >= _DROPPED] or pieces
    for at in range(len(kept) - 1):
        if rng.random() < _MOVED:
            kept[at], kept[at + 1] = kept[at + 1], kept[at]
    return " ".join(kept)


def measure(
    attributor: Attributor,
    asked: Sequence[AttributionQuery],
    *,
    encode: Callable[[Claim], npt.NDArray[np.float32]] | None = None,
    rerankers: Mapping[str, Reranker] | None = None,
    progress: Progress,
) -> Measured:
    """Ask every question in every way.

    - `rerankers`: by name, each scores some stretches for a target, or, masked, for the words around its span.
    """
    measured, stretches = Measured(), attributor.stretches
    for done, question in enumerate(asked):
        progress(done, len(asked), "Attributing")
        number = stretches.keys.index(question.key)
        for way in WAYS:
            target, masked = question.target, way == "masked"
            if way == "edited":
                target = Target.between(target.left, edited(target.span, question.id), target.right)
            for name, scores in _systems(attributor, target, encode, rerankers or {}, masked=masked).items():
                for unit, rank in _ranks(scores, stretches.work, question.golds, number).items():
                    count = len(stretches.keys if unit == "work" else stretches)
                    outcome = Outcome(
                        example_id=question.id, book=question.key, length=question.length, kind=way, candidates=count,
                        rank=rank, overlap_rank=rank, gold=(0, 0),
                    )  # fmt: skip
                    measured.outcomes.setdefault((name, way, unit), []).append(outcome)
            if not masked:
                for present in (True, False):
                    left_out = None if present else stretches.work == number
                    called = strong(target, np.array(attributor.strength(target, left_out)))
                    measured.strong.setdefault((way, present), []).append((question.key, bool(called)))
    return measured


def _systems(
    attributor: Attributor,
    target: Target,
    encode: Callable[[Claim], npt.NDArray[np.float32]] | None,
    rerankers: Mapping[str, Reranker],
    *,
    masked: bool,
) -> dict[str, Scores]:
    words = attributor.by_words(target, masked=masked)
    better = attributor.by_nearness(target) if masked else attributor.rank(target)
    found = {"BM25": words, "BM25, nearness" if masked else "BM25, pairs": better}
    if encode is not None:
        claim = Claim(target.left, target.right, masked=True) if masked else Claim(target.span)
        found["dense"] = attributor.by_meaning(encode(claim))
        found["fusion"] = fuse(better, found["dense"], MEANING if masked else 1.0)
    for name, score in rerankers.items():
        anew = score(target, masked, best_first(words)[:TOP_K])
        found[f"BM25, {name} alone"] = rerank(words, anew)
        found[f"BM25, {name} fused"] = rerank(words, anew, first=1.0)
    return found


def _ranks(scores: Scores, work: Ints, golds: Ints, number: int) -> dict[str, int]:
    """Rank the first right stretch among all, and the work among all works by the best stretch of each."""
    first = int(golds[scores[golds].argmax()])
    bests = np.full(int(work.max()) + 1, -np.inf)
    np.maximum.at(bests, work, scores)
    return {"stretch": rank_at(scores, first), "work": rank_at(bests, number)}


def tables(measured: Measured, *, by_length: bool = False) -> tuple[Table, ...]:
    """Set what was measured: a table of ranks, and one of how often a source is called found."""
    rows: list[tuple[Cell, ...]] = []
    for (name, way, unit), outcomes in sorted(measured.outcomes.items(), key=lambda each: (each[0][1:], each[0][0])):
        lengths = [0, *sorted({each.length for each in outcomes} - {0})] if by_length else [0]
        for length in lengths:
            some = [each for each in outcomes if length in {0, each.length}]
            figures = [measured_of(name, some) for name in METRICS]
            rows.append((way, unit, name, *([length or "all"] if by_length else []), *figures, len(some)))
    heads = ("span", "by", "system", *(["length"] if by_length else []), "R@1", "R@10", "R@100", "MRR", "n")
    found: list[tuple[Cell, ...]] = []
    for (way, present), pairs in measured.strong.items():
        works, calls = [work for work, _ in pairs], np.array([called for _, called in pairs], dtype=np.float64)
        around = intervals.interval_of(calls, works, over=intervals.over_of(works)) if len(pairs) > 1 else None
        figure = figure_of(metrics.metric("recall@1"), float(calls.mean()), around) if around else f"{calls.mean():.1%}"
        found.append((way, "yes" if present else "no", figure, len(pairs)))
    return (
        Table(
            caption="Attribution among all stretches.",
            heads=heads,
            rows=tuple(rows),
            notes=("Intervals are 95%, by bootstrap over works.", *_gained(measured)),
        ),
        Table(
            caption="How often a source is called found, in percent.",
            heads=("span", "source in the library", "called found", "n"),
            rows=tuple(found),
        ),
    )


def _gained(measured: Measured) -> list[str]:
    """Say how many times as often as BM25 fusion has the source of a masked span among the first ten."""
    notes = []
    for unit in ("stretch", "work"):
        fused, words = (measured.outcomes.get((name, "masked", unit), []) for name in ("fusion", "BM25"))
        if len(fused) > 1 and metrics.figure("recall@10", words):
            value, low, high = ratio(fused, words)
            notes.append(f"Masked, R@10 by {unit}: fusion has {value:.2f} ({low:.2f}–{high:.2f}) times what BM25 has.")
    return notes


def ratio(first: Sequence[Outcome], second: Sequence[Outcome], name: str = "recall@10") -> tuple[float, float, float]:
    """Divide the figure of one system by that of another, on the same examples in the same order.

    Returns: the ratio and the ends of its interval, by bootstrap over works.
    """
    a, b = metrics.values(name, first), metrics.values(name, second)
    works = [each.book for each in first]
    members = intervals.units(works, over=intervals.over_of(works))
    drawn = [intervals.resampled(each, members, centre="mean", samples=2000, seed=0) for each in (a, b)]
    return float(a.mean() / b.mean()), *intervals.ends(drawn[0] / np.maximum(drawn[1], 1 / len(b)))
