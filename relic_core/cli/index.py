"""Prepare a work for searching."""

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
        "index",
        summary="Prepare a work for searching by meaning; searching by words needs no preparation.",
        examples=(
            "  python -m relic_core index averhythe\n"
            '  python -m relic_core index "War and Peace" --retriever zero-shot --retriever bm25'
        ),
    )
    parser.add_argument("work", metavar="WORK", help="its id, the beginning of its id, or its title")
    parser.add_argument(
        "--retriever", action="append", default=[], metavar="NAME", help="only this one; may be given several times"
    )
    return parser


def run(workbench: Workbench, options: Namespace) -> int:
    """Build what is missing, here and now; Ctrl-C keeps what can be gone on from."""
    work = workbench.works.resolve(options.work)
    names = tuple(options.retriever) or workbench.indexes.missing(work.id)
    if names:
        with console.ProgressLine(f"Preparing {work.title}") as progress:
            workbench.indexes.build(work.id, names, progress)
    print(f"{work.title} is ready to search.")
    return 0
