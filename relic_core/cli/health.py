"""Say whether everything is as it should be."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from relic_core.cli import console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App

_MARKS = {"good": "good", "notice": "look", "bad": "BAD"}


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "health",
        summary=(
            "Say whether everything is as it should be: the store, room on the disk, the models, the indexes. Ends "
            "with 0 where the program can do its work and with 1 where it cannot."
        ),
        examples=(
            "  python -m relic_core health\n"
            "  python -m relic_core health --app http://localhost:8501\n"
            "  python -m relic_core health --thorough --format json"
        ),
    )
    parser.add_argument("--app", default="", metavar="ADDRESS", help="ask the app at this address, too")
    parser.add_argument("--thorough", action="store_true", help="read every index and hold it to its hashes")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="(default: %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:
    """Examine, print, and end with 1 where something is bad."""
    from relic_core.services import health

    found = health.examine(app, address=options.app, thorough=options.thorough)
    if options.format == "json":
        print(json.dumps([asdict(finding) for finding in found], indent=2, ensure_ascii=False))
    else:
        width = max(len(finding.name) for finding in found)
        for finding in found:
            print(f"{_MARKS[finding.level]:4}  {finding.name:{width}}  {finding.said}")
    return 0 if health.is_well(found) else 1
