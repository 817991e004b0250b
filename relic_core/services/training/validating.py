"""Validation of a training that makes an encoder: where the model as it is ranks what critics quoted.

The windows are drawn once, by a fixed seed, in a few short works, and ranked as the app ranks: every span of the work,
by the same encoder and the same scores. No index is written.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import MAX_LENGTH, Claim, ContextSize, Span
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.passage_encoder import PassageEncoder
from relic_core.encoders.towers import flat_span
from relic_core.ports import silent
from relic_core.retrieval.sentence_sums import DenseIndex, neighbour_products

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import MinedWindow, Work
    from relic_core.domain.trainings import ModelKind
    from relic_core.encoders.cards import EncoderCard
    from relic_core.ports import Progress

KS = (1, 10, 100)
SHAPES = (ContextSize(4, 4), ContextSize(1, 1), ContextSize(1, 0))
"""The first is the one whose figures have no shape in their names."""
SEED = 7

_MOST_WORKS = 6
_LEAST_IN_WORK = 3
_HELD_SHARE = 1 / 3
"""Of all windows, the most that are held back from training where there are no others."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The windows that a training is validated on.

    - `held_back`: they were taken from those to be learnt from, with all others on their works.
    """

    windows: tuple[MinedWindow, ...] = ()
    held_back: bool = False

    @property
    def works(self) -> tuple[str, ...]:
        """Ids of their works."""
        return tuple(dict.fromkeys(window.work_id for window in self.windows))


def draw(dev: Sequence[MinedWindow], training: Sequence[MinedWindow], sentences: Mapping[str, int], size: int) -> Drawn:
    """Draw the windows to validate on.

    - `training`: those to be learnt from: where there are no others, all on some works are held back, a third at most.
    - `sentences`: of each work, how many it has: short ones are read sooner.
    """
    if not size:
        return Drawn()
    usable = [window for window in dev if _usable(window) and window.work_id in sentences]
    if usable:
        return Drawn(_from(usable, _cheapest(usable, sentences, size), size))
    usable = [window for window in training if _usable(window) and window.work_id in sentences]
    counts = _counts(usable)
    if len(counts) < 2:  # noqa: PLR2004 - one work's windows cannot be taken away and learnt from
        return Drawn()
    held, total = [], 0
    for work in _cheapest(usable, sentences, size):
        if total + counts[work] <= _HELD_SHARE * len(usable):
            held.append(work)
            total += counts[work]
    return Drawn(_from(usable, held, size), held_back=True) if held else Drawn()


class Validation:
    """Ranks the windows that were drawn with a model.

    - `progress`: told how many works were ranked.
    """

    def __init__(self, windows: Sequence[MinedWindow], works: Mapping[str, Work], progress: Progress = silent) -> None:
        self._progress = progress
        self._by_work: dict[str, list[MinedWindow]] = defaultdict(list)
        for window in windows:
            self._by_work[window.work_id].append(window)
        self._works = works

    def __call__(self, folder: Path) -> dict[str, float]:
        """Give the figures of a model that a training wrote: see `measure`."""
        return self.measure(read_card(str(folder / "encoder.json")))

    def measure(self, card: EncoderCard) -> dict[str, float]:
        """Rank all spans of the works for the claims.

        Returns: for the shape 4/4 "recall@1", "recall@10" and "recall@100" in percent and "median", the median rank;
        for 1/1 and 1/0 the same with the shape behind; "score", the mean of all recalls; "windows", how many.

        Raises BadWeights: the model's files are missing or not the expected ones.
        """
        encoder = LateChunkingEncoder(card) if card.spans == "in context" else PassageEncoder(card)
        ranks: dict[ContextSize, list[int]] = {shape: [] for shape in SHAPES}
        for done, (work_id, windows) in enumerate(self._by_work.items()):
            self._progress(done, len(self._by_work), f"validating: {done} of {len(self._by_work)} works")
            scored = _Scored(encoder, self._works[work_id], card)
            for shape in SHAPES:
                vectors = encoder.encode_claims([claim_of(window, shape) for window in windows])
                for window, vector in zip(windows, vectors, strict=True):
                    ranks[shape].append(rank_of(scored.scores(vector, window.gold.length), window.gold.start))
        return figures(ranks)


def figures(ranks: Mapping[ContextSize, Sequence[int]]) -> dict[str, float]:
    """Make figures of the ranks of golds; as `Validation.measure`.

    >>> made = figures({ContextSize(4, 4): [1, 11, 40]})
    >>> round(made["recall@1"], 1), round(made["recall@100"]), made["median"]
    (33.3, 100, 11.0)
    """
    made: dict[str, float] = {}
    recalls = []
    for shape, of_shape in ranks.items():
        held = np.array(of_shape)
        tail = "" if shape == SHAPES[0] else f" {shape}"
        for k in KS:
            made[f"recall@{k}{tail}"] = 100.0 * float((held <= k).mean())
            recalls.append(made[f"recall@{k}{tail}"])
        made[f"median{tail}"] = float(np.median(held))
    made["score"] = float(np.mean(recalls))
    made["windows"] = float(len(next(iter(ranks.values()))))
    return made


def watchable(kind: ModelKind) -> tuple[str, ...]:
    """Name the figures that a validation gives and a recipe may watch: of a reranker those of the first shape alone.

    >>> watchable("reranker")
    ('recall@1', 'recall@10', 'recall@100', 'score')
    """
    shapes = SHAPES if kind == "encoder" else SHAPES[:1]
    return tuple(name for name in figures({shape: [1] for shape in shapes}) if name.startswith(("recall", "score")))


def claim_of(window: MinedWindow, shape: ContextSize) -> Claim:
    """Take the sentences of a shape as a claim; all there are where the shape takes none of them."""
    left, right = window.left[len(window.left) - min(shape.left, len(window.left)) :], window.right[: shape.right]
    if not any(letter.isalpha() for sentence in (*left, *right) for letter in sentence):
        left, right = window.left, window.right
    return Claim(left=" ".join(left), right=" ".join(right), masked=True)


class _Scored:
    """All spans of one work for one encoder."""

    def __init__(self, encoder: LateChunkingEncoder | PassageEncoder, work: Work, card: EncoderCard) -> None:
        self._encoder = encoder
        self._work = work
        self._similarity = card.similarity
        self._alone: dict[int, npt.NDArray[np.float32]] = {}
        if isinstance(encoder, LateChunkingEncoder):
            sums, counts = encoder.encode_sentences(work, silent)
            products = np.stack([neighbour_products(sums, distance) for distance in range(MAX_LENGTH)])
            self._index = DenseIndex(sums, products, counts)

    def scores(self, vector: npt.NDArray[np.float32], length: int) -> npt.NDArray[np.float32]:
        """Score every span of a length; shape (n_candidates,)."""
        if isinstance(self._encoder, LateChunkingEncoder):
            return self._index.score(vector, length, self._similarity)
        if length not in self._alone:
            spans = [flat_span(self._work, Span(at, length)) for at in range(self._work.candidates(length))]
            self._alone[length] = self._encoder.encode_passages(spans)
        return np.asarray(self._alone[length] @ vector, dtype=np.float32)


def rank_of(scores: npt.NDArray[np.float32], gold: int) -> int:
    """Give the rank of a span by the one tie rule: equal scores keep the order of the text."""
    own = scores[gold]
    return 1 + int((scores > own).sum()) + int((scores[:gold] == own).sum())


def _usable(window: MinedWindow) -> bool:
    return 1 <= window.gold.length <= MAX_LENGTH and window.has_context


def _counts(windows: Sequence[MinedWindow]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for window in windows:
        counts[window.work_id] += 1
    return counts


def _cheapest(windows: Sequence[MinedWindow], sentences: Mapping[str, int], size: int) -> list[str]:
    """List the works that cost fewest sentences for each window; no more than are needed."""
    counts = _counts(windows)
    most = max(1, -(-size // 3))  # of one work: its style is not to decide alone
    worth = {work: min(count, most) for work, count in counts.items()}
    chosen: list[str] = []
    for least in (_LEAST_IN_WORK, 1):  # works with a single window only where there is nothing else
        for work in sorted(counts, key=lambda work: (sentences[work] / worth[work], work)):
            enough = sum(worth[each] for each in chosen) >= size or len(chosen) >= _MOST_WORKS
            if not enough and work not in chosen and counts[work] >= least:
                chosen.append(work)
    return chosen


def _from(windows: Sequence[MinedWindow], works: Sequence[str], size: int) -> tuple[MinedWindow, ...]:
    """Draw from the works in turn."""
    drawing = random.Random(SEED)  # noqa: S311 - no secret
    left: dict[str, list[MinedWindow]] = {work: [] for work in works}
    for window in sorted(windows, key=lambda window: window.id):
        if window.work_id in left:
            left[window.work_id].append(window)
    for each in left.values():
        drawing.shuffle(each)
    drawn: list[MinedWindow] = []
    while len(drawn) < size and any(left.values()):
        drawn += [each.pop() for each in left.values() if each]
    return tuple(drawn[:size])
