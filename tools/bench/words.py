"""BM25 against rank_bm25, the library of the RELiC paper, with the same words of the same claims and spans.

Two kinds of claims are asked. rank_bm25 looks at every span for every word of a claim, whereas a table of scores holds
only the spans in which the word stands: claims about another book, whose words are rare in this one, flatter us. So
pages of the work itself are asked too, four sentences, a gap, and four sentences, whose words all stand in it.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LENGTHS, MAX_CONTEXT, Claim, Span, rank_scores
from relic_core.encoders.towers import flat_span
from tools.bench.bench import LONGEST, named, timed
from tools.bench.figures import Figure, Measured, Target, as_fast

if TYPE_CHECKING:
    from relic_core.domain import Scores, Work
    from tools.bench.bench import Bench

PART = "bm25"
BASELINE = "rank_bm25"

_TOP = 10
_TIMES_AS_FAST = 300
_SEED = 4


def measure(bench: Bench) -> Measured:
    """Take the times of queries for every length, ours and theirs in turn, and compare the first ten.

    Each claim is asked once of each for a length, so that nobody can answer from memory.
    """
    work = bench.work(LONGEST)
    count = bench.effort.reference_claims
    kinds = {"a real claim": bench.claims[:count], "a page of the work": pages(work, count)}
    times: dict[str, list[Figure]] = {kind: [] for kind in kinds}
    tables: list[float] = []
    theirs: list[float] = []
    same = asked = 0
    with bench.apart() as make:
        ours, reference = make("bm25"), make("bm25-reference")
        for length in LENGTHS:
            bench.say(f"BM25, passages of {length}")
            warm = bench.claims[-1]
            tables.append(timed(ours.score, warm, work, length)[0])
            theirs.append(timed(reference.score, warm, work, length)[0])
            for kind, claims in kinds.items():
                quick: list[float] = []
                slow: list[float] = []
                for claim in claims:
                    seconds, wanted = timed(reference.score, claim, work, length)
                    slow.append(seconds)
                    seconds, found = timed(ours.score, claim, work, length)
                    quick.append(seconds)
                    same += top(found) == top(wanted)
                    asked += 1
                target = Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST)
                what = f"{kind}, passages of {length}"
                times[kind].append(as_fast(what, quick, BASELINE, slow, unit="ms", target=target))
    agree = Figure(
        what="queries with the same first ten",
        value=100 * same / asked,
        unit="%",
        baseline=BASELINE,
        target=Target(of="value", bound="at least", limit=100),
        repetitions=asked,
    )
    built = as_fast("making the tables of all lengths", [sum(tables)], BASELINE, [sum(theirs)], unit="s")
    return Measured(
        part=PART,
        on=named(work),
        figures=(*(figure for each in times.values() for figure in each), agree, built),
        details={
            "same_first_ten": same,
            "queries_compared": asked,
            "words_of_claims": {
                kind: float(np.median([len(claim.words.split()) for claim in claims])) for kind, claims in kinds.items()
            },
        },
    )


def pages(work: Work, count: int) -> tuple[Claim, ...]:
    """Take pages of a work for claims: sentences on either side of one that is left out, as many as 4/4 claims have.

    Of a work that is shorter than a page, fewer sentences.

    - `count`: how many; the same ones every time.
    """
    drawn = random.Random(_SEED)  # noqa: S311 - no secret
    made = []
    for _ in range(count):
        gap = drawn.randrange(len(work.sentences))
        first, last = max(0, gap - MAX_CONTEXT), min(len(work.sentences), gap + 1 + MAX_CONTEXT)
        before, after = (
            flat_span(work, Span(start, stop - start)) if stop > start else ""
            for start, stop in ((first, gap), (gap + 1, last))
        )
        made.append(Claim(left=before, right=after, masked=True))
    return tuple(made)


def top(scores: Scores) -> list[int]:
    """Give the first ten, ties in the order of the text.

    Scores are rounded to what float32 carries, so that spans that both sides hold equal tie on both.
    """
    best: list[int] = rank_scores("", "", 0, np.round(scores, 4)).order[:_TOP].tolist()
    return best
