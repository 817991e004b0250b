"""Find: which passages of this work would serve as evidence for my claim?"""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl

import pytest

from relic_core.errors import RelicError
from relic_core.ports import silent
from relic_core.retrieval.reranked import Reranked
from relic_core.retrieval.vectors import VectorSearch
from relic_core.services.answers import widen
from relic_core.services.search import Search
from relic_core.store.jobs import JobFolder
from relic_core.wiring import build
from relic_ui.naming import name_of
from tests.app.reading import FIND, as_read, bars, found, html, plain, said, sound
from tests.approved import says
from tests.inline import InlineExecutor
from tests.making_rerankers import CountingReranker
from tests.making_sources import keep, make_source, make_window
from tests.making_training import make_base

SAYS = says("find")

CLAIM = "The brass bolt stands for a false certainty"
TITLES = ["By a second model · Reranked", "By meaning · dense-RELiC", "By words · BM25"]
ELSEWHERE = "Gatsby's parties are a display of wealth"
WORDS_OF_THE_WORK = "remarked that it was nice to see a good solid bit of brass"
PASSAGE = (
    f"The officer from London {WORDS_OF_THE_WORK}. He trusts what shines, and the whole coast is surveyed from it."
)

LANTERNS = """LANTERNS

CHAPTER I

The river rose all night. Nobody counted the lanterns on the quay. Nobody had been asked to.

CHAPTER II

In the morning there was one lantern fewer. The ferryman said that it had gone to look for its owner.
"""


@pytest.fixture
def lanterns(app):
    """A second, short work that nothing has been prepared for."""
    return app.bench.works.add(LANTERNS.encode(), name="lanterns.txt", title="Lanterns").work


def ask(at, claim, **settings):
    """Set the form of the Find page, write the claim, and press Find."""
    for key, value in settings.items():
        sound(at.get_by_key(f"find_{key}").set_value(value).run())
    return found(at, claim)


def find(at):
    """Press Find."""
    return sound(at.button(key="find_button").click().run())


def columns(at):
    """Return the cards of each column, as HTML; of a view with one list those of the list."""
    return [[each.value for each in part.get("html") if "<article" in each.value] for part in at.columns or [at.main]]


def cards(at):
    return [card for column in columns(at) for card in column]


def headings(at):
    return [plain(heading) for heading in re.findall(r"<h2>(.*?)</h2>", html(at))]


def view(at, name):
    """Choose how the answer is shown."""
    return sound(at.get_by_key("find_view").set_value(name).run())


def blockquotes(card):
    return re.findall(r"<p[^>]*>(.*?)</p>", re.search(r"<blockquote>(.*?)</blockquote>", card, re.DOTALL)[1], re.DOTALL)


# ---- the way through ----------------------------------------------------------------------------------------------


def test_an_empty_library_points_to_where_works_are_added(app):
    (sample,) = app.bench.works.summaries()
    app.bench.works.remove(sample.id)
    at = sound(app.open(FIND))
    assert SAYS["empty library"] in said(at)
    assert list(at.main.get("page_link")) != []
    assert list(at.text_area) == []


def test_before_a_claim_there_is_a_form_and_no_answer(app):
    at = sound(app.open(FIND))
    assert list(at.columns) == []
    assert said(at) == ""
    assert "q" not in at.query_params


def test_a_claim_brings_three_columns_of_verbatim_located_cards(app):
    at = ask(app.open(FIND), CLAIM, length=1)
    assert headings(at) == TITLES
    assert [len(column) for column in columns(at)] == [5, 5, 5]
    (sample,) = app.bench.works.summaries()
    work = app.bench.works.load(sample.id)
    sentences = {" ".join(work.sentence_text(n).split()).replace("_", "") for n in range(len(work.sentences))}
    for card in cards(at):
        (whole,) = blockquotes(card)
        assert plain(re.sub(r'<span class="relic-rest">.*?</span>', "", whole)) in sentences
        assert re.search(r">[^<]+ · paragraph\u00a0\d+\u00a0·\u00a0\d+%</a></h3>", card)
        why, figures = card.split("Why this?</summary>")[1].split("Figures</summary>")
        assert why.count("<div>") <= 3
        assert re.search(r"Ranked [\d,]+ here, [\d,]+ by .*, [\d,]+ by ", plain(figures))
    assert f"{work.candidates(1):,} passages compared" in html(at)
    assert "never uses" not in html(at)


def test_cards_are_numbered_without_gaps_and_one_that_stands_further_left_too_is_marked_and_short(app):
    at = ask(app.open(FIND), CLAIM)
    for column in columns(at):
        assert [re.search(r"Passage </span>(\d+)<", card)[1] for card in column] == ["1", "2", "3", "4", "5"]
    first, *others = columns(at)
    assert not any("relic-card-again" in card for card in first)
    again = [card for column in others for card in column if "relic-card-again" in card]
    assert again
    assert {blockquotes(card)[0] for card in again} <= {
        blockquotes(card)[0] for column in columns(at) for card in column
    }
    assert all("also by a second model, " in plain(card.split("</summary>")[0]) for card in again if card in others[0])


def test_a_note_gives_the_number_that_stands_on_the_card(app):
    at = ask(app.open(FIND), CLAIM, length=2)
    for card in cards(at):
        number, kept = re.search(r"Passage </span>(\d+)<", card)[1], re.search(r'data-to="([^"]+)"', card)[1]
        assert kept.split("/")[-1] == number
    for card in cards(view(at, "best")):
        retriever, rank = re.search(r'data-to="([^"]+)"', card)[1].split("/")[-2:]
        called = {"reranked": "by a second model", "dense-relic": "by meaning", "bm25": "by words"}[retriever]
        assert f"{called}, {rank}" in plain(card)


def test_the_best_evidence_has_each_passage_once_and_says_who_chose_it(app):
    at = view(ask(app.open(FIND), CLAIM, length=1), "best")
    best = cards(at)
    assert len(best) >= 10
    assert len({blockquotes(card)[0] for card in best}) == len(best)
    assert [re.search(r"Passage </span>(\d+)<", card)[1] for card in best] == [str(n + 1) for n in range(len(best))]
    reranked = cards(view(at, "reranked"))
    assert [blockquotes(card) for card in best[:5]] == [blockquotes(card) for card in reranked]
    assert all("by a second model, " in card for card in best[:5])
    everything = {blockquotes(card)[0] for name in ("dense-relic", "bm25") for card in cards(view(at, name))}
    assert everything <= {blockquotes(card)[0] for card in best}, "at this length no passages overlap"
    assert len(cards(sound(at.run()))) == 5, "the view stays chosen"


def test_the_address_names_the_view_unless_it_is_the_one_that_opens(app):
    at = view(ask(app.open(FIND), CLAIM), "best")
    best, address = cards(at), dict(at.query_params)
    assert address["view"] == "best"
    again = sound(app.open(FIND, **address))
    assert cards(again) == best
    ask(again, "The sea keeps its own accounts")
    assert again.query_params["view"] == "best", "it stays chosen"
    assert "view" not in view(again, "side").query_params


