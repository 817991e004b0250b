"""Running: every window of a benchmark ranked by one retriever, one outcome each.

The rank of one gold needs no sorting: it is one more than the candidates that score higher, and those that score the
same and come earlier in the text (the one tie rule). So an example costs a few passes over its scores, however many
candidates there are. Overlapping candidates are never collapsed (RELiC, section 3.1).
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Claim, Outcome, Span, best_first, best_of, rank_at
from relic_core.errors import BadBenchmark, BadClaim
from relic_core.ports import Metered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from relic_core.domain import ContextSize, QuotationContext, Scores, Work
    from relic_core.ports import Benchmark, Progress, Retriever

    Starts = npt.NDArray[np.int64]

FIRST = 3
"""How many of the first hits an outcome keeps."""

FIRST_CLAIM = Claim("A first question, which is not timed.")
"""What a retriever is asked once for each work and length before time is taken."""


@dataclass(frozen=True, slots=True)
class GoldRank:
    """Where the gold of one example stands among its candidates.

    - `rank`, `overlap_rank`: rank of the gold, and of the first candidate that shares a sentence with it; from 1.
    - `first`: where the first hits start, best first.
    """

    rank: int
    overlap_rank: int
    first: tuple[int, ...]


def gold_rank(scores: Scores, gold: int, length: int, candidates: Starts | None = None) -> GoldRank:
    """Find the gold among the candidates.

    - `scores`: one per span of the work, in the order of the text; finite.
    - `gold`: where the gold starts; one of the candidates.
    - `length`: sentences per span, at least 1.
    - `candidates`: where the spans that count start, ascending; all where not given.

    >>> gold_rank(np.array([0.5, 2.0, 0.5, 0.1], dtype=np.float32), gold=2, length=2)
    GoldRank(rank=3, overlap_rank=1, first=(1, 0, 2))
    >>> gold_rank(np.array([0.5, 2.0, 0.5, 0.1], dtype=np.float32), gold=2, length=1, candidates=np.array([2, 3]))
    GoldRank(rank=1, overlap_rank=1, first=(2, 3))
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


def card_rank(scores: Scores, accepted: Sequence[Span], length: int) -> GoldRank:
    """Find the first card that shares a sentence with one of several places, counted as a page shows them.

    A candidate that overlaps a better card has none of its own (`domain.group_overlapping`). Where no card shows a
    place, since all that would overlap better ones, the rank is the last.

    >>> scores = np.array([0.1, 0.9, 0.8, 0.2, 0.7], dtype=np.float32)
    >>> card_rank(scores, [Span(4, 1)], length=2)
    GoldRank(rank=2, overlap_rank=2, first=(1, 4))
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


def evaluate(
    benchmark: Benchmark,
    retriever: Retriever,
    *,
    shape: ContextSize,
    done: Mapping[str, Outcome],
    keep: Callable[[Outcome, float], None],
    entering: Callable[[Work], None] | None = None,
    progress: Progress,
) -> tuple[Outcome, ...]:
    """Rank every window of a benchmark.

    The windows of one pool are answered together, so that each work is loaded and prepared once; a pool whose windows
    are all done is not touched.

    - `done`: outcomes there are already, by example id: they are taken over.
    - `keep`: given each new outcome as soon as it is there, with the seconds that answering took; preparing, and what
      the first answer of a work and length has to load, left out.
    - `entering`: given each work when it has been prepared, before its first window is asked.

    Returns: in the order of the benchmark.

    Raises BadBenchmark: a gold that is none of its candidates, or scores that are no ranking of the work's spans.
    Raises RelicError: what the benchmark and the retriever raise, but for `BadClaim`: a claim without words has no
    ranking, and its outcome no rank.
    """
    windows = benchmark.windows()
    pools = by_pool([window for window in windows if window.id not in done])
    found = dict(done)
    count = len(windows) - sum(map(len, pools.values()))
    progress(count, len(windows))
    for pool, some in pools.items():
        work = benchmark.work(pool)
        lengths = sorted({window.gold.length for window in windows if window.pool == pool})
        retriever.prepare(work, _preparing(progress, count, len(windows), work.title), lengths=lengths)
        if entering is not None:
            entering(work)
        for length in () if isinstance(retriever, Metered) else sorted({window.gold.length for window in some}):
            # The first answer loads the model, opens the index and makes tables, and would be timed for all of that.
            with suppress(BadClaim):
                retriever.score(FIRST_CLAIM, work, length)
        for window in some:
            began = time.perf_counter()
            outcome = answer(benchmark, retriever, window, work, shape)
            keep(outcome, time.perf_counter() - began)
            found[window.id] = outcome
            count += 1
            progress(count, len(windows), work.title)
    return tuple(found[window.id] for window in windows)


def by_pool(windows: Sequence[QuotationContext]) -> dict[str, list[QuotationContext]]:
    """Put the windows of each pool together, pools and windows in the order of the benchmark."""
    pools: dict[str, list[QuotationContext]] = {}
    for window in windows:
        pools.setdefault(window.pool, []).append(window)
    return pools


def _preparing(progress: Progress, count: int, windows: int, title: str) -> Progress:
    """Turn the steps of a preparation into a note; the count of examples stays."""

    def report(done: int, total: int, note: str = "") -> None:
        share = f" {100 * done // total}%" if total else ""
        progress(count, windows, f"{title}: {note or 'Preparing'}{share}")

    return report


def answer(
    benchmark: Benchmark, retriever: Retriever, window: QuotationContext, work: Work, shape: ContextSize
) -> Outcome:
    """Rank one window's candidates; what it raises is what `evaluate` raises."""
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
                f"{retriever.name} gave scores that are no ranking of {work.title} for example {window.id}: "
                f"{work.candidates(gold.length):,} finite numbers were wanted."
            )
        if window.accepted:
            place = card_rank(scores, window.accepted, gold.length)
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
    )
