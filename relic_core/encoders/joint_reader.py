"""The cross-encoder's network: a passage read together with a claim, and one number out of it.

A claim is long and has a hundred candidates. Read together with each, as in BERT rerankers (Nogueira and Cho 2019,
"Passage Re-ranking with BERT"), its tokens go through the model a hundred times. Read first, they go through it once:
keys and values of each layer are kept, as a language model keeps those of its prompt, and the passage's tokens see them
beside their own. Nothing is approximated: a model is trained the way it will be read.

Imported where something is computed, because it imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from relic_core.encoders.cards import RerankerCard
from relic_core.errors import BadWeights

HEAD = "head.weight"
"""Name of the head's row of weights in the file."""
GATES = "gates"
"""Name of what opens the passage's layers to the claim, where the score is a likeness; read together, both to both."""

_SHUT = -6.0
"""What is added to the attention that a passage pays to its claim before any training: next to none is paid."""
_SHUT_TOGETHER = -2.0
"""The same where claim and passage are read together: enough is paid for training to find out what it is good for."""
_STEP = 50.0
"""By how much a gate goes further than its parameter: at the rates at which models are trained it would hardly move."""
_SCALE = 20.0
"""What a cosine is multiplied by at first: one over the temperature that encoders are trained at."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Passages behind their claims, as tensors; `starts` and `ends` say which tokens are the passage's own."""

    ids: torch.Tensor
    lengths: torch.Tensor
    owners: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor


@dataclass(frozen=True, slots=True)
class ReadClaims:
    """Claims that passages can be read behind.

    - `layers`: keys and values of each layer, shape (n_claims, n_heads, n_tokens, head_dimension); none where claims
      are read together with each passage.
    - `means`: of the states of each claim's tokens; empty where claims are read together with each passage.
    """

    ids: torch.Tensor
    lengths: torch.Tensor
    layers: list[tuple[torch.Tensor, torch.Tensor]]
    means: torch.Tensor