@pytest.mark.parametrize("pressed", [True, False])
def test_a_press_that_overtakes_the_address_leaves_claim_and_view_and_back_does_not(app, pressed):
    at = view(ask(app.open(FIND), CLAIM), "best")
    at.query_params.clear()
    at.session_state["pressed"] = pressed
    sound(at.run())
    assert at.text_area(key="find_claim").value == (CLAIM if pressed else "")
    assert bool(cards(at)) is pressed
    if pressed:
        assert at.get_by_key("find_view").value == "best"


def test_a_card_sets_the_rest_of_its_sentence_apart_and_the_candidate_alone_is_kept(app):
    at = ask(app.open(FIND), CLAIM)
    (sample,) = app.bench.works.summaries()
    work = app.bench.works.load(sample.id)
    text = " ".join(work.text.split()).replace("_", "")
    rests = 0
    for card in cards(at):
        words = blockquotes(card)[0]
        rests += "relic-rest" in words
        assert plain(words) in text, "with its sentence it stands in the work as it is shown"
    assert rests


def test_a_passage_says_how_many_critics_quote_it_and_such_alone_can_be_searched(app, lanterns):
    work = app.bench.works.load(lanterns.id)
    for title in ("Tides", "Towns"):
        source = make_source(title)
        keep(app.bench, source, [make_window(work, source, 1), make_window(work, source, 3)], works=[work])
    asked = {"work": lanterns.id, "retrievers": ["bm25"], "length": 1}
    at = ask(app.open(FIND), "Nobody was asked in the morning, and nobody counted lanterns", **asked)
    counted = {plain(blockquotes(card)[0]): re.findall(r"quoted by[^<]*", card) for card in cards(at)}
    assert counted["Nobody counted the lanterns on the quay."] == ["quoted by 2 critics"]
    assert counted["Nobody had been asked to."] == []
    (link,) = re.findall(r'href="sources\?([^"]*)"', next(card for card in cards(at) if "quoted by" in card))
    assert dict(parse_qsl(unescape(link))) == {"work": lanterns.id, "at": str(work.address(1))}

    ask(at, "Nobody was asked in the morning, and nobody counted lanterns", quoted=True)
    assert {plain(blockquotes(card)[0]) for card in cards(at)} == {
        "Nobody counted the lanterns on the quay.",
        "In the morning there was one lantern fewer.",
    }
    assert "2 passages compared" in html(at)
    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert columns(again) == columns(at)
    assert again.get_by_key("find_quoted").value is True
    (critics,) = re.findall(r'href="sources\?(about=[^"]*)"', html(again))
    assert dict(parse_qsl(unescape(critics))) == {
        "about": "Nobody was asked in the morning, and nobody counted lanterns",
        "work": lanterns.id,
    }
    ask(at, "He is told that nobody counted the lanterns on the quay: Nobody had been asked to.", quoted=False)
    assert SAYS["own words"] in html(at), "both what the work says and the choice of what critics quote are shown"


QUAY = """THE QUAY

CHAPTER I

“Nobody counted the lanterns,” said Tamsin Orme. “Nobody was asked to.”

The lanterns burned on the quay all night.

“Let them burn.”
"""


def test_a_card_says_who_speaks_and_speech_or_narration_alone_can_be_searched(app):
    work = app.bench.works.add(QUAY.encode(), name="quay.txt", title="The Quay").work
    claim = "Nobody asked to let the lanterns burn on the quay"

    def answered(**settings):
        asked = ask(at, claim, length=1, **settings)
        return {plain(blockquotes(card)[0]): re.findall(r"spoken by[^<]*", card) for card in cards(asked)}

    at = app.open(FIND)
    spoken = {
        "“Nobody counted the lanterns,” said Tamsin Orme.": ["spoken by Tamsin Orme"],
        "“Nobody was asked to.”": ["spoken by Tamsin Orme"],
        "“Let them burn.”": [],
    }
    told = {"The lanterns burned on the quay all night.": []}
    assert answered(work=work.id, retrievers=["bm25"]) == spoken | told
    assert answered(voice="speech") == spoken
    assert "3 passages compared" in html(at)
    assert answered(voice="narration") == told
    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert columns(again) == columns(at)
    assert again.get_by_key("find_voice").value == "narration"


def test_passages_that_critics_quote_cannot_be_searched_where_there_is_no_criticism(app):
    at = app.open(FIND)
    assert not any(each.key == "find_quoted" for each in at.toggle)
    at.session_state["find_quoted"] = True
    found(at, CLAIM)
    assert SAYS["no criticism"] in said(at)
    assert "sources?about" not in html(at)


def test_a_phone_shows_the_best_evidence_first_and_no_columns(app, monkeypatch):
    from streamlit.runtime.context import ContextProxy

    monkeypatch.setattr(ContextProxy, "headers", {"User-Agent": "Mozilla/5.0 (Linux; Android 15) Mobile Safari"})
    at = ask(app.open(FIND), CLAIM)
    assert at.get_by_key("find_view").value == "best"
    assert list(at.columns) == []
    assert "side" not in at.get_by_key("find_view").options


def test_what_is_counted_above_columns_is_the_best_evidence_by_name(app, monkeypatch):
    monkeypatch.setattr("relic_ui.find.answering.found_in_a_line", lambda *_: "most often from the quay")
    at = ask(app.open(FIND), CLAIM)
    shown = {name: "Best evidence: most often from the quay." in html(view(at, name)) for name in ("side", "best")}
    assert shown == {"side": True, "best": False}
    assert "Most often from the quay." in html(at)


@pytest.mark.parametrize(
    ("told", "opens"),
    [(("narrow", ""), "best"), (("wide", ""), "side"), (("wide", "bm25"), "bm25"), (("narrow", "gone"), "best")],
)
def test_what_opens_goes_by_the_width_of_the_window_and_by_what_was_chosen_last_in_it(app, told, opens):
    at = app.open(FIND)
    at.session_state["find_browser"] = told
    ask(at, CLAIM)
    assert at.get_by_key("find_view").value == opens
    assert at.query_params.get("view", opens) == opens


def test_nothing_is_searched_before_it_is_asked_for(app, lanterns):
    at = ask(app.open(FIND), CLAIM)
    before, address = columns(at), at.query_params["q"]
    for key, value in (("length", 3), ("retrievers", ["bm25"]), ("results", 2), ("work", lanterns.id)):
        sound(at.get_by_key(f"find_{key}").set_value(value).run())
        assert columns(at) == before
        assert at.query_params["q"] == address
    assert len(app.bench.history.recent()) == 1
    find(at)
    assert headings(at) == ["By words · BM25"]
    assert at.query_params["q"] != address


def test_one_thing_more_joins_the_claim_as_its_second_sentence(app):
    at = app.open(FIND)
    at.text_input(key="find_more").set_value("It is there from the first page")
    ask(at, CLAIM)
    joined = f"{CLAIM}. It is there from the first page"
    assert at.text_area(key="find_claim").value == joined
    assert "It is there from the first page" in at.expander[0].label
    at.text_input(key="find_say_more").set_value("Pask wrote it")
    sound(at.button(key="find_more_button").click().run())
    assert at.text_area(key="find_claim").value == f"{joined}. Pask wrote it"
    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert columns(again) == columns(at)


