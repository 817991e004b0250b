"""Add texts to the library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from relic_core.cli import console
from relic_core.errors import BadRequest, RelicError
from relic_core.services.adding import Added
from relic_core.services.catalogue import parse_number

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from relic_core.cli.console import Commands
    from relic_core.domain import WorkSummary
    from relic_core.wiring import App

_BY_NUMBER = ("gutenberg:", "https://www.gutenberg.org/", "http://www.gutenberg.org/", "https://gutenberg.org/")
_SAID = {
    "added": "added",
    "already": "in the library already",
    "corrected": "in the library already, its description corrected,",
    "restored": "back in the library",
    "cut again": "cut into sentences anew",
}
_CAME = ("added", "restored", "cut again")
"""What became of a text that may have to be prepared."""


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "add",
        summary=(
            "Add texts to the library: files (.txt, .epub, TEI .xml), folders of them, names of files in "
            "RELIC_LIBRARY, or books of Project Gutenberg."
        ),
        examples=(
            "  python -m relic_core add emma.txt hamlet.xml\n"
            "  python -m relic_core add gutenberg:1342\n"
            "  python -m relic_core add --gutenberg 1342 2701\n"
            '  python -m relic_core add draft.txt --title "The Ferry" --author "A. Author" --year 1891\n'
            "  python -m relic_core add ~/texts\n"
            "  RELIC_LIBRARY=~/texts python -m relic_core add --all"
        ),
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="a file, a folder, a name in RELIC_LIBRARY, gutenberg:NUMBER"
    )
    parser.add_argument("--gutenberg", action="store_true", help="what is named are numbers of Project Gutenberg")
    parser.add_argument("--all", action="store_true", help="add every file of RELIC_LIBRARY")
    parser.add_argument("--title", default="", help="the title, in place of what the file says or the library has")
    parser.add_argument("--author", default="", help="the author")
    parser.add_argument("--translator", default="", help="the translator")
    parser.add_argument("--year", type=int, help="year of first publication")
    return parser


def run(app: App, options: Namespace) -> int:
    """Add each text; one that fails does not stop the rest."""
    sources = _sources(app, options)
    said = {name: getattr(options, name) for name in ("title", "author", "translator", "year")}
    if len(sources) > 1 and any(value not in ("", None) for value in said.values()):
        options.refuse(f"--title, --author, --translator and --year describe one text, and {len(sources)} were given")
    failed, told = 0, _Told(app)
    with console.ProgressLine("Adding") as progress:
        for number, source in enumerate(sources):
            report = _Step(progress, number, len(sources))
            try:
                if isinstance(source, int):
                    failed += _fetch(app, source, said, report, told)
                else:
                    report(0, 1, source.name)
                    told(app.works.add(source, **said))
            except RelicError as error:
                failed += 1
                print(f"{source}: {error}", file=sys.stderr)
    if failed and len(sources) > 1:
        print(f"{failed} of {len(sources)} texts could not be added.", file=sys.stderr)
    told.what_comes_next()
    return 1 if failed else 0


class _Step:
    """Reports whatever one text has to say as one step of all."""

    def __init__(self, progress: console.ProgressLine, number: int, total: int) -> None:
        self._progress = progress
        self._number = number
        self._total = total

    def __call__(self, done: int, total: int, note: str = "") -> None:  # noqa: ARG002 - the port's signature
        self._progress(self._number, self._total, note)


class _Told:
    """Says of each text what became of it, and at the end what is to be done with those that came."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._came: list[WorkSummary] = []

    def __call__(self, added: Added) -> None:
        """Tell of one text."""
        work = added.work
        size = f"{console.many(work.chapters, 'chapter')}, {console.many(work.sentences, 'sentence')}"
        print(f"{work.title}: {_SAID[added.outcome]} as {work.id} ({size})")
        if added.notice:
            print(f"{work.title}: {added.notice}", file=sys.stderr)
        if added.outcome in _CAME:
            self._came.append(work)

    def what_comes_next(self) -> None:
        """Say in a line how what came is found by meaning, where it is not prepared for that yet."""
        lacking = set(self._app.indexes.unprepared(self._came)) if self._came else set()
        named = [work for work in self._came if work.id in lacking]
        if named:
            one = len(named) == 1
            what, said = (named[0].title, named[0].id) if one else (f"{len(named):,} works", "--all")
            print(f"Not yet found by meaning: {what}. Prepare for it: python -m relic_core index {said}")


def _fetch(app: App, number: int, said: dict[str, Any], report: _Step, told: _Told) -> int:
    """Add a book of Project Gutenberg; gives the number of failures."""
    tally = app.catalogue.fetch([app.catalogue.item_of_number(number) | said], report)
    for added in tally.added:
        told(added)
    for work in tally.already:
        told(Added(work, "already"))
    for notice in tally.notices:
        print(notice, file=sys.stderr)
    for reason in tally.failed:
        print(f"Project Gutenberg {number}: {reason}", file=sys.stderr)
    return tally.failures


def _sources(app: App, options: Namespace) -> list[Path | int]:
    """Find what is meant: files, and numbers of Project Gutenberg."""
    if options.all:
        if app.settings.library is None:
            raise BadRequest(
                "--all adds the library folder, and RELIC_LIBRARY names none. Set it to a folder of texts."
            )
        return list(app.works.texts_in(app.settings.library))
    if not options.paths:
        options.refuse("nothing to add was named; give a file or a folder, or --all for all of RELIC_LIBRARY")
    found: list[Path | int] = []
    for given in options.paths:
        if options.gutenberg or given.lower().startswith(_BY_NUMBER):
            found.append(parse_number(given))
        else:
            found.extend(app.works.find_files(given))
    return found
