"""Running: every window of a benchmark ranked by one retriever, one outcome each.

The rank of one gold needs no sorting: it is one more than the candidates that score higher, and those that score the
same and come earlier in the text (the one tie rule). So an example costs a few passes over its scores, however many
candidates there are. Overlapping candidates are never collapsed (RELiC, section 3.1).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relic_core.domain import (
    RELEVANT,
    BenchmarkCard,
    Claim,
    ContextSize,
    Outcome,
    QuotationContext,
    Scores,
    Span,
    Work,
    best_first,
    best_of,
    rank_at,
)
from relic_core.domain.grouping import grouped
from relic_core.errors import BadBenchmark, BadClaim
from relic_core.formats.trec import DEPTH
from relic_core.ports import Benchmark, Metered, Progress, Retriever

Starts = npt.NDArray[np.int64]

FIRST = 3
"""How many of the first hits an outcome keeps."""

FIRST_CLAIM = Claim("A first question, which is not timed.")
"""What a retriever is asked once for each work and length before time is taken."""


@dataclass(frozen=True, slots=True)
class GoldRank:
    """Where the gold of one example stands among its candidates.

    - `rank`, `overlap_rank`: rank of the gold, and of the first candidate that shares a sentence with it; from 1. None
      where no judged passage answers.
    - `first`: where the first hits start, best first.
    - `graded`: rank and grade of each judged passage, best first; see `Outcome`.
    """

    rank: int | None
    overlap_rank: int | None
    first: tuple[int, ...]
    graded: tuple[tuple[int, float], ...] = ()


def gold_rank(scores: Scores, gold: int, length: int, candidates: Starts | None = None) -> GoldRank:
    """Find the gold among the candidates.

    - `scores`: one per span of the work, in the order of the text; finite.
    - `candidates`: where the spans that count start, ascending; all where not given.

    >>> gold_rank(np.array([0.5, 2.0, 0.5, 0.1], dtype=np.float32), gold=2, length=2)
    GoldRank(rank=3, overlap_rank=1, first=(1, 0, 2), graded=())
    >>> gold_rank(np.array([0.5, 2.0, 0.5, 0.1], dtype=np.float32), gold=2, length=1, candidates=np.array([2, 3]))
    GoldRank(rank=1, overlap_rank=1, first=(2, 3), graded=())
    """
    starts = np.arange(len(scores)) if candidates is None else candidates
    among = scores if candidates is None else scores[candidates]
    near = np.flatnonzero(np.abs(starts - gold) < length)  # the spans of one length that share a sentence with the gold
    best = near[np.argmax(among[near])]  # argmax gives the earliest of equals, as the tie rule does
    return GoldRank(
        rank=rank_at(among, int(np.searchsorted(starts, gold))),
        overlap_rank=rank_at(among, int(best)),
        first=tuple(int(start) for start in starts[best_of(among, FIRST)]),
    )


def judged_rank(
    scores: Scores, grades: Sequence[tuple[int, float]], length: int, candidates: Starts | None = None
) -> GoldRank:
    """Find all judged passages among the candidates, and keep the ranking, of which `DEPTH` places at most.

    - `grades`: where judged passages start, and their grades.

    >>> judged_rank(np.array([0.5, 2.0, 0.4, 0.1], dtype=np.float32), [(0, 2.0), (3, 1.0), (1, 0.5)], length=1)
    GoldRank(rank=2, overlap_rank=2, first=(1, 0, 2, 3), graded=((1, 0.5), (2, 2.0), (4, 1.0)))
    """
    starts = np.arange(len(scores)) if candidates is None else candidates
    among = scores[starts]
    order = best_first(among)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[starts[order]] = np.arange(1, len(order) + 1)
    answers = [start for start, grade in grades if grade >= RELEVANT]
    near = [ranks[starts[np.abs(starts - start) < length]].min() for start in answers]
    return GoldRank(
        rank=min((int(ranks[start]) for start in answers), default=None),
        overlap_rank=int(min(near)) if near else None,
        first=tuple(starts[order[:DEPTH]].tolist()),
        graded=tuple(sorted((int(ranks[start]), grade) for start, grade in grades)),
    )


def card_rank(scores: Scores, accepted: Sequence[Span], length: int) -> GoldRank:
    """Find the first card that shares a sentence with one of several places, counted as a page shows them.

    A candidate that overlaps a better card has none of its own (`domain.group_overlapping`). Where no card shows a
    place, since all that would overlap better ones, the rank is the last.

    >>> scores = np.array([0.1, 0.9, 0.8, 0.2, 0.7], dtype=np.float32)
    >>> card_rank(scores, [Span(4, 1)], length=2)
    GoldRank(rank=2, overlap_rank=2, first=(1, 4), graded=())
    """
    answers = np.zeros(len(scores) + length, dtype=np.bool_)
    for place in accepted:
        answers[max(0, place.start - length + 1) : place.end] = True
    covered = np.zeros(len(scores) + length, dtype=np.bool_)
    cards: list[int] = []
    rank = 0
    for at in best_first(scores).tolist():
        if not covered[at]:
            cards.append(at)
            covered[max(0, at - length + 1) : at + length] = True
            if answers[at] and not rank:
                rank = len(cards)
            if rank and len(cards) >= FIRST:
                break
    rank = rank or len(scores)
    return GoldRank(rank=rank, overlap_rank=rank, first=tuple(cards[:FIRST]))


@dataclass(frozen=True, slots=True)
class Slice:
    """Windows of one pool that are answered together, here or on a worker.

    - `starts`: for each window where its candidates start, ascending; None for all.
    """

    card: BenchmarkCard
    work: Work
    shape: ContextSize
    windows: Sequence[QuotationContext]
    starts: Mapping[str, Starts | None]

    @property
    def lengths(self) -> list[int]:
        """The lengths that are asked for."""
        return sorted({window.gold.length for window in self.windows})

    def candidates(self, window: QuotationContext) -> Starts | None:
        """List where the candidates of a window start; see `Benchmark.candidates`."""
        return self.starts[window.id]


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcomes of a slice, with the seconds that each took: preparing and the first answer's loading left out."""

    title: str
    outcomes: Sequence[tuple[Outcome, float]]


