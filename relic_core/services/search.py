"""The main job: a claim, where to look and a length in; the evidence of several retrievers, side by side, out."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from relic_core import __version__
from relic_core.caching import LRUCache
from relic_core.domain import (
    ANY_LENGTH,
    EVERYWHERE,
    MAX_LENGTH,
    MIN_LENGTH,
    Claim,
    Corpus,
    Hit,
    Ranking,
    SearchRequest,
    SeedPassage,
    Voice,
    Work,
    WorkFilter,
    WorkSummary,
    WorkVersion,
    rank_works,
)
from relic_core.domain.calibration import Joining
from relic_core.errors import BadClaim, BadRequest, RelicError
from relic_core.installed import COMMAND
from relic_core.ports import Progress, VectorRetriever
from relic_core.reporting.passages import quotation
from relic_core.retrieval import calibration, composing
from relic_core.retrieval.composing import ComposedVerdicts
from relic_core.retrieval.read_by_model import stopped
from relic_core.retrieval.registry import Retrievers, goes_by_trained, in_order
from relic_core.retrieval.search import Findings, Mask, Question, Source, candidates, retrievers_to_ask
from relic_core.retrieval.speech import stored_speech
from relic_core.retrieval.words import work_terms
from relic_core.services.answers import Answer, Column, Evidence
from relic_core.services.lines import Lines
from relic_core.services.scenes import Scene
from relic_core.services.works import Works
from relic_core.text.languages import reads_english
from relic_core.text.masking import QuotationFinder, Quoted, check_script, has_gap, read_claim, shown_gap
from relic_core.text.words import content_tokens, tokens, unknown_words

__all__ = ["Search", "SearchResult", "has_gap", "shown_gap"]

_FINDERS_KEPT = 3


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one request.

    - `work`: the work searched; None where the whole library was.
    - `claim`: the claim as understood; where a passage was given, its words.
    - `quoted`: words of the claim that occur in the work; `unknown`: distinctive ones that it never uses. Neither is
      looked for in a whole library, nor of a passage.
    - `weak`: every retriever that pages offer has answered, shown or not, and none finds more than another book would
      hold. Of a short claim that cannot be judged well enough (docs/evaluation.md, "Any length").
    - `model`: "small" or "larger", of the models that come with the program the one that answered by meaning; empty for
      another, and where none did.
    - `searched`: the works searched, where the whole library was; `unprepared`: those that a retriever by meaning has
      not read yet.
    - `source`: the passage that others are to be like, where one was given.
    - `best`: twice as many passages as a column has, each once, in the order of the best ranking that answered; then
      those that only other columns show.
    - `ridge`: of one work how well each stretch of it answers, by that ranking: see `relic_core.retrieval.ridge`.
    - `by_work`: of a library its works by their best passage in the same ranking, of each the best few, best first;
      then works that only other columns rank.
    - `foreign`: that the models read English, of a work in another language that is searched by meaning.
    - `scenes`: of one work the chapters that hold most of the answer, best first.
    """

    request: SearchRequest
    work: Work | None
    claim: Claim
    columns: tuple[Column, ...]
    quoted: tuple[Quoted, ...]
    unknown: tuple[str, ...]
    weak: bool
    seconds: float
    made_with: str
    model: str = ""
    searched: tuple[WorkSummary, ...] = ()
    unprepared: tuple[WorkSummary, ...] = ()
    source: Source | None = None
    best: tuple[Evidence, ...] = ()
    ridge: tuple[float, ...] = ()
    by_work: tuple[tuple[Hit, ...], ...] = ()
    scenes: tuple[Scene, ...] = ()
    foreign: str = ""


