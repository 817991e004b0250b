"""List the runs, show and compare them, take them in and give them away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relic_core.cli import console
from relic_core.cli.commands import (
    Actions,
    add_remove_and_restore,
    by_option,
    command,
    format_option,
    metric_option,
    path_option,
    refuse_others,
    show,
)
from relic_core.domain import ContextSize, Run
from relic_core.domain.figures import Part, Table
from relic_core.installed import COMMAND
from relic_core.reporting import tables

if TYPE_CHECKING:
    from relic_core.wiring import App

runs = Actions(
    "runs",
    default="list",
    help="List the runs: what was measured here, or came with the program; or do something with one.",
    epilog=show(
        "runs",
        "runs show 3f9a01c2b4d5",
        "runs show 3f9a --by length",
        "runs compare 3f9a 77c2 b01e --metric recall@10 --metric mrr",
        "runs tag 3f9a tuned first-try",
        "runs remove 3f9a",
        "runs restore 3f9a01c2b4d5",
        "runs export 3f9a ranks.parquet",
        "runs import bm25.json",
        "runs import theirs.run --benchmark birco-pools --system ColBERT",
    ),
)
_run_argument = click.argument("run_id", metavar="ID", help="The beginning will do.")
_format_option = format_option(*tables.FORMATS)


@runs.command("list")
@_format_option
def list_runs(app: App, form: tables.Format) -> None:
    """List all runs."""
    found = app.runs.all()
    if not found and form == "table":
        print(f"Nothing has been measured yet. Begin with: {COMMAND} evaluate sample dense-relic")
        return
    rows = tuple(
        (
            run.id,
            run.benchmark,
            run.pool,
            run.label,
            str(run.shape),
            run.examples,
            f"{run.created:%Y-%m-%d}",
            ", ".join((*run.tags, *(["came with the program"] if app.runs.came_along(run) else []))),
        )
        for run in found
    )
    heads = ("id", "benchmark", "chosen from", "retriever", "context", "n", "made", "tags")
    print(tables.write((Table(caption="", heads=heads, rows=rows),), form))


@runs.command("show")
@_run_argument
@metric_option
@by_option
@_format_option
def show_run(app: App, run_id: str, metrics: Sequence[str], by: Part, form: tables.Format) -> None:
    """Show a run: its figures, its configuration, and the command that measures it again."""
    from relic_core.services.evaluation import figures

    run = app.runs.find(run_id)
    names, measured = figures.columns(metrics or None), [(run, app.runs.labelled(run.id))]
    made = figures.tables(measured, names=names, by=by) if run.examples else ()
    if form == "table":
        facts = [
            ("run", run.id),
            ("retriever", f"{run.label} ({run.retriever})"),
            *sorted(run.configuration.items()),
            ("benchmark", f"{run.benchmark}{f', {run.split}' if run.split else ''}"),
            ("context", str(run.shape)),
            ("data", run.data_hash),
            ("program", run.code),
            ("machine", ", ".join(f"{name} {value}" for name, value in sorted(run.machine.items()))),
            ("seconds", f"{run.seconds:,.3f}"),
            ("index", f"{run.index_bytes:,} bytes"),
            ("made", f"{run.created:%Y-%m-%d %H:%M} UTC"),
            ("tags", ", ".join(run.tags)),
            ("again", f"{run.command} --again"),
        ]
        print(console.table(("", ""), facts).lstrip("\n"), end="\n\n")
    print(tables.write(made, form))
    if not made:
        console.note("It was measured on no quotation, so there are no figures.")


@runs.command("compare")
@click.argument("run_ids", nargs=-1, metavar="ID ID...", help="The beginnings will do.")
@metric_option
@_format_option
def compare(app: App, run_ids: Sequence[str], metrics: Sequence[str], form: tables.Format) -> None:
    """Compare runs on the same data, with intervals and corrected p-values."""
    from relic_core.services.evaluation import figures

    if len(run_ids) < 2:  # noqa: PLR2004 - the least that can be compared
        raise click.UsageError("runs compare wants two ids or more.")
    chosen = [app.runs.find(each) for each in run_ids]
    measured = [(each, app.runs.outcomes(each.id)) for each in chosen]
    names = list(metrics) or [figures.main_metric(chosen[0])]
    print(tables.write((figures.comparison(measured, names=names),), form))


@runs.command("tag")
@_run_argument
@click.argument("words", nargs=-1)
def tag(app: App, run_id: str, words: Sequence[str]) -> None:
    """Tag a run with words, in place of the tags it has."""
    run = app.runs.find(run_id)
    app.runs.tag(run.id, words)
    tagged = f"is tagged: {', '.join(dict.fromkeys(words))}." if words else "has no tags."
    gone = ", ".join(each for each in run.tags if each not in words)
    print(f"{_name(run)} {tagged}{f' No longer: {gone}.' if gone else ''}")


def _name(run: Run) -> str:
    return f"Run {run.id} ({run.label} on {run.benchmark}, {run.shape})"


add_remove_and_restore(runs, "run", _run_argument, lambda app: app.runs, _name)


@runs.command("export")
@_run_argument
@click.argument("file", type=click.Path())
def export(app: App, run_id: str, file: str) -> None:
    """Write a run into a file, whose name says of which kind: .json, .parquet, .run or .qrels."""
    run = app.runs.find(run_id)
    left_out = app.runs.export(run, Path(file))
    print(f"{_name(run)} is in {file}.")
    console.note(*filter(None, [left_out]))


@runs.command("import")
@click.argument("file", type=Path)
@click.option("--benchmark", metavar="NAME", help="What another system ranked: FILE is TREC's run, or BIRCO's JSON.")
@click.option("--system", default="", help="With --benchmark: the system's name, of several in a file which.")
@click.option("--shape", default="4/4", show_default=True, help="With --benchmark: how much context it was given.")
@path_option("--data", "PATH", "With --benchmark: your own file or folder of the benchmark's data.")
def import_run(app: App, file: Path, benchmark: str | None, system: str, shape: str, data: Path | None) -> None:
    """Take in the run of a file (.json), or what another system ranked for a benchmark."""
    if benchmark is None:
        refuse_others("runs import without --benchmark")
        taken, new = app.runs.take_in(file)
    else:
        opened = app.benchmarks.open(benchmark, data=data)
        taken, new, shown = app.runs.import_ranking(file, opened, ContextSize.parse(shape), system, app.benchmarks)
    print(f"{_name(taken)} was taken in." if new else f"{_name(taken)} is here already.")
    if benchmark:
        from relic_core.services.evaluation import figures

        console.note(*figures.lacks(taken, app.runs.outcomes(taken.id)))
        print(
            f"Find can show its rankings of {shown:,} of {taken.examples:,} claims. Their works must be in "
            "the library; import the file again when you have added some."
        )


@command(
    "diagnose 3f9a",
    "diagnose 3f9a --metric recall@100",
    "diagnose 3f9a --cases cases.csv",
)
@_run_argument
@click.option("--metric", default="recall@10", show_default=True, metavar="NAME", help="What counts as missed.")
@path_option("--cases", "FILE", "Also write every case, with what people say of it: FILE.csv or FILE.json.")
@_format_option
def diagnose(app: App, run_id: str, metric: str, cases: Path | None, form: tables.Format) -> None:
    """Say why quotations were missed: shared words, names, speech, length, and the place in the work."""
    run = app.runs.find(run_id)
    made = app.recall.diagnosis(run, metric)
    if cases is not None:
        app.recall.save_cases(run, metric, cases)
    print(tables.write(made, form))
    if cases is not None:
        console.note(f"{run.examples:,} cases are in {cases}.")


@command("paper relic", "paper birco --format markdown")
@click.argument("name", metavar="PAPER", help="relic, birco, quest, allusion or citations.")
@_format_option
def paper(app: App, name: str, form: tables.Format) -> None:
    """Print every table of a paper, our rows where there are any, and say what cannot be measured here."""
    print(tables.write(app.runs.paper(name), form))
