"""Time indexing and searching on this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from relic_core.cli import console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.services.workbench import Workbench


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "bench",
        summary="Time indexing and searching on this machine, as ratios against named baselines.",
        examples=(
            "  python -m relic_core bench\n"
            '  python -m relic_core bench averhythe "pride and prejudice" --format json > bench.json'
        ),
    )
    parser.add_argument("works", nargs="*", metavar="WORK", help="stored works (default: all)")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="(default: %(default)s)")
    return parser


def run(workbench: Workbench, options: Namespace) -> int:
    """Measure and print."""
    from relic_core.services import bench

    ids = [workbench.works.resolve(said).id for said in options.works]
    ids = ids or [work.id for work in workbench.works.summaries()]
    with console.ProgressLine("Measuring") as progress:
        rows = bench.as_rows(bench.measure(workbench, ids, progress))
    described = bench.machine()
    if options.format == "json":
        print(json.dumps({"machine": described, "works": rows}, ensure_ascii=False, indent=2))
        return 0
    print("  ".join(f"{name}: {value}" for name, value in described.items()), end="\n\n")
    heads = ["", *(str(row["work"]) for row in rows)]
    names = [name for name in (rows[0] if rows else ()) if name != "work"]
    print(console.table(heads, [[name, *(_cell(row[name]) for row in rows)] for name in names]))
    return 0


def _cell(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
