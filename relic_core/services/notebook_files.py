"""The notebook as files: JSON out and in, documents to write on with, and verdicts as an evaluation set."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from relic_core import domain
from relic_core.domain import BenchmarkCard, CitedWork, Note, Work
from relic_core.errors import BadBenchmark
from relic_core.evaluation.benchmarks.opened import Opened, book_of
from relic_core.formats import evaluation_set
from relic_core.formats.evaluation_set import EvaluationSet
from relic_core.formats.files import read_bytes, write_whole
from relic_core.formats.notebook import Section, notes_of, read_notebook, write_notebook
from relic_core.ports import Benchmark
from relic_core.reporting.notebook_exports import csv, markdown, word
from relic_core.reporting.passages import printed_words
from relic_core.services.notebook import NoteEditions, new_id
from relic_core.store.notes import CollectionRows, NoteRows

NOTEBOOK = BenchmarkCard(
    name="notebook",
    label="Your notebook",
    description="Claims with the passages that you judged for them: supporting 2, unsure 1, contradicting 0.",
    pool="whole work",
    main_metric="ndcg@10",
    source="The notebook",
    licence="The reader's own",
    citation="None",
)

DocumentForm = Literal["markdown", "word", "csv"]
ALL_NOTES = "Notebook"


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

LARGEST = 50_000_000
"""In bytes: some ten thousand notes."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What a file added: notes that are new, that were changed there later, and that were here and stay."""

    new: int
    newer: int
    there: int


