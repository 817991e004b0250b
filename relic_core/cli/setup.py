"""Make something to search: the sample work, its excerpts, its indexes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    return console.command(
        commands,
        "setup",
        summary="Add the sample work and prepare it for searching; does nothing where that has been done.",
        examples="  python -m relic_core setup",
    )


def run(app: App, options: Namespace) -> int:  # noqa: ARG001 - every command has the same two
    """Do what is missing."""
    work = app.works.ensure_sample()
    if work is None:
        print("The sample work was removed from this library; it stays away.")
        return 0
    try:
        missing = app.indexes.missing(work.id)
        if missing:
            with console.ProgressLine(f"Preparing {work.title}") as progress:
                app.indexes.build(work.id, missing, progress)
    except BadWeights as error:
        # The app is worth starting all the same: searching by words needs no model.
        print(f"Searching by meaning is not available. {error}", file=sys.stderr)
    print(f"{work.title} is ready to search.")
    return 0
