"""Options that say where a search looks: chapters of a work, or works of the library by author, year and name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.domain import EVERYWHERE, WorkFilter
from relic_core.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.wiring import App

_CHAPTERS = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MOST = 10_000
"""Chapters in a range; no edition has more."""
_NAMED = 8


def add_options(parser: ArgumentParser) -> None:
    """Add the options to a command."""
    parser.add_argument("--all", action="store_true", help="search every work of the library")
    parser.add_argument(
        "--author", action="append", default=[], metavar="NAME", help="of all, those by this author; may be repeated"
    )
    parser.add_argument("--from", dest="first_year", type=int, metavar="YEAR", help="of all, those of YEAR or later")
    parser.add_argument("--to", dest="last_year", type=int, metavar="YEAR", help="of all, those of YEAR or before")
    parser.add_argument(
        "--works", action="append", default=[], metavar="WORK", help="of all, this one; may be repeated"
    )
    parser.add_argument(
        "--chapters", metavar="LIST", help="only these chapters of WORK, counted from 1 as in addresses: 3,5-7"
    )


def read_narrowing(app: App, options: Namespace) -> WorkFilter:
    """Read which works of the library are meant.

    Raises NotFound, BadRequest: no work or author fits, or several works do.
    """
    narrowing = WorkFilter(
        works=tuple(app.works.resolve(said).id for said in options.works),
        authors=tuple(dict.fromkeys(author for said in options.author for author in _authors(app, said))),
        first_year=options.first_year,
        last_year=options.last_year,
    )
    return narrowing or EVERYWHERE


def _authors(app: App, said: str) -> list[str]:
    """Find the authors that a person means by a name or a part of one, as they are stored.

    Raises NotFound: there is none.
    """
    stored = sorted({work.author for work in app.works.summaries() if work.author})
    found = [author for author in stored if said.strip().casefold() in author.casefold()] if said.strip() else []
    if not found:
        known = ", ".join(stored[:_NAMED]) + ", ..." * (len(stored) > _NAMED)
        raise NotFound(f"No work of the library is by '{said[:80]}'. Its authors: {known or 'none is known'}.")
    return found


def read_chapters(given: str | None) -> tuple[int, ...]:
    """Read a list of chapters; empty where none was given.

    Raises BadRequest: it is no such list.

    >>> read_chapters("3, 5-7")
    (3, 5, 6, 7)
    """
    chapters: list[int] = []
    for part in given.split(",") if given is not None else ():
        match = _CHAPTERS.fullmatch(part.strip())
        first = int(match[1]) if match else 1
        last = int(match[2] or match[1]) if match else 0
        if not first <= last <= first + _MOST:
            raise BadRequest(
                f"'{part.strip()[:40]}' is no chapter and no range of chapters. Write numbers and ranges from low to "
                "high: 3,5-7."
            )
        chapters.extend(range(first, last + 1))
    return tuple(dict.fromkeys(chapters))
