"""Attribution: a passage whose source is sought, and the stretches of works that may be its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from relic_core.domain.runs import Offsets
from relic_core.domain.searches import EVERYWHERE, WorkFilter
from relic_core.errors import BadRequest, unknown_name

By = Literal["words", "masked", "meaning", "fusion"]
"""What stretches are ranked by: the words of the span and around it; what stands around it alone; the vectors of
dense-RELiC; words and meaning."""

Reranking = Literal["", "cosine", "likelihood"]
"""What orders the first stretches anew: nothing, the cosine of an encoder, or how likely a language model calls the
span."""

MOST_WORDS = 20_000
"""Words of a passage that are read: those of a long essay."""

NEAR = 1_000
"""Characters on either side of a span that are read with it: with the span about 300 tokens, as in the paper."""


@dataclass(frozen=True, slots=True)
class Target:
    """A passage, and the span of it that is to be attributed (the target text of Muther and Smith 2023).

    Raises BadRequest: the span is empty, holds no word, or lies outside the passage; the passage is too long.
    """

    text: str
    start: int
    end: int

    def __post_init__(self) -> None:
        words = len(self.text.split())
        if words > MOST_WORDS:
            raise BadRequest(
                f"The passage has {words:,} words; up to {MOST_WORDS:,} are read. Keep the paragraph around the words "
                "that you want to trace."
            )
        if not 0 <= self.start <= self.end <= len(self.text):
            raise BadRequest(
                f"The span {self.start}:{self.end} lies outside the passage, which has {len(self.text):,} characters. "
                "Give two numbers from 0 to that, the first of them the smaller."
            )
        if not any(character.isalnum() for character in self.span):
            raise BadRequest(
                "The span holds no word. Mark the words whose source you want to find; where a gap stands for a "
                "quotation, Find looks for it."
            )

    @property
    def left(self) -> str:
        """What stands before the span."""
        return self.text[: self.start]

    @property
    def span(self) -> str:
        """The words to be attributed."""
        return self.text[self.start : self.end]

    @property
    def right(self) -> str:
        """What stands behind the span."""
        return self.text[self.end :]

    def near(self, within: int = NEAR) -> Target:
        """Leave out what stands further than so many characters from the span."""
        first = max(0, self.start - within)
        return Target(self.text[first : self.end + within], self.start - first, self.end - first)

    @classmethod
    def between(cls, left: str, span: str, right: str) -> Target:
        """Put a span between what stands around it.

        >>> Target.between("He wrote:", "It rained.", "").start
        10
        """
        before = f"{left} " if left else ""
        return cls(f"{before}{span} {right}".rstrip(), len(before), len(before) + len(span))


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionRequest:
    """What is asked of a passage.

    - `span`: where the words stand whose source is sought; without it sentences and marked quotations are tried.
    - `alone`: what orders the first stretches anew does so by itself, as in the paper.
    - `explain`: give the gain per word.
    """

    text: str
    span: Offsets | None = None
    works: WorkFilter = EVERYWHERE
    by: By = "words"
    reranking: Reranking = ""
    alone: bool = False
    explain: bool = False

    def __post_init__(self) -> None:
        if self.by not in get_args(By):
            raise unknown_name("way of ranking", self.by, get_args(By))
        if self.reranking not in get_args(Reranking):
            raise unknown_name("way of reranking", self.reranking, [each for each in get_args(Reranking) if each])
