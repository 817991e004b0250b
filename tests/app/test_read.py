"""Read: what does this passage say where it stands?"""

from __future__ import annotations

import json
import re
from html import unescape
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest

from relic_core.domain import SearchRequest, SeedPassage
from relic_ui.read import read_address
from tests.app.reading import FIND, found, html, plain, said, sound
from tests.approved import says
from tests.making_sources import keep, make_source, make_window

SAYS = says("read")

READ = "pages/read.py"
FERRY = b"""THE FERRY

CHAPTER I

The river rose all night. Nobody counted the <b>lanterns</b> on the quay. Nobody had been asked to.

The ferryman slept, and the river did not.

CHAPTER II

In the morning there was one lantern fewer. The ferryman said that it had gone to look for its owner.
"""


@pytest.fixture
def ferry(app):
    return app.bench.works.add(FERRY, name="ferry.txt", title="The *Ferry*", author="A. <i>Nobody</i>", year=1891).work


@pytest.fixture
def search(app, ferry):
    """A kept search in the ferry."""
    request = SearchRequest(work_id=ferry.id, claim_text="Who counted the lanterns?", retrievers=("bm25",))
    return app.bench.history.keep(request).id


def place(at):
    """Return what the page tells the component that follows the reader."""
    (component,) = [
        each for each in at.main.get("bidi_component") if "relic_reading_place" in each.proto.component_name
    ]
    return json.loads(component.proto.json)


def edition(app, work):
    return app.bench.fingerprints.edition(work.id)


def links(at, page):
    """Return the links to a page: their words, and where they lead."""
    found = re.findall(rf'<a [^>]*href="({page}\?[^"]*)"[^>]*>(.*?)</a>', html(at))
    return {plain(words): unescape(href) for href, words in found}


def heading(at):
    return plain(re.search(r'<h2 id="chapter-name"[^>]*>(.*?)</h2>', html(at))[1])


# ---- another edition ----------------------------------------------------------------------------------------------


def test_an_address_of_another_edition_opens_the_one_there_is_and_says_so(app, ferry):
    slug = ferry.id.rpartition("-")[0]
    at = sound(app.open(READ, work=f"{slug}-00000000", at="1.1.2"))
    assert SAYS["other edition"] in said(at)
    assert place(at)["lit"] == {"at": "1.1.2", "n": 1}
    assert place(at)["work"] == ferry.id


def test_an_edition_that_was_removed_is_named_though_another_is_there(app, ferry):
    other = app.bench.works.add(FERRY + b"\nThe end.\n", name="f.txt", title="The *Ferry*").work
    assert other.id.rpartition("-")[0] == ferry.id.rpartition("-")[0]
    app.bench.works.remove(ferry.id)
    assert SAYS["work removed"] in said(sound(app.open(READ, work=ferry.id, at="1.1.2")))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("0" * 8, SAYS["cut anew"]),
        ("zzz", SAYS["unreadable"]),
        ("9" * 300, SAYS["unreadable"]),
    ],
)
def test_what_an_address_says_of_the_edition_is_held_against_it(app, ferry, given, told):
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", w=given))
    assert told in said(at)
    assert place(at)["lit"] == {"at": "1.1.2", "n": 1}


def test_an_address_of_this_edition_says_nothing(app, ferry):
    assert said(sound(app.open(READ, work=ferry.id, at="1.1.2", w=edition(app, ferry)))) == ""


# ---- the page -----------------------------------------------------------------------------------------------------


def test_a_passage_is_opened_in_its_chapter(app, ferry):
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", n="2"))
    assert heading(at) == "Chapter I"
    assert place(at)["lit"] == {"at": "1.1.2", "n": 2}
    assert place(at)["address"] == f"read?work={ferry.id}&at=1.1.2&n=2&w={edition(app, ferry)}"
    assert place(at)["cited"] == "A. <i>Nobody</i>, The *Ferry* (1891)"
    assert 'href="#s-1-1-2"' in html(at), "a way for the keyboard to the passage"
    assert said(at) == ""


