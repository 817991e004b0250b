"""Measuring: one retriever on one benchmark with one context shape makes a run, which is kept with all its outcomes.

A run is known by what decides its ranks. Measured twice, it is recognised; stopped, it goes on; and two programs that
measure the same at once make one run: the second waits for the first.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from relic_core.config import provenance
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.evaluation.runner import evaluate
from relic_core.formats.run_facts import check_outcomes
from relic_core.retrieval import bm25, registry
from relic_core.services.experiments import Experiment
from relic_core.services.unfinished import Unfinished, writing
from relic_core.store import locks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from relic_core.config import Settings
    from relic_core.domain import ContextSize, Outcome, Run
    from relic_core.ports import Benchmark, Progress, Retriever
    from relic_core.retrieval.words_index import Terms
    from relic_core.wiring import App

_AGAIN = "again"
_PARTIAL = "partial.jsonl"
_LOCK = "lock"

_TERMS: dict[str, Terms] = {"bm25": "tokens", "bm25-lemmas": "lemmas"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What asking for a run has given.

    - `outcomes`: in the order of the benchmark.
    - `found`: whether it had been measured before, and was not measured now.
    - `moved`: measured again: the examples whose ranks are not what they were; empty where all are the same.
    """

    run: Run
    outcomes: tuple[Outcome, ...] = field(repr=False)
    found: bool = False
    moved: tuple[str, ...] = ()


