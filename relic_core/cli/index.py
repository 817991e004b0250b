"""Prepare a work, or all works, for searching."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.errors import BadRequest, BadWeights, RelicError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.domain import WorkSummary
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "index",
        summary="Prepare works for searching by meaning; searching by words needs no preparation.",
        examples=(
            "  python -m relic_core index averhythe\n"
            '  python -m relic_core index "War and Peace" --retriever dense-relic --retriever bm25\n'
            "  python -m relic_core index --all"
        ),
    )
    parser.add_argument("work", nargs="?", metavar="WORK", help="its id, the beginning of its id, or its title")
    parser.add_argument("--all", action="store_true", help="every work of the library that is not prepared yet")
    parser.add_argument(
        "--retriever", action="append", default=[], metavar="NAME", help="only this one; may be given several times"
    )
    return parser


def run(app: App, options: Namespace) -> int:
    """Build what is missing, here and now; Ctrl-C keeps what can be gone on from."""
    if options.all == (options.work is not None):
        options.refuse("give a WORK or --all")
    if options.all:
        return _all(app, tuple(options.retriever))
    work = app.works.resolve(options.work)
    _build(app, work, tuple(options.retriever))
    print(f"{work.title} is ready to search.")
    return 0


def _all(app: App, names: tuple[str, ...]) -> int:
    """Prepare one work after another; one that fails does not stop the rest."""
    works = app.works.summaries()
    failed = 0
    for number, work in enumerate(works, start=1):
        try:
            _build(app, work, names, of=f" ({number} of {len(works)})")
            print(f"{work.title} is ready to search.", flush=True)
        except (BadRequest, BadWeights):
            raise  # it would be the same with the next
        except RelicError as error:
            failed += 1
            print(f"{work.title}: {error}", file=sys.stderr)
    if app.indexes.library_due():
        with console.ProgressLine("Preparing the library as a whole") as progress:
            app.indexes.build_library(progress)
    ready = len(works) - failed
    print(f"{ready} {'work is' if ready == 1 else 'works are'} ready to search.")
    return 1 if failed else 0


def _build(app: App, work: WorkSummary, names: tuple[str, ...], *, of: str = "") -> None:
    names = names or app.indexes.missing(work.id)
    with console.ProgressLine(f"Preparing {work.title}{of}") as progress:
        app.indexes.build(work.id, names, progress)
