"""Runs: those that came with the program and those made here, and how they go out and come in as files."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from relic_core.config import ASSETS
from relic_core.domain import ContextSize, Outcome, Run, Work
from relic_core.domain.figures import Table
from relic_core.domain.studies import Study
from relic_core.errors import BadBenchmark, BadRequest, NotFound, unknown_name
from relic_core.evaluation import papers
from relic_core.evaluation.diagnosis import CODES
from relic_core.evaluation.experiments import refuse_moved, run_id
from relic_core.evaluation.imported import import_ranking
from relic_core.evaluation.labels import Labels, join
from relic_core.formats import parquet, run_files, trec
from relic_core.formats.files import check_writable, write_whole
from relic_core.library.naming import meant
from relic_core.ports import Benchmark, WorkSource
from relic_core.reporting import sheets
from relic_core.retrieval.calibration import model_named
from relic_core.store.runs import RunRows

SHIPPED = ASSETS / "results"

FORMS = {
    ".json": "everything, to be taken in again",
    ".parquet": "one row per example, for statistics",
    ".run": f"TREC: the first hits of each example, and the gold at its rank where that is up to {trec.DEPTH:,}",
    ".qrels": "TREC: the gold of each example",
}
"""What the suffix of a file decides."""


class Runs:
    """All runs there are, in the store and in the folder of those that come with the program."""

    def __init__(
        self,
        rows: RunRows,
        shipped: Path | None = None,
        stamp: Callable[[], object] = time.monotonic,
        labels: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._rows = rows
        self._folder = SHIPPED if shipped is None else shipped
        self._shipped: dict[str, tuple[Run, Path]] | None = None
        self._stored: dict[str, Run] = {}
        self._stamp = stamp
        self._labels = labels
        self._labelled: tuple[object, Mapping[str, str]] = (None, {})
        self._systems: tuple[object, tuple[tuple[str, str], ...]] = (None, ())
        self._outcomes: dict[str, tuple[Run, tuple[Outcome, ...]]] = {}
        self._lock = threading.Lock()

    def all(self) -> tuple[Run, ...]:
        """List all runs, newest first, each id once."""
        shipped = self._came_with()
        runs = {run_id: run for run_id, (run, _) in shipped.items()}
        self._stored = {run.id: run for run in self._rows.all()}
        for run in self._stored.values():
            came = runs.get(run.id)
            newest = run if came is None or run.created > came.created else came
            runs[run.id] = dataclasses.replace(newest, tags=run.tags, shipped=came is not None)
        return tuple(sorted(runs.values(), key=lambda run: (-run.created.timestamp(), run.id)))

    def came_along(self, run: Run) -> bool:
        """Whether a run's ranks are those that came with the program: a run that was measured again has its own."""
        came = self._came_with().get(run.id)
        return came is not None and run.created <= came[0].created

    def find(self, wanted: str) -> Run:
        """Find a run by its id or the beginning of it. Raises NotFound, BadRequest: there is none, or several."""
        runs = self.all()
        fits = [run for run in runs if run.id == wanted], [run for run in runs if wanted and run.id.startswith(wanted)]
        found = meant(wanted, fits, kind="runs", called=lambda run: run.id)
        if found is None:
            raise NotFound(f"There is no run '{wanted}'. `python -m relic_core runs` lists those there are.")
        return found

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """List the outcomes of a run in the order of its benchmark."""
        shipped = self._came_with().get(run_id)
        run = self._stored.get(run_id)  # as listed last: asking the store anew takes longer than all the rest
        if shipped is not None and run is not None and run.created > shipped[0].created:
            shipped = None
        if shipped is not None:
            run = shipped[0]
        elif run is None:
            run = self._stored[run_id] = self._rows.get(run_id)
        kept = self._outcomes.get(run_id)
        if kept is None or kept[0] != run:  # measured again, here or by another program
            kept = run, run_files.read_run(shipped[1])[1] if shipped is not None else self._rows.outcomes(run_id)
            with self._lock:
                self._outcomes[run_id] = kept
        return kept[1]

    def labelled(self, run_id: str) -> tuple[Outcome, ...]:
        """List outcomes with the kinds that readers gave their quotations, else the benchmark's; raises as it."""
        outcomes, labels = self.outcomes(run_id), self._joined(run_id).by_id
        if not labels:
            return outcomes
        return tuple(dataclasses.replace(each, kind=labels.get(each.example_id, each.kind)) for each in outcomes)

    def _joined(self, run_id: str) -> Labels:
        """Find what readers say that a run's quotations are there for."""
        outcomes, stamp = self.outcomes(run_id), self._stamp()
        if self._labelled[0] != stamp:
            self._labelled = stamp, self._labels()
        texts = {book.key: book.sha256 for book in self._outcomes[run_id][0].books}
        return join(self._labelled[1], ((each.example_id, texts.get(each.book, ""), each.gold) for each in outcomes))

    def add(self, run: Run, outcomes: Sequence[Outcome], *, again: bool = False) -> bool:
        """Keep a run, `again` in the place of what is there; false where it is there and not to be replaced."""
        added = self._rows.add(run, outcomes, again=again)
        if again:
            self.all()  # so that its outcomes are these from now on
        return added

    def tag(self, run_id: str, tags: Sequence[str]) -> None:
        """Give a run these tags in place of those it has; one that came with the program is copied into the store."""
        shipped = self._came_with().get(run_id)
        if shipped is not None:
            self._rows.add(shipped[0], run_files.read_run(shipped[1])[1])
        self._rows.tag(run_id, tags)

    def remove(self, run_id: str) -> None:
        """Hide a run; `restore` brings it back. Raises BadRequest: it came with the program."""
        if run_id in self._came_with():
            raise BadRequest(
                f"The run '{run_id}' came with the program and cannot be removed: the documentation's figures rest on "
                "it. Choose other runs to leave it out of a table."
            )
        self._rows.remove(run_id)
        self._stored.pop(run_id, None)

    def restore(self, whole_id: str) -> Run:
        """Bring back a removed run, which is found by its whole id alone. Raises BadRequest: it is not removed."""
        there = [run.id for run in self.all() if whole_id and run.id.startswith(whole_id)]
        if whole_id not in there:
            try:
                return self._rows.restore(whole_id)
            except NotFound:
                if len(there) != 1:
                    raise NotFound(
                        f"No run of the id '{whole_id}' was removed. `runs remove` prints the whole id; its beginning "
                        "is not enough here."
                    ) from None
        (one,) = [whole_id] if whole_id in there else there
        raise BadRequest(f"Run {one} is not removed; there is nothing to restore.")

    def export(self, run: Run, path: Path) -> str:
        """Write a run to a file, whose suffix says in which of the `FORMS`; say what of readers' labels is in it."""
        outcomes = self.outcomes(run.id)
        match path.suffix.lower():
            case ".json":
                run_files.write_run(path, run, outcomes)
            case ".parquet":
                joined = self._joined(run.id)
                parquet.write_outcomes(path, run, outcomes, joined.by_id)
                return joined.summary
            case ".run":
                trec.write_run(path, outcomes, tag=f"{run.retriever}-{run.id}")
            case ".qrels":
                trec.write_qrels(path, outcomes)
            case other:
                forms = "; ".join(f"{suffix} ({what})" for suffix, what in FORMS.items())
                raise BadRequest(
                    f"A run is not written as '{other or path.name}'. What the file's name may end in: {forms}."
                )
        return ""

    def take_in(self, path: Path) -> tuple[Run, bool]:
        """Read a run from a file that `export` wrote as JSON, and keep it; false where it is here already.

        Of a run that was removed here, the file's outcomes are kept.

        Raises NotFound: there is no such file.
        Raises BadBenchmark: it is damaged, or its id is not that of what it says was measured.
        Raises BadRequest: the file's name ends otherwise, or the run is here with other ranks.
        """
        if path.suffix.lower() != run_files.SUFFIX:
            raise BadRequest(
                f"{path} cannot be taken in: only .json files can, made by `python -m relic_core runs export ID "
                "FILE.json`. The other forms do not hold everything."
            )
        run, outcomes = run_files.read_run(path)
        facts = {name: getattr(run, name) for name in ("benchmark", "split", "data_hash", "retriever", "shape")}
        if run.id != run_id(configuration=run.configuration, **facts):
            raise BadBenchmark(
                f"{path}: the id {run.id:.40} is not that of what was measured there. The file was changed by hand; "
                "take it anew from where it came."
            )
        for kept in self.all():
            if kept.id == run.id:
                refuse_moved(kept, self.outcomes(run.id), outcomes)
                return kept, False
        if not self._rows.add(run, outcomes) and self._rows.outcomes(run.id) != outcomes:
            self._rows.add(run, outcomes, again=True)  # it was removed, and came back with what it had then
        return run, True

    def import_ranking(
        self, path: Path, benchmark: Benchmark, shape: ContextSize, system: str = "", works: WorkSource | None = None
    ) -> tuple[Run, bool, int]:
        """Take in what another system ranked: see `imported.import_ranking`; `works` is the library.

        Returns: the run; false where it is here already; for how many claims a search can show its ranking.
        """
        editions: dict[str, Work] = {}
        for book in benchmark.books() if benchmark.card.pool == "given" else ():
            with suppress(NotFound):
                editions |= works.find([book.key]) if works else {}
        run, outcomes, rankings = import_ranking(benchmark, path, shape, system, editions)
        added = self._rows.add(run, outcomes)
        self._rows.add_imported(run.id, rankings)
        return run, added, len(rankings)

    def judge_case(self, of: Run | Study, example_id: str, codes: Sequence[str], *, judge: str = "") -> None:
        """Keep what somebody says of a case of a run or study over what they said before, which stays on record."""
        if unknown := [code for code in codes if code not in CODES]:
            raise unknown_name("code", unknown[0], CODES)
        self._rows.judge_case(of.id, example_id, codes, judge)

    def case_judgements(self, of: Run | Study) -> dict[tuple[str, str], tuple[str, ...]]:
        """Give what was last said of the cases of a run or study, by example and judge."""
        return {(example_id, judge): codes for example_id, judge, codes in self._rows.case_judgements(of.id)}

    def paper(self, name: str, *, shipped: bool = False) -> tuple[Table, ...]:
        """Set the tables of a paper with our rows; of runs of the small model that came along where that is asked."""
        some = [
            run for run in self.all() if not shipped or (run.shipped and model_named(run.configuration) != "larger")
        ]
        return papers.tables(name, some, self.outcomes)

    def check_sheet(self, path: Path, benchmarks: Sequence[str]) -> None:
        """Make sure that a sheet can be made, before anything is measured for it.

        Raises BadRequest: BIRCO has no figures for a benchmark. Raises StoreError: the file cannot be written.
        """
        papers.beside_birco(benchmarks, (), self.outcomes)
        check_writable(path)

    def write_sheet(self, path: Path, chosen: Sequence[Run], *, command: str, left: int) -> None:
        """Write what a language model was measured at, beside BIRCO's figures; see `sheets.write`."""
        figures = papers.beside_birco([run.benchmark for run in chosen], chosen, self.outcomes)
        write_whole(path, sheets.write(chosen, figures, command, left))

    def systems(self, work_sha256: str) -> tuple[str, ...]:
        """Name the retrievers whose rankings of claims about a work were taken in."""
        stamp = self._stamp()
        if self._systems[0] != stamp:
            self._systems = stamp, self._rows.imported_systems()
        return tuple(name for name, work in self._systems[1] if work == work_sha256)

    def _came_with(self) -> dict[str, tuple[Run, Path]]:
        with self._lock:
            if self._shipped is None:
                read = [
                    (run_files.read_head(path), path) for path in sorted(self._folder.rglob(f"*{run_files.SUFFIX}"))
                ]
                self._shipped = {run.id: (run, path) for run, path in read}
            return self._shipped
