"""Correct what is said of a work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.cli import console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.services.workbench import Workbench


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "describe",
        summary="Correct the title, author, translator or year of a work; what is not named stays.",
        examples=(
            '  python -m relic_core describe emma --author "Jane Austen" --year 1815\n'
            '  python -m relic_core describe emma --translator ""'
        ),
    )
    parser.add_argument("work", metavar="WORK", help="its id, the beginning of its id, or its title")
    parser.add_argument("--title", help="the title")
    parser.add_argument("--author", help='the author; "" where unknown')
    parser.add_argument("--translator", help='the translator; "" where there is none')
    parser.add_argument("--year", type=int, help="year of first publication; 0 where unknown")
    return parser


def run(workbench: Workbench, options: Namespace) -> int:
    """Write what was given."""
    if all(value is None for value in (options.title, options.author, options.translator, options.year)):
        options.refuse("nothing to correct was given; name --title, --author, --translator or --year")
    work = workbench.works.resolve(options.work)
    year = work.year if options.year is None else options.year or None
    described = workbench.works.describe(
        work.id,
        title=work.title if options.title is None else options.title,
        author=work.author if options.author is None else options.author,
        translator=work.translator if options.translator is None else options.translator,
        year=year,
    )
    said = [described.title, described.author, str(described.year or "")]
    translated = f", translated by {described.translator}" if described.translator else ""
    print(f"{described.id}: {', '.join(filter(None, said))}{translated}")
    return 0
