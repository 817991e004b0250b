"""Measure speed and memory on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools import command

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from relic_core.wiring import App
    from tools.bench.running import Report

_PARTS = ("bm25", "building", "encoder", "latency", "library", "memory", "start", "doubling", "agreement", "mining")
"""Those of `tools.bench.running`, which is not imported to show the help."""

_USUAL = {"parts": [], "work": "", "full": False, "quick": False, "out": None}


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(_PARTS)} (default: all)")
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
    from tools.bench import running, tables

    if options.kept is not None:
        given = [name for name, usual in _USUAL.items() if getattr(options, name) != usual]
        if given:
            options.refuse(f"--from measures nothing, so it takes no {', '.join(given)}")
    report = running.read(options.kept) if options.kept is not None else _measure(app, options)
    if options.out is not None:
        running.keep(report, options.out)
    if options.write is not None:
        changed = tables.put_into(options.write, report)
        print(f"{options.write} {'has been written' if changed else 'is as it should be'}.")
        return 0
    print(running.write(report) if options.format == "json" else tables.write(report, options.format))
    return 0


def _measure(app: App, options: Namespace) -> Report:
    from tools.bench import running

    work_id = app.works.resolve(options.work).id if options.work else ""
    with command.Progress("Measuring") as progress:
        return running.measure(
            app, options.parts, work_id=work_id, full=options.full, quick=options.quick, progress=progress
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run(
        "bench",
        (
            "Measure speed and memory on this machine, each figure beside a named baseline of the same run "
            "(docs/performance.md). All parts together take about a quarter of an hour."
        ),
        add_options,
        do,
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
