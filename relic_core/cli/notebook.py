"""The notebook: list the kept passages, save them, take them in, make an evaluation set of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import Actions, format_option, metric_option, person_option, show
from relic_core.cli.console import shorten
from relic_core.domain import DEFAULT_RETRIEVERS, SHAPES
from relic_core.domain.figures import many
from relic_core.errors import NotFound
from relic_core.installed import COMMAND
from relic_core.reporting import tables
from relic_core.reporting.citations.styles import STYLES
from relic_core.services.notebook_files import DOCUMENTS

if TYPE_CHECKING:
    from relic_core.wiring import App

_SHOWN = 60

notebook = Actions(
    "notebook",
    default="list",
    help="The passages that you kept: list them, save them, take them in, measure on your verdicts.",
    epilog=show(
        "notebook",
        "notebook list --collection 'Light and water' --words lantern",
        "notebook export notebook.json",
        "notebook export notes.docx --collection 'Light and water' --style chicago-notes",
        "notebook import notebook.json",
        "notebook export ada.json --person ada@example.org",
        "notebook measure",
        "notebook measure bm25,dense-relic --collection 'Light and water'",
        "notebook evaluation-set verdicts.json",
        "evaluate relic bm25 --data verdicts.json",
        more="Passages are kept and written about on the pages of the app. docs/notebook.md says what is in the files.",
    ),
)
_file_argument = click.argument("file", type=Path)
_collection_option = click.option(
    "--collection", default="", metavar="NAME", help="Only this collection: its name or id."
)
_person_option = person_option("Whose notes")


@notebook.command("list")
@_collection_option
@click.option("--words", default="", help="Only notes in which all of these words stand.")
@click.option("--verdict", default="", help="Only supports, contradicts, unsure or none.")
@_person_option
def list_notes(app: App, collection: str, words: str, verdict: str, person: str) -> None:
    """List the kept passages."""
    collection_id, person = _resolve(app, collection, person)
    names = {each.collection.id: each.collection.name for each in app.notebook.collections(person)}
    views = app.notebook.notes(collection_id, words=words, verdict=verdict, person=person)
    rows = [
        (
            names[view.note.collection_id],
            view.note.kept.title,
            view.note.kept.at,
            view.note.verdict or "",
            ", ".join(view.note.tags),
            shorten(view.note.kept.quotation, _SHOWN),
            shorten(view.note.words, _SHOWN),
        )
        for view in views
    ]
    if rows:
        print(console.table(("collection", "work", "at", "verdict", "tags", "passage", "words"), rows))
    else:
        print("No note fits." if words or verdict or collection_id else "Nothing has been kept yet.")
    for notice in dict.fromkeys(view.notice for view in views if view.notice):
        print(f"\n{notice}")


@notebook.command("export")
@_file_argument
@_collection_option
@click.option(
    "--style",
    type=click.Choice(STYLES),
    default=STYLES[0],
    show_default=True,
    help="How passages are cited in a file that ends in .docx, .md or .csv.",
)
@click.option("--as-printed", is_flag=True, help="With the dashes and quotation marks of print, in .docx and .md.")
@_person_option
def export(app: App, file: Path, collection: str, style: Any, as_printed: bool, person: str) -> None:
    """Write the notes into a file, whose name says of which kind."""
    collection_id, person = _resolve(app, collection, person)
    form = next((name for name, card in DOCUMENTS.items() if file.suffix.lower() == f".{card.ending}"), None)
    if form is not None:
        content = app.notebook_files.document(
            form,
            style,
            collection_id,
            person,
            labels={card.name: card.label for card in app.retrievers.cards()},
            as_printed=as_printed,
        )
    elif file.suffix.lower() in {"", ".json"}:
        content = app.notebook_files.export(collection_id, person)
    else:
        endings = ", ".join(f".{card.ending}" for card in DOCUMENTS.values())
        raise click.UsageError(f"notebook export writes files that end in {endings} or .json, and {file.name} does not")
    app.notebook_files.save(file, content)
    print(f"{file} is written.")


@notebook.command("import")
@_file_argument
@_person_option
def import_notes(app: App, file: Path, person: str) -> None:
    """Take in the notes of a file."""
    done = app.notebook_files.take_in_file(file, app.people.find(person))
    print(f"Taken in: {many(done.new, 'note')}. Brought up to date: {done.newer:,}. Here already: {done.there:,}.")


@notebook.command("evaluation-set")
@_file_argument
@_collection_option
@_person_option
def make_evaluation_set(app: App, file: Path, collection: str, person: str) -> None:
    """Make a benchmark of the passages that support a claim by your verdict."""
    made = app.notebook_files.evaluation_set(*_resolve(app, collection, person))
    app.notebook_files.save(file, made.content)
    held = f"{many(made.examples, 'example')} of {many(made.works, 'work')}"
    print(f"{file} holds {held}.{made.omissions}")
    print(f"Measure on it: {COMMAND} evaluate relic bm25 --data {file}")


@notebook.command("measure")
@click.argument("retriever", default=",".join(DEFAULT_RETRIEVERS), help="One, several with commas between, or all.")
@_collection_option
@_person_option
@metric_option
@format_option(*tables.FORMATS)
def measure(
    app: App, retriever: str, collection: str, person: str, metrics: Sequence[str], form: tables.Format
) -> None:
    """Measure retrievers on your verdicts: supports counts 2, unsure 1, contradicts 0."""
    from relic_core.services.evaluation import figures, named_retrievers

    names = figures.columns(metrics or ("ndcg@10", "recall@10", "success@10", "mrr"))
    benchmark, left_out = app.notebook_files.graded_set(*_resolve(app, collection, person))
    measured = []
    for each in named_retrievers(retriever):
        with console.ProgressLine(each) as progress:
            one = app.measuring.measure(benchmark, each, SHAPES[-1], progress=progress)
        measured.append((one.run, one.outcomes))
    print(tables.write(figures.tables(measured, names=names), form))
    if left_out:
        console.note(left_out.strip())


def _resolve(app: App, collection: str, person: str) -> tuple[str, str]:
    """Find the collection and the person that are meant; gives their ids. Raises NotFound: there is none."""
    person = app.people.find(person)
    if not collection:
        return "", person
    there = [each.collection for each in app.notebook.collections(person)]
    for each in there:
        if collection.strip().casefold() in {each.id, each.name.casefold()}:
            return each.id, person
    known = ", ".join(f"“{each.name}”" for each in there)
    hint = f"There are: {known}." if known else "Keep a passage first."
    raise NotFound(f"There is no collection called “{collection:.80}”. {hint}")
