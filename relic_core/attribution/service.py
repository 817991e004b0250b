"""Attribution: a passage in; ranked stretches and works that may be the source of words in it, with evidence, out."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relic_core.attribution import measuring
from relic_core.attribution.ranking import (
    TOP_K,
    Attributor,
    Ints,
    Stretches,
    fuse,
    gains,
    likelihood,
    rerank,
    source_text,
    strong,
)
from relic_core.caching import LRUCache
from relic_core.domain import (
    EVERYWHERE,
    Claim,
    Offsets,
    Pair,
    Place,
    Scores,
    Span,
    Work,
    WorkFilter,
    WorkSummary,
    best_first,
    best_of,
)
from relic_core.domain.attribution import AttributionRequest, By, Target
from relic_core.domain.figures import Table
from relic_core.encoders.cards import EncoderCard
from relic_core.encoders.late_chunking import load_late_chunking
from relic_core.encoders.towers import flat_span
from relic_core.errors import BadRequest, NotFound, ReaderUnavailable, StaleIndex
from relic_core.formats.attribution import read_queries
from relic_core.ports import Benchmark, Progress, SpanScorer, silent
from relic_core.reporting.passages import Passage, quotation
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.registry import Retrievers
from relic_core.retrieval.words import stored_terms
from relic_core.services.works import Works
from relic_core.text.decoding import decode
from relic_core.text.masking import MARKED_WORDS, marked_quotations
from relic_core.text.sentences import default_segmenter
from relic_core.text.words import WorkWords, content_tokens, shared_runs, tokens

_PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\Z)", re.DOTALL)
_SHOWN = 4
"""Sentences of a stretch that a card shows."""
_CARDS = 10
_VECTORS = 10_000
"""Of the stretches read last for their cosine so many vectors are kept: 15 MB of 384 dimensions."""
_AHEAD, _HELD = 1.15, 0.4
"""How far a likely source is ahead of the next work's score, and the share of the telling words that it has.

Chosen by hand on the sentences that follow, so flattered: of 12 of no work in a library of nine none passed,
of 7 adapted lines 5."""
_PHRASE = 5
"""Words from which a span with one telling word too few has a source, if one work alone holds it to the letter."""
_ALIKE = 0.8
"""Share of what the best stretch holds from which on another is a source, too."""


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A stretch that may be the source.

    - `span`, `passage`: its sentences that share most with the target's span; the runs of words they share are lit.
    - `runs`: the same runs, as offsets into the text of the target.
    """

    rank: int
    work: Work
    span: Span
    place: Place
    passage: Passage
    runs: tuple[Offsets, ...]
    score: float
    strong: bool


@dataclass(frozen=True, slots=True)
class Attribution:
    """The answer to one passage.

    - `target`: where no span was given, the sentence or quotation of which most is found.
    - `works`: those of the first `TOP_K` stretches, best first, each with whether it is taken to be the source.
    - `gains`: offsets of each word of the span in the target's text, and the log-probability that the first card's
      stretch adds to it; empty where no model was asked.
    - `masked`: whether it goes by what stands around the span alone; then no source is sure.
    - `note`: why a model that was asked did not answer; else empty.
    - `others`: the other sentences and quotations tried that surely have a source, in the order of the text.
    - `borrowed`: the source of each of these.
    """

    target: Target
    cards: tuple[SourceCard, ...]
    works: tuple[tuple[WorkSummary, bool], ...]
    searched: int
    tried: int
    seconds: float
    gains: tuple[tuple[int, int, float], ...] = ()
    note: str = ""
    masked: bool = False
    others: tuple[Target, ...] = ()
    borrowed: tuple[SourceCard, ...] = ()

    @property
    def likely(self) -> SourceCard | None:
        """The first card, where no source is sure and it is far ahead of every other work: an adapted line."""
        if self.found or self.few or not self.cards:
            return None
        first = self.cards[0]
        other = next((card.score for card in self.cards if card.work.id != first.work.id), 0.0)
        wanted = set(content_tokens(self.target.span))
        held = len(wanted.intersection(content_tokens(first.passage.plain)))
        return first if first.score >= _AHEAD * other and held >= _HELD * len(wanted) else None

    @property
    def few(self) -> bool:
        """Whether the span has too few telling words for a source to be sure of."""
        return len(content_tokens(self.target.span)) < MARKED_WORDS

    @property
    def found(self) -> tuple[WorkSummary, ...]:
        """The works that are taken to be the source; several where they hold the words alike, none where none does."""
        return tuple(work for work, strong in self.works if strong)


