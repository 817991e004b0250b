"""The notebook: list the kept passages, save them, take them in, make an evaluation set of verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.errors import NotFound
from relic_core.reporting.citations.styles import STYLES
from relic_core.services.notebook import evaluation_set
from relic_core.services.notebook.documents import DOCUMENTS, make_document
from relic_core.services.people import NOBODY

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App

_WANTED = {"list": 0, "export": 1, "import": 1, "evaluation-set": 1}
"""What can be done -> how many files it wants."""
_USUAL: dict[str, object] = {"collection": "", "words": "", "verdict": "", "style": STYLES[0], "person": NOBODY}
_USED: dict[str, tuple[str, ...]] = {
    "list": ("collection", "words", "verdict", "person"),
    "export": ("collection", "style", "person"),
    "import": ("person",),
    "evaluation-set": ("collection", "person"),
}
_SHOWN = 60


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "notebook",
        summary="The passages that you kept: list them, save them, take them in, measure on your verdicts.",
        examples=(
            "  python -m relic_core notebook\n"
            "  python -m relic_core notebook list --collection 'Light and water' --words lantern\n"
            "  python -m relic_core notebook export notebook.json\n"
            "  python -m relic_core notebook export notes.docx --collection 'Light and water' --style chicago-notes\n"
            "  python -m relic_core notebook import notebook.json\n"
            "  python -m relic_core notebook export ada.json --person ada@example.org\n"
            "  python -m relic_core notebook evaluation-set verdicts.json\n"
            "  python -m relic_core evaluate relic bm25 --data verdicts.json\n"
            "\n"
            "Passages are kept and written about on the pages of the app. docs/notebook.md says what is in the files."
        ),
    )
    parser.add_argument(
        "action", nargs="?", choices=tuple(_WANTED), default="list", metavar="ACTION", help=", ".join(_WANTED)
    )
    parser.add_argument("file", nargs="*", metavar="FILE", help="a file to write or to read")
    parser.add_argument("--collection", default="", metavar="NAME", help="only this collection: its name or id")
    parser.add_argument("--words", default="", help="list: only notes in which all of these words stand")
    parser.add_argument("--verdict", default="", help="list: only supports, contradicts, unsure or none")
    parser.add_argument(
        "--style", choices=STYLES, default=STYLES[0],
        help="export: how passages are cited in a file that ends in .docx, .md or .csv (default %(default)s)",
    )  # fmt: skip
    console.add_person(parser, "whose notes")
    return parser


def run(app: App, options: Namespace) -> int:
    """Do it."""
    action = options.action
    if len(options.file) != _WANTED[action]:
        options.refuse(f"notebook {action} wants {'one file' if _WANTED[action] else 'no file'}")
    console.refuse_unused(options, f"notebook {action}", _USUAL, _USED[action])
    person = app.people.find(options.person)
    collection_id = _collection(app, options.collection, person) if options.collection else ""
    if action == "list":
        _list(app, options, collection_id, person)
        return 0
    files, path = app.notebook.files, Path(options.file[0])
    if action == "import":
        done = files.take_in_file(path, person)
        taken = console.many(done.new, "note")
        print(f"Taken in: {taken}. Brought up to date: {done.newer:,}. Here already: {done.there:,}.")
    elif action == "export":
        form = next((name for name, card in DOCUMENTS.items() if path.suffix.lower() == f".{card.ending}"), None)
        if form is None and path.suffix.lower() not in {"", ".json"}:
            endings = ", ".join(f".{card.ending}" for card in DOCUMENTS.values())
            options.refuse(f"notebook export writes files that end in {endings} or .json, and {path.name} does not")
        if form is None:
            content = files.export(collection_id, person)
        else:
            content = make_document(app, form, options.style, collection_id, person)
        files.write(path, content)
        print(f"{path} is written.")
    else:
        made = files.evaluation_set(collection_id, person)
        files.write(path, made.content)
        held = f"{console.many(made.examples, 'example')} of {console.many(made.works, 'work')}"
        print(f"{path} holds {held}.{evaluation_set.said(made.left_out)}")
        print(f"Measure on it: python -m relic_core evaluate relic bm25 --data {path}")
    return 0


def _collection(app: App, said: str, person: str) -> str:
    there = [each.collection for each in app.notebook.collections(person)]
    for each in there:
        if said.strip().casefold() in {each.id, each.name.casefold()}:
            return each.id
    known = ", ".join(f"“{each.name}”" for each in there)
    hint = f"There are: {known}." if known else "Keep a passage first."
    raise NotFound(f"There is no collection called “{said:.80}”. {hint}")


def _list(app: App, options: Namespace, collection_id: str, person: str) -> None:
    names = {each.collection.id: each.collection.name for each in app.notebook.collections(person)}
    views = app.notebook.notes(collection_id, words=options.words, verdict=options.verdict, person=person)
    rows = [
        (
            names[view.note.collection_id],
            view.note.kept.title,
            view.note.kept.at,
            view.note.verdict or "",
            ", ".join(view.note.tags),
            _short(view.note.kept.quotation),
            _short(view.note.words),
        )
        for view in views
    ]
    if rows:
        print(console.table(("collection", "work", "at", "verdict", "tags", "passage", "words"), rows))
    else:
        print("No note fits." if options.words or options.verdict or collection_id else "Nothing has been kept yet.")
    for notice in dict.fromkeys(view.notice for view in views if view.notice):
        print(f"\n{notice}")


def _short(text: str) -> str:
    r"""Put a text on one line, and cut it off.

    >>> _short("one\n two")
    'one two'
    """
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
