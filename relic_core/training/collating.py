"""From planned batches to tensors: what a claim takes of its context, and which passages it must be set apart from."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch

from relic_core.domain import Claim, ContextSize, MinedWindow, Pair, Span, Work
from relic_core.encoders.cross_encoder import JointTexts, Passage, PassageRow
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import flat_span
from relic_core.errors import BadRequest
from relic_core.training.batching import LEAST, Planned
from relic_core.training.recipes import BARE, EncoderRecipe, Recipe, RerankerRecipe


def draw_claim(left: Sequence[str], right: Sequence[str], shapes: Sequence[tuple[str, float]], *, chance: str) -> Claim:
    """Draw a shape and take its sentences as a claim.

    - `shapes`: "4/4", "1/0" or "bare" with weights. A shape that takes no sentence here gives way to all there are.

    >>> draw_claim(["He came.", "She said:"], ["So it was."], [("1/1", 1.0)], chance="")
    Claim(left='She said:', right='So it was.', masked=True)
    >>> draw_claim(["She said:"], [], [("bare", 1.0)], chance="")
    Claim(left='She said:', right='', masked=False)
    """
    drawing = random.Random(chance)  # noqa: S311 - no secret
    (name,) = drawing.choices([name for name, _ in shapes], [weight for _, weight in shapes])
    if name == BARE:
        sentences = [*left[-1:], *right[:1]]
        sentence = sentences[0] if len(sentences) == 1 else drawing.choice(sentences or [""])
        return Claim(left=sentence)
    before, after = ContextSize.parse(name).around(left, right)
    if not any(map(str.strip, (*before, *after))):
        before, after = left, right
    return Claim(left=" ".join(before), right=" ".join(after), masked=True)


def _claim(recipe: Recipe, example: Pair | MinedWindow, batch: Planned) -> Claim:
    return draw_claim(example.left, example.right, recipe.shapes, chance=f"{recipe.seed} {batch.round} {example.id}")


RUN = 8
"""Words in a row that make two quotations overlap."""

_WORD = re.compile(r"[^\W_]+")


def alike(texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Say which texts overlap: they share `RUN` words in a row, or the words of one stand within the other's.

    Case and punctuation do not count. A text without words is like every other: it can be distinguished from none.

    >>> alike(["She came in.", "When she came in, it rained.", "It rained"]).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    words = [_WORD.findall(text.casefold()) for text in texts]
    found = np.eye(len(texts), dtype=np.bool_)
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, each in enumerate(words):
        for run in {tuple(each[at : at + RUN]) for at in range(len(each) - RUN + 1)}:
            holders[run].append(number)
    for members in holders.values():
        if len(members) > 1:
            found[np.ix_(members, members)] = True
    spelt = [f" {' '.join(each)} " for each in words]
    for number, each in enumerate(words):
        if len(each) < RUN:  # a longer one that stands within another shares a run with it
            within = [other for other, text in enumerate(spelt) if not each or spelt[number] in text]
            found[number, within] = found[within, number] = True
    return found


@dataclass(frozen=True, slots=True)
class CutWork:
    """A work cut into stretches.

    - `rows`: token ids of each stretch, special tokens left out.
    - `cores`: of each, where the tokens begin whose states are kept, and the sentence each of them belongs to.
    """

    rows: list[npt.NDArray[np.int32]]
    cores: list[tuple[int, npt.NDArray[np.int32]]]
    counts: npt.NDArray[np.int32]

    def holding(self, spans: Iterable[Span]) -> list[int]:
        """List the stretches whose kept tokens are those of some spans, in their order."""
        firsts = np.array([owners[0] for _, owners in self.cores])
        lasts = np.array([owners[-1] for _, owners in self.cores])
        found: set[int] = set()
        for span in spans:
            found.update(np.flatnonzero((firsts < span.end) & (lasts >= span.start)).tolist())
        return sorted(found)

    def complete(self, chosen: Sequence[int]) -> list[int]:
        """List the sentences all of whose tokens are kept of some stretches, ascending."""
        if not chosen:
            return []
        owners, kept = np.unique(np.concatenate([self.cores[row][1] for row in chosen]), return_counts=True)
        return [int(owner) for owner, count in zip(owners, kept, strict=True) if count == self.counts[owner]]


def cut_work(encoder: LateChunkingEncoder, work: Work) -> CutWork:
    """Cut a work as the encoder reads it."""
    rows, cores, counts = encoder.cut(work)
    return CutWork(
        [np.array(row, dtype=np.int32) for row in rows],
        [(first, owners.astype(np.int32)) for first, owners in cores],
        counts,
    )


def runs(sentences: Sequence[int], length: int) -> list[Span]:
    """List the spans of a length all of whose sentences are among some, ascending.

    >>> runs([3, 4, 5, 9], 2)
    [Span(start=3, length=2), Span(start=4, length=2)]
    """
    breaks = [0, *(at for at, (one, two) in enumerate(pairwise(sentences), 1) if two != one + 1), len(sentences)]
    found: list[Span] = []
    for first, last in pairwise(breaks):
        found.extend(Span(sentences[at], length) for at in range(first, last - length + 1))
    return found


T = TypeVar("T")

Features = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class HardNegatives:
    """Passages that are ranked high for a claim and are not its quotation, by ids of pairs and of windows."""

    pairs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    windows: Mapping[str, Sequence[Span]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Material:
    """The examples to train on; for attribution, `sources` are the texts for each window, by its id.

    - `learnt`: what of RELiC's own data is among it: see `EncoderCard`.
    """

    pairs: Sequence[Pair]
    windows: Sequence[MinedWindow]
    work: Callable[[str], Work]
    hard: HardNegatives = field(default_factory=HardNegatives)
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    learnt: str = ""


class Collator:
    """Makes the tensors of a planned batch."""

    def __init__(self, recipe: EncoderRecipe, encoder: LateChunkingEncoder, material: Material) -> None:
        self._recipe = recipe
        self._pair = encoder.pair
        self._material = material
        self._cut = cache(lambda work_id: cut_work(encoder, material.work(work_id)))

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
        claims = [_claim(self._recipe, pair, batch) for pair in pairs]
        texts = [pair.quotation for pair in pairs]
        for pair in pairs:
            texts += self._drawn(self._material.hard.pairs.get(pair.id, ()), pair.id, batch)
        return self._passages(claims, texts)

    def _alone(self, batch: Planned) -> Features:
        windows = [self._material.windows[member] for member in batch.members]
        work = self._material.work(windows[0].work_id)
        spans = [window.gold for window in windows]
        for window in windows:
            spans += self._drawn(self._material.hard.windows.get(window.id, ()), window.id, batch)
        claims = [_claim(self._recipe, window, batch) for window in windows]
        return self._passages(claims, [flat_span(work, span) for span in spans])

    def _passages(self, claims: Sequence[Claim], texts: Sequence[str]) -> Features:
        summed = self._recipe.loss == "sum"
        unique = list(texts) if summed else list(dict.fromkeys(texts))
        rows = [self._pair.passage_ids(text, self._recipe.passage_tokens) for text in unique]
        prefix = len(self._pair.passages.tokens("", self._pair.card.passage_prefix).prefix)
        gold = np.arange(len(claims)) if summed else np.array([unique.index(text) for text in texts[: len(claims)]])
        allowed = np.ones((len(claims), len(unique)), dtype=np.bool_) if summed else ~alike(unique)[gold]
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
        windows = [self._material.windows[member] for member in batch.members]
        cut = self._cut(windows[0].work_id)
        hard = {
            window.id: self._drawn(self._material.hard.windows.get(window.id, ()), window.id, batch)
            for window in windows
        }
        wanted = [*(window.gold for window in windows), *chain.from_iterable(hard.values())]
        chosen = cut.holding(wanted)
        others = sorted(set(range(len(cut.rows))).difference(chosen))
        drawing = self._drawing("stretches", batch, *batch.members)
        missing = max(0, self._recipe.stretches - len(chosen))
        chosen = sorted([*chosen, *drawing.sample(others, min(missing, len(others)))])
        sentences = cut.complete(chosen)
        number_of = {sentence: number for number, sentence in enumerate(sentences)}
        lengths_of = sorted({span.length for span in wanted})
        spans = list(chain.from_iterable(runs(sentences, length) for length in lengths_of))
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
        claims = [_claim(self._recipe, window, batch) for window in windows]
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

    def _drawn(self, candidates: Sequence[T], name: str, batch: Planned) -> list[T]:
        count = min(self._recipe.hard_negatives, len(candidates))
        return self._drawing("hard", batch, name).sample(list(candidates), count)

    def _drawing(self, what: str, batch: Planned, *names: object) -> random.Random:
        return random.Random(f"{self._recipe.seed} {what} {batch.round} {' '.join(map(str, names))}")  # noqa: S311


def padded(rows: Sequence[Sequence[int]], value: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one tensor of rows of unlike lengths, and one of these.

    >>> padded([[5, 6], [7]], -1)
    (tensor([[ 5,  6],
            [ 7, -1]]), tensor([2, 1]))
    """
    lengths = torch.tensor([len(row) for row in rows])
    made = torch.full((len(rows), int(lengths.max())), value, dtype=torch.int64)
    for number, row in enumerate(rows):
        made[number, : len(row)] = torch.tensor(row)
    return made, lengths


