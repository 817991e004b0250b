"""The dual encoder in training: two models, the vectors they give, and the loss over a batch's quotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from relic_core.encoders.weights import state_of
from relic_core.training.bases import prepared
from relic_core.training.passes import Passes, in_order
from relic_core.training.starts import begin_as

if TYPE_CHECKING:
    from relic_core.encoders.towers import Tower
    from relic_core.training.recipes import Recipe
    from relic_core.training.starts import Start


class DualEncoder(nn.Module):
    """A context encoder and a quotation encoder from one base.

    - `start`: what it goes on from, in place of the base; of one model for both, half way between the two.

    Raises BadRequest: `start` was made from another base.
    """

    def __init__(self, recipe: Recipe, tower: Tower, start: Start | None = None) -> None:
        super().__init__()
        self._recipe = recipe
        self._passes = Passes(recipe)
        claims, passages = tower.build(), None if recipe.shared else tower.build()
        if start is not None:
            begin_as(claims, start.mean() if passages is None else state_of(start.claims), start.name)
            if passages is not None:
                begin_as(passages, state_of(start.passages), start.name)
        self.claims = prepared(claims, recipe)
        self.passages = self.claims if passages is None else prepared(passages, recipe)

    def forward(  # noqa: PLR0913 - a batch, as the collator makes it
        self,
        *,
        claims: torch.Tensor,
        claim_lengths: torch.Tensor,
        passages: torch.Tensor,
        passage_lengths: torch.Tensor,
        segments: torch.Tensor,
        starts: torch.Tensor,
        lengths: torch.Tensor,
        gold: torch.Tensor,
        allowed: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Give the loss of a batch; parameters as `Collator` makes them.

        The loss is that of RELiC, section 3.2: the negative log of the softmax over the quotations of the batch, at
        the claim's own. Quotations that overlap it are none of them (`allowed`).

        Returns: "loss": scalar; "first": the share of claims whose own quotation scored highest.
        """
        scores = self.scores(
            self.claim_vectors(claims, claim_lengths),
            self.span_vectors(passages, passage_lengths, segments, starts, lengths),
        )
        scores = scores.masked_fill(~allowed, float("-inf"))
        loss = nn.functional.cross_entropy(scores, gold)
        first = (scores.argmax(dim=1) == gold).float().mean()
        return {"loss": loss, "first": first.detach()}

    def scores(self, claims: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        """Score claims against spans, in float32; shape (n_claims, n_spans)."""
        with torch.autocast(claims.device.type, enabled=False):
            one, other = claims.float(), spans.float()
            if self._recipe.similarity == "dot":
                return one @ other.T
            normal = nn.functional.normalize
            return normal(one, dim=-1) @ normal(other, dim=-1).T / self._recipe.temperature

    def claim_vectors(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Pool claims as `Tower.vectors` does, special tokens included; shape (n_claims, dimension)."""
        first = self._recipe.pooling == "first"

        def pooled(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
            states, mask = self._states(self.claims, ids, lengths)
            if first:
                return states[:, 0]
            weights = mask.unsqueeze(-1).to(states.dtype)
            return (states * weights).sum(1) / weights.sum(1)

        order, found = [], []
        for rows, longest in self._passes.of(lengths):
            order.append(rows)
            found.append(self._passes.once_or_twice(pooled, ids[rows, :longest], lengths[rows]))
        return in_order(found, order)

    def span_vectors(
        self,
        ids: torch.Tensor,
        row_lengths: torch.Tensor,
        segments: torch.Tensor,
        starts: torch.Tensor,
        lengths: torch.Tensor,
    ) -> torch.Tensor:
        """Pool spans, each the mean of the states of its segments' tokens; shape (n_spans, dimension)."""
        count = int(segments.max()) + 1

        def pooled(ids: torch.Tensor, row_lengths: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
            states, _ = self._states(self.passages, ids, row_lengths)
            kept = owners >= 0
            sums = states.new_zeros((count, states.shape[-1]))
            return sums.index_add(0, owners[kept], states[kept])

        parts = [
            self._passes.once_or_twice(pooled, ids[rows, :longest], row_lengths[rows], segments[rows, :longest])
            for rows, longest in self._passes.of(row_lengths)
        ]
        sums = torch.stack(parts).sum(0)
        kept = segments[segments >= 0]
        tokens = torch.bincount(kept, minlength=count).to(sums.dtype).unsqueeze(-1)
        shifts = torch.arange(int(lengths.max()), device=starts.device)
        within = shifts < lengths.unsqueeze(1)
        which = (starts.unsqueeze(1) + shifts).clamp(max=count - 1)
        weights = within.unsqueeze(-1).to(sums.dtype)
        return (sums[which] * weights).sum(1) / (tokens[which] * weights).sum(1)

    def _states(self, model: Any, ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: ANN401
        mask = torch.arange(ids.shape[1], device=ids.device) < lengths.unsqueeze(1)
        padding = model.config.pad_token_id or 0
        output = model(input_ids=ids.masked_fill(~mask, padding), attention_mask=mask.long())
        return output.last_hidden_state.float(), mask
