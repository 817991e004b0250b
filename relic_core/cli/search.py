"""Search a work for the passages that support a claim."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from relic_core.cli import console
from relic_core.domain import MAX_LENGTH, MIN_LENGTH
from relic_core.errors import BadRequest, StoreError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.domain import Span, Work
    from relic_core.services.answers import Card, Column, SearchResult
    from relic_core.services.workbench import Workbench

_WIDEST = 100


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "search",
        summary="Find the passages of a work that would serve as evidence for a claim.",
        examples=(
            '  python -m relic_core search emma "Emma mistakes her own heart"\n'
            '  python -m relic_core search emma "She is blind here: [MASK] The narrator knows better." --length 2\n'
            "  python -m relic_core search emma - --format json < claim.txt"
        ),
    )
    parser.add_argument("work", metavar="WORK", help="its id, the beginning of its id, or its title")
    parser.add_argument("claim", metavar="CLAIM", help="the claim, or - to read it from standard input")
    parser.add_argument("--length", type=int, help=f"sentences per quotation, {MIN_LENGTH} to {MAX_LENGTH}")
    parser.add_argument("--results", type=int, help="passages per retriever")
    parser.add_argument(
        "--retriever", action="append", metavar="NAME", help="only this one; may be given several times"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="(default %(default)s)")
    return parser


def run(workbench: Workbench, options: Namespace) -> int:
    """Search and print one list per retriever."""
    from relic_core.services.answers import SearchRequest

    request = SearchRequest(
        work_id=workbench.works.resolve(options.work).id,
        claim_text=_standard_input() if options.claim == "-" else options.claim,
    )
    given = {
        "length": options.length,
        "results": options.results,
        "retrievers": tuple(options.retriever) if options.retriever else None,
    }
    request = dataclasses.replace(request, **{name: value for name, value in given.items() if value is not None})
    result = workbench.search.run(request)
    _keep(workbench, result)
    if options.format == "json":
        print(json.dumps(_as_json(result), ensure_ascii=False, indent=2))
    else:
        width = min(_WIDEST, shutil.get_terminal_size().columns)
        print("\n\n".join(_as_text(column, width) for column in result.columns))
        if result.weak:
            print(
                "\nThe evidence is weak: nothing here answers the claim better than passages of unrelated books would."
            )
    for column in result.columns:
        if column.note:
            print(f"{column.label}: {column.note}", file=sys.stderr)
        if column.pending:
            print(
                f"{column.label} is not prepared for this work: python -m relic_core index {result.work.id}",
                file=sys.stderr,
            )
    return 0


def _keep(workbench: Workbench, result: SearchResult) -> None:
    """Add the search to the history; the answer does not depend on it."""
    try:
        workbench.history.keep(result.request, made_with=result.made_with)
    except StoreError as error:
        print(f"The search is not in the history. {error}", file=sys.stderr)


def _standard_input() -> str:
    try:
        claim = sys.stdin.read()
    except UnicodeDecodeError:
        raise BadRequest("The claim on standard input is not in UTF-8. Convert it with iconv and try again.") from None
    console.check_utf8("claim", claim)
    return claim


def _as_json(result: SearchResult) -> dict[str, Any]:
    return {
        "work": {"id": result.work.id, "title": result.work.title, "sha256": result.work.sha256},
        "claim": result.request.claim_text,
        "length": result.request.length,
        "weak": result.weak,
        "unknown": result.unknown,
        "quoted": [
            {"words": result.request.claim_text[each.start : each.end], **_characters(each.span, result.work)}
            for each in result.quoted
        ],
        "seconds": round(result.seconds, 3),
        "made_with": result.made_with,
        "columns": [
            {
                "retriever": column.retriever,
                "label": column.label,
                "pending": column.pending,
                "note": column.note,
                "candidates": column.candidates,
                "hits": [_hit(card, result) for card in column.cards],
            }
            for column in result.columns
        ],
    }


def _characters(span: Span, work: Work) -> dict[str, int]:
    """Give the character offsets of a span in the work's text."""
    return {"start": work.sentences[span.start].start, "end": work.sentences[span.end - 1].end}


def _hit(card: Card, result: SearchResult) -> dict[str, Any]:
    return {
        "rank": card.rank,
        "quotation": card.quotation.plain,
        **_characters(card.span, result.work),
        "chapter": card.place.chapter,
        "paragraph": card.place.paragraph,
        "sentence": card.place.sentence,
        "fraction": round(card.place.fraction, 4),
        "score": card.score,
        "strength": card.strength.level,
        "strength_sentence": card.strength.sentence,
        "shared": card.shared,
        "elsewhere": dict(card.elsewhere),
    }


def _as_text(column: Column, width: int) -> str:
    lines = [column.label.upper()]
    for card in column.cards:
        quotation = " ".join(card.quotation.plain.split())
        place = f"{card.place.chapter}, {card.place.fraction:.0%} into the work · {card.strength.level}"
        lines.append(textwrap.fill(quotation, width, initial_indent=f"{card.rank:4d}  ", subsequent_indent=" " * 6))
        lines.append(textwrap.fill(place, width, initial_indent=" " * 6, subsequent_indent=" " * 6))
    return "\n".join(lines)
