"""From planned batches to tensors: claims and passages as token ids, which states are pooled, and what counts."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch

from relic_core.encoders.towers import flat_span
from relic_core.training.contexts import draw_claim
from relic_core.training.likeness import alike
from relic_core.training.works import CutWorks, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from relic_core.domain import Claim, MinedWindow, Pair, Span, Work
    from relic_core.encoders.late_chunking import LateChunkingEncoder
    from relic_core.training.batching import Planned
    from relic_core.training.recipes import Recipe

T = TypeVar("T")

Features = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class HardNegatives:
    """Passages that are ranked high for a claim and are not its quotation.

    - `pairs`: id of a pair -> other quotations.
    - `windows`: id of a window -> other spans of its work.
    """

    pairs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    windows: Mapping[str, Sequence[Span]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Material:
    """What is learnt from."""

    pairs: Sequence[Pair]
    windows: Sequence[MinedWindow]
    work: Callable[[str], Work]
    hard: HardNegatives = field(default_factory=HardNegatives)


class Collator:
    """Makes the tensors of a planned batch.

    - `recipe`: how much is read of claims and passages, and the seed.
    - `encoder`: tokenizes and cuts, as it does when it is used.
    """

    def __init__(self, recipe: Recipe, encoder: LateChunkingEncoder, material: Material) -> None:
        self._recipe = recipe
        self._pair = encoder.pair
        self._material = material
        self._works = CutWorks(encoder, material.work)

    def __call__(self, planned: Sequence[Planned]) -> Features:
        """Make one batch; the loader takes one planned batch at a time.

        Returns: "claims", "passages" : int64, shape (n_rows, n_tokens), padded with 0; their "claim_lengths" and
        "passage_lengths"; "segments" : int64, shape (n_passages, n_tokens), the segment whose sum a state goes into, or
        -1; "starts", "lengths" : int64, shape (n_spans,), the segments of each span; "gold" : int64, shape (n_claims,),
        the span of each claim's quotation; "allowed" : bool, shape (n_claims, n_spans), the spans that count in its
        softmax.
        """
        (batch,) = planned
        if batch.kind == "pairs":
            return self._of_pairs(batch)
        return self._in_context(batch) if self._recipe.in_context else self._alone(batch)

    def _of_pairs(self, batch: Planned) -> Features:
        pairs = [self._material.pairs[member] for member in batch.members]
        claims = [self._claim(pair, batch) for pair in pairs]
        texts = [pair.quotation for pair in pairs]
        for pair in pairs:
            texts += self._drawn(self._material.hard.pairs.get(pair.id, ()), pair.id, batch)
        return self._passages(claims, texts)

    def _alone(self, batch: Planned) -> Features:
        """Read the spans of windows by themselves, as quotations of pairs are."""
        windows = [self._material.windows[member] for member in batch.members]
        work = self._material.work(windows[0].work_id)
        spans = [window.gold for window in windows]
        for window in windows:
            spans += self._drawn(self._material.hard.windows.get(window.id, ()), window.id, batch)
        return self._passages([self._claim(window, batch) for window in windows], [flat_span(work, s) for s in spans])

    def _passages(self, claims: Sequence[Claim], texts: Sequence[str]) -> Features:
        """Put together claims and quotations read by themselves, of which the first are the claims' own."""
        unique = list(dict.fromkeys(texts))
        rows = [self._pair.passage_ids(text, self._recipe.passage_tokens) for text in unique]
        prefix = len(self._pair.passages.tokens("", self._pair.card.passage_prefix).prefix)
        gold = np.array([unique.index(text) for text in texts[: len(claims)]])
        likeness = alike(unique)
        allowed = ~likeness[gold]
        allowed[np.arange(len(claims)), gold] = True
        opening, closing = len(self._pair.passages.opening), len(self._pair.passages.closing)
        whole = not self._recipe.in_context
        segments = []
        for number, row in enumerate(rows):
            owners = np.full(opening + len(row) + closing, -1)
            if whole:
                owners[0] = number
            else:
                # As a span of a work: its own tokens and no other, unless it has none.
                own = slice(opening + prefix, opening + len(row)) if len(row) > prefix else slice(None)
                owners[own] = number
            segments.append(owners)
        counts = np.ones(len(unique), dtype=np.int64)
        return self._features(claims, rows, segments, (np.arange(len(unique)), counts), gold, allowed)

    def _in_context(self, batch: Planned) -> Features:
        """Read the stretches of a work in which the windows' spans and their negatives stand."""
        windows = [self._material.windows[member] for member in batch.members]
        cut = self._works.get(windows[0].work_id)
        hard = {
            window.id: self._drawn(self._material.hard.windows.get(window.id, ()), window.id, batch)
            for window in windows
        }
        wanted = [window.gold for window in windows] + [span for spans in hard.values() for span in spans]
        chosen = cut.holding(wanted)
        others = sorted(set(range(len(cut.rows))).difference(chosen))
        drawing = self._drawing("stretches", batch, *batch.members)
        missing = max(0, self._recipe.stretches - len(chosen))
        chosen = sorted([*chosen, *drawing.sample(others, min(missing, len(others)))])
        sentences = cut.complete(chosen)
        number_of = {sentence: number for number, sentence in enumerate(sentences)}
        spans = [span for length in sorted({span.length for span in wanted}) for span in runs(sentences, length)]
        place = {span: number for number, span in enumerate(spans)}
        gold = np.array([place[window.gold] for window in windows])
        starts = np.array([span.start for span in spans])
        lengths = np.array([span.length for span in spans])
        allowed = np.zeros((len(windows), len(spans)), dtype=np.bool_)
        for row, window in enumerate(windows):
            apart = (starts >= window.gold.end) | (starts + lengths <= window.gold.start)
            allowed[row] = (lengths == window.gold.length) & apart
            allowed[row, gold[row]] = True
        opening, closing = len(self._pair.passages.opening), len(self._pair.passages.closing)
        rows, segments = [], []
        for stretch in chosen:
            ids = cut.rows[stretch].tolist()
            first, owners_of = cut.cores[stretch]
            owners = np.full(opening + len(ids) + closing, -1)
            kept = [number_of.get(sentence, -1) for sentence in owners_of.tolist()]
            owners[opening + first : opening + first + len(kept)] = kept
            rows.append(ids)
            segments.append(owners)
        claims = [self._claim(window, batch) for window in windows]
        segment_of = np.array([number_of[start] for start in starts.tolist()])
        return self._features(claims, rows, segments, (segment_of, lengths), gold, allowed)

    def _features(
        self,
        claims: Sequence[Claim],
        rows: Sequence[list[int]],
        segments: Sequence[npt.NDArray[np.int64]],
        spans: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
        gold: npt.NDArray[np.int64],
        allowed: npt.NDArray[np.bool_],
    ) -> Features:
        claim_rows = [self._pair.claim_ids(claim, self._recipe.claim_tokens) for claim in claims]
        tower, passages = self._pair.claims, self._pair.passages
        claim_ids, claim_lengths = padded([[*tower.opening, *row, *tower.closing] for row in claim_rows], 0)
        ids, lengths = padded([[*passages.opening, *row, *passages.closing] for row in rows], 0)
        return {
            "claims": claim_ids,
            "claim_lengths": claim_lengths,
            "passages": ids,
            "passage_lengths": lengths,
            "segments": padded([owners.tolist() for owners in segments], -1)[0],
            "starts": torch.from_numpy(spans[0].astype(np.int64)),
            "lengths": torch.from_numpy(spans[1].astype(np.int64)),
            "gold": torch.from_numpy(gold.astype(np.int64)),
            "allowed": torch.from_numpy(allowed),
        }

    def _claim(self, example: Pair | MinedWindow, batch: Planned) -> Claim:
        chance = f"{self._recipe.seed} {batch.round} {example.id}"
        return draw_claim(example.left, example.right, self._recipe.shapes, chance=chance)

    def _drawn(self, candidates: Sequence[T], name: str, batch: Planned) -> list[T]:
        count = min(self._recipe.hard_negatives, len(candidates))
        return self._drawing("hard", batch, name).sample(list(candidates), count)

    def _drawing(self, what: str, batch: Planned, *names: object) -> random.Random:
        return random.Random(f"{self._recipe.seed} {what} {batch.round} {' '.join(map(str, names))}")  # noqa: S311


def padded(rows: Sequence[Sequence[int]], value: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one tensor of rows of unlike lengths.

    What it returns:
    - `ids`
    - `lengths`

    >>> padded([[5, 6], [7]], -1)
    (tensor([[ 5,  6],
            [ 7, -1]]), tensor([2, 1]))
    """
    lengths = torch.tensor([len(row) for row in rows])
    made = torch.full((len(rows), int(lengths.max())), value, dtype=torch.int64)
    for number, row in enumerate(rows):
        made[number, : len(row)] = torch.tensor(row)
    return made, lengths
