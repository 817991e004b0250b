"""Answers measured as Find gives them: on which card of each list a claim's place comes up, and on which its line is.

A retriever's run ranks spans of one length. What a reader sees are cards: whole sentences, passages that meet shown
once, one list made of several. So claims are asked as the page asks them, and its cards are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from relic_core.domain import DEFAULT_RETRIEVERS, ContextSize, QuotationContext, SearchRequest, Span
from relic_core.domain.figures import Cell, Table
from relic_core.domain.windows import MAX_CONTEXT
from relic_core.evaluation.figures import figure_over
from relic_core.evaluation.metrics import Values, metric
from relic_core.language_models.prompts import claim_text
from relic_core.ports import Benchmark, Progress
from relic_core.services.answers import Card
from relic_core.services.search import Search

DEPTHS = (1, 5, 20)
_BEST = "Best evidence"
_FIRST = 10
"""Cards of a list whose words are counted."""


class _Reached(NamedTuple):
    """The first cards of a list that show a place, and whose line does; the words shown and quoted on each card."""

    shown: int
    line: int
    words: float
    quoted: float


def measure(benchmark: Benchmark, search: Search, lengths: Sequence[int], progress: Progress) -> tuple[Table, ...]:
    """Ask every claim of a benchmark once for each length; with several, each against the last, paired."""
    windows = list({(each.pool, each.left, each.right): each for each in benchmark.windows()}.values())
    reached: dict[tuple[int, str], list[_Reached]] = {}
    for number, (length, window) in enumerate(product(lengths, windows)):
        progress(number, len(windows) * len(lengths), benchmark.work(window.pool).title)
        for name, cards in _lists(benchmark, search, window, length).items():
            places = window.accepted or (window.gold,)
            reached.setdefault((length, name), []).append(_count(cards, places))
    books = [window.book for window in windows]
    names = list(dict.fromkeys(name for _, name in reached))
    figures, against = [], []
    for name, length in product(names, lengths):
        own, longest = reached[length, name], reached[lengths[-1], name]
        figures.append(_row(name, length, own, None, books))
        if length != lengths[-1]:
            against.append(_row(name, length, own, longest, books))
    label = f"{benchmark.card.label}, {len(windows)} claims about {len(set(books))} works"
    notes = ("A card counts if the passage that it shows shares a sentence with a place; a line, if it does itself.",)
    tables = [Table(caption=f"{label}: cards as Find shows them", heads=_HEADS, rows=tuple(figures), notes=notes)]
    if against:
        last = _length(lengths[-1])
        tables.append(
            Table(caption=f"{label}: differences to length {last}, paired", heads=_HEADS, rows=tuple(against))
        )
    return tuple(tables)


_HEADS = (
    "list", "length", *(f"card in {depth}" for depth in DEPTHS), *(f"line in {depth}" for depth in DEPTHS),
    "words shown", "words of the line",
)  # fmt: skip


def _lists(benchmark: Benchmark, search: Search, window: QuotationContext, length: int) -> dict[str, list[Card]]:
    work = benchmark.work(window.pool)
    claim = window.claim(ContextSize(MAX_CONTEXT, MAX_CONTEXT))
    request = SearchRequest(
        work_id=work.id,
        claim_text=claim_text(claim),
        length=length,
        results=max(DEPTHS),
        retrievers=DEFAULT_RETRIEVERS,
    )
    found = search.run(request)
    columns = {column.card.called: list(column.cards) for column in found.columns}
    return {_BEST: [each.card for each in found.best]} | columns


def _count(cards: Sequence[Card], places: Sequence[Span]) -> _Reached:
    def first(spans: Sequence[Span]) -> int:
        found = (at for at, span in enumerate(spans, 1) if any(span.overlaps(place) for place in places))
        return next(found, max(DEPTHS) + 1)

    def words(spans: Sequence[Span]) -> float:
        counts = [len(card.work.span_text(span).split()) for card, span in zip(cards, spans, strict=False)]
        return float(np.mean(counts)) if counts else 0.0

    shown, lines = [card.shown for card in cards], [card.line for card in cards]
    return _Reached(first(shown), first(lines), words(shown[:_FIRST]), words(lines[:_FIRST]))


def _row(
    name: str, length: int, reached: Sequence[_Reached], other: Sequence[_Reached] | None, books: Sequence[str]
) -> tuple[Cell, ...]:
    """Set the figures of a list, or its differences to another."""
    row: list[Cell] = [name, _length(length)]
    for column in ("shown", "line"):
        for depth in DEPTHS:
            values = _within(reached, column, depth) - (_within(other, column, depth) if other else 0.0)
            row.append(figure_over(metric(f"recall@{depth}"), values, books))
    for column in ("words", "quoted"):
        mean = np.mean([getattr(each, column) for each in reached])
        row.append(f"{mean - (np.mean([getattr(each, column) for each in other]) if other else 0.0):.0f}")
    return tuple(row)


def _within(reached: Sequence[_Reached], column: str, depth: int) -> Values:
    return np.array([float(getattr(each, column) <= depth) for each in reached])


def _length(length: int) -> str:
    return str(length or "any")
