"""What is known of editions is derived from their source, corrected by the scholar, and cited."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from relic_core.domain import EditionDetails
from relic_core.errors import BadRequest, NotFound
from tests.making_books import epub

TODAY = datetime.now(UTC).date()
HEADER = (
    "The Project Gutenberg EBook of The Ferry, by A. Nobody\n\nTitle: The Ferry\n\nAuthor: A. Nobody\n\n"
    "Release Date: August 11, 2004 [EBook #46]\n\nLanguage: English\n\n"
    "*** START OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***\n\n"
    "CHAPTER I\n\nThe river rose. Nobody counted.\n\nIt fell.\n\nCHAPTER II\n\nThe lanterns went out.\n\n"
    "*** END OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***\n"
)


@pytest.fixture
def ferry(bench):
    return bench.works.add(HEADER.encode(), name="ferry.txt").work


def test_a_file_of_gutenberg_says_its_number_and_its_year(bench, ferry):
    assert bench.citing.work(ferry.id).details == EditionDetails(
        container="Project Gutenberg", number="46", url="https://www.gutenberg.org/ebooks/46", year=2004,
        accessed=ferry.added.date(), language="English",
    )  # fmt: skip


def test_a_work_fetched_by_number_is_known_by_its_source(bench):
    source = "Project Gutenberg 1342, https://mirror.example/pg1342.txt, fetched 5 November 2026"
    work = bench.works.add(b"It is a truth.", name="x.txt", came_from=source).work
    details = bench.citing.work(work.id).details
    assert (details.container, details.number) == ("Project Gutenberg", "1342")
    assert details.url == "https://www.gutenberg.org/ebooks/1342"


def test_an_address_in_the_source_is_the_address_and_a_bare_file_says_nothing(bench):
    there = "https://standardebooks.org/ebooks/jane-austen/emma"
    work = bench.works.add(b"It rained.", name="x.txt", came_from=f"From {there}, by hand").work
    details = bench.citing.work(work.id).details
    assert (details.container, details.url) == ("Standard Ebooks", there)
    own = bench.works.add(b"It snowed.", name="own.txt").work
    assert bench.citing.work(own.id).details == EditionDetails()


def test_an_epub_says_who_published_and_edited_it(bench):
    people = '<dc:contributor o:role="edt">Stafford, Fiona</dc:contributor><dc:creator>Jane Austen</dc:creator>'
    said = (
        f"<dc:title>Emma</dc:title>{people}<dc:publisher>Penguin \x09 Books</dc:publisher><dc:language>en</dc:language>"
    )
    work = bench.works.add(epub(["<p>It rained.</p>"], metadata=said), name="emma.epub").work
    assert bench.citing.work(work.id).details == EditionDetails(
        editor="Fiona Stafford", publisher="Penguin Books", language="en"
    )


def test_an_epub_of_gutenberg_has_its_number_and_no_publisher(bench):
    said = (
        "<dc:title>Emma</dc:title><dc:publisher>Project Gutenberg</dc:publisher>"
        "<dc:identifier>http://www.gutenberg.org/158</dc:identifier>"
    )
    work = bench.works.add(epub(["<p>It snowed.</p>"], metadata=said), name="emma.epub").work
    details = bench.citing.work(work.id).details
    assert (details.container, details.number, details.publisher) == ("Project Gutenberg", "158", "")
    assert details.accessed == work.added.date()


TEI = b"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>The Weir</title>
<editor>Other, Ann</editor><editor role="translator">C. Third</editor></titleStmt><sourceDesc>
<bibl type="firstEdition"><publisher>First</publisher><date>1851</date></bibl>
<bibl type="printSource"><pubPlace>London</pubPlace><publisher>Dent</publisher><date>1906</date></bibl>
</sourceDesc></fileDesc><profileDesc><langUsage><language ident="en">English</language></langUsage></profileDesc>
</teiHeader><text><body><p>It rained.</p></body></text></TEI>"""


def test_a_tei_file_names_the_book_it_was_made_from(bench):
    work = bench.works.add(TEI, name="weir.xml").work
    details = bench.citing.work(work.id).details
    assert details == EditionDetails(
        editor="Ann Other", place="London", publisher="Dent", year=1906, language="English"
    )
    bench.citing.describe(work.id, replace(details, place="Londres"))
    bench.works.add(TEI, name="weir.xml")
    assert bench.citing.work(work.id).details.place == "Londres", "what the scholar said stands"


def test_what_the_scholar_says_counts_and_the_last_of_it(bench, ferry):
    derived = bench.citing.work(ferry.id).details
    for publisher in ("Dent", " Oxford \n University Press "):
        bench.citing.describe(ferry.id, replace(derived, publisher=publisher))
    assert bench.citing.work(ferry.id).details == replace(derived, publisher="Oxford University Press")
    bench.works.remove(ferry.id)
    assert bench.citing.works([ferry.id, "never"])[ferry.id].details.publisher == "Oxford University Press"
    assert bench.citing.work(ferry.id).details.publisher == "Oxford University Press"


def test_saying_the_same_again_writes_nothing(bench, ferry):
    before = bench.store.edition_details.latest([ferry.id])
    bench.citing.describe(ferry.id, bench.citing.work(ferry.id).details)
    assert bench.store.edition_details.latest([ferry.id]) == before == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"year": 999},
        {"year": TODAY.year + 2},
        {"volumes": 0},
        {"url": "gutenberg.org/ebooks/46"},
        {"url": "javascript:alert(1)"},
        {"url": "https://a b"},
        {"publisher": "x" * 301},
        {"accessed": TODAY + timedelta(days=2)},
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(bench, ferry, wrong):
    with pytest.raises(BadRequest):
        bench.citing.describe(ferry.id, EditionDetails(**wrong))
    assert bench.store.edition_details.latest([ferry.id]) == {}


def test_a_passage_is_cited_where_it_stands(bench, ferry):
    found = bench.citing.citation(ferry.id, "mla", at="1.1.2", length=2)
    assert found.forms[0].text == "(Nobody, ch. 1, pars. 1-2)"
    assert found.quotation.plain == "Nobody counted.\n\nIt fell."
    whole = bench.citing.citation(ferry.id, "chicago-notes")
    assert whole.forms[-1].text.startswith("Nobody, A. The Ferry. Project Gutenberg, 2004.")
    assert whole.place is None


def test_what_is_not_there_is_said(bench, ferry):
    with pytest.raises(NotFound):
        bench.citing.citation("never", "mla")
    with pytest.raises(NotFound):
        bench.citing.describe("never", EditionDetails())
    with pytest.raises(NotFound):
        bench.citing.citation(ferry.id, "mla", at="9.1.1")
    for wrong in ({"at": "here"}, {"at": "1.1.1", "length": 0}):
        with pytest.raises(BadRequest):
            bench.citing.citation(ferry.id, "mla", **wrong)
    with pytest.raises(BadRequest, match="style"):
        bench.citing.citation(ferry.id, "apa")


def test_a_removed_work_cannot_be_cited_from_its_page(bench, ferry):
    bench.works.remove(ferry.id)
    with pytest.raises(NotFound):
        bench.citing.citation(ferry.id, "mla")
