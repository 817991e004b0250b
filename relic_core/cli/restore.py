"""Put a removed work back."""

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
        "restore",
        summary="Put a removed work back; `works --removed` lists them.",
        examples="  python -m relic_core works --removed\n  python -m relic_core restore emma",
    )
    parser.add_argument("work", metavar="WORK", help="its id, the beginning of its id, or its title")
    return parser


def run(workbench: Workbench, options: Namespace) -> int:
    """Undo the removal."""
    work = workbench.works.restore(workbench.works.resolve(options.work, removed=True).id)
    print(f"{work.title} is back in the library as {work.id}.")
    return 0
