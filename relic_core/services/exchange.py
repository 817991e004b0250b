"""Runs in and out of the store as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.formats import parquet, run_files, trec
from relic_core.services.experiments import run_id
from relic_core.services.measuring import moved_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import Outcome, Run
    from relic_core.wiring import App

DEPTH = 1000
"""How far down a ranking goes that is written for TREC's tools: as far as trec_eval's users are used to."""

FORMS = {
    ".json": "everything, to be taken in again",
    ".parquet": "one row per example, for statistics",
    ".run": f"TREC: the first hits of each example, and the gold at its rank where that is up to {DEPTH:,}",
    ".qrels": "TREC: the gold of each example",
}
"""What the suffix of a file decides."""


def find(app: App, said: str) -> Run:
    """Find a run by its id or the beginning of its id.

    Raises NotFound: there is none.
    Raises BadRequest: there are several.
    """
    runs = app.runs.all()
    exact = [run for run in runs if run.id == said]
    near = exact or [run for run in runs if run.id.startswith(said)]
    if not said or not near:
        raise NotFound(f"There is no run '{said}'. `python -m relic_core runs` lists those there are.")
    if len(near) > 1:
        some = ", ".join(run.id for run in near[:5])
        raise BadRequest(
            f"'{said}' begins the ids of {len(near)} runs: {some}. Give more characters, to tell them apart."
        )
    return near[0]


def bring_back(app: App, said: str) -> Run:
    """Bring back a run that was removed, which is found by its whole id alone.

    Raises NotFound: there never was such a run.
    Raises BadRequest: it is not removed.
    """
    there = [run.id for run in app.runs.all() if said and run.id.startswith(said)]
    if said not in there:
        try:
            return app.runs.restore(said)
        except NotFound:
            if len(there) != 1:
                raise NotFound(
                    f"No run of the id '{said}' was removed. `runs remove` prints the whole id; its beginning is "
                    "not enough here."
                ) from None
    (one,) = [said] if said in there else there
    raise BadRequest(f"Run {one} is not removed; there is nothing to restore.")


def export(app: App, run: Run, path: Path) -> None:
    """Write a run to a file, whose suffix says in which form.

    Raises BadRequest: another suffix.
    Raises StoreError: the file cannot be written.
    """
    outcomes = app.runs.outcomes(run.id)
    match path.suffix.lower():
        case ".json":
            run_files.write_run(path, run, outcomes)
        case ".parquet":
            parquet.write_outcomes(path, run, outcomes)
        case ".run":
            trec.write_run(path, {each.example_id: _ranked(each) for each in outcomes}, tag=f"{run.retriever}-{run.id}")
        case ".qrels":
            trec.write_qrels(path, {each.example_id: {_document(each.book, each.gold): 1} for each in outcomes})
        case other:
            forms = "; ".join(f"{suffix} ({what})" for suffix, what in FORMS.items())
            raise BadRequest(
                f"A run is not written as '{other or path.name}'. What the file's name may end in: {forms}."
            )


def export_windows(app: App, name: str, path: Path, *, data: Path | None = None) -> int:
    """Write the windows of a benchmark as Parquet; they hold what the benchmark's data hold, and stay with the reader.

    - `app`: where the works are.
    - `data`: the reader's own file or folder of the benchmark.

    Returns: how many there are.

    Raises BadRequest: no benchmark has that name, or the file's name ends otherwise.
    Raises BadBenchmark, NotFound: as the benchmark.
    Raises StoreError: the file cannot be written.
    """
    if path.suffix.lower() != ".parquet":
        raise BadRequest(f"Windows are written as Parquet, and '{path.name}' does not end in .parquet. Rename it so.")
    benchmark = app.benchmarks.open(name, data=data)
    card, windows = benchmark.card, benchmark.windows()
    facts = {"benchmark": card.name, "split": card.split, "data_hash": benchmark.data_hash, "licence": card.licence}
    parquet.write_windows(path, windows, facts)
    return len(windows)


def take_in(app: App, path: Path) -> tuple[Run, bool]:
    """Read a run from a file that `export` wrote as JSON, and keep it.

    Of a run that was removed here, the file's outcomes are kept.

    What it returns:
    - `Run`: the run.
    - `bool`: false where it is here already.

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
            f"{path}: the id {run.id:.40} is not that of what was measured there. The file was changed by hand; take "
            "it anew from where it came."
        )
    for kept in app.runs.all():
        if kept.id == run.id:
            _refuse_others(kept, moved_ranks(app.runs.outcomes(run.id), outcomes), len(outcomes))
            return kept, False
    if not app.store.runs.add(run, outcomes) and app.store.runs.outcomes(run.id) != outcomes:
        app.store.runs.add(run, outcomes, again=True)  # it was removed, and came back with what it had then
    return run, True


def _refuse_others(kept: Run, moved: Sequence[str], count: int) -> None:
    if not moved:
        return
    instead = (
        "Find out which is right by measuring it here"
        if kept.shipped
        else f"To have the file's in their place, remove it first (python -m relic_core runs remove {kept.id}); or "
        "measure it anew"
    )
    raise BadRequest(
        f"Run {kept.id} is here already, and {len(moved):,} of its {count:,} ranks are others than the file's "
        f"({', '.join(moved[:3])}{', ...' if len(moved) > 3 else ''}). {instead}: {kept.command} --again."  # noqa: PLR2004
    )


def _document(book: str, place: Sequence[int]) -> str:
    """Name a passage by its characters; without white space, as TREC's files want it."""
    return f"{'_'.join(book.split())}:{place[0]}-{place[1]}"


def _ranked(outcome: Outcome) -> list[str]:
    """List the documents that are known of a ranking: the first hits, and the gold at its rank.

    What stood between is not kept in a run; its places are filled with names that no passage has, so that tools find
    the gold at the rank that it had. A gold that stood below `DEPTH` is left out, and counts as not found.
    """
    if outcome.rank is None:
        return []
    first = [_document(outcome.book, place) for place in outcome.first]
    gold = _document(outcome.book, outcome.gold)
    if outcome.rank <= len(first) or outcome.rank > DEPTH:
        return first
    between = [f"rank-{rank}" for rank in range(len(first) + 1, outcome.rank)]
    return [*first, *between, gold]
