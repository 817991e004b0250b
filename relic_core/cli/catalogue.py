"""The works that RELiC was built from: which are stored, and getting the others."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING, get_args

from relic_core.cli import console
from relic_core.services.catalogue import Split

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from relic_core.cli.console import Commands
    from relic_core.services.catalogue import Shelved
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "catalogue",
        summary=(
            "List the 79 works that RELiC was built from, or add some of them: from RELIC_LIBRARY where it has "
            "NAME.txt, else from Project Gutenberg. Stopped and started again, it goes on where it was."
        ),
        examples=(
            "  python -m relic_core catalogue\n"
            "  python -m relic_core catalogue --split test\n"
            "  python -m relic_core catalogue --add emma 'The Scarlet Letter'\n"
            "  python -m relic_core catalogue --split validation --add"
        ),
    )
    parser.add_argument("--split", choices=(*get_args(Split), "all"), help="only this part of the data set")
    parser.add_argument("--add", nargs="*", metavar="NAME", help="add these, by name or title; with --split, all of it")
    parser.add_argument("--json", action="store_true", help="as JSON, with everything known of each")
    return parser


def run(app: App, options: Namespace) -> int:
    """List the shelf, or add from it."""
    shelf = [each for each in app.catalogue.shelf() if options.split in {None, "all", each.entry.split}]
    if options.add is not None:
        if not options.add and options.split is None:
            options.refuse("--add wants names of works, or --split for a part of the catalogue")
        return _add(app, options.add, shelf)
    if options.json:
        rows = [
            {
                **dataclasses.asdict(each.entry),
                "origin": each.origin,
                "work": each.work.id if each.work else None,
                "path": str(each.path) if each.path else None,
            }
            for each in shelf
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    print(
        console.table(
            ["name", "year", "author", "title", "split", "state"],
            [
                (
                    each.entry.slug,
                    str(each.entry.year),
                    each.entry.author,
                    each.entry.title,
                    each.entry.split,
                    _state(each),
                )
                for each in shelf
            ],
        )
    )
    return 0


def _add(app: App, named: Sequence[str], shelf: Sequence[Shelved]) -> int:
    """Add what is named; of a whole split, all that can be had."""
    slugs = list(named)
    if not slugs:
        slugs = [each.entry.slug for each in shelf if each.origin != "none"]
        beyond = [f"{each.entry.title} ({_state(each)})" for each in shelf if each.origin == "none"]
        if beyond:
            print(f"Not to be had from here: {', '.join(beyond)}.", file=sys.stderr)
    with console.ProgressLine("Adding") as progress:
        tally = app.catalogue.fetch(app.catalogue.items(slugs), progress)
    print(tally.note, file=sys.stderr if tally.failures else sys.stdout)
    return 1 if tally.failures else 0


def _state(each: Shelved) -> str:
    if each.work is not None:
        return f"stored as {each.work.id}"
    if each.origin == "folder":
        return "in the library folder"
    if each.origin == "gutenberg":
        return f"Project Gutenberg {each.entry.gutenberg}"
    if each.entry.free_in_us is not None:
        return f"in copyright in the US until {each.entry.last_day}"
    return "no number known"
