"""Find quotations in secondary sources."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.services.mining.summaries import listed

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "mine",
        summary=(
            "Find the quotations in secondary sources, and the works of the library that they quote. Sources are files "
            "(.txt, .epub, TEI .xml), folders and .zip archives of them; a table (.csv) among them may say what they "
            "are. Stopped, it goes on with the next run; what was mined is not mined again."
        ),
        examples=(
            "  python -m relic_core mine criticism.zip\n"
            "  python -m relic_core mine ~/criticism --workers 4 --works emma persuasion\n"
            "  python -m relic_core mine\n"
            "  python -m relic_core mine /shared/criticism --dask tcp://head:8786\n"
            "  python -m relic_core mine volumes.zip --offsets-only places"
        ),
    )
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="a file, folder or archive; all mined before where none is"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="how many processes (as many as there are processors)")
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="work on a cluster of Dask; 'local' starts one on this machine"
    )
    parser.add_argument("--works", nargs="+", default=[], metavar="WORK", help="only look for these works")
    parser.add_argument("--no-pairs", action="store_true", help="only look for works, and make no pairs")
    parser.add_argument(
        "--offsets-only",
        type=Path,
        metavar="FOLDER",
        help="write offsets and digests into this folder, and keep no word of the sources anywhere",
    )
    parser.add_argument("--again", action="store_true", help="mine also what was mined as it is")
    return parser


def run(app: App, options: Namespace) -> int:
    """Mine, here and now; Ctrl-C keeps what was mined. 1 where a source could not be read."""
    workers = app.mining.workers(options.workers, dask=options.dask)
    with console.ProgressLine("Mining") as progress:
        if options.offsets_only is None:
            summary = app.mining.run(
                options.paths,
                progress,
                workers=workers,
                works=options.works,
                pairs=not options.no_pairs,
                again=options.again,
            )
        else:
            summary = app.mining.run_places(
                options.paths,
                options.offsets_only,
                progress,
                workers=workers,
                works=options.works,
                pairs=not options.no_pairs,
                again=options.again,
            )
    print(summary.figures)
    for problem, names in summary.problems.items():
        print(f"{listed(names)}: {problem}", file=sys.stderr)
    return 1 if summary.unread else 0
