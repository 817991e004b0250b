"""One question put to several retrievers: their rankings or refusals, and how strong their hits are."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from relic_core.domain import (
    Claim,
    Condition,
    Corpus,
    Hit,
    Place,
    Ranking,
    Scores,
    Span,
    Work,
    WorkVersion,
    rank_scores,
)
from relic_core.domain.calibration import Calibration
from relic_core.encoders.batching import is_out_of_memory
from relic_core.errors import BadClaim, BadRequest, NoIndex, RelicError, StaleIndex, StoreError
from relic_core.ports import Combining, Compacting, CorpusRetriever, Progress, Retriever, VectorRetriever, silent
from relic_core.retrieval import registry
from relic_core.retrieval.registry import RetrieverCard
from relic_core.retrieval.strength import OutOfVocabulary, Strength, StrengthClassifier
from relic_core.text.dialogue import only_addresses
from relic_core.text.masking import Quoted

Mask = npt.NDArray[np.bool_]

NEAR = 12
"""Sentences on either side of a passage that are left out where others like it are looked for: about half a page."""
_SHORTEST = 50
"""Of a short work at most this part of its sentences is left out on either side."""

SNAPSHOT_TOP_K = 20
"""Passages of each ranking that are kept, to be compared with what is found later or in another way."""

PARAGRAPH = 0.25
"""Standard deviations of the hits looked at by which a passage that runs over a paragraph break has to be better."""

_ABOUT_THE_QUESTION = (BadClaim, BadRequest, StoreError)
"""Errors that no other retriever could do anything about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The passage that others are to be like; its work need not be one of those searched."""

    work: Work
    span: Span
    place: Place

    @property
    def near(self) -> Span:
        """The passage with its surroundings, none of which is an answer.

        What stands around a passage is about the same thing and was read in the same context, so that it would always
        come first, and the reader has it before him.
        """
        sentences = len(self.work.sentences)
        margin = min(NEAR, sentences // _SHORTEST)
        first = max(0, self.span.start - margin)
        return Span(first, min(sentences, self.span.end + margin) - first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, understood: the claim, or a passage's words; its content words, to light; the passage itself.

    - `quoted`: words of the claim that the one work searched holds, too.
    """

    claim: Claim
    wanted: frozenset[str]
    source: Source | None = None
    quoted: tuple[Quoted, ...] = ()

    @property
    def like(self) -> tuple[WorkVersion, Span] | None:
        """The passage, as retrievers are asked with it."""
        return (self.source.work.version, self.source.span) if self.source else None


def candidates(
    question: Question,
    corpus: Corpus,
    length: int,
    chapters: tuple[int, ...] = (),
    quoted: Callable[[str], Collection[int]] | None = None,
    of_voice: Callable[[WorkVersion], Mask] | None = None,
) -> dict[str, Mask]:
    """Say which spans are candidates: those inside the chapters chosen, and not by the passage asked with.

    - `quoted`: gives the sentences of a work, by its id, of which a candidate has to hold one.
    - `of_voice`: tells of the sentences of a work which of them candidates may hold; shape (n_sentences,).

    Returns: by work a mask of shape (n_spans,); works all of whose spans are candidates are left out.

    Raises BadRequest: the one whole work has no such chapter, or no candidate is left.
    """
    masks: dict[str, Mask] = {}
    if corpus.whole and chapters:
        masks[corpus.whole.id] = _inside(corpus.whole, chapters, length)
    if source := question.source:
        for work in corpus.versions:
            if work.id == source.work.id and work.candidates(length):
                mask = masks.setdefault(work.id, np.ones(work.candidates(length), dtype=np.bool_))
                mask[max(0, source.near.start - length + 1) : source.near.end] = False
                if corpus.whole and not mask.any():
                    raise BadRequest(
                        "Beside the passage given there is no other of this length to compare it with. Choose a "
                        "shorter quotation, more chapters or another work."
                    )
    if of_voice:
        _narrow(
            *(masks, corpus, length, of_voice, np.all),
            "No passage of this length is speech, or narration, as chosen. Choose a shorter quotation, or search both.",
        )
    if quoted:
        _narrow(
            *(masks, corpus, length, lambda work: np.isin(np.arange(work.sentences), [*quoted(work.id)]), np.any),
            f"No criticism in your library quotes a passage{' of this kind' * bool(of_voice)} here. Add criticism "
            "(Criticism), or search all passages.",
        )
    return masks


