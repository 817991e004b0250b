"""What is shown of what retrievers found: passages chosen, loaded, judged, made into cards and merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from relic_core.domain import MAX_RESULTS, Group, Hit, Place, SearchRequest, Span, Work, group_overlapping
from relic_core.errors import NoIndex, StaleIndex
from relic_core.ports import Matching
from relic_core.reporting.passages import Passage, quotation, whole_sentences, widened
from relic_core.retrieval.composing import ComposedVerdicts
from relic_core.retrieval.registry import RetrieverCard, Retrievers, in_order
from relic_core.retrieval.ridge import ridge
from relic_core.retrieval.search import SNAPSHOT_TOP_K, Findings, PartBorne, Verdicts, card_order, first_passages
from relic_core.retrieval.strength import Strength
from relic_core.services.lines import Lines
from relic_core.services.scenes import Scene, scenes
from relic_core.text.speech import work_speech
from relic_core.text.words import lit_words

CANDIDATES_PER_RESULT = 6
"""Hits looked at for each result wanted, since overlapping ones share a card."""

PASSAGES_OF_A_WORK = 3
"""Passages that are shown behind a work."""

HITS_BY_WORK = 2_000
"""First hits of a ranking that are looked at for works."""

BEST_ORDER = ("reranked", "fusion")
"""Rankings that order the best evidence, and columns of a page that come first: the first of them that is there."""


@dataclass(frozen=True, slots=True)
class Card:
    """One hit with all a reader needs to judge it.

    - `span`: what was ranked; `line`: what is quoted of it: all of it, or where any length will do its best line.
    - `quotation`: the words of the line, verbatim, with the claim's words lit; `whole`: those of `shown`, the whole
      sentences that it begins and ends in, or of any length the passage around it; there the line alone is gold.
    - `other_ranks`: the other retrievers and the ranks they give it; 0 where it is not among those they rank.
    - `wanted`: the claim's words, as tokens.
    - `shared`: words it shares with the claim, in the order of the text, each once.
    - `quoted`: the claim already quotes words of it.
    - `speakers`: who speaks most of it, where tags name them: see `WorkSpeech.speakers`.
    - `matches`: words of the claim, each with the word of the passage that it met, where its retriever compares so.
    - `others`: passages that this card represents: they overlap it, or are in the sentences that it shows.
    - `parts`: of a composed search what it is worth for each claim, in the order of the rows; `score` is then its
      probability, and its strength is weak where it is not in the answer.
    """

    work: Work
    rank: int
    span: Span
    line: Span
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
    speakers: tuple[str, ...] = ()
    wanted: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        words = " ".join(self.quotation.plain.split())
        return f"{self.rank}. “{words}” ({self.work.title}, {self.place.label}; {self.score:.3f})"

    @property
    def answers(self) -> bool:
        """Whether it belongs to the answer of a composed search."""
        return bool(self.parts) and self.strength.level != "weak"

    def shows(self, other: Card | Hit) -> bool:
        """Whether it shows the passage of another, or a part of it as its own."""
        same = self.work.id == (other.work.id if isinstance(other, Card) else other.work_id)
        return same and (self.span.overlaps(other.span) or self.shown.holds(other.span))


def widen(card: Card) -> Card:
    """Quote a whole sentence more, one that the card shows first: see `widened`."""
    line = widened(card.work, card.line, card.shown)
    first, last = min(line.start, card.shown.start), max(line.end, card.shown.end)
    shown = Span(first, last - first)
    words, whole = _set(card.work, line, shown, card.wanted)
    return replace(
        card,
        line=line,
        shown=shown,
        quotation=words,
        whole=whole,
        place=card.work.place(line),
        speakers=_speakers(card.work, line),
    )


def _set(work: Work, line: Span, shown: Span, wanted: frozenset[str]) -> tuple[Passage, Passage]:
    """Set the words of a line, and those of what is shown around it, with the claim's words lit."""

    def light(sentence: str) -> list[tuple[int, int]]:
        return lit_words(wanted, sentence)

    words = quotation(work, line, light=light)
    return words, words if shown == line else quotation(work, line, within=shown, light=light)


def _speakers(work: Work, line: Span) -> tuple[str, ...]:
    return work_speech(work).speakers(*work.span_offsets(line))


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
    - `top_k`: its first passages, to be kept and compared: those of its cards, then of overlapping spans the best.
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
    """A passage of the best evidence.

    - `rank`: its number among those of `retriever`; `chosen_by`: columns, each with its number there. Both count twice
      as many as a column shows.
    """

    card: Card
    retriever: str
    rank: int
    chosen_by: tuple[tuple[Column, int], ...]