def test_the_chapter_is_the_same_whatever_is_lit(app, ferry):
    articles = [
        [each.value for each in app.open(READ, work=ferry.id, at=at).get("html") if "<article" in each.value]
        for at in ("1", "1.1.2", "1.2.1")
    ]
    assert articles[0] == articles[1] == articles[2]


def test_without_a_place_the_first_chapter_is_shown_and_a_kept_place_may_be_offered(app, ferry):
    at = sound(app.open(READ, work=ferry.id))
    assert heading(at) == "Chapter I"
    assert place(at)["lit"] is None
    assert place(at)["address"] == f"read?work={ferry.id}&at=1&w={edition(app, ferry)}"
    assert place(at)["offer"] == {ferry.id: "The *Ferry*"}
    assert not place(at)["resumed"]


def test_chapters_beside_this_one_and_the_contents_lead_on(app, ferry):
    at = sound(app.open(READ, work=ferry.id, at="1"))
    assert links(at, "read") == {
        "Chapter I": f"read?work={ferry.id}&at=1",
        "Chapter II": f"read?work={ferry.id}&at=2",
        "Chapter II →": f"read?work={ferry.id}&at=2",
    }
    assert html(at).count('aria-current="page"') == 1


def test_words_of_a_file_are_shown_and_not_obeyed(app, ferry, search):
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", q=search))
    shown = html(at)
    assert "the &lt;b&gt;lanterns&lt;/b&gt; on the quay" in shown
    assert "A. &lt;i&gt;Nobody&lt;/i&gt;" in shown
    assert "<b>" not in shown
    assert "<i>" not in shown


# ---- what is not there --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["9.9.9", "nowhere", "<b>"])
def test_a_bad_address_is_told_and_the_first_chapter_is_there(app, ferry, given):
    at = sound(app.open(READ, work=ferry.id, at=given))
    assert SAYS["first chapter"] in said(at)
    assert heading(at) == "Chapter I"
    assert place(at)["address"] == f"read?work={ferry.id}&at=1&w={edition(app, ferry)}"


@pytest.mark.parametrize("given", ["", "0", "many", "-1", "²", "٣", "99999999999"])
def test_a_bad_length_lights_something_all_the_same(app, ferry, given):
    at = sound(app.open(READ, work=ferry.id, at="1.1.1", n=given))
    assert place(at)["lit"]["n"] == 1


def test_an_unknown_work_is_told_and_others_are_offered(app, ferry):
    at = sound(app.open(READ, work="nowhere-00000000"))
    assert SAYS["work unknown"] in said(at)
    assert links(at, "read")["The *Ferry*, A. <i>Nobody</i> (1891)"] == f"read?work={ferry.id}"


def test_a_removed_work_is_named(app, ferry):
    app.bench.works.remove(ferry.id)
    at = sound(app.open(READ, work=ferry.id, at="1.1.1"))
    assert SAYS["Ferry removed"] in said(at)


def test_a_search_that_is_gone_is_told_beside_the_chapter(app, ferry):
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", q="zzzzzzz"))
    assert "There is no search 'zzzzzzz'" in said(at)
    assert heading(at) == "Chapter I"
    assert place(at)["lit"] == {"at": "1.1.2", "n": 1}


def test_a_search_reopened_after_its_work_was_removed_names_the_edition(app, ferry, search):
    app.bench.works.remove(ferry.id)
    assert SAYS["edition gone"] in said(sound(app.open(FIND, q=search)))


def test_a_search_in_another_work_is_told_beside_the_chapter(app, ferry, search):
    (sample,) = [work for work in app.bench.works.summaries() if work.id != ferry.id]
    at = sound(app.open(READ, work=sample.id, at="1", q=search))
    assert SAYS["other work"] in said(at)
    assert "<article" in html(at)


def test_an_empty_library_points_to_where_works_are_added(app):
    (sample,) = app.bench.works.summaries()
    app.bench.works.remove(sample.id)
    at = sound(app.open(READ))
    assert SAYS["empty library"] in said(at)


# ---- the search it was opened from --------------------------------------------------------------------------------


