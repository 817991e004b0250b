"""Take a work out of the library."""

from __future__ import annotations

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
        "remove",
        summary="Take a work out of the library; its searches are kept, and `restore` puts it back.",
        examples="  python -m relic_core remove emma",
    )
    parser.add_argument("work", metavar="WORK", help="its id, the beginning of its id, or its title")
    return parser


def run(app: App, options: Namespace) -> int:
    """Hide the work."""
    work = app.works.remove(app.works.resolve(options.work).id)
    print(f"{work.title} was removed. To put it back: python -m relic_core restore {work.id}")
    return 0