class _Keeping:
    """Takes the place of a cache: keeps the keys and values of what is read."""

    def __init__(self) -> None:
        self.layers: list[tuple[torch.Tensor, torch.Tensor]] = []

    def update(self, keys: torch.Tensor, values: torch.Tensor, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: ANN401
        self.layers.append((keys, values))
        return keys, values


class _Before:
    """Takes the place of a cache: puts the keys and values of each row's claim before its own."""

    def __init__(self, claims: ReadClaims, owners: torch.Tensor) -> None:
        self._claims = claims
        self._owners = owners

    def update(
        self,
        keys: torch.Tensor,
        values: torch.Tensor,
        layer: int,
        *_: Any,  # noqa: ANN401
    ) -> tuple[torch.Tensor, torch.Tensor]:
        before, values_before = self._claims.layers[layer]
        return torch.cat([before[self._owners], keys], 2), torch.cat([values_before[self._owners], values], 2)


class JointReader(nn.Module):
    """A model with a head of one number."""

    def __init__(self, model: Any, card: RerankerCard) -> None:  # noqa: ANN401 - transformers is not typed
        super().__init__()
        layers = getattr(getattr(model, "encoder", None), "layer", None)
        places = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
        if layers is None or places is None or not hasattr(model.embeddings, "token_type_embeddings"):
            raise BadWeights(
                f"A reranker cannot be made of a model of type {model.config.model_type}: BERT and RoBERTa models are "
                "read (all-MiniLM-L6-v2 and E5 are BERT models). Take one of those as its base."
            )
        self.model = model
        self._similarity = card.pooling == "likeness"
        # Without a bias: what is added to all scores orders nothing.
        self.head = nn.Linear(1 if self._similarity else model.config.hidden_size, 1, bias=False)
        if self._similarity:
            nn.init.constant_(self.head.weight, _SCALE)
            self.gates = nn.Parameter(torch.zeros(len(layers), model.config.num_attention_heads))
        self._first = card.pooling == "first"
        self._together = card.reading == "together"
        self._shut = _SHUT_TOGETHER if self._together else _SHUT
        self._place = 0 if places.padding_idx is None else places.padding_idx + 1  # RoBERTa counts from there

    def read_claims(self, ids: torch.Tensor, lengths: torch.Tensor) -> ReadClaims:
        """Read claims, as far as that is done once."""
        kept, means = _Keeping(), torch.zeros(0, device=ids.device)
        if not self._together:
            places = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
            own = places < lengths.unsqueeze(1)
            states = self._states(ids, places, torch.zeros_like(ids), own, kept)
            with torch.autocast(states.device.type, enabled=False):
                means = _means(states, own)
        return ReadClaims(ids, lengths, kept.layers, means)

    def scores(self, claims: ReadClaims, rows: Rows) -> torch.Tensor:
        """Score passages behind their claims; float32, shape (n_rows,)."""
        if self._together:
            return self._scores_together(claims, rows)
        own = torch.arange(rows.ids.shape[1], device=rows.ids.device).expand_as(rows.ids)
        length = claims.lengths[rows.owners].unsqueeze(1)
        before = torch.arange(claims.ids.shape[1], device=rows.ids.device).expand(len(rows.ids), -1)
        seen = torch.cat([before < length, own < rows.lengths.unsqueeze(1)], 1)
        # A likeness is of two texts that each begin at the beginning, much as a dual encoder reads them; that has an
        # opening token at 0 besides, which a passage behind a claim has not.
        kinds = torch.zeros_like(rows.ids) if self._similarity else torch.ones_like(rows.ids)
        places = own if self._similarity else length + own
        across = (torch.arange(seen.shape[1], device=seen.device) < before.shape[1])[None, None]
        states = self._states(rows.ids, places, kinds, seen, _Before(claims, rows.owners), across)
        with torch.autocast(states.device.type, enabled=False):
            passages = _means(states, (own >= rows.starts.unsqueeze(1)) & (own < rows.ends.unsqueeze(1)))
            return self._scored(claims.means[rows.owners] if self._similarity else passages, passages)

    def _scores_together(self, claims: ReadClaims, rows: Rows) -> torch.Tensor:
        """Score passages that each follow their claim without padding between, so that short claims cost little."""
        length = claims.lengths[rows.owners].unsqueeze(1)
        whole = length + rows.lengths.unsqueeze(1)
        places = torch.arange(int(whole.max()), device=rows.ids.device).expand(len(rows.ids), -1)
        of_claim, own = places < length, places - length
        ids = torch.where(
            of_claim,
            claims.ids[rows.owners].gather(1, places.clamp(max=claims.ids.shape[1] - 1)),
            rows.ids.gather(1, own.clamp(0, rows.ids.shape[1] - 1)),
        )
        # As dual encoders read them, where a likeness is taken: see `scores`.
        kinds = torch.zeros_like(ids) if self._similarity else (~of_claim).long()
        begun = torch.where(of_claim, places, own) if self._similarity else places
        across = of_claim.unsqueeze(1) != of_claim.unsqueeze(2)
        states = self._states(ids, begun, kinds, places < whole, None, across)
        with torch.autocast(states.device.type, enabled=False):
            if self._first:
                return self._scored(states[:, 0].float(), states[:, 0].float())
            passages = _means(states, (own >= rows.starts.unsqueeze(1)) & (own < rows.ends.unsqueeze(1)))
            return self._scored(_means(states, of_claim) if self._similarity else passages, passages)

    def _scored(self, claims: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
        """Give the head's number of what was pooled of passages, or of the cosine of that with what was of claims."""
        if self._similarity:
            passages = nn.functional.cosine_similarity(claims, passages, dim=-1).unsqueeze(-1)
        return nn.functional.linear(passages, self.head.weight.float()).squeeze(-1)

    def _states(
        self,
        ids: torch.Tensor,
        places: torch.Tensor,
        kinds: torch.Tensor,
        seen: torch.Tensor,
        cache: _Keeping | _Before | None,
        across: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Run tokens through all layers; shape (n_rows, n_tokens, dimension).

        - `across`: which tokens see a token of the other text; where the score is a likeness, gates decide how much.
        """
        own = seen[:, seen.shape[1] - ids.shape[1] :]
        model = self.model
        segments = kinds if model.config.type_vocab_size > 1 else torch.zeros_like(kinds)
        states = model.embeddings(
            input_ids=ids.masked_fill(~own, model.config.pad_token_id or 0),
            token_type_ids=segments,
            position_ids=(places + self._place).masked_fill(~own, self._place),
        )
        mask = torch.zeros(seen.shape, dtype=states.dtype, device=states.device)
        mask = mask.masked_fill(~seen, torch.finfo(states.dtype).min)[:, None, None, :]
        for number, layer in enumerate(model.encoder.layer):
            gated = mask
            if self._similarity and across is not None:
                gate = (self._shut + _STEP * self.gates[number]).to(mask.dtype)[None, :, None, None]
                gated = mask + gate * across.unsqueeze(1)
            states = layer(states, gated, past_key_values=cache)
        return states  # type: ignore[no-any-return, unused-ignore]  # untyped


def _means(states: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """Give the means of some tokens' states, in float32; shape (n_rows, dimension)."""
    weights = kept.unsqueeze(-1).float()
    return (states.float() * weights).sum(1) / weights.sum(1)