def test_a_claim_with_a_gap_is_not_asked_for_more(app):
    at = ask(sound(app.open(FIND)), f"{CLAIM} [MASK] That is how it goes on the quay.", retrievers=["bm25"])
    assert not {"find_more", "find_say_more"} & {each.key for each in at.text_input}


def test_any_length_opens_and_its_line_is_what_is_kept_and_can_be_widened(app):
    at = ask(app.open(FIND), CLAIM, retrievers=["bm25"])
    assert at.get_by_key("find_length").value == 0
    (result,) = [at.session_state["find_answer"][2]]
    (column,) = result.columns
    for card in column.cards:
        assert card.shown.holds(card.line)
        assert card.span.overlaps(card.line)
        assert len(card.work.span_text(card.shown).split()) <= max(60, len(card.work.span_text(card.line).split()))
    card = column.cards[0]
    kept = f'data-to="{card.work.id}/{card.place.address}/{card.line.length}/'
    assert kept in cards(at)[0]
    wider = widen(card)
    assert wider.line.holds(card.line) and wider.line != card.line
    at.session_state["find_widened"] = {f"{at.session_state['find_search']}/{card.work.id}/{card.span.start}": 1}
    sound(at.run())
    assert f'data-to="{card.work.id}/{wider.place.address}/{wider.line.length}/' in cards(at)[0]
    assert kept not in cards(at)[0]


def test_a_chapter_that_holds_much_of_the_answer_is_searched_alone_and_given_up_again(app):
    at = ask(app.open(FIND), CLAIM, retrievers=["bm25"])
    everywhere = at.query_params["q"]
    scene = at.session_state["find_answer"][2].scenes[0]
    sound(at.button(key=f"find_scene_{scene.chapter}").click().run())
    assert places(at) == {scene.name}
    sound(at.button(key="find_whole").click().run())
    assert at.query_params["q"] == everywhere


def test_an_example_answers_at_one_click(app):
    at = app.open(FIND)
    example = at.button(key=next(button.key for button in at.button if button.label == CLAIM))
    sound(example.click().run())
    assert at.text_area(key="find_claim").value == CLAIM
    assert at.get_by_key("find_length").value == 0
    assert [len(column) for column in columns(at)] == [5, 5, 5]


def test_every_setting_counts(app):
    at = ask(app.open(FIND), CLAIM, length=4, results=2, retrievers=["bm25", "fusion"])
    assert headings(at) == ["By both · Combined", "By words · BM25"]
    assert [len(column) for column in columns(at)] == [2, 2]
    (sample,) = app.bench.works.summaries()
    assert f"{sample.sentences - 3:,} passages compared" in html(at)
    four = columns(at)
    ask(at, CLAIM, length=1)
    assert f"{sample.sentences:,} passages compared" in html(at)
    assert columns(at) != four


def test_the_strip_has_a_tick_for_every_passage_and_dots_that_lead_to_cards(app):
    at = ask(app.open(FIND), CLAIM)
    passages = set(re.findall(r'<article class="relic-card" id="([^"]+)"', html(at)))
    track = re.search(r'<div class="relic-track[^>]*>(.*?)<div class="relic-strip-names', html(at))[1]
    dots = re.findall(r'<a class="relic-dot" href="#([^"]+)"', track)
    assert track.count("<i ") == len(passages)
    assert len(set(dots)) == len(dots) > 5
    assert passages.issuperset(dots)


# ---- strong and weak ----------------------------------------------------------------------------------------------


@pytest.fixture
def set_bar(app, monkeypatch):
    """Return what sets a threshold for the encoder that the app goes by, whichever it is; cosines end at 1."""
    known = app.bench.retrievers.get("dense-relic").calibration

    def put(cosine):
        threshold = replace(known.strength, fair=cosine, strong=cosine)
        monkeypatch.setattr(VectorSearch, "calibration", replace(known, strength=threshold))

    return put


def test_a_claim_about_another_book_reads_as_weak_and_names_what_the_work_never_uses(app, set_bar):
    set_bar(2.0)
    at = ask(app.open(FIND), f"{ELSEWHERE}: [MASK] So it goes on.")
    assert SAYS["weak evidence"] in html(at)
    assert "never uses “Gatsby”" in html(at)
    ask(at, ELSEWHERE)
    assert SAYS["weak evidence"] not in html(at), "of a short claim that cannot be told"
    assert "never uses “Gatsby”" in html(at)

    set_bar(-2.0)
    ask(at, CLAIM)
    assert SAYS["weak evidence"] not in html(at)
    assert "never uses" not in html(at)


def test_words_of_the_claim_are_lit_in_the_quotation(app):
    *_, bm25 = columns(ask(app.open(FIND), CLAIM))
    lit = [set(map(str.casefold, re.findall(r"<mark>(.*?)</mark>", card))) for card in bm25]
    assert all(lit)
    assert set().union(*lit) <= {"brass", "bolt", "stands", "stand", "standing", "stood", "false", "certainty"}


# ---- quoting the work ---------------------------------------------------------------------------------------------


def test_a_passage_pasted_whole_is_recognised_and_masked_at_one_click(app):
    at = ask(app.open(FIND), PASSAGE)
    assert f"Your claim quotes {len(WORDS_OF_THE_WORK.split())} {SAYS['own words']}" in html(at)
    marked = [card for card in cards(at) if SAYS["card quoted"] in card]
    assert marked
    assert all(WORDS_OF_THE_WORK in plain(card) for card in marked)
    before = columns(at)

    sound(at.button(key="find_mask").click().run())
    masked = "The officer from London ____ He trusts what shines, and the whole coast is surveyed from it."
    assert at.text_area(key="find_claim").value == masked
    assert "Your claim quotes" not in html(at)
    assert SAYS["card quoted"] not in html(at)
    assert columns(at) != before


# ---- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("word " * 20_000, r"20,000 words; up to 2,000"),
        ("Любовь и смерть в романе", SAYS["foreign script"]),
        ("He reads [MASK] and then ___ aloud", r"2 masks.*Keep the one"),
        ("[MASK]", SAYS["no words"]),
        ("…?!", SAYS["no words"]),
    ],
    ids=["20,000 words", "Cyrillic", "two masks", "a mask alone", "no words"],
)
def test_a_claim_that_cannot_be_searched_with_is_told_and_kept_in_the_box(app, claim, message):
    at = ask(app.open(FIND), claim)
    assert re.search(message, said(at))
    assert list(at.columns) == []
    assert at.text_area(key="find_claim").value == claim
    ask(at, CLAIM)
    assert [len(column) for column in columns(at)] == [5, 5, 5]


def test_the_button_says_what_is_missing(app):
    at = app.open(FIND)
    sound(at.button(key="find_button").click().run())
    assert SAYS["claim missing"] in said(at)


def test_no_way_of_searching_is_told(app):
    at = ask(app.open(FIND), CLAIM, retrievers=[])
    assert SAYS["retriever missing"] in said(at)
    assert list(at.columns) == []


