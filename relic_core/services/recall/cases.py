"""What there is to look at on the recall page: benchmarks with their runs, and the examples behind a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core.domain import BenchmarkCard, ContextSize
from relic_core.evaluation.metrics import values
from relic_core.retrieval import registry
from relic_core.services.recall.figures import key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Book, Outcome, Run
    from relic_core.reporting.charts_rows import View

Verdict = Literal["missed", "some", "found"]

_USUAL = ContextSize(4, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A benchmark that there are runs of.

    - `runs`: newest first.
    - `usual`: those that are shown where none were chosen (`usual`).
    """

    card: BenchmarkCard
    runs: tuple[Run, ...]
    usual: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One example, with what each run made of it.

    - `kind`: what it is there for, where that was labelled.
    - `outcomes`: in the order of the runs.
    - `verdict`: whether all runs have the quotation too low, some, or none.
    """

    id: str
    book: Book
    length: int
    kind: str
    outcomes: tuple[tuple[Run, Outcome], ...]
    verdict: Verdict


def offer_of(card: BenchmarkCard | None, runs: Sequence[Run]) -> Offer:
    """Gather the runs of a benchmark.

    - `card`: none where the benchmark is registered no more: it is described as far as its runs know it.
    - `runs`: all of it, newest first.
    """
    return Offer(card=card or _card_of(runs[0]), runs=tuple(runs), usual=usual(runs))


def usual(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Choose what is shown first, in the order in which pages show retrievers.

    Of one state of the data, that which most retrievers were measured on (the newest of several), and of one shape,
    4/4 where there is it, one run of each retriever that pages offer (of all, where none of those was measured): the
    one that came with the program, else one with the retriever's own parameters, else the newest.
    """
    states = dict.fromkeys(run.data_hash for run in runs)
    measured = {state: {run.retriever for run in runs if run.data_hash == state} for state in states}
    same = [run for run in runs if run.data_hash == max(states, key=lambda state: len(measured[state]))]
    shape = _USUAL if any(run.shape == _USUAL for run in same) else same[0].shape
    chosen: dict[str, Run] = {}
    own = [run for run in same if run.shape == shape]
    offered = {card.name for card in registry.cards() if card.shown}
    own = [run for run in own if run.retriever in offered] or own
    for run in sorted(own, key=lambda run: (not run.shipped, not _as_registered(run))):  # stable: the newest first
        chosen.setdefault(run.retriever, run)
    order = [card.name for card in registry.cards()]
    return tuple(sorted(chosen.values(), key=lambda run: _place(order, run.retriever)))


def _as_registered(run: Run) -> bool:
    """Whether a run was made with the parameters that its retriever has unless others are asked for."""
    from relic_core.retrieval.bm25 import K1, B

    given = run.configuration
    return float(given.get("k1", K1)) == K1 and float(given.get("b", B)) == B


def _place(order: Sequence[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _card_of(run: Run) -> BenchmarkCard:
    """Describe a benchmark that is registered no more, as far as its runs know it."""
    return BenchmarkCard(
        name=run.benchmark, label=run.benchmark, description="", split=run.split, pool=run.pool,
        main_metric="recall@10", examples=run.examples, books=len(run.books), source="", licence="", citation="",
    )  # fmt: skip


def cases_behind(
    measured: Sequence[tuple[Run, Sequence[Outcome]]], view: View, name: str, key: str, *, show: str
) -> tuple[Case, ...]:
    """List the examples behind a group of a chart; see `services.recall.Recall.cases`.

    - `view`, `name`, `key`, `show`: as of `Recall.cases`.
    """
    found: dict[str, list[tuple[Run, Outcome]]] = {}
    hits: dict[str, list[bool]] = {}
    for run, outcomes in measured:
        for outcome, value in zip(outcomes, values(name, outcomes).tolist(), strict=True):
            found.setdefault(outcome.example_id, []).append((run, outcome))
            hits.setdefault(outcome.example_id, []).append(value > 0)
    cases = [_case(own, hits[example_id]) for example_id, own in found.items() if _behind(own, view, key)]
    kept = [case for case in cases if view == "ranks" or show in {"all", case.verdict}]
    return tuple(sorted(kept, key=_best_rank, reverse=True))


def _case(own: Sequence[tuple[Run, Outcome]], hits: Sequence[bool]) -> Case:
    run, outcome = own[0]
    book = next(book for book in run.books if book.key == outcome.book)
    verdict: Verdict = "found" if all(hits) else "some" if any(hits) else "missed"
    return Case(
        id=outcome.example_id,
        book=book,
        length=outcome.length,
        kind=outcome.kind,
        outcomes=tuple(own),
        verdict=verdict,
    )


def _behind(own: Sequence[tuple[Run, Outcome]], view: View, key: str) -> bool:
    return view in {"shapes", "curve"} or any(key_of(outcome, view) == key for _, outcome in own)


def _best_rank(case: Case) -> float:
    return min(outcome.rank or float("inf") for _, outcome in case.outcomes)
