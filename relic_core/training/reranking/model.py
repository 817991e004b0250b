"""The cross-encoder in training: the loss over each claim's own list of passages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import nn

from relic_core.encoders.joint_reader import JointReader, Rows
from relic_core.training.bases import prepared
from relic_core.training.passes import Passes, in_order
from relic_core.training.starts import begin_as

if TYPE_CHECKING:
    from relic_core.encoders.cards import RerankerCard
    from relic_core.encoders.towers import Tower
    from relic_core.training.reranking.recipe import RerankerRecipe
    from relic_core.training.starts import Start


class RerankerInTraining(nn.Module):
    """A cross-encoder that learns to choose.

    - `start`: an encoder between whose two models it begins, in place of the base.

    Raises BadRequest: `start` was made from another base.
    """

    def __init__(self, recipe: RerankerRecipe, card: RerankerCard, tower: Tower, start: Start | None = None) -> None:
        super().__init__()
        self._passes = Passes(recipe.training)
        model = tower.build()
        if start is not None:
            begin_as(model, start.mean(), start.name)
        self.reader = JointReader(prepared(model, recipe.training), card)
        if recipe.frozen_embeddings and not recipe.lora_rank and card.pooling != "likeness":
            # Two rows, which tell a passage from its claim: most bases were trained on one text at a time. A likeness
            # is of two texts of one kind, and leaves them as they are.
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

        Returns: "loss": scalar; "first": the share of claims whose own quotation scored highest.
        """
        longest = int(claim_lengths.max())
        read = self._passes.once_or_twice(self.reader.read_claims, claims[:, :longest], claim_lengths)
        found, order = [], []
        # Of all claims together: those of one claim have many lengths, and a pass costs as much as its longest row.
        for some, longest in self._passes.of(passage_lengths):
            rows = Rows(passages[some, :longest], passage_lengths[some], owners[some], starts[some], ends[some])
            found.append(self._passes.once_or_twice(partial(self.reader.scores, read, rows)))
            order.append(some)
        scored = in_order(found, order)
        scores = scored.new_full(allowed.shape, float("-inf")).masked_scatter(allowed, scored)
        loss = nn.functional.cross_entropy(scores, gold)
        first = (scores.argmax(dim=1) == gold).float().mean()
        return {"loss": loss, "first": first.detach()}
