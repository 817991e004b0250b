"""From planned batches to tensors: each claim with its own quotation first and the others it is to be told from."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

import torch

from relic_core.domain import Span
from relic_core.encoders.cross_encoder import Passage
from relic_core.errors import BadRequest
from relic_core.training.batching import LEAST
from relic_core.training.collating import padded
from relic_core.training.contexts import draw_claim
from relic_core.training.likeness import alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relic_core.domain import MinedWindow, Pair
    from relic_core.encoders.cross_encoder import JointTexts
    from relic_core.training.batching import Planned
    from relic_core.training.collating import Features, Material
    from relic_core.training.reranking.recipe import RerankerRecipe

_TRIES = 4
"""Passages drawn for each that is wanted, before a claim has to do with fewer."""


def check_choices(recipe: RerankerRecipe, material: Material) -> None:
    """Refuse examples of which none has another passage beside its quotation: a reranker learns by choosing.

    Raises BadRequest: there is nothing to choose from.
    """
    if len(material.pairs) < LEAST or (material.windows and recipe.share > 0):
        return  # what there is too little of is told where batches are planned
    quotations = {(pair.source_id, pair.quotation) for pair in material.pairs}
    of_sources = {source for source, _ in quotations}
    if len(of_sources) == len(quotations) and not any(material.hard.pairs.get(pair.id) for pair in material.pairs):
        raise BadRequest(
            f"None of the {len(material.pairs)} pairs has another quotation of its source that it could be told from, "
            "and a cross-encoder learns by choosing. Give it several quotations of one source, windows on works, or "
            "hard negatives."
        )


class Lists:
    """Makes the tensors of a planned batch.

    - `recipe`: how many passages a claim has, its shapes, and the seed.
    - `texts`: cuts and tokenizes, as it does when the cross-encoder is used.
    - `material`: the examples and their hard negatives.
    """

    def __init__(self, recipe: RerankerRecipe, texts: JointTexts, material: Material) -> None:
        self._recipe = recipe
        self._texts = texts
        self._material = material
        by_source: dict[str, dict[str, None]] = defaultdict(dict)
        for pair in material.pairs:
            by_source[pair.source_id][pair.quotation] = None
        self._by_source = {source: list(quotations) for source, quotations in by_source.items()}

    def __call__(self, planned: Sequence[Planned]) -> Features:
        """Make one batch; the loader takes one planned batch at a time.

        Returns: "claims" : int64, shape (n_claims, n_tokens), padded with 0; "passages" : int64, shape (n_rows,
        n_tokens); their "claim_lengths" and "passage_lengths"; "owners" : int64, shape (n_rows,), ascending, the claim
        of each passage, whose first passage is its own; "starts", "ends" : int64, shape (n_rows,), the passage's own
        tokens; "gold" : int64, shape (n_claims,), all 0; "allowed" : bool, shape (n_claims, most), which places of a
        claim's list are filled.
        """
        (batch,) = planned
        claims, rows, owners = [], [], []
        for number, (example, passages) in enumerate(self._lists(batch)):
            chance = f"{self._recipe.seed} {batch.round} {example.id}"
            claim = self._texts.claim(draw_claim(example.left, example.right, self._recipe.shapes, chance=chance))
            claims.append(claim)
            rows += [self._texts.passage(passage, claim) for passage in passages]
            owners += [number] * len(passages)
        counts = torch.bincount(torch.tensor(owners), minlength=len(claims))
        claim_ids, claim_lengths = padded(claims, 0)
        ids, lengths = padded([row.ids for row in rows], 0)
        return {
            "claims": claim_ids,
            "claim_lengths": claim_lengths,
            "passages": ids,
            "passage_lengths": lengths,
            "owners": torch.tensor(owners),
            "starts": torch.tensor([row.start for row in rows]),
            "ends": torch.tensor([row.end for row in rows]),
            "gold": torch.zeros(len(claims), dtype=torch.int64),
            "allowed": torch.arange(int(counts.max())) < counts.unsqueeze(1),
        }

    def _lists(self, batch: Planned) -> Iterator[tuple[Pair | MinedWindow, list[Passage]]]:
        for member in batch.members:
            drawing = random.Random(f"{self._recipe.seed} passages {batch.kind} {batch.round} {member}")  # noqa: S311
            if batch.kind == "pairs":
                pair = self._material.pairs[member]
                yield pair, [Passage(text) for text in self._quotations(pair, drawing)]
            else:
                window = self._material.windows[member]
                work = self._material.work(window.work_id)
                spans = self._spans(window, len(work.sentences), drawing)
                yield window, [self._texts.passage_of(work, span) for span in spans]

    def _quotations(self, pair: Pair, drawing: random.Random) -> list[str]:
        """List a pair's quotation and others of its source that do not overlap it."""
        wanted = self._recipe.negatives
        hard = [text for text in self._material.hard.pairs.get(pair.id, ()) if text != pair.quotation]
        chosen = list(dict.fromkeys(drawing.sample(hard, min(wanted, len(hard)))))
        others = self._by_source[pair.source_id]
        drawn = drawing.sample(others, min(len(others), _TRIES * wanted)) if len(chosen) < wanted else []
        drawn = [text for text in dict.fromkeys(drawn) if text not in chosen]
        likeness = alike([pair.quotation, *drawn])[0, 1:]
        chosen += [text for text, near in zip(drawn, likeness, strict=True) if not near]
        return [pair.quotation, *chosen[:wanted]]

    def _spans(self, window: MinedWindow, sentences: int, drawing: random.Random) -> list[Span]:
        """List a window's span and others of its length that do not overlap it."""
        gold, wanted = window.gold, self._recipe.negatives
        hard = [span for span in self._material.hard.windows.get(window.id, ()) if not span.overlaps(gold)]
        chosen = list(dict.fromkeys(drawing.sample(hard, min(wanted, len(hard)))))
        starts = range(max(0, sentences - gold.length + 1))
        drawn = [Span(start, gold.length) for start in drawing.sample(starts, min(len(starts), _TRIES * wanted))]
        chosen += [span for span in drawn if span not in chosen and not span.overlaps(gold)]
        return [gold, *chosen[:wanted]]
