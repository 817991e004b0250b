"""Windows: places in secondary sources where a work is quoted, and how much of them a claim takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from relic_core.domain.claims import Claim
from relic_core.domain.spans import Span
from relic_core.errors import BadRequest

MAX_CONTEXT = 4
"""Sentences of criticism on either side that a window holds (RELiC, section 2.1)."""


@dataclass(frozen=True, slots=True, order=True)
class ContextSize:
    """How many sentences of criticism, 0 to 4, a claim takes on either side of a quotation (L/R, the paper's Table 3).

    >>> str(ContextSize(4, 0))
    '4/0'
    """

    left: int
    right: int

    def __post_init__(self) -> None:
        sides = (self.left, self.right)
        if not all(0 <= side <= MAX_CONTEXT for side in sides) or not any(sides):
            raise BadRequest(
                f"The context shape {self.left}/{self.right} cannot be: each side is 0 to {MAX_CONTEXT} sentences, and "
                "one of them at least 1. Known from the paper: 0/1, 0/4, 1/0, 4/0, 1/1, 4/4."
            )

    def __str__(self) -> str:
        return f"{self.left}/{self.right}"

    @property
    def words(self) -> str:
        """The sentences on either side, as pages write them.

        >>> ContextSize(4, 4).words, ContextSize(0, 1).words
        ('4 before, 4 after', '1 after')
        """
        sides = ((self.left, "before"), (self.right, "after"))
        return ", ".join(f"{count} {side}" for count, side in sides if count)

    def around(self, left: Sequence[str], right: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """Take the sentences of the shape, those nearest to the quotation; where there are fewer, those there are."""
        return left[len(left) - min(self.left, len(left)) :], right[: self.right]

    @classmethod
    def parse(cls, written: str) -> ContextSize:
        """Read a shape as the paper writes it. Raises BadRequest: it is none.

        >>> ContextSize.parse("1/0")
        ContextSize(left=1, right=0)
        """
        match = re.fullmatch(r"\s*(\d)\s*/\s*(\d)\s*", written, re.ASCII)
        if match is None:
            raise BadRequest(
                f"'{written}' is not a context shape. It is two numbers, of sentences before and after: 4/4."
            )
        return cls(int(match[1]), int(match[2]))


SHAPES = (
    ContextSize(0, 1),
    ContextSize(0, 4),
    ContextSize(1, 0),
    ContextSize(4, 0),
    ContextSize(1, 1),
    ContextSize(4, 4),
)
"""The six context shapes of the paper's Table 3, in its order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotationContext:
    """A place in a secondary source where a work is quoted.

    - `book`, `pool`: keys of the quoted work and of what the candidates are taken from, the same where that is the
      whole work.
    - `left`, `right`: up to four sentences before and after the quotation, in the order of the source; either may be
      empty.
    - `gold`: the quotation, among the sentences of the work that `pool` names.
    - `kind`: what the quotation is there for, where that was labelled: "claim-supporting", "paraphrase-supporting",
      "other" (RELiC, section 2.3); of a query for a set the template it was made by; empty elsewhere.
    - `masked`: the claim stands around its quotation; not so where it was typed without one.
    - `accepted`: places of which any one answers, of whatever length; `gold` then says which length is asked for, and
      cards are counted, not candidates. Empty where the gold alone answers.
    - `grades`: of a judged benchmark where the passages start that have a grade above 0, all of the gold's length, and
      their grades; the gold is one of them with the highest. Empty where the gold alone answers.
    - `quotation`: the words quoted, as the source has them; empty where they are not known.
    """

    id: str
    book: str
    pool: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    gold: Span
    kind: str = ""
    masked: bool = True
    accepted: tuple[Span, ...] = ()
    grades: tuple[tuple[int, float], ...] = ()
    quotation: str = ""

    def claim(self, shape: ContextSize) -> Claim:
        """Take the sentences of a shape as a claim with a mask; where the source had fewer, those there are."""
        left, right = shape.around(self.left, self.right)
        return Claim(left=" ".join(left), right=" ".join(right), masked=self.masked)
