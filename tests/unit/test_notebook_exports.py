"""The notebook is written as documents, cited by the works of the library."""

import csv
import io

import docx
import pytest

from relic_core.domain import EditionDetails
from relic_core.errors import BadRequest, NotFound
from relic_core.services.notebook_files import DOCUMENTS

TEXT = b"CHAPTER I\n\nThe river rose. Nobody counted.\n\nIt fell.\n"


@pytest.fixture
def kept(bench):
    work = bench.works.add(TEXT, name="ferry.txt", title="The Ferry", author="Ann Else", year=1891).work
    bench.citing.describe(work.id, EditionDetails(publisher="Dent", year=1906))
    first = bench.notebook.keep(work.id, "1.1.1")
    clues = bench.notebook.add_collection("Clues & signs")
    second = bench.notebook.keep(work.id, "1.1.2", 2, collection_id=clues.id)
    return first, second


def test_a_collection_is_written_with_citations_of_its_editions(bench, kept):
    made = bench.notebook_files.document("markdown", "mla", kept[1].collection_id).decode()
    assert made.startswith("# Clues \\& signs\n\n## 1. *The Ferry*,")
    assert "> Nobody counted.\n>\n> It fell. (Else, ch. 1, pars. 1-2)" in made
    assert "- Else, Ann. *The Ferry*. 1891. Dent, 1906." in made
    assert "The river rose" not in made


def test_all_notes_are_one_document_and_one_table(bench, kept):
    made = bench.notebook_files.document("markdown", "chicago-author-date").decode()
    headings = [line for line in made.splitlines() if line.startswith("#")]
    assert headings[:2] == ["# Notebook", "## My notes"]
    assert "## Clues \\& signs" in headings
    assert made.count("Dent.") == 1
    table = bench.notebook_files.document("csv", "mla").decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert {row["collection"] for row in rows} == {"My notes", "Clues & signs"}
    assert {row["citation"] for row in rows} == {"(Else, ch. 1, par. 1)", "(Else, ch. 1, pars. 1-2)"}


def test_documents_are_set_as_in_print_where_that_is_asked_for_and_tables_and_notes_stay_to_the_letter(bench):
    work = bench.works.add(b'CHAPTER I\n\n"It\'s gone--"\n', name="typed.txt", title="Typed").work
    note = bench.notebook.keep(work.id, "1.1.1")
    assert "It's gone" in bench.notebook_files.document("markdown", "mla").decode()
    assert "It’s gone—" in bench.notebook_files.document("markdown", "mla", as_printed=True).decode()
    table = bench.notebook_files.document("csv", "mla", as_printed=True).decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(table, newline=""))
    assert row["quotation"] == note.kept.quotation == '"It\'s gone--"'


def test_the_table_calls_retrievers_what_the_pages_call_them(bench, kept):
    label = next(card.label for card in bench.retrievers.cards() if card.name == "bm25")
    work_id = kept[0].kept.work_id
    bench.notebook.keep(work_id, "1.1.2", origin="find", claim_text="Nobody.", retriever="bm25", rank=2)
    table = bench.notebook_files.document("csv", "mla", labels={"bm25": label}).decode("utf-8-sig")
    assert f"{label}, rank 2." in table
    assert table.count("Met in reading.") == 2


def test_word_opens_and_has_the_words(bench, kept):
    document = docx.Document(io.BytesIO(bench.notebook_files.document("word", "chicago-notes", kept[0].collection_id)))
    assert "“The river rose.”" in [paragraph.text for paragraph in document.paragraphs]
    assert document.core_properties.title == "My notes"


def test_an_empty_notebook_is_written_too(bench):
    for form in DOCUMENTS:
        assert bench.notebook_files.document(form, "mla")


def test_a_removed_work_is_still_cited(bench, kept):
    bench.works.remove(kept[0].kept.work_id)
    assert bench.notebook_files.works_cited(kept)[kept[0].kept.work_id].details.publisher == "Dent"


def test_what_is_not_there_is_said(bench, kept):
    with pytest.raises(NotFound):
        bench.notebook_files.document("markdown", "mla", "never")
    with pytest.raises(BadRequest, match="style"):
        bench.notebook_files.document("markdown", "apa")