class Attributing:
    """Says which work a passage comes from; the encoder's cosines may order stretches anew."""

    def __init__(
        self,
        works: Works,
        retrievers: Retrievers,
        indexes: Path,
        encoder: Callable[[], EncoderCard],
        scorer: Callable[[], SpanScorer] | None,
    ) -> None:
        self._works, self._retrievers, self._indexes = works, retrievers, indexes
        # By how long its vectors are: the larger model may take over between a claim and the works it is compared with.
        self._encoded_by: dict[int, Dense] = {}
        self._encoder, self._make_scorer = encoder, scorer
        self._attributors: LRUCache[Attributor] = LRUCache(2)
        self._vectors: LRUCache[npt.NDArray[np.float32]] = LRUCache(_VECTORS)

    @property
    def reads(self) -> bool:
        """Whether a language model is set."""
        return self._make_scorer is not None

    @cached_property
    def scorer(self) -> SpanScorer | None:
        """The language model; None where none is set. Raises BadWeights, ReaderUnavailable: it cannot be used."""
        return self._make_scorer() if self._make_scorer else None

    @staticmethod
    def read(path: Path, max_bytes: int) -> str:
        """Read a passage from a text file. Raises BadText: it is not text, or too large."""
        return decode(path.read_bytes(), max_bytes=max_bytes)

    def run(self, request: AttributionRequest, progress: Progress = silent) -> Attribution:
        """Rank the stretches of the library as sources of a span of a passage."""
        began = time.perf_counter()
        scorer = self.scorer if request.reranking == "likelihood" or request.explain else None
        if scorer is None and (request.reranking == "likelihood" or request.explain):
            raise BadRequest(
                "No language model is set that says how likely words are. Name one in RELIC_RERANKER, as likelihood: "
                "and its folder, or a server of your own in RELIC_READER (docs/attribution.md)."
            )
        asked = Target(request.text, *(request.span or (0, len(request.text))))
        attributor = self.attributor(request.works, progress)
        targets = [asked] if request.span else list(_spans(request.text)) or [asked]
        strengths: list[float] = []
        for each in targets if len(targets) > 1 else ():
            progress(len(strengths), len(targets), "Trying each sentence")
            strengths.append(attributor.strength(each.near()))
        target = targets[int(np.argmax(strengths)) if strengths else 0]
        near = target.near()
        scores = self._scores(attributor, near, request.by)
        if request.reranking:
            by_model = scorer if request.reranking == "likelihood" else None
            top, masked = best_first(scores)[:TOP_K], request.by == "masked"
            anew = self._anew(partial(self._read, attributor.stretches), by_model, progress, near, masked, top)
            scores = rerank(scores, anew, first=0.0 if request.alone else 1.0)
        order = best_first(scores)[:TOP_K]
        if not scores.any():
            order = order[:0]
        held = attributor.pairs(near, order)
        is_source = strong(near, held) & (held >= _ALIKE * held.max(initial=0.0))
        if request.by == "masked":
            is_source[:] = False  # the span is taken as unknown
        else:
            is_source |= self._alone(attributor.stretches, near, order, held)
        summaries = {work.id: work for work in self._works.summaries()}
        keys, stretches = attributor.stretches.keys, attributor.stretches
        of_works: dict[str, bool] = {}
        for at, is_strong in zip(order.tolist(), is_source.tolist(), strict=True):
            key = keys[int(stretches.work[at])]
            of_works[key] = of_works.get(key, False) or is_strong
        loaded = self._works.load_all(dict.fromkeys(keys[int(stretches.work[at])] for at in order[:_CARDS].tolist()))
        cards = [
            _card(rank, loaded[key], stretches.span(at), target, float(scores[at]), strong=bool(is_source[rank - 1]))
            for rank, at in enumerate(order[:_CARDS].tolist(), start=1)
            if (key := keys[int(stretches.work[at])]) in loaded
        ]
        explained, note = [], ""
        if request.explain and scorer is not None and cards:
            source = source_text(loaded[cards[0].work.id], stretches.span(int(order[cards[0].rank - 1])))
            try:
                explained = gains(scorer, near, source, progress)
            except ReaderUnavailable as error:
                note = str(error)
        others = _others(target, targets, strengths)
        return Attribution(
            target=target,
            cards=tuple(cards),
            works=tuple((summaries[key], is_strong) for key, is_strong in of_works.items() if key in summaries),
            searched=len(keys),
            tried=len(targets),
            seconds=time.perf_counter() - began,
            gains=tuple((target.start + a, target.start + b, gain) for a, b, gain in explained),
            note=note,
            masked=request.by == "masked",
            others=others,
            borrowed=tuple(self._best(attributor, each, each.near()) for each in others),
        )

    def _alone(self, stretches: Stretches, target: Target, some: Ints, held: Scores) -> npt.NDArray[np.bool_]:
        """Say which stretches hold a short phrase to the letter, if they are all of one work."""
        phrase, found = tokens(target.span), np.zeros(len(some), dtype=bool)
        if len(content_tokens(target.span)) != MARKED_WORDS - 1 or len(phrase) < _PHRASE:
            return found
        likely = np.flatnonzero(held == held.max(initial=0.0)).tolist()
        keys = [stretches.keys[int(stretches.work[some[at]])] for at in likely]
        works = self._works.load_all(dict.fromkeys(keys))
        for at, key in zip(likely, keys, strict=True):
            words = tokens(flat_span(works[key], stretches.span(int(some[at])))) if key in works else []
            found[at] = f" {' '.join(phrase)} " in f" {' '.join(words)} "
        return found & (len(set(stretches.work[some[found]].tolist())) == 1)

    def quoting(
        self, work_id: str, pairs: Iterable[Pair], known: Collection[tuple[str, Offsets]]
    ) -> tuple[tuple[Pair, SourceCard], ...]:
        """Find the quotations in secondary sources that come from a work, changed though they may be, in its order.

        Of overlapping places of a source the first is given; of those known to be this work's none.
        """
        attributor = self.attributor(WorkFilter(works=(work_id,)))
        found = []
        taken: dict[str, list[Offsets]] = {}
        for source, at in known:
            taken.setdefault(source, []).append(at)
        for pair in pairs:
            places = taken.setdefault(pair.source_id, [])
            if not attributor.shares_pair(pair.quotation) or any(a < pair.at[1] and pair.at[0] < b for a, b in places):
                continue
            target = Target.between(" ".join(pair.left), pair.quotation, " ".join(pair.right))
            if (card := self._best(attributor, target, target)).strong:
                found.append((pair, card))
                places.append(pair.at)
        return tuple(sorted(found, key=lambda each: each[1].span.start))

    def _best(self, attributor: Attributor, target: Target, near: Target) -> SourceCard:
        scores = attributor.rank(near)
        best = best_of(scores, 1)
        stretches, at = attributor.stretches, int(best[0])
        work = self._works.load(stretches.keys[int(stretches.work[at])])
        is_source = bool(strong(near, attributor.pairs(near, best)).all())
        return _card(1, work, stretches.span(at), target, float(scores[at]), strong=is_source)

    def attributor(self, works: WorkFilter, progress: Progress = silent) -> Attributor:
        """Cut works of the library into stretches. Raises BadRequest: there is no work."""
        admitted = self._works.admitted(works)
        versions = {work.id: version for work, version in admitted}
        if not admitted:
            raise BadRequest("There is no work to look in. Add works in the Library, or choose others.")

        def read() -> Iterator[tuple[str, str, WorkWords]]:
            for done, (work, version) in enumerate(admitted):
                progress(done, len(admitted), "Reading the words of the library")
                words = stored_terms(version, "tokens", indexes=self._indexes, load=self._works.load)
                yield work.id, f"{work.author} {work.title}", words

        def score_vector(key: str, vector: npt.NDArray[np.float32]) -> Scores | None:
            dense = self._encoded_by.get(len(vector)) or self._dense
            if dense is not None and versions[key].sentences > 1:
                with suppress(StaleIndex):
                    return dense.score_vector(vector, versions[key], 2)
            return None

        key = tuple((work.id, work.title, work.author, version.fingerprint) for work, version in admitted)
        return self._attributors.get(key, lambda: Attributor(Stretches.of(read()), score_vector))

    def measure(
        self, benchmark: Benchmark | Path, *, sample: int | None, by_length: bool, progress: Progress
    ) -> tuple[Table, ...]:
        """Measure attribution on the windows of a benchmark over all works, or on a file of queries with their sources.

        - `sample`: so many windows or queries by chance, whose stretches are ordered anew, too.
        """
        read: Callable[[Ints], Iterable[str]]
        if isinstance(benchmark, Path):
            attributor, asked, texts = measuring.of_queries(read_queries(benchmark))
            encode, read = None, texts.__getitem__
        else:
            works = {window.pool: benchmark.work(window.pool) for window in benchmark.windows()}
            attributor = self.attributor(EVERYWHERE, progress)
            if lacking := [work.title for work in works.values() if work.id not in attributor.stretches.keys]:
                raise NotFound(f"Not in the library as the benchmark has it: {', '.join(lacking[:5])}. Add it there.")
            asked = measuring.of_windows(benchmark.windows(), attributor, works)
            encode = self.vector if self._reads_meaning() else None
            read = partial(self._read, attributor.stretches)
        rerankers = {}
        if sample is not None:
            asked = random.Random(0).sample(asked, min(sample, len(asked)))  # noqa: S311 - the same every time
            for name, scorer in (("cosine", None), *([("likelihood", self.scorer)] if self.scorer else [])):
                rerankers[name] = partial(self._anew, read, scorer, silent)
        return measuring.tables(
            measuring.measure(attributor, asked, encode=encode, rerankers=rerankers, progress=progress),
            by_length=by_length,
        )

    def _scores(self, attributor: Attributor, target: Target, by: By) -> Scores:
        if by == "masked":
            if not content_tokens(f"{target.left} {target.right}"):
                raise BadRequest("No words stand around the span, and --by masked reads these alone. Give more text.")
            words = attributor.by_nearness(target)
            if not self._reads_meaning():
                return words
            return fuse(words, attributor.by_meaning(self.vector(Claim(target.left, target.right, masked=True))))
        if by == "words":
            return attributor.rank(target)
        meaning = attributor.by_meaning(self.vector(Claim(target.span)))
        if by == "meaning" and not meaning.any():
            raise BadRequest(
                "No work searched is prepared for dense-relic, which ranks by meaning. Prepare works first."
            )
        return meaning if by == "meaning" else fuse(attributor.rank(target), meaning, 1.0)

    def vector(self, claim: Claim) -> npt.NDArray[np.float32]:
        """Encode a claim as dense-RELiC does; shape (dimension,)."""
        dense = self._dense
        if dense is None:
            raise BadRequest("Attribution by meaning needs an encoder that reads works in one pass (docs/encoders.md).")
        vector = dense.claim_vector(claim)
        self._encoded_by[len(vector)] = dense
        return vector

    def _reads_meaning(self) -> bool:
        """Whether any work is prepared for meaning; else no encoder need be loaded."""
        dense, versions = self._dense, self._works.work_versions().values()
        return dense is not None and any(dense.prepared(work, 2) for work in versions)

    @property
    def _dense(self) -> Dense | None:
        """The trained retriever; None where it reads passages alone."""
        versions = tuple(self._works.work_versions().values())
        dense = self._retrievers.answering(versions).get("dense-relic")
        return dense if isinstance(dense, Dense) else None

    def _read(self, stretches: Stretches, some: Ints) -> list[str]:
        """Give the text of stretches as models read it."""
        keys = [stretches.keys[int(stretches.work[at])] for at in some.tolist()]
        works = self._works.load_all(dict.fromkeys(keys))
        if missing := set(keys) - works.keys():
            raise NotFound(f"{len(missing)} works were removed while they were being searched. Ask again.")
        return [source_text(works[key], stretches.span(at)) for key, at in zip(keys, some.tolist(), strict=True)]

    def _anew(
        self,
        texts: Callable[[Ints], Iterable[str]],
        scorer: SpanScorer | None,
        progress: Progress,
        target: Target,
        masked: bool,
        some: Ints,
    ) -> Scores:
        """Score stretches by likelihood where a model is given, else by cosine (`masked`: of what stands around it)."""
        sources = list(texts(some))
        if scorer is not None:
            return likelihood(scorer, target, sources, progress)
        encoder = load_late_chunking(self._encoder())
        query = Claim(target.left, target.right, masked=True) if masked else Claim(target.text)
        vectors = []

        def read(text: str) -> npt.NDArray[np.float32]:
            (vector,) = encoder.pair.passages.vectors([encoder.pair.passage_ids(text)], reading="reading stretches")
            found: npt.NDArray[np.float32] = vector
            return found

        for done, text in enumerate(sources):
            progress(done, len(sources), "Reading stretches")
            vectors.append(self._vectors.get(text, partial(read, text)))
        cosines: Scores = (np.stack(vectors) @ encoder.encode_claims([query])[0]).astype(np.float32)
        return cosines