class NotebookFiles:
    """What goes out of the notebook, and comes in."""

    save = staticmethod(write_whole)

    def __init__(
        self,
        notes: NoteRows,
        collections: CollectionRows,
        load_works: Callable[[Iterable[str]], Mapping[str, Work]],
        editions: Callable[[], NoteEditions],
        cited: Callable[[Collection[str]], Mapping[str, CitedWork]],
    ) -> None:
        self._notes, self._collections = notes, collections
        self._load_works, self._editions, self._cited = load_works, editions, cited

    def document(
        self,
        form: DocumentForm,
        style: str,
        collection_id: str = "",
        person: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        as_printed: bool = False,
    ) -> bytes:
        """Make a document of the notes in their order, of all collections or of one, with citations in a style.

        - `as_printed`: quotations have the dashes and quotation marks of print. A table has them to the letter.
        """
        sections = self.sections(collection_id, person)
        if as_printed and form != "csv":
            sections = tuple(section._replace(notes=tuple(map(_as_printed, section.notes))) for section in sections)
        works = self.works_cited(notes_of(sections))
        title = "" if collection_id else ALL_NOTES
        match form:
            case "csv":
                return csv(sections, style, works, labels=labels).encode()
            case "word":
                return word(sections, style, works, title=title)
            case _:
                return markdown(sections, style, works, title=title).encode()

    def works_cited(self, notes: Iterable[Note]) -> dict[str, CitedWork]:
        """Give the works of notes as they are cited, by the ids that the notes were kept with.

        A text that was added here under another id is cited as it is here.
        """
        editions = self._editions()
        here = {note.kept.work_id: editions.view(note).work_id or note.kept.work_id for note in notes}
        works = self._cited(set(here.values()))
        return {kept: works[known] for kept, known in here.items() if known in works}

    def export(self, collection_id: str = "", person: str = "") -> bytes:
        """Write the notebook, or one collection, as JSON."""
        return write_notebook(self.sections(collection_id, person))

    def sections(self, collection_id: str = "", person: str = "") -> tuple[Section, ...]:
        """Give the notebook, or one collection, with its notes in order. Raises NotFound."""
        if collection_id:
            chosen = [self._collections.get(collection_id, person)]
        else:
            chosen = [each.collection for each in self._collections.all(person)]
        return tuple(Section(collection, self._notes.all(person, collection.id)) for collection in chosen)

    def evaluation_set(self, collection_id: str = "", person: str = "") -> EvaluationSet:
        """Make an evaluation set of the passages that support their claims. Raises BadRequest: there is none."""
        return evaluation_set.make(self._judged(collection_id, person), self._load_works)

    def graded_set(self, collection_id: str = "", person: str = "") -> tuple[Benchmark, str]:
        """Make a benchmark of all verdicts by grade, and say in a sentence what was left out; raises as the above."""
        contexts, works, left_out = evaluation_set.graded(self._judged(collection_id, person), self._load_works)
        books = [book_of(work_id, work) for work_id, work in works.items()]
        return Opened(NOTEBOOK, contexts, books=books, works=works), evaluation_set.in_words(left_out)

    def examples(self, collection_id: str = "", person: str = "") -> tuple[int, str]:
        """Say how many notes can be examples of such a set, and in a sentence what is left out; loads no work."""
        by_work, left_out = evaluation_set.sort_out(self._judged(collection_id, person))
        return sum(map(len, by_work.values())), evaluation_set.in_words(left_out)

    def _judged(self, collection_id: str, person: str) -> list[tuple[Note, str]]:
        editions, sections = self._editions(), self.sections(collection_id, person)
        return [(note, editions.view(note).work_id) for note in notes_of(sections)]

    def take_in(self, data: bytes, name: str = "The file", person: str = "") -> TakenIn:
        """Take in a notebook that was saved before, here or elsewhere, all of it or nothing.

        A note that is not here is added at the end of its collection, which is found by its id or name, or made. One
        that is here takes words, tags and verdict from the file if it was changed there later. So the same file twice
        adds nothing.
        """
        if len(data) > LARGEST:
            raise BadBenchmark(f"{name} is too large for a notebook: at most {LARGEST:,} bytes are read.")
        sections = read_notebook(data, name, person=person)
        known = self._notes.known(person)
        live = {note.id for note in self._notes.all(person)}
        homes = _Homes(self._notes, self._collections, person)
        notes: list[Note] = []
        new = newer = there = 0
        for section in sections:
            for note in section.notes:
                here = known.get(note.id)
                if here is None or note.id not in live:
                    home, position = homes.end_of(section.collection)
                    best = note if here is None or note.updated > here.updated else here
                    notes.append(replace(best, collection_id=home, position=position))
                    new += 1
                elif note.updated > here.updated:
                    notes.append(
                        replace(here, words=note.words, tags=note.tags, verdict=note.verdict, updated=note.updated)
                    )
                    newer += 1
                else:
                    there += 1
            if not section.notes:
                homes.of(section.collection)
        self._notes.take_in(homes.made, notes)
        return TakenIn(new, newer, there)

    def take_in_file(self, path: Path, person: str = "") -> TakenIn:
        """Take in a notebook from a file; raises NotFound too, else as `take_in`."""
        return self.take_in(read_bytes(path, at_most=LARGEST), str(path), person)

    def file_name(self, end: str, collection_id: str = "", person: str = "") -> str:
        """Name a file of the notebook: "notebook.json", "notebook light-and-water.json"."""
        if not collection_id:
            return f"notebook.{end}"
        name = self._collections.get(collection_id, person).name
        slug = re.sub(r"[\W_]+", "-", name.casefold()).strip("-")[:60]
        return f"notebook {slug}.{end}" if slug else f"notebook.{end}"


class _Homes:
    """Finds the collections here that those of a file mean, and makes those that are lacking."""

    def __init__(self, notes: NoteRows, collections: CollectionRows, person: str) -> None:
        counts = collections.all(person)
        self._rows, self._person = notes, person
        self._by_id = {each.collection.id: each.collection for each in counts}
        self._by_name = {each.collection.name.casefold(): each.collection for each in counts}
        self._ends: dict[str, float] = {}
        self.made: list[domain.Collection] = []

    def of(self, collection: domain.Collection) -> domain.Collection:
        """Give the collection here."""
        here = self._by_id.get(collection.id) or self._by_name.get(collection.name.casefold())
        if here is None:
            here = replace(collection, id=new_id())
            self.made.append(here)
            self._by_id[collection.id] = self._by_name[here.name.casefold()] = here
        return here

    def end_of(self, collection: domain.Collection) -> tuple[str, float]:
        """Give the id of the collection here, and the next place at its end."""
        home = self.of(collection).id
        if home not in self._ends:
            notes = self._rows.all(self._person, home) if self._by_id.get(home) else ()
            self._ends[home] = max((note.position for note in notes), default=0.0)
        self._ends[home] += 1
        return home, self._ends[home]


def _as_printed(note: Note) -> Note:
    return replace(note, kept=replace(note.kept, quotation=printed_words(note.kept.quotation)))