_TRIES = 4
"""Passages drawn for each that is wanted, before a claim has to do with fewer."""


def check_choices(recipe: RerankerRecipe, material: Material) -> None:
    """Refuse examples of which none has another passage beside its quotation: a reranker learns by choosing."""
    if len(material.pairs) < LEAST or (material.windows and recipe.share > 0):
        return  # too few examples are reported where batches are planned
    quotations = {(pair.source_id, pair.quotation) for pair in material.pairs}
    of_sources = {source for source, _ in quotations}
    if len(of_sources) == len(quotations) and not any(material.hard.pairs.get(pair.id) for pair in material.pairs):
        raise BadRequest(
            f"None of the {len(material.pairs)} pairs has another quotation of its source to be distinguished from, "
            "and a cross-encoder learns by choosing. Give it several quotations of one source, windows on works, or "
            "hard negatives."
        )


def joint(claims: Sequence[Sequence[int]], rows: Sequence[PassageRow], owners: Sequence[int]) -> Features:
    """Make the tensors of claims and of the passages read with them; `owners` are the passages' claims, ascending."""
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
    }


class RerankerCollator:
    """Makes the tensors of a planned batch."""

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
            claim = self._texts.claim(_claim(self._recipe, example, batch))
            claims.append(claim)
            rows += [self._texts.passage(passage, claim) for passage in passages]
            owners += [number] * len(passages)
        counts = torch.bincount(torch.tensor(owners), minlength=len(claims))
        return joint(claims, rows, owners) | {
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
        wanted = self._recipe.negatives
        hard = [text for text in self._material.hard.pairs.get(pair.id, ()) if text != pair.quotation]
        chosen = list(dict.fromkeys(drawing.sample(hard, min(wanted, len(hard)))))
        others = self._by_source[pair.source_id]
        drawn = drawing.sample(others, min(len(others), _TRIES * wanted)) if len(chosen) < wanted else []
        drawn = [text for text in dict.fromkeys(drawn) if text not in chosen]
        overlap = alike([pair.quotation, *drawn])[0, 1:]
        chosen += [text for text, near in zip(drawn, overlap, strict=True) if not near]
        return [pair.quotation, *chosen[:wanted]]

    def _spans(self, window: MinedWindow, sentences: int, drawing: random.Random) -> list[Span]:
        gold, wanted = window.gold, self._recipe.negatives
        hard = [span for span in self._material.hard.windows.get(window.id, ()) if not span.overlaps(gold)]
        chosen = list(dict.fromkeys(drawing.sample(hard, min(wanted, len(hard)))))
        starts = range(max(0, sentences - gold.length + 1))
        drawn = [Span(start, gold.length) for start in drawing.sample(starts, min(len(starts), _TRIES * wanted))]
        chosen += [span for span in drawn if span not in chosen and not span.overlaps(gold)]
        return [gold, *chosen[:wanted]]
