"""Building the index that serves every length, against sentence-transformers on every span of lengths 1 to 5.

The baseline takes many minutes on a novel. Its time for a length is reckoned from spans drawn at random, as many for
each length, so that they are as long as spans of the work are; the library sorts them by length itself.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from relic_core.config.machine import machine
from relic_core.domain import LENGTHS, Span
from relic_core.encoders.cards import read_card
from relic_core.ports import silent
from relic_core.retrieval.dense import trained_model
from tools.bench.bench import DENSE, MIDDLING, head, named, timed
from tools.bench.figures import Figure, Measured, Target, number

if TYPE_CHECKING:
    from relic_core.domain import Work
    from tools.bench.bench import Bench

PART = "building"
BASELINE = "sentence-transformers, every span"

_TIMES_AS_FAST = {True: 12.0, False: 6.0}
"""Where the processor multiplies bfloat16 in tiles (AMX), and where not."""
_SEED = 5
_WARM_UP = 4
"""Sentences that are read before anything is timed: models are loaded by the first."""


def measure(bench: Bench) -> Measured:
    """Build the index some times, and between the builds have the baseline encode spans of one length after another."""
    from relic_core.encoders.precision import best_arithmetic
    from tools.bench.baseline import SentenceTransformersBaseline

    work = bench.work(MIDDLING)
    card = read_card(trained_model(bench.app.settings))
    bench.say("loading the models")
    baseline = SentenceTransformersBaseline(card, device=best_arithmetic().device)
    baseline.encode(work, [Span(0, 1)])
    built: list[float] = []
    lengths = {}
    every = -(-len(LENGTHS) // bench.effort.builds)
    for turn, length in enumerate(LENGTHS):
        if turn % every == 0:
            bench.say("building the index")
            built.append(seconds_of_a_build(bench, work))
        spans = work.candidates(length)
        drawn = _draw(spans, spans if bench.full else bench.effort.spans, length)
        bench.say(f"sentence-transformers, passages of {length}")
        seconds, _ = baseline.encode(work, drawn) if drawn else (0.0, None)
        lengths[length] = {
            "spans": spans,
            "encoded": len(drawn),
            "seconds": seconds,
            "seconds_for_all": seconds * spans / max(1, len(drawn)),
        }
    ours = sorted(built)[len(built) // 2]
    theirs = sum(each["seconds_for_all"] for each in lengths.values())
    sampled = sum(int(each["encoded"]) for each in lengths.values())
    total = sum(int(each["spans"]) for each in lengths.values())
    words = len(work.text.split())
    note = "The baseline encoded every span."
    if sampled < total:
        spent = number(sum(each["seconds"] for each in lengths.values()))
        note = (
            f"The baseline encoded {sampled:,} of the {total:,} spans, drawn at random, in {spent} s; its time for all "
            "of them is reckoned from that, length by length."
        )
    return Measured(
        part=PART,
        on=named(work),
        figures=(
            Figure(
                what="building the index for all lengths",
                value=ours,
                unit="s",
                baseline=BASELINE,
                baseline_value=theirs,
                ratio=theirs / ours,
                target=Target(of="ratio", bound="at least", limit=_TIMES_AS_FAST[bool(machine()["amx"])]),
                repetitions=len(built),
            ),
            Figure(what="words indexed", value=words / ours, unit="words/s", repetitions=len(built)),
        ),
        notes=(note,),
        details={"builds_s": built, "baseline_sampled_spans": sampled, "spans": total, "lengths": lengths},
    )


def seconds_of_a_build(bench: Bench, work: Work) -> float:
    """Build a work's index from nothing with the model loaded; in seconds."""
    with bench.apart() as make:
        retriever = make(DENSE)
        retriever.prepare(head(work, _WARM_UP), silent)
        return timed(retriever.prepare, work, silent)[0]


def _draw(spans: int, count: int, length: int) -> list[Span]:
    """Draw spans of a length, the same every time; all of them where there are no more."""
    starts = range(spans)
    if count < spans:
        starts = sorted(random.Random(_SEED).sample(starts, count))  # type: ignore[assignment]  # noqa: S311 - no secret
    return [Span(start, length) for start in starts]
