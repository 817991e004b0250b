"""Do on purpose what goes wrong to a library made for it, and count what is lost (docs/reliability.md).

Many at once, a kill, a full disk, a held store, a lost index, a restart; back-ups and settings that were tampered with,
damaged stores and logs, doors, two servers behind a proxy. Your own library is left alone.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from relic_core.cli.console import ProgressLine
from relic_core.wiring import App
from tools import command
from tools.between_marks import write_between

_PARTS = (
    *("searchers", "seminar", "browsers", "press", "killed", "full", "locked", "index", "overnight", "assistants"),
    *(
        "disk",
        "tampered",
        "damaged",
        "logs",
        "settings",
        "doors",
        "crowd",
        "changed",
        "slips",
        "names",
        "journals",
        "rot",
        "mirror",
        "drips",
        "codes",
        "previews",
        "people",
        "servers",
        "mutate",
    ),
)
"""Those of `tools.reliability.reliability`, which is not imported to show the help."""
_NUMBERS = ("searchers", "browsers", "rounds")


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(_PARTS)} (default: all)")
    parser.add_argument("--searchers", type=int, default=20, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--browsers", type=int, default=4, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="repetitions (default: %(default)s)")
    parser.add_argument("--text", type=Path, metavar="FILE", help="a novel that press asks instead of the sample")
    parser.add_argument(
        "--format", choices=("table", "markdown", "json"), default="table", help="(default: %(default)s)"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the report between the marks of this page")


def do(app: App, options: Namespace) -> int:  # noqa: ARG001 - every command has the same two
    """Do it, print or write it, and end with 1 where something came otherwise than expected."""
    from tools.reliability import reliability

    numbers = {name: getattr(options, name) for name in _NUMBERS}
    for name, number in numbers.items():
        if number < 1:
            options.parser.error(f"--{name} must be 1 or more")
    asked = [*options.parts, *(f"--{name} {number}" for name, number in numbers.items())]
    called = " ".join(["python -m tools.reliability", *asked])
    with ProgressLine("Trying") as progress:
        report = reliability.run(options.parts, progress, text=options.text, command=called, **numbers)
    if options.write is not None:
        write_between(options.write, "reliability", reliability.write(report, "markdown"))
    elif options.format == "json":
        print(json.dumps({**asdict(report), "lost": report.lost}, indent=2, ensure_ascii=False))
    else:
        print(reliability.write(report, options.format))
    return 0 if report.held else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("reliability", __doc__, add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
