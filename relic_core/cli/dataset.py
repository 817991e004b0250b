"""The data set: splits, leaks, statistics, and the public-domain RELiC with its manifest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.errors import StoreReadOnly
from relic_core.reporting import tables

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App

_ACTIONS = ("split", "leakage", "statistics", "manifest", "rebuild")
_USUAL: dict[str, object] = {"from": [], "to": None, "of": "store", "chart": None, "format": "table", "offline": False}
_TAKEN = {
    "split": ("format",),
    "leakage": ("format",),
    "statistics": ("of", "chart", "format"),
    "manifest": ("from", "to"),
    "rebuild": ("from", "offline"),
}
_MOST_OFFENCES = 50


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "dataset",
        summary=(
            "Part what was mined into dev, test and training; check it for leaks; count it; write or rebuild the "
            "public-domain RELiC."
        ),
        examples=(
            "  python -m relic_core dataset split\n"
            "  python -m relic_core dataset leakage\n"
            "  python -m relic_core dataset statistics\n"
            "  python -m relic_core dataset statistics --of public-relic --format latex --chart lengths.html\n"
            "  python -m relic_core dataset rebuild --from criticism.zip\n"
            "  python -m relic_core dataset rebuild\n"
            "  python -m relic_core dataset manifest --from criticism.zip\n"
            "\n"
            "split       Windows on the works of RELiC's training split are dev, those on its validation and test\n"
            "            works are test. Training takes pairs, and windows on other works, that share no eight words\n"
            "            in a row with a measured work, a benchmark, a dev or test window, or the list of held-out\n"
            "            runs (heldout_eight_grams.txt in RELIC_BENCHMARKS). Run it after mining and judging.\n"
            "leakage     Checks that anew, by other means; exit code 1 where anything is shared.\n"
            "statistics  RELiC's Table 1, section A.3 and Figure 2 for a set of windows, beside RELiC's own.\n"
            "rebuild     Cuts the windows of the manifest that ships with the program out of their sources: files\n"
            "            you name first, then Project Gutenberg. It goes on where it stopped; exit code 1 and a list\n"
            "            where something cannot be rebuilt. Then: evaluate public-relic-dev bm25\n"
            "manifest    Writes that manifest from the store: places and hashes, no text."
        ),
    )
    parser.add_argument("action", choices=_ACTIONS, metavar="ACTION", help=", ".join(_ACTIONS))
    parser.add_argument(
        "--from", action="append", type=Path, default=[], metavar="PATH",
        help="rebuild, manifest: a file, folder or zip with the critical books; may be given several times",
    )  # fmt: skip
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="manifest: write it here, not below the data folder")
    parser.add_argument(
        "--of", default="store", metavar="SET",
        help="statistics: store (default), public-relic, public-relic-all, or one benchmark: public-relic-dev, ...",
    )  # fmt: skip
    parser.add_argument("--chart", type=Path, metavar="FILE", help="statistics: draw Figure 2 to FILE.html or .json")
    parser.add_argument("--offline", action="store_true", help="rebuild: fetch nothing")
    parser.add_argument("--format", choices=tables.FORMATS, default="table", help="(default: %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:
    """Do it."""
    console.refuse_unused(options, f"dataset {options.action}", _USUAL, _TAKEN[options.action])
    return _DO[options.action](app, options)


def _split(app: App, options: Namespace) -> int:
    with console.ProgressLine("Parting") as progress:
        done = app.dataset.split(progress)
    made = (
        tables.Table(
            caption="The splits",
            heads=("split", "windows", "examples", "pairs"),
            rows=tuple(
                (part, done.windows.get(part, 0), done.examples.get(part, 0), done.pairs.get(part, 0))
                for part in ("dev", "test", "training", "left out")
            ),
        ),
        tables.Table(
            caption="Left out",
            heads=("what", "how many", "why"),
            rows=tuple((kind, many, why) for kind, reasons in done.left_out.items() for why, many in reasons.items()),
        ),
    )
    print(tables.write(made, options.format))
    _tell(done.notes)
    return 0


def _leakage(app: App, options: Namespace) -> int:
    with console.ProgressLine("Checking") as progress:
        report = app.dataset.leakage(progress)
    if options.format == "table":
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
        print(tables.write((tables.Table(caption="Leaks", heads=heads, rows=rows),), options.format))
    _tell(report.notes)
    return 1 if report.offences else 0


def _statistics(app: App, options: Namespace) -> int:
    from relic_core.reporting import statistics

    with console.ProgressLine("Counting") as progress:
        counted = app.dataset.statistics(options.of, progress)
    what = {"store": "The windows of the store"}.get(options.of, options.of)
    if options.chart is not None:
        figure = statistics.draw_lengths(counted, what=what)
        _write(options, figure.to_html(include_plotlyjs=True) if _is_page(options) else figure.to_json())
    if options.of == "store":
        _tell(app.dataset.stale())
    titles = app.dataset.titles()
    print(tables.write(statistics.tables(counted, what=what, titles=titles), options.format))
    return 0


def _manifest(app: App, options: Namespace) -> int:
    with console.ProgressLine("Tracing") as progress:
        made = app.dataset.manifest(getattr(options, "from"), options.to, progress)
    rows = [(name, each.examples, each.books) for name, each in made.sets.items()]
    print(console.table(("set", "windows", "works"), rows))
    if made.left_out:
        print("\nIn no set:")
        print(console.table(("windows", "why"), [(many, why) for why, many in made.left_out.items()]))
    if made.without_capped:
        print(
            f"\n{len(made.without_capped)} works have windows in the sets without a limit alone, since fewer than "
            f"four sources quote them: {'; '.join(made.without_capped)}."
        )
    _tell(made.problems)
    print(f"\nThe manifest is in {made.folder}.")
    return 0


def _rebuild(app: App, options: Namespace) -> int:
    with console.ProgressLine("Rebuilding") as progress:
        done = app.dataset.rebuild(getattr(options, "from"), offline=options.offline, progress=progress)
    print(f"{done.windows:,} of {done.of:,} windows are in {done.path}, each as its hash says.")
    _tell(tuple(map(str, done.lacking)))
    return 1 if done.lacking else 0


def _is_page(options: Namespace) -> bool:
    if options.chart.suffix.lower() not in {".html", ".json"}:
        options.refuse("--chart wants a FILE.html or a FILE.json")
    return bool(options.chart.suffix.lower() == ".html")


def _write(options: Namespace, said: str) -> None:
    try:
        options.chart.write_text(said, encoding="utf-8")
    except OSError as error:
        raise StoreReadOnly(f"{options.chart} cannot be written ({error.strerror}). Name another file.") from None


def _tell(sentences: tuple[str, ...]) -> None:
    for sentence in sentences:
        print(sentence, file=sys.stderr)


_DO = {"split": _split, "leakage": _leakage, "statistics": _statistics, "manifest": _manifest, "rebuild": _rebuild}
