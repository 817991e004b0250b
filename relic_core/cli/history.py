"""List what was asked, ask it again, and compare; give a search away as a file, or open one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from relic_core.cli import console
from relic_core.cli.commands import Actions, person_option, show
from relic_core.cli.console import shorten
from relic_core.domain.people import NOBODY
from relic_core.installed import COMMAND

if TYPE_CHECKING:
    from relic_core.domain import Search
    from relic_core.services.comparing import Located
    from relic_core.wiring import App

_CLAIM, _QUOTATION = 70, 60
_MOST = 1_000

history = Actions(
    "history",
    default="list",
    help="List what was asked; ask a search again and see what has moved; compare two retrievers; share it.",
    epilog=show(
        "history",
        "history --words brass",
        "history show txcto7w",
        "history rerun txcto7w",
        "history compare txcto7w dense-relic bm25",
        "history save txcto7w search.relic.json",
        "history open search.relic.json",
        "history --person ada@example.org",
        "history remove txcto7w",
        "history restore txcto7w",
    ),
)
_search_argument = click.argument("search_id", metavar="ID", help="As the list shows it.")
_person_option = person_option("Whose searches")


@history.command("list")
@click.option("--words", default="", help="Only searches whose claim holds these.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=20, show_default=True, help="How many.")
@click.option("--removed", is_flag=True, help="Those that were removed, in place of the others.")
@_person_option
def list_searches(app: App, words: str, limit: int, removed: bool, person: str) -> None:
    """List what was asked, the latest first."""
    person = app.people.find(person)
    if removed:
        if words:
            raise click.UsageError("history --removed takes no --words.")
        every = app.history.removed(person)
        searches, count = every[:limit], len(every)
    else:
        searches, count = app.history.asked(words=words, person=person, limit=limit)
    if not searches:
        none = "Nothing was removed." if removed else "No searches yet."
        print("Nothing that holds these words was asked." if words else none)
        return
    rows = [
        (search.id, f"{search.created:%Y-%m-%d %H:%M}", search.request.work_id or "all works", _claim(search))
        for search in searches
    ]
    print(console.table(("id", "asked (UTC)", "of", "claim"), rows))
    if count > len(searches):
        print(f"\n{count - len(searches):,} more: --limit {min(count, _MOST)}")


@history.command("show")
@_search_argument
def show_search(app: App, search_id: str) -> None:
    """Show a search: what was asked, of what, and the address that opens it elsewhere."""
    search = app.history.get(search_id)
    facts = [
        ("search", search.id),
        ("claim", search.request.sentence or _like(search)),
        ("of", search.request.work_id or "all works"),
        ("sentences", search.request.length or "any"),
        ("retrievers", ", ".join(search.request.retrievers)),
        ("asked", f"{search.created:%Y-%m-%d %H:%M} UTC"),
        ("made with", search.made_with or "not known"),
        *((f"{head.retriever} kept", f"{when:%Y-%m-%d %H:%M} UTC") for when, head in app.snapshots.of(search)),
        ("address", f"find?search={app.sharing.share(search.id, search.request).code}"),
    ]
    print(console.table(("", ""), facts).lstrip("\n"))


@history.command("rerun")
@_search_argument
def rerun(app: App, search_id: str) -> None:
    """Ask a search again and see what has moved."""
    found = app.comparing.then_and_now(app.history.get(search_id))
    if found.then is not None:
        print(f"Since {found.then:%Y-%m-%d %H:%M} UTC:")
    print("\n".join(found.differences) or "Nothing that answers has changed.")
    for column in found.columns:
        print(f"\n{column.label}:{' as it was' if column.unchanged else ''}")
        for each in () if column.unchanged else column.passages:
            then, now = each.then or "-", each.now or "-"
            print(f"  {then:>3} -> {now:>3}  {each.moved:<6}  {_quoted(each.passage)}")
    for card in found.silent:
        print(f"\n{card.label}: it did not answer then, or cannot now")


@history.command("compare")
@_search_argument
@click.argument("names", nargs=2, metavar="RETRIEVER RETRIEVER")
def compare(app: App, search_id: str, names: tuple[str, str]) -> None:
    """Compare what two retrievers put first."""
    found = app.comparing.compare(app.history.get(search_id).request, list(names))
    print(
        f"{found.overlap} of the first {found.ten} passages are the same; rank-biased overlap (p = 0.9) "
        f"{found.rank_overlap:.2f}. Overlapping passages count as one.\n"
    )
    rows = [(str(each.first or "-"), str(each.second or "-"), _quoted(each.passage)) for each in found.passages]
    print(console.table((found.first.card.label, found.second.card.label, "passage"), rows))


@history.command("save")
@_search_argument
@click.argument("file", type=click.Path())
def save(app: App, search_id: str, file: str) -> None:
    """Write a search and what it found into a file that others can open."""
    search = app.history.get(search_id)
    app.sharing.save(search.id, search.request, Path(file))
    print(f"The search {search.id} is in {file}. Open it elsewhere on the page Searches, or with: history open")


@history.command("open")
@click.argument("file", metavar="FILE|ADDRESS", type=click.Path())
@_person_option
def open_search(app: App, file: str, person: str) -> None:
    """Take in a search from its file or its address."""
    person = app.people.find(person)
    opened = app.sharing.open_named(file)
    search = app.history.keep(opened.request, person=person)
    for notice in opened.notices:
        print(notice)
    print(f"The search is in the history as {search.id}. Ask it: {COMMAND} history rerun {search.id}")


@history.command("remove")
@_search_argument
@_person_option
def remove(app: App, search_id: str, person: str) -> None:
    """Take a search out of the history."""
    search = app.history.remove(search_id, app.people.find(person))
    whose = "" if person == NOBODY else f" --person {person}"
    print(f"Removed: {_claim(search)}\nTo put it back: {COMMAND} history restore {search.id}{whose}")


@history.command("restore")
@_search_argument
@_person_option
def restore(app: App, search_id: str, person: str) -> None:
    """Put a removed search back."""
    search = app.history.undo(search_id, app.people.find(person))
    print(f"Back in the history as {search.id}: {_claim(search)}")


def _claim(search: Search) -> str:
    return shorten(_like(search) or search.request.sentence, _CLAIM)


def _quoted(passage: Located | None) -> str:
    if passage is None:
        return "(its work is not here any more)"
    return f"{passage.at}  {shorten(passage.quotation.plain, _QUOTATION)}"


def _like(search: Search) -> str:
    return f"like {search.request.like.work_id} {search.request.like.at}" if search.request.like else ""
