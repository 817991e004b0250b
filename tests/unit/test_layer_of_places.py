"""The layer of places: who quotes which sentences of the shelf's works, before any criticism is in the library."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from relic_core.config import Settings
from relic_core.domain import Span
from relic_core.errors import BadBenchmark
from relic_core.formats.places import FILE, CriticsBook, Layer, QuotedPlaces, digest_of, hash_of, read_layer
from relic_core.services import sources as service
from relic_core.wiring import App, build
from tests.making import make_work
from tests.making_sources import keep, make_source, make_window

SENTENCES = ["The lamp was lit at five.", "Nobody asked why.", "The tide had no clerk."]
WORK = make_work([SENTENCES], title="Tide and Lamp")
FIRST = CriticsBook(title="A Study of Lamps", author="A. Critic", year=1911, number=7, sha256="a" * 64)
SECOND = CriticsBook(title="Other Tides", author="", year=0, number=8, sha256="b" * 64)


def place(book, index):
    sentence = WORK.sentences[index]
    return book, sentence.start, sentence.end, hash_of(WORK.text[sentence.start : sentence.end])


def made(*places):
    works = (QuotedPlaces(title=WORK.title, sha256=WORK.sha256, places=places),)
    books = (FIRST, SECOND)
    return Layer(about={"program": "a test"}, digest=digest_of(books, works), books=books, works=works)


@pytest.fixture
def bench(tmp_path, monkeypatch) -> App:
    path = tmp_path / "places.json"
    path.write_text(made(place(0, 0), place(1, 0), place(0, 2)).model_dump_json(), "utf-8")
    monkeypatch.setattr(service, "FILE", path)
    read_layer.cache_clear()
    return build(Settings(data=tmp_path / "data", indexes=tmp_path / "indexes"))


def test_a_newcomer_sees_who_quotes_which_sentence(bench):
    bench.store.works.add(WORK)
    quoted = bench.sources.quoted(WORK.id)
    assert (quoted.counts, quoted.sources, quoted.windows) == ({0: 2, 2: 1}, 2, 3)
    assert quoted.by(Span(0, 3)) == (2, 0)
    assert quoted.listed == ((FIRST, Span(0, 1)), (SECOND, Span(0, 1)), (FIRST, Span(2, 1)))


def test_a_mined_book_replaces_what_the_layer_says_of_it(bench):
    bench.store.works.add(WORK)
    source = replace(make_source("A Study of Lamps"), number=FIRST.number)
    keep(bench, source, [make_window(WORK, source, 0)], works=[WORK])
    quoted = bench.sources.quoted(WORK.id)
    assert (quoted.counts, quoted.sources, quoted.windows) == ({0: 2}, 2, 2)
    assert [book for book, _ in quoted.listed] == [SECOND]


def test_another_edition_shows_what_stands_in_it_too(bench):
    other = make_work([["A new preface."], ["“The lamp was _lit_ at five!”", *SENTENCES[1:]]], title="TIDE AND LAMP")
    bench.store.works.add(other)
    assert bench.sources.quoted(other.id).counts == {1: 2, 3: 1}


@pytest.mark.parametrize("title", ["Tide and Lamp", "Another Book"])
def test_another_text_shows_nothing(bench, title):
    other = make_work([["The lamp was out at five.", "Nobody came.", "The tide was late."]], title=title)
    bench.store.works.add(other)
    assert bench.sources.quoted(other.id).windows == 0


def test_the_list_of_quoted_works_counts_as_their_pages_do_and_loads_none_that_the_layer_knows(bench, monkeypatch):
    bench.store.works.add(WORK)
    bench.store.works.add(make_work([SENTENCES], title="Nobody's Tide"))
    with monkeypatch.context() as patch:
        patch.setattr(bench.works, "load", lambda work_id: pytest.fail(f"{work_id} is loaded"))
        ((work, windows, sources),) = bench.sources.quoted_works()
    assert (work.id, windows, sources) == (WORK.id, 3, 2)
    source = replace(make_source("A Study of Lamps"), number=FIRST.number)
    keep(bench, source, [make_window(WORK, source, 0)], works=[WORK])
    assert [counted[1:] for counted in bench.sources.quoted_works()] == [(2, 2)]


def test_a_place_in_no_sentence_counts_on_the_page_as_in_the_list_and_beside_no_sentence(bench, tmp_path):
    first, second = WORK.sentences[:2]
    between = (1, first.end, second.start, hash_of("Chapter One"))  # as a heading lies
    (tmp_path / "places.json").write_text(made(place(0, 0), between).model_dump_json(), "utf-8")
    bench.store.works.add(WORK)
    ((_, *listed),) = bench.sources.quoted_works()
    quoted = bench.sources.quoted(WORK.id)
    assert [quoted.windows, quoted.sources] == listed == [2, 2]
    assert quoted.counts == {0: 1}
    assert quoted.by(Span(0, 3)) == (1, 0)


@pytest.mark.parametrize("damage", ["cut", "year", "book"])
def test_a_damaged_layer_is_refused(tmp_path, damage):
    path = tmp_path / "places.json"
    said = made(place(0, 0), place(2 if damage == "book" else 1, 2)).model_dump_json()
    path.write_text({"cut": said[:-40], "year": said.replace("1911", "1912"), "book": said}[damage], "utf-8")
    with pytest.raises(BadBenchmark, match=r"places\.json"):
        read_layer(path)


def test_the_layer_that_ships_is_whole_small_and_holds_no_words():
    layer = read_layer(FILE)
    assert FILE.stat().st_size < 1_000_000
    assert len(layer.books) > 100 and len(layer.works) > 40
    assert all(book.number and len(book.title) < 200 for book in layer.books)
    assert all(len(place[3]) == 12 and int(place[3], 16) >= 0 for work in layer.works for place in work.places)
    assert set(json.loads(FILE.read_text("utf-8"))["works"][0]) == {"title", "sha256", "places"}
