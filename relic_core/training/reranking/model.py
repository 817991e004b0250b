"""The cross-encoder in training: the loss over each claim's own list of passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from relic_core.encoders.batching import TOKENS
from relic_core.encoders.joint_reading import JointReader, Rows
from relic_core.training.bases import prepared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relic_core.encoders.reranker_cards import RerankerCard
    from relic_core.encoders.towers import Tower
    from relic_core.training.reranking.recipe import RerankerRecipe


class RerankerInTraining(nn.Module):
    """A cross-encoder that learns to choose.

    Parameters
    ----------
    recipe : RerankerRecipe
        What is learnt.
    card : RerankerCard
        How it reads.
    tower : Tower
        Builds the base.
    """

    def __init__(self, recipe: RerankerRecipe, card: RerankerCard, tower: Tower) -> None:
        super().__init__()
        self._recipe = recipe
        self._tokens = recipe.chunk_tokens or TOKENS["cuda" if torch.cuda.is_available() else "cpu"]
        self.reader = JointReader(prepared(tower.build(), recipe.training), card)
        if recipe.frozen_embeddings and not recipe.lora_rank:
            # Two rows, which tell a passage from its claim: most bases were trained on one text at a time.
            self.reader.model.embeddings.token_type_embeddings.weight.requires_grad_(requires_grad=True)

    def forward(  # noqa: PLR0913 - a batch, as `Lists` makes it
        self,
        *,
        claims: torch.Tensor,
        claim_lengths: torch.Tensor,
        passages: torch.Tensor,
        passage_lengths: torch.Tensor,
        owners: torch.Tensor,
        starts: torch.Tensor,
        ends: torch.Tensor,
        gold: torch.Tensor,
        allowed: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Give the loss of a batch; parameters as `Lists` makes them.

        Listwise cross entropy: the negative log of the softmax over a claim's own passages, at its quotation.

        Returns
        -------
        dict
            "loss": scalar; "first": the share of claims whose own quotation scored highest.
        """
        rows = Rows(passages, passage_lengths, owners, starts, ends)
        found = torch.cat(
            [
                self._once_or_twice(claims[some, :longest], claim_lengths[some], part)
                for some, longest, part in self._chunks(claim_lengths, rows)
            ]
        )
        scores = found.new_full(allowed.shape, float("-inf")).masked_scatter(allowed, found)
        loss = nn.functional.cross_entropy(scores, gold)
        first = (scores.argmax(dim=1) == gold).float().mean()
        return {"loss": loss, "first": first.detach()}

    def _chunks(self, claim_lengths: torch.Tensor, rows: Rows) -> Iterator[tuple[slice, int, Rows]]:
        """Part a batch into forward passes of some claims with all their passages, in their order."""
        counts = torch.bincount(rows.owners, minlength=len(claim_lengths)).tolist()
        tokens = torch.zeros_like(claim_lengths).index_add(0, rows.owners, rows.lengths) + claim_lengths
        first = row = 0
        while first < len(counts):
            end, total = first + 1, int(tokens[first])
            while end < len(counts) and total + int(tokens[end]) <= self._tokens:
                total += int(tokens[end])
                end += 1
            here = slice(row, row + sum(counts[first:end]))
            longest = int(rows.lengths[here].max())
            yield (
                slice(first, end),
                int(claim_lengths[first:end].max()),
                Rows(
                    rows.ids[here, :longest],
                    rows.lengths[here],
                    rows.owners[here] - first,
                    rows.starts[here],
                    rows.ends[here],
                ),
            )
            first, row = end, here.stop

    def _once_or_twice(self, claims: torch.Tensor, lengths: torch.Tensor, rows: Rows) -> torch.Tensor:
        """Score a chunk; where memory is short its states are not kept but made again for the gradient."""

        def scores(claims: torch.Tensor, lengths: torch.Tensor, rows: Rows) -> torch.Tensor:
            return self.reader.scores(self.reader.read_claims(claims, lengths), rows)

        if self._recipe.cached and torch.is_grad_enabled():
            found: torch.Tensor = checkpoint(scores, claims, lengths, rows, use_reentrant=False)
            return found
        return scores(claims, lengths, rows)