def _spans(text: str) -> Iterator[Target]:
    """List the spans that may be quoted where none is marked: sentences and what stands between quotation marks."""
    segmenter = default_segmenter()
    places = set(marked_quotations(text))
    for paragraph in _PARAGRAPH.finditer(text):
        places.update(segmenter.segment(text, *paragraph.span()))
    for start, end in sorted(places):
        if len(content_tokens(text[start:end])) >= MARKED_WORDS:
            yield Target(text, start, end)


def _others(best: Target, targets: Sequence[Target], strengths: Sequence[float]) -> tuple[Target, ...]:
    """List those beside the best that surely have a source; of some that overlap, the one of which most is found."""
    kept = [best]
    for at in best_first(np.array(strengths)).tolist():
        each = targets[at]
        apart = all(each.end <= other.start or other.end <= each.start for other in kept)
        if apart and strong(each, np.array([strengths[at]])).all():
            kept.append(each)
    return tuple(sorted(kept[1:], key=lambda each: each.start))


def _card(rank: int, work: Work, stretch: Span, target: Target, score: float, *, strong: bool) -> SourceCard:
    """Choose the sentences of a stretch that share most with the span, and light what they share."""
    wanted = set(content_tokens(target.span))
    texts = [work.sentence_text(index) for index in range(stretch.start, stretch.end)]
    runs = [shared_runs(text, target.span) for text in texts]
    worth = []
    for text, each in zip(texts, runs, strict=True):
        shared = sum(end - start for start, end in each)
        worth.append(100 * shared + len(wanted.intersection(content_tokens(text))))
    best = int(np.argmax(worth))
    lit = [at for at, each in enumerate(runs) if each and abs(at - best) < _SHOWN] or [best]
    first = min(lit)
    span = Span(stretch.start + first, min(max(lit) + 1 - first, _SHOWN))
    if not span.start <= stretch.start + best < span.end:
        span = Span(stretch.start + best, 1)
    held = flat_span(work, stretch)
    return SourceCard(
        rank=rank,
        work=work,
        span=span,
        place=work.place(span),
        passage=quotation(work, span, light=lambda text: shared_runs(text, target.span)),
        runs=tuple((target.start + a, target.start + b) for a, b in shared_runs(target.span, held)),
        score=score,
        strong=strong,
    )