def _narrow(
    masks: dict[str, Mask],
    corpus: Corpus,
    length: int,
    fits: Callable[[WorkVersion], Mask],
    how_many: Callable[..., Mask],
    otherwise: str,
) -> None:
    """Leave the candidates of which all or any sentences fit; raises BadRequest, saying `otherwise`, where none is."""
    for work in corpus.versions:
        if count := work.candidates(length):
            mask = masks.setdefault(work.id, np.ones(count, dtype=np.bool_))
            mask &= how_many(sliding_window_view(fits(work), length), axis=1)
    if not any(mask.any() for mask in masks.values()):
        raise BadRequest(otherwise)


def _inside(work: Work, chapters: tuple[int, ...], length: int) -> Mask:
    """Tell which spans have every sentence in one of some chapters, numbered from 1; shape (n_spans,)."""
    count = len(work.chapters)
    if unknown := sorted({chapter for chapter in chapters if not 1 <= chapter <= count}):
        raise BadRequest(
            f"{work.title} has no chapter {', '.join(map(str, unknown))}: its chapters are numbered 1 to {count} in "
            "this edition, whatever is printed over them."
        )
    chapter_of = np.fromiter((sentence.chapter for sentence in work.sentences), np.int64, len(work.sentences))
    before = np.concatenate([[0], np.cumsum(np.isin(chapter_of + 1, chapters))])
    inside: Mask = before[length:] - before[:-length] == length
    if not inside.any():
        chosen = "The chapter chosen holds" if len(chapters) == 1 else "The chapters chosen hold"
        raise BadRequest(
            f"{chosen} no passage of {length} {'sentence' if length == 1 else 'sentences'} in a row. Choose a "
            f"{'longer chapter' if length == 1 else 'shorter quotation, or more chapters'}."
        )
    return inside


def card_order(hits: Sequence[Hit], work: Work) -> tuple[Hit, ...]:
    """Order hits of one work, best first, as cards show them.

    Speech that only names or addresses somebody comes last. A passage that runs over a paragraph break gives way to
    those that do not, unless it is better by `PARAGRAPH`. All else stays as ranked; metrics know nothing of this.
    """
    margin = PARAGRAPH * float(np.std([hit.score for hit in hits])) if hits else 0.0

    def place(hit: Hit) -> tuple[bool, float]:
        first, last = work.sentences[hit.span.start], work.sentences[hit.span.end - 1]
        return only_addresses(work, hit.span), margin * (first.paragraph != last.paragraph) - hit.score

    return tuple(sorted(hits, key=place))


def retrievers_to_ask(
    retrievers: Iterable[str], default: Iterable[RetrieverCard], *, at_once: bool
) -> tuple[RetrieverCard, ...]:
    """List the retrievers that a question is put to, each after those that it is made of.

    Beside those named that is every default one, for the other ranks of a hit; but what reads passages anew takes
    seconds, and answers only where it was named, and not `at_once`.
    """
    named = registry.in_order(retrievers)
    kept = [card.name for card in named if not (at_once and card.kind == "reranker")]
    return registry.in_order(dict.fromkeys((*kept, *(card.name for card in default if card.kind != "reranker"))))