def test_a_work_shorter_than_the_quotation_is_told(app):
    app.bench.works.add(b"It rained. Nobody minded.", name="rain.txt", title="Rain")
    at = app.open(FIND)
    at.selectbox(key="find_work").set_value(next(w.id for w in app.bench.works.summaries() if w.title == "Rain"))
    ask(at, "the rain", length=3)
    assert "Rain has 2 sentences" in said(at)


# ---- the address --------------------------------------------------------------------------------------------------


def test_the_address_reopens_the_search(app, lanterns):
    first = app.open(FIND)
    asked = {"work": lanterns.id, "length": 2, "results": 3, "retrievers": ["bm25"]}
    ask(first, "The ferryman is to blame", **asked)

    at = sound(app.open(FIND, q=first.query_params["q"]))
    assert at.text_area(key="find_claim").value == "The ferryman is to blame"
    assert {key: at.get_by_key(f"find_{key}").value for key in asked} == asked
    assert columns(at) == columns(first)
    assert columns(at)[0]
    assert at.query_params["q"] == first.query_params["q"]


def test_another_model_that_was_chosen_meanwhile_answers_the_same_claim(app, monkeypatch):
    at = ask(app.open(FIND), CLAIM)
    before = columns(at)
    monkeypatch.setattr(
        "relic_core.retrieval.reranked.create", lambda _, components: Reranked(components[0], CountingReranker("t"))
    )
    sound(at.run())
    assert columns(at) == before
    app.bench.trainings.use_packaged()
    sound(at.run())
    quoted = [[[blockquotes(card) for card in column] for column in found] for found in (columns(at), before)]
    assert quoted[0][1:] == quoted[1][1:]
    assert quoted[0][0] != quoted[1][0]


def test_the_address_names_another_search_after_every_change(app):
    at = ask(app.open(FIND), CLAIM)
    first = at.query_params["q"]
    ask(at, CLAIM, length=3)
    assert at.query_params["q"] != first


def test_an_address_of_no_search_is_told_and_the_form_is_there(app):
    at = sound(app.open(FIND, q="zzzzzzz"))
    assert SAYS["not reopened"] in said(at)
    assert at.text_area(key="find_claim").value == ""
    ask(at, CLAIM)
    assert said(at) == ""
    assert len(at.columns) == 3


def test_a_search_of_a_work_that_was_removed_is_told(app, lanterns):
    first = app.open(FIND)
    ask(first, "The ferryman is to blame", work=lanterns.id, retrievers=["bm25"])
    app.bench.works.remove(lanterns.id)
    at = sound(app.open(FIND, q=first.query_params["q"]))
    assert SAYS["work unknown"] in said(at)
    assert list(at.columns) == []


def test_an_address_can_name_a_work(app, lanterns):
    at = sound(app.open(FIND, work=lanterns.id))
    assert at.selectbox(key="find_work").value == lanterns.id
    assert "work" not in at.query_params


def test_a_work_named_by_the_address_is_begun_in_whatever_was_searched_before(app, lanterns):
    at = ask(app.open(FIND), CLAIM)
    assert cards(at)
    at.query_params.clear()
    sound(at.switch_page("pages/library.py").run())
    at.query_params.clear()
    at.query_params["work"] = lanterns.id
    sound(at.switch_page(FIND).run())
    assert at.selectbox(key="find_work").value == lanterns.id
    assert at.text_area(key="find_claim").value == ""
    assert cards(at) == []
    assert dict(at.query_params) == {}
    ask(at, "Who counted the lanterns?", retrievers=["bm25"])
    assert all("lantern" in card for card in cards(at))
    assert set(at.query_params) == {"q", "w", "m"}


def test_a_work_that_is_not_there_is_told(app):
    at = sound(app.open(FIND, work="nope"))
    assert SAYS["work unknown"] in said(at)
    assert at.selectbox(key="find_work").value == app.bench.works.summaries()[0].id
    ask(at, CLAIM)
    assert said(at) == ""
    assert set(at.query_params) == {"q", "w", "m"}


# ---- some chapters ------------------------------------------------------------------------------------------------


def popover(at):
    """Return what the button says that opens the rarer choices."""
    labels = [panel.proto.popover.label for panel in at.get("popover")]
    (label,) = (each for each in labels if each.startswith("Options"))
    return label


def places(at):
    """Return the chapter that each card stands in."""
    return {re.search(r">([^·<>]+?)\s·\sparagraph\s[^<]*</a></h3>", card)[1] for card in cards(at)}


@pytest.fixture
def parts(app):
    """A work of five chapters in two parts."""
    text = "FLOOD\n\n" + "\n\n".join(
        f"{part}\n\n" * bool(part) + f"CHAPTER {number}\n\nThe lantern of the {place} went out. Nobody lit it again."
        for part, number, place in [
            ("BOOK ONE", "I", "quay"), ("", "II", "mill"), ("BOOK TWO", "I", "church"), ("", "II", "inn"),
            ("", "III", "bridge"),
        ]
    )  # fmt: skip
    work = app.bench.works.add(text.encode(), name="flood.txt", title="Flood").work
    assert [part.name for part in app.bench.reading.page(work.id).contents] == ["BOOK ONE", "BOOK TWO"]
    return work


def test_a_range_of_chapters_is_searched_and_the_address_brings_it_back(app, parts):
    at = ask(app.open(FIND), "The lantern went out", work=parts.id, length=1, retrievers=["bm25"])
    assert popover(at) == "Options"
    everywhere = at.query_params["q"]
    sound(at.get_by_key("find_within").set_value("range").run())
    find(at)
    assert at.query_params["q"] == everywhere  # nothing is left out yet
    sound(at.selectbox(key="find_first").set_value(4).run())
    sound(at.selectbox(key="find_last").set_value(2).run())  # either end may come first
    find(at)
    assert popover(at) == "Options: 3 of 5 chapters"
    assert places(at) == {"BOOK ONE, Chapter II", "BOOK TWO, Chapter I", "BOOK TWO, Chapter II"}
    assert at.selectbox(key="find_first").options[0] == "BOOK ONE, Chapter I"

    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert popover(again) == "Options: 3 of 5 chapters"
    assert [again.selectbox(key=key).value for key in ("find_first", "find_last")] == [2, 4]
    assert columns(again) == columns(at)

    sound(again.get_by_key("find_within").set_value("whole").run())
    find(again)
    assert popover(again) == "Options"
    assert again.query_params["q"] == everywhere


def test_parts_and_chapters_are_chosen_one_by_one(app, parts):
    at = ask(app.open(FIND), "The lantern went out", work=parts.id, retrievers=["bm25"])
    sound(at.get_by_key("find_within").set_value("chosen").run())
    chosen = at.multiselect(key="find_chapters")
    assert "BOOK TWO, all 3 chapters" in chosen.options
    sound(chosen.set_value([(3, 5), (1, 1)]).run())
    find(at)
    assert popover(at) == "Options: 4 of 5 chapters"
    assert "BOOK ONE, Chapter II" not in places(at)
    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert again.multiselect(key="find_chapters").value == [(3, 5), (1, 1)]
    assert columns(again) == columns(at)


