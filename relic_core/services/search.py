"""The main job: a claim, where to look and a length in; the evidence of several retrievers, side by side, out."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from relic_core import __version__
from relic_core.caching import LRUCache
from relic_core.domain import (
    GAP,
    MAX_LENGTH,
    MAX_RESULTS,
    MIN_LENGTH,
    Claim,
    Corpus,
    Group,
    Hit,
    Place,
    SearchRequest,
    SeedPassage,
    Span,
    Unit,
    Work,
    WorkFilter,
    WorkSummary,
    group_overlapping,
)
from relic_core.domain.calibration import Joining
from relic_core.errors import BadClaim, BadRequest, NoIndex, RelicError, StaleIndex
from relic_core.ports import Matching, Progress, VectorRetriever
from relic_core.reporting.passages import Passage, quotation, whole_sentences
from relic_core.retrieval import composing
from relic_core.retrieval.composing import ComposedVerdicts
from relic_core.retrieval.read_by_model import stopped
from relic_core.retrieval.registry import RetrieverCard, Retrievers, in_order
from relic_core.retrieval.search import (
    SNAPSHOT_TOP_K,
    Findings,
    PartBorne,
    Question,
    Source,
    Verdicts,
    candidates,
    card_order,
    first_passages,
    retrievers_to_ask,
)
from relic_core.retrieval.strength import Strength
from relic_core.retrieval.words import work_terms
from relic_core.services.works import Works
from relic_core.text import masking
from relic_core.text.masking import Quoted
from relic_core.text.words import content_tokens, shared_words, tokens, unknown_words

CANDIDATES_PER_RESULT = 6
"""Hits looked at for each result wanted, since overlapping ones share a card."""

PASSAGES_OF_A_WORK = 3
"""Passages that are shown behind a work."""

_HITS_BY_WORK = 2_000
"""First hits of a ranking that are looked at for works."""

BEST_ORDER = ("reranked", "fusion")
"""Rankings that order the best evidence, the one that was measured as the best first."""

_FINDERS_KEPT = 3


@dataclass(frozen=True, slots=True)
class Card:
    """One hit with all a reader needs to judge it.

    - `quotation`: the words, verbatim, with the claim's words lit; `whole`: those of `shown`, the whole sentences that
      it begins and ends in, with the span alone gold.
    - `other_ranks`: the other retrievers and the ranks they give it; 0 where it is not among those they rank.
    - `shared`: words it shares with the claim, in the order of the text, each once.
    - `quoted`: the claim already quotes words of it.
    - `matches`: words of the claim, each with the word of the passage that it met, where its retriever compares so.
    - `others`: passages that this card stands for: they overlap it, or stand in the sentences that it shows.
    - `parts`: of a composed search what it is worth for each claim, in the order of the rows; `score` is then its
      probability, and its strength is weak where it is not in the answer.
    """

    work: Work
    rank: int
    span: Span
    quotation: Passage
    shown: Span
    whole: Passage
    place: Place
    score: float
    strength: Strength
    other_ranks: tuple[tuple[RetrieverCard, int], ...]
    shared: tuple[str, ...]
    quoted: bool
    others: tuple[Hit, ...]
    parts: tuple[PartBorne, ...] = ()
    matches: tuple[tuple[str, str], ...] = ()

    @property
    def answers(self) -> bool:
        """Whether it belongs to the answer of a composed search."""
        return bool(self.parts) and self.strength.level != "weak"

    def shows(self, other: Card | Hit) -> bool:
        """Whether it shows the passage of another, or a part of it as its own."""
        same = self.work.id == (other.work.id if isinstance(other, Card) else other.work_id)
        return same and (self.span.overlaps(other.span) or self.shown.holds(other.span))


@dataclass(frozen=True, slots=True)
class Column:
    """What one retriever brings up.

    - `cards`: best first; empty while `pending`, and where no passage shares a word with the claim.
    - `candidates`: how many passages were ranked: those of the chapters or works chosen, and without the passage that
      others are to be like and what overlaps it.
    - `pending`: the work is not prepared for it yet, or its index is damaged: building it anew brings the cards.
    - `waiting`: it takes seconds and has been left for later: see `Search.run`.
    - `note`: what is wrong, for the reader, or how well an approximate index did when it was measured.
    - `exact`: every candidate was compared; not so where an approximate index has answered.
    - `top_k`: its first passages, to be kept and compared: of overlapping spans the best.
    """

    card: RetrieverCard
    cards: tuple[Card, ...]
    strength: Strength | None
    candidates: int
    pending: bool = False
    waiting: bool = False
    note: str = ""
    exact: bool = True
    top_k: tuple[Hit, ...] = ()

    @property
    def retriever(self) -> str:
        """The retriever's name."""
        return self.card.name

    @property
    def answered(self) -> bool:
        """Whether it has nothing more to say: its index is there, and it has not refused."""
        return not (self.pending or self.waiting) and not (self.note and self.exact)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage of the best evidence; `chosen_by`: columns, each with its number there among twice as many as shown."""

    card: Card
    retriever: str
    chosen_by: tuple[tuple[Column, int], ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one request.

    - `work`: the work searched; None where the whole library was.
    - `claim`: the claim as understood; where a passage was given, its words.
    - `quoted`: words of the claim that stand in the work; `unknown`: distinctive ones that it never uses. Neither is
      looked for in a whole library, nor of a passage.
    - `weak`: every retriever that pages offer has answered, shown or not, and none finds more than another book would
      hold.
    - `searched`: the works searched, where the whole library was; `unprepared`: those that a retriever by meaning has
      not read yet.
    - `source`: the passage that others are to be like, where one was given.
    - `best`: twice as many passages as a column has, each once, in the order of the best ranking that answered; then
      those that only other columns show.
    - `by_work`: of a library its works by their best passage in the same ranking, of each the best few, best first;
      then works that only other columns rank.
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
    searched: tuple[WorkSummary, ...] = ()
    unprepared: tuple[WorkSummary, ...] = ()
    source: Source | None = None
    best: tuple[Evidence, ...] = ()
    by_work: tuple[tuple[Hit, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Shown:
    """Of one ranking: its best groups of hits; its first passages; whether all were lost.

    - `groups`: as many as the best evidence shows, the first half of which is the column's.
    - `gone`: all hits stood in works that were removed or changed since they were ranked.
    """

    groups: tuple[Group, ...]
    top_k: tuple[Hit, ...]
    gone: bool = False


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
        self._finders: LRUCache[masking.QuotationFinder] = LRUCache(_FINDERS_KEPT)

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
        work = self._works.load(request.work_id) if request.work_id else None
        question = self._read(request)
        if work is not None:
            masking.check_script(question.claim, [work])
            if not work.candidates(request.length):
                raise BadRequest(
                    f"{work.title} has {_sentences(len(work.sentences))}, so it holds no passage of {request.length}. "
                    "Choose a shorter quotation."
                )
        corpus, searched = (Corpus.of(work), ()) if work else self._library(request)
        quoting = self._sentences_quoted if request.critics_quote else None
        masks = candidates(question, corpus, request.length, request.chapters, quoting)
        found = Findings(question=question, corpus=corpus, length=request.length, masks=masks)
        if found.candidates == 0:
            admitted = self._works.admitted(request.work_filter)  # what holds no such passage is not in the corpus
            longest = max((version.sentences for _, version in admitted), default=0)
            raise BadRequest(
                f"No work searched has {'a' if question.source is None else 'another'} passage of "
                f"{_sentences(request.length)}; the longest of them has {longest} in all. Choose a shorter quotation, "
                "or more works."
            )
        composed: ComposedVerdicts | None = None
        results = dict.fromkeys(request.retrievers, request.results)
        if request.conditions:
            composed = self._compose(request, found)
            for name in found.rankings:
                results[name] = min(MAX_RESULTS, composed.in_answer(name) + request.results)
            shown = {name: self._choose_units(name, found, results[name], request.unit) for name in found.rankings}
        else:
            default = [card for card in self._retrievers.default() if work or card.library]
            found.ask(retrievers_to_ask(request.retrievers, default, at_once=at_once), self._retrievers.get, progress)
            shown = {name: self._choose(name, found, request.results) for name in found.rankings}
        works = {work.id: work} if work else self._load(found, shown, request.retrievers)
        verdicts = composed or Verdicts(found, works, self._retrievers.get)
        if request.unit == "passage":
            twice = {name: 2 * results.get(name, request.results) for name in shown}
            shown = {name: _together(each, works, twice[name]) for name, each in shown.items()}
        is_claim = question.source is None
        quoted = self._quoted(request.claim_text, work) if work and is_claim and not request.conditions else ()
        columns = tuple(
            self._column(name, found, shown.get(name), works, verdicts, quoted, results[name])
            for name in request.retrievers
        )
        return SearchResult(
            request=request,
            work=work,
            claim=question.claim,
            columns=columns,
            quoted=quoted,
            unknown=unknown_words(_wanted_text(request) or question.claim.words, work) if work and is_claim else (),
            weak=is_claim
            and not found.refusals
            and not any(each.gone for each in shown.values())
            and all(
                _weak(name, each.groups, verdicts) for name, each in shown.items() if self._retrievers.card(name).shown
            ),
            seconds=time.perf_counter() - began,
            made_with=self._made_with(found),
            searched=searched,
            unprepared=tuple(each for each in searched if each.id in found.missing),
            source=question.source,
            best=self._best(columns, found, shown, works, verdicts, quoted),
            by_work=()
            if work or request.conditions
            else self._by_work(_leading(shown, request.retrievers), found, request.retrievers),
        )

    def _read(self, request: SearchRequest) -> Question:
        """Read the claim of a request, or find the passage that it asks with."""
        if request.like is None:
            claim = masking.read_claim(request.claim_text, max_words=self._max_claim_words)
            return Question(claim=claim, wanted=frozenset(content_tokens(_wanted_text(request) or claim.words)))
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

    def _library(self, request: SearchRequest) -> tuple[Corpus, tuple[WorkSummary, ...]]:
        admitted = self._works.admitted(request.work_filter)
        if not admitted:
            raise BadRequest(_nothing_admitted(request.work_filter))
        searched = [(work, version) for work, version in admitted if version.candidates(request.length)]
        corpus = Corpus(tuple(version for _, version in searched), self._works.load)
        return corpus, tuple(work for work, _ in searched)

    def _quoted(self, claim_text: str, work: Work) -> tuple[Quoted, ...]:
        return self._finders.get(work.fingerprint, lambda: masking.QuotationFinder(work)).find(claim_text)

    def joining(self, retriever: str) -> Joining:
        """Say what probabilities are known of a retriever's scores. Raises BadRequest: none are."""
        known = (self._retrievers.get(card.name).calibration for card in in_order([retriever]))
        return composing.joining(retriever, next((each for each in known if each), None))

    def _compose(self, request: SearchRequest, found: Findings) -> ComposedVerdicts:
        """Rank for every claim, and put the rankings of units for all together in the place of those of spans."""
        known: dict[str, Joining] = {}
        refused: dict[str, RelicError] = {}
        for name in request.retrievers:
            try:
                known[name] = self.joining(name)
            except RelicError as error:
                refused[name] = error
        claims = [masking.read_claim(row.claim_text, max_words=self._max_claim_words) for row in request.rows]
        for card in in_order(known):
            if isinstance(retriever := self._retrievers.get(card.name), VectorRetriever):
                retriever.read_ahead(claims, found.corpus.whole)
        parts = []
        for claim in claims:
            if found.corpus.whole:
                masking.check_script(claim, [found.corpus.whole])
            question = Question(claim=claim, wanted=frozenset())
            part = Findings(question=question, corpus=found.corpus, length=found.length, masks={})
            part.ask(in_order(known), self._retrievers.get)
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

    def _choose_units(self, name: str, found: Findings, results: int, unit: Unit) -> _Shown:
        """Choose what a column of a composed search may show: its passages, or a passage for each unit."""
        hits = found.rankings[name].hits(max(2 * results, SNAPSHOT_TOP_K) * CANDIDATES_PER_RESULT)
        groups = group_overlapping(hits) if unit == "passage" else tuple(map(Group, hits))
        return _Shown(groups[: 2 * results], first_passages(hits))

    def _first(self, name: str, found: Findings, k: int) -> tuple[Hit, ...]:
        """Give the first k hits of a ranking, without those that stand there by the tie rule alone."""
        first = found.rankings[name].hits(k)
        if self._retrievers.card(name).kind in {"lexical", "imported"}:  # 0: no shared word, or not named
            first = tuple(hit for hit in first if hit.score > 0)
        return first

    def _choose(self, name: str, found: Findings, results: int) -> _Shown:
        """Choose what a column may show, and the first passages that are kept of it."""
        looked_at = results * CANDIDATES_PER_RESULT
        first = self._first(name, found, max(2 * looked_at, SNAPSHOT_TOP_K * CANDIDATES_PER_RESULT))
        best, next_best = first[:looked_at], first[looked_at : 2 * looked_at]
        card = self._retrievers.card(name)
        if found.corpus.whole and card.kind != "imported" and not card.server:  # another system's order is its own
            best, next_best = (card_order(hits, found.corpus.whole) for hits in (best, next_best))
        groups = group_overlapping((*best, *next_best))
        return _Shown(groups if found.corpus.whole else groups[: 2 * results], first_passages(first))

    def _load(self, found: Findings, shown: dict[str, _Shown], named: Iterable[str]) -> dict[str, Work]:
        """Load the works of the hits shown, and of the best hit of each retriever that is not shown.

        A work that was removed or cut anew since it was ranked loses its hits. Where there is no hit nothing is known
        of the scripts. Raises BadClaim: the claim is in another script than all of them.
        """
        wanted = {*named, _leading(shown, named)}
        groups = [group for name, each in shown.items() for group in each.groups[: None if name in wanted else 1]]
        versions = {version.id: version for version in found.corpus.versions}
        loaded = self._works.load_all(dict.fromkeys(group.best.work_id for group in groups))
        works = {work_id: work for work_id, work in loaded.items() if work.fingerprint == versions[work_id].fingerprint}
        for name, each in shown.items():
            left = tuple(group for group in each.groups if group.best.work_id in works)
            shown[name] = _Shown(left, each.top_k, gone=bool(each.groups and not left))
        masking.check_script(found.question.claim, works.values())
        for work in works.values() if found.question.source is None else ():
            work_terms(work, "tokens", self._indexes)  # from the disk, much faster than read anew
        return works

    def _column(
        self,
        name: str,
        found: Findings,
        shown: _Shown | None,
        works: Mapping[str, Work],
        verdicts: Verdicts,
        quoted: tuple[Quoted, ...],
        results: int,
    ) -> Column:
        card = self._retrievers.card(name)
        if name in found.refusals:
            error = found.refusals[name]
            return Column(
                card,
                cards=(),
                strength=None,
                candidates=found.candidates,
                pending=isinstance(error, StaleIndex),
                note="" if isinstance(error, NoIndex) else str(error),  # `pending` alone tells it
            )
        if shown is None:
            return Column(card, (), None, found.candidates, waiting=True)
        ranking = found.rankings[name]
        note = "" if ranking.exact else _measured(name, found)
        if shown.gone:
            note = "What was found was in works that have been removed or changed. Search again."
        cards = tuple(
            self._card(name, group, found, works[group.best.work_id], verdicts, quoted)
            for group in shown.groups[:results]
        )
        return Column(
            card,
            cards,
            cards[0].strength if cards else None,
            ranking.candidates,
            note=note,
            exact=ranking.exact,
            top_k=shown.top_k,
        )

    def _card(
        self,
        name: str,
        group: Group,
        found: Findings,
        work: Work,
        verdicts: Verdicts,
        quoted: tuple[Quoted, ...],
    ) -> Card:
        """Make the card of a hit. Rerankers' ranks are left out: they come seconds after the others' cards are read."""
        span = group.best.span

        def light(sentence: str) -> list[tuple[int, int]]:
            return shared_words(found.question.wanted, sentence)

        words, whole = quotation(work, span, light=light), whole_sentences(work, span)
        parts = verdicts.parts(name, group.best, work)
        ranked = {} if parts else found.rankings
        retriever = self._retrievers.get(name)
        others = ((self._retrievers.card(each), ranking) for each, ranking in ranked.items() if each != name)
        return Card(
            work=work,
            rank=group.best.rank,
            span=span,
            quotation=words,
            shown=whole,
            whole=words if whole == span else quotation(work, span, within=whole, light=light),
            place=work.place(span),
            score=group.best.score,
            strength=verdicts.of(name, group.best),
            other_ranks=tuple(
                (card, ranking.rank_of(span, work.id))
                for card, ranking in others
                if card.kind != "reranker" and (card.shown or ranking.scores.any())  # around a passage asked with: none
            ),
            shared=tuple({piece.text.casefold(): piece.text for piece in words.pieces if piece.lit}.values()),
            quoted=any(span.overlaps(each.span) for each in quoted),
            others=group.others,
            parts=parts,
            matches=retriever.matches(found.question.claim, work, span) if isinstance(retriever, Matching) else (),
        )

    def _best(
        self,
        columns: Sequence[Column],
        found: Findings,
        shown: Mapping[str, _Shown],
        works: Mapping[str, Work],
        verdicts: Verdicts,
        quoted: tuple[Quoted, ...],
    ) -> tuple[Evidence, ...]:
        """Merge what the columns show into one list, in the order of the best ranking that answered."""
        leading = _leading(shown, [column.retriever for column in columns])
        if leading is None:
            return ()

        marked: set[tuple[str, int]] = set()  # a card of a column is named beside one passage alone

        def evidence(retriever: str, card: Card) -> Evidence:
            chosen_by = []
            for column in columns:
                groups = shown[column.retriever].groups if column.retriever in shown else ()
                mine = (number for number, group in enumerate(groups, start=1) if card.shows(group.best))
                chosen_by += [(column, number) for number in [*mine][:1] if (column.retriever, number) not in marked]
            marked.update((column.retriever, number) for column, number in chosen_by)
            return Evidence(card, retriever, tuple(chosen_by))

        made = next((column.cards for column in columns if column.retriever == leading), ())
        more = (
            self._card(leading, group, found, works[group.best.work_id], verdicts, quoted)
            for group in shown[leading].groups[len(made) :]
        )
        cards = [(leading, card) for card in (*made, *more)]
        for column in columns:
            cards += [
                (column.retriever, card) for card in column.cards if not any(each.shows(card) for _, each in cards)
            ]
        # What answers joined claims comes first; the sort is stable, so all else stays.
        cards.sort(key=lambda each: bool(each[1].parts) and not each[1].answers)
        return tuple(evidence(*each) for each in cards)

    def _by_work(self, leading: str | None, found: Findings, named: Iterable[str]) -> tuple[tuple[Hit, ...], ...]:
        """Group the first hits of the best ranking by work; then works that only other rankings' first hits have."""
        together: dict[str, tuple[Hit, ...]] = {}
        for name in dict.fromkeys(each for each in (leading, *named) if each in found.rankings):
            own: dict[str, list[Hit]] = {}
            for group in group_overlapping(self._first(name, found, _HITS_BY_WORK)):
                own.setdefault(group.best.work_id, []).append(group.best)
            for work_id, some in own.items():
                together.setdefault(work_id, tuple(some[:PASSAGES_OF_A_WORK]))
        return tuple(together.values())

    def _made_with(self, found: Findings) -> str:
        """Name the works, segmenters, models and the program version."""
        corpus = found.corpus
        if corpus.whole:
            works = f"work {corpus.whole.sha256[:12]}"
        else:
            many = len(corpus.versions)
            together = hashlib.sha256("".join(work.fingerprint for work in corpus.versions).encode()).hexdigest()
            works = f"{'1 work' if many == 1 else f'{many} works'} {together[:12]}"
        segmenters = dict.fromkeys(work.segmenter for work in corpus.versions)
        return ", ".join((works, *segmenters, *self._retrievers.models(found.rankings), f"version {__version__}"))


