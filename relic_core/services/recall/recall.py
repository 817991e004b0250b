"""Recall: the figures of runs by book, length, shape and kind, over k and by rank, and the examples behind each.

Runs are laid side by side only where they answer the same questions: of one benchmark, so that figures of given pools
never stand beside figures of whole works.
"""

from __future__ import annotations

import dataclasses
import threading
from statistics import fmean
from typing import TYPE_CHECKING, get_args

from relic_core.errors import BadRequest, unknown_name
from relic_core.evaluation.intervals import sorted_by_id
from relic_core.evaluation.metrics import KS, metric
from relic_core.reporting.charts_rows import Chart, Series, View
from relic_core.reporting.charts_words import caption, is_share, measure_label, summary
from relic_core.services.recall.cases import Case, Offer, cases_behind, offer_of
from relic_core.services.recall.figures import (
    ALL,
    by_retriever,
    groups_of,
    marks_of,
    published_marks,
    shape_order,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from relic_core.domain import ContextSize, Run
    from relic_core.reporting.charts_rows import Mark
    from relic_core.wiring import App

METRICS = (*(f"recall@{k}" for k in KS), *(f"overlap-recall@{k}" for k in KS), "ndcg@10")
"""What the figures may be of: what rewards a quotation that stands high enough, and is 0 for one that does not."""
SORTS = ("recall", "year", "length", "author", "title")
SHOWN = ("missed", "some", "found", "all")
"""Examples that every run has too low, that some have, that none has, or all."""
VIEWS: tuple[View, ...] = get_args(View)

_KEPT = 512
_LEASTS = (10, 5, 3, 2)
_HANDFUL = 8
_BESIDE = "measured elsewhere, on other data"
_TITLES: dict[View, tuple[str, str]] = {
    "books": ("{measure} by quoted work", "Work"),
    "lengths": ("{measure} by length of the quotation", "Sentences in the quotation"),
    "shapes": ("{measure} by context", "Context: sentences before / after the quotation"),
    "kinds": ("{measure} by what the quotation is there for", "Evidence"),
    "curve": ("{family} over k", "k: passages looked at"),
    "ranks": ("Ranks of the critics' own quotations", "Rank of the quotation"),
    "published": ("{measure}, beside published figures", "System"),
}


class Recall:
    """The figures of an app's runs."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._marks: dict[tuple[str, datetime, str, str], tuple[Mark, ...]] = {}
        self._lock = threading.Lock()

    def offers(self) -> tuple[Offer, ...]:
        """List the benchmarks that there are runs of, those that say most first.

        Whole works stand before given pools, and what quotes a single work, as the sample does, at the end; else the
        registered ones in their order, and others by name.
        """
        runs: dict[str, list[Run]] = {}
        for run in self._app.runs.all():
            runs.setdefault(run.benchmark, []).append(run)
        cards = {card.name: card for card in self._app.benchmarks.cards()}
        names = [name for name in cards if name in runs] + sorted(set(runs) - set(cards))
        offers = [offer_of(cards.get(name), runs[name]) for name in names]
        return tuple(sorted(offers, key=lambda offer: (len(offer.runs[0].books) == 1, offer.card.pool == "given")))

    def labels(self, runs: Sequence[Run]) -> dict[str, str]:
        """Give each run a name that tells it from the others: retriever, shape, and its id where those are alike."""
        given = [f"{run.label} · {run.shape}" for run in runs]
        return {
            run.id: label if given.count(label) == 1 else f"{label} · {run.id[:6]}"
            for run, label in zip(runs, given, strict=True)
        }

    def check(self, runs: Sequence[Run]) -> None:
        """Refuse runs that cannot stand side by side.

        Raises BadRequest: there are none; or they are of several benchmarks, or of given pools and of whole works.
        """
        if not runs:
            raise BadRequest("No run is chosen. Choose one or more to see their figures.")
        if len({run.pool for run in runs}) > 1:
            raise BadRequest(
                "Some of these runs rank all passages of a work, and others a pool of some dozens that comes with the "
                "question. The second is far easier, so their figures are never shown side by side. Choose one kind of "
                "pool first, then its runs."
            )
        if len(names := sorted({run.benchmark for run in runs})) > 1:
            raise BadRequest(
                f"These runs answer different questions: {', '.join(names)}. Choose one benchmark first, then its runs."
            )

    def meaning(self, name: str) -> str:
        """Say in one sentence what a measure tells a scholar."""
        return metric(name).meaning

    def overall(self, runs: Sequence[Run], name: str) -> tuple[Mark, ...]:
        """Compute the figure of each run over all its examples, in the order of the runs."""
        return tuple(mark for run in runs for mark in self._measure(run, name, ALL))

    def usual_least(self, runs: Sequence[Run]) -> int:
        """Say how many quotations a work should have to be shown at first: as many as leave a handful of works."""
        counts = [mark.n for run in runs[:1] for mark in self._measure(run, METRICS[0], "books")]
        return next((least for least in _LEASTS if sum(n >= least for n in counts) >= _HANDFUL), 1)

    def chart(
        self,
        view: View,
        runs: Sequence[Run],
        name: str,
        *,
        benchmark: str = "",
        sort: str = "recall",
        least: int = 1,
        beside: bool = False,
    ) -> Chart:
        """Compute what a chart shows.

        - `runs`: of one benchmark; for "shapes" all runs of their retrievers on the same data are taken.
        - `name`: one of `METRICS`; of the curve its family counts, and the ranks do not ask for it.
        - `benchmark`: what captions call the benchmark; its name where not given.
        - `sort`: order of books, one of `SORTS`.
        - `least`: quotations that a book needs to be shown.
        - `beside`: lay the published figures by length beside those by length.

        Raises BadRequest: the runs cannot stand side by side, or there is no such metric.
        """
        self.check(runs)
        if name not in METRICS:
            raise unknown_name("measure", name, METRICS)
        if view == "shapes":
            runs = self._of_all_shapes(runs)
        labels = self.labels(runs)
        marks = [mark for run in runs for mark in self._measure(run, name, view)]
        groups, note = groups_of(view, runs, marks, labels=labels, sort=sort, least=least)
        series = tuple(
            Series(key=run.id, label=labels[run.id], retriever=run.retriever, runs=(run.id,)) for run in runs
        )
        if view == "shapes":
            series, marks = by_retriever(runs, marks)
        if view == "published" or (view == "lengths" and beside):
            further, printed, sources = published_marks(runs[0].pool, name, by_length=view == "lengths")
            groups += further if view == "published" else ()
            marks += printed
            if printed:
                series += (Series(key="published", label=_BESIDE),)
                bars = (
                    " (bars: 1.96 standard errors as printed)" if any(mark.low is not None for mark in printed) else ""
                )
                note = f"Open diamonds were {_BESIDE}{bars}: {'; '.join(sources)}."
        measure = measure_label(name)
        family = measure_label(f"{name.partition('@')[0]}@k").replace("nDCG", "recall")
        title, by = _TITLES[view]
        kept = {group.key for group in groups}
        shown = Chart(
            view=view,
            title=title.format(measure=_capital(measure), family=_capital(family)),
            measure={"curve": family, "ranks": "share of the quotations"}.get(view, measure),
            by=by,
            groups=groups,
            series=series,
            marks=tuple(mark for mark in marks if mark.group in kept),
            share=is_share(name) or view in {"curve", "ranks"},
        )
        outcomes = self._app.runs.outcomes(runs[0].id)
        words = caption(
            shown,
            runs,
            benchmark=benchmark or runs[0].benchmark,
            books=len({outcome.book for outcome in outcomes}),
            examples=len(outcomes),
            candidates=fmean(outcome.candidates for outcome in outcomes) if outcomes else 0.0,
            note=note,
        )
        return dataclasses.replace(shown, caption=words, summary=summary(shown))

    def cases(self, view: View, runs: Sequence[Run], name: str, key: str, *, show: str = "missed") -> tuple[Case, ...]:
        """List the examples behind a group of a chart.

        - `view`, `runs`, `name`: as of the chart; behind a k of the curve stands recall at that k.
        - `show`: those that every run has too low, that some have and some have not, that all have high enough, or all.
          Of a range of ranks always all that some run has in it.

        Returns: the worst first, by the best rank that a run has given; where those are alike, in the order of the run.

        Raises BadRequest: the runs cannot stand side by side; `show` is none of the four.
        """
        self.check(runs)
        if show not in SHOWN:
            raise unknown_name("choice of examples", show, SHOWN)
        if view == "shapes":
            runs = tuple(run for run in self._of_all_shapes(runs) if str(run.shape) == key)
        if view == "curve":
            name = f"{'overlap-' * name.startswith('overlap-')}recall@{key}"
        measured = [(run, self._app.runs.outcomes(run.id)) for run in runs]
        return cases_behind(measured, view, name, key, show=show)

    def _of_all_shapes(self, runs: Sequence[Run]) -> tuple[Run, ...]:
        """Take, for each retriever of the runs, its newest run of every shape on the same data."""
        wanted = {(run.benchmark, run.retriever, run.data_hash) for run in runs}
        newest: dict[tuple[str, ContextSize], Run] = {(run.retriever, run.shape): run for run in reversed(runs)}
        for run in self._app.runs.all():
            if (run.benchmark, run.retriever, run.data_hash) in wanted:
                newest.setdefault((run.retriever, run.shape), run)
        order = list(dict.fromkeys(run.retriever for run in runs))
        return tuple(sorted(newest.values(), key=lambda run: (order.index(run.retriever), shape_order(run.shape))))

    def _measure(self, run: Run, name: str, view: str) -> tuple[Mark, ...]:
        """Compute the marks of one run, or take them from those computed before."""
        key = (run.id, run.created, name, view)  # measured again, a run keeps its id
        with self._lock:
            found = self._marks.get(key)
        if found is None:
            found = marks_of(run, sorted_by_id(self._app.runs.outcomes(run.id)), name, view)
            with self._lock:
                if len(self._marks) >= _KEPT:
                    self._marks.clear()
                self._marks[key] = found
        return found


def _capital(words: str) -> str:
    return words if words.startswith("nDCG") else words[0].upper() + words[1:]
