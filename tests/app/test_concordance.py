"""Find a word: where does this word or phrase stand, and in what company?"""

from __future__ import annotations

import re

import pytest

from relic_core.domain import Address
from relic_core.errors import StoreBusy
from relic_core.services.concordance import PAGE, Concordance
from tests.app.reading import html, plain, said, sound
from tests.approved import says

SAYS = says("concordance")

CONCORDANCE = "pages/concordance.py"
RIVER = """RIVER

CHAPTER I

The river rose all night. The old river rose again; an <b>honour</b> to the river & *its* colour.

CHAPTER II

He went home. They go. Honors were gone.
"""


@pytest.fixture
def sample(app):
    (work,) = app.bench.works.summaries()
    return work


@pytest.fixture
def river(app):
    """A second, short work that nothing has been prepared for."""
    return app.bench.works.add(RIVER.encode(), name="river.txt", title="The <i>River</i>").work


def look_up(at, word):
    return sound(at.text_input(key="concordance_word").set_value(word).run())


def summary(at):
    return plain(re.search(r'role="status">(.*?)</div>', html(at), re.DOTALL)[1])


def rows(at):
    return re.findall(r'<tr role="row" id="kwic-\d+"><td.*?</tr>', html(at), re.DOTALL)


def keywords(at):
    return [plain(re.search(r"<mark>(.*?)</mark>", row)[1]) for row in rows(at)]


def hrefs(at, label):
    """Return where the links with these words lead."""
    found = re.findall(r'<a class="relic-link[^"]*" href="([^"]*)"[^>]*>(.*?)</a>', html(at))
    return [href.replace("&amp;", "&") for href, words in found if plain(words) == label]


def address(at):
    """Return what the page's address carries."""
    return {name: value[0] if isinstance(value, list) else value for name, value in at.query_params.items()}


# ---- the way through ----------------------------------------------------------------------------------------------


def test_an_empty_library_points_to_where_works_are_added(app, sample):
    app.bench.works.remove(sample.id)
    at = sound(app.open(CONCORDANCE))
    assert SAYS["empty library"] in said(at)


def test_before_a_word_there_are_words_to_try(app, sample):
    at = sound(app.open(CONCORDANCE))
    assert said(at) == ""
    assert rows(at) == []
    for word in ("brass", "lamp*", "high water"):
        (href,) = hrefs(at, word)
        assert href.endswith(f"&work={sample.id}")
    assert address(at) == {}


def test_a_word_is_set_in_its_context_with_its_place(app, sample):
    at = look_up(app.open(CONCORDANCE, work=sample.id), "bolt*")
    work = app.bench.works.load(sample.id)
    assert summary(at).startswith(SAYS["how often"])
    assert len(rows(at)) == 13
    assert {word.casefold() for word in keywords(at)} == {"bolt"}
    for row in rows(at):
        place = re.search(r'href="read\?work=([^&]*)&amp;at=([\d.]+)&amp;words=word%3Dbolt%252A%26work%3D', row)
        assert place[1] == sample.id
        assert "bolt" in work.sentence_text(work.sentence_at(Address.parse(place[2]))).casefold()
    assert address(at) == {"word": "bolt*", "work": sample.id}


def test_a_place_is_named_in_words_and_by_chapters_as_printed(app, sample):
    at = look_up(app.open(CONCORDANCE, work=sample.id), "bolt")
    named = [plain(re.search(r'relic-kwic-place">(.*?)</td>', row)[1]) for row in rows(at)]
    assert all(re.fullmatch(r"Chapter [IVX]+: .*, paragraph \d+Keep", name) for name in named)


def test_an_address_that_names_a_work_alone_keeps_it(app, river):
    at = sound(app.open(CONCORDANCE, work=river.id))
    assert at.selectbox(key="concordance_work").value == river.id
    assert address(at) == {"work": river.id}
    look_up(at, "river")
    assert address(at) == {"word": "river", "work": river.id}


