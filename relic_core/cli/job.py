"""Do one job: what the jobs service starts in a process of its own; nobody types it."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App

_STEPS_BACK = 10


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "job",
        summary="Do the job of a folder (started by the jobs service).",
        examples="  python -m relic_core job data/jobs/k3v7qa2x",
        hidden=True,
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the job's folder")
    return parser


def run(app: App, options: Namespace) -> int:
    """Do the job at a lower priority than the pages; 0 where it ended well."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    os.nice(_STEPS_BACK)
    return 0 if app.jobs.run(options.folder).state == "done" else 1
