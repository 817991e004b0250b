"""Add texts to the library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.errors import BadRequest, RelicError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from relic_core.cli.console import Commands
    from relic_core.services.workbench import Workbench

_SAID = {
    "added": "added",
    "already": "in the library already",
    "corrected": "in the library already, its description corrected,",
    "restored": "back in the library",
    "cut again": "cut into sentences anew",
}


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "add",
        summary="Add texts to the library: files, folders of .txt files, or names of files in RELIC_LIBRARY.",
        examples=(
            "  python -m relic_core add emma.txt\n"
            '  python -m relic_core add draft.txt --title "The Ferry" --author "A. Author" --year 1891\n'
            "  python -m relic_core add ~/texts\n"
            "  RELIC_LIBRARY=~/texts python -m relic_core add --all"
        ),
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a file, a folder, or a name in RELIC_LIBRARY")
    parser.add_argument("--all", action="store_true", help="add every file of RELIC_LIBRARY")
    parser.add_argument("--title", default="", help="the title, in place of what the file says or the library has")
    parser.add_argument("--author", default="", help="the author")
    parser.add_argument("--translator", default="", help="the translator")
    parser.add_argument("--year", type=int, help="year of first publication")
    return parser


def run(workbench: Workbench, options: Namespace) -> int:
    """Add each text; one that fails does not stop the rest."""
    paths = _paths(workbench, options)
    if len(paths) > 1 and (options.title or options.author or options.translator or options.year is not None):
        options.refuse(f"--title, --author, --translator and --year describe one text, and {len(paths)} were given")
    failed = 0
    with console.ProgressLine("Adding") as progress:
        for number, path in enumerate(paths):
            progress(number, len(paths), path.name)
            try:
                added = workbench.works.add(
                    path,
                    title=options.title,
                    author=options.author,
                    translator=options.translator,
                    year=options.year,
                )
            except RelicError as error:
                failed += 1
                print(f"{path}: {error}", file=sys.stderr)
            else:
                work = added.work
                print(
                    f"{work.title}: {_SAID[added.outcome]} as {work.id} "
                    f"({work.chapters:,} chapters, {work.sentences:,} sentences)"
                )
                if added.notice:
                    print(f"{work.title}: {added.notice}", file=sys.stderr)
    if failed and len(paths) > 1:
        print(f"{failed} of {len(paths)} texts could not be added.", file=sys.stderr)
    return 1 if failed else 0


def _paths(workbench: Workbench, options: Namespace) -> list[Path]:
    if options.all:
        if workbench.settings.library is None:
            raise BadRequest(
                "--all adds the library folder, and RELIC_LIBRARY names none. Set it to a folder of texts."
            )
        return list(workbench.works.texts_in(workbench.settings.library))
    if not options.paths:
        options.refuse("nothing to add was named; give a file or a folder, or --all for all of RELIC_LIBRARY")
    found: list[Path] = []
    for given in options.paths:
        found.extend(workbench.works.find_files(given))
    return found
