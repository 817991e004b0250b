"""What the Recall page shows: figures of runs by book, length, shape and kind, over k and by rank, and their examples.

Runs are laid side by side only where they answer the same questions: of one benchmark, so that figures of given pools
never stand beside figures of whole works. A run holds offsets and ranks, and no text: its outcomes can be read where
the works are in the library, in the very edition that was measured, or where the benchmark's own data are at hand.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from relic_core.caching import LRUCache
from relic_core.domain import (
    BenchmarkCard,
    Book,
    Claim,
    Offsets,
    Outcome,
    Place,
    QuotationContext,
    Run,
    Span,
    Work,
    WorkSummary,
)
from relic_core.domain.figures import Chart, Group, Mark, Series, Table, View
from relic_core.errors import BadRequest, NotFound, RelicError, unknown_name
from relic_core.evaluation import figures
from relic_core.evaluation.benchmarks import registry
from relic_core.evaluation.diagnosis import (
    CODES,
    FINDINGS,
    TRAITS,
    Diagnosis,
    Trait,
    case_table,
    diagnose,
    finding_table,
    lemma_overlap,
    part_by,
    trait_of,
)
from relic_core.evaluation.intervals import sorted_by_id
from relic_core.evaluation.metrics import KS, metric
from relic_core.evaluation.recall import (
    ALL,
    Case,
    Offer,
    by_retriever,
    cases_behind,
    check_alike,
    check_measured,
    groups_of,
    labels,
    marks_of,
    of_all_shapes,
    offers_of,
    published_marks,
)
from relic_core.evaluation.runner import FIRST
from relic_core.formats.files import write_whole
from relic_core.ports import Benchmark
from relic_core.reporting import tables
from relic_core.reporting.chart_words import caption, is_share, measure_label, summary, table
from relic_core.reporting.passages import Passage, quotation
from relic_core.services.catalogue import Shelved
from relic_core.services.evaluation import Benchmarks
from relic_core.services.runs import Runs
from relic_core.store.mined_windows import WindowRows

__all__ = [
    "CODES", "FINDINGS", "METRICS", "SORTS", "VIEWS", "Case", "Diagnosis", "Missing", "Offer", "Outcomes",
    "QuotedPassage", "ReadOutcome", "Recall", "lemma_overlap",
]  # fmt: skip

METRICS = (*(f"recall@{k}" for k in KS), *(f"overlap-recall@{k}" for k in KS), "ndcg@10")
"""What the figures may be of: what rewards a quotation that stands high enough, and is 0 for one that does not."""
SORTS = ("recall", "year", "length", "author", "title")
VIEWS: tuple[View, ...] = get_args(View)

_KEPT, _KEPT_RUNS = 512, 16
_LEASTS = (10, 5, 3, 2)
_HANDFUL = 8
_BESIDE = "measured elsewhere, on other data"
_TITLES: dict[View, tuple[str, str]] = {
    "books": ("{measure} by quoted work", "Work"),
    "lengths": ("{measure} by length of the quotation", "Sentences in the quotation"),
    "shapes": ("{measure} by context", "Context: sentences before / after the quotation"),
    "kinds": ("{measure} by what the quotation is there for", "Evidence"),
    "overlap": ("{measure} by words that claim and quotation share", "Share of the quotation's words, in quarters"),
    "dialogue": ("{measure} by speech", "The quotation is"),
    "place": ("{measure} by place in the work", "Where in the work the quotation stands"),
    "curve": ("{family} over k", "k: passages looked at"),
    "ranks": ("Ranks of the critics' own quotations", "Rank of the quotation"),
    "published": ("{measure}, beside published figures", "System"),
}
_DIAGNOSED: tuple[View, ...] = ("overlap", "lengths", "dialogue", "place")
_ADD = "Add the works to the library, in the edition that was measured, and the benchmark's data."
_LEFT_OUT = f"Quotations are left out where their words or the claims' are not here. {_ADD}"
_ASKED_AGAIN = 20.0
"""Seconds after which a benchmark whose data were not here is looked for again."""


class Recall:
    """The figures of runs; `model`: "small" or "larger", the one in use, or empty for another."""

    check = staticmethod(check_alike)

    def __init__(
        self,
        runs: Runs,
        traits: Callable[[Trait, Run, Sequence[Outcome]], dict[str, float]],
        diagnoses: Callable[[Run, Sequence[Outcome]], Sequence[Diagnosis]],
        model: str,
    ) -> None:
        self._runs = runs
        self._traits = traits
        self._diagnoses = diagnoses
        self._model = model
        self._marks = lru_cache(maxsize=_KEPT)(self._compute)  # by the whole run: measured again, it keeps its id

    def offers(self) -> tuple[Offer, ...]:
        """List the benchmarks that there are runs of, those that say most first."""
        return offers_of(self._runs.all(), registry.cards(), self._model)

    def meaning(self, name: str, card: BenchmarkCard) -> str:
        """Say in one sentence what a measure tells a scholar of a benchmark."""
        meaning = metric(name).meaning
        return meaning if card.quotes else meaning.replace("the critic's own quotation", "a passage that counts")

    def labels(self, runs: Sequence[Run]) -> dict[str, str]:
        """Give each run a name that tells it from the others and, beside the larger model, the small one's by name."""
        return labels(runs, self._model)

    def overall(self, runs: Sequence[Run], name: str) -> tuple[Mark, ...]:
        """Compute the figure of each run over all its examples, in the order of the runs."""
        for run in runs:
            check_measured(run)
        return tuple(chain.from_iterable(self._marks(run, name, ALL) for run in runs))

    def lacking(self, runs: Sequence[Run], name: str, labels: Mapping[str, str]) -> list[str]:
        """Say which runs have no ranks, and of imported ones which claims they lack and what a metric is without."""
        silent: list[str] = []
        lacks: list[str] = []
        for run in runs:
            outcomes = self._runs.outcomes(run.id)
            if all(each.rank is None for each in outcomes):
                silent.append(labels[run.id])
            lacks += figures.lacks(run, outcomes, name)
        without = (
            f"Without ranks: {', '.join(silent)}. No claim gave it anything to go by, so every quotation counts as "
            "missed. Measure with more context (--shape)."
        )
        return [without, *lacks] if silent else lacks

    def default_least(self, runs: Sequence[Run]) -> int:
        """Say how many quotations a work should have to be shown at first: as many as leave a handful of works."""
        counts = [mark.n for mark in self._marks(runs[0], METRICS[0], "books")] if runs else []
        for least in _LEASTS:
            if sum(n >= least for n in counts) >= _HANDFUL:
                return least
        return 1

    def tables(self, runs: Sequence[Run]) -> tuple[Table, ...]:
        """Set all figures of runs as tables, one for each benchmark and state of its data."""
        return figures.tables([(run, self._runs.labelled(run.id)) for run in runs])

    def comparison(self, runs: Sequence[Run], name: str) -> Table:
        """Compare the first run with each of the others by one metric."""
        return figures.comparison([(run, self._runs.outcomes(run.id)) for run in runs], names=[name])

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
        - `least`: quotations that a book needs to be shown.
        - `beside`: lay the published figures by length beside those by length.
        """
        check_alike(runs)
        if name not in METRICS:
            raise unknown_name("measure", name, METRICS)
        if view == "shapes":
            runs = of_all_shapes(runs, self._runs.all())
        named = self.labels(runs)
        if parted := self._parted(view, runs):
            of, parts = parted
            outcomes = {run.id: sorted_by_id(self._runs.outcomes(run.id)) for run in runs}
            marks = list(chain.from_iterable(marks_of(run, outcomes[run.id], name, view, of[run.id]) for run in runs))
            counts = {mark.group: mark.n for mark in marks}
            groups = tuple(Group(key=key, label=label, n=counts.get(key, 0)) for key, label in parts.items())
            note = _LEFT_OUT if any(len(own) > len(of[run_id]) for run_id, own in outcomes.items()) else ""
        else:
            marks = list(chain.from_iterable(self._marks(run, name, view) for run in runs))
            groups, note = groups_of(view, runs, marks, labels=named, sort=sort, least=least)
        series = tuple(Series(key=run.id, label=named[run.id], retriever=run.retriever, runs=(run.id,)) for run in runs)
        if view == "shapes":
            series, marks = by_retriever(runs, marks)
        if view == "published" or (view == "lengths" and beside):
            further, printed, sources = published_marks(runs[0].pool, name, by_length=view == "lengths")
            groups += further if view == "published" else ()
            marks += printed
            if printed:
                series += (Series(key="published", label=_BESIDE),)
                intervals = " (bars: 1.96 standard errors as printed)" * any(each.low is not None for each in printed)
                note = f"Open diamonds were {_BESIDE}{intervals}: {'; '.join(sources)}."
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
        measured = self._runs.labelled(runs[0].id)
        words = caption(
            shown,
            runs,
            benchmark=benchmark or runs[0].benchmark,
            books=len({outcome.book for outcome in measured}) if runs[0].is_about_works else 0,
            examples=len(measured),
            candidates=fmean(outcome.candidates for outcome in measured) if measured else 0.0,
            note=note,
        )
        return dataclasses.replace(shown, caption=words, summary=summary(shown))

    def cases(self, view: View, runs: Sequence[Run], name: str, key: str) -> tuple[Case, ...]:
        """List the examples behind a group of a chart, the worst first.

        - `view`, `runs`, `name`: as of the chart; behind a k of the curve stands recall at that k.
        """
        check_alike(runs)
        if view == "shapes":
            runs = tuple(run for run in of_all_shapes(runs, self._runs.all()) if str(run.shape) == key)
        if view == "curve":
            name = f"{'overlap-' * name.startswith('overlap-')}recall@{key}"
        parted = self._parted(view, runs)
        measured = [(run, self._runs.labelled(run.id)) for run in runs]
        return cases_behind(measured, view, name, key, parted[0] if parted else None)

    def diagnosis(self, run: Run, name: str) -> tuple[Table, ...]:
        """Set what is found in the cases of a run as tables: the findings, and a metric by what parts the cases.

        Raises BadRequest: there is nothing to say: the run has no ranks, or no text is here.
        """
        views = [view for view in _DIAGNOSED if view != "place" or run.pool != "given"]
        made = [self.chart(view, [run], name) for view in views]
        outcomes, found = self._runs.outcomes(run.id), self._diagnosed(run)
        listed = [finding_table(outcomes, found, name)]
        for chart in made:
            heads, rows = table(chart)
            whole = sum(mark.n for mark in chart.marks) == len(outcomes)
            listed.append(Table(caption=chart.title, heads=heads, rows=rows, notes=() if whole else (_LEFT_OUT,)))
        return tuple(listed)

    def save_cases(self, run: Run, name: str, path: Path) -> None:
        """Write the cases of a run, a row each: its facts, what is found in it, and what people say of it.

        Raises BadRequest: as `diagnosis`, or the file's name ends neither in .csv nor in .json.
        Raises StoreError: the file cannot be written.
        """
        form = path.suffix.lower().removeprefix(".")
        if form not in {"csv", "json"}:
            raise BadRequest(f"Cases are written as .csv or .json, and '{path.name}' ends otherwise. Rename it so.")
        made = case_table(self._runs.outcomes(run.id), self._diagnosed(run), self._runs.case_judgements(run), name)
        write_whole(path, tables.write((made,), form))

    def _diagnosed(self, run: Run) -> Sequence[Diagnosis]:
        check_measured(run)
        outcomes = self._runs.outcomes(run.id)
        if all(each.rank is None for each in outcomes):
            raise BadRequest(
                f"Run {run.id} has no ranks: none of its {len(outcomes):,} claims gave the retriever anything to go "
                "by, so there is nothing to compare with what was put first. Measure with more context (--shape)."
            )
        if not (found := self._diagnoses(run, outcomes)):
            raise BadRequest(f"None of the quotations of run {run.id} can be read here. {_ADD}")
        return found

    def _parted(self, view: View, runs: Sequence[Run]) -> tuple[dict[str, dict[str, str]], dict[str, str]] | None:
        """Part the examples by what their texts tell; none for the other views."""
        if view not in TRAITS:
            return None
        return part_by(view, {run.id: self._traits(view, run, self._runs.outcomes(run.id)) for run in runs})

    def _compute(self, run: Run, name: str, view: str) -> tuple[Mark, ...]:
        return marks_of(run, sorted_by_id(self._runs.labelled(run.id)), name, view)


def _capital(words: str) -> str:
    return words if words.startswith("nDCG") else words[0].upper() + words[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPassage:
    """A passage that an outcome points to.

    - `offsets`: where it is in the text that was ranked.
    - `passage`, `place`: None where the text is not here; a given pool has no place.
    - `work_id`: the stored work that it can be read in; empty where there is none.
    """

    offsets: Offsets
    passage: Passage | None = None
    place: Place | None = None
    work_id: str = ""
    length: int = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is not here, for want of which an outcome is not read whole.

    - `what`: the text of a work, or the edition of it that was measured; the passages of given pools; of the claim: the
      benchmark's data, sound data, the works without which it is not opened, or the example in its data.
    """

    what: Literal["work", "edition", "pool", "data", "damaged", "needs works", "example"]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutcome:
    """An outcome as a person reads it; the claim, in the shape of the run, is None where it is not here."""

    claim: Claim | None
    gold: QuotedPassage
    first: tuple[QuotedPassage, ...]
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class _Opened:
    """A benchmark that was looked for: its windows by id, or why they cannot be had."""

    benchmark: Benchmark | None
    windows: dict[str, QuotationContext]
    missing: Literal["", "data", "damaged", "needs works"]
    at: float


