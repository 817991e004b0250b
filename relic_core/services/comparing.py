"""Two answers to one question held against one another: of two retrievers, or of then and now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice, product
from typing import Literal

from relic_core.domain import Hit, Place, Search, SearchRequest, Span, Work
from relic_core.domain.searches import ModelFingerprints, TopKHit, TopKSnapshot
from relic_core.errors import BadRequest
from relic_core.evaluation.rank_overlap import overlap_at, rank_biased_overlap
from relic_core.reporting.passages import Passage, quotation
from relic_core.retrieval.registry import RetrieverCard
from relic_core.services.answers import Column
from relic_core.services.search import SearchResult
from relic_core.services.snapshots import Fingerprints, Snapshots

DatedSnapshot = tuple[datetime, TopKSnapshot]
"""The first passages of a retriever, and when they were kept."""
WorkSpan = tuple[str, int, int]
"""A work's id, and where a passage of it starts and ends."""

TEN = 10
"""Passages of each column that are shown and counted."""

Found = Literal["both", "first", "second"]
Moved = Literal["stayed", "rose", "fell", "new", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A passage with its words and its place."""

    work: Work
    span: Span
    place: Place
    quotation: Passage

    @property
    def at(self) -> str:
        """The address of its first sentence."""
        return str(self.place.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPassage:
    """A passage among the first ten of one of two retrievers at least; its places, from 1, 0 beyond the twentieth."""

    passage: Located
    first: int
    second: int
    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two retrievers held against one another for one claim.

    - `passages`: by the better of their two places.
    - `overlap`, `ten`: how many passages the first ten of both share; and how many the longer of the two has, ten at
      most.
    - `rank_overlap`: rank-biased overlap of the first twenty, 0 to 1.
    """

    result: SearchResult
    first: Column
    second: Column
    passages: tuple[ComparedPassage, ...]
    overlap: int
    ten: int
    rank_overlap: float

    def found_by(self, found: Found) -> tuple[ComparedPassage, ...]:
        """List the passages that are among the first ten of both, or of one alone, best first."""
        return tuple(each for each in self.passages if each.found == found)


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedPassage:
    """A passage among the first ten then or now.

    - `passage`: its words and place; None where its work is not there any more.
    - `then`, `now`: which one it was and is, from 1; 0 where it was or is not among the passages kept.
    - `moved`: what became of it. New: not among the passages kept then. Gone: not among those of now.
    """

    passage: Located | None
    then: int
    now: int
    moved: Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnThenAndNow:
    """One retriever's first passages: ten of now, those of then that are not among them; rank-biased overlap."""

    retriever: str
    label: str
    passages: tuple[MovedPassage, ...]
    rank_overlap: float

    @property
    def unchanged(self) -> bool:
        """Whether every passage stayed where it was."""
        return all(each.moved == "stayed" for each in self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThenAndNow:
    """A search then and now.

    - `times`: when what it found was kept, the oldest first; empty where it never was.
    - `then`: which of them is held against now; None where there is none.
    - `columns`: in the search's order, of the retrievers that had answered then and answer now.
    - `silent`: those that had not, or do not.
    """

    search: Search
    times: tuple[datetime, ...]
    then: datetime | None
    columns: tuple[ColumnThenAndNow, ...]
    silent: tuple[RetrieverCard, ...]
    differences: tuple[str, ...]


class Comparing:
    """Holds answers against one another."""

    def __init__(
        self,
        run: Callable[[SearchRequest], SearchResult],
        load_all: Callable[[Iterable[str]], dict[str, Work]],
        card: Callable[[str], RetrieverCard],
        snapshots: Snapshots,
        fingerprints: Fingerprints,
    ) -> None:
        self._run = run
        self._load_all = load_all
        self._card = card
        self._snapshots = snapshots
        self._fingerprints = fingerprints

    def compare(self, request: SearchRequest, retrievers: Sequence[str]) -> Comparison:
        """Ask two retrievers the same and hold their first passages against one another; its own columns play no part.

        Overlapping spans count as one passage, within a column and between the two. The places are those of the cards.
        """
        if len(set(retrievers)) != 2:  # noqa: PLR2004 - a comparison is of two
            raise BadRequest("Two different ways of searching are compared. Choose two.")
        result = self._run(replace(request, retrievers=tuple(retrievers)))
        first, second = result.columns
        for column in (first, second):
            if not column.answered:
                raise BadRequest(
                    f"{column.card.label} cannot answer yet, so it cannot be compared. "
                    f"{column.note or 'The work is not prepared for it: open the search and prepare it there.'}"
                )
        ids, others = numbered([_place(each) for each in first.top_k], [_place(each) for each in second.top_k])
        return Comparison(
            result=result,
            first=first,
            second=second,
            passages=self._passages(
                dict(zip(ids, first.top_k, strict=True)), dict(zip(others, second.top_k, strict=True))
            ),
            overlap=overlap_at(ids, others, TEN),
            ten=min(TEN, max(len(ids), len(others))),
            rank_overlap=rank_biased_overlap(ids, others),
        )

    def _passages(self, first: dict[int, Hit], second: dict[int, Hit]) -> tuple[ComparedPassage, ...]:
        places = _places(first), _places(second)
        shown = dict([*islice(second.items(), TEN), *islice(first.items(), TEN)])
        works = self._load_all(dict.fromkeys(hit.work_id for hit in shown.values()))
        passages = []
        for each, hit in shown.items():
            if hit.work_id in works:  # it may have been removed meanwhile
                one, two = (column.get(each, 0) for column in places)
                found: Found = "both" if 0 < one <= TEN and 0 < two <= TEN else "first" if 0 < one <= TEN else "second"
                located = set_out(works[hit.work_id], hit.span)
                passages.append(ComparedPassage(passage=located, first=one, second=two, found=found))
        return tuple(sorted(passages, key=lambda each: (min(filter(None, (each.first, each.second))), each.first == 0)))

    def then_and_now(self, search: Search, *, at: str = "") -> ThenAndNow:
        """Hold what a search found against what it finds now; it is asked again where what answers has changed.

        - `at`: when "then" is, as in `ThenAndNow.times`, in ISO 8601; where it is none of them, the first.
        """
        request = search.request
        kept = self._snapshots.of(search)
        first_kept = tuple(dict.fromkeys(created for created, _ in kept))
        made = self._fingerprints.of(request)
        last = _snapshots_at(kept, None)
        wanted = {name: (made.edition, made.retrievers[name], made.version) for name in request.retrievers}
        if any(name not in last or last[name].made_with != wanted[name] for name in wanted):
            result = self._run(request)
            if self._snapshots.keep(search.id, result):
                kept = self._snapshots.of(search)
            now: Mapping[str, TopKSnapshot] = {
                snapshot.retriever: snapshot for snapshot in self._snapshots.take(result)
            }
        else:
            now = last
        times = first_kept or tuple(dict.fromkeys(created for created, _ in kept))
        chosen = next((each for each in times if each.isoformat() == at), times[0] if times else None)
        then = _snapshots_at(kept, chosen) if chosen else {}
        both = [name for name in request.retrievers if name in then and name in now]
        located = self._locate(chain.from_iterable((*then[name].hits, *now[name].hits) for name in both))
        editions = {snapshot.edition for snapshot in then.values()}
        then_made = ModelFingerprints(
            edition=editions.pop() if len(editions) == 1 else "",
            retrievers={name: snapshot.maker for name, snapshot in then.items()},
        )
        return ThenAndNow(
            search=search,
            times=times,
            then=chosen,
            columns=tuple(_column(self._card(name), then[name], now[name], located) for name in both),
            silent=tuple(self._card(name) for name in request.retrievers if name not in both),
            differences=self._fingerprints.changes(request, then_made, since="it was asked then")
            + _versions(then, now, both),
        )

    def _locate(self, hits: Iterable[TopKHit]) -> dict[TopKHit, Located]:
        """Find the words and places of kept hits by their offsets, which outlive another cut into sentences.

        Those whose work is not there any more, or whose place is not known, are left out.
        """
        wanted = [hit for hit in hits if hit.end]
        works = self._load_all(dict.fromkeys(hit.work_id for hit in wanted))
        found = {}
        for hit in wanted:
            work = works.get(hit.work_id)
            span = work.span_between(hit.start, hit.end) if work else None
            if work and span:
                found[hit] = set_out(work, span)
        return found


def numbered(first: Sequence[WorkSpan], second: Sequence[WorkSpan]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give each passage of two lists, best first, a number from 0; two that overlap count as one and get the same.

    Within a list no two overlap. Where one overlaps two of the other list, those go together that stand higher.

    >>> numbered([("a", 0, 3), ("a", 9, 12)], [("a", 4, 7), ("a", 2, 5), ("b", 9, 12)])
    ((0, 1), (2, 0, 3))
    """
    pairs = [
        (at + other, at, other)
        for (at, one), (other, two) in product(enumerate(first), enumerate(second))
        if one[0] == two[0] and one[1] < two[2] and two[1] < one[2]
    ]
    same: dict[int, int] = {}
    taken: set[int] = set()
    for _, at, other in sorted(pairs):
        if other not in same and at not in taken:
            same[other] = at
            taken.add(at)
    new = iter(range(len(first), len(first) + len(second)))
    return tuple(range(len(first))), tuple(same[at] if at in same else next(new) for at in range(len(second)))


def set_out(work: Work, span: Span) -> Located:
    """Give a passage its words and its place."""
    return Located(work=work, span=span, place=work.place(span), quotation=quotation(work, span))


def _place(hit: Hit) -> WorkSpan:
    return hit.work_id, hit.span.start, hit.span.end


def _snapshots_at(kept: Sequence[DatedSnapshot], moment: datetime | None) -> dict[str, TopKSnapshot]:
    """Give the last snapshot of each retriever up to a moment; of all time where there is none given."""
    return {snapshot.retriever: snapshot for created, snapshot in kept if moment is None or created <= moment}


def _versions(
    then: Mapping[str, TopKSnapshot], now: Mapping[str, TopKSnapshot], names: Sequence[str]
) -> tuple[str, ...]:
    pairs = {(then[name].version, now[name].version) for name in names}
    old = sorted({before for before, after in pairs if before != after})
    if not old:
        return ()
    return (f"It was answered by version {', '.join(old)} of the program; this is {max(now for _, now in pairs)}.",)


def _places(column: Iterable[int]) -> dict[int, int]:
    return {each: at for at, each in enumerate(column, start=1)}


def _column(
    card: RetrieverCard, then: TopKSnapshot, now: TopKSnapshot, located: Mapping[TopKHit, Located]
) -> ColumnThenAndNow:
    old, new = numbered([_stretch(hit) for hit in then.hits], [_stretch(hit) for hit in now.hits])
    stood, stands = _places(old), _places(new)
    hits = dict(zip(old, then.hits, strict=True)) | dict(zip(new, now.hits, strict=True))
    shown = dict.fromkeys((*new[:TEN], *old[:TEN]))
    passages = tuple(
        MovedPassage(
            passage=located.get(hits[each]),
            then=stood.get(each, 0),
            now=stands.get(each, 0),
            moved=_moved(stood.get(each, 0), stands.get(each, 0)),
        )
        for each in shown
    )
    return ColumnThenAndNow(
        retriever=card.name, label=card.label, passages=passages, rank_overlap=rank_biased_overlap(old, new)
    )


def _moved(then: int, now: int) -> Moved:
    """Say what became of a passage.

    >>> [_moved(*places) for places in ((1, 1), (4, 2), (2, 14), (0, 3), (3, 0))]
    ['stayed', 'rose', 'fell', 'new', 'gone']
    """
    if not then:
        return "new"
    if not now:
        return "gone"
    return "stayed" if then == now else "rose" if now < then else "fell"


def _stretch(hit: TopKHit) -> tuple[str, int, int]:
    """Give where a hit stands; one whose place is not known overlaps nothing."""
    return hit.work_id, hit.start, hit.end
