"""Search a work, or the whole library, for the passages that support a claim or are like another passage."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from relic_core.cli import console, scope
from relic_core.domain import MAX_LENGTH, MIN_LENGTH, SeedPassage
from relic_core.errors import BadRequest, StoreError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.domain import Span, Work, WorkSummary
    from relic_core.services.answers import Card, Column, SearchRequest, SearchResult
    from relic_core.wiring import App

_WIDEST = 100
_NAMED = 4


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "search",
        summary="Find the passages that would serve as evidence for a claim, or that are like another passage.",
        examples=(
            '  python -m relic_core search emma "Emma mistakes her own heart"\n'
            '  python -m relic_core search emma "She is blind here: [MASK] The narrator knows better." --length 2\n'
            '  python -m relic_core search emma "Emma mistakes her own heart" --chapters 1-16,50\n'
            '  python -m relic_core search --all "A proposal is refused" --author austen --to 1813\n'
            "  python -m relic_core search emma --like 8.3.2 --sentences 2 --all\n"
            "  python -m relic_core search emma - --format json < claim.txt"
        ),
    )
    parser.usage = (
        f"{parser.prog} WORK CLAIM [options]\n       {parser.prog} --all CLAIM [options]\n"
        f"       {parser.prog} WORK --like ADDRESS [--all] [options]"
    )
    # Neither is required of the parser, which takes them wherever they stand among the options; `run` counts them.
    for name, what in (
        ("work", "its id, the beginning of its id, or its title; with --all none, but for the one of --like"),
        ("claim", "the claim, or - to read it from standard input; with --like none"),
    ):
        parser.add_argument(name, metavar=name.upper(), help=what).required = False
    parser.add_argument("--length", type=int, help=f"sentences per quotation, {MIN_LENGTH} to {MAX_LENGTH}")
    parser.add_argument("--results", type=int, help="passages per retriever")
    parser.add_argument(
        "--retriever", action="append", metavar="NAME", help="only this one; may be given several times"
    )
    scope.add_options(parser)
    parser.add_argument(
        "--like",
        metavar="ADDRESS",
        help="find passages like the one of WORK there: chapter.paragraph.sentence, as printed with each hit",
    )
    parser.add_argument("--sentences", type=int, metavar="N", help="how many sentences that passage has (default 1)")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="(default %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:
    """Search and print one list per retriever."""
    request = _request(app, options)
    given = {
        "length": options.length,
        "results": options.results,
        "retrievers": tuple(options.retriever) if options.retriever else None,
    }
    request = dataclasses.replace(request, **{name: value for name, value in given.items() if value is not None})
    result = app.search.run(request)
    _keep(app, result)
    if options.format == "json":
        print(json.dumps(_as_json(result), ensure_ascii=False, indent=2))
    else:
        width = min(_WIDEST, shutil.get_terminal_size().columns)
        print("\n\n".join(_as_text(column, result, width) for column in result.columns))
        if result.weak:
            print(
                "\nThe evidence is weak: nothing here answers the claim better than passages of unrelated books would."
            )
    _tell_what_is_missing(result)
    return 0


def _request(app: App, options: Namespace) -> SearchRequest:
    """Read what is asked, and where; the other settings are the usual ones."""
    from relic_core.services.answers import SearchRequest

    words = [word for word in (options.work, options.claim) if word is not None]
    narrowed = [*options.author, *options.works, options.first_year, options.last_year]
    if not options.all and any(each is not None for each in narrowed):
        options.refuse("--author, --from, --to and --works choose among all works: add --all")
    if options.all and options.chapters is not None:
        options.refuse("--chapters needs one WORK, without --all")
    if options.sentences is not None and options.like is None:
        options.refuse("--sentences tells the length of the passage of --like; --length that of what is found")
    narrowing = scope.read_narrowing(app, options)
    if options.like is not None:
        if len(words) != 1:
            options.refuse("--like takes the WORK in which ADDRESS stands, and no CLAIM")
        source = app.works.resolve(words[0]).id
        return SearchRequest(
            work_id="" if options.all else source,
            chapters=scope.read_chapters(options.chapters),
            narrowing=narrowing,
            like=SeedPassage(source, options.like, 1 if options.sentences is None else options.sentences),
        )
    if len(words) != (1 if options.all else 2):
        options.refuse("give a CLAIM, and no WORK, with --all" if options.all else "give a WORK and a CLAIM")
    return SearchRequest(
        work_id="" if options.all else app.works.resolve(words[0]).id,
        claim_text=_standard_input() if words[-1] == "-" else words[-1],
        chapters=scope.read_chapters(options.chapters),
        narrowing=narrowing,
    )


def _tell_what_is_missing(result: SearchResult) -> None:
    for column in result.columns:
        if column.note:
            print(f"{column.label}: {column.note}", file=sys.stderr)
        if column.pending and result.work is not None:
            print(
                f"{column.label} is not prepared for this work: python -m relic_core index {result.work.id}",
                file=sys.stderr,
            )
    pending = result.work is None and any(column.pending for column in result.columns)
    if result.unprepared or pending:
        titles = ", ".join(work.title for work in result.unprepared[:_NAMED])
        more = ", ..." * (len(result.unprepared) > _NAMED)
        print(
            f"Not all works have been prepared for searching by meaning{': ' * bool(titles)}{titles}{more}. "
            "Prepare them: python -m relic_core index --all",
            file=sys.stderr,
        )


def _keep(app: App, result: SearchResult) -> None:
    """Add the search to the history; the answer does not depend on it."""
    try:
        app.history.keep(result.request, made_with=result.made_with)
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
    answer: dict[str, Any] = {"work": _edition(result.work) if result.work else None}
    if result.work is None:
        answer["works"] = [_edition(work) for work in result.searched]
        answer["unprepared"] = [work.id for work in result.unprepared]
    answer["claim"] = result.request.claim_text
    if result.source is not None:
        source = result.source
        answer["like"] = {
            "work": _edition(source.work),
            "address": str(source.place.address),
            "quotation": source.quotation.plain,
            **_characters(source.span, source.work),
        }
    if result.request.chapters:
        answer["chapters"] = result.request.chapters
    return answer | {
        "length": result.request.length,
        "weak": result.weak,
        "unknown": result.unknown,
        "quoted": [
            {"words": result.request.claim_text[each.start : each.end], **_characters(each.span, result.work)}
            for each in result.quoted
            if result.work is not None
        ],
        "seconds": round(result.seconds, 3),
        "made_with": result.made_with,
        "columns": [
            {
                "retriever": column.retriever,
                "label": column.label,
                "pending": column.pending,
                "note": column.note,
                "exact": column.exact,
                "candidates": column.candidates,
                "hits": [_hit(card, result) for card in column.cards],
            }
            for column in result.columns
        ],
    }


def _edition(work: Work | WorkSummary) -> dict[str, str]:
    return {"id": work.id, "title": work.title, "sha256": work.sha256}


def _characters(span: Span, work: Work) -> dict[str, int]:
    """Give the character offsets of a span in the work's text."""
    return {"start": work.sentences[span.start].start, "end": work.sentences[span.end - 1].end}


