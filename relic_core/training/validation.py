"""Validation of a training: where the model as it is ranks what critics quoted.

The windows are drawn once, by a fixed seed, in a few short works. An encoder ranks every span of the work by the scores
that the app would give; no index is written. For a reranker the combined ranking of the whole work is made once and
kept with the training: its first thirty with their scores, and where the quotation stands. A reranker changes the
order of the thirty and no other, so a quotation outside them keeps its rank, and nothing is read for it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from relic_core.config import Settings
from relic_core.domain import MAX_LENGTH, Claim, ContextSize, MinedWindow, Scores, Span, Work, rank_at, rank_scores
from relic_core.domain.grouping import grouped
from relic_core.domain.trainings import ModelKind
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.cross_encoder import CrossEncoder
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import PassageEncoder, flat_span
from relic_core.errors import BadRequest
from relic_core.ports import Progress, Reranker, Retriever, silent
from relic_core.retrieval import registry
from relic_core.retrieval.late import LateIndex
from relic_core.retrieval.reranked import TOP_K, beside, scores_of
from relic_core.retrieval.sentence_sums import DenseIndex, neighbour_products
from relic_core.training.folders import TrainingFolder
from relic_core.training.recipes import LIKELIHOOD

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
    """The windows to validate on; `held_back`: taken from those to be learnt from, with all others on their works."""

    windows: tuple[MinedWindow, ...] = ()
    held_back: bool = False

    @property
    def works(self) -> tuple[str, ...]:
        """Ids of their works."""
        return tuple(dict.fromkeys(window.work_id for window in self.windows))


def draw(dev: Sequence[MinedWindow], training: Sequence[MinedWindow], sentences: Mapping[str, int], size: int) -> Drawn:
    """Draw the windows to validate on; where there are no others, of those to learn from, a third of the works at most.

    - `sentences`: of each work, how many it has: short ones are read sooner.
    """
    if not size:
        return Drawn()
    usable = [window for window in dev if _usable(window) and window.work_id in sentences]
    if usable:
        return Drawn(_from(usable, _cheapest(usable, sentences, size), size))
    usable = [window for window in training if _usable(window) and window.work_id in sentences]
    counts = Counter(window.work_id for window in usable)
    if len(counts) < 2:  # noqa: PLR2004 - one work's windows cannot be taken away and learnt from
        return Drawn()
    held, total = [], 0
    for work in _cheapest(usable, sentences, size):
        if total + counts[work] <= _HELD_SHARE * len(usable):
            held.append(work)
            total += counts[work]
    return Drawn(_from(usable, held, size), held_back=True) if held else Drawn()


@dataclass(frozen=True, slots=True)
class Validation:
    """Ranks the windows that were drawn with a model; `progress` gets the number of works ranked."""

    windows: Sequence[MinedWindow]
    works: Mapping[str, Work]
    progress: Progress = silent

    def __call__(self, folder: Path) -> dict[str, float]:
        """Give the figures of a model that a training wrote: see `measure`."""
        return self.measure(read_card(str(folder / "encoder.json")))

    def measure(self, card: EncoderCard) -> dict[str, float]:
        """Rank all spans of the works for the claims.

        Returns: for the shape 4/4 "recall@1", "recall@10" and "recall@100" in percent and "median", the median rank;
        for 1/1 and 1/0 the same with the shape behind; "score", the mean of all recalls; "windows", how many.
        """
        encoder = LateChunkingEncoder(card) if card.spans == "in context" else PassageEncoder(card)
        ranks: dict[ContextSize, list[int]] = {shape: [] for shape in SHAPES}
        by_work = grouped(self.windows, lambda window: window.work_id)
        for done, (work_id, windows) in enumerate(by_work.items()):
            self.progress(done, len(by_work), f"validating: {done} of {len(by_work)} works")
            score = _scorer(encoder, self.works[work_id])
            for shape in SHAPES:
                scored = score([(claim_of(window, shape), window.gold.length) for window in windows])
                for window, scores in zip(windows, scored, strict=True):
                    ranks[shape].append(rank_at(scores, window.gold.start))
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
    if kind == "source":
        return (LIKELIHOOD,)
    shapes = SHAPES if kind == "encoder" else SHAPES[:1]
    names = figures({shape: [1] for shape in shapes})
    return tuple(name for name in names if name.startswith(("recall", "score")))


def claim_of(window: MinedWindow, shape: ContextSize) -> Claim:
    """Take the sentences of a shape as a claim; all there are where the shape takes none of them."""
    left, right = shape.around(window.left, window.right)
    if not any(map(str.isalpha, "".join((*left, *right)))):
        left, right = window.left, window.right
    return Claim(left=" ".join(left), right=" ".join(right), masked=True)


def _scorer(
    encoder: LateChunkingEncoder | PassageEncoder, work: Work
) -> Callable[[Sequence[tuple[Claim, int]]], Iterator[Scores]]:
    """Give what scores all spans of a work of a length for claims, each given with its length."""
    card = encoder.pair.card
    if isinstance(encoder, LateChunkingEncoder) and card.scoring == "late":
        tokens = LateIndex(**LateIndex.arrays(*encoder.encode_tokens(work, silent)))
        return lambda asked: (
            tokens.score(encoder.encode_claim_tokens(claim), np.arange(work.candidates(length)), length)
            for claim, length in asked
        )
    if isinstance(encoder, LateChunkingEncoder):
        sums, counts = encoder.encode_sentences(work, silent)
        index = DenseIndex(sums, np.stack([neighbour_products(sums, each) for each in range(MAX_LENGTH)]), counts)

        def of_vector(vector: Scores, length: int) -> Scores:
            return index.score(vector, length, card.similarity)

    else:
        read = cache(
            lambda length: encoder.encode_passages(
                [flat_span(work, Span(at, length)) for at in range(work.candidates(length))]
            )
        )

        def of_vector(vector: Scores, length: int) -> Scores:
            return np.asarray(read(length) @ vector, dtype=np.float32)

    def score(asked: Sequence[tuple[Claim, int]]) -> Iterator[Scores]:
        vectors = encoder.encode_claims([claim for claim, _ in asked])
        return (of_vector(vector, length) for vector, (_, length) in zip(vectors, asked, strict=True))

    return score


def _usable(window: MinedWindow) -> bool:
    return 1 <= window.gold.length <= MAX_LENGTH and window.has_context


def _cheapest(windows: Sequence[MinedWindow], sentences: Mapping[str, int], size: int) -> list[str]:
    """List the works that cost fewest sentences for each window; no more than are needed."""
    counts = Counter(window.work_id for window in windows)
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


FIRST = "fusion"
"""The retriever whose top k is reordered, as the app's reranker does."""
SHAPE = SHAPES[0]

