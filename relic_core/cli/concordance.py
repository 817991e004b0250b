"""Look a word or phrase up: every place of it, in its context."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import command, path_option
from relic_core.cli.console import note
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from relic_core.reporting.concordance import Occurrence
    from relic_core.wiring import App

_WIDEST = 160
_LEAST_SIDE = 12
_LIMIT = 50


@command(
    "concordance brass --work averhythe",
    'concordance good fortune --sort right --csv "good fortune.csv"',
    'concordance "honour*" --variants --limit 0',
    'concordance "wh?le | shark"',
)
@click.argument("words", nargs=-1, required=True, metavar="WORD...", help="Word or phrase; * any letters, ? one, | or.")
@click.option("--work", help="Its id, the beginning of its id, or its title; else all works.")
@click.option("--forms", is_flag=True, help="Other word forms count: go, went.")
@click.option("--variants", is_flag=True, help="Other spellings count: honour, honor.")
@click.option("--as-written", is_flag=True, help="Capitals, accents and the ending 's count.")
@click.option("--speech", "voice", flag_value="speech", default="any", help="Only in the words of characters.")
@click.option("--narration", "voice", flag_value="narration", help="Only in the words of the narrator.")
@click.option("--sort", type=click.Choice(("text", "left", "right")), default="text", show_default=True)
@click.option("--limit", type=int, default=_LIMIT, show_default=True, help="Lines printed, 0 for none.")
@path_option("--csv", "FILE", "Write all places to a table as well.")
def concordance(app: App, words: Sequence[str], work: str | None, limit: int, csv: Path | None, **asked: Any) -> None:
    """Look a word or phrase up: every place of it, in its context, the words found under one another."""
    from relic_core.services.concordance import MOST_EXPORTED, ConcordanceRequest

    if limit < 0:
        raise BadRequest(f"--limit is {limit}; give 0 or more.")
    word = " ".join(words)
    console.check_utf8("word", word)
    request = ConcordanceRequest(word=word, work_id=app.works.resolve(work).id if work else "", **asked)
    answer = app.concordance.find(request)
    rows: list[Occurrence] = list(answer.rows)
    while len(rows) < limit and answer.page < answer.pages:
        answer = app.concordance.find(dataclasses.replace(request, page=answer.page + 1))
        rows.extend(answer.rows)
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    for line in _lines(rows[:limit], width, titled=not request.work_id):
        print(line)
    counted = [(each.label, each.count) for each in answer.forms]
    print(f"{answer.total:,} in {len(answer.works)} of {answer.searched} works", end="")
    print(f": {_listed(counted)}" if counted else "")
    if answer.more:
        count = sum(each.count for each in answer.more)
        print(f"{count:,} more with --forms: {_listed([(each.label, each.count) for each in answer.more])}")
    for near in answer.words:
        if near.near:
            print(f"Words like {near.word}: {', '.join(near.near)}")
    for offer in answer.offers:
        print(f"Look {offer.label}" + ("" if offer.count is None else f": {offer.count:,}"))
    if csv is not None:
        _write(csv, app.concordance.export(request))
        if answer.total > MOST_EXPORTED:
            note(f"{csv} holds the first {MOST_EXPORTED:,} of them.")


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