def _hit(card: Card, result: SearchResult) -> dict[str, Any]:
    where = {"work": card.work.id, "title": card.work.title} if result.work is None else {}
    return {
        "rank": card.rank,
        "quotation": card.quotation.plain,
        **where,
        **_characters(card.span, card.work),
        "address": str(card.place.address),
        "chapter": card.place.chapter,
        "paragraph": card.place.paragraph,
        "sentence": card.place.sentence,
        "fraction": round(card.place.fraction, 4),
        "score": card.score,
        "strength": card.strength.level if result.source is None else None,
        "strength_sentence": card.strength.sentence,
        "shared": card.shared,
        "elsewhere": dict(card.elsewhere),
    }


def _as_text(column: Column, result: SearchResult, width: int) -> str:
    lines = [f"{column.label}:"]
    for card in column.cards:
        quotation = " ".join(card.quotation.plain.split())
        place = f"{card.place.chapter}, {card.place.fraction:.0%} into the work · {card.place.address}"
        if result.work is None:
            place = f"{card.work.title} · {place}"
        if result.source is None:  # no level is known for passages like another
            place = f"{place} · {card.strength.level}"
        lines.append(textwrap.fill(quotation, width, initial_indent=f"{card.rank:4d}  ", subsequent_indent=" " * 6))
        lines.append(textwrap.fill(place, width, initial_indent=" " * 6, subsequent_indent=" " * 6))
    return "\n".join(lines)
