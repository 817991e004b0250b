"""Measure speed and memory on this machine, each figure beside a named baseline of the same run (docs/performance.md).

All parts together take about a quarter of an hour.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from relic_core.cli.console import ProgressLine
from relic_core.wiring import App
from tools import command
from tools.bench import parts, report
from tools.between_marks import write_between

_OF_KEPT = ("format", "kept", "write")


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(report.PARTS)} (default: all)")
    parser.add_argument("--work", default="", metavar="NAME", help="the stored work that every part takes")
    parser.add_argument("--full", action="store_true", help="measure baselines whole that are reckoned from a part")
    parser.add_argument("--quick", action="store_true", help="only try that every part runs; the figures mean nothing")
    parser.add_argument(
        "--format", choices=("table", "markdown", "json"), default="table", help="(default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep the figures in this file too, as JSON")
    parser.add_argument("--from", dest="kept", type=Path, metavar="FILE", help="measure nothing; take figures kept so")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables between the marks of this page")


def do(app: App, options: Namespace) -> int:
    """Measure, or take what was measured, and print or write it."""
    if options.kept is not None:
        command.refuse_unused(options, "--from, which measures nothing,", _OF_KEPT)
        made = report.read(options.kept)
    else:
        work_id = app.works.resolve(options.work).id if options.work else ""
        with ProgressLine("Measuring") as progress:
            made = parts.measure(
                app, options.parts, work_id=work_id, full=options.full, quick=options.quick, progress=progress
            )
    if options.out is not None:
        report.keep(made, options.out)
    if options.write is not None:
        write_between(options.write, "bench", report.as_tables(made, "markdown"))
    else:
        print(report.write(made) if options.format == "json" else report.as_tables(made, options.format))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("bench", __doc__, add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
