"""What every reranker does with a claim and its candidates: refuse, batch, make do with less memory, report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relic_core.encoders.batching import in_batches
from relic_core.errors import BadClaim, RelicError
from relic_core.text.words import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from relic_core.domain import Claim
    from relic_core.encoders.precision import Arithmetic
    from relic_core.ports import Progress

    Scores = npt.NDArray[np.float32]

SCORING = "Reading passages together with the claim"
"""What progress is told."""


def check_claim(claim: Claim) -> None:
    """Refuse a claim without a word.

    Raises BadClaim: it holds no word at all.
    """
    if not tokens(claim.words):
        raise BadClaim("The claim holds no words to read passages with. Type a claim about the work in a few words.")


def scored(
    lengths: Sequence[int],
    score: Callable[[list[int]], Scores],
    *,
    arithmetic: Arithmetic,
    name: str,
    progress: Progress,
) -> Scores:
    """Score rows by batches of like length, smaller ones where memory runs out, down to a single row.

    - `lengths`: of each row, in tokens that go through the model.
    - `score`: scores the rows of some numbers; shape (n_members,).
    - `arithmetic`: where it is computed.

    Raises RelicError: memory ran out over a single row; a score is no number.
    """

    def too_little() -> RelicError:
        where = "The memory of the GPU" if arithmetic.device == "cuda" else "Memory"
        return RelicError(
            f"{where} ran out while {name} reordered passages. Close other programs and try again, search without "
            "reordering, or take a smaller model."
        )

    found, done = np.zeros(len(lengths), dtype=np.float32), 0
    progress(done, len(lengths), SCORING)
    for members, scores in in_batches(lengths, score, device=arithmetic.device, too_little=too_little):
        found[members] = scores
        done += len(members)
        progress(done, len(lengths), SCORING)
    if not np.isfinite(found).all():
        raise RelicError(f"{name} gave scores that are no numbers. Its weights are of no use: train it anew.")
    return found
