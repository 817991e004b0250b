"""How fast a work's tokens go through the encoder, against the model's bare forward pass; and how many do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.encoders.cards import read_card
from relic_core.retrieval.dense import blocks, trained_model
from tools.bench.bench import MIDDLING, head, named
from tools.bench.building import seconds_of_a_build
from tools.bench.figures import Figure, Measured, Target, not_measured

if TYPE_CHECKING:
    from tools.bench.bench import Bench

PART = "encoder"
BASELINE = "plain forward pass, full batches"

_RATE = 0.8
_TOKENS = 2.0


def measure(bench: Bench) -> Measured:
    """Build an index and run the bare model in turn."""
    from relic_core.encoders.late_chunking import load_late_chunking
    from tools.bench.baseline import plain_forward

    card = read_card(trained_model(bench.app.settings))
    work = head(bench.work(MIDDLING), bench.effort.sentences)
    if card.spans == "alone":
        why = f"the encoder {card.name} reads every span by itself, so there is no one pass to hold against anything."
        return not_measured(PART, why, on=named(work))
    encoder = load_late_chunking(card)
    bench.say("counting tokens")
    # An index is built block by block, and a stretch does not go on from one to the next.
    plans = [encoder.plan(replace(work, sentences=work.sentences[b.start : b.stop])) for b in blocks(work)]
    encoded, tokens = sum(plan.encoded for plan in plans), sum(plan.tokens for plan in plans)
    rates: list[float] = []
    plain: list[float] = []
    for _ in range(bench.effort.builds):
        bench.say("the plain forward pass")
        through, seconds = plain_forward(encoder, bench.effort.forwards)
        plain.append(through / seconds)
        bench.say("building the index")
        rates.append(encoded / seconds_of_a_build(bench, work))
    ours, theirs = sorted(rates)[len(rates) // 2], sorted(plain)[len(plain) // 2]
    return Measured(
        part=PART,
        on=named(work),
        figures=(
            Figure(
                what="tokens through the encoder while an index is built",
                value=ours,
                unit="tokens/s",
                baseline=BASELINE,
                baseline_value=theirs,
                ratio=ours / theirs,
                target=Target(of="ratio", bound="at least", limit=_RATE),
                repetitions=len(rates),
            ),
            Figure(
                what="tokens encoded, context and special tokens included",
                value=encoded,
                unit="tokens",
                baseline="tokens of the work",
                baseline_value=tokens,
                ratio=encoded / tokens,
                target=Target(of="ratio", bound="at most", limit=_TOKENS),
            ),
        ),
        details={
            "encoder": encoder.identity,
            "stretches": sum(plan.stretches for plan in plans),
            "rates": rates,
            "plain_rates": plain,
        },
    )
