"""List what was asked, ask it again, and compare; give a search away as a file, or open one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.services.people import NOBODY

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.domain import Search
    from relic_core.services.sharing.passages import Located
    from relic_core.wiring import App

_WANTED = {
    "list": (0, 0, "no further words"),
    "show": (1, 1, "one id"),
    "rerun": (1, 1, "one id"),
    "compare": (3, 3, "an id and the names of two retrievers"),
    "save": (2, 2, "an id and a file"),
    "open": (1, 1, "a file, or the address of a search"),
    "remove": (1, 1, "one id"),
    "restore": (1, 1, "one id"),
}
_USUAL: dict[str, object] = {"words": "", "limit": 20, "removed": False, "person": NOBODY}
_TAKEN: dict[str, tuple[str, ...]] = {
    "list": tuple(_USUAL),
    "open": ("person",),
    "remove": ("person",),
    "restore": ("person",),
}
_CLAIM, _QUOTATION = 70, 60
_MOST = 1_000


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "history",
        summary="List what was asked; ask a search again and see what has moved; compare two retrievers; share it.",
        examples=(
            "  python -m relic_core history\n"
            "  python -m relic_core history --words brass\n"
            "  python -m relic_core history show txcto7w\n"
            "  python -m relic_core history rerun txcto7w\n"
            "  python -m relic_core history compare txcto7w dense-relic bm25\n"
            "  python -m relic_core history save txcto7w search.relic.json\n"
            "  python -m relic_core history open search.relic.json\n"
            "  python -m relic_core history --person ada@example.org\n"
            "  python -m relic_core history remove txcto7w\n"
            "  python -m relic_core history restore txcto7w"
        ),
    )
    parser.add_argument(
        "action", nargs="?", choices=tuple(_WANTED), default="list", metavar="ACTION",
        help="list, show ID, rerun ID, compare ID NAME NAME, save ID FILE, open FILE, remove ID, restore ID",
    )  # fmt: skip
    parser.add_argument("said", nargs="*", metavar="ID", help="the search's id, as the list shows it")
    parser.add_argument("--words", default="", help="list: only searches whose claim holds these")
    parser.add_argument("--limit", type=int, default=20, help="list: how many (default: %(default)s)")
    parser.add_argument("--removed", action="store_true", help="list: those that were removed, in place of the others")
    console.add_person(parser, "list, open, remove, restore: whose searches")
    return parser


def run(app: App, options: Namespace) -> int:
    """Do it."""
    action, said = options.action, options.said
    least, most, wanted = _WANTED[action]
    if not least <= len(said) <= most:
        options.refuse(f"history {action} wants {wanted}")
    console.refuse_unused(options, f"history {action}", _USUAL, _TAKEN.get(action, ()))
    if not 1 <= options.limit <= _MOST:
        options.refuse(f"--limit is {options.limit}; 1 to {_MOST} are possible")
    if action in _TAKEN:
        return _of_person(app, options, app.people.find(options.person))
    search = app.history.get(said[0])
    if action == "show":
        return _show(app, search)
    if action == "rerun":
        return _rerun(app, search)
    if action == "compare":
        return _compare(app, search, said[1:])
    app.sharing.save(search.id, Path(said[1]))
    print(f"The search {search.id} is in {said[1]}. Open it elsewhere on the page Searches, or with: history open")
    return 0


def _of_person(app: App, options: Namespace, person: str) -> int:
    """Do what is about one person's searches."""
    action, said = options.action, options.said
    if action == "list":
        return _list(app, options, person)
    if action == "open":
        return _open(app, said[0], person)
    if action == "remove":
        search = app.history.remove(said[0], person)
        whose = "" if options.person == NOBODY else f" --person {options.person}"
        print(f"Removed: {_claim(search)}\nTo put it back: python -m relic_core history restore {search.id}{whose}")
        return 0
    search = app.history.undo(said[0], person)
    print(f"Back in the history as {search.id}: {_claim(search)}")
    return 0


def _list(app: App, options: Namespace, person: str) -> int:
    if options.removed:
        if options.words:
            options.refuse("history --removed takes no --words")
        every = app.history.removed(person)
        searches, count = every[: options.limit], len(every)
    else:
        searches, count = app.history.asked(words=options.words, person=person, limit=options.limit)
    if not searches:
        none = "Nothing was removed." if options.removed else "Nothing has been asked yet."
        print("Nothing that holds these words was asked." if options.words else none)
        return 0
    rows = [
        (search.id, f"{search.created:%Y-%m-%d %H:%M}", search.work_id or "all works", _claim(search))
        for search in searches
    ]
    print(console.table(("id", "asked (UTC)", "of", "claim"), rows))
    if count > len(searches):
        print(f"\n{count - len(searches):,} more: --limit {min(count, _MOST)}")
    return 0


def _show(app: App, search: Search) -> int:
    kept = app.sharing.kept(search)
    facts = [
        ("search", search.id),
        ("claim", search.claim_text or f"passages like {search.like}"),
        ("of", search.work_id or "all works"),
        ("sentences", search.length),
        ("retrievers", ", ".join(search.retrievers)),
        ("asked", f"{search.created:%Y-%m-%d %H:%M} UTC"),
        ("made with", search.made_with or "not known"),
        *((f"{head.retriever} kept", f"{when:%Y-%m-%d %H:%M} UTC") for when, head in kept),
        ("address", f"find?search={app.sharing.code(search.id)}"),
    ]
    print(console.table(("", ""), facts).lstrip("\n"))
    return 0


def _rerun(app: App, search: Search) -> int:
    found = app.sharing.then_and_now(search.id)
    if found.then is not None:
        print(f"Since {found.then:%Y-%m-%d %H:%M} UTC:")
    print("\n".join(found.differences) or "Nothing that answers has changed.")
    for column in found.columns:
        print(f"\n{column.label}:{' as it was' if column.unchanged else ''}")
        for each in () if column.unchanged else column.passages:
            then, now = each.then or "-", each.now or "-"
            print(f"  {then:>3} -> {now:>3}  {each.moved:<6}  {_quoted(each.passage)}")
    for label in found.silent:
        print(f"\n{label}: it did not answer then, or cannot now")
    return 0


def _compare(app: App, search: Search, names: list[str]) -> int:
    found = app.sharing.compare(search.id, names)
    print(
        f"{found.overlap} of the first {found.ten} passages are the same; rank-biased overlap (p = 0.9) "
        f"{found.likeness:.2f}. Overlapping passages count as one.\n"
    )
    rows = [(each.first or "-", each.second or "-", _quoted(each.passage)) for each in found.passages]
    print(console.table((found.first.label, found.second.label, "passage"), [tuple(map(str, row)) for row in rows]))
    return 0


def _open(app: App, said: str, person: str) -> int:
    opened = app.sharing.open_said(said)
    search = app.history.keep(opened.request, person=person)
    for notice in opened.notices:
        print(notice)
    print(f"The search is in the history as {search.id}. Ask it: python -m relic_core history rerun {search.id}")
    return 0


def _claim(search: Search) -> str:
    words = f"like {search.like.work_id} {search.like.at}" if search.like else " ".join(search.claim_text.split())
    return words if len(words) <= _CLAIM else f"{words[: _CLAIM - 1]}…"


def _quoted(passage: Located | None) -> str:
    if passage is None:
        return "(its work is not here any more)"
    words = " ".join(passage.quotation.plain.split())
    return f"{passage.at}  {words if len(words) <= _QUOTATION else f'{words[: _QUOTATION - 1]}…'}"
