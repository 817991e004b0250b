"""The catalogue of RELiC's works: what it holds, whose entry a stored work is, and the shelf."""

import csv
from collections import Counter
from dataclasses import replace

import pytest

from relic_core.errors import BadRequest, BadText
from relic_core.library import catalogue
from relic_core.services.catalogue import parse_number
from relic_core.wiring import build
from tests.inline import InlineExecutor

TEXT = "The river rose.\n\nNobody counted the lanterns. Nobody had been asked to.\n"


@pytest.fixture
def library(settings, tmp_path):
    """A workbench with a library folder that has two works of the catalogue."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "emma.txt").write_text(TEXT)
    (folder / "1984.txt").write_text(TEXT.replace("river", "clock"))
    (folder / "persuasion.txt").write_bytes(b"")
    (folder / "babbitt.txt").mkdir()
    with_folder = replace(settings, library=folder)
    return build(with_folder, executor=InlineExecutor(with_folder))


def test_the_catalogue_has_the_works_of_the_papers_tables():
    entries = catalogue.entries()
    assert Counter(entry.split for entry in entries) == {"train": 56, "validation": 18, "test": 5}
    assert Counter(entry.language for entry in entries) == {"English": 72, "Russian": 4, "French": 3}
    assert {entry.type for entry in entries} == {"novel", "novella", "collection (fiction)", "collection (nonfiction)"}
    assert {entry.slug for entry in entries if entry.translator} == {
        entry.slug for entry in entries if entry.language != "English"
    }
    assert (entries[0].slug, entries[-1].slug) == ("sense_and_sensibility", "tender_is_the_night")


def test_the_catalogue_is_ordered_by_split_year_and_title():
    entries = catalogue.entries()
    splits = ("train", "validation", "test")
    assert list(entries) == sorted(
        entries, key=lambda entry: (splits.index(entry.split), entry.year, entry.title.casefold())
    )


def test_six_works_are_in_copyright_for_95_full_years():
    free = {entry.title: entry.free_in_us for entry in catalogue.entries() if entry.free_in_us is not None}
    assert free == {
        "Brave New World": 2028,
        "Gone with the Wind": 2032,
        "The Waves": 2027,
        "Animal Farm": 2041,
        "1984": 2045,
        "Tender Is the Night": 2030,
    }
    waves = catalogue.find("the_waves")
    assert (waves.last_day, catalogue.find("emma").last_day) == ("31 December 2026", "")
    assert all(entry.gutenberg is None for entry in catalogue.entries() if entry.free_in_us)


def test_most_works_have_their_own_number_at_project_gutenberg():
    numbers = [entry.gutenberg for entry in catalogue.entries() if entry.gutenberg is not None]
    assert len(set(numbers)) == len(numbers) == 71
    without = {entry.slug for entry in catalogue.entries() if entry.gutenberg is None and entry.free_in_us is None}
    assert without == {"an_american_tragedy", "to_the_lighthouse"}
    assert catalogue.find_number(1342).slug == "pride_and_prejudice"
    assert catalogue.find_number(1) is None


HEAD = "slug,year,title,author,translator,type,language,split,gutenberg,free_in_us\n"
EMMA = "emma,1815,Emma,Jane Austen,,novel,English,validation,158,\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (EMMA.replace("validation", "dev"), "its split is 'dev'"),
        (EMMA.replace("1815", "soon"), "invalid literal"),
        (EMMA.replace("158", "0"), "0 is not a number"),
        (EMMA.replace("emma,", "Emma!,"), "small letters"),
        (EMMA.replace("Jane Austen", ""), "an author"),
        (EMMA[:-1] + "1800\n", " 1800"),
        (EMMA + EMMA.replace("158", "159"), "Line 3 .*the slug emma"),
        (EMMA + EMMA.replace("emma", "emma2"), "the number 158"),
        ("emma,1815\n", "is not an entry"),
    ],
)
def test_a_line_that_is_no_entry_is_told(tmp_path, lines, said):
    path = tmp_path / "catalogue.csv"
    path.write_text(HEAD + lines)
    with pytest.raises(BadText, match=said):
        catalogue.read_entries(path)


@pytest.mark.parametrize(
    ("title", "author", "slug"),
    [
        ("Moby Dick; Or, The Whale", "Herman Melville", "moby_dick"),
        ("Moby-Dick, or the Whale", "Melville", "moby_dick"),
        ("The Brothers Karamazov", "Fyodor Dostoyevsky", "brothers_karamazov"),
        ("THE HOUSE OF MIRTH", "Wharton, Edith", "house_of_mirth"),
        ("Nineteen Eighty-Four", "George Orwell", "1984"),
        ("1984", "", "1984"),
        ("My Ántonia", "Willa Cather", "my_antonia"),
        ("Mrs. Dalloway", "Woolf, Virginia", "mrs_dalloway"),
        ("The Life and Adventures of Nicholas Nickleby", "Charles Dickens", "nicholas_nickleby"),
        ("Frankenstein; Or, The Modern Prometheus", "Mary Wollstonecraft (Godwin) Shelley", "frankenstein"),
        ("Daisy Miller: A Study", "Henry James", "daisy_miller"),
        ("The Awakening, and Selected Short Stories", "Kate Chopin", "the_awakening"),
        ("The Garden Party", "Katherine Mansfield", "the_garden_party_and_other_stories"),
        ("Jane Eyre: An Autobiography", "Charlotte Bronte", "jane_eyre"),
        ("War & Peace", "Leo Tolstoi", "war_and_peace"),
        ("Swann’s Way (Remembrance of Things Past, Volume One)", "Marcel Proust", "swanns_way"),
        ("Emma", "", "emma"),
        ("Alice in Wonderland", "Lewis Carroll", "alices_adventures_in_wonderland"),
    ],
)
def test_an_entry_is_found_by_title_and_author(title, author, slug):
    assert catalogue.find_named(title, author).slug == slug


@pytest.mark.parametrize(
    ("title", "author"),
    [
        ("Emma McChesney and Co.", "Edna Ferber"),
        ("Emma", "Edna Ferber"),
        ("Emma: A Modern Retelling", ""),
        ("Persuasion", "Winston Churchill"),
        ("Wuthering Heights", "Charlotte Brontë"),
        ("War and Peace: Volume 2", "Leo Tolstoy"),
        ("The Awakening of Spring", "Kate Chopin"),
        ("Alice", "Lewis Carroll"),
        ("", ""),
        ("The", "Jane Austen"),
        ("; Or, The Whale", "Herman Melville"),
    ],
)
def test_what_only_looks_like_an_entry_is_none(title, author):
    assert catalogue.find_named(title, author) is None


def test_the_year_of_the_catalogue_comes_before_one_that_was_guessed(library):
    page = b"Persuasion\n\nby Jane Austen\n\n(1818)\n\n\n\nCHAPTER 1\n\nNobody read the ledger.\n"
    work = library.works.add(page, name="persuasion.txt").work
    assert (work.year, work.guessed) == (1817, "")
    other = library.works.add(page.replace(b"Persuasion", b"The Ledger"), name="ledger.txt").work
    assert other.year == 1818
    assert "year" in other.guessed


def test_a_work_is_known_by_where_it_came_from(library):
    works, shelf = library.works, library.catalogue
    book = works.add(
        b"Something.\n", name="pg1342.txt", title="P & P", came_from="Project Gutenberg 1342, http://x, fetched today"
    )
    assert shelf.entry_of(book.work).slug == "pride_and_prejudice"
    in_folder = works.add(library.settings.library / "emma.txt", title="Lanterns", author="A. Nobody")
    assert shelf.entry_of(in_folder.work).slug == "emma"
    assert shelf.entry_of(works.load(in_folder.work.id)).slug == "emma", "a whole work will do"
    upload = works.add(b"Another.\n", name="persuasion.txt")
    assert shelf.entry_of(upload.work) is None, "Persuasion, my cat"
    said = works.add(b"Yet another.\n", name="persuasion.txt", title="An edition", author="Austen")
    assert shelf.entry_of(said.work).slug == "persuasion"
    titled = works.add(b"Title: Emma\n\nA kitten.\n", name="x.txt")
    assert shelf.entry_of(titled.work) is None
    by_another = works.add(b"Rhetoric.\n", name="persuasion.txt", author="A. Nobody")
    assert shelf.entry_of(by_another.work) is None
    assert shelf.entry_of(works.add(b"Own.\n", name="own.txt").work) is None


def test_a_file_of_the_library_folder_is_called_as_the_catalogue_calls_it(library):
    (library.settings.library / "war_and_peace.txt").write_text("It was in July.\n")
    library.indexes.start = lambda work_id: None
    assert {text.path.stem: text.title for text in library.works.available()}["war_and_peace"] == "War and Peace"
    path = library.works.find_file("war_and_peace")
    assert library.works.preview(path).work.author == "Leo Tolstoy"
    work = library.works.add(path, year=1869, title="War and Peace, my copy").work
    entry = catalogue.find("war_and_peace")
    assert (work.title, work.author, work.translator, work.year) == (
        "War and Peace, my copy",
        entry.author,
        entry.translator,
        1869,
    )
    elsewhere = library.settings.library.parent / "emma.txt"
    elsewhere.write_text("A cat.\n")
    assert library.works.add(elsewhere).work.author == ""
    library.catalogue.run_add({"paths": [str(library.settings.library / "1984.txt")]}, lambda *_: None)
    assert [(work.author, work.year) for work in library.works.summaries() if work.title == "1984"] == [
        ("George Orwell", 1949)
    ]


def test_the_shelf_says_where_each_work_can_be_had(library):
    library.works.add(b"Chapter 1. An apology.\n", name="x.txt", title="Middlemarch", author="George Eliot")
    shelf = {each.entry.slug: each for each in library.catalogue.shelf()}
    assert list(shelf) == [entry.slug for entry in catalogue.entries()]
    assert shelf["middlemarch"].origin == "stored"
    assert shelf["middlemarch"].work.title == "Middlemarch"
    assert shelf["emma"].origin == shelf["1984"].origin == "folder", "a copy of one's own, in copyright or not"
    assert shelf["emma"].path == library.settings.library / "emma.txt"
    assert shelf["persuasion"].origin == shelf["babbitt"].origin == "gutenberg", "empty, and a folder"
    assert shelf["the_waves"].origin == shelf["to_the_lighthouse"].origin == "none"


def test_a_library_folder_that_is_gone_leaves_the_shelf(settings, tmp_path):
    shelf = build(replace(settings, library=tmp_path / "gone")).catalogue.shelf()
    assert {each.origin for each in shelf} == {"gutenberg", "none"}


def test_a_removed_work_is_off_the_shelf_and_of_two_editions_the_first_is_on_it(library):
    first = library.works.add(b"One.\n", name="x.txt", title="Emma", author="Jane Austen").work
    second = library.works.add(b"Two.\n", name="y.txt", title="Emma", author="Austen, Jane").work

    def on_shelf():
        return next(each.work for each in library.catalogue.shelf() if each.entry.slug == "emma")

    assert on_shelf().id == first.id
    library.works.describe(first.id, title="Emma", author="J. Austen", translator="", year=1815)
    assert on_shelf().id == first.id, "a typo put right does not change which edition is meant"
    library.works.remove(first.id)
    assert on_shelf().id == second.id
    library.works.remove(second.id)
    assert on_shelf() is None


def test_a_work_of_the_catalogue_is_named_by_its_slug_or_its_title(library):
    items = library.catalogue.items(["The Scarlet Letter", "the_scarlet_letter", "scarlet letter"])
    assert [item["slug"] for item in items] == ["the_scarlet_letter"]


def test_what_is_not_in_the_catalogue_cannot_be_added_from_it(library):
    with pytest.raises(BadRequest, match=r"'ema'\. Did you mean emma"):
        library.catalogue.add(["babbitt", "ema"])
    with pytest.raises(BadRequest) as refused:
        library.catalogue.add(["The Scarlet Leter"])
    assert "Did you mean the_scarlet_letter?" in str(refused.value)
    assert len(str(refused.value)) < 200
    with pytest.raises(BadRequest, match="No work"):
        library.catalogue.add([])
    with pytest.raises(BadRequest, match="not a number of Project Gutenberg"):
        library.catalogue.add_gutenberg(0)
    assert library.jobs.recent() == ()
    assert parse_number("pg158") == 158


@pytest.mark.corpus
def test_the_catalogue_agrees_with_the_list_beside_the_corpus(shared):
    with (shared / "corpus" / "works.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["slug"]: row for row in csv.DictReader(file)}
    assert set(rows) == {entry.slug for entry in catalogue.entries()}
    titled = {
        "brothers_karamazov": "The Brothers Karamazov",
        "house_of_mirth": "The House of Mirth",
        "my_antonia": "My Ántonia",
    }  # as they are cited; the data set's names leave out articles and accents
    for entry in catalogue.entries():
        row = rows[entry.slug] | ({"title": titled[entry.slug]} if entry.slug in titled else {})
        assert (entry.title, entry.author, entry.translator, str(entry.year), entry.type, entry.language) == tuple(
            row[name] for name in ("title", "author", "translator", "year", "type", "language")
        )
        assert entry.split == row["relic_split"]
        assert not row["gutenberg_id"] or entry.gutenberg == int(row["gutenberg_id"])
        assert (entry.free_in_us is None) == (row["us_public_domain"] == "true")
