"""The data set: splits, leaks, statistics, and the public-domain RELiC with its manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from relic_core.cli import console
from relic_core.cli.commands import Actions, format_option, path_option, show
from relic_core.cli.console import note
from relic_core.errors import StoreReadOnly
from relic_core.reporting import statistics, tables

if TYPE_CHECKING:
    from relic_core.wiring import App

_MOST_OFFENCES = 50

dataset = Actions(
    "dataset",
    help="Part what was mined into dev, test and training; check it for leaks; count it; write or rebuild the "
    "public-domain RELiC.",
    epilog=show(
        "dataset split",
        "dataset leakage",
        "dataset statistics",
        "dataset statistics --of public-relic --format latex --chart lengths.html",
        "dataset rebuild --from criticism.zip",
        "dataset rebuild",
        "dataset manifest --from criticism.zip",
    ),
)
_format_option = format_option(*tables.FORMATS)
_from_option = path_option(
    "--from", "PATH", "A file, folder or zip with the critical books; may be repeated.", "books", multiple=True
)


@dataset.command("split")
@_format_option
def split(app: App, form: tables.Format) -> None:
    """Part what was mined into dev, test and training, after mining and judging.

    Windows on the works of RELiC's training split are dev, those on its validation and test works are test. Training
    takes pairs, and windows on other works, that share no eight words in a row with a measured work, a benchmark, a dev
    or test window, or the list of held-out runs (heldout_eight_grams.txt in RELIC_BENCHMARKS).
    """
    with console.ProgressLine("Parting") as progress:
        done = app.dataset.split(progress)
    parts = ("dev", "test", "training", "left out")
    made = (
        tables.Table(
            caption="The splits",
            heads=("split", "windows", "examples", "pairs"),
            rows=tuple(
                (part, *(counts.get(part, 0) for counts in (done.windows, done.examples, done.pairs))) for part in parts
            ),
        ),
        tables.Table(
            caption="Left out",
            heads=("what", "how many", "why"),
            rows=tuple((kind, many, why) for kind, reasons in done.left_out.items() for why, many in reasons.items()),
        ),
    )
    print(tables.write(made, form))
    note(*done.notes)


@dataset.command("leakage")
@_format_option
def leakage(app: App, form: tables.Format) -> int:
    """Check the split anew, by other means; ends with 1 where anything is shared."""
    with console.ProgressLine("Checking") as progress:
        report = app.dataset.leakage(progress)
    if form == "table":
        for offence in report.offences[:_MOST_OFFENCES]:
            print(offence)
        if len(report.offences) > _MOST_OFFENCES:
            print(f"... and {len(report.offences) - _MOST_OFFENCES:,} more; --format json lists all.")
        print(
            f"{len(report.offences):,} offences in {report.pairs:,} pairs for training and {report.windows:,} windows, "
            f"held against {report.texts:,} texts."
        )
    else:
        rows = tuple((each.kind, each.id, each.words, ", ".join(each.where)) for each in report.offences)
        heads = ("what", "id", "words", "where it also stands")
        print(tables.write((tables.Table(caption="Leaks", heads=heads, rows=rows),), form))
    note(*report.notes)
    return 1 if report.offences else 0


@dataset.command("statistics")
@click.option(
    "--of",
    "which",
    default="store",
    show_default=True,
    metavar="SET",
    help="Or public-relic, public-relic-all, or one benchmark: public-relic-dev, ...",
)
@path_option("--chart", "FILE", "Draw Figure 2 to FILE.html or .json.")
@_format_option
def show_statistics(app: App, which: str, chart: Path | None, form: tables.Format) -> None:
    """Print RELiC's Table 1, section A.3 and Figure 2 for a set of windows, beside RELiC's own."""
    with console.ProgressLine("Counting") as progress:
        counted = app.statistics(which, progress)
    what = "The windows of the store" if which == "store" else which
    if chart is not None:
        if chart.suffix.lower() not in {".html", ".json"}:
            raise click.UsageError("--chart wants a FILE.html or a FILE.json.")
        figure = statistics.draw_lengths(counted, what=what)
        drawn = figure.to_html(include_plotlyjs=True) if chart.suffix.lower() == ".html" else figure.to_json()
        try:
            chart.write_text(drawn, encoding="utf-8")
        except OSError as error:
            raise StoreReadOnly(f"{chart} cannot be written ({error.strerror}). Name another file.") from None
    if which == "store":
        note(*app.dataset.stale())
    print(tables.write(statistics.tables(counted, what=what), form))


@dataset.command("manifest")
@_from_option
@path_option("--to", "FOLDER", "Write it here, not below the data folder.")
def write_manifest(app: App, books: tuple[Path, ...], to: Path | None) -> None:
    """Write the manifest of the public-domain RELiC from the store: places and hashes, no text."""
    with console.ProgressLine("Tracing") as progress:
        made = app.make_manifest(list(books), to, progress)
    print(
        console.table(
            ("set", "windows", "works"), [(name, each.examples, each.books) for name, each in made.sets.items()]
        )
    )
    if made.left_out:
        print("\nIn no set:")
        print(console.table(("windows", "why"), [(many, why) for why, many in made.left_out.items()]))
    if made.without_capped:
        print(
            f"\n{len(made.without_capped)} works have windows in the sets without a limit alone, since fewer than "
            f"four sources quote them: {'; '.join(made.without_capped)}."
        )
    note(*app.dataset.stale(), *made.problems)
    print(f"\nThe manifest is in {made.folder}.")


@dataset.command("rebuild")
@_from_option
@click.option("--offline", is_flag=True, help="Fetch nothing.")
def rebuild(app: App, books: tuple[Path, ...], offline: bool) -> int:
    """Cut the windows of the manifest that ships with the program out of their sources.

    These are the files you name first, then Project Gutenberg. It goes on where it stopped; ends with 1 and a list
    where something cannot be rebuilt. Then: evaluate public-relic-dev bm25
    """
    with console.ProgressLine("Rebuilding") as progress:
        done = app.rebuild(list(books), offline=offline, progress=progress)
    print(f"{done.windows:,} of {done.of:,} windows are in {done.path}, each as its hash says.")
    note(*map(str, done.lacking))
    return 1 if done.lacking else 0