def slices(
    benchmark: Benchmark,
    retriever: Retriever,
    *,
    shape: ContextSize,
    done: Container[str],
    entering: Callable[[Work], None] | None = None,
    progress: Progress,
    size: int = 1,
) -> Iterator[Slice]:
    """Cut the windows of a benchmark into slices, each within one pool.

    The windows of one pool stand together, so that each work is loaded and prepared once; a pool whose windows are all
    done is not touched.

    - `done`: the examples that are left out.
    - `entering`: given each work when it has been prepared, before its first window is asked.
    """
    windows = benchmark.windows()
    pools = by_pool([window for window in windows if window.id not in done])
    count = len(windows) - sum(map(len, pools.values()))
    for pool, some in pools.items():
        work, lengths = benchmark.work(pool), lengths_of(windows, pool)
        retriever.prepare(work, preparing(progress, count, len(windows), work.title), lengths=lengths)
        if entering is not None:
            entering(work)
        for at in range(0, len(some), size):
            part = some[at : at + size]
            yield Slice(benchmark.card, work, shape, part, {window.id: benchmark.candidates(window) for window in part})
            count += len(part)


class Answering:
    """Answers slices by a retriever that is prepared for their works."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._asked: set[tuple[str, int]] = set()

    def __call__(self, asked: Slice) -> Answered:
        """Rank the candidates of each window.

        Raises BadBenchmark: a gold that is none of its candidates, or scores that do not rank the work's spans.
        Raises RelicError: what the retriever raises, but for `BadClaim`: a claim without words has no ranking, and its
        outcome no rank.
        """
        for length in () if isinstance(self._retriever, Metered) else asked.lengths:
            # The first answer loads the model, opens the index and makes tables, and would be timed for all of that.
            if (asked.work.fingerprint, length) not in self._asked:
                with suppress(BadClaim):
                    self._retriever.score(FIRST_CLAIM, asked.work, length)
                self._asked.add((asked.work.fingerprint, length))
        outcomes = []
        for window in asked.windows:
            began = time.perf_counter()
            outcome = answer(asked, self._retriever, window, asked.work, asked.shape)
            outcomes.append((outcome, time.perf_counter() - began))
        return Answered(asked.work.title, outcomes)


def evaluate(
    benchmark: Benchmark,
    answers: Iterable[Answered],
    *,
    done: Mapping[str, Outcome],
    keep: Callable[[Outcome, float], None],
    progress: Progress,
) -> tuple[Outcome, ...]:
    """Rank every window of a benchmark.

    - `answers`: of all slices that are not done, in any order.
    - `done`: outcomes there are already, by example id: they are taken over.
    - `keep`: given each new outcome as soon as it is there, with its seconds.

    Returns: in the order of the benchmark.
    """
    windows = benchmark.windows()
    found = {window.id: done[window.id] for window in windows if window.id in done}
    progress(len(found), len(windows))
    for answered in answers:
        for outcome, seconds in answered.outcomes:
            keep(outcome, seconds)
            found[outcome.example_id] = outcome
            progress(len(found), len(windows), answered.title)
    return tuple(found[window.id] for window in windows)


def lengths_of(windows: Sequence[QuotationContext], pool: str) -> list[int]:
    """List the lengths that are asked for in a pool."""
    return sorted({window.gold.length for window in windows if window.pool == pool})


def by_pool(windows: Sequence[QuotationContext]) -> dict[str, list[QuotationContext]]:
    """Put the windows of each pool together, pools and windows in the order of the benchmark."""
    return grouped(windows, lambda window: window.pool)


def preparing(progress: Progress, count: int, windows: int, title: str = "") -> Progress:
    """Turn the steps of a preparation into a note; the count of examples stays."""

    def report(done: int, total: int, note: str = "") -> None:
        share = f" {100 * done // total}%" if total else ""
        progress(count, windows, f"{title}{': ' * bool(title)}{note or 'Preparing'}{share}")

    return report


def answer(
    benchmark: Benchmark | Slice, retriever: Retriever, window: QuotationContext, work: Work, shape: ContextSize
) -> Outcome:
    """Rank one window's candidates; what it raises is what `Answering` raises."""
    gold, candidates = window.gold, benchmark.candidates(window)
    starts = np.arange(work.candidates(gold.length)) if candidates is None else candidates
    at = int(np.searchsorted(starts, gold.start))
    if at == len(starts) or starts[at] != gold.start:
        raise BadBenchmark(
            f"{benchmark.card.name}: the quotation of example {window.id} (sentence {gold.start + 1:,}, {gold.length} "
            f"long) is none of the {len(starts):,} candidates of {work.title}. The data do not fit the work."
        )
    place: GoldRank | None = None
    try:
        scores = retriever.score(window.claim(shape), work, gold.length)
    except BadClaim:
        pass  # nothing to search with: an outcome without a rank, which every metric counts as a miss
    else:
        if scores.shape != (work.candidates(gold.length),) or not np.isfinite(scores).all():
            raise BadBenchmark(
                f"{retriever.name} gave scores that are not a ranking of {work.title} for example {window.id}: "
                f"{work.candidates(gold.length):,} finite numbers were wanted."
            )
        if window.accepted:
            place = card_rank(scores, window.accepted, gold.length)
        elif window.grades:
            place = judged_rank(scores, window.grades, gold.length, candidates)
        else:
            place = gold_rank(scores, gold.start, gold.length, candidates)

    def characters(start: int) -> tuple[int, int]:
        return work.sentences[start].start, work.sentences[start + gold.length - 1].end

    return Outcome(
        example_id=window.id,
        book=window.book,
        length=gold.length,
        kind=window.kind,
        candidates=len(starts),
        rank=place.rank if place else None,
        overlap_rank=place.overlap_rank if place else None,
        gold=characters(gold.start),
        first=tuple(characters(start) for start in place.first) if place else (),
        graded=place.graded if place else tuple((0, grade) for _, grade in window.grades),
    )
