"""What every registered benchmark must be, on the data that are here."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from relic_core.config import Settings
from relic_core.errors import BadRequest
from relic_core.evaluation.benchmarks import public_relic, registry
from relic_core.evaluation.benchmarks.birco import HOLDING_THEIR_QUOTATION
from relic_core.formats.relic import Quote, RelicBook, write_relic
from relic_core.library import catalogue
from relic_core.wiring import build
from tests import small_dataset
from tests.shelf import Shelf

NAMES = registry.names()
SHARED = {name for name in NAMES if name.startswith(("birco-", "loci-"))}
"""Those whose data are not the project's to give."""
KNOWN = {
    name: set(HOLDING_THEIR_QUOTATION) for name in NAMES if name in {"birco-pools", "birco-pools-whole", "birco-novels"}
}
"""Defects of data that cards tell of: claims that hold eight words or more of the quotation sought."""
RUN = 8
FROM_A_MANIFEST = {name for name in NAMES if name.startswith("public-relic")}
"""Those whose words are rebuilt: here a small data set stands in the place of the one that ships."""

RELIC = RelicBook(
    title="The Awakening",
    sentences=("CHAPTER I ", "The parrot spoke. ", "Nobody answered it; ", "the sea was loud that day. "),
    candidates={1: (1, 2, 3), 2: (2, 1), 3: (1,), 4: (), 5: ()},
    quotes=(
        Quote("r1", ("A bird has the first word. ", "It is a fool’s: "), 1, 2, ("So begins the book. ",)),
        Quote("r2", (), 3, 1, ("The sea is given the last. ",)),
    ),
)


def write_judged(folder):
    """Write a folder with one query, all of whose passages are in its pool."""
    folder.mkdir()
    for name, row in {
        "queries": {"id": "q1", "text": "Who spoke first?"},
        "passages": {"id": "p1", "text": "The parrot spoke."},
        "pools": {"query_id": "q1", "relevance": {"p1": 2}},
    }.items():
        (folder / f"{name}.jsonl").write_text(f"{json.dumps(row)}\n", encoding="utf-8")


OWN_FILES = {
    "relic": lambda path: write_relic(path, [RELIC]),
    "judged": write_judged,
}
"""Of benchmarks that read the reader's own file, what writes a small one; it may quote the works of `small_dataset`."""
EMMA = small_dataset.BY_SLUG["emma"].sentence_text(0)


class Opener:
    """Opens benchmarks, reading each novel once."""

    def __init__(self, request, folder):
        self._request = request
        self._folder = folder
        self._rebuilt = None
        self._shelf = None

    def __call__(self, name):
        if name in FROM_A_MANIFEST:
            return registry.open_benchmark(name, settings=self._small_data_set(), works=Shelf(small_dataset.BY_SLUG))
        if name in OWN_FILES:
            data = self._folder / f"{name}.json"
            if not data.exists():
                OWN_FILES[name](data)
            return registry.open_benchmark(name, settings=Settings(), works=Shelf(small_dataset.BY_SLUG), data=data)
        settings = Settings()
        if name in SHARED:
            shared = self._request.getfixturevalue("shared")
            self._shelf = self._shelf or Shelf(folder=shared / "corpus" / "primary")
            settings = Settings(benchmarks=shared / "benchmarks")
        return registry.open_benchmark(name, settings=settings, works=self._shelf or Shelf())

    def _small_data_set(self):
        if self._rebuilt is None:
            bench = build(Settings(data=self._folder / "data", indexes=self._folder / "indexes"))
            critics = small_dataset.keep(bench, self._folder / "critics")
            bench.dataset.split()
            bench.make_manifest([critics], public_relic.MANIFEST)
            bench.rebuild([critics], offline=True)
            self._rebuilt = bench.settings
        return self._rebuilt


@pytest.fixture(scope="module")
def opener(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("relic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public_relic, "MANIFEST", folder / "manifest")
        yield Opener(request, folder)


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.corpus if name in SHARED else ()) for name in NAMES]
)
def opened(request, opener):
    return opener(request.param)


@pytest.mark.parametrize("name", NAMES)
def test_its_card_can_be_shown_before_it_is_opened(name):
    card = registry.card(name)
    assert card.name == name
    assert card.label
    assert card.description.endswith(".")
    assert not card.needs or card.needs.endswith(".")
    assert card.pool in {"whole work", "given"}
    assert re.fullmatch(r"(recall|ndcg)@\d+", card.main_metric)
    assert all((card.source, card.licence, card.citation))
    assert (card.examples is None) == (card.books is None) == (card.checksum == "")


