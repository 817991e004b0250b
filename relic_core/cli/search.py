"""Search a work, or the whole library, for the passages that support a claim or are like another passage."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import command, format_option
from relic_core.cli.console import note
from relic_core.domain import (
    ANY_LENGTH,
    COMPOSING,
    EVERYWHERE,
    MAX_LENGTH,
    MIN_LENGTH,
    UNITS,
    Condition,
    Joined,
    SearchRequest,
    SeedPassage,
    Span,
    Unit,
    Voice,
    Work,
    WorkFilter,
    WorkSummary,
    joined_claims,
)
from relic_core.errors import BadRequest, NotFound, StoreError
from relic_core.reporting import passages

if TYPE_CHECKING:
    from relic_core.services.answers import Card, Column
    from relic_core.services.search import SearchResult
    from relic_core.wiring import App

_WIDEST = 100
_NAMED = 4
_AUTHORS_NAMED = 8
_COLUMN = ("pending", "note", "exact", "candidates")
_CHAPTERS = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MOST_CHAPTERS = 10_000
"""In a range; no edition has more."""


@command(
    'search emma "Emma mistakes her own heart"',
    'search emma "She is blind here: [MASK] The narrator knows better." --length 2',
    'search emma "Emma mistakes her own heart" --chapters 1-16,50',
    'search --all "A proposal is refused" --author austen --to 1813',
    'search emma --and "Emma is kind" --and "she is proud" --not "she is ashamed" --unit chapter',
    'search --all "Somebody burns a will" --by work',
    "search emma --like 8.3.2 --sentences 2 --all",
    "search emma - --format json < claim.txt",
)
@click.argument(
    "work",
    required=False,
    help="Its id, the beginning of its id, or its title; with --all none, but for that of --like.",
)
@click.argument("claim", required=False, help="The claim, or - to read it from standard input; with --like none.")
@click.option(
    "--length",
    type=int,
    default=ANY_LENGTH,
    help=f"Sentences per quotation, {MIN_LENGTH} to {MAX_LENGTH} (default: any length).",
)
@click.option("--results", type=int, help="Passages per retriever.")
@click.option("--retriever", "retrievers", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Search every work of the library.")
@click.option(
    "--author", "authors", multiple=True, metavar="NAME", help="Of all, those by this author; may be repeated."
)
@click.option("--from", "first_year", type=int, metavar="YEAR", help="Of all, those of YEAR or later.")
@click.option("--to", "last_year", type=int, metavar="YEAR", help="Of all, those of YEAR or before.")
@click.option("--works", multiple=True, metavar="WORK", help="Of all, this one; may be repeated.")
@click.option("--chapters", metavar="LIST", help="Only these chapters of WORK, counted from 1 as in addresses: 3,5-7.")
@click.option(
    "--like",
    metavar="ADDRESS",
    help="Find passages like the one of WORK there: chapter.paragraph.sentence, as printed with each hit.",
)
@click.option("--sentences", type=int, metavar="N", help="How many sentences that passage has (default: 1).")
@click.option("--and", "conditions", multiple=True, metavar="CLAIM", help="Joined by and.")
@click.option("--or", "alternatives", multiple=True, metavar="CLAIM", help="Joined by or.")
@click.option("--not", "excluded", multiple=True, metavar="CLAIM", help="Joined by but not.")
@click.option(
    "--unit", type=click.Choice(UNITS), default=UNITS[0], help="What answers claims that are joined (default: passage)."
)
@click.option("--by", type=click.Choice(["work"]), help="With --all: rank works by their best passages.")
@click.option("--quoted", is_flag=True, help="Only passages that criticism in the library quotes.")
@click.option("--speech", "voice", flag_value="speech", help="Only passages every sentence of which holds speech.")
@click.option("--narration", "voice", flag_value="narration", help="Only passages without speech.")
@format_option("table", "json")
def search(
    app: App,
    work: str | None,
    claim: str | None,
    everything: bool,
    by: str | None,
    like: str | None,
    sentences: int | None,
    chapters: str | None,
    conditions: Sequence[str],
    alternatives: Sequence[str],
    excluded: Sequence[str],
    unit: Unit,
    quoted: bool,
    voice: Voice | None,
    form: str,
    length: int,
    results: int | None,
    retrievers: Sequence[str],
    **narrowed: Any,
) -> None:
    """Find the passages that would serve as evidence for a claim, or that are like another passage.

    Type WORK CLAIM, or --all CLAIM, or WORK --like ADDRESS with or without --all. Up to five claims are joined by
    --and, --or and --not, with a CLAIM or without; their order decides nothing.
    """
    if not everything and any(value not in (None, ()) for value in narrowed.values()):
        raise click.UsageError("--author, --from, --to and --works choose among all works: add --all.")
    if everything and chapters is not None:
        raise click.UsageError("--chapters needs one WORK, without --all.")
    if sentences is not None and like is None:
        raise click.UsageError("--sentences tells the length of the passage of --like; --length that of what is found.")
    words = [word for word in (work, claim) if word is not None]
    rows = _rows(conditions, alternatives, excluded)
    if by and (not everything or rows):
        raise click.UsageError("--by work ranks works for one claim: add --all, or take --unit work instead.")
    claims = 0 if rows and len(words) == (not everything) else 1
    if like is not None and len(words) != 1:
        raise click.UsageError("--like takes the WORK in which ADDRESS stands, and no CLAIM.")
    if like is None and len(words) != claims + (not everything):
        raise click.UsageError("Give a CLAIM, and no WORK, with --all." if everything else "Give a WORK and a CLAIM.")
    work_filter = _work_filter(app, **narrowed)
    stored = app.works.resolve(words[0]).id if like is not None or not everything else ""
    seed_passage = None if like is None else SeedPassage(stored, like, 1 if sentences is None else sentences)
    defaults: dict[str, Any] = {"results": results, "retrievers": tuple(retrievers) or None}
    claim_text = "" if like is not None or not claims else _standard_input() if words[-1] == "-" else words[-1]
    if rows:
        claim_text, rows = (claim_text, rows) if claims else joined_claims(rows)
        defaults["retrievers"] = tuple(retrievers) or COMPOSING[:1]
    request = SearchRequest(
        work_id="" if everything else stored,
        claim_text=claim_text,
        conditions=rows,
        unit=unit,
        chapters=_chapters(chapters),
        length=length,
        work_filter=work_filter,
        like=seed_passage,
        critics_quote=quoted,
        voice=voice or "any",
        **{name: value for name, value in defaults.items() if value is not None},
    )
    with console.ProgressLine("Reading") as progress:  # of a language model alone; what else there is takes a moment
        result = app.search.run(request, progress=progress)
    try:
        app.history.keep(result.request, made_with=result.made_with)
    except StoreError as error:  # the answer does not depend on it
        note(f"The search is not in the history. {error}")
    _print(app, result, form, by)
    _tell_what_is_missing(result)


def _rows(conditions: Sequence[str], alternatives: Sequence[str], excluded: Sequence[str]) -> tuple[Condition, ...]:
    options: dict[Joined, Sequence[str]] = {"and": conditions, "or": alternatives, "not": excluded}
    return tuple(Condition(joined, text) for joined, of in options.items() for text in of)


def _print(app: App, result: SearchResult, form: str, by: str | None) -> None:
    works = _by_work(app, result) if by else []
    if form == "json":
        print(console.as_json(_as_json(result) | ({"by_work": works} if by else {})))
    elif by:
        listed = []
        for number, each in enumerate(works, start=1):
            for at, passage in enumerate(each["passages"]):
                head = ("", "") if at else (number, each["title"])
                listed.append((*head, passage["address"], passage["quotation"]))
        print(console.table(("", "work", "at", "passage"), listed))
    else:
        width = min(_WIDEST, shutil.get_terminal_size().columns)
        print("\n\n".join(_as_text(column, result, width) for column in result.columns))
        if result.weak and result.request.conditions:
            print("\nNothing reaches the probability from which it would belong to the answer; the best come first.")
        elif result.weak:
            print("\nThe program is unsure here: passages of unrelated books would answer the claim as well.")


def _work_filter(
    app: App, works: Sequence[str], authors: Sequence[str], first_year: int | None, last_year: int | None
) -> WorkFilter:
    """Read which works of the library are meant. Raises NotFound or BadRequest: none fits, or several do."""
    stored = sorted({work.author for work in app.works.summaries() if work.author}) if authors else []
    found: list[str] = []
    for author in authors:
        fits = [each for each in stored if author.strip() and author.strip().casefold() in each.casefold()]
        if not fits:
            known = ", ".join(stored[:_AUTHORS_NAMED]) + ", ..." * (len(stored) > _AUTHORS_NAMED)
            raise NotFound(f"No work of the library is by '{author[:80]}'. Its authors: {known or 'none is known'}.")
        found += fits
    work_filter = WorkFilter(
        works=tuple(app.works.resolve(work).id for work in works),
        authors=tuple(dict.fromkeys(found)),
        first_year=first_year,
        last_year=last_year,
    )
    return work_filter or EVERYWHERE


def _chapters(given: str | None) -> tuple[int, ...]:
    """Read a list of chapters; empty where none was given. Raises BadRequest: it is no such list.

    >>> _chapters("3, 5-7")
    (3, 5, 6, 7)
    """
    chapters: list[int] = []
    for part in given.split(",") if given is not None else ():
        match = _CHAPTERS.fullmatch(part.strip())
        first = int(match[1]) if match else 1
        last = int(match[2] or match[1]) if match else 0
        if not first <= last <= first + _MOST_CHAPTERS:
            raise BadRequest(
                f"'{part.strip()[:40]}' is neither a chapter nor a range of chapters. Write numbers and ranges from "
                "low to high: 3,5-7."
            )
        chapters.extend(range(first, last + 1))
    return tuple(dict.fromkeys(chapters))


def _tell_what_is_missing(result: SearchResult) -> None:
    note(*filter(None, [result.foreign]))
    for column in result.columns:
        if column.note:
            note(f"{column.card.label}: {column.note}")
        if column.pending and result.work is not None:
            note(f"{column.card.label} is not prepared for this work: python -m relic_core index {result.work.id}")
    if result.unprepared or (result.work is None and any(column.pending for column in result.columns)):
        titles = ", ".join(work.title for work in result.unprepared[:_NAMED])
        more = ", ..." * (len(result.unprepared) > _NAMED)
        note(
            f"Not all works have been prepared for searching by meaning{': ' * bool(titles)}{titles}{more}. "
            "Prepare them: python -m relic_core index --all"
        )


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
    if result.request.conditions:
        answer["conditions"] = [{each.joined: each.claim_text} for each in result.request.conditions]
        answer["unit"] = result.request.unit
    if result.source is not None:
        source = result.source
        answer["like"] = {
            "work": _edition(source.work),
            "address": str(source.place.address),
            "quotation": passages.quotation(source.work, source.span).plain,
            **_characters(source.span, source.work),
        }
    if result.request.chapters:
        answer["chapters"] = result.request.chapters
    if result.request.voice != "any":
        answer["voice"] = result.request.voice
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
            {"retriever": column.retriever, "label": column.card.label}
            | {name: getattr(column, name) for name in _COLUMN}
            | {"hits": [_hit(number, card, result) for number, card in enumerate(column.cards, 1)]}
            for column in result.columns
        ],
    }


def _by_work(app: App, result: SearchResult) -> list[dict[str, Any]]:
    """List as many works as cards were asked for, with the passages behind each."""
    found = []
    for hits in result.by_work[: result.request.results]:
        work = app.works.load(hits[0].work_id)
        found.append(
            _edition(work)
            | {
                "passages": [
                    {
                        "rank": hit.rank,
                        "address": str(work.place(hit.span).address),
                        "quotation": " ".join(passages.quotation(work, hit.span).plain.split()),
                        **_characters(hit.span, work),
                    }
                    for hit in hits
                ]
            }
        )
    return found


def _edition(work: Work | WorkSummary) -> dict[str, str]:
    return {"id": work.id, "title": work.title, "sha256": work.sha256}


def _characters(span: Span, work: Work) -> dict[str, int]:
    return {"start": work.sentences[span.start].start, "end": work.sentences[span.end - 1].end}


def _hit(number: int, card: Card, result: SearchResult) -> dict[str, Any]:
    where = {"work": card.work.id, "title": card.work.title} if result.work is None else {}
    return {
        "rank": number,
        "span_rank": card.rank,
        "quotation": card.quotation.plain,
        **where,
        **_characters(card.line, card.work),
        "address": str(card.place.address),
        "chapter": card.place.chapter,
        "paragraph": card.place.paragraph,
        "sentence": card.place.sentence,
        "fraction": round(card.place.fraction, 4),
        "score": card.score,
        **({"answers": card.answers, "parts": _parts(card)} if card.parts else {}),
        "strength": card.strength.level if result.source is None and not card.parts else None,
        "strength_sentence": card.strength.sentence,
        "shared": card.shared,
        **({"speakers": card.speakers} if card.speakers else {}),
        "elsewhere": {other.label: rank for other, rank in card.other_ranks},
    }


def _parts(card: Card) -> list[dict[str, Any]]:
    return [
        {
            part.condition.joined: part.condition.claim_text,
            "probability": round(part.probability, 4),
            "address": str(part.place.address),
        }
        for part in card.parts
    ]


def _as_text(column: Column, result: SearchResult, width: int) -> str:
    lines = [f"{column.card.label}:"]
    for number, card in enumerate(column.cards, 1):
        quotation = " ".join(card.quotation.plain.split())
        place = f"{card.place.chapter}, {card.place.fraction:.0%} into the work · {card.place.address}"
        if result.work is None:
            place = f"{card.work.title} · {place}"
        if card.parts:
            place = f"{place} · {card.score:.2g}{'' if card.answers else ', not in the answer'}"
        if card.speakers:
            place = f"{place} · spoken by {', '.join(card.speakers)}"
        lines.append(textwrap.fill(quotation, width, initial_indent=f"{number:4d}  ", subsequent_indent=" " * 6))
        lines.append(textwrap.fill(place, width, initial_indent=" " * 6, subsequent_indent=" " * 6))
        for part in card.parts:
            line = (
                f"{part.condition.joined} {part.condition.claim_text}: {part.probability:.2g} at {part.place.address}"
            )
            lines.append(textwrap.fill(line, width, initial_indent=" " * 8, subsequent_indent=" " * 10))
    return "\n".join(lines)