_FILE = "heads.json"


@dataclass(frozen=True, slots=True)
class TopK:
    """What the first retriever makes of one window: starts and scores of its first thirty spans, the gold's rank."""

    starts: tuple[int, ...]
    scores: tuple[float, ...]
    rank: int


def first_stage_of(
    settings: Settings,
    folder: TrainingFolder,
    windows: Sequence[MinedWindow],
    works: Mapping[str, Work],
    progress: Progress,
) -> dict[str, TopK]:
    """Rank the works for the windows, once in a training: where it was done before, read what it gave.

    Works that the retriever has not read yet are prepared, as for a search. `progress` hears of works read and
    windows ranked.
    """
    kept = folder.read(_FILE, ("heads",))
    if kept is not None:
        return _read(folder, kept["heads"], windows)
    first = registry.create(FIRST, settings=settings)
    first_stage: dict[str, TopK] = {}
    for work_id, of_work in grouped(windows, lambda window: window.work_id).items():
        work = works[work_id]
        lengths = sorted({window.gold.length for window in of_work})
        if not first.ready(work, *lengths):
            first.prepare(work, _preparing(work, progress), lengths=lengths)
        for window in of_work:
            progress(
                len(first_stage), len(windows), f"Ranking by meaning and by words: {len(first_stage)} of {len(windows)}"
            )
            first_stage[window.id] = _top_k(first, window, work)
    top_ks = {key: [top_k.rank, list(top_k.starts), list(top_k.scores)] for key, top_k in first_stage.items()}
    folder.write(_FILE, {"first": dict(first.configuration), "heads": top_ks})
    return first_stage


@dataclass(frozen=True, slots=True)
class RerankerValidation:
    """Reorders the first-stage rankings of the windows with a reranker; `progress` gets the number read."""

    windows: Sequence[MinedWindow]
    works: Mapping[str, Work]
    first_stage: Mapping[str, TopK]
    progress: Progress

    def __call__(self, folder: Path) -> dict[str, float]:
        """Give the figures of a reranker that a training wrote: see `measure`."""
        return self.measure(CrossEncoder(folder))

    def before(self) -> dict[str, float]:
        """Give the figures of the ranking that is reordered."""
        return figures({SHAPE: [self.first_stage[window.id].rank for window in self.windows]})

    def measure(self, reranker: Reranker) -> dict[str, float]:
        """Give the figures of a reranker over all spans of the works: those of `figures` for the shape 4/4."""
        ranks = []
        for done, window in enumerate(self.windows):
            self.progress(done, len(self.windows), f"validating: {done} of {len(self.windows)} quotations")
            ranks.append(self._rank(reranker, window))
        return figures({SHAPE: ranks})

    def _rank(self, reranker: Reranker, window: MinedWindow) -> int:
        top_k = self.first_stage[window.id]
        if window.gold.start not in top_k.starts:
            return top_k.rank
        spans = [Span(start, window.gold.length) for start in top_k.starts]
        found = scores_of(reranker, claim_of(window, SHAPE), self.works[window.work_id], spans)
        scores = beside(found, np.array(top_k.scores, dtype=np.float32))
        return rank_at(scores, top_k.starts.index(window.gold.start))


def _top_k(first: Retriever, window: MinedWindow, work: Work) -> TopK:
    length = window.gold.length
    ranking = rank_scores(first.name, work.id, length, first.score(claim_of(window, SHAPE), work, length))
    starts = np.sort(ranking.order[:TOP_K])
    return TopK(tuple(starts.tolist()), tuple(ranking.scores[starts].tolist()), int(ranking.ranks[window.gold.start]))


def _read(
    folder: TrainingFolder, top_ks: Mapping[str, tuple[int, list[int], list[float]]], windows: Sequence[MinedWindow]
) -> dict[str, TopK]:
    try:
        kept = ((window.id, top_ks[window.id]) for window in windows)
        return {key: TopK(tuple(starts), tuple(scores), int(rank)) for key, (rank, starts, scores) in kept}
    except (KeyError, TypeError, ValueError) as error:
        raise BadRequest(f"{folder.path / _FILE} is damaged ({error!r}). Start the training anew.") from error


def _preparing(work: Work, progress: Progress) -> Progress:
    def preparing(done: int, total: int, note: str = "") -> None:  # noqa: ARG001 - as every report is called
        share = f": {100 * done // total}%" if total else ""
        progress(done, total, f"Preparing {work.title}{share}")

    return preparing
