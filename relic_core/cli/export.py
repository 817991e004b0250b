"""Write what was mined to files: pairs, windows, or a whole data set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "export",
        summary="Write what was mined from secondary sources to files: pairs, windows, or both as a data set.",
        examples=(
            "  python -m relic_core export pairs pairs.jsonl --split training\n"
            "  python -m relic_core export windows emma.parquet --work emma\n"
            "  python -m relic_core export windows public-relic --format relic\n"
            "  python -m relic_core export dataset quotations\n"
            "  python -m relic_core export windows places.jsonl --offsets-only"
        ),
    )
    parser.add_argument(
        "kind", choices=("pairs", "windows", "dataset"), metavar="KIND", help="pairs, windows or dataset"
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="the file, or the folder, to write")
    parser.add_argument(
        "--format", choices=("jsonl", "parquet", "relic", "datasets"), default="",
        help="jsonl or parquet: a file, told by its name; relic: a folder of RELiC's own JSON; datasets: a folder for "
        "Hugging Face's datasets, with a data card",
    )  # fmt: skip
    parser.add_argument(
        "--split", default="", metavar="S",
        help="only training, dev, test or 'left out' (default: all but what was left out)",
    )  # fmt: skip
    parser.add_argument("--work", default="", metavar="W", help="only windows on this work: an id or a title")
    parser.add_argument("--source", default="", metavar="ID", help="only what stands in this source: its id or number")
    parser.add_argument(
        "--offsets-only", action="store_true",
        help="ids, offsets and digests without the words, for places that texts may not leave",
    )  # fmt: skip
    return parser


def run(app: App, options: Namespace) -> int:
    """Do it."""
    from relic_core.services import exporting

    request = exporting.ExportRequest(
        kind=options.kind,
        out=options.out,
        form=options.format,
        split=options.split,
        work=options.work,
        source=options.source,
        places=options.offsets_only,
    )
    with console.ProgressLine("Exporting") as line:
        made = exporting.export(app, request, line)
    rows = " and ".join(f"{count:,} {kind if count != 1 else kind[:-1]}" for kind, count in made.rows.items())
    print(f"{rows} {'is' if sum(made.rows.values()) == 1 else 'are'} in {made.path}.")
    if made.left_out:
        print("Not among them:")
        print(console.table(("", ""), sorted(made.left_out.items())).lstrip("\n"))
    for note in made.notes:
        print(note, file=sys.stderr)
    return 0