def test_cards_come_in_the_order_of_the_registry():
    assert [card.name for card in registry.cards()] == list(NAMES)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(BadRequest, match=r"no benchmark called 'birco-pool'\. Did you mean birco-pools"):
        registry.card("birco-pool")
    with pytest.raises(BadRequest, match=r"Known: birco-arguana, .*birco-wtb, judged, loci-dev, .*, relic, sample"):
        registry.open_benchmark("x", settings=Settings(), works=Shelf())


def test_it_holds_what_its_card_says(opened):
    card = registry.card(opened.card.name)
    counts = {"examples": len(opened.windows()), "books": len(opened.books())}
    facts = {"checksum": opened.card.checksum, "split": opened.card.split, "own": card.name in OWN_FILES}
    assert opened.card == dataclasses.replace(card, **counts, **facts)
    assert card.examples in {None, opened.card.examples}
    assert card.books in {None, opened.card.books}
    assert card.checksum in {"", opened.card.checksum}
    assert card.split in {"", opened.card.split}
    assert re.fullmatch("[0-9a-f]{64}", opened.card.checksum)


def test_ids_occur_once(opened):
    ids = [window.id for window in opened.windows()]
    assert all(ids)
    assert len(set(ids)) == len(ids)


def test_each_quotation_stands_in_its_work_and_among_its_candidates(opened):
    for window in opened.windows():
        work, starts = opened.work(window.pool), opened.candidates(window)
        assert 0 <= window.gold.start < window.gold.end <= len(work.sentences)
        assert any(character.isalpha() for character in work.span_text(window.gold))
        if starts is not None:
            assert window.gold.start in starts
            assert (starts[:-1] < starts[1:]).all()
            assert 0 <= starts[0] <= starts[-1] < work.candidates(window.gold.length)


def test_windows_have_at_most_four_sentences_on_a_side_and_some_on_one(opened):
    for window in opened.windows():
        assert max(len(window.left), len(window.right)) <= 4
        assert any(sentence.strip() for sentence in window.left + window.right)
        assert not [sentence for sentence in window.left + window.right if sentence != sentence.strip()]
        assert window.kind in {"", "claim-supporting", "paraphrase-supporting", "other"}


def words(text):
    return re.findall(r"\w+", text.casefold())


def test_no_claim_holds_its_own_quotation_but_those_the_card_names(opened):
    holding = set()
    for window in (window for window in opened.windows() if not window.grades):  # a query quotes nothing
        gold = words(opened.work(window.pool).span_text(window.gold))
        claim = f" {' '.join(words(' '.join((*window.left, *window.right))))} "
        runs = {" ".join(gold[at : at + RUN]) for at in range(max(1, len(gold) - RUN + 1))}
        if any(f" {run} " in claim for run in runs):
            holding.add(window.id)
    assert holding == KNOWN.get(opened.card.name, set())
    assert all(name in opened.card.description for name in holding)


def test_books_come_once_in_the_order_of_their_first_window(opened):
    books = opened.books()
    assert [book.key for book in books] == list(dict.fromkeys(window.book for window in opened.windows()))
    for book in books:
        entry = catalogue.find(book.key) or catalogue.find_named(book.title)
        assert book.title
        if entry:
            assert (book.title, book.author, book.year) == (entry.title, entry.author, entry.year)


def test_works_can_be_told_apart_and_whole_ones_are_those_of_the_books(opened):
    works = {window.pool: opened.work(window.pool) for window in opened.windows()}
    assert len({work.fingerprint for work in works.values()}) == len(works)
    assert len({work.id for work in works.values()}) == len(works)
    for window in opened.windows():
        (book,) = (book for book in opened.books() if book.key == window.book)
        if opened.card.pool == "whole work":
            assert window.pool == window.book
            assert (book.sentences, book.sha256) == (len(works[window.pool].sentences), works[window.pool].sha256)
        else:
            assert (book.sentences, book.sha256) == (0, "")


def test_sentences_of_its_works_are_cut_as_works_are(opened):
    for pool in {window.pool for window in opened.windows()}:
        work = opened.work(pool)
        assert [sentence.index for sentence in work.sentences] == list(range(len(work.sentences)))
        for sentence in work.sentences:
            paragraph, chapter = work.paragraphs[sentence.paragraph], work.chapters[sentence.chapter]
            assert chapter.start <= paragraph.start <= sentence.start <= sentence.end <= paragraph.end <= chapter.end
        texts = [work.sentence_text(index) for index in range(len(work.sentences))]
        assert texts == [text.strip() for text in texts]


def test_opened_again_it_is_the_same(opened, opener):
    again = opener(opened.card.name)
    assert again.data_hash == opened.data_hash
    assert re.fullmatch("[0-9a-f]{64}", opened.data_hash)
    assert again.windows() == opened.windows()
    assert again.books() == opened.books()
    assert again.card == opened.card
