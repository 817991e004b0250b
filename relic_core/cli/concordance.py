"""Look a word or phrase up: every place of it, in its context."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.reporting.concordance import Occurrence
    from relic_core.wiring import App

_WIDEST = 160
_LEAST_SIDE = 12
_LIMIT = 50


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "concordance",
        summary="Look a word or phrase up: every place of it, in its context.",
        examples=(
            "  python -m relic_core concordance brass --work averhythe\n"
            '  python -m relic_core concordance good fortune --sort right --csv "good fortune.csv"\n'
            '  python -m relic_core concordance "honour*" --variants --limit 0'
        ),
    )
    parser.add_argument("word", metavar="WORD", nargs="+", help="a word, or the words of a phrase; * for any letters")
    parser.add_argument("--work", metavar="WORK", help="its id, the beginning of its id, or its title; else all works")
    parser.add_argument("--forms", action="store_true", help="other word forms count: go, went")
    parser.add_argument("--variants", action="store_true", help="other spellings count: honour, honor")
    parser.add_argument("--as-written", action="store_true", help="capitals, accents and the ending 's count")
    parser.add_argument("--sort", default="text", choices=("text", "left", "right"), help="(default %(default)s)")
    parser.add_argument("--limit", type=int, default=_LIMIT, help="lines printed, 0 for none (default %(default)s)")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write all places to a table as well")
    return parser


def run(app: App, options: Namespace) -> int:
    """Print the places, one a line, the words found under one another."""
    from relic_core.services.kwic import MOST_EXPORTED, ConcordanceRequest

    if options.limit < 0:
        raise BadRequest(f"--limit is {options.limit}; give 0 or more.")
    word = " ".join(options.word)
    console.check_utf8("word", word)
    request = ConcordanceRequest(
        word=word,
        work_id=app.works.resolve(options.work).id if options.work else "",
        sort=options.sort,
        variants=options.variants,
        forms=options.forms,
        as_written=options.as_written,
    )
    answer = app.concordance.find(request)
    rows: list[Occurrence] = list(answer.rows)
    while len(rows) < options.limit and answer.page < answer.pages:
        answer = app.concordance.find(dataclasses.replace(request, page=answer.page + 1))
        rows.extend(answer.rows)
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    for line in _lines(rows[: options.limit], width, titled=not request.work_id):
        print(line)
    counted = [(each.label, each.count) for each in answer.forms]
    print(f"{answer.total:,} in {len(answer.works)} of {answer.searched} works", end="")
    print(f": {_listed(counted)}" if counted else "")
    for near in answer.words:
        if near.near:
            print(f"Words like {near.word}: {', '.join(near.near)}")
    for offer in answer.offers:
        print(f"Look {offer.label}" + ("" if offer.count is None else f": {offer.count:,}"))
    if options.csv is not None:
        _write(options.csv, app.concordance.export(request))
        if answer.total > MOST_EXPORTED:
            print(f"{options.csv} holds the first {MOST_EXPORTED:,} of them.", file=sys.stderr)
    return 0


def _write(path: Path, table: bytes) -> None:
    try:
        path.write_bytes(table)
    except OSError as error:
        raise BadRequest(f"The table cannot be written to {path} ({error.strerror}). Give another --csv.") from None


def _listed(counted: list[tuple[str, int]], *, at_most: int = 12) -> str:
    named = ", ".join(f"{label} {count:,}" for label, count in counted[:at_most])
    return f"{named} and {len(counted) - at_most:,} more" if len(counted) > at_most else named


def _lines(rows: list[Occurrence], width: int, *, titled: bool) -> list[str]:
    named = [row.place.label.replace(" · ", ", ") for row in rows]
    places = [f"{row.work.title}, {place}" if titled else place for row, place in zip(rows, named, strict=True)]
    longest = max((len(place) for place in places), default=0)
    words = max((len(row.keyword) for row in rows), default=0)
    side = max(_LEAST_SIDE, (width - longest - words - 2) // 2)
    return [
        f"{place:<{longest}}  {row.left[-side:]:>{side}}{row.keyword}{row.right[:side]}".rstrip()
        for place, row in zip(places, rows, strict=True)
    ]
