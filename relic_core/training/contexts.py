"""Context shapes: how much of what stands around a quotation a claim takes, drawn anew each time an example is read."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from relic_core.domain import Claim, ContextSize
from relic_core.training.recipes import BARE

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLE = ContextSize(4, 4)


def draw_claim(
    left: Sequence[str],
    right: Sequence[str],
    shapes: Sequence[tuple[str, float]],
    *,
    chance: str,
) -> Claim:
    """Draw a shape and take its sentences as a claim.

    - `left`, `right`: sentences before and after the quotation.
    - `shapes`: "4/4", "1/0" or "bare" with weights. A shape that takes no sentence here gives way to all there are.
    - `chance`: what the draw hangs on: seed, round, example.

    >>> draw_claim(["He came.", "She said:"], ["So it was."], [("1/1", 1.0)], chance="")
    Claim(left='She said:', right='So it was.', masked=True)
    >>> draw_claim(["She said:"], [], [("bare", 1.0)], chance="")
    Claim(left='She said:', right='', masked=False)
    """
    drawing = random.Random(chance)  # noqa: S311 - no secret
    (name,) = drawing.choices([name for name, _ in shapes], [weight for _, weight in shapes])
    if name == BARE:
        sentences = [*left[-1:], *right[:1]]
        sentence = sentences[0] if len(sentences) == 1 else drawing.choice(sentences or [""])
        return Claim(left=sentence)
    shape = ContextSize.parse(name)
    before, after = left[len(left) - min(shape.left, len(left)) :], right[: shape.right]
    if not any(map(str.strip, (*before, *after))):
        before, after = left, right
    return Claim(left=" ".join(before), right=" ".join(after), masked=True)
