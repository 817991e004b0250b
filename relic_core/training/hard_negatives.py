"""Hard negatives: what a model ranks high for a claim and is not its quotation.

Candidates for a pair are the other quotations of its source, for a window the other spans of the gold's length of its
work. Some of what is ranked high is right: a passage that overlaps the gold, or has nearly its words, is passed over;
so is one that scores above the gold by a wide margin, which may well be as good an answer. A reranker has to put in
order what Combined finds, so of windows it is given as many that BM25 ranks high.

A search may take an hour and more, so it is done for what will be read and no more, what was found is written down on
the way, and a training that is resumed goes on with it.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from relic_core import engines
from relic_core.config import Settings
from relic_core.domain import Claim, MinedWindow, Pair, Span, Work, best_first
from relic_core.domain.grouping import grouped
from relic_core.encoders.cards import EncoderCard
from relic_core.encoders.late_chunking import LateChunkingEncoder, load_late_chunking
from relic_core.encoders.towers import flat_span
from relic_core.engines import check_model
from relic_core.ports import Progress, Retriever, Workers, silent
from relic_core.retrieval.bm25 import Bm25
from relic_core.training.batching import plan
from relic_core.training.collating import HardNegatives, alike
from relic_core.training.examples import Examples
from relic_core.training.folders import TrainingFolder
from relic_core.training.recipes import AnyRecipe, EncoderRecipe, RerankerRecipe
from relic_core.training.requests import TrainingRequest, hard_card

Vectors = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float32]

E = TypeVar("E", Pair, MinedWindow)

NEAR = 70.0
"""How alike the words of two passages may be, 0-100 by rapidfuzz's ratio, for one to be a negative of the other."""

READ = 3000
"""The most sentences of a work that are read for windows on it: what is hard among these is hard enough, and a shelf of
long novels would take more than an hour. What stands around each quotation is read whatever its number."""

_RUN = 100
"""Sentences that are drawn together, so that they are read in context."""
_AROUND = 10
"""Sentences on either side of a quotation that are read with it."""

_AT_ONCE = 512
"""Claims that are compared with all candidates together."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What is taken as a hard negative: so many, at most so many standard deviations of scores above the gold."""

    count: int
    margin: float

    def choose(self, scores: Scores, gold: int, refused: Callable[[int], bool]) -> list[int]:
        """Choose the highest candidates that are not answers: neither the `gold` nor refused as too like it.

        >>> scores = np.array([0.9, 0.5, 0.45, 0.3, 0.1], dtype=np.float32)
        >>> Guard(count=2, margin=0.5).choose(scores, 1, lambda other: other == 2)
        [3, 4]
        """
        most = scores[gold] + self.margin * float(scores.std())
        chosen: list[int] = []
        for other in best_first(scores).tolist():
            if len(chosen) == self.count:
                break
            if other != gold and scores[other] <= most and not refused(other):
                chosen.append(other)
        return chosen


def in_source(
    encoder: LateChunkingEncoder,
    pairs: Sequence[Pair],
    quotations: Iterable[str],
    guard: Guard,
    tell: Callable[[int], None],
    *,
    tokens: int | None = None,
) -> dict[str, tuple[str, ...]]:
    """Find the hard negatives of pairs of one source.

    - `quotations`: the candidates, the pairs' own among them.
    - `tell`: told of examples done, some hundreds at a time.
    - `tokens`: the most that are read of a quotation; by default the encoder's window.

    Returns: by id of the pair, the hardest first; without those that have no other candidate.
    """
    texts = list(dict.fromkeys(quotations))
    place = {text: number for number, text in enumerate(texts)}
    vectors = quotation_vectors(encoder, texts, tokens)
    overlap = alike(texts)
    spelt = [default_process(text) for text in texts]
    found: dict[str, tuple[str, ...]] = {}
    for pair, scores in _scored(encoder, pairs, vectors, tell):
        gold = place[pair.quotation]

        def refused(other: int, gold: int = gold) -> bool:
            return bool(overlap[gold, other]) or _near(spelt[gold], spelt[other])

        chosen = guard.choose(scores, gold, refused)
        if chosen:
            found[pair.id] = tuple(texts[other] for other in chosen)
    return found