@dataclass(kw_only=True)
class Findings:
    """What retrievers find for a question.

    - `masks`: see `candidates`.
    - `rankings`, `refusals`: by retriever its ranking of the candidates, or why it has none.
    - `backgrounds`: by retriever its ranking of all spans, candidates or not, which hits are judged against: what a hit
      is worth must not depend on how many chapters were looked through.
    - `calibrations`: of those that compare vectors; what is made of others is judged by these.
    - `missing`: ids of works that a retriever has not prepared.
    """

    question: Question
    corpus: Corpus
    length: int
    masks: Mapping[str, Mask]
    rankings: dict[str, Ranking] = field(default_factory=dict)
    backgrounds: dict[str, Ranking] = field(default_factory=dict)
    refusals: dict[str, RelicError] = field(default_factory=dict)
    calibrations: dict[str, Calibration | None] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)

    @property
    def candidates(self) -> int:
        """How many spans are ranked."""
        every = sum(work.candidates(self.length) for work in self.corpus.versions)
        return every - sum(int((~mask).sum()) for mask in self.masks.values())

    def ask(
        self, cards: Iterable[RetrieverCard], retriever: Callable[[str], Retriever], progress: Progress = silent
    ) -> None:
        """Rank with every retriever that can, each after those it is made of, or refuse as they do.

        Raises BadClaim, BadRequest, StoreError: what is asked cannot be answered by any retriever.
        """
        for card in cards:
            try:
                alone = not (card.library or self.corpus.whole)  # it refuses by itself, and that can be mended
                if lacking := [] if alone else [part for part in card.components if part in self.refusals]:
                    raise self.refusals[lacking[0]]
                self._rank(card, retriever(card.name), progress)
            except _ABOUT_THE_QUESTION:
                raise
            except RelicError as error:
                self.refusals[card.name] = error
            except FileNotFoundError:  # its folder was deleted while it was being opened
                self.refusals[card.name] = NoIndex(
                    "The index was deleted while it was being read. Prepare the work again."
                )
            except (MemoryError, RuntimeError, OSError) as error:
                if not is_out_of_memory(error) and getattr(error, "errno", None) != errno.ENOMEM:
                    raise
                self.refusals[card.name] = RelicError(
                    "There was not enough memory to search in this way. Close other programs, or search fewer works at "
                    "once, and search again."
                )

    def _rank(self, card: RetrieverCard, retriever: Retriever, progress: Progress) -> None:
        claim, corpus = self.question.claim, self.corpus
        if card.kind == "reranker" and self.question.source:
            raise RelicError(
                "It reads a claim beside each passage, and a passage was given instead of a claim. Ask with a claim to "
                "use it."
            )
        if isinstance(retriever, Combining):
            report = progress if card.server else silent
            parts = [self.rankings[part] for part in card.components if part in self.rankings]
            ranking = retriever.combine(claim, corpus, parts, report)
            self.backgrounds[card.name] = self.rankings[card.name] = ranking
            return
        if retriever.encoder_identity:
            self.calibrations[card.name] = retriever.calibration
        if not corpus.whole:
            ranking = self._rank_many(card, retriever)
        elif isinstance(retriever, CorpusRetriever):
            ranking = retriever.rank(claim, corpus, self.length, like=self.question.like)
        else:
            scores = retriever.score(claim, corpus.whole, self.length)
            ranking = rank_scores(card.name, corpus.whole.id, self.length, scores)
        self.backgrounds[card.name] = ranking
        if self.masks:
            ranking = ranking.only(self.kept(ranking), left_out=self.left_out(ranking))
        self.rankings[card.name] = ranking

    def kept(self, ranking: Ranking) -> Mask:
        """Tell which spans of a ranking are candidates; shape (n_spans,)."""
        kept = np.ones(len(ranking), dtype=np.bool_)
        for work_id, mask in self.masks.items():
            if work_id in ranking.works:
                part = ranking.part(work_id)
                kept[part] = mask[ranking.start[part]]
        return kept

    def left_out(self, ranking: Ranking) -> int:
        """Count the spans of a ranking's works that are not candidates."""
        return sum(int((~mask).sum()) for work_id, mask in self.masks.items() if work_id in ranking.works)

    def _rank_many(self, card: RetrieverCard, retriever: Retriever) -> Ranking:
        """Rank the works that are prepared; what turns out to be damaged, or was deleted since, is passed over."""
        works = self.corpus.versions
        if not isinstance(retriever, CorpusRetriever) or not card.library:
            able = ", ".join(each.name for each in registry.cards() if each.library)
            raise BadRequest(f"{card.label} ({card.name}) searches one work at a time. The whole library: {able}.")
        missing = retriever.missing(works, self.length)
        self.missing.update(missing)
        if len(missing) < len(works):
            if isinstance(retriever, Compacting) and retriever.compact_due(works, self.length):
                raise StaleIndex(
                    "These works are together too large for memory, so they are searched through an index of the whole "
                    "library, which has not been built for all of them yet. Build it, or search fewer works."
                )
            ranking = retriever.rank(self.question.claim, self.corpus, self.length, like=self.question.like)
            if card.kind != "dense":
                return ranking
            self.missing.update({work.id for work in works}.difference(ranking.works))
            if ranking.works:
                return ranking
        raise NoIndex("None of these works has been prepared yet. Prepare them first.")