class Search:
    """Answers search requests: of one work, a library of one, or of many; `quoted`: sentences that critics quote."""

    def __init__(
        self,
        retrievers: Retrievers,
        works: Works,
        quoted: Callable[[str], Collection[int]],
        *,
        indexes: Path,
        max_claim_words: int,
    ) -> None:
        self._retrievers = retrievers
        self._works = works
        self._sentences_quoted = quoted
        self._indexes = indexes
        self._max_claim_words = max_claim_words
        self._finders: LRUCache[QuotationFinder] = LRUCache(_FINDERS_KEPT)

    def run(self, request: SearchRequest, *, at_once: bool = False, progress: Progress = stopped) -> SearchResult:
        """Rank passages for a claim, or by their likeness to a passage, with every retriever asked for.

        A retriever whose index is not built yet gives a pending column; the others do not wait for it. Of many works,
        those that a retriever has not prepared are passed over by it, and named.

        - `at_once`: leave the columns of what reads passages anew, which takes seconds, waiting. The others are as they
          are in the whole answer.
        - `progress`: told how many passages a language model has read; where it raises JobCancelled, no more are, and
          its column goes by those. By default it is asked nothing.

        Raises BadClaim: the claim cannot be searched with.
        Raises BadRequest: an unknown retriever, or for a library one that searches single works only; no work is long
        enough; chapters that the work has not, or that hold no passage so long; nothing is left to search.
        """
        began = time.perf_counter()
        found, searched = self._asked(request)
        question, work = found.question, found.corpus.whole
        retrievers = self._retrievers.answering(found.corpus.versions, request.sentences)
        composed = self._compose(request, found, retrievers) if request.conditions else None
        if composed is None:
            default = [card for card in retrievers.default() if work or card.library]
            found.ask(retrievers_to_ask(request.retrievers, default, at_once=at_once), retrievers.get, progress)
        lines = None
        if request.length == ANY_LENGTH:
            lines = Lines(Claim(left=_wanted_text(request)) if composed else question.claim, retrievers.get)
        answer = Answer(request, found, retrievers, partial(self._load, found), composed, lines)
        return SearchResult(
            request=request,
            work=work,
            claim=question.claim,
            columns=answer.columns,
            quoted=question.quoted,
            unknown=()
            if work is None or question.source
            else unknown_words(_wanted_text(request) or question.claim.words, work),
            weak=answer.weak,
            seconds=time.perf_counter() - began,
            made_with=self._made_with(found, retrievers),
            model=retrievers.model if _by_meaning(request, found) else "",
            searched=searched,
            unprepared=tuple(each for each in searched if each.id in found.missing),
            source=question.source,
            best=answer.best,
            ridge=answer.ridge,
            by_work=answer.by_work,
            scenes=answer.scenes,
            foreign=reads_english(work.text)
            if work and any(goes_by_trained(column.retriever) for column in answer.columns)
            else "",
        )

    def rank(self, request: SearchRequest) -> Ranking:
        """Rank every passage by the one retriever asked for. Raises as `run`, and what the retriever refuses with.

        Of many works, one that searches single works only ranks each by itself; their scores are laid end to end.
        """
        (name,) = request.retrievers
        if not (request.work_id or self._retrievers.card(name).library):
            admitted = self._works.admitted(request.work_filter)
            long_enough = [work.id for work, version in admitted if version.candidates(request.sentences)]
            each = [replace(request, work_id=work_id, work_filter=EVERYWHERE) for work_id in long_enough]
            parts = [(one.work_id, self.rank(one).scores) for one in each]
            return rank_works(name, request.sentences, parts)
        found, _ = self._asked(request)
        retrievers = self._retrievers.answering(found.corpus.versions, request.sentences)
        found.ask(in_order([name]), retrievers.get)
        if name in found.refusals:
            raise found.refusals[name]
        return found.rankings[name]

    def _asked(self, request: SearchRequest) -> tuple[Findings, tuple[WorkSummary, ...]]:
        """Read a request: which passages are to be ranked for what, and of a library the works searched."""
        work = self._works.load(request.work_id) if request.work_id else None
        question = self._read(request, work)
        length = _length(request, work)
        corpus, searched = self._searched(request, question.claim, work, length)
        return self._findings(request, question, corpus, length), searched

    def _read(self, request: SearchRequest, work: Work | None) -> Question:
        """Read the claim of a request, or find the passage that it asks with."""
        if request.like is None:
            claim = read_claim(request.claim_text, max_words=self._max_claim_words)
            wanted = frozenset(content_tokens(_wanted_text(request) or claim.words))
            if work is None or request.conditions:
                return Question(claim=claim, wanted=wanted)
            finder = self._finders.get(work.fingerprint, lambda: QuotationFinder(work))
            return Question(claim=claim, wanted=wanted, quoted=finder.find(request.claim_text))
        source = self._source(request.like)
        claim = Claim(left=" ".join(quotation(source.work, source.span).plain.split()))
        if not tokens(claim.words):
            raise BadClaim(
                f"The passage {source.place.address} of {source.work.title} has no word, so nothing can be like it. "
                "Choose another one."
            )
        return Question(claim=claim, wanted=frozenset(content_tokens(claim.words)), source=source)

    def _source(self, like: SeedPassage) -> Source:
        """Find the passage that others are to be like; one that would run over the end of its work ends there."""
        if not MIN_LENGTH <= like.length <= MAX_LENGTH:
            raise BadRequest(
                f"Passages like one of {like.length} sentences were asked for; {MIN_LENGTH} to {MAX_LENGTH} are "
                "possible."
            )
        work = self._works.load(like.work_id)
        span = work.span_at(like.at, like.length)
        return Source(work=work, span=span, place=work.place(span))

    def _searched(
        self, request: SearchRequest, claim: Claim, work: Work | None, length: int
    ) -> tuple[Corpus, tuple[WorkSummary, ...]]:
        """Give what is searched: one work, or those of the library that are long enough."""
        if work is not None:
            check_script(claim, [work])
            if not work.candidates(length):
                raise BadRequest(
                    f"{work.title} has {_sentences(len(work.sentences))}, so it holds no passage of {length}. "
                    "Choose a shorter quotation."
                )
            return Corpus.of(work), ()
        admitted = self._works.admitted(request.work_filter)
        if not admitted:
            raise BadRequest(_nothing_admitted(request.work_filter))
        searched = [(work, version) for work, version in admitted if version.candidates(length)]
        corpus = Corpus(tuple(version for _, version in searched), self._works.load)
        return corpus, tuple(work for work, _ in searched)

    def _findings(self, request: SearchRequest, question: Question, corpus: Corpus, length: int) -> Findings:
        """Say which passages are to be ranked, of which nothing is found yet."""
        quoting = self._sentences_quoted if request.critics_quote else None
        of_voice = partial(self._of_voice, request.voice, corpus) if request.voice != "any" else None
        masks = candidates(question, corpus, length, request.chapters, quoting, of_voice)
        found = Findings(question=question, corpus=corpus, length=length, masks=masks)
        if found.candidates == 0:
            admitted = self._works.admitted(request.work_filter)  # what holds no such passage is not in the corpus
            longest = max((version.sentences for _, version in admitted), default=0)
            raise BadRequest(
                f"No work searched has {'a' if question.source is None else 'another'} passage of "
                f"{_sentences(length)}; the longest of them has {longest} in all. Choose a shorter "
                "quotation, or more works."
            )
        return found

    def _of_voice(self, voice: Voice, corpus: Corpus, work: WorkVersion) -> Mask:
        speech = stored_speech(work, indexes=self._indexes, load=corpus.load)
        return speech.spoken if voice == "speech" else ~speech.spoken

    def joining(self, retriever: str, retrievers: Retrievers | None = None) -> Joining:
        """Say what probabilities are known of a retriever's scores. Raises BadRequest: none are."""
        parts = ((retrievers or self._retrievers).get(card.name) for card in in_order([retriever]))
        return composing.joining(retriever, calibration.of(parts))

    def _compose(self, request: SearchRequest, found: Findings, retrievers: Retrievers) -> ComposedVerdicts:
        """Rank for every claim, and put the rankings of units for all together in the place of those of spans."""
        known: dict[str, Joining] = {}
        refused: dict[str, RelicError] = {}
        for name in request.retrievers:
            try:
                known[name] = self.joining(name, retrievers)
            except RelicError as error:
                refused[name] = error
        claims = [read_claim(row.claim_text, max_words=self._max_claim_words) for row in request.rows]
        for card in in_order(known):
            if isinstance(retriever := retrievers.get(card.name), VectorRetriever):
                retriever.read_ahead(claims, found.corpus.whole)
        parts = []
        for claim in claims:
            if found.corpus.whole:
                check_script(claim, [found.corpus.whole])
            question = Question(claim=claim, wanted=frozenset())
            part = Findings(question=question, corpus=found.corpus, length=found.length, masks={})
            part.ask(in_order(known), retrievers.get)
            refused |= {name: error for name, error in part.refusals.items() if name in known}
            found.missing |= part.missing
            parts.append(part)
        composed = {}
        for name in [each for each in known if each not in refused]:
            rankings, sigmoid = [part.backgrounds[name] for part in parts], known[name].sigmoids[found.length - 1]
            composed[name] = composing.compose_rankings(request.rows, rankings, sigmoid, found, unit=request.unit)
        found.refusals = refused
        found.rankings = {name: each.ranking for name, each in composed.items()}
        joined = [row.joined for row in request.rows]
        return ComposedVerdicts(request.rows, composed, {name: each.least(joined) for name, each in known.items()})

    def _load(self, found: Findings, work_ids: Iterable[str]) -> dict[str, Work]:
        """Load works with their words; one that was removed or cut anew since it was ranked is left out.

        Where there is no work nothing is known of the scripts. Raises BadClaim: the claim is in another script than all
        of them.
        """
        if whole := found.corpus.whole:
            stored_speech(whole.version, indexes=self._indexes, load=found.corpus.load)
            return {whole.id: whole}
        versions = {version.id: version for version in found.corpus.versions}
        loaded = self._works.load_all(work_ids)
        works = {work_id: work for work_id, work in loaded.items() if work.fingerprint == versions[work_id].fingerprint}
        check_script(found.question.claim, works.values())
        for work in works.values():  # from the disk, much faster than read anew
            stored_speech(work.version, indexes=self._indexes, load=works.__getitem__)
            if found.question.source is None:
                work_terms(work, "tokens", self._indexes)
        return works

    def _made_with(self, found: Findings, retrievers: Retrievers) -> str:
        """Name the works, segmenters, models and the program version."""
        corpus = found.corpus
        if corpus.whole:
            works = f"work {corpus.whole.sha256[:12]}"
        else:
            many = len(corpus.versions)
            together = hashlib.sha256("".join(work.fingerprint for work in corpus.versions).encode()).hexdigest()
            works = f"{'1 work' if many == 1 else f'{many} works'} {together[:12]}"
        segmenters = dict.fromkeys(work.segmenter for work in corpus.versions)
        return ", ".join((works, *segmenters, *retrievers.models(found.rankings), f"version {__version__}"))