def _part(work: Work, windows: Sequence[MinedWindow], most: int) -> Work:
    """Give a work with those of its sentences that are read: all, or what is around the golds and runs by chance."""
    total = len(work.sentences)
    if total <= most:
        return work
    kept = np.zeros(total, dtype=np.bool_)
    for window in windows:
        kept[max(0, window.gold.start - _AROUND) : window.gold.end + _AROUND] = True
    starts = list(range(0, total, _RUN))
    random.Random(f"{work.id} {most}").shuffle(starts)  # noqa: S311 - a sample, no secret
    for start in starts:
        if int(kept.sum()) >= most:
            break
        kept[start : start + _RUN] = True
    return replace(work, sentences=tuple(work.sentences[place] for place in np.flatnonzero(kept).tolist()))


def in_work(
    encoder: LateChunkingEncoder,
    windows: Sequence[MinedWindow],
    work: Work,
    guard: Guard,
    tell: Callable[[int], None],
    *,
    most: int = READ,
    words: Retriever | None = None,
) -> dict[str, tuple[Span, ...]]:
    """Find the hard negatives of windows on one work, of which about `most` sentences are read; as `in_source`.

    - `words`: finds as many again in the whole work, however far above the gold.
    """
    part = _part(work, windows, most)
    sums, counts = encoder.encode_sentences(part, silent)
    places = np.array([sentence.index for sentence in part.sentences])
    found: dict[str, tuple[Span, ...]] = {}
    for group in grouped(windows, lambda window: str(window.gold.length)).values():
        length = group[0].gold.length
        unbroken = np.flatnonzero(places[length - 1 :] - places[: len(places) - length + 1] == length - 1)
        starts = places[unbroken].tolist()
        vectors = _compared(encoder, span_vectors(sums, counts, length)[unbroken])
        for window, scores in _scored(encoder, group, vectors, tell):
            gold = window.gold
            by_meaning = guard.choose(scores, starts.index(gold.start), _refusing(work, gold, starts))
            chosen = [starts[number] for number in by_meaning]
            if words is not None:
                shared = words.score(_claim(window), work, length)
                chosen += replace(guard, margin=np.inf).choose(
                    shared, gold.start, _refusing(work, gold, range(len(shared)))
                )
            if chosen:
                found[window.id] = tuple(Span(start, length) for start in dict.fromkeys(chosen))
    return found


def _refusing(work: Work, gold: Span, starts: Sequence[int]) -> Callable[[int], bool]:
    """Make what refuses spans, by their places among `starts`, that overlap the gold or have nearly its words."""
    spelt = default_process(flat_span(work, gold))

    def refused(number: int) -> bool:
        span = Span(starts[number], gold.length)
        return span.overlaps(gold) or _near(spelt, default_process(flat_span(work, span)))

    return refused


def quotation_vectors(encoder: LateChunkingEncoder, texts: Sequence[str], tokens: int | None = None) -> Vectors:
    """Encode quotations read by themselves, pooled as spans of works are, of length 1 where cosines are compared."""
    pair, tower = encoder.pair, encoder.pair.passages
    rows = [pair.passage_ids(text, tokens) for text in texts]
    first = len(tower.opening) + len(tower.tokens("", pair.card.passage_prefix).prefix)
    means = np.zeros((len(rows), tower.dimension), dtype=np.float32)
    for batch in tower.forward(rows, reading="reading quotations"):
        for member, states in zip(batch.members, batch.states, strict=True):
            own = states[first : len(tower.opening) + len(rows[member])]
            means[member] = (own if len(own) else states[:1]).mean(0).numpy()
    return _compared(encoder, means)


def span_vectors(sums: Vectors, counts: npt.NDArray[np.int32], length: int) -> Vectors:
    """Pool every span of `length` sentences from its sentences' sums; shape (n_spans, dimension)."""
    spans = max(0, len(sums) - length + 1)
    pooled = np.zeros((spans, sums.shape[1]), dtype=np.float32)
    tokens = np.zeros(spans, dtype=np.int64)
    for shift in range(length):
        pooled += sums[shift : shift + spans]
        tokens += counts[shift : shift + spans]
    return np.asarray(pooled / tokens[:, None], dtype=np.float32)