def _wanted_text(request: SearchRequest) -> str:
    """Join the claims that are to hold; empty of a single claim, which may have a gap."""
    return " ".join(row.claim_text for row in request.rows if row.joined != "not") if request.conditions else ""


def has_gap(claim_text: str) -> bool:
    """Whether a claim, or what is said around it, has a gap for a quotation.

    >>> has_gap("He reads [MASK] aloud"), has_gap("He reads aloud")
    (True, False)
    """
    return bool(masking.find_masks(claim_text))


def in_context(claim_text: str, context: str) -> str:
    """Put a claim into what is said around it: in the place of its gap, or behind it.

    >>> in_context("He blames others", "Mapplebeck is proud.")
    'Mapplebeck is proud. He blames others ____'
    >>> in_context("He blames others:", "He is proud. ___ Nobody answers.")
    'He is proud. He blames others: ____ Nobody answers.'
    >>> in_context("He blames ____", "He is proud."), in_context("He blames others", "")
    ('He blames ____', 'He blames others')
    """
    if not context.strip() or has_gap(claim_text):
        return claim_text
    start, end = next(iter(masking.find_masks(context)), (len(context), len(context)))
    around = (context[:start].strip(), claim_text.strip(), GAP, context[end:].strip())
    return " ".join(piece for piece in around if piece)