def test_the_chapters_of_one_work_are_not_those_of_another(app, parts, lanterns):
    at = sound(app.open(FIND, **{"work": parts.id, "in": "4"}))
    assert popover(at) == "Options: 1 of 5 chapters"
    assert dict(at.query_params) == {}
    ask(at, "The lantern went out", length=1, retrievers=["bm25"])
    assert places(at) == {"BOOK TWO, Chapter II"}
    sound(at.selectbox(key="find_work").set_value(lanterns.id).run())
    assert popover(at) == "Options"
    assert said(at) == ""


def test_a_chapter_that_is_not_there_is_told(app, parts):
    at = sound(app.open(FIND, **{"work": parts.id, "in": "99"}))
    assert SAYS["whole work"] in said(at)
    assert popover(at) == "Options"


# ---- the whole library --------------------------------------------------------------------------------------------


@pytest.fixture
def shelf(app):
    """Two further works, by name, nothing of them prepared."""
    add = app.bench.works.add
    return {
        "Lanterns": add(LANTERNS.encode(), name="lanterns.txt", title="Lanterns", author="A. Wick", year=1851).work,
        "Tide": add(LANTERNS.replace("lantern", "lamp").encode(), name="t.txt", title="Tide", year=1901).work,
    }


def titles(at):
    """Return the work that each card names."""
    return {plain(title) for card in cards(at) for title in re.findall(r'<cite class="relic-card-work">(.*?)<', card)}


def test_a_work_is_chosen_to_begin_with(app, shelf):
    assert sound(app.open(FIND)).selectbox(key="find_work").value == app.bench.works.summaries()[0].id


def test_the_work_searched_last_is_chosen_in_the_next_visit(app, shelf):
    ask(sound(app.open(FIND)), CLAIM, work=shelf["Lanterns"].id)
    assert sound(app.open(FIND)).selectbox(key="find_work").value == shelf["Lanterns"].id
    ask(sound(app.open(FIND)), CLAIM, work="")
    assert sound(app.open(FIND)).selectbox(key="find_work").value == ""


def test_one_work_is_no_library(app):
    at = sound(app.open(FIND))
    assert not any("All works" in option for option in at.selectbox(key="find_work").options)


def test_all_works_answer_and_each_card_names_its_own_and_leads_into_it(app, shelf):
    at = ask(app.open(FIND), "The lanterns on the quay", work="", results=8, retrievers=["bm25"])
    assert at.selectbox(key="find_work").options[0] == SAYS["all works"]
    assert re.search(r"3 of 3 works are searched: 1,2\d\d sentences.", html(at))
    assert titles(at) >= {"Lanterns, A. Wick (1851)", SAYS["sample"]}
    works = {f"{name_of(work)}": work.id for work in app.bench.works.summaries()}
    for card in cards(at):
        title = plain(re.search(r"<cite[^>]*>(.*?)</cite>", card)[1])
        assert f"read?work={works[title]}&amp;" in card
        assert f"find?like={works[title]}&amp;" in card
    assert "of 3 works compared" in html(at)


def test_works_are_listed_by_their_best_passages_which_lead_into_them(app, shelf):
    at = ask(app.open(FIND), "The lanterns on the quay", work="", retrievers=["bm25", "dense-relic"])
    view(at, "by-work")
    works = re.findall(r'<article class="relic-card relic-work" id="work-.*?</article>', html(at), re.DOTALL)
    assert len({plain(re.search(r"<cite[^>]*>(.*?)</cite>", work)[1]) for work in works}) == len(works) >= 2
    for work in works:
        assert 1 <= len(re.findall("<blockquote>", work)) == len(re.findall(r'href="read\?work=', work)) <= 3
        assert work.count('data-does="keep"') == work.count('href="cite?') == work.count("<blockquote>")
    ask(at, "lantern", work="", retrievers=["bm25"])
    view(at, "by-work")
    below = plain(html(at).split("</article>")[-1])
    assert "Nothing among the first" in below
    assert "Tide (1901)" in below


def test_the_works_that_passages_come_from_are_listed_by_year_and_lead_to_their_cards(app, shelf):
    at = ask(app.open(FIND), "The lanterns on the quay", work="", results=8, retrievers=["bm25"])
    (nav,) = re.findall(r'<nav class="relic-from-works".*?</nav>', html(at), re.DOTALL)
    listed = [plain(title) for title in re.findall(r"<cite>(.*?)</cite>", nav)]
    assert listed[0] == "Lanterns", "the one whose year is known comes first"
    assert SAYS["sample"] in listed[1:]
    assert sorted(re.findall(r'href="#([^"]+)"', nav)) == sorted(
        re.findall(r'<article class="[^"]*" id="([^"]+)"', html(at))
    )


def test_the_library_is_narrowed_and_the_address_brings_it_back(app, shelf):
    at = ask(app.open(FIND), "Nobody counted", work="", retrievers=["bm25"])
    assert len(titles(at)) > 1
    sound(at.multiselect(key="find_authors").set_value(["A. Wick"]).run())
    find(at)
    assert popover(at) == "Options: one work"
    assert titles(at) == {"Lanterns, A. Wick (1851)"}

    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert again.selectbox(key="find_work").value == ""
    assert again.multiselect(key="find_authors").value == ["A. Wick"]
    assert columns(again) == columns(at)
    sound(again.button(key="find_all_works").click().run())
    assert popover(again) == "Options"

    sound(again.number_input(key="find_first_year").set_value(1900).run())
    find(again)
    assert titles(again) == {"Tide (1901)"}
    assert SAYS["year unknown"] in html(again)
    sound(again.number_input(key="find_last_year").set_value(1800).run())
    assert SAYS["years reversed"] in html(again)
    sound(again.number_input(key="find_last_year").set_value(None).run())
    sound(again.multiselect(key="find_works").set_value([shelf["Lanterns"].id]).run())
    find(again)
    assert SAYS["nothing fits"] in said(again)
    assert cards(again) == []
    assert dict(again.query_params) == {}
    sound(again.button(key="find_widen").click().run())
    assert len(titles(again)) > 1


def test_a_work_chosen_after_narrowing_is_searched_alone(app, shelf):
    at = ask(app.open(FIND), "Nobody counted", work="", retrievers=["bm25"])
    sound(at.multiselect(key="find_authors").set_value(["A. Wick"]).run())
    sound(at.selectbox(key="find_work").set_value(shelf["Tide"].id).run())
    find(at)
    assert said(at) == ""
    assert titles(at) == set(), "a card of one work need not name it"
    assert all("lamp" in card or "Nobody" in card for card in cards(at))


def test_works_that_are_not_prepared_are_named_and_prepared_on_request(app, shelf):
    at = ask(app.open(FIND), "Nobody counted the lanterns", work="")
    assert SAYS["two unprepared"] in html(at)
    _, dense, bm25 = columns(at)
    assert dense, "the columns answer from what is there"
    assert all("Averhythe" in card for card in dense)
    assert any("Lanterns" in card for card in bm25)
    assert bars(at) == []
    assert app.bench.jobs.recent() == ()

    app.run_jobs()
    at = ask(app.open(FIND), "Nobody counted the lanterns", work="")
    sound(at.button(key="find_start_prepare").click().run())
    assert "cannot be searched by meaning" not in html(at)
    assert any("Lanterns" in card for card in columns(at)[1])


