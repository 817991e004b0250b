"""Hand what was kept over to a person who signs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.services.people import NOBODY

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.domain.people import Holding
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "hand-over",
        summary=(
            "Hand notes, collections and searches over to a person who signs in: those that were kept while nobody "
            "did, or another person's. Without a person it lists who keeps what."
        ),
        examples=(
            "  python -m relic_core hand-over\n"
            "  python -m relic_core hand-over ada@example.org\n"
            "  python -m relic_core hand-over ada@example.org --from ada@old.example.org\n"
            f"  python -m relic_core hand-over {NOBODY} --from ada@example.org\n"
            "\n"
            f"A person is named by the address they have signed in with, or by the number in the list; {NOBODY} is who "
            "keeps\nsomething where nobody signs in. docs/operating.md says what becomes of what both have."
        ),
    )
    parser.add_argument("to", metavar="PERSON", nargs="?", default="", help="who gets it: an address, for example")
    parser.add_argument(
        "--from", dest="source", default=NOBODY, metavar="PERSON", help="whose it is until now (default %(default)s)"
    )
    return parser


def run(app: App, options: Namespace) -> int:
    """Do it, and say how much moved."""
    if not options.to:
        if options.source != NOBODY:
            options.refuse("say who gets it: hand-over PERSON --from PERSON")
        _list(app)
        return 0
    moved = app.people.transfer_ownership(options.to, options.source)
    if moved.empty:
        whose = "Nothing is kept" if not moved.person else f"{options.source} keeps nothing"
        print(f"{whose} that could be handed over.")
    else:
        print(f"Handed over from {options.source} to {options.to}: {_said(moved)}.")
    return 0


def _list(app: App) -> None:
    known = app.people.known()
    held = [each.holding for each in known]
    numbers = [each.holding.person if each.holding.person != each.name else "" for each in known]
    rows = [
        (each.name, number, has.notes, has.collections, has.searches, has.removed)
        for each, number, has in zip(known, numbers, held, strict=True)
    ]
    if rows:
        print(console.table(("person", "number", "notes", "collections", "searches", "removed"), rows))
    else:
        print("Nobody has kept anything yet.")


def _said(moved: Holding) -> str:
    """Say how much moved.

    >>> from relic_core.domain.people import Holding
    >>> _said(Holding(person="", notes=1, collections=2, removed=3))
    '1 note, 2 collections and 0 searches (and 3 that were removed before)'
    """
    removed = f" (and {moved.removed:,} that {'was' if moved.removed == 1 else 'were'} removed before)"
    searches = console.many(moved.searches, "search", "searches")
    return (
        f"{console.many(moved.notes, 'note')}, {console.many(moved.collections, 'collection')} and {searches}"
        f"{removed if moved.removed else ''}"
    )