def test_hits_are_marked_counted_and_led_through_and_the_results_are_one_click_away(app, ferry, search):
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", n="1", q=search))
    assert links(at, "find")[SAYS["arrow back"]] == f"find?q={search}"
    marks = re.findall(r'<span data-at="([\d.]+)">(.*?)</span>', html(at))
    assert {address for address, _ in marks} >= {"1.1.2"}
    assert any('aria-label="By words 1: ' in mark for _, mark in marks)
    assert all(f"q={search}" in mark and f"work={ferry.id}" in mark for _, mark in marks)
    contents = re.search(r'<nav aria-label="Contents">.*?</nav>', html(at), re.DOTALL)[0]
    assert re.findall(r"relic-read-count\">(\d+) hits?", contents)[0] == str(len(marks))


def test_an_address_brings_up_the_hits_of_every_way_of_searching(app):
    (sample,) = app.bench.works.summaries()
    asked = SearchRequest(work_id=sample.id, claim_text="The brass bolt stands for a false certainty", length=2)
    search = app.bench.history.keep(asked).id
    result = app.bench.search.run(asked)
    reranked = {str(card.place.address) for column in result.columns[2:] for card in column.cards}
    assert reranked
    for at in reranked:
        page = html(sound(app.open(READ, work=sample.id, at=at, n="2", q=search)))
        (marks,) = re.findall(rf'<span data-at="{re.escape(at)}">(.*?)</span>', page)
        assert re.search(r'aria-label="By a second model \d+: ', marks)


def test_a_card_leads_to_its_passage_in_its_chapter_and_the_results_stand(app, ferry):
    find = app.open(FIND)
    for key, value in {"work": ferry.id, "length": 2, "retrievers": ["bm25"]}.items():
        find.get_by_key(f"find_{key}").set_value(value)
    found(find, "Nobody counted the lanterns")
    card = next(iter(links(find, "read").values()))
    asked = dict(pair.split("=") for pair in card.split("?")[1].split("&"))
    assert (asked["work"], asked["n"], asked["q"]) == (ferry.id, "2", find.query_params["q"])

    for name, value in asked.items():
        find.query_params[name] = value
    at = sound(find.switch_page(READ).run())
    assert place(at)["lit"] == {"at": asked["at"], "n": 2}
    assert links(at, "find")[SAYS["arrow back"]] == f"find?q={asked['q']}"


def test_of_columns_that_rank_a_passage_alike_the_first_is_kept_with_it(monkeypatch):
    asked = SimpleNamespace(work_id="ferry", at="1.1.2", length=2, further=("q1",))
    card = SimpleNamespace(work=SimpleNamespace(id="ferry"), place=SimpleNamespace(address="1.1.2"))
    card.line = SimpleNamespace(length=2)
    columns = [SimpleNamespace(retriever=name, cards=[card]) for name in ("reranked", "dense-relic")]
    kept = {}
    monkeypatch.setattr(read_address, "at_hand", lambda _: SimpleNamespace(columns=columns))
    monkeypatch.setattr(read_address.keep, "asked", lambda *_: asked)
    monkeypatch.setattr(read_address.keep, "press", lambda *_, **given: kept.update(given))
    read_address.keep_pressed(None, "keep", "")
    assert (kept["retriever"], kept["rank"]) == ("reranked", 1)


def test_a_search_for_passages_like_one_is_told_by_its_words(app, ferry):
    like = SeedPassage(ferry.id, "2.1.2", 1)
    kept = app.bench.history.keep(SearchRequest(work_id=ferry.id, like=like, retrievers=("bm25",)))
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", q=kept.id))
    assert SAYS["passages like"] in plain(html(at))
    assert re.search(r'<span data-at="[\d.]+">', html(at)), "its hits are marked"


def test_a_hit_of_the_whole_library_leads_to_its_work_and_back(app, ferry):
    kept = app.bench.history.keep(SearchRequest(work_id="", claim_text="Who counted?", retrievers=("bm25",)))
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", q=kept.id))
    assert said(at) == ""
    assert links(at, "find")[SAYS["arrow back"]] == f"find?q={kept.id}"
    assert all(f"work={ferry.id}" in href for words, href in links(at, "read").items() if "hit" in words)


