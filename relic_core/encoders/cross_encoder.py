"""The cross-encoder: scores a claim and a passage read together, for some dozens of candidates.

About 100 candidates take two or three seconds where the claim is read first (docs/reranking.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, Span, Work
from relic_core.encoders.batching import scored
from relic_core.encoders.cards import EncoderCard, RerankerCard, read_reranker
from relic_core.encoders.cutting import kept
from relic_core.encoders.generator import GeneratorReranker
from relic_core.encoders.precision import Arithmetic, Precision, best_arithmetic
from relic_core.encoders.pretrained_rerankers import MonoT5Reranker, OneLogitReranker, RankLlamaReranker, YesNoReranker
from relic_core.encoders.towers import Tower, TowerPair, flat, flat_span
from relic_core.errors import BadWeights
from relic_core.ports import Progress, Reranker
from relic_core.text.masking import claim_tokens

if TYPE_CHECKING:
    from relic_core.encoders.joint_reader import JointReader, ReadClaims

Scores = npt.NDArray[np.float32]

_BETWEEN = 2
"""The most special tokens that stand between two texts: RoBERTa has two, BERT one."""


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage to be read behind a claim, with the closing special tokens; `start` to `end` are its own tokens."""

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
    """Makes token ids of claims and passages as a card says."""

    def __init__(self, card: RerankerCard, model: str, *, precision: Precision | None = None) -> None:
        self._card = card
        used = EncoderCard(name=card.name, query_model=model, passage_model=model, window=card.window, mask=card.mask)
        self._pair = TowerPair(used, precision=precision, longest=card.window + _BETWEEN)

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
        """Give a passage's token ids, cut to the room that a claim leaves: neighbours first, then its own end."""
        room = self._card.window - (len(claim) - len(self.tower.opening) - len(self.between))
        own = self.tower.tokens(passage.text).ids[:room]
        before, after = self.tower.tokens(passage.before).ids, self.tower.tokens(passage.after).ids
        ahead, behind = kept(before, after, room - len(own))
        ids = [*before[ahead], *own, *after[behind], *self.tower.closing]
        start = len(before[ahead])
        return PassageRow(ids, start, start + len(own)) if own else PassageRow(ids, 0, len(ids))

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


class CrossEncoder:
    """Scores passages for a claim; the model is loaded when first used."""

    def __init__(self, folder: str | Path, *, precision: Precision | None = None) -> None:
        self.card, self._files = read_reranker(folder)
        self._arithmetic = Arithmetic(precision) if precision else best_arithmetic()
        self._texts = JointTexts(self.card, str(folder), precision=precision)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """As its card calls it."""
        return self.card.name

    @property
    def configuration(self) -> Mapping[str, str]:
        """Name, digest of the files, number format, and how its card says that it is used."""
        facts = {name: value for name, value in self.card.facts.items() if value}
        return {"reranker": self.name, "weights": self._files.digest, "precision": str(self._arithmetic), **facts}

    def rerank(self, claim: Claim, work: Work, spans: Sequence[Span], progress: Progress) -> Scores:
        """Score some spans of a work: see `Reranker.rerank`."""
        import torch

        claim_tokens(claim)
        if not spans:
            return np.zeros(0, dtype=np.float32)
        read = self._texts.claim(claim)
        rows = [self._texts.passage(self._texts.passage_of(work, span), read) for span in spans]
        before = len(read) if self.card.reading == "together" else 0
        device = self._arithmetic.device
        with torch.inference_mode():
            ids = torch.tensor([read], device=device)
            claims = self._reader.read_claims(ids, torch.tensor([len(read)], device=device))
            return scored(
                [before + len(row.ids) for row in rows],
                lambda members: self._pass(claims, [rows[member] for member in members]),
                arithmetic=self._arithmetic,
                name=self.name,
                progress=progress,
            )

    def _pass(self, claims: ReadClaims, some: Sequence[PassageRow]) -> Scores:
        import torch

        from relic_core.encoders.joint_reader import Rows

        padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(row.ids) for row in some], batch_first=True)
        numbers = torch.tensor([[len(row.ids), 0, row.start, row.end] for row in some]).T
        rows = Rows(*(each.to(self._arithmetic.device) for each in (padded, *numbers)))
        found: Scores = self._reader.scores(claims, rows).cpu().numpy()
        return found

    @property
    def _reader(self) -> JointReader:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> JointReader:
        import torch

        from relic_core.encoders.joint_reader import GATES, HEAD, JointReader
        from relic_core.encoders.weights import state_of

        model = self._texts.tower.build()
        reader = JointReader(model, self.card).to(model.device).eval()
        stored, named = state_of(self._files), dict(reader.named_parameters())
        for name in (HEAD, GATES) if self.card.pooling == "likeness" else (HEAD,):
            found, wanted = stored.get(name), named[name]
            if found is None or found.shape != wanted.shape:
                size = "there is none" if found is None else f"it has {found.numel()} numbers for {wanted.numel()}"
                raise BadWeights(
                    f"{self._files.weights} holds no '{name}' that fits its model ({size}), so it is not a reranker's. "
                    "Train one from it (docs/reranking.md)."
                )
            with torch.no_grad():
                wanted.copy_(found)
        return reader


def open_reranker(named: str) -> Reranker:
    """Find a reranker and check its files; its model is loaded when first used.

    - `named`: the folder of a cross-encoder as training makes it; or one from elsewhere (`FROM_ELSEWHERE`):
      "likelihood:facebook/bart-base", "cross:models/minilm".
    """
    way, _, model = named.partition(":")
    if way in FROM_ELSEWHERE:
        return FROM_ELSEWHERE[way](model.strip())
    return CrossEncoder(named)


FROM_ELSEWHERE: Mapping[str, Callable[[str], Reranker]] = {
    "likelihood": GeneratorReranker,
    "cross": OneLogitReranker,
    "rankllama": RankLlamaReranker,
    "t5": MonoT5Reranker,
    "causal": YesNoReranker,
}
"""What stands before the folder or hub name of a model that was not trained here."""
