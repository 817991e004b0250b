"""How long an answer takes: rankings alone, and the whole answer as a page gets it; in one work, and in all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.domain import LENGTHS, rank_scores
from relic_core.retrieval import registry
from relic_core.services.answers import SearchRequest
from tools.bench.bench import DENSE, LONGEST, named, timed
from tools.bench.figures import Measured, median_and_tail, not_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.domain import Claim, Work, WorkVersion
    from relic_core.ports import LibraryRetriever, Retriever
    from tools.bench.bench import Bench
    from tools.bench.figures import Figure

ONE, LIBRARY = "latency", "library"

_ONE_MS, _LIBRARY_MS = 30.0, 300.0
_SHOWN = 10


def measure(bench: Bench) -> Measured:
    """Ask one work."""
    work = bench.prepared(LONGEST)
    if work is None:
        return not_measured(ONE, _nothing(bench))
    indexes = bench.app.indexes
    figures: list[Figure] = []
    for card in indexes.usual():
        retriever = indexes.retriever(card.name)
        under = _ONE_MS if card.name == DENSE else None
        bench.say(f"{card.label} in {work.title}")
        ask = _ranking(retriever, work)
        figures += median_and_tail(f"ranking by {card.name}", _times(bench, ask, bench.effort.queries), under=under)
    bench.say(f"whole answers in {work.title}")
    figures += median_and_tail("the whole answer, with cards", _times(bench, _answer(bench, work.id), _few(bench)))
    return Measured(part=ONE, on=named(work), figures=tuple(figures))


def measure_library(bench: Bench) -> Measured:
    """Ask all works that are prepared, at once."""
    imprints = list(bench.app.works.imprints().values())
    indexes = bench.app.indexes
    cards = [card for card in indexes.usual() if card.library]
    made: dict[str, Retriever] = {card.name: indexes.retriever(card.name) for card in indexes.usual()}
    libraries: dict[str, LibraryRetriever] = {}
    figures: list[Figure] = []
    notes: list[str] = []
    searched = 0
    for card in sorted(cards, key=lambda card: card.name != DENSE):
        library = registry.create_library(
            card.name,
            settings=bench.app.settings,
            made=made,
            load=bench.app.works.load,
            libraries=libraries,
        )
        if card.name == DENSE:
            missing = set(library.missing(imprints, LENGTHS[0]))
            imprints = [imprint for imprint in imprints if imprint.id not in missing]
            if not imprints:
                return not_measured(LIBRARY, _nothing(bench))
            searched = sum(imprint.sentences for imprint in imprints)
            if missing:
                notes.append(f"{len(missing)} works are left out: they have not been prepared.")
        bench.say(f"{card.label} in the library")
        under = _LIBRARY_MS if card.name == DENSE else None
        times = _times(bench, _library_ranking(library, imprints), bench.effort.library_queries)
        figures += median_and_tail(f"ranking by {card.name}", times, under=under)
        if not library.rank(bench.claims[0], imprints, LENGTHS[0]).exact:
            notes.append(f"{card.name} compared by an approximate index, not with every passage.")
    bench.say("whole answers from the library")
    times = _times(bench, _answer(bench, ""), max(1, bench.effort.library_queries // 2))
    figures += median_and_tail("the whole answer, with cards", times)
    return Measured(
        part=LIBRARY,
        on=f"{len(imprints):,} prepared works ({searched:,} sentences)",
        figures=tuple(figures),
        notes=tuple(notes),
        details={"works": len(imprints), "sentences": searched},
    )


def _times(bench: Bench, ask: Callable[[Claim, int], object], count: int) -> list[float]:
    """Ask as many questions as wanted, lengths in turn, after each length was asked once; in seconds."""
    first = bench.questions(1)[0]
    for length in LENGTHS:
        ask(first, length)
    asked = bench.questions(count + 1)[1:] or [first]
    return [timed(ask, claim, LENGTHS[at % len(LENGTHS)])[0] for at, claim in enumerate(asked)]


def _ranking(retriever: Retriever, work: Work) -> Callable[[Claim, int], object]:
    def ask(claim: Claim, length: int) -> None:
        rank_scores(retriever.name, work.id, length, retriever.score(claim, work, length)).hits(_SHOWN)

    return ask


def _library_ranking(library: LibraryRetriever, works: Sequence[WorkVersion]) -> Callable[[Claim, int], object]:
    def ask(claim: Claim, length: int) -> None:
        library.rank(claim, works, length).hits(_SHOWN)

    return ask


def _answer(bench: Bench, work_id: str) -> Callable[[Claim, int], object]:
    request = SearchRequest(work_id=work_id)

    def ask(claim: Claim, length: int) -> None:
        bench.app.search.run(replace(request, claim_text=claim.words, length=length))

    return ask


def _few(bench: Bench) -> int:
    """Count the whole answers: half as many as rankings, since each ranks with every retriever."""
    return max(1, bench.effort.queries // 2)


def _nothing(bench: Bench) -> str:
    work = f" {bench.work('').id}" if bench.work_id else " WORK"
    what = "the work is not" if bench.work_id else "no work is"
    return f"{what} prepared. Prepare it first: python -m relic_core index{work}"
