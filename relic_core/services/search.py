"""The main job: a claim, a work and a length in; the evidence of several retrievers, side by side, out."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from relic_core import __version__
from relic_core.domain import WorkHit, group_overlapping, rank_scores
from relic_core.errors import BadRequest, RelicError
from relic_core.ports import VectorRetriever
from relic_core.retrieval import registry
from relic_core.retrieval.fusion import fuse
from relic_core.retrieval.strength import OutOfVocabulary, StrengthClassifier
from relic_core.services.answers import Column, SearchResult
from relic_core.services.asking import read_question
from relic_core.services.columns import (
    CANDIDATES_PER_RESULT,
    HEAD,
    NO_CLAIM,
    asked_of,
    elsewhere,
    first_passages,
    make_card,
    rank_with_all,
    refused,
    waits,
)
from relic_core.text import masking
from relic_core.text.words import unknown_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from relic_core.domain import Ranking, Scores, Span, Work, WorkFilter, WorkSummary
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.retrieval.reranked import Reranked
    from relic_core.services.answers import SearchRequest
    from relic_core.services.asking import Question
    from relic_core.wiring import App

_FINDERS_KEPT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is known before columns are made: the question, and of every retriever its ranking and judge, or refusal."""

    request: SearchRequest
    work: Work
    question: Question
    among: npt.NDArray[np.bool_]
    quoted: tuple[masking.Quoted, ...] = ()
    rankings: dict[str, Ranking] = field(default_factory=dict)
    refusals: dict[str, RelicError] = field(default_factory=dict)
    judges: dict[str, StrengthClassifier] = field(default_factory=dict)

    @property
    def candidates(self) -> int:
        """How many spans are ranked."""
        return int(self.among.sum())


class Search:
    """Answers search requests."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._finders: OrderedDict[str, masking.QuotationFinder] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, request: SearchRequest, *, at_once: bool = False) -> SearchResult:
        """Rank passages for a claim, or by their likeness to a passage, with every retriever asked for.

        A retriever whose index is not built yet gives a pending column; the others do not wait for it.

        - `at_once`: leave the columns of what reads passages anew, which takes seconds, waiting. The others are as they
          are in the whole answer.

        Raises BadClaim: the claim cannot be searched with.
        Raises BadRequest: an unknown retriever; a work shorter than the length asked for; chapters that the work has
        not, or that hold no passage so long; a library of which nothing is left to search.
        Raises NotFound: no work has that id, or the passage asked with is not there.
        """
        if not request.work_id:
            return self._app.library_search.run(request, at_once=at_once)
        began = time.perf_counter()
        work = self._app.works.load(request.work_id)
        question = read_question(self._app, request)
        masking.check_script(question.claim, work)
        is_claim = question.source is None
        found = _Found(
            request=request,
            work=work,
            question=question,
            among=_among(work, request, question),
            quoted=self._finder(work).find(request.claim_text) if is_claim else (),
        )
        self._rank_all(found, at_once=at_once)
        encoders = self.encoders(found.rankings)
        foreign = OutOfVocabulary.of(question.claim, work) if is_claim else None
        for name, ranking in found.rankings.items():
            found.judges[name] = StrengthClassifier(ranking, found.rankings, foreign=foreign, encoders=encoders)
        columns = tuple(self._column(name, found) for name in request.retrievers)
        made_with = (
            f"work {work.sha256[:12]}",
            work.segmenter,
            *self.models(found.rankings),
            f"version {__version__}",
        )
        return SearchResult(
            request=request,
            work=work,
            claim=question.claim,
            columns=columns,
            quoted=found.quoted,
            unknown=unknown_words(question.claim.words, work) if is_claim else (),
            weak=is_claim and not found.refusals and all(_weak(name, found) for name in found.rankings),
            seconds=time.perf_counter() - began,
            made_with=", ".join(made_with),
            source=question.source,
        )

    def scope(self, narrowing: WorkFilter) -> tuple[WorkSummary, ...]:
        """List the works that a search of the library would search, by title."""
        return self._app.works.scope(narrowing)

    def mask(self, claim_text: str, quoted: masking.Quoted) -> str:
        """Put a mask in the place of words of the work that a claim quotes."""
        return masking.mask_quotation(claim_text, quoted)

    def encoders(self, rankings: Iterable[str]) -> dict[str, str]:
        """Identities of the encoders that had a part in rankings, by retriever."""
        named = {name: self._app.indexes.retriever(name).encoder_identity for name in rankings}
        return {name: identity for name, identity in named.items() if identity}

    def models(self, rankings: Iterable[str]) -> tuple[str, ...]:
        """Name the models that had a part in rankings, each once: identities of encoders, digests of rerankers."""
        names, retriever, model = list(rankings), self._app.indexes.retriever, self._app.indexes.model
        said = [model(name, identity) for name, identity in self.encoders(names).items()]
        for name in names:
            if registry.card(name).kind == "reranker":
                facts = retriever(name).configuration
                identity = f"{facts['reranker reranker']} {facts.get('reranker weights', '')[:12]}".strip()
                said.append(model(name, identity))
        return tuple(dict.fromkeys(said))

    def _finder(self, work: Work) -> masking.QuotationFinder:
        with self._lock:
            finder = self._finders.pop(work.fingerprint, None) or masking.QuotationFinder(work)
            self._finders[work.fingerprint] = finder
            while len(self._finders) > _FINDERS_KEPT:
                self._finders.popitem(last=False)
            return finder

    def _rank_all(self, found: _Found, *, at_once: bool) -> None:
        """Rank with every retriever that can: the columns', and the others for "ranked elsewhere"."""
        indexes, request = self._app.indexes, found.request

        def ranked(name: str, scores: Scores) -> Ranking:
            return rank_scores(name, found.work.id, request.length, scores, among=found.among)

        rankings, refusals = rank_with_all(
            asked_of(request, indexes.usual(), at_once=at_once),
            combine=lambda card, parts: ranked(card.name, self._combine(card, parts, found)),
            rank=lambda name: ranked(name, self._score(name, found)),
        )
        found.rankings.update(rankings)
        found.refusals.update(refusals)

    def _combine(self, card: RetrieverCard, parts: list[Ranking], found: _Found) -> Scores:
        if card.kind != "reranker":
            return fuse(parts)
        if found.question.source is not None:
            raise RelicError(NO_CLAIM)
        reranked = cast("Reranked", self._app.indexes.retriever(card.name))
        return reranked.reorder(found.question.claim, found.work, *parts)

    def _score(self, name: str, found: _Found) -> Scores:
        retriever = self._app.indexes.retriever(name)
        question, work, length = found.question, found.work, found.request.length
        if question.source is not None and isinstance(retriever, VectorRetriever):
            return retriever.score_vector(question.vector(retriever), work.imprint, length)
        return retriever.score(question.claim, work, length)

    def _column(self, name: str, found: _Found) -> Column:
        card = self._app.indexes.card(name)
        ranking, refusal = found.rankings.get(name), found.refusals.get(name)
        if refusal is not None:
            return refused(card, refusal, found.candidates)
        if ranking is None:
            return waits(card, found.candidates)
        looked_at = found.request.results * CANDIDATES_PER_RESULT
        first = ranking.hits(max(looked_at, HEAD * CANDIDATES_PER_RESULT))
        if card.kind == "lexical":  # a score of 0 means no shared word: such a hit is first by the tie rule alone
            first = tuple(hit for hit in first if hit.score > 0)
        hits = first[:looked_at]
        cards = tuple(
            make_card(
                found.work,
                group,
                question=found.question,
                strength=found.judges[name].of(group.best),
                elsewhere=elsewhere(name, found.rankings, partial(_rank_of, group.best.span), self._app.indexes.card),
                quoted=found.quoted,
            )
            for group in group_overlapping(hits)[: found.request.results]
        )
        strength = cards[0].strength if cards else None
        head = first_passages(WorkHit(found.work.id, hit) for hit in first)
        return Column(name, card.label, card.description, cards, strength, found.candidates, head=head)


