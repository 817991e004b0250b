"""List the latest jobs, or stop one."""

from __future__ import annotations

import dataclasses
import json
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
        "jobs",
        summary="List the latest jobs (long work started by a page), or stop one.",
        examples="  python -m relic_core jobs\n  python -m relic_core jobs --stop k3v7qa2x",
    )
    parser.add_argument("--stop", metavar="ID", help="ask a job to stop")
    parser.add_argument("--json", action="store_true", help="as JSON")
    return parser


def run(app: App, options: Namespace) -> int:
    """Print the jobs, newest first."""
    if options.stop:
        job = app.jobs.cancel(options.stop)
        print(f"{job.title}: {job.note or job.state}")
        return 0
    jobs = app.jobs.recent()
    if options.json:
        rows = [
            {**dataclasses.asdict(job), "created": job.created.isoformat(), "updated": job.updated.isoformat()}
            for job in jobs
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif jobs:
        print(
            console.table(
                ["id", "state", "done", "what", "note"],
                [
                    (
                        job.id,
                        job.state,
                        f"{100 * job.done // job.total}%" if job.total else "",
                        job.title,
                        " ".join(job.note.split()),
                    )
                    for job in jobs
                ],
            )
        )
    else:
        print("There have been no jobs.")
    return 0