def test_all_works_are_looked_through_and_named_in_each_row(app, sample, river):
    at = look_up(app.open(CONCORDANCE), "the old river")
    assert summary(at) == "the old river occurs once, in one of 2 works."
    assert all("The &lt;i&gt;River&lt;/i&gt;" in row for row in rows(at))
    assert hrefs(at, "The <i>River</i>")[0] == f"concordance?word=the+old+river&work={river.id}"
    assert address(at) == {"word": "the old river"}


def test_works_are_not_counted_where_there_is_one(app):
    at = look_up(app.open(CONCORDANCE), "Mapplebeck")
    assert summary(at).endswith(" times, in your one work.")


def test_what_a_text_holds_is_shown_and_not_obeyed(app, river):
    at = look_up(app.open(CONCORDANCE, work=river.id), "honour")
    assert "&lt;b&gt;" in rows(at)[0]
    assert "&amp; *its* colour" in rows(at)[0]
    assert "<b>honour</b>&" not in rows(at)[0]


def test_options_widen_the_query_and_stand_in_the_address(app, river):
    at = look_up(app.open(CONCORDANCE, work=river.id), "honor")
    assert rows(at) == []
    sound(at.checkbox(key="concordance_variants").check().run())
    assert keywords(at) == ["honour"]
    sound(at.checkbox(key="concordance_forms").check().run())
    assert keywords(at) == ["honour", "Honors"]
    assert address(at) == {"word": "honor", "work": river.id, "variants": "1", "forms": "1"}
    assert "Counted: " in plain(html(at))
    assert hrefs(at, "honour") == [f"concordance?word=honor&work={river.id}&variants=1&forms=1&form=honour"]
    sound(at.checkbox(key="concordance_case").check().run())
    assert rows(at) == []
    assert at.checkbox(key="concordance_forms").disabled
    assert address(at) == {"word": "honor", "work": river.id, "case": "1"}


def test_the_order_is_chosen_and_stands_in_the_address(app, river):
    at = look_up(app.open(CONCORDANCE, work=river.id), "river")
    before = [plain(row.replace("<mark>", "|")) for row in rows(at)]
    sound(at.get_by_key("concordance_sort").set_value("left").run())
    after = [plain(row.replace("<mark>", "|")) for row in rows(at)]
    assert after != before
    assert sorted(after) == sorted(before)
    assert address(at)["sort"] == "left"


def test_a_frequent_word_is_paged_and_each_page_has_an_address(app, sample):
    at = look_up(app.open(CONCORDANCE, work=sample.id), "the")
    assert len(rows(at)) == PAGE
    (following,) = hrefs(at, "Next")
    assert following == f"concordance?word=the&work={sample.id}&page=2"
    first = rows(at)
    again = sound(app.open(CONCORDANCE, word="the", work=sample.id, page="2"))
    assert len(rows(again)) == PAGE
    assert not set(rows(again)) & set(first)
    assert "Page 2 of" in plain(html(again))
    look_up(again, "brass")
    assert "page" not in address(again)  # another word begins with its first page


def test_counts_by_chapter_lead_to_the_first_place(app, river):
    at = look_up(app.open(CONCORDANCE, work=river.id), "river")
    counted = re.findall(r'<tr><th scope="row">(.*?)</th><td>(\d+)</td>', html(at))
    assert [(plain(name), count) for name, count in counted] == [("Chapter I", "3"), ("Chapter II", "0")]
    assert 'href="read?work=' in counted[0][0]
    assert "at=1.1.1" in counted[0][0]
    assert "href" not in counted[1][0]


def test_the_table_can_be_saved(app, river):
    at = look_up(app.open(CONCORDANCE, work=river.id), "river")
    (button,) = at.get("download_button")
    assert button.label == "Save all 3 as CSV"


# ---- addresses ----------------------------------------------------------------------------------------------------


def test_an_address_opened_again_shows_the_same(app, river):
    asked = {"word": "go", "work": river.id, "sort": "right", "forms": "1", "form": "went"}
    at = sound(app.open(CONCORDANCE, **asked))
    assert at.text_input(key="concordance_word").value == "go"
    assert at.selectbox(key="concordance_work").value == river.id
    assert at.checkbox(key="concordance_forms").value
    assert at.get_by_key("concordance_sort").value == "right"
    assert keywords(at) == ["went"]
    assert address(at) == asked


