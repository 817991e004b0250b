"""Correct what is said of a work and of its edition."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from relic_core.cli import console
from relic_core.domain import EditionDetails
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.domain import WorkSummary
    from relic_core.wiring import App

_EDITION = {
    "editor": 'who edited it; "" where nobody did',
    "collection": "the book that a story or a poem is collected in",
    "volume": "which volume of several this is",
    "volumes": "how many volumes the edition has; 0 where one",
    "edition": "2nd, for example",
    "publisher": "of this edition",
    "place": "where it was published",
    "edition-year": "when this edition was published; 0 where unknown",
    "container": 'what holds the text: "Project Gutenberg"',
    "number": "its number there",
    "url": "its address there",
    "accessed": "when it was taken from there, as 2026-11-05",
    "language": "of the text",
}


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "describe",
        summary="Correct what is said of a work, and of its edition for citations; what is not named stays.",
        examples=(
            '  python -m relic_core describe emma --author "Jane Austen" --year 1815\n'
            '  python -m relic_core describe emma --translator ""\n'
            '  python -m relic_core describe emma --publisher "Oxford University Press" --edition-year 2008'
        ),
    )
    parser.add_argument("work", metavar="WORK", help="its id, the beginning of its id, or its title")
    parser.add_argument("--title", help="the title")
    parser.add_argument("--author", help='the author; "" where unknown')
    parser.add_argument("--translator", help='the translator; "" where there is none')
    parser.add_argument("--year", type=int, help="year of first publication; 0 where unknown")
    edition = parser.add_argument_group("the edition, for citations")
    for name, what in _EDITION.items():
        edition.add_argument(f"--{name}", type=int if name in {"volumes", "edition-year"} else str, help=what)
    return parser


def run(app: App, options: Namespace) -> int:
    """Write what was given."""
    details = _details(options)
    of_work = any(value is not None for value in (options.title, options.author, options.translator, options.year))
    if not of_work and not details:
        options.refuse("nothing to correct was given; name --title, --author, --publisher or another of the options")
    work = app.works.resolve(options.work)
    if details:
        app.citing.describe(work.id, replace(app.citing.work(work.id).details, **details))
    described = _describe(app, work, options) if of_work else work
    said = [described.title, described.author, str(described.year or "")]
    translated = f", translated by {described.translator}" if described.translator else ""
    print(f"{described.id}: {', '.join(filter(None, said))}{translated}")
    if details:
        print(app.citing.citation(work.id, "mla").forms[-1].text)
    return 0


def _describe(app: App, work: WorkSummary, options: Namespace) -> WorkSummary:
    return app.works.describe(
        work.id,
        title=work.title if options.title is None else options.title,
        author=work.author if options.author is None else options.author,
        translator=work.translator if options.translator is None else options.translator,
        year=work.year if options.year is None else options.year or None,
    )


def _details(options: Namespace) -> dict[str, Any]:
    """Take the details that were given.

    Raises BadRequest: the date of access is none.
    """
    given = {
        field.name: value
        for field in fields(EditionDetails)
        if (value := getattr(options, "edition_year" if field.name == "year" else field.name)) is not None
    }
    for name in ("year", "volumes"):
        if name in given:
            given[name] = given[name] or None
    if "accessed" in given:
        try:
            given["accessed"] = date.fromisoformat(given["accessed"]) if given["accessed"] else None
        except ValueError:
            raise BadRequest(
                f"'{given['accessed'][:40]}' is no date. Write year, month and day, as 2026-11-05."
            ) from None
    return given
