"""Find: which passages of this work would serve as evidence for my claim?"""

from __future__ import annotations

import re

import pytest

from tests.app.reading import FIND, bars, html, messages, plain, said, sound

CLAIM = "The brass bolt stands for a false certainty"
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
    """Set the form of the Find page, then write the claim."""
    for key, value in settings.items():
        at.get_by_key(f"find_{key}").set_value(value)
    return sound(at.text_area(key="find_claim").set_value(claim).run())


def columns(at):
    """Return the cards of each column, as HTML."""
    return [[each.value for each in column.get("html") if "<article" in each.value] for column in at.columns]


def cards(at):
    return [card for column in columns(at) for card in column]


def headings(at):
    return re.findall(r"<h2>(.*?)</h2>", html(at))


def blockquotes(card):
    return re.findall(r"<p[^>]*>(.*?)</p>", re.search(r"<blockquote>(.*?)</blockquote>", card, re.DOTALL)[1], re.DOTALL)


# ---- the way through ----------------------------------------------------------------------------------------------


def test_an_empty_library_points_to_where_works_are_added(app):
    (sample,) = app.bench.works.summaries()
    app.bench.works.remove(sample.id)
    at = sound(app.open(FIND))
    assert "Your library is empty" in said(at)
    assert list(at.main.get("page_link")) != []
    assert list(at.text_area) == []


def test_before_a_claim_there_is_a_form_and_no_answer(app):
    at = sound(app.open(FIND))
    assert list(at.columns) == []
    assert said(at) == ""
    assert "q" not in at.query_params


def test_a_claim_brings_three_columns_of_verbatim_located_cards(app):
    at = ask(app.open(FIND), CLAIM)
    assert headings(at) == ["Dense, zero-shot", "BM25", "Combined"]
    assert [len(column) for column in columns(at)] == [5, 5, 5]
    (sample,) = app.bench.works.summaries()
    work = app.bench.works.load(sample.id)
    sentences = {" ".join(work.sentence_text(n).split()).replace("_", "") for n in range(len(work.sentences))}
    for card in cards(at):
        (quotation,) = blockquotes(card)
        assert plain(quotation) in sentences
        assert re.search(r"<h3>[^<]+ · paragraph \d+ · \d+% into the work</h3>", card)
        assert re.search(rf"Ranked [\d,]+ by .*, [\d,]+ by .*, of {work.candidates(1):,}", plain(card))
    assert "never" not in said(at)


def test_an_example_answers_at_one_click(app):
    at = app.open(FIND)
    example = at.button(key=next(button.key for button in at.button if button.label == CLAIM))
    sound(example.click().run())
    assert at.text_area(key="find_claim").value == CLAIM
    assert at.get_by_key("find_length").value == 2
    assert [len(column) for column in columns(at)] == [5, 5, 5]


def test_every_setting_counts(app):
    at = ask(app.open(FIND), CLAIM, length=4, results=2, retrievers=["bm25", "fusion"])
    assert headings(at) == ["BM25", "Combined"]
    assert [len(column) for column in columns(at)] == [2, 2]
    (sample,) = app.bench.works.summaries()
    assert f"{sample.sentences - 3:,} passages compared" in html(at)
    four = columns(at)
    sound(at.get_by_key("find_length").set_value(1).run())
    assert f"{sample.sentences:,} passages compared" in html(at)
    assert columns(at) != four


def test_the_strip_has_a_dot_for_every_card_that_leads_to_it(app):
    at = ask(app.open(FIND), CLAIM)
    dots = re.findall(r'<a class="relic-dot" href="#([^"]+)"', html(at))
    assert sorted(dots) == sorted(re.findall(r'<article class="relic-card" id="([^"]+)"', html(at)))
    assert len(set(dots)) == 15


# ---- strong and weak ----------------------------------------------------------------------------------------------


def test_a_claim_about_another_book_reads_as_weak_and_names_what_the_work_never_uses(app):
    at = ask(app.open(FIND), ELSEWHERE)
    assert "The evidence is weak." in said(at)
    assert "never uses “Gatsby”" in said(at)
    assert {re.search(r'relic-strength">(\w+)', card)[1] for card in cards(at)} == {"Weak"}

    ask(at, CLAIM)
    assert said(at) == ""


def test_words_of_the_claim_are_lit_in_the_quotation(app):
    _, bm25, _ = columns(ask(app.open(FIND), CLAIM))
    lit = [set(map(str.casefold, re.findall(r"<mark>(.*?)</mark>", card))) for card in bm25]
    assert all(lit)
    assert set().union(*lit) <= {"brass", "bolt", "stands", "stand", "standing", "stood", "false", "certainty"}


# ---- quoting the work ---------------------------------------------------------------------------------------------


