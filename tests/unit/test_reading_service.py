"""Opening a work at an address, and the hits of a search along it."""

from __future__ import annotations

import pytest

from relic_core.domain import SearchRequest, Span
from relic_core.errors import BadRequest, NotFound
from tests.making import answer_again

FERRY = b"""THE FERRY

BOOK ONE

CHAPTER I

The river rose all night. Nobody counted the lanterns on the quay. Nobody had been asked to.

The ferryman slept, and the river did not.

CHAPTER II

In the morning there was one lantern fewer. The ferryman said that it had gone to look for its owner.

BOOK TWO

CHAPTER I

Nobody came back for the lanterns, and nobody asked the river.
"""


@pytest.fixture
def ferry(bench):
    return bench.works.add(FERRY, name="ferry.txt", title="The Ferry", author="A. Nobody", year=1891).work


def search(bench, work_id, claim="Nobody counted the lanterns", length=1):
    request = SearchRequest(work_id=work_id, claim_text=claim, length=length, results=5, retrievers=("bm25",))
    return bench.history.keep(request).id


# ---- addresses ----------------------------------------------------------------------------------------------------


def test_without_an_address_the_first_chapter_is_opened(bench, ferry):
    page = bench.reading.page(ferry.id)
    assert (page.chapter.index, page.passage, page.at, page.notice) == (0, None, "1", "")


def test_an_address_of_a_chapter_opens_it_and_names_no_passage(bench, ferry):
    page = bench.reading.page(ferry.id, at="2")
    assert (page.chapter.index, page.passage, page.at) == (1, None, "2")


def test_an_address_opens_its_chapter_at_the_passage(bench, ferry):
    page = bench.reading.page(ferry.id, at="1.1.2", length=2)
    assert page.passage == Span(1, 2)
    assert page.place.label == "BOOK ONE, Chapter I · paragraph 1"
    assert page.at == "1.1.2"


def test_a_passage_ends_with_its_chapter(bench, ferry):
    assert bench.reading.page(ferry.id, at="1.2.1", length=9).passage == Span(3, 1)
    assert bench.reading.page(ferry.id, at="3.1.1", length=9).passage == Span(6, 1)
    assert bench.reading.page(ferry.id, at="1.1.1", length=-4).passage == Span(0, 1)


@pytest.mark.parametrize("at", ["9", "9.1.1", "1.9.1", "1.n1.1", "somewhere", "0", "1.1.1.1", "-1", "१.१.१"])
def test_what_is_no_place_in_the_work_opens_the_first_chapter_and_says_so(bench, ferry, at):
    page = bench.reading.page(ferry.id, at=at)
    assert (page.chapter.index, page.passage, page.at) == (0, None, "1")
    assert "first chapter" in page.notice


def test_an_unknown_work_is_told(bench):
    with pytest.raises(NotFound, match=r"not in your library.*nowhere-1"):
        bench.reading.page("nowhere-1")


def test_a_removed_work_is_told_by_its_edition(bench, ferry):
    bench.works.remove(ferry.id)
    with pytest.raises(NotFound, match=r"The Ferry \(1891\), was removed"):
        bench.reading.page(ferry.id)


def test_the_contents_name_every_chapter_under_its_part(bench, ferry):
    assert [(part.name, part.chapters) for part in bench.reading.page(ferry.id).contents] == [
        ("BOOK ONE", ((0, "Chapter I"), (1, "Chapter II"))),
        ("BOOK TWO", ((2, "Chapter I"),)),
    ]


def test_a_chapter_is_set_once_for_all_who_read_it(bench, ferry):
    assert bench.reading.page(ferry.id).chapter is bench.reading.page(ferry.id, at="1.1.2").chapter


# ---- hits ---------------------------------------------------------------------------------------------------------


def test_hits_come_in_the_order_of_the_text_with_retriever_and_rank(bench, ferry):
    work = bench.works.load(ferry.id)
    result = answer_again(bench, search(bench, ferry.id))
    hits = bench.reading.hits(work, result)
    assert [hit.span for hit in hits] == sorted(hit.span for hit in hits)
    assert {(hit.number, hit.span) for hit in hits} == {
        (n, card.span) for n, card in enumerate(result.columns[0].cards, start=1)
    }
    assert {(hit.retriever, hit.way) for hit in hits} == {("bm25", "By words")}
    assert [bench.reading.page(ferry.id, at=hit.at).passage for hit in hits] == [hit.span for hit in hits]


def test_a_search_that_is_gone_is_told(bench, ferry):
    with pytest.raises(NotFound, match="There is no search"):
        answer_again(bench, "zzzzzzz")


def test_a_search_in_another_work_marks_nothing(bench, ferry):
    other = bench.works.add(b"The lanterns were elsewhere. Nobody minded.", name="x.txt", title="Elsewhere").work
    result = answer_again(bench, search(bench, other.id))
    with pytest.raises(BadRequest, match="another work, Elsewhere"):
        bench.reading.hits(bench.works.load(ferry.id), result)


def test_a_search_whose_index_is_not_built_still_has_the_other_hits(bench, ferry):
    request = SearchRequest(work_id=ferry.id, claim_text="Nobody counted", retrievers=("zero-shot", "bm25"))
    hits = bench.reading.hits(bench.works.load(ferry.id), answer_again(bench, bench.history.keep(request).id))
    assert {hit.retriever for hit in hits} == {"bm25"}