def test_a_library_is_not_prepared_for_what_cannot_search_it(app, shelf):
    at = ask(app.open(FIND), "Nobody counted", work="", retrievers=["dense-relic", "late"])
    sound(at.button(key="find_start_prepare").click().run())
    (folder,) = JobFolder.all(app.settings.jobs)
    assert folder.spec.arguments["retrievers"] == ["dense-relic"]


def test_the_preparation_of_a_library_is_seen_while_it_goes_on(app, shelf):
    at = ask(app.open(FIND), "Nobody counted the lanterns", work="")
    sound(at.button(key="find_start_prepare").click().run())
    assert bars(at) == ["Preparing 2 works: starting"]
    assert "find_start_prepare" not in {button.key for button in at.button}
    assert len(app.held.alive) == 1
    sound(at.run())
    assert len(app.held.alive) == 1


def test_a_work_that_is_not_prepared_is_said_not_to_have_been_read_and_not_to_have_been_passed_over(app, shelf):
    at = ask(app.open(FIND), "Nobody counted the lanterns", work="")
    *_, bm25 = columns(at)
    unread = [card for card in bm25 if "Averhythe" not in card]
    assert unread
    assert all("Not searched yet by meaning or by both" in card for card in unread)
    assert "Not found" not in html(at)
    assert not any("Not searched yet" in card for card in bm25 if "Averhythe" in card)


def read_by_meaning(app, *works):
    for work in works:
        app.bench.indexes.build(work.id, ["dense-relic"], lambda _done, _total, _note="": None)


def test_a_work_of_the_library_whose_index_is_damaged_is_offered_to_be_prepared_and_then_answers(app, shelf):
    read_by_meaning(app, *shelf.values())
    (sums,) = app.settings.indexes.glob(f"dense-relic/{shelf['Lanterns'].id}/*/sums.npy")
    whole = sums.read_bytes()
    sums.write_bytes(whole[:-1] + bytes([whole[-1] ^ 0xFF]))
    app.run_jobs()
    at = ask(app.open(FIND), "Nobody counted the lanterns", work="", results=8)
    sound(at.run())
    assert SAYS["one unprepared"] in html(at)
    assert not any("A. Wick" in card for card in columns(at)[1])
    sound(at.button(key="find_start_prepare").click().run())
    assert "not been read" not in html(at)
    assert any("A. Wick" in card for card in columns(at)[1])


def test_an_answer_given_just_before_the_last_works_were_prepared_is_asked_again(app, shelf, monkeypatch):
    from relic_core.services.search import Search

    run, asked = Search.run, []

    def outrun(self, request, **how):
        result = run(self, request, **how)
        if not asked:
            read_by_meaning(app, *shelf.values())
        asked.append(request)
        return result

    monkeypatch.setattr(Search, "run", outrun)
    at = ask(app.open(FIND), "Nobody counted the lanterns", work="", results=8)
    assert "2 works cannot be searched by meaning" in html(at)
    sound(at.run())
    assert "not been read" not in html(at)
    assert any("Lanterns" in card for card in columns(at)[1])
    sound(at.run())
    assert len(asked) == 2, "an answer from all that is there is kept"


def test_an_answer_given_just_before_the_index_of_the_whole_was_built_is_asked_again(app, shelf, monkeypatch):
    from relic_core.services.search import Search

    read_by_meaning(app, *shelf.values())
    run, asked = Search.run, []

    def outrun(self, request, **how):
        result = run(self, request, **how)
        asked.append(request)
        if len(asked) == 1:
            first, *others = result.columns
            return replace(result, columns=(replace(first, cards=(), pending=True), *others))
        return result

    monkeypatch.setattr(Search, "run", outrun)
    at = ask(app.open(FIND), "Nobody counted the lanterns", work="", retrievers=["dense-relic", "bm25"])
    assert columns(at)[0] == []
    sound(at.run())
    assert columns(at)[0]
    sound(at.run())
    assert len(asked) == 2


def test_what_an_approximate_index_finds_is_told_beside_its_hits(app, shelf, monkeypatch):
    from relic_core.services.search import Search

    run = Search.run

    def approximate(self, request, **how):
        result = run(self, request, **how)
        first, *others = result.columns
        return replace(result, columns=(replace(first, exact=False, note="Of the first ten it found 97%."), *others))

    monkeypatch.setattr(Search, "run", approximate)
    at = ask(app.open(FIND), "Nobody counted", work="", retrievers=["bm25"])
    assert "Of the first ten it found 97%." in html(at)
    assert "97%" not in said(at), "it is not a warning"
    assert cards(at)


def test_an_old_search_of_works_that_are_gone_is_told(app, shelf):
    at = ask(app.open(FIND), "Nobody counted", work="", retrievers=["bm25"])
    sound(at.multiselect(key="find_works").set_value([shelf["Tide"].id]).run())
    find(at)
    app.bench.works.remove(shelf["Tide"].id)
    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert SAYS["works missing"] in said(again)
    assert cards(again) == []


# ---- more like this -----------------------------------------------------------------------------------------------


def like_links(at):
    """Return what the links of the cards ask for."""
    return [dict(parse_qsl(unescape(asked))) for asked in re.findall(r'href="find\?(like=[^"]*)"', html(at))]


def followed(at, asked):
    """Follow a link on the page to another search."""
    at.query_params.clear()
    for name, value in asked.items():
        at.query_params[name] = value
    return sound(at.run())


def test_a_card_leads_to_passages_like_its_own_in_its_work(app, parts):
    at = ask(app.open(FIND), "The lantern of the mill", work=parts.id, length=1, retrievers=["bm25"])
    first = re.search(r"<blockquote>(.*?)</blockquote>", cards(at)[0])[1]
    claim = at.query_params["q"]
    (asked, *_) = like_links(at)
    followed(at, asked)
    assert re.search(r'<figure class="relic-like".*?</figure>', html(at), re.DOTALL)
    assert plain(first) in plain(html(at))
    assert list(at.text_area) == []
    assert cards(at)
    assert all(plain(first) not in plain(card.split("<details")[0]) for card in cards(at)), "it is no answer to itself"
    assert at.selectbox(key="find_work").value == parts.id
    assert set(at.query_params) == {"q", "w", "m"}

    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert columns(again) == columns(at)
    assert "relic-like" in html(again)

    sound(at.button(key="find_claim_instead").click().run())
    assert at.text_area(key="find_claim").value == "The lantern of the mill"
    assert cards(at) == []
    find(at)
    assert at.query_params["q"] == claim


def test_passages_like_one_are_looked_for_in_all_works_at_one_click_and_in_one_again(app, shelf):
    asked = {"like": shelf["Lanterns"].id, "at": "1.1.2", "n": "1"}
    at = sound(app.open(FIND, **asked))
    sound(at.button(key="find_like_everywhere").click().run())
    assert at.selectbox(key="find_work").value == ""
    assert "Tide (1901)" in titles(at)
    assert "relic-like" in html(at)
    sound(at.multiselect(key="find_authors").set_value(["A. Wick"]).run())
    find(at)
    assert "Tide (1901)" not in titles(at)
    sound(at.button(key="find_like_alone").click().run())
    sound(at.button(key="find_like_everywhere").click().run())
    assert "Tide (1901)" in titles(at), "all works, as the button says"
    sound(at.button(key="find_like_alone").click().run())
    assert at.selectbox(key="find_work").value == shelf["Lanterns"].id