def shown_gap(claim_text: str) -> str:
    """Write the gap of a claim as pages write it.

    >>> shown_gap("He reads [MASK] aloud")
    'He reads ____ aloud'
    """
    for start, end in masking.find_masks(claim_text)[:1]:
        return f"{claim_text[:start]}{GAP}{claim_text[end:]}"
    return claim_text


def _leading(shown: Mapping[str, _Shown], named: Iterable[str]) -> str | None:
    """Name the ranking that orders the best evidence; None where none has a passage."""
    return next((name for name in (*BEST_ORDER, *named) if name in shown and shown[name].groups), None)


def _together(shown: _Shown, works: Mapping[str, Work], most: int) -> _Shown:
    """Join a group to the better one whose card shows its passage, since a card shows whole sentences."""
    groups: list[Group] = []
    spans: list[Span] = []
    for group in shown.groups:
        hit = group.best
        holds = (at for at, span in enumerate(spans) if groups[at].best.work_id == hit.work_id and span.holds(hit.span))
        if (at := next(holds, None)) is not None:
            groups[at] = Group(groups[at].best, (*groups[at].others, hit, *group.others))
        elif len(groups) == most:
            break
        else:
            groups.append(group)
            spans.append(whole_sentences(works[hit.work_id], hit.span))
    return _Shown(tuple(groups), shown.top_k, shown.gone)