def _compared(encoder: LateChunkingEncoder, means: Vectors) -> Vectors:
    if encoder.pair.card.similarity == "dot":
        return means
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means / np.where(norms > 0, norms, 1.0), dtype=np.float32)


def _scored(
    encoder: LateChunkingEncoder, examples: Sequence[E], vectors: Vectors, tell: Callable[[int], None]
) -> Iterator[tuple[E, Scores]]:
    """Score the claims of examples against candidates, some hundreds at once."""
    for at in range(0, len(examples), _AT_ONCE):
        some = examples[at : at + _AT_ONCE]
        claims = encoder.encode_claims([_claim(example) for example in some])
        yield from zip(some, claims @ vectors.T, strict=True)
        tell(len(some))


def _claim(example: Pair | MinedWindow) -> Claim:
    return Claim(left=" ".join(example.left), right=" ".join(example.right), masked=True)


def _near(one: str, other: str) -> bool:
    return fuzz.ratio(one, other, score_cutoff=NEAR) > 0


LOOKING = "Looking for hard negatives"

_OF_ENCODER = 5
_OF_RERANKER = 20
_MARGIN, _ABOVE = 0.5, 4.0
"""By how many standard deviations a negative may score above the gold. Much of what is far above is as good an answer,
and an encoder that is trained to put it away forgets what it knew; a reranker is there to tell the gold from just
that."""
_TIMES = 2
"""Found for each that a reranker's example draws, where it draws many: else every reading would bring the same."""
_KEPT_SECONDS = 120.0
"""Between two times that what was found so far is written down."""


def found_of(recipe: AnyRecipe) -> int:
    """Say how many are looked for, of each example: more than are drawn of them each time that it is read.

    >>> found_of(EncoderRecipe()), found_of(RerankerRecipe()), found_of(RerankerRecipe(negatives=15))
    (5, 20, 30)
    """
    if isinstance(recipe, RerankerRecipe):
        return max(_OF_RERANKER, _TIMES * recipe.negatives)
    return max(_OF_ENCODER, recipe.hard_negatives) if isinstance(recipe, EncoderRecipe) else 0


def read_of(recipe: AnyRecipe, examples: Examples) -> Examples:
    """Give those of the examples that a training reads: steps may end before all, and share may leave out a kind."""
    planned = plan(recipe, [pair.source_id for pair in examples.pairs], [window.work_id for window in examples.windows])
    members: dict[str, set[int]] = defaultdict(set)
    for batch in planned:
        members[batch.kind].update(batch.members)
    return Examples(
        tuple(examples.pairs[number] for number in sorted(members["pairs"])),
        tuple(examples.windows[number] for number in sorted(members["windows"])),
    )


def look_for(
    settings: Settings,
    folder: TrainingFolder,
    request: TrainingRequest,
    examples: Examples,
    chosen: dict[str, Any],
    *,
    work: Callable[[str], Work],
    progress: Progress,
) -> HardNegatives:
    """Look for hard negatives with the model asked for, or read those that were found; none where none are wanted.

    An engine's workers look, where one is set. What is found is written down, and kept where the search is ended.
    """
    if not request.hard:
        return HardNegatives()
    if chosen["hard"] is None or "looked" in chosen["hard"]:
        encoder = LateChunkingEncoder(hard_card(settings, request))
        if chosen["hard"] is None or chosen["hard"]["by"] != encoder.identity:  # not half by one and half by another
            chosen["hard"] = {"by": encoder.identity, "pairs": {}, "windows": {}, "looked": []}
        _Search(encoder, request.recipe, examples, chosen, work, progress).run(folder, engines.named(settings.engine))
    found = chosen["hard"]
    return HardNegatives(
        {key: tuple(examples.pairs[number].quotation for number in numbers) for key, numbers in found["pairs"].items()},
        {key: tuple(Span(start, length) for start, length in spans) for key, spans in found["windows"].items()},
    )


