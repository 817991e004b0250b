"""Find the work that a passage, or words in it, come from."""

from __future__ import annotations

import os
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from relic_core.cli import console
from relic_core.cli.commands import Words, command, format_option
from relic_core.domain import WorkFilter
from relic_core.domain.attribution import AttributionRequest, By, Reranking
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from relic_core.attribution.service import Attribution
    from relic_core.wiring import App

_WIDEST = 100


@command(
    'attribute "As she says, it is a truth universally acknowledged." --span 13:51',
    "attribute essay.txt",
    "attribute essay.txt --library emma persuasion --rerank likelihood --alone --explain",
)
@click.argument("passage", help="A text file, or the passage itself.")
@click.option("--span", metavar="A:B", help="Which characters of it are looked for (default: each sentence is tried).")
@click.option("--library", type=Words(), metavar="all|WORK...", help="The works to look in (default: all).")
@click.option("--by", type=click.Choice(get_args(By)), default="words", show_default=True, help="What ranks stretches.")
@click.option("--rerank", type=click.Choice(get_args(Reranking)[1:]), help="What orders the first 100 anew.")
@click.option("--alone", is_flag=True, help="With --rerank: by itself, as in the paper.")
@click.option("--explain", is_flag=True, help="How far the best source explains each word, by a language model.")
@format_option("table", "json")
def attribute(
    app: App, passage: str, span: str | None, library: tuple[str, ...] | None, rerank: Reranking | None, form: str,
    **ways: Any,
) -> None:  # fmt: skip
    """Find the work that a passage, or words in it, come from: quoted, marked or not, or adapted."""
    if ways["alone"] and not rerank:
        raise click.UsageError("--alone says how --rerank orders: add it.")
    named = () if library in {None, ("all",)} else tuple(app.works.resolve(each).id for each in library or ())
    request = AttributionRequest(
        text=_read(app, passage), span=_offsets(span), works=WorkFilter(works=named), reranking=rerank or "", **ways
    )
    with console.ProgressLine("Attributing") as progress:
        found = app.attribution.run(request, progress)
    print(console.as_json(_as_json(found)) if form == "json" else _as_text(found))


def _read(app: App, passage: str) -> str:
    """Read a file where one has that name, else take the words. Raises BadRequest: a file's name, and there is none."""
    if os.path.isfile(passage):  # noqa: PTH113 - of a long passage `Path.is_file` raises that the name is too long
        return app.attribution.read(Path(passage), app.settings.max_text_bytes)
    if len(passage.split()) == 1 and passage.endswith((".txt", ".md")):
        raise BadRequest(f"There is no file '{passage[:200]}'. Check its name, or give the passage itself.")
    return passage


def _offsets(given: str | None) -> tuple[int, int] | None:
    """Read a span. Raises BadRequest: it is none.

    >>> _offsets("13:53")
    (13, 53)
    """
    if given is None:
        return None
    start, _, end = given.partition(":")
    if not (start.isascii() and start.isdecimal() and end.isascii() and end.isdecimal()):
        raise BadRequest(f"'{given[:40]}' is not a span. Write the first character and the one behind the last: 13:53.")
    return int(start), int(end)


def summary(found: Attribution) -> str:
    """Say in a sentence whether a source was found."""
    if not found.cards:
        return "No work searched uses a word of it. It may be in another language."
    if found.masked:
        return "By what stands around the words, these passages fit best:"
    named = [f"{work.title} by {work.author or 'an unknown author'}" for work in found.found]
    if not named:
        return "No sure source: no work searched holds enough of these words to be it for sure. The nearest:"
    if len(named) == 1:
        return f"From {named[0]}."
    return f"It stands alike in {len(named)} works: {'; '.join(named)}."


def _as_text(found: Attribution) -> str:
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    lines = [f"“{console.shorten(found.target.span, width - 2)}”", summary(found), ""]
    for card in found.cards:
        quotation = " ".join(card.passage.plain.split())
        where = f"{card.work.author}, {card.work.title} · {card.place.label} · {card.place.address}"
        lines.append(textwrap.fill(quotation, width, initial_indent=f"{card.rank:4d}  ", subsequent_indent=" " * 6))
        lines.append(textwrap.fill(where, width, initial_indent=" " * 6, subsequent_indent=" " * 6))
    if found.gains:
        lines += ["", " ".join(f"{found.target.text[a:b]} {gain:+.1f}" for a, b, gain in found.gains)]
    if found.others:
        lines += ["", "Other sentences with a certain source; ask for one with --span:"]
        lines += [f"  {each.start}:{each.end}  “{console.shorten(each.span, width - 20)}”" for each in found.others]
    if found.note:
        lines += ["", found.note]
    return "\n".join(lines)


def _as_json(found: Attribution) -> dict[str, Any]:
    target = found.target
    return {
        "span": {"start": target.start, "end": target.end, "text": target.span},
        "found": [work.id for work in found.found],
        "works": [{"id": work.id, "title": work.title, "strong": strong} for work, strong in found.works],
        "searched": found.searched,
        "seconds": round(found.seconds, 3),
        "gains": [{"word": target.text[a:b], "start": a, "gain": round(gain, 3)} for a, b, gain in found.gains],
        "note": found.note,
        "others": [{"start": each.start, "end": each.end, "text": each.span} for each in found.others],
        "stretches": [
            {
                "rank": card.rank,
                "work": card.work.id,
                "quotation": card.passage.plain,
                "address": str(card.place.address),
                "score": card.score,
                "strong": card.strong,
                "shared": [target.text[a:b] for a, b in card.runs],
            }
            for card in found.cards
        ],
    }
