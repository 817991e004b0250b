"""Print the table of the README, or check the figures that runs must come to."""

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
        "figures",
        summary="Print the README's table, made from the runs that came with the program; or check expected figures.",
        examples=(
            "  python -m relic_core figures\n"
            "  python -m relic_core figures --check\n"
            "  python -m relic_core figures --measure\n"
            "  python -m relic_core figures --write README.md"
        ),
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="hold the runs there are against the expected figures")
    what.add_argument("--measure", action="store_true", help="measure all of them anew and check what comes out")
    what.add_argument("--write", type=Path, metavar="FILE", help="put the table between its marks in this file")
    what.add_argument(
        "--expect", action="store_true", help="from now on, expect what the runs that came with the program say"
    )
    parser.add_argument("--expected", type=Path, metavar="FILE", help="other expected figures than the program's own")
    return parser


def run(app: App, options: Namespace) -> int:
    """Print, check or write."""
    from relic_core.services import between_marks, expected

    path = options.expected or expected.EXPECTED
    if options.write is not None:
        changed = between_marks.put_between(options.write, expected.MARKS, expected.readme_table(app))
        print(f"{options.write} {'has been written' if changed else 'is as it should be'}.")
        return 0
    if options.expect:
        print(f"{expected.write_expected(app, path):,} figures are expected in {path}.")
        return 0
    if not (options.check or options.measure):
        print(expected.readme_table(app))
        return 0
    wanted = expected.read_expected(path)
    if not wanted:
        print(f"{path} expects no figure, so there is nothing to check.", file=sys.stderr)
        return 1
    if options.measure:
        with console.ProgressLine("Measuring") as progress:
            checked = expected.measure(app, wanted, progress)
    else:
        checked = expected.check(app, wanted)
    off = [each for each in checked if each.why]
    for each in off:
        figure = each.expected
        print(
            f"{figure.benchmark} {figure.retriever} {figure.shape} {figure.metric}: {each.why}",
            file=sys.stderr,
        )
    print(f"{len(checked) - len(off):,} of {len(checked):,} figures are as expected.")
    return 1 if off else 0
