"""What a cross-encoder reads, as token ids: a claim cut around its mask, a passage with or without its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from relic_core.encoders.cards import EncoderCard
from relic_core.encoders.pairs import Pair
from relic_core.encoders.texts import flat, flat_span

if TYPE_CHECKING:
    from relic_core.domain import Claim, Span, Work
    from relic_core.encoders.precision import Precision
    from relic_core.encoders.reranker_cards import RerankerCard
    from relic_core.encoders.towers import Tower

_BETWEEN = 2
"""The most special tokens that stand between two texts: RoBERTa has two, BERT one."""


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage to be read behind a claim.

    - `ids`: token ids, the closing special tokens included.
    - `start`, `end`: which of them are the passage's own: its neighbours and the closing tokens are not, unless it has
      no token.
    """

    ids: list[int]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage and what stands on either side of it, as plain text without line wraps."""

    text: str
    before: str = ""
    after: str = ""


class JointTexts:
    """Makes token ids of claims and passages as a card says.

    - `card`: how they are cut.
    - `model`: where model and tokenizer are: a folder, a hub name, or empty for the packaged model.
    - `precision`: of the model; by default what is best for this machine.

    Raises BadWeights: files are missing or not the expected ones.
    """

    def __init__(self, card: RerankerCard, model: str, *, precision: Precision | None = None) -> None:
        self._card = card
        used = EncoderCard(name=card.name, query_model=model, passage_model=model, window=card.window, mask=card.mask)
        self._pair = Pair(used, precision=precision, longest=card.window + _BETWEEN)

    @property
    def tower(self) -> Tower:
        """The model and its tokenizer."""
        return self._pair.passages

    @cached_property
    def between(self) -> list[int]:
        """The special tokens between two texts."""
        both = self.tower.tokenizer.encode("", "").ids
        return both[len(self.tower.opening) : len(both) - len(self.tower.closing)]

    def claim(self, claim: Claim) -> list[int]:
        """Give a claim's token ids, cut around its mask, the special tokens before and behind it included."""
        return [*self.tower.opening, *self._pair.claim_ids(claim, self._card.claim_tokens), *self.between]

    def passage(self, passage: Passage, claim: list[int]) -> PassageRow:
        """Give a passage's token ids, cut to the room that a claim leaves: neighbours first, then its own end.

        - `claim`: as `claim` gives it.
        """
        room = self._card.window - (len(claim) - len(self.tower.opening) - len(self.between))
        own = self.tower.tokens(passage.text).ids[:room]
        left = room - len(own)
        before, after = self.tower.tokens(passage.before).ids, self.tower.tokens(passage.after).ids
        behind = min(len(after), max(left - len(before), left // 2))
        ahead = min(len(before), left - behind)
        ids = [*before[len(before) - ahead :], *own, *after[:behind], *self.tower.closing]
        return PassageRow(ids, ahead, ahead + len(own)) if own else PassageRow(ids, 0, len(ids))

    def passage_of(self, work: Work, span: Span) -> Passage:
        """Take a span from a work, with the sentences beside it in its chapter where the card asks for them."""
        text = flat_span(work, span)
        if not self._card.context:
            return Passage(text)
        sentences = work.sentences
        before, after = span.start - 1, span.end
        return Passage(
            text,
            before=flat(work, sentences[before])
            if before >= 0 and sentences[before].chapter == sentences[span.start].chapter
            else "",
            after=flat(work, sentences[after])
            if after < len(sentences) and sentences[after].chapter == sentences[span.end - 1].chapter
            else "",
        )