def _rank_of(span: Span, ranking: Ranking) -> int:
    return ranking.rank_of(span)


def _weak(name: str, found: _Found) -> bool:
    """Whether the best that a retriever ranks is weak, shown as a column or not."""
    (best,) = found.rankings[name].hits(1)
    return best.score == 0 or found.judges[name].of(best).level == "weak"


def _among(work: Work, request: SearchRequest, question: Question) -> npt.NDArray[np.bool_]:
    """Tell which spans of a work are candidates: those that lie in the chapters chosen, and not by the passage given.

    Returns: at least one is true.

    Raises BadRequest: the work has no such chapter, or no candidate is left.
    """
    length = request.length
    if work.candidates(length) == 0:
        held = "one sentence" if len(work.sentences) == 1 else f"{len(work.sentences)} sentences"
        raise BadRequest(f"{work.title} has {held}, so it holds no passage of {length}. Choose a shorter quotation.")
    among = np.ones(work.candidates(length), dtype=np.bool_)
    if request.chapters:
        among = _inside(work, request.chapters, length)
        if not among.any():
            chosen = "The chapter chosen holds" if len(request.chapters) == 1 else "The chapters chosen hold"
            raise BadRequest(
                f"{chosen} no passage of {length} {'sentence' if length == 1 else 'sentences'} in a row. Choose a "
                f"{'longer chapter' if length == 1 else 'shorter quotation, or more chapters'}."
            )
    if left_out := question.left_out(work, length):
        among[left_out.start : left_out.stop] = False
        if not among.any():
            raise BadRequest(
                "Beside the passage given there is no other of this length to compare it with. Choose a shorter "
                "quotation, more chapters or another work."
            )
    return among


def _inside(work: Work, chapters: tuple[int, ...], length: int) -> npt.NDArray[np.bool_]:
    """Tell which spans have every sentence in one of some chapters, numbered from 1; shape (n_spans,)."""
    count = len(work.chapters)
    if unknown := sorted({chapter for chapter in chapters if not 1 <= chapter <= count}):
        raise BadRequest(
            f"{work.title} has no chapter {', '.join(map(str, unknown))}: its chapters are numbered 1 to {count} in "
            "this edition, whatever is printed over them."
        )
    chapter_of = np.fromiter((sentence.chapter for sentence in work.sentences), np.int64, len(work.sentences))
    before = np.concatenate([[0], np.cumsum(np.isin(chapter_of + 1, chapters))])
    inside: npt.NDArray[np.bool_] = before[length:] - before[:-length] == length
    return inside