def first_passages(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Take the top k passages of a ranking for a snapshot: of overlapping spans the best, as a page groups them."""
    top: list[Hit] = []
    for hit in hits:
        if len(top) == SNAPSHOT_TOP_K:
            break
        if not any(other.overlaps(hit) for other in top):
            top.append(hit)
    return tuple(top)


@dataclass(frozen=True, slots=True)
class PartBorne:
    """What a card's unit is worth for one of the claims joined, and the passage of it that bears the claim best."""

    condition: Condition
    probability: float
    span: Span
    place: Place


class Verdicts:
    """Judges the hits of a search, each in its own work, which is scored where only an approximate index was asked."""

    def __init__(self, findings: Findings, works: Mapping[str, Work], retriever: Callable[[str], Retriever]) -> None:
        self._findings = findings
        self._works = works
        self._retriever = retriever
        self._by_meaning = {name: each.strength if each else None for name, each in findings.calibrations.items()}
        self._classifiers: dict[tuple[str, str], StrengthClassifier] = {}
        self._unknown_words: dict[str, OutOfVocabulary] = {}
        self._scored: dict[tuple[str, str], Ranking] = {}
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    def of(self, retriever: str, hit: Hit) -> Strength:
        """Judge a hit of a retriever."""
        key = retriever, hit.work_id
        if key not in self._classifiers:
            rankings = {
                name: self._in_work(name, hit.work_id)
                for name, ranking in self._findings.rankings.items()
                if hit.work_id in ranking.works
            }
            unknown_words = None if self._findings.question.source else self._out_of_vocabulary(hit.work_id)
            self._classifiers[key] = StrengthClassifier(
                rankings[retriever], rankings, unknown_words=unknown_words, by_meaning=self._by_meaning
            )
        return self._classifiers[key].of(hit)

    def parts(self, retriever: str, hit: Hit, work: Work) -> tuple[PartBorne, ...]:  # noqa: ARG002 - see ComposedVerdicts
        """Say what a hit is worth for each of the claims joined; nothing of a single one."""
        return ()

    def _out_of_vocabulary(self, work_id: str) -> OutOfVocabulary:
        if work_id not in self._unknown_words:
            self._unknown_words[work_id] = OutOfVocabulary.of(self._findings.question.claim, self._works[work_id])
        return self._unknown_words[work_id]

    def _in_work(self, name: str, work_id: str) -> Ranking:
        """Give all spans of one work with the scores that a retriever has for them; 0 for those it did not find."""
        ranking = self._findings.backgrounds[name]
        work = self._works[work_id].version
        if ranking.works == (work_id,) and len(ranking) == work.candidates(ranking.length):
            return ranking
        if (name, work_id) not in self._scored:
            scores = None if ranking.exact else self._scored_exactly(name, work)
            if scores is None:
                part = ranking.part(work_id)
                scores = np.zeros(work.candidates(ranking.length), dtype=np.float32)
                scores[ranking.start[part]] = ranking.scores[part]
            self._scored[name, work_id] = rank_scores(name, work_id, ranking.length, scores)
        return self._scored[name, work_id]

    def _scored_exactly(self, name: str, work: WorkVersion) -> Scores | None:
        """Score all spans of a work of which an approximate index has found some: hits are judged among all of them.

        None where that cannot be done; then they are judged among those found.
        """
        retriever = self._retriever(name)
        if not isinstance(retriever, VectorRetriever):
            return None
        question = self._findings.question
        with suppress(StaleIndex):  # deleted since the search
            if name not in self._vectors:
                self._vectors[name] = retriever.vector(question.claim, question.like)
            return retriever.score_vector(self._vectors[name], work, self._findings.length)
        return None
