"""Whether the quicker number format ranks as float32 does: one part of a work, ranked by the same model in both."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LENGTHS
from relic_core.encoders.cards import read_card
from relic_core.ports import silent
from relic_core.retrieval.dense import Dense, trained_model
from tools.bench.agreement import agreement
from tools.bench.bench import DENSE, MIDDLING, head, named
from tools.bench.figures import Figure, Measured, not_measured

if TYPE_CHECKING:
    from relic_core.encoders.precision import Precision
    from tools.bench.bench import Bench

PART = "agreement"
BASELINE: Precision = "float32"

_OTHER: Precision = "bfloat16"


def measure(bench: Bench) -> Measured:
    """Index the part twice, ask both, and compare what they rank."""
    from relic_core.encoders.late_chunking import LateChunkingEncoder

    work = head(bench.work(MIDDLING), bench.effort.agreeing)
    card = read_card(trained_model(bench.app.settings))
    if card.spans == "alone":
        return not_measured(PART, f"the encoder {card.name} reads every span by itself.", on=named(work))

    with tempfile.TemporaryDirectory() as folder:

        def made(precision: Precision) -> Dense:
            encoder = LateChunkingEncoder(card, precision=precision)
            dense = Dense(DENSE, encoder=lambda: encoder, root=Path(folder) / precision, similarity=card.similarity)
            bench.say(f"building the index in {precision}")
            dense.prepare(work, silent)
            return dense

        ours, theirs = made(_OTHER), made(BASELINE)
        found = [agreement(ours, theirs, work, bench.claims, length) for length in LENGTHS]
    overlap = [each.overlap_at_10 for each in found]
    correlation = [each.correlation for each in found]
    asked = len(bench.claims) * len(LENGTHS)
    return Measured(
        part=PART,
        on=named(work),
        figures=(
            Figure(
                what=f"of the first ten by {BASELINE}, found in the first ten by {_OTHER}",
                value=100 * float(np.mean(overlap)),
                unit="%",
                baseline=BASELINE,
                repetitions=asked,
            ),
            Figure(
                what=f"rank correlation of all passages, {_OTHER} with {BASELINE}",
                value=float(np.mean(correlation)),
                unit="",
                baseline=BASELINE,
                repetitions=asked,
            ),
        ),
        details={
            "overlap_at_10": dict(zip(map(str, LENGTHS), overlap, strict=True)),
            "correlation": dict(zip(map(str, LENGTHS), correlation, strict=True)),
        },
    )
