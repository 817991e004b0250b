"""The notebook, or a collection of it, as documents to read and to write on with: Markdown, Word, a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from relic_core.reporting.notebook.markdown import markdown
from relic_core.reporting.notebook.table import csv
from relic_core.reporting.notebook.word import word
from relic_core.services.notebook.standing import Editions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import CitedWork, Note
    from relic_core.wiring import App

DocumentForm = Literal["markdown", "word", "csv"]
ALL_NOTES = "Notebook"
"""What a document of all collections is called."""


class DocumentCard(NamedTuple):
    """A form of document: what it is called with what it is for, the ending of its files, and their type."""

    label: str
    ending: str
    mime: str


DOCUMENTS: dict[DocumentForm, DocumentCard] = {
    "word": DocumentCard(
        "Word, to write on in", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    ),
    "markdown": DocumentCard("Markdown, for Obsidian or Pandoc", "md", "text/markdown"),
    "csv": DocumentCard("CSV, a table for spreadsheets", "csv", "text/csv"),
}


def make_document(app: App, form: DocumentForm, style: str, collection_id: str = "", person: str = "") -> bytes:
    """Make a document of the notes in their order, with citations in a style.

    - `collection_id`: the collection; all notes where empty.
    - `person`: whose notes, where people sign in.

    Raises NotFound: there is no such collection.
    Raises BadRequest: there is no such style.
    """
    sections = app.notebook.files.sections(collection_id, person)
    editions = cited_by(app, (note for section in sections for note in section.notes))
    if form == "csv":
        labels = {card.name: card.label for card in app.indexes.cards()}
        return csv(sections, style, editions, labels=labels).encode()
    title = "" if collection_id else ALL_NOTES
    if form == "word":
        return word(sections, style, editions, title=title)
    return markdown(sections, style, editions, title=title).encode()


def cited_by(app: App, notes: Iterable[Note]) -> dict[str, CitedWork]:
    """Give the works of notes as they are cited, by the ids that the notes were kept with.

    A text that was added here under another id is cited as it is here.
    """
    standing = Editions(app)
    here = {note.kept.work_id: standing.view(note).work_id or note.kept.work_id for note in notes}
    works = app.citing.works(set(here.values()))
    return {kept: works[known] for kept, known in here.items() if known in works}