# ---- searching from here ------------------------------------------------------------------------------------------


def test_the_chapter_that_is_read_can_be_searched(app, ferry):
    at = sound(app.open(READ, work=ferry.id, at="2.1.1"))
    assert links(at, "find") == {SAYS["search chapter"]: f"find?work={ferry.id}&in=2"}


def test_the_passage_that_is_lit_leads_to_others_like_it(app, ferry):
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", n="2"))
    assert f'href="find?like={ferry.id}"' in place(at)["like"]


# ---- the word it was opened from ----------------------------------------------------------------------------------


def test_the_way_back_to_the_places_of_a_word_stays_open(app, ferry):
    words = "word=<b>river&sort=left&page=2&other=x"
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", words=words))
    back = {"← Back to the places of “<b>river”": "concordance?word=%3Cb%3Eriver&sort=left&page=2"}
    assert links(at, "concordance") == back
    assert "words=word%3D%3Cb%3Eriver%26" in place(at)["address"]
    on = links(at, "read")["Chapter II →"]
    for name, value in parse_qsl(on.split("?")[1]):
        at.query_params[name] = value
    assert links(sound(at.run()), "concordance") == back


@pytest.mark.parametrize("words", ["river", "&&=", "sort=left", "x=1"])
def test_a_word_that_cannot_be_read_leads_nowhere(app, ferry, words):
    assert links(sound(app.open(READ, work=ferry.id, at="1", words=words)), "concordance") == {}


# ---- the place that is kept ---------------------------------------------------------------------------------------


def test_coming_back_within_a_visit_shows_the_chapter_where_one_was(app, ferry):
    at = sound(app.open(READ, work=ferry.id, at="2.1.2"))
    at.query_params.clear()
    sound(at.switch_page("pages/library.py").run())
    at.query_params.clear()
    sound(at.switch_page(READ).run())
    assert heading(at) == "Chapter II"
    assert place(at)["resumed"]
    assert place(at)["lit"] is None
    assert place(at)["offer"] == {}


def test_a_new_visitor_chooses_a_work(app, ferry):
    at = sound(app.open(READ))
    assert at.title[0].value == "Read"
    assert f"read?work={ferry.id}" in links(at, "read").values()
    assert set(place(at)["offer"]) == {work.id for work in app.bench.works.summaries()}


# ---- who quotes it ------------------------------------------------------------------------------------------------


def test_how_often_a_sentence_is_quoted_stands_beside_it_and_by_whom_is_listed(app, ferry):
    work = app.bench.works.load(ferry.id)
    for title in ("Tides <i>&</i> Towns", "Slack Water"):
        source = make_source(title)
        keep(app.bench, source, [make_window(work, source, 1), make_window(work, source, 4)], works=[work])
    at = sound(app.open(READ, work=ferry.id))
    assert place(at)["quoted"] == {"1.1.2": 2}
    assert place(at)["quoting"] == ""
    assert "Critics quote one sentence here" in plain(html(at))
    assert "All 4 quotations" in links(at, "sources")

    listed = place(sound(app.open(READ, work=ferry.id, at="1.1.2", quoting="1")))
    assert "quoting=1" in listed["address"]
    assert "Quoted 2 times by 2 sources" in plain(listed["quoting"])
    assert "<mark>Nobody counted the &lt;b&gt;lanterns&lt;/b&gt; on the quay.</mark>" in listed["quoting"]
    assert "<i>&" not in listed["quoting"]
    assert f"sources?work={ferry.id}&amp;at=1.1.2" in listed["quoting"]


def test_a_work_that_nobody_quotes_is_read_as_it_was(app, ferry):
    at = sound(app.open(READ, work=ferry.id, at="1.1.2", quoting="1"))
    assert place(at)["quoted"] == {}
    assert "Critics" not in plain(html(at))
    assert SAYS["quoted no more"] in plain(place(at)["quoting"])