def test_back_clears_the_word_and_a_press_before_the_address_has_caught_up_does_not(app, river):
    at = look_up(app.open(CONCORDANCE), "river")
    at.query_params.clear()
    at = sound(at.checkbox(key="concordance_forms").check().run())
    assert at.text_input(key="concordance_word").value == address(at)["word"] == "river"
    at.query_params.clear()
    at.query_params["word"] = "river"
    at = sound(at.get_by_key("concordance_sort").set_value("right").run())
    assert address(at) == {"word": "river", "forms": "1", "sort": "right"}
    at.query_params.clear()
    assert sound(at.run()).text_input(key="concordance_word").value == ""


@pytest.mark.parametrize(
    "asked",
    [
        {"sort": "sideways"},
        {"page": "-1"},
        {"page": "²"},
        {"page": "9" * 40},
        {"page": "900"},
        {"case": "1", "forms": "1", "variants": "1"},
        {"forms": "yes"},
    ],
)
def test_odd_parameters_are_passed_over(app, river, asked):
    at = sound(app.open(CONCORDANCE, word="river", work=river.id, **asked))
    assert len(rows(at)) == 3
    assert said(at) == ""


def test_a_work_that_is_not_there_is_told_and_all_are_looked_through(app, river):
    at = sound(app.open(CONCORDANCE, word="river", work="gone-00000000"))
    assert SAYS["work unknown"] in said(at)
    assert any("River" in row for row in rows(at))


# ---- nothing found, and odd input ---------------------------------------------------------------------------------


def test_nothing_found_is_said_with_what_is_near(app, sample, river):
    at = look_up(app.open(CONCORDANCE, work=river.id), "rivver")
    assert summary(at) == SAYS["word absent"]
    assert hrefs(at, "river") == [f"concordance?word=river&work={river.id}"]
    assert hrefs(at, "Look in all 2 works") == ["concordance?word=rivver"]


@pytest.mark.parametrize(
    ("typed", "message"),
    [("?!", "There is no word to look for"), ("*", SAYS["wildcard alone"]), ("word " * 300, SAYS["find page"])],
    ids=["signs", "star", "paste"],
)
def test_what_cannot_be_looked_up_is_told(app, typed, message):
    at = look_up(app.open(CONCORDANCE), typed)
    assert message in said(at)
    assert rows(at) == []


@pytest.mark.parametrize("typed", ["", "   ", "\n"])
def test_nothing_typed_is_no_query(app, typed):
    at = look_up(app.open(CONCORDANCE), typed)
    assert said(at) == ""
    assert address(at) == {}


def test_a_busy_store_is_told(app, monkeypatch):
    def held(concordance, request):
        raise StoreBusy("Another program holds the store. Wait until it has finished.")

    monkeypatch.setattr(Concordance, "find", held)
    assert "Another program holds the store." in said(look_up(app.open(CONCORDANCE), "brass"))


def test_speech_alone_can_be_looked_through_and_the_address_says_so(app, river):
    app.bench.works.add("QUAY\n\nCHAPTER I\n\n“The river!” said Job. The river rose.\n".encode(), name="quay.txt")
    at = look_up(sound(app.open(CONCORDANCE)), "river")
    every = len(rows(at))
    sound(at.get_by_key("concordance_voice").set_value("speech").run())
    (spoken,) = rows(at)
    assert "said Job" in plain(spoken)
    assert address(at)["voice"] == "speech"
    again = sound(app.open(CONCORDANCE, **address(at)))
    assert rows(again) == [spoken]
    assert len(rows(sound(again.get_by_key("concordance_voice").set_value("narration").run()))) == every - 1


def test_other_words_are_counted_beside_the_first_by_chapter_and_by_work(app, sample):
    for where, first in (({"work": sample.id}, "Chapter"), ({}, "Work")):
        at = sound(app.open(CONCORDANCE, word="brass", **{"with": "lamp, no such word"}, **where))
        heads = re.findall(r'<th scope="col">(.*?)</th>', html(at))
        assert heads[:4] == [first, "brass", "lamp", "no such word"]
        assert "0.0 (0)" in html(at)
