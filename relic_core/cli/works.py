"""Works: adding, listing, correcting, citing, removing and preparing them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, get_args

import click

from relic_core.cli import console
from relic_core.cli.commands import Words, command, engine_option, format_option
from relic_core.cli.console import note
from relic_core.domain.figures import many
from relic_core.errors import BadRequest, BadWeights, RelicError
from relic_core.installed import COMMAND
from relic_core.reporting.citations.exports import FORMATS
from relic_core.reporting.citations.styles import STYLES
from relic_core.services.catalogue import RelicSplit, Shelved, parse_number
from relic_core.services.citing import guess
from relic_core.services.works import Added

if TYPE_CHECKING:
    from relic_core.domain import WorkSummary
    from relic_core.services.indexing import Indexes
    from relic_core.wiring import App

_BY_NUMBER = ("gutenberg:", "https://www.gutenberg.org/", "http://www.gutenberg.org/", "https://gutenberg.org/")
_OUTCOMES = {
    "added": "added",
    "already": "in the library already",
    "corrected": "in the library already, its description corrected,",
    "restored": "back in the library",
    "cut again": "cut into sentences anew",
}
_NEW = ("added", "restored", "cut again")
"""What became of a text that may have to be prepared."""
_PLAIN = ("text", "markdown", "html")
_DESCRIBED = ("title", "author", "translator", "year")
_EDITION = {
    "editor": 'who edited it; "" where nobody did.',
    "collection": "the book that a story or a poem is collected in.",
    "volume": "which volume of several this is.",
    "volumes": "how many volumes the edition has; 0 where one.",
    "edition": "2nd, for example.",
    "publisher": "of this edition.",
    "place": "where it was published.",
    "edition-year": "when this edition was published; 0 where unknown.",
    "container": 'what holds the text: "Project Gutenberg".',
    "number": "its number there.",
    "url": "its address there.",
    "accessed": "when it was taken from there, as 2026-11-05.",
    "language": "of the text.",
}
_work_argument = click.argument("work", help="Its id, the beginning of its id, or its title.")


@command("setup")
@engine_option
def setup(app: App) -> None:
    """Add the sample work and prepare it for searching; does nothing where that has been done."""
    set_up(app)


def set_up(app: App) -> None:
    """Add the sample work and prepare it."""
    work = app.ensure_sample()
    if work is None:
        print("The sample work was removed from this library; it stays away.")
        return
    try:
        missing = app.indexes.missing(work.id)
        if missing:
            _build(app.indexes, work, missing)
    except BadWeights as error:
        # The app is worth starting all the same: searching by words needs no model.
        note(f"Searching by meaning is not available. {error}")
    print(f"{work.title} is ready to search.")


@command(
    "add emma.txt hamlet.xml",
    "add gutenberg:1342",
    "add --gutenberg 1342 2701",
    'add draft.txt --title "The Ferry" --author "A. Author" --year 1891',
    "add ~/texts",
    "RELIC_LIBRARY=~/texts python -m relic_core add --all",
)
@click.argument("paths", nargs=-1, help="Files, folders, names in RELIC_LIBRARY, gutenberg:NUMBER.")
@click.option("--gutenberg", is_flag=True, help="What is named are numbers of Project Gutenberg.")
@click.option("--all", "everything", is_flag=True, help="Add every file of RELIC_LIBRARY.")
@click.option("--title", default="", help="The title, in place of what the file says or the library has.")
@click.option("--author", default="", help="The author.")
@click.option("--translator", default="", help="The translator.")
@click.option("--year", type=int, help="Year of first publication.")
def add(app: App, paths: Sequence[str], gutenberg: bool, everything: bool, **described: Any) -> int:
    """Add texts to the library.

    Files (.txt, .epub, TEI .xml), folders of them, names of files in RELIC_LIBRARY, or books of Project Gutenberg. One
    that fails does not stop the rest.
    """
    sources = _sources(app, paths, gutenberg=gutenberg, everything=everything)
    if len(sources) > 1 and any(value not in ("", None) for value in described.values()):
        raise click.UsageError(
            f"--title, --author, --translator and --year describe one text, and {len(sources)} were given."
        )
    failed = 0
    new: list[WorkSummary] = []
    with console.ProgressLine("Adding") as progress:
        for number, source in enumerate(sources):
            try:
                if isinstance(source, int):
                    failed += _fetch(app, source, described, new, progress.step(number, len(sources)))
                else:
                    progress(number, len(sources), source.name)
                    _show_added(app.works.add(source, **described), new)
            except RelicError as error:
                failed += 1
                note(f"{source}: {error}")
    if failed and len(sources) > 1:
        note(f"{failed} of {len(sources)} texts could not be added.")
    lacking = set(app.indexes.unprepared(new)) if new else set()
    if named := [work for work in new if work.id in lacking]:
        what, argument = (named[0].title, named[0].id) if len(named) == 1 else (f"{len(named):,} works", "--all")
        print(f"Not yet found by meaning: {what}. Prepare for it: {COMMAND} index {argument}")
    return 1 if failed else 0


def _sources(app: App, paths: Sequence[str], *, gutenberg: bool, everything: bool) -> list[Path | int]:
    if everything:
        if app.settings.library is None:
            raise BadRequest(
                "--all adds the library folder, and RELIC_LIBRARY names none. Set it to a folder of texts."
            )
        return list(app.works.texts_in(app.settings.library))
    if not paths:
        raise click.UsageError("Nothing to add was named; give a file or a folder, or --all for all of RELIC_LIBRARY.")
    found: list[Path | int] = []
    for given in paths:
        if gutenberg or given.lower().startswith(_BY_NUMBER):
            found.append(parse_number(given))
        else:
            found.extend(app.works.find_files(given))
    return found


def _show_added(added: Added, new: list[WorkSummary]) -> None:
    work = added.work
    size = f"{many(work.chapters, 'chapter')}, {many(work.sentences, 'sentence')}"
    print(f"{work.title}: {_OUTCOMES[added.outcome]} as {work.id} ({size})")
    if added.notice:
        note(f"{work.title}: {added.notice}")
    if added.outcome in _NEW:
        new.append(work)


def _fetch(
    app: App, number: int, described: dict[str, Any], new: list[WorkSummary], progress: Callable[..., None]
) -> int:
    """Add a book of Project Gutenberg; gives the number of failures."""
    tally = app.catalogue.fetch([app.catalogue.item_of_number(number) | described], progress)
    for added in (*tally.added, *(Added(work, "already") for work in tally.already)):
        _show_added(added, new)
    note(*tally.notices, *(f"Project Gutenberg {number}: {reason}" for reason in tally.failed))
    return tally.failures


@command(
    "catalogue",
    "catalogue --split test",
    "catalogue --add emma 'The Scarlet Letter'",
    "catalogue --split validation --add",
)
@click.option("--split", type=click.Choice((*get_args(RelicSplit), "all")), help="Only this part of the data set.")
@click.option("--add", type=Words(0), metavar="[NAME]...", help="Add these, by name or title; with --split, all of it.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with everything known of each.")
def catalogue(app: App, split: str | None, add: tuple[str, ...] | None, as_json: bool) -> int:
    """List the 79 works that RELiC was built from, or add some of them.

    They come from RELIC_LIBRARY where it has NAME.txt, else from Project Gutenberg. Stopped and started again, it goes
    on where it was.
    """
    shelf = [each for each in app.catalogue.shelf() if split in {None, "all", each.entry.split}]
    if add is not None:
        if not add and split is None:
            raise click.UsageError("--add wants names of works, or --split for a part of the catalogue.")
        return _add_of_catalogue(app, add, shelf)
    if as_json:
        rows = [
            {
                **dataclasses.asdict(each.entry),
                "origin": each.origin,
                "work": each.work.id if each.work else None,
                "path": str(each.path) if each.path else None,
            }
            for each in shelf
        ]
        print(console.as_json(rows))
        return 0
    entries = [(each.entry, _state(each)) for each in shelf]
    lines = [(card.slug, str(card.year), card.author, card.title, card.split, state) for card, state in entries]
    print(console.table(("name", "year", "author", "title", "split", "state"), lines))
    return 0


def _add_of_catalogue(app: App, named: Sequence[str], shelf: Sequence[Shelved]) -> int:
    slugs = list(named)
    if not slugs:
        slugs = [each.entry.slug for each in shelf if each.origin != "none"]
        if beyond := [f"{each.entry.title} ({_state(each)})" for each in shelf if each.origin == "none"]:
            note(f"Not to be had from here: {', '.join(beyond)}.")
    with console.ProgressLine("Adding") as progress:
        tally = app.catalogue.fetch(app.catalogue.items(slugs), progress)
    print(tally.note(), file=sys.stderr if tally.failures else sys.stdout)
    return 1 if tally.failures else 0


def _state(each: Shelved) -> str:
    if each.work is not None:
        return f"stored as {each.work.id}"
    if each.origin == "folder":
        return "in the library folder"
    if each.origin == "gutenberg":
        return f"Project Gutenberg {each.entry.gutenberg}"
    if each.entry.free_in_us is not None:
        return f"in copyright in the US until {each.entry.last_day}"
    return "no number known"


@command("works", "works --removed", "works --json")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with everything known of each.")
@click.option("--removed", is_flag=True, help="Those that were removed and can be restored.")
def works(app: App, as_json: bool, removed: bool) -> None:
    """List the works of the library by title."""
    found = app.works.removed() if removed else app.works.summaries()
    if as_json:
        print(console.as_json(found))
    elif found:
        heads = ("id", "title", "author", "year", "format", "chapters", "sentences", "words")
        lines = [
            tuple(str(work.year or "") if name == "year" else getattr(work, name) for name in heads) for work in found
        ]
        print(console.table(heads, lines))
    elif removed:
        print("No work has been removed.")
    else:
        print(f"The library has no works yet. Add one: {COMMAND} add FILE")


def _edition_options(function: Any) -> Any:
    for name, what in reversed(_EDITION.items()):
        kind = int if name in {"volumes", "edition-year"} else str
        function = click.option(f"--{name}", type=kind, help=f"Of the edition: {what}")(function)
    return function


@command(
    'describe emma --author "Jane Austen" --year 1815',
    'describe emma --translator ""',
    'describe emma --publisher "Oxford University Press" --edition-year 2008',
)
@_work_argument
@click.option("--title", help="The title.")
@click.option("--author", help='The author; "" where unknown.')
@click.option("--translator", help='The translator; "" where there is none.')
@click.option("--year", type=int, help="Year of first publication; 0 where unknown.")
@_edition_options
def describe(app: App, work: str, **given: Any) -> None:
    """Correct what is said of a work, and of its edition for citations; what is not named stays."""
    given = {name: value for name, value in given.items() if value is not None}
    facts = {name: given.pop(name) for name in _DESCRIBED if name in given}
    if not facts and not given:
        raise click.UsageError(
            "Nothing to correct was given; name --title, --author, --publisher or another of the options."
        )
    details = _details(given)
    found = app.works.resolve(work)
    if details:
        app.citing.describe(found.id, dataclasses.replace(app.citing.work(found.id).details, **details))
    if facts:
        facts = {name: getattr(found, name) for name in _DESCRIBED} | facts
        found = app.works.describe(found.id, **facts | {"year": facts["year"] or None})
    translated = f", translated by {found.translator}" if found.translator else ""
    print(f"{found.id}: {', '.join(filter(None, [found.title, found.author, str(found.year or '')]))}{translated}")
    if details:
        print(app.citing.citation(found.id, "mla").forms[-1].text)


def _details(given: dict[str, Any]) -> dict[str, Any]:
    details = {"year" if name == "edition_year" else name: value for name, value in given.items()}
    for name in {"year", "volumes"} & set(details):
        details[name] = details[name] or None
    if "accessed" in details:
        accessed = details["accessed"]
        try:
            details["accessed"] = date.fromisoformat(accessed) if accessed else None
        except ValueError:
            raise BadRequest(f"'{accessed[:40]}' is not a date. Write year, month and day, as 2026-11-05.") from None
    return details


@command(
    "cite emma",
    "cite emma 8.3.2 --sentences 2 --style chicago-notes",
    "cite emma --format ris > emma.ris",
    more="The formats text, markdown and html give every form of the style; the others a file that cites the work.",
)
@_work_argument
@click.argument("at", default="", metavar="[AT]", help="Address of the passage, 8.3.2 for example.")
@click.option("--sentences", type=int, default=1, show_default=True, metavar="N", help="Of the passage.")
@click.option("--style", type=click.Choice(STYLES), default=STYLES[0], show_default=True)
@click.option("--as-printed", is_flag=True, help="With the dashes and quotation marks of print.")
@format_option(*_PLAIN, *FORMATS)
def cite(app: App, work: str, at: str, sentences: int, style: Any, as_printed: bool, form: str) -> None:
    """Cite a work, or a passage of it, in MLA or Chicago style, or as a file for Zotero, LaTeX or Pandoc."""
    found = app.citing.citation(app.works.resolve(work).id, style, at=at, length=sentences, as_printed=as_printed)
    if form in FORMATS:
        print(FORMATS[form].write([found.work]), end="")
        return
    for each in found.written:
        print(f"{each.label}:\n{indent(getattr(each, form), '  ')}")
    if found.work.guessed:
        note(guess(found.work))


@command("remove emma")
@_work_argument
def remove(app: App, work: str) -> None:
    """Take a work out of the library; its searches are kept, and `restore` puts it back."""
    removed = app.works.remove(app.works.resolve(work).id)
    print(f"{removed.title} was removed. To put it back: {COMMAND} restore {removed.id}")


@command(
    "index averhythe",
    'index "War and Peace" --retriever dense-relic --retriever bm25',
    "index --all",
    "index --all --engine dask://head:8786",
)
@click.argument("work", required=False, help="Its id, the beginning of its id, or its title.")
@click.option("--all", "everything", is_flag=True, help="Every work of the library that is not prepared yet.")
@click.option("--retriever", "names", multiple=True, metavar="NAME", help="Only this one; may be given several times.")
@engine_option
def index(app: App, work: str | None, everything: bool, names: tuple[str, ...]) -> int:
    """Prepare works for searching by meaning; searching by words needs no preparation. Ctrl-C keeps what is done."""
    if everything == (work is not None):
        raise click.UsageError("Give a WORK or --all.")
    app.works.find_broken_words()
    indexes = app.indexes.in_use
    if work is not None:
        found = app.works.resolve(work)
        note(*filter(None, [app.works.foreign(found.id)]))
        _build(indexes, found, names or indexes.missing(found.id))
        print(f"{found.title} is ready to search.")
        return 0
    every = app.works.summaries()
    failed = 0
    for number, each in enumerate(every if not app.settings.engine else (), start=1):
        try:
            wanted = names or indexes.missing(each.id)
            foreign = app.works.foreign(each.id) if wanted else ""
            note(*[f"{each.title}: {foreign}"] * bool(foreign))
            _build(indexes, each, wanted, of=f" ({number} of {len(every)})")
            print(f"{each.title} is ready to search.", flush=True)
        except (BadRequest, BadWeights):
            raise  # it would be the same with the next
        except RelicError as error:
            failed += 1
            note(f"{each.title}: {error}")
    if app.settings.engine:
        failed = _build_many(indexes, every, names)
    if indexes.library_due():
        with console.ProgressLine("Preparing the library as a whole") as progress:
            indexes.build_library(progress)
    ready = len(every) - failed
    print(f"{many(ready, 'work is', 'works are')} ready to search.")
    return 1 if failed else 0


def _build_many(indexes: Indexes, works: Sequence[WorkSummary], names: Sequence[str]) -> int:
    """Prepare works on an engine; gives how many could not be prepared."""
    failed = 0
    with console.ProgressLine(f"Preparing {many(len(works), 'work')}") as progress:
        for work, problem in indexes.build_many([each.id for each in works], names, progress):
            failed += bool(problem)
            if problem:
                note(f"{work.title}: {problem}")
            else:
                print(f"{work.title} is ready to search.", flush=True)
    return failed


def _build(indexes: Indexes, work: WorkSummary, names: Sequence[str], *, of: str = "") -> None:
    with console.ProgressLine(f"Preparing {work.title}{of}") as progress:
        indexes.build(work.id, names, progress)
