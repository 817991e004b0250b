"""Claims, and examples: claims whose quotation is known."""

from __future__ import annotations

from dataclasses import dataclass

from relic_core.domain.spans import Span

MASK = "[MASK]"
"""How the program writes the place of a masked quotation."""

GAP = "____"
"""How pages write it."""


SHORT_CLAIM = 40
"""Words up to which a claim without a gap is a short one: a sentence or two (docs/evaluation.md)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the scholar asks with: the prose around a masked quotation; a bare prompt has only a left side."""

    left: str
    right: str = ""
    masked: bool = False

    @property
    def words(self) -> str:
        """Both sides without the mask: what a lexical retriever reads."""
        return f"{self.left} {self.right}".strip()

    @property
    def short(self) -> bool:
        """Whether it is a few words typed as they come, with no prose around a gap.

        >>> Claim("Pip is ashamed of Joe").short, Claim("Pip says", "and blushes.", masked=True).short
        (True, False)
        """
        return not self.masked and len(self.words.split()) <= SHORT_CLAIM


@dataclass(frozen=True, slots=True)
class Example:
    """A window made into a task: a claim and the gold span, of "sample", "dev", "test" or "training"."""

    id: str
    work_id: str
    claim: Claim
    gold: Span
    kind: str = ""
    split: str = ""