class Measuring:
    """Measures retrievers for an app."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._made: dict[Path, dict[str, Retriever]] = {}
        self._lock = threading.Lock()

    def run(
        self,
        benchmark: str,
        retriever: str | Retriever,
        shape: ContextSize,
        *,
        data: Path | None = None,
        again: bool = False,
        tell: Callable[[str], None] | None = None,
        progress: Progress,
    ) -> Run:
        """Measure a retriever, or find the run where that was done before; see `measure`."""
        opened = self._app.benchmarks.open(benchmark, data=data)
        return self.measure(opened, retriever, shape, again=again, tell=tell, progress=progress).run

    def measure(
        self,
        benchmark: Benchmark,
        retriever: str | Retriever,
        shape: ContextSize,
        *,
        again: bool = False,
        renew: bool = True,
        tell: Callable[[str], None] | None = None,
        progress: Progress,
    ) -> Measured:
        """Measure a retriever on an open benchmark, or find the run where that was done before.

        Stopped half-way, by Ctrl-C or by force, the run goes on when it is asked for again; with another version of
        the program, or an index that has changed since, it begins anew.

        - `retriever`: a registered name, or a retriever with parameters of its own under a registered name.
        - `shape`: how much context each claim takes.
        - `again`: measure although it was measured before, and compare.
        - `renew`: measured again: whether ranks that have moved take the place of those that are kept.
        - `tell`: given whole sentences: that a run is found, goes on, begins anew, or came out the same again.
        - `progress`: told how many examples are done; may raise `JobCancelled`.

        Raises BadRequest: no retriever has that name.
        Raises BadBenchmark, NotFound: as the benchmark; or the outcomes cannot be those of a run.
        Raises BadWeights, StaleIndex: as the retriever.
        Raises StoreReadOnly: the data folder or the folder of indexes cannot be written.
        """
        say = tell or _say_nothing
        experiment = Experiment(self, benchmark, retriever, shape)
        earlier = self._known(experiment.run_id) or self._brought_back(experiment.run_id)
        if earlier is not None and not again:
            say(f"Measured before: run {earlier.run.id} of {earlier.run.created:%d %B %Y}. Nothing was measured now.")
            return earlier
        folder = self._app.settings.data / "runs" / (experiment.run_id + (f"-{_AGAIN}" if again else ""))
        waited: list[bool] = []

        def waiting() -> None:
            if not waited:
                say("Another program is measuring the same; waiting for it.")
            waited.append(True)
            progress(0, 0, "Another program is measuring the same")

        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            lock = locks.held(folder / _LOCK, while_waiting=waiting)
        with lock:
            if not again and (finished := self._known(experiment.run_id)):
                say(f"Another program has measured it meanwhile: run {finished.run.id}.")
                return finished
            return self._measure(experiment, folder / _PARTIAL, earlier, say, progress, renew=renew)

    def _measure(
        self,
        experiment: Experiment,
        path: Path,
        earlier: Measured | None,
        say: Callable[[str], None],
        progress: Progress,
        *,
        renew: bool,
    ) -> Measured:
        unfinished = Unfinished(path, {"run": experiment.identity, "code": provenance.code()})
        examples = len(experiment.benchmark.windows())
        with unfinished.opened(experiment.still, say, examples=examples) as state:
            outcomes = evaluate(
                experiment.benchmark,
                experiment.retriever,
                shape=experiment.shape,
                done=dict(state.outcomes),
                keep=unfinished.keep,
                entering=lambda work: unfinished.enter(experiment.entered(work)),
                progress=progress,
            )
        run = experiment.finished(outcomes, state)
        try:
            check_outcomes(f"run {run.id}", run, outcomes)
        except BadBenchmark:
            unfinished.remove()  # going on from there would end here again
            raise
        stored = self._app.store.runs
        if earlier is None and not stored.add(run, outcomes):  # taken in from a file meanwhile
            earlier = self._known(run.id)
        moved = moved_ranks(earlier.outcomes, outcomes) if earlier is not None else ()
        if moved and renew:
            stored.add(run, outcomes, again=True)
            self._app.runs.all()  # so that its outcomes are these from now on
        unfinished.remove()
        if earlier is not None:
            say(_compared(earlier.run, moved, len(outcomes), renew=renew))
        return Measured(run=run, outcomes=outcomes, moved=moved)

    def names(self) -> tuple[str, ...]:
        """Name the retrievers that there are, those that pages do not offer among them."""
        return tuple(card.name for card in registry.cards())

    def split(self, said: str, *, without: str = "") -> tuple[str, ...]:
        """Read names of retrievers, with commas between, or "all".

        - `said`: what was typed. "all" leaves out those that are slow copies of others, for checking.
        - `without`: one that "all" leaves out besides.

        Raises BadRequest: no retriever has one of the names, or there is none.
        """
        if said.strip() == "all":
            return tuple(name for name in self.names() if not name.endswith("-reference") and name != without)
        names = tuple(dict.fromkeys(name.strip() for name in said.split(",") if name.strip()))
        if not names:
            raise BadRequest(f"Which retriever? Known: {', '.join(self.names())}.")
        return tuple(registry.card(name).name for name in names)

    def chosen(self, said: str, *, k1: float | None = None, b: float | None = None) -> tuple[str | Retriever, ...]:
        """Read names of retrievers, and give BM25 parameters of its own.

        Raises BadRequest: as `split`; or parameters for another retriever than BM25, or out of their range.
        """
        names = self.split(said)
        if k1 is None and b is None:
            return names
        terms = _TERMS.get(names[0])
        if len(names) > 1 or terms is None:
            raise BadRequest(
                f"k1 and b are parameters of bm25 alone, and of bm25-lemmas; {', '.join(names)} was named. Name one of "
                "the two."
            )
        return (bm25.Bm25(k1=bm25.K1 if k1 is None else k1, b=bm25.B if b is None else b, terms=terms),)

    def retriever(self, name: str, settings: Settings) -> Retriever:
        """Give the one instance of a retriever for a folder of indexes.

        Raises BadRequest: no retriever has that name.
        """
        with self._lock:
            made = self._made.setdefault(settings.indexes, {})
            return registry.create(name, settings=settings, made=made)

    def settings_for(self, benchmark: Benchmark) -> Settings:
        """Give the settings with the folder where indexes of a benchmark's works belong.

        Novels of the library have theirs where searching finds them, so that nothing is encoded twice. Pools that were
        given, and editions that the library does not have, are kept apart from what readers prepare.
        """
        settings = self._app.settings
        if benchmark.card.pool == "whole work":
            stored = {summary.sha256 for summary in self._app.works.summaries()}
            if all(book.sha256 in stored for book in benchmark.books()):
                return settings
        return replace(settings, indexes=settings.indexes / "benchmarks")

    def _known(self, wanted: str) -> Measured | None:
        """Find a run that is kept, or that came with the program."""
        runs = self._app.runs
        run = next((each for each in runs.all() if each.id == wanted), None)
        return None if run is None else Measured(run=run, outcomes=runs.outcomes(run.id), found=True)

    def _brought_back(self, wanted: str) -> Measured | None:
        """Bring back a run that was removed."""
        try:
            self._app.runs.restore(wanted)
        except NotFound:
            return None
        return self._known(wanted)


def _compared(run: Run, moved: tuple[str, ...], count: int, *, renew: bool) -> str:
    if not moved:
        return f"Measured again: every rank is what it was in run {run.id}, which stays."
    kept = "What was measured now takes its place." if renew else "The run stays as it was."
    return (
        f"Measured again: {len(moved):,} of {count:,} ranks are not what they were in run {run.id} of "
        f"{run.created:%d %B %Y}. {kept}"
    )


def moved_ranks(before: Sequence[Outcome], after: Sequence[Outcome]) -> tuple[str, ...]:
    """List the examples whose ranks differ, those that only one side has among them."""
    ranks = [
        {each.example_id: (each.rank, each.overlap_rank, each.candidates) for each in side} for side in (before, after)
    ]
    both = sorted(ranks[0].keys() | ranks[1].keys())
    return tuple(each for each in both if ranks[0].get(each) != ranks[1].get(each))


def _say_nothing(sentence: str) -> None:
    """Tell nobody."""