def test_how_far_a_passage_stands_out_is_said_behind_why(app, shelf):
    at = sound(app.open(FIND, like=app.bench.works.summaries()[0].id, at="1.1.2", n="1"))
    assert cards(at)
    assert all("the rest of this work." in plain(card.split("Why this?")[1]) for card in cards(at))


@pytest.fixture
def orphan(app, shelf):
    """A page with passages like one of a work that was removed while they were looked for in another."""
    at = sound(app.open(FIND, like=shelf["Lanterns"].id, at="1.1.2", n="1"))
    sound(at.selectbox(key="find_work").set_value(shelf["Tide"].id).run())
    find(at)
    assert cards(at)
    app.bench.works.remove(shelf["Lanterns"].id)
    return at


def test_a_claim_can_be_asked_when_the_work_of_the_passage_was_removed(app, shelf, orphan):
    at = sound(orphan.run())
    assert SAYS["edition removed"] in said(at)
    assert list(at.error) == []
    assert at.text_area(key="find_claim").value == ""
    assert cards(at) == []
    assert dict(at.query_params) == {}
    ask(at, "Nobody counted", retrievers=["bm25"])
    assert said(at) == ""
    assert cards(at)


def test_a_search_with_a_passage_of_a_work_that_was_removed_is_told_and_a_claim_can_be_asked(app, orphan):
    at = sound(app.open(FIND, q=orphan.query_params["q"]))
    assert SAYS["passage removed"] in said(at)
    assert list(at.error) == []
    ask(at, CLAIM, work=app.bench.works.summaries()[0].id)
    assert said(at) == ""
    assert cards(at)


def test_a_passage_and_chapters_go_together(app, parts):
    at = sound(app.open(FIND, like=parts.id, at="1.1.1", n="2"))
    assert at.get_by_key("find_length").value == 2
    sound(at.get_by_key("find_within").set_value("range").run())
    sound(at.selectbox(key="find_first").set_value(3).run())
    find(at)
    assert places(at) <= {"BOOK TWO, Chapter I", "BOOK TWO, Chapter II", "BOOK TWO, Chapter III"}
    assert cards(at)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"like": "nope", "at": "1.1.1"}, SAYS["work unknown"]),
        ({"like": "LANTERNS", "at": "9.9.9"}, SAYS["no passage"]),
        ({"like": "LANTERNS", "at": "x"}, SAYS["no passage"]),
        ({"like": "LANTERNS"}, SAYS["no passage"]),
    ],
    ids=["no such work", "no such place", "no address", "no place"],
)
def test_a_passage_that_is_not_there_is_told_and_a_claim_can_be_asked(app, lanterns, asked, message):
    at = sound(app.open(FIND, **{**asked, "like": asked["like"].replace("LANTERNS", lanterns.id)}))
    assert message in said(at)
    assert list(at.text_area) != []
    assert dict(at.query_params) == {}


def test_back_to_an_empty_address_takes_the_passage_away(app, lanterns):
    at = sound(app.open(FIND, like=lanterns.id, at="1.1.2"))
    at.query_params.clear()
    sound(at.run())
    assert list(at.text_area) != []
    assert cards(at) == []


def test_a_claim_that_is_asked_before_a_server_started_anew_has_run_the_page_is_answered(app):
    at = ask(app.open(FIND), CLAIM)
    at.text_area(key="find_claim").set_value("The narrator cannot see the weather")
    at.button(key="find_button").click()
    at = app.run_restarted(at)
    assert "The narrator cannot see the weather" in at.expander[0].label


# ---- indexes ------------------------------------------------------------------------------------------------------


def test_bm25_answers_while_the_dense_index_is_being_built(app, lanterns):
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    reranked, dense, bm25 = columns(at)
    assert (reranked, dense) == ([], [])
    assert bm25
    assert html(at).count(SAYS["waits for index"]) == 2
    assert bars(at) == ["Preparing Lanterns: starting"]
    assert len(app.held.alive) == 1

    sound(at.run())
    assert len(app.held.alive) == 1, "one job per work, however often the page is drawn"


def test_no_column_is_called_complete_while_another_is_still_to_be_read(app, lanterns):
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id, retrievers=["dense-relic", "bm25", "reranked"])
    assert SAYS["others complete"] not in html(at)
    ask(at, "A lantern is missing", work=lanterns.id, retrievers=["dense-relic", "bm25"])
    assert SAYS["others complete"] in html(at)


def test_the_columns_fill_when_the_job_has_ended(app, lanterns):
    app.run_jobs()
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    assert all(columns(at))
    assert bars(at) == []


@pytest.fixture
def damaged(app, lanterns):
    """The sums of the short work's index, one byte changed; what they were."""
    app.bench.indexes.build(lanterns.id, ["dense-relic"], lambda _done, _total, _note="": None)
    (sums,) = app.settings.indexes.glob(f"dense-relic/{lanterns.id}/*/sums.npy")
    whole = sums.read_bytes()
    sums.write_bytes(whole[:-1] + bytes([whole[-1] ^ 0xFF]))
    return sums, whole


def test_a_damaged_index_is_found_out_and_the_column_waits(app, lanterns, damaged):
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    assert [bool(column) for column in columns(at)] == [False, False, True]
    assert bars(at) == ["Preparing Lanterns: starting"]


def test_a_damaged_index_is_built_anew(app, lanterns, damaged):
    app.run_jobs()
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    assert all(columns(at))
    sums, whole = damaged
    assert sums.read_bytes() == whole


def test_an_index_that_cannot_be_mended_is_told_once(app, lanterns, damaged, monkeypatch):
    """The folder of indexes may be read-only: then no job helps, and the page must not start one after another."""
    monkeypatch.setattr("relic_core.retrieval.index_files._remove", lambda folder: None)
    app.run_jobs()
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    assert [bool(column) for column in columns(at)] == [False, False, True]
    assert SAYS["index unreadable"] in said(at)
    assert len(app.bench.jobs.recent()) == 1


def test_what_the_reader_stopped_begins_again_on_request_alone(app, lanterns):
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    (stop,) = [button for button in at.button if button.label == "Stop"]
    sound(stop.click().run())
    app.held.let_go()  # the job has seen the mark, and ends
    ask(at, "A lantern is gone")
    assert "has ended: Stopped." in said(at)
    assert bars(at) == []
    assert all(not job.active for job in app.bench.jobs.recent())

    sound(at.button(key="find_prepare").click().run())
    assert bars(at) == ["Preparing Lanterns: starting"]


# ---- what is not ours to trust ------------------------------------------------------------------------------------