def _sentences(count: int) -> str:
    return "one sentence" if count == 1 else f"{count} sentences"


def _weak(retriever: str, groups: tuple[Group, ...], verdicts: Verdicts) -> bool:
    """Whether the best that a retriever ranks is weak, shown as a column or not."""
    if not groups:
        return True
    best = max((group.best for group in groups), key=lambda hit: hit.score)  # cards have an order of their own
    return best.score == 0 or verdicts.of(retriever, best).level == "weak"


def _measured(name: str, found: Findings) -> str:
    """Say how many of the best an approximate ranking finds."""
    for part in in_order([name]):
        if part.name in found.rankings and (recall := found.rankings[part.name].recall):
            ten, hundred = map(_per_cent, recall)
            return (
                f"An approximate index answers here: for claims over the whole library it was measured to find {ten} "
                f"of the exact first ten, and {hundred} of the first hundred."
            )
    return "An approximate index answers here, and how many of the exact first it finds has not been measured."


def _per_cent(share: float) -> str:
    """Write a share in per cent, rounded down: what misses something is never said to find all.

    >>> _per_cent(0.9999), _per_cent(0.57), _per_cent(1.0)
    ('99.9%', '57.0%', '100.0%')
    """
    return f"{math.floor(round(share * 1000, 6)) / 10:.1f}%"


def _nothing_admitted(work_filter: WorkFilter) -> str:
    if not work_filter:
        return "There is no work to search yet. Add one in the Library, or with `python -m relic_core add FILE`."
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
