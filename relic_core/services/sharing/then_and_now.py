"""What a search found when it was first asked, and what it finds now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core.domain.sharing import ModelFingerprints
from relic_core.evaluation.rank_overlap import rank_biased_overlap
from relic_core.services.asking import request_of
from relic_core.services.sharing.addresses import told
from relic_core.services.sharing.comparing import TEN
from relic_core.services.sharing.passages import locate, numbered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from relic_core.domain import Search
    from relic_core.domain.sharing import HeadHit, TopKSnapshot
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.services.sharing.passages import Located
    from relic_core.wiring import App

    Kept = tuple[datetime, TopKSnapshot]
    """A head, and when it was kept."""

Moved = Literal["stayed", "rose", "fell", "new", "gone"]


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
    """One retriever's first passages then and now.

    - `passages`: the first ten of now in their order, then those of then that are not among them.
    - `likeness`: rank-biased overlap of the passages kept, 0 to 1.
    """

    retriever: str
    label: str
    passages: tuple[MovedPassage, ...]
    likeness: float

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
    - `silent`: labels of those that had not, or do not.
    - `differences`: what the answer is made with now that it was not then, a sentence each.
    """

    search: Search
    times: tuple[datetime, ...]
    then: datetime | None
    columns: tuple[ColumnThenAndNow, ...]
    silent: tuple[str, ...]
    differences: tuple[str, ...]


def then_and_now(app: App, search_id: str, *, at: str = "") -> ThenAndNow:
    """Hold what a search found against what it finds now; it is asked again where what answers has changed.

    - `app`: where the search is kept.
    - `at`: when "then" is, as in `ThenAndNow.times`, in ISO 8601; where it is none of them, the first.

    Raises NotFound: there is no such search, or its work is not there any more.
    Raises RelicError: as `relic_core.services.search.Search.run`.
    """
    search = app.history.get(search_id)
    request = request_of(search)
    rows = app.store.search_heads
    kept = rows.of(search.id, length=search.length)
    before = tuple(dict.fromkeys(created for created, _ in kept))
    makers = app.sharing.makers(request)
    last = _heads_at(kept, None)
    if any(name not in last or last[name].made_with != _made(makers, name) for name in request.retrievers):
        result = app.search.run(request)
        if app.sharing.remember(search.id, result):
            kept = rows.of(search.id, length=search.length)
        now: Mapping[str, TopKSnapshot] = {head.retriever: head for head in app.sharing.heads(result)}
    else:
        now = last
    times = before or tuple(dict.fromkeys(created for created, _ in kept))
    chosen = next((each for each in times if each.isoformat() == at), times[0] if times else None)
    then = _heads_at(kept, chosen) if chosen else {}
    both = [name for name in request.retrievers if name in then and name in now]
    located = locate(app, [hit for name in both for head in (then[name], now[name]) for hit in head.hits])
    editions = {then[name].edition for name in both}
    made = ModelFingerprints(
        edition=editions.pop() if len(editions) == 1 else "",
        retrievers={name: then[name].maker for name in both},
    )
    return ThenAndNow(
        search=search,
        times=times,
        then=chosen,
        columns=tuple(_column(app.indexes.card(name), then[name], now[name], located) for name in both),
        silent=tuple(app.indexes.card(name).label for name in request.retrievers if name not in both),
        differences=told(app, request, made, since="it was asked then") + _versions(then, now, both),
    )


def _heads_at(kept: Sequence[Kept], moment: datetime | None) -> dict[str, TopKSnapshot]:
    """Give the last head of each retriever up to a moment; of all time where there is none given."""
    return {head.retriever: head for created, head in kept if moment is None or created <= moment}


def _made(makers: ModelFingerprints, name: str) -> tuple[str, str, str]:
    return (makers.edition, makers.retrievers[name], makers.version)


def _versions(
    then: Mapping[str, TopKSnapshot], now: Mapping[str, TopKSnapshot], names: Sequence[str]
) -> tuple[str, ...]:
    """Say that another version of the program answers."""
    pairs = {(then[name].version, now[name].version) for name in names}
    old = sorted({before for before, after in pairs if before != after})
    if not old:
        return ()
    return (f"It was answered by version {', '.join(old)} of the program; this is {max(now for _, now in pairs)}.",)


def _column(
    card: RetrieverCard, then: TopKSnapshot, now: TopKSnapshot, located: Mapping[HeadHit, Located]
) -> ColumnThenAndNow:
    old, new = numbered([_stretch(hit) for hit in then.hits], [_stretch(hit) for hit in now.hits])
    stood, stands = ({each: at for at, each in enumerate(column, start=1)} for column in (old, new))
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
        retriever=card.name, label=card.label, passages=passages, likeness=rank_biased_overlap(old, new)
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


def _stretch(hit: HeadHit) -> tuple[str, int, int]:
    """Give where a hit stands; one whose place is not known overlaps nothing."""
    return hit.work_id, hit.start, hit.end