def test_markup_in_titles_texts_and_claims_is_shown_and_not_obeyed(app):
    title = "The <img src=x> *Tide* & Co"
    work = app.bench.works.add(LANTERNS.replace("Nobody", "No<u>body").encode(), name="tide.txt", title=title).work
    at = app.open(FIND)
    ask(
        at, "<img src=y> Zanzibar counted “the <b>lanterns</b> on the quay”, No<u>body had been asked to.", work=work.id
    )
    shown = html(at)
    assert {tag.casefold() for tag in re.findall(r"<(\w+)", shown)}.isdisjoint({"img", "b", "u"})
    assert "No&lt;u&gt;body" in shown
    assert "The &lt;img src=x&gt; *Tide* &amp; Co" in shown
    titled = [bar.text for bar in at.get("progress")] + [at.expander[0].label]
    assert len([text for text in titled if r"The \<img src=x\> \*Tide\* & Co" in text]) == len(titled) == 2
    assert "The &lt;img src=x&gt; *Tide* &amp; Co never uses “Zanzibar”" in shown


# ---- no model -----------------------------------------------------------------------------------------------------


def test_without_a_model_the_words_are_searched_all_the_same(app, tmp_path, monkeypatch):
    monkeypatch.setenv("RELIC_TRAINED", str(tmp_path / "no_model"))
    at = ask(app.open(FIND), CLAIM)
    assert [bool(column) for column in columns(at)] == [False, False, True]
    assert "no_model" in said(at)
    assert bars(at) == []


# ---- joined claims ------------------------------------------------------------------------------------------------


def press(at, key):
    return sound(at.button(key=f"find_{key}").click().run())


def test_conditions_are_added_answered_addressed_and_removed(app):
    at = app.open(FIND)
    with pytest.raises(KeyError):
        at.get_by_key("find_part_0")
    at.text_area(key="find_claim").set_value("The brass bolt is trusted")
    press(at, "add")
    assert at.text_area(key="find_claim").value == "The brass bolt is trusted"
    for key, value in {"part_0": "the coast is surveyed", "unit": "chapter"}.items():
        at.get_by_key(f"find_{key}").set_value(value)
    press(at, "add")
    at.get_by_key("find_joined_1").set_value("not")
    find(at)
    assert said(at) != "", "an empty row is told"
    assert at.get_by_key("find_part_0").value == "the coast is surveyed"
    at.get_by_key("find_part_1").set_value("a letter is read")
    find(at)
    assert said(at) == ""
    (shown,) = [column for column in columns(at) if column]
    assert all(card.count("<li>") == 3 for card in shown)
    sentence = "“The brass bolt is trusted”, and “the coast is surveyed”, but not “a letter is read”"
    assert sentence in as_read(at.expander[0].label)
    again = sound(app.open(FIND, q=at.query_params["q"]))
    assert columns(again) == columns(at)
    assert again.get_by_key("find_unit").value == "chapter"
    press(again, "remove_0")
    assert (again.get_by_key("find_joined_0").value, again.get_by_key("find_part_0").value) == (
        "not",
        "a letter is read",
    )


def test_a_sentence_that_joins_claims_is_searched_as_it_stands_and_can_be_split(app):
    at = ask(app.open(FIND), "Storms or floods, but not at sea")
    assert headings(at) == TITLES
    press(at, "split")
    assert at.text_area(key="find_claim").value == "Storms"
    assert [at.get_by_key(f"find_part_{row}").value for row in range(2)] == ["floods", "at sea"]
    assert cards(at)
    ask(at, "Storms alone", part_0="rain", part_1="wind")


@pytest.mark.parametrize("gap", ["____", "___", "[MASK]", "[masked sentence(s)]"])
def test_a_paragraph_with_a_gap_is_not_offered_as_joined_claims(app, gap):
    claim = "The fog lies on the river {} and in the court it lies thickest"
    with pytest.raises(KeyError):
        ask(app.open(FIND), claim.format(gap)).button(key="find_split")
    assert ask(app.open(FIND), claim.format("")).button(key="find_split")


def test_a_column_that_compares_word_by_word_says_which_words_met(app, shelf, tmp_path, monkeypatch):
    late = make_base(tmp_path / "late", positions=256)
    app.settings = replace(app.settings, late=str(late))
    for name, value in app.settings.to_environment().items():
        monkeypatch.setenv(name, value)
    app.bench.indexes.build(shelf["Lanterns"].id, ["late"], silent)
    at = ask(app.open(FIND), "Nobody <i>counted</i> the lanterns", work=shelf["Lanterns"].id, retrievers=["late"])
    whys = [plain(card.split("Why this?")[1]) for card in cards(at)]
    assert whys
    assert all("lanterns –" in why for why in whys)
    assert "<i>" not in html(at)


# ---- the larger model -----------------------------------------------------------------------------------------------


def offers_larger(at):
    return "larger_install" in [button.key for button in at.button]


def test_an_answer_says_which_model_compared_meanings(app):
    at = found(app.open(FIND), CLAIM)
    assert "by the small model" in plain(html(at))
    at = ask(app.open(FIND), CLAIM, retrievers=["bm25"])
    assert "small model." not in plain(html(at)).replace("The small model", "")


def test_an_answer_is_found_anew_once_the_larger_model_answers(app, monkeypatch):
    at = found(app.open(FIND), CLAIM)
    runs = []
    monkeypatch.setattr("relic_ui.find.answering._by", lambda *_: ("by", "larger"))
    run = Search.run
    monkeypatch.setattr(Search, "run", lambda *a, **k: runs.append(a) or replace(run(*a, **k), model="larger"))
    at = sound(at.run())
    assert (bool(runs), "by the larger model" in plain(html(at))) == (True, True)
    runs.clear()
    sound(at.run())
    assert runs == [], "it is kept"


def test_one_press_fetches_the_larger_model_where_it_does_not_come_by_itself(app, monkeypatch):
    monkeypatch.setattr("relic_core.services.larger.LargerModel.offered", True)
    assert not offers_larger(app.open(FIND)), "it comes by itself"
    monkeypatch.setenv("RELIC_FETCH_LARGER", "no")
    at = app.open(FIND)
    assert offers_larger(at)
    at = sound(at.button(key="larger_install").click().run())
    assert [job.kind for job in app.bench.jobs.under_way()] == ["larger"]
    assert not offers_larger(at)
    assert "Fetching the larger model" in plain(html(at))


def test_where_fetching_failed_the_page_says_why_once_and_offers_it_again(app, monkeypatch):
    monkeypatch.setattr("relic_core.services.larger.LargerModel.offered", True)

    def offline(*_):
        raise RelicError("Its packages could not be reached.")

    monkeypatch.setattr("relic_core.services.larger.LargerModel.run", offline)
    build(app.settings, executor=InlineExecutor(app.settings)).larger_model.start()
    at = app.open(FIND)
    assert offers_larger(at)
    assert plain(html(at)).count("Its packages could not be reached.") == 1


@pytest.mark.parametrize("there", [False, True])
def test_the_larger_model_is_offered_neither_where_it_is_there_nor_where_people_sign_in(app, monkeypatch, there):
    monkeypatch.setenv("RELIC_FETCH_LARGER", "no")
    monkeypatch.setattr("relic_core.services.larger.LargerModel.offered", not there)
    if not there:
        monkeypatch.setattr("relic_ui.larger_model.person.providers", lambda: ("default",))
    assert not offers_larger(app.open(FIND))
