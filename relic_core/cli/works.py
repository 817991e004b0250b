"""List the works of the library."""

from __future__ import annotations

import dataclasses
import json
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
        "works",
        summary="List the works of the library.",
        examples=(
            "  python -m relic_core works\n  python -m relic_core works --removed\n  python -m relic_core works --json"
        ),
    )
    parser.add_argument("--json", action="store_true", help="as JSON, with everything known of each")
    parser.add_argument("--removed", action="store_true", help="those that were removed and can be restored")
    return parser


def run(app: App, options: Namespace) -> int:
    """Print the works by title."""
    works = app.works.removed() if options.removed else app.works.summaries()
    if options.json:
        rows = [{**dataclasses.asdict(work), "added": work.added.isoformat()} for work in works]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif works:
        print(
            console.table(
                ["id", "title", "author", "year", "format", "chapters", "sentences", "words"],
                [
                    (
                        work.id,
                        work.title,
                        work.author,
                        "" if work.year is None else str(work.year),
                        work.format,
                        work.chapters,
                        work.sentences,
                        work.words,
                    )
                    for work in works
                ],
            )
        )
    elif options.removed:
        print("No work has been removed.")
    else:
        print("The library has no works yet. Add one: python -m relic_core add FILE")
    return 0