def _by_meaning(request: SearchRequest, found: Findings) -> bool:
    """Whether the trained encoder had a part in one of the columns asked for."""
    return any(name in found.rankings and goes_by_trained(name) for name in request.retrievers)


def _length(request: SearchRequest, work: Work | None) -> int:
    """Say how long passages are ranked: of any length shorter ones where the work, or a chapter chosen, has no more."""
    if request.length or work is None:
        return request.sentences
    held = Counter(sentence.chapter + 1 for sentence in work.sentences)
    longest = max((held[chapter] for chapter in request.chapters), default=len(work.sentences))
    return max(MIN_LENGTH, min(request.sentences, longest))


def _wanted_text(request: SearchRequest) -> str:
    """Join the claims that are to hold; empty of a single claim, which may have a gap."""
    return " ".join(row.claim_text for row in request.rows if row.joined != "not") if request.conditions else ""


def _sentences(count: int) -> str:
    return "one sentence" if count == 1 else f"{count} sentences"


def _nothing_admitted(work_filter: WorkFilter) -> str:
    if not work_filter:
        return f"There is no work to search yet. Add one in the Library, or with `{COMMAND} add FILE`."
    asked = []
    if work_filter.works:
        asked.append("among the works chosen" if len(work_filter.works) > 1 else "the one chosen")
    if work_filter.authors:
        asked.append(f"by {' or '.join(work_filter.authors)}")
    first, last = work_filter.first_year, work_filter.last_year
    if first is not None and last is not None:
        asked.append(f"of the years {first} to {last}")
    elif first is not None or last is not None:
        asked.append(f"of {first} or later" if last is None else f"of {last} or before")
    return (
        f"No work of the library is {' and '.join(asked)}. Choose other works, authors or years, or none to search "
        "them all; a work whose year is not known is left out where years are given."
    )