@dataclass(frozen=True, slots=True)
class Group:
    """Examples for which hard negatives are looked for together: those of one source, or on one work.

    - `among`: the quotations of the source, or the work.
    """

    name: str
    examples: Sequence[Any] = field(repr=False)
    among: tuple[str, ...] | Work = field(repr=False)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a group: by the id of an example texts, or spans."""

    name: str
    examples: int
    found: Mapping[str, Sequence[Any]]


def look(encoder: LateChunkingEncoder, recipe: AnyRecipe, tell: Callable[[int], None], group: Group) -> Found:
    """Look for the hard negatives of a group that a recipe wants."""
    margin, tokens = (_MARGIN, recipe.passage_tokens) if isinstance(recipe, EncoderRecipe) else (_ABOVE, None)
    guard = Guard(found_of(recipe), margin)
    words = Bm25() if isinstance(recipe, RerankerRecipe) else None
    found: Mapping[str, Sequence[Any]] = (
        in_source(encoder, group.examples, group.among, guard, tell, tokens=tokens)
        if isinstance(group.among, tuple)
        else in_work(encoder, group.examples, group.among, guard, tell, words=words)
    )
    return Found(group.name, len(group.examples), found)


def look_there(card: EncoderCard, identity: str, recipe: AnyRecipe, group: Group) -> Found:
    """Do `look` on a worker. Raises BadWeights: the model is missing there, or is another one."""
    encoder = load_late_chunking(card)
    check_model(encoder.identity, identity)
    return look(encoder, recipe, lambda _: None, group)


@dataclass(slots=True)
class _Search:
    """A search source by source and work by work; what was looked through stands under "looked" until all is."""

    encoder: LateChunkingEncoder
    recipe: AnyRecipe
    examples: Examples
    chosen: dict[str, Any]
    work: Callable[[str], Work]
    progress: Progress
    done: int = 0
    total: int = 0

    def run(self, folder: TrainingFolder, workers: Workers | None) -> None:
        """Look through what was not looked through before; what is found is written down now and then."""
        found, written = self.chosen["hard"], time.monotonic()
        numbers = {pair.quotation: number for number, pair in enumerate(self.examples.pairs)}
        try:
            with closing(self._look(workers)) as looked:
                for group in looked:
                    if group.name.startswith("source "):
                        found["pairs"] |= {key: [numbers[text] for text in texts] for key, texts in group.found.items()}
                    else:
                        found["windows"] |= {
                            key: [[span.start, span.length] for span in spans] for key, spans in group.found.items()
                        }
                    found["looked"].append(group.name)
                    if workers is not None:
                        self._tell(group.examples)
                    if time.monotonic() - written >= _KEPT_SECONDS:
                        folder.write_examples(self.chosen)
                        written = time.monotonic()
        except BaseException:  # stopped, or failed
            folder.write_examples(self.chosen)
            raise
        del found["looked"]
        folder.write_examples(self.chosen)
        folder.append("hard negatives", 0, pairs=len(found["pairs"]), windows=len(found["windows"]), by=found["by"])

    def _look(self, workers: Workers | None) -> Generator[Found]:
        if workers is None:
            return (look(self.encoder, self.recipe, self._tell, group) for group in self._groups())
        there = partial(look_there, self.encoder.pair.card, self.encoder.identity, self.recipe)
        return workers.map(there, self._groups())

    def _groups(self) -> Iterator[Group]:
        """Give the groups that were not looked through before."""
        read = read_of(self.recipe, self.examples)
        self.total = len(read.pairs) + len(read.windows)
        looked = set(self.chosen["hard"]["looked"])
        every = grouped(self.examples.pairs, lambda pair: pair.source_id)
        for source, pairs in grouped(read.pairs, lambda pair: pair.source_id).items():
            if f"source {source}" in looked:
                self.done += len(pairs)
            else:
                among = tuple(pair.quotation for pair in (*pairs, *every[source]))
                yield Group(f"source {source}", pairs, among)
        for work_id, windows in grouped(read.windows, lambda window: window.work_id).items():
            if f"work {work_id}" in looked:
                self.done += len(windows)
            else:
                yield Group(f"work {work_id}", windows, self.work(work_id))

    def _tell(self, more: int) -> None:
        self.done += more
        self.progress(self.done, self.total, f"{LOOKING}: {self.done:,} of {self.total:,}")