def test_a_passage_pasted_whole_is_recognised_and_masked_at_one_click(app):
    at = ask(app.open(FIND), PASSAGE)
    assert f"Your passage quotes {len(WORDS_OF_THE_WORK.split())} words of the work itself" in html(at)
    marked = [card for card in cards(at) if "Your claim already quotes words of this passage" in card]
    assert marked
    assert all(WORDS_OF_THE_WORK in plain(card) for card in marked)
    before = columns(at)

    sound(at.button(key="find_mask").click().run())
    masked = "The officer from London [MASK] He trusts what shines, and the whole coast is surveyed from it."
    assert at.text_area(key="find_claim").value == masked
    assert "Your passage quotes" not in html(at)
    assert "Your claim already quotes" not in html(at)
    assert columns(at) != before


# ---- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("word " * 20_000, r"20,000 words; up to 2,000"),
        ("Любовь и смерть в романе", r"Cyrillic.*write the claim in the language of the work"),
        ("He reads [MASK] and then ___ aloud", r"2 masks.*Keep the one"),
        ("[MASK]", r"nothing to search with"),
        ("…?!", r"nothing to search with"),
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
    assert "Type a claim about the work" in said(at)


def test_no_way_of_searching_is_told(app):
    at = ask(app.open(FIND), CLAIM, retrievers=[])
    assert "Choose at least one way of searching" in said(at)
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


def test_the_address_names_another_search_after_every_change(app):
    at = ask(app.open(FIND), CLAIM)
    first = at.query_params["q"]
    sound(at.get_by_key("find_length").set_value(3).run())
    assert at.query_params["q"] != first


def test_an_address_of_no_search_is_told_and_the_form_is_there(app):
    at = sound(app.open(FIND, q="zzzzzzz"))
    assert "cannot be reopened" in said(at)
    assert at.text_area(key="find_claim").value == ""
    ask(at, CLAIM)
    assert said(at) == ""
    assert len(at.columns) == 3


def test_a_search_of_a_work_that_was_removed_is_told(app, lanterns):
    first = app.open(FIND)
    ask(first, "The ferryman is to blame", work=lanterns.id, retrievers=["bm25"])
    app.bench.works.remove(lanterns.id)
    at = sound(app.open(FIND, q=first.query_params["q"]))
    assert "not in your library" in said(at)
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
    assert set(at.query_params) == {"q"}


def test_a_work_that_is_not_there_is_told(app):
    at = sound(app.open(FIND, work="nope"))
    assert "not in your library" in said(at)
    assert at.selectbox(key="find_work").value == app.bench.works.summaries()[0].id
    ask(at, CLAIM)
    assert said(at) == ""
    assert set(at.query_params) == {"q"}


# ---- indexes ------------------------------------------------------------------------------------------------------


def test_bm25_answers_while_the_dense_index_is_being_built(app, lanterns):
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    dense, bm25, fusion = columns(at)
    assert (dense, fusion) == ([], [])
    assert bm25
    assert html(at).count("waits until Lanterns has been prepared") == 2
    assert bars(at) == ["Preparing Lanterns: starting"]
    assert len(app.held.alive) == 1

    sound(at.run())
    assert len(app.held.alive) == 1, "one job per work, however often the page is drawn"


def test_the_columns_fill_when_the_job_has_ended(app, lanterns):
    app.run_jobs()
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    assert all(columns(at))
    assert bars(at) == []


@pytest.fixture
def damaged(app, lanterns):
    """The sums of the short work's index, one byte changed; what they were."""
    app.bench.indexes.build(lanterns.id, ["zero-shot"], lambda _done, _total, _note="": None)
    (sums,) = app.settings.indexes.glob(f"zero-shot/{lanterns.id}/*/sums.npy")
    whole = sums.read_bytes()
    sums.write_bytes(whole[:-1] + bytes([whole[-1] ^ 0xFF]))
    return sums, whole


def test_a_damaged_index_is_found_out_and_the_column_waits(app, lanterns, damaged):
    at = app.open(FIND)
    ask(at, "A lantern is missing", work=lanterns.id)
    assert [bool(column) for column in columns(at)] == [False, True, False]
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
    assert [bool(column) for column in columns(at)] == [False, True, False]
    assert "its index cannot be read" in said(at)
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
    titled = [each.value for each in messages(at)] + [bar.text for bar in at.get("progress")]
    assert len([text for text in titled if r"The \<img src=x\> \*Tide\* & Co" in text]) == len(titled) == 2


# ---- no model -----------------------------------------------------------------------------------------------------


def test_without_a_model_the_words_are_searched_all_the_same(app, tmp_path, monkeypatch):
    monkeypatch.setenv("RELIC_MODEL", str(tmp_path / "no_model"))
    at = ask(app.open(FIND), CLAIM)
    assert [bool(column) for column in columns(at)] == [False, True, False]
    assert "no_model" in said(at)
    assert bars(at) == []