class Answer:
    """Answers a request with what retrievers found for it.

    - `load`: gives those of some works, by their ids, that are still as they were ranked.
    - `composed`: what judges the hits of joined claims; others are judged by their scores.
    - `lines`: chooses what is quoted of a passage, where any length will do.
    """

    def __init__(
        self,
        request: SearchRequest,
        found: Findings,
        retrievers: Retrievers,
        load: Callable[[Iterable[str]], Mapping[str, Work]],
        composed: ComposedVerdicts | None,
        lines: Lines | None = None,
    ) -> None:
        self._request = request
        self._found = found
        self._retrievers = retrievers
        self._composed = composed
        self._lines = lines
        self._quoted: dict[Hit, tuple[Span, Span]] = {}
        self._shown = chosen = {name: self._choose(name) for name in found.rankings}
        wanted = {*request.retrievers, self._leading}  # of others the best hit alone, for `weak`
        works: list[str] = []
        for name, groups in chosen.items():
            works += (group.best.work_id for group in groups[: None if name in wanted else 1])
        self._works = load(dict.fromkeys(works))
        self._verdicts = composed or Verdicts(found, self._works, retrievers.get)
        self._shown = {name: self._settle(name) for name in chosen}
        self._gone = {name for name in chosen if chosen[name] and not self._shown[name]}

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What each retriever asked for brings up."""
        return tuple(map(self._column, self._request.retrievers))

    @property
    def weak(self) -> bool:
        """See `SearchResult.weak`."""
        question = self._found.question
        if question.source or self._found.refusals or self._gone or (question.claim.short and not self._composed):
            return False
        return all(self._is_weak(name) for name in self._shown if self._retrievers.card(name).shown)

    @property
    def best(self) -> tuple[Evidence, ...]:
        """What the columns show as one list, in the order of the best ranking that answered."""
        leading = self._leading
        if leading is None:
            return ()
        made = next((column.cards for column in self.columns if column.retriever == leading), ())
        more = self._cards(leading, self._shown[leading][len(made) :])
        cards = [(leading, card) for card in (*made, *more)]
        for column in self.columns:
            new = [card for card in column.cards if not any(each.shows(card) for _, each in cards)]
            cards += [(column.retriever, card) for card in new]
        # What answers joined claims comes first; the sort is stable, so all else stays.
        cards.sort(key=lambda each: bool(each[1].parts) and not each[1].answers)
        best = []
        marked: set[tuple[str, int]] = set()  # a card of a column is named beside one passage alone
        for retriever, card in cards:
            numbers = [(column, self._number(column.retriever, card)) for column in self.columns]
            chosen_by = [(column, at) for column, at in numbers if at and (column.retriever, at) not in marked]
            marked.update((column.retriever, at) for column, at in chosen_by)
            best.append(Evidence(card, retriever, self._number(retriever, card), tuple(chosen_by)))
        return tuple(best)

    @property
    def by_work(self) -> tuple[tuple[Hit, ...], ...]:
        """The first hits of the best ranking by work; then works that only other rankings' first hits have."""
        if self._found.corpus.whole or self._composed:
            return ()
        works: dict[str, list[Hit]] = {}
        for name in dict.fromkeys((self._leading, *self._request.retrievers)):
            known = {*works}
            for group in group_overlapping(self._first(name, HITS_BY_WORK)) if name in self._shown else ():
                if group.best.work_id not in known:
                    works.setdefault(group.best.work_id, []).append(group.best)
        return tuple(tuple(hits[:PASSAGES_OF_A_WORK]) for hits in works.values())

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The chapters of the one work searched that hold most of the answer, where none was chosen."""
        name, work = "fusion" if self._shown.get("fusion") else self._leading, self._found.corpus.whole
        if name is None or work is None or self._request.chapters or self._composed or self._found.question.source:
            return ()
        return scenes(work, self._found.rankings[name], first_passages(self._first(name)))

    @property
    def ridge(self) -> tuple[float, ...]:
        """Of one work, how well each stretch of it answers, by the ranking that orders the best evidence."""
        work, name = self._found.corpus.whole, self._leading
        if work is None or name is None or self._composed:
            return ()
        return ridge(self._found.rankings[name], len(work.sentences))

    @property
    def _leading(self) -> str | None:
        """The ranking that orders the best evidence; None where none has a passage."""
        return next((name for name in (*BEST_ORDER, *self._request.retrievers) if self._shown.get(name)), None)

    def _most(self, name: str) -> int:
        """Say how many cards a column may have: of a composed search all of the answer, and some that miss it."""
        in_answer = self._composed.in_answer(name) if self._composed else 0
        return min(MAX_RESULTS, in_answer + self._request.results)

    def _choose(self, name: str) -> tuple[Group, ...]:
        """Choose what the best evidence may show of a ranking; the first half may be the column's."""
        card, whole = self._retrievers.card(name), self._found.corpus.whole
        most, hits = 2 * self._most(name), self._first(name)
        if self._request.unit != "passage":
            return tuple(map(Group, hits[:most]))
        if self._composed:
            return group_overlapping(hits)[:most]
        half = most // 2 * CANDIDATES_PER_RESULT
        best, next_best = hits[:half], hits[half : 2 * half]
        if whole and card.kind != "imported" and not card.server:  # another system's order is its own
            best, next_best = card_order(best, whole), card_order(next_best, whole)
        groups = group_overlapping((*best, *next_best))
        return groups if whole else groups[:most]

    def _first(self, name: str, k: int = 0) -> tuple[Hit, ...]:
        """Give the first `k` hits, or those looked at for cards; none that stands there by the tie rule alone."""
        k = k or max(2 * self._most(name), SNAPSHOT_TOP_K) * CANDIDATES_PER_RESULT
        hits = self._found.rankings[name].hits(k)
        if self._composed or self._retrievers.card(name).kind not in {"lexical", "imported"}:
            return hits
        return tuple(hit for hit in hits if hit.score > 0)  # 0: no shared word, or not named

    def _settle(self, name: str) -> tuple[Group, ...]:
        """Leave out hits whose works are gone, and join a group to the better one whose card shows its passage."""
        groups: list[Group] = []
        cards: list[tuple[str, Span]] = []  # the sentences that are shown
        for group in self._shown[name]:
            hit, others = group.best, group.others
            if hit.work_id not in self._works:
                continue
            line, shown = self._quote(hit)
            holds = (at for at, (work_id, span) in enumerate(cards) if work_id == hit.work_id and span.holds(line))
            if self._request.unit == "passage" and (at := next(holds, None)) is not None:
                groups[at] = Group(groups[at].best, (*groups[at].others, hit, *others))
            elif len(groups) == 2 * self._most(name):
                break
            else:
                groups.append(group)
                cards.append((hit.work_id, shown))
        return tuple(groups)

    def _quote(self, hit: Hit) -> tuple[Span, Span]:
        """Say which sentences a card quotes, and which it shows."""
        if hit not in self._quoted:
            work, span = self._works[hit.work_id], hit.span
            line = self._lines.line(work, span) if self._lines else span
            shown = self._lines.shown(work, line, span) if self._lines else whole_sentences(work, span)
            self._quoted[hit] = line, shown
        return self._quoted[hit]

    def _is_weak(self, name: str) -> bool:
        """Whether the best that a retriever ranks is weak, shown as a column or not."""
        if not (groups := self._shown[name]):
            return True
        best = max((group.best for group in groups), key=lambda hit: hit.score)  # cards have an order of their own
        return best.score == 0 or self._verdicts.of(name, best).level == "weak"

    def _column(self, name: str) -> Column:
        card, found = self._retrievers.card(name), self._found
        if name in found.refusals:
            error = found.refusals[name]
            return Column(
                card,
                (),
                None,
                found.candidates,
                pending=isinstance(error, StaleIndex),
                note="" if isinstance(error, NoIndex) else str(error),  # `pending` alone tells it
            )
        if name not in self._shown:
            return Column(card, (), None, found.candidates, waiting=True)
        ranking = found.rankings[name]
        note = "" if ranking.exact else _measured(name, found)
        if name in self._gone:
            note = "What was found was in works that have been removed or changed. Search again."
        cards = self._cards(name, self._shown[name][: self._most(name)])
        return Column(
            card,
            cards,
            cards[0].strength if cards else None,
            ranking.candidates,
            note=note,
            exact=ranking.exact,
            top_k=self._top_k(name),
        )

    def _top_k(self, name: str) -> tuple[Hit, ...]:
        """Take the first passages in the order of the cards, so that each has the number that its card shows."""
        groups = self._shown[name]
        seen = set(chain.from_iterable(group.others for group in groups))
        rest = (hit for hit in self._first(name) if hit not in seen)
        return first_passages((*(group.best for group in groups), *rest))

    def _cards(self, name: str, groups: Iterable[Group]) -> tuple[Card, ...]:
        return tuple(self._card(name, group) for group in groups)

    def _card(self, name: str, group: Group) -> Card:
        """Make the card of a hit. Rerankers' ranks are left out: they come seconds after the others' cards are read."""
        found, work, span = self._found, self._works[group.best.work_id], group.best.span
        line, shown = self._quote(group.best)
        words, whole = _set(work, line, shown, found.question.wanted)
        parts = self._verdicts.parts(name, group.best, work)
        ranked = {} if parts else found.rankings
        retriever = self._retrievers.get(name)
        others = ((self._retrievers.card(each), ranking) for each, ranking in ranked.items() if each != name)
        return Card(
            work=work,
            rank=group.best.rank,
            span=span,
            line=line,
            quotation=words,
            shown=shown,
            whole=whole,
            place=work.place(line),
            score=group.best.score,
            strength=self._verdicts.of(name, group.best),
            other_ranks=tuple(
                (card, ranking.rank_of(span, work.id))
                for card, ranking in others
                if card.kind != "reranker" and (card.shown or ranking.scores.any())  # around a passage asked with: none
            ),
            shared=tuple({piece.text.casefold(): piece.text for piece in whole.pieces if piece.lit}.values()),
            quoted=any(span.overlaps(each.span) for each in found.question.quoted),
            others=group.others,
            parts=parts,
            speakers=_speakers(work, line),
            wanted=found.question.wanted,
            matches=retriever.matches(found.question.claim, work, span) if isinstance(retriever, Matching) else (),
        )

    def _number(self, name: str, card: Card) -> int:
        """Give the number, in a column, of the first passage that a card shows; 0 where it shows none."""
        groups = enumerate(self._shown.get(name, ()), start=1)
        return next((number for number, group in groups if card.shows(group.best)), 0)


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
