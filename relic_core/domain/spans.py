"""Spans: the candidates of a work, some sentences in a row."""

from __future__ import annotations

from dataclasses import dataclass

MIN_LENGTH = 1
MAX_LENGTH = 5
LENGTHS = tuple(range(MIN_LENGTH, MAX_LENGTH + 1))
"""Quotation lengths, in sentences, that the pages offer (RELiC, section 3.1)."""

ANY_LENGTH = 0
"""In a request: passages are ranked, and each is shown with its best line."""
PASSAGE = 3
"""Sentences of the passages that are ranked where any length will do. Chosen on `loci-dev` (docs/evaluation.md)."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """`length` consecutive sentences of one work, named by the index of the first.

    >>> Span(4, 2).end
    6
    >>> Span(4, 2).overlaps(Span(5, 2)), Span(4, 2).overlaps(Span(6, 2))
    (True, False)
    >>> Span(4, 2).holds(Span(5, 1)), Span(4, 2).holds(Span(5, 2))
    (True, False)
    """

    start: int
    length: int

    @property
    def end(self) -> int:
        """Index one past the last sentence."""
        return self.start + self.length

    def overlaps(self, other: Span) -> bool:
        """Whether the two spans share a sentence."""
        return self.start < other.end and other.start < self.end

    def holds(self, other: Span) -> bool:
        """Whether all sentences of the other are of this one too."""
        return self.start <= other.start and other.end <= self.end