class _Found(NamedTuple):
    """What is here of an outcome: its claim, the benchmark, the book, the work that was ranked and its id."""

    context: QuotationContext | None
    opened: _Opened
    book: Book | None
    work: Work | None
    work_id: str


class Outcomes:
    """The outcomes of runs, with their words: what was claimed, what the critic quoted, what stood first."""

    def __init__(
        self,
        benchmarks: Benchmarks,
        summaries: Callable[[], Sequence[WorkSummary]],
        load_work: Callable[[str], Work],
        shelf: Callable[[], Sequence[Shelved]],
        windows: WindowRows,
    ) -> None:
        self._benchmarks = benchmarks
        self._summaries = summaries
        self._load_work = load_work
        self._shelf = shelf
        self._windows = windows
        self._opened: dict[str, _Opened] = {}
        self._traits: LRUCache[dict[str, float]] = LRUCache(_KEPT_RUNS)
        self._lock = threading.Lock()

    def read(self, pairs: Sequence[tuple[Run, Outcome]]) -> tuple[ReadOutcome, ...]:
        """Gather what a person needs to read some outcomes.

        The words come from the work of the library that has the very text that was measured, else from the
        benchmark's own data, where those are here. A claim that is not in these comes from the reader's own sources.
        """
        known: dict[tuple[str, str], Missing] = {}
        return tuple(self._read(*pair, found, known) for pair, found in zip(pairs, self._found(pairs), strict=True))

    def claims_here(self, benchmark: str) -> bool:
        """Whether the claims of a benchmark can be read here."""
        return bool(self._open(benchmark).windows)

    def readable_first(self, cases: Sequence[Case]) -> tuple[Case, ...]:
        """Put first the cases whose claim and work are both here; else their order stays."""
        stored = {summary.sha256 for summary in self._summaries()}

        def lacking(case: Case) -> bool:
            opened = self._open(case.outcomes[0][0].benchmark)
            text = case.book.sha256 in stored or case.outcomes[0][0].pool == "given"
            return case.id not in opened.windows or not text

        return tuple(sorted(cases, key=lacking))

    def traits(self, trait: Trait, run: Run, outcomes: Sequence[Outcome]) -> dict[str, float]:
        """Tell one trait of a run's examples, which is the same for all runs on the same data and context."""

        def make() -> dict[str, float]:
            values = {}
            for outcome, here in self._by_work(run, outcomes):
                claim = here.context.claim(run.shape) if here.context else None
                pool = run.pool == "given"
                value = trait_of(trait, outcome, claim, here.work, pool=pool) if here.work else None
                if value is not None:
                    values[outcome.example_id] = value
            return values

        return self._traits.get((trait, run.shape, *self._what_is_here(run)), make)

    def _what_is_here(self, run: Run) -> tuple[object, ...]:
        """Name what of the data of a run can be read here: its works, its claims, and quotations that were mined."""
        stored = {summary.sha256 for summary in self._summaries()}
        here = tuple(book.key for book in run.books if book.sha256 in stored)
        return run.benchmark, run.data_hash, here, len(self._open(run.benchmark).windows), self._windows.quoted_works()

    def _by_work(self, run: Run, outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, _Found]]:
        """Look for the claims and works of outcomes, those of one work together: it is loaded once."""
        ordered = sorted(outcomes, key=lambda each: each.book)
        return zip(ordered, self._found([(run, each) for each in ordered]), strict=True)

    def diagnosed(
        self, run: Run, outcomes: Sequence[Outcome], some: Sequence[Outcome] | None = None
    ) -> tuple[Diagnosis, ...]:
        """Tell why the cases of a run came out as they did, or some of them; those whose work is not here are left out.

        - `outcomes`: all of the run, by which it is counted how often a sentence is quoted where nothing was mined.
        """
        quoted: dict[str, list[Span]] = {}
        found: list[Diagnosis | None] = []
        for outcome, here in self._by_work(run, outcomes if some is None else some):
            work = here.work
            if work is None:
                continue
            if work.id not in quoted:
                mined = self._windows.golds(here.work_id) if here.work_id else ()
                own = (work.span_between(*each.gold) for each in outcomes if each.book == outcome.book)
                quoted[work.id] = [Span(at, n) for _, at, n in mined] or [span for span in own if span]
            claim = here.context.claim(run.shape) if here.context else None
            found.append(diagnose(outcome, claim, work, quoted[work.id], pool=run.pool == "given"))
        return tuple(each for each in found if each is not None)

    def _found(self, pairs: Sequence[tuple[Run, Outcome]]) -> Iterator[_Found]:
        stored = {summary.sha256: summary.id for summary in self._summaries()}
        benchmarks = {run.benchmark for run, _ in pairs}
        opened = {name: self._open(name) for name in benchmarks}
        wanted = {each.example_id for run, each in pairs if each.example_id not in opened[run.benchmark].windows}
        own = {
            each.id: QuotationContext(id=each.id, book="", pool="", left=each.left, right=each.right, gold=each.gold)
            for each, _ in self._windows.some(sorted(wanted))
        }
        for run, outcome in pairs:
            here = opened[run.benchmark]
            window = here.windows.get(outcome.example_id)
            if window is not None and window.book != outcome.book:
                window = None  # another benchmark of that name: its claim would be another claim
            book = next((book for book in run.books if book.key == outcome.book), None)
            work_id = stored.get(book.sha256, "") if run.pool == "whole work" and book is not None else ""
            work = self._load_work(work_id) if work_id else _given(book, here, window)
            yield _Found(window or own.get(outcome.example_id), here, book, work, work_id)

    def _read(self, run: Run, outcome: Outcome, found: _Found, known: dict[tuple[str, str], Missing]) -> ReadOutcome:
        context, opened, book, work, work_id = found
        missing = []
        if context is None:
            what = opened.missing if opened.missing and not opened.windows else "example"
            missing = [Missing("data" if what == "needs works" and run.pool == "given" else what, run.benchmark)]
        if work is None:
            key = (run.pool, outcome.book)
            if key not in known:
                known[key] = self._no_text(run, book)
            missing.append(known[key])
        return ReadOutcome(
            claim=context.claim(run.shape) if context else None,
            gold=_quoted(work, outcome.gold, work_id=work_id),
            first=tuple(_quoted(work, hit, work_id=work_id) for hit in outcome.first[:FIRST]),
            missing=tuple(missing),
        )

    def _open(self, name: str) -> _Opened:
        with self._lock:
            found = self._opened.get(name)
            if found is None or (found.benchmark is None and time.monotonic() - found.at > _ASKED_AGAIN):
                found = self._opened[name] = self._look_for(name)
        return found

    def _look_for(self, name: str) -> _Opened:
        benchmark: Benchmark | None = None
        windows: Sequence[QuotationContext] = ()
        missing: Literal["", "data", "damaged", "needs works"] = ""
        try:
            benchmark = self._benchmarks.open(name)
            windows = benchmark.windows()
        except RelicError as error:  # told on the page beside what can be shown without the claims
            missing = "data" if isinstance(error, NotFound | BadRequest) else "damaged"
            try:
                windows = self._benchmarks.unplaced(name)
            except RelicError as further:
                missing = "data" if isinstance(further, NotFound | BadRequest) else "damaged"
            else:
                if isinstance(error, NotFound):
                    missing = "needs works"
        return _Opened(benchmark, {window.id: window for window in windows}, missing, time.monotonic())

    def _no_text(self, run: Run, book: Book | None) -> Missing:
        if run.pool == "given" or book is None:
            return Missing("pool", run.benchmark)
        shelved = next((each for each in self._shelf() if each.entry.slug == book.key), None)
        return Missing("edition" if shelved is not None and shelved.work is not None else "work", book.title)


def _given(book: Book | None, opened: _Opened, window: QuotationContext | None) -> Work | None:
    """Take the text that was ranked from the benchmark; None where it is not here, or not the one that was ranked."""
    if opened.benchmark is None or window is None:
        return None
    work = opened.benchmark.work(window.pool)
    return work if book is None or book.sha256 in {"", work.sha256} else None


def _quoted(work: Work | None, offsets: Offsets, *, work_id: str) -> QuotedPassage:
    span = None if work is None else work.span_between(*offsets)
    if work is None or span is None:
        return QuotedPassage(offsets=offsets)
    return QuotedPassage(
        offsets=offsets,
        passage=quotation(work, span),
        place=work.place(span) if work_id else None,
        work_id=work_id,
        length=span.length,
    )
