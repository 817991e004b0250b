"""Cite a work, or a passage of it."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.reporting.citations.formats import FORMATS
from relic_core.reporting.citations.styles import STYLES

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App

_PLAIN = ("text", "markdown", "html")


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "cite",
        summary="Cite a work, or a passage of it, in MLA or Chicago style, or as a file for Zotero, LaTeX or Pandoc.",
        examples=(
            "  python -m relic_core cite emma\n"
            "  python -m relic_core cite emma 8.3.2 --sentences 2 --style chicago-notes\n"
            "  python -m relic_core cite emma --format ris > emma.ris"
        ),
    )
    parser.add_argument("work", metavar="WORK", help="its id, the beginning of its id, or its title")
    parser.add_argument("at", metavar="AT", nargs="?", default="", help="address of the passage, 8.3.2 for example")
    parser.add_argument("--sentences", type=int, default=1, metavar="N", help="of the passage (default %(default)s)")
    parser.add_argument("--style", choices=STYLES, default=STYLES[0], help="(default %(default)s)")
    parser.add_argument(
        "--format", choices=(*_PLAIN, *FORMATS), default="text",
        help="text, markdown and html give every form of the style; the others give a file that cites the work "
        "(default %(default)s)",
    )  # fmt: skip
    return parser


def run(app: App, options: Namespace) -> int:
    """Print it."""
    work = app.works.resolve(options.work)
    found = app.citing.citation(work.id, options.style, at=options.at, length=options.sentences)
    if options.format in FORMATS:
        print(FORMATS[options.format].write([found.work]), end="")
        return 0
    for form in found.written:
        print(f"{form.label}:\n{indent(getattr(form, options.format), '  ')}")
    return 0
