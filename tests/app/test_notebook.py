"""Keeping passages on the pages that show them, and the notebook's own page."""

from __future__ import annotations

import json
import re
from unittest.mock import ANY

import pytest
from streamlit.testing.v1 import AppTest

from relic_ui.notebook.notebook_note import MOST, opening
from tests.app.reading import FIND, found, html, plain, said, sound
from tests.approved import says

SAYS = says("notebook")

NOTEBOOK = "pages/notebook.py"
READ = "pages/read.py"
WORDS = "pages/concordance.py"
CLAIM = "The brass bolt stands for a false certainty"


@pytest.fixture
def sample(app):
    (work,) = app.bench.works.summaries()
    return work


@pytest.fixture
def notes(app, sample):
    """Three notes: two of a collection, one of another."""
    book = app.bench.notebook
    light = book.add_collection("Light *or* water")
    made = [book.keep(sample.id, at, collection_id=light.id, claim_text=CLAIM) for at in ("1.1.1", "1.2.1")]
    dark = book.add_collection("Dark")
    return [note.id for note in (*made, book.keep(sample.id, "1.3.1", collection_id=dark.id, claim_text=CLAIM))]


def keeps(at):
    """Return what the keep buttons of a page hold and whether each is pressed, in order."""
    return re.findall(r'data-does="(?:keep|let-go)" data-to="([^"]*)" aria-pressed="(\w+)"', html(at))


def shown(at):
    """Return the notes of the page, by their ids, in order."""
    return re.findall(r'id="note-(\w+)"', html(at))


def pressed_open(at, *note_ids):
    """Open the rows of notes."""
    for note_id in note_ids:
        at.session_state[opening(note_id)] = True
    return sound(at.run())


def labels(at):
    return [button.label for button in at.button]


# ---- keeping ----------------------------------------------------------------------------------------------------


def search(app):
    return found(sound(app.open(FIND)), CLAIM)


def test_a_card_of_find_is_kept_with_one_press_and_let_go_with_another(app, press_button, monkeypatch):
    at = search(app)
    first = keeps(at)[0]
    assert first[1] == "false"
    searched = []
    monkeypatch.setattr("relic_core.services.search.Search.run", lambda *_, **__: searched.append(1))
    at = press_button(at, "keep", first[0])
    assert searched == [], "the search is not made anew"
    assert dict(keeps(at))[first[0]] == "true"
    assert 'aria-label="in My notes: ' in html(at)
    (view,) = app.bench.notebook.notes()
    kept = view.note.kept
    _, where, length, search_id, retriever, rank = first[0].split("/")
    assert (kept.origin, kept.claim_text, kept.search_id) == ("find", CLAIM, search_id)
    assert (kept.at, str(kept.length), kept.retriever, str(kept.rank)) == (where, length, retriever, rank)
    assert kept.made_with == app.bench.history.get(search_id).made_with
    assert f'href="notebook?note={view.note.id}"' in html(at)
    at = press_button(at, "let-go", first[0])
    assert dict(keeps(at))[first[0]] == "false"
    assert app.bench.notebook.notes() == ()


def test_a_passage_of_which_something_was_said_stays_when_its_button_is_pressed_again(app, press_button):
    at = search(app)
    first = keeps(at)[0][0]
    press_button(at, "keep", first)
    (view,) = app.bench.notebook.notes()
    app.bench.notebook.write(view.note.id, words="Mine.", verdict="supports")
    at = press_button(at, "let-go", first)
    assert dict(keeps(at))[first] == "true"
    assert ">Kept · supports</button>" in html(at)
    assert [toast.value for toast in at.toast][-1].startswith("Still kept")


def test_a_line_of_the_concordance_is_kept_with_the_word_it_was_found_by(app, press_button):
    at = sound(app.open(WORDS, word="brass*"))
    to, pressed = keeps(at)[0]
    assert pressed == "false"
    at = press_button(at, "keep", to)
    assert keeps(at)[0] == (to, "true")
    (view,) = app.bench.notebook.notes()
    assert (view.note.kept.origin, view.note.kept.claim_text) == ("concordance", "brass*")


def test_a_sentence_is_kept_in_reading_with_the_search_that_led_there(app, press_button, sample):
    at = sound(app.open(READ, work=sample.id, at="1.2.1"))
    press_button(at, "keep", f"{sample.id}/1.2.1/2/", unseen=True)
    (view,) = app.bench.notebook.notes()
    assert (view.note.kept.origin, view.note.kept.length, view.note.kept.claim_text) == ("read", 2, "")
    _, where, length, search_id, _, rank = keeps(search(app))[0][0].split("/")
    at = sound(app.open(READ, work=sample.id, at=where, n=length, q=search_id))
    press_button(at, "keep", f"{sample.id}/{where}/{length}/{search_id}", unseen=True)
    kept = app.bench.notebook.notes()[-1].note.kept
    assert (kept.origin, kept.claim_text, kept.search_id, kept.rank) == ("read", CLAIM, search_id, int(rank))


@pytest.mark.parametrize("to", ["nowhere/1.1.1/1", "{work}/9999.1.1/1", "{work}/1.1.1/x", "{work}/1.1.1/99999"])
def test_a_press_that_cannot_be_done_is_told(app, press_button, sample, to):
    at = press_button(sound(app.open(FIND)), "keep", to.format(work=sample.id), unseen=True)
    assert len(at.error) == 1
    assert app.bench.notebook.notes() == ()


# ---- the page ---------------------------------------------------------------------------------------------------


def test_an_empty_notebook_teaches_what_it_is_for_and_leads_on(app):
    at = sound(app.open(NOTEBOOK))
    assert SAYS["how to keep"] in plain(html(at))
    assert SAYS["find first"] in [link.value for link in at.get("page_link")]


def test_notes_stand_with_their_passage_claim_and_place(app, notes, sample):
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    assert shown(at) == notes
    words = plain(html(at))
    first = app.bench.notebook.note(notes[0]).note.kept
    assert first.quotation in words
    assert f"For the claim “{CLAIM}”" in words
    assert "Light *or* water" in words
    assert f'href="read?work={sample.id}&amp;at=1.1.1"' in html(at)


def test_a_note_is_a_row_until_it_is_opened(app, notes):
    app.bench.notebook.write(notes[0], words="A word.", tags=["<b>sea</b>", "night"], verdict="supports")
    at = sound(app.open(NOTEBOOK))
    assert not at.text_area
    assert "Supports · <b>sea</b>, night · your words" in plain(html(at))
    first = app.bench.notebook.note(notes[0]).note.kept.quotation
    assert at.expander[0].label[:20] == first[:20]
    at = pressed_open(at, notes[1])
    assert [area.key for area in at.text_area] == [f"notebook_words_{notes[1]}"]


def test_words_tags_and_verdict_are_saved_as_they_are_given(app, notes):
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    typed = "<script>alert(1)</script> *stars* $x^2$ :material/home:"
    at.text_area(key=f"notebook_words_{notes[0]}").set_value(typed)
    sound(at.run())
    at.multiselect(key=f"notebook_tags_{notes[0]}").set_value(["<b>bold</b>"])
    sound(at.run())
    at.segmented_control(key=f"notebook_verdict_{notes[0]}").set_value("supports")
    at = sound(at.run())
    note = app.bench.notebook.note(notes[0]).note
    assert (note.words, note.tags, note.verdict) == (typed, ("<b>bold</b>",), "supports")
    assert "Saved." in plain(html(at))
    assert "<script>" not in html(at)
    again = sound(app.open(NOTEBOOK, note=notes[0]))
    assert again.text_area(key=f"notebook_words_{notes[0]}").value == typed
    assert again.multiselect(key=f"notebook_tags_{notes[0]}").value == ["<b>bold</b>"]


def test_words_that_were_written_while_the_server_was_gone_are_saved_by_the_next(app, notes):
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    at.text_area(key=f"notebook_words_{notes[0]}").set_value("Of the day after.")
    at = app.run_restarted(at)
    assert app.bench.notebook.note(notes[0]).note.words == "Of the day after."
    assert "Saved." in plain(html(at))


def test_a_page_that_outlived_its_server_untouched_takes_nothing_back_that_was_written_elsewhere(app, notes):
    key = f"notebook_words_{notes[0]}"
    app.bench.notebook.write(notes[0], words="Of the day before.")
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    assert at.text_area(key=key).value == "Of the day before."
    app.bench.notebook.write(notes[0], words="Of another tab.")
    at = app.run_restarted(at)
    assert app.bench.notebook.note(notes[0]).note.words == "Of another tab."
    assert at.text_area(key=key).value == "Of another tab."


def test_no_verdict_is_asked_where_there_is_no_claim_and_the_counts_say_so(app, notes, sample):
    book = app.bench.notebook
    met = book.keep(sample.id, "2.1.1").id
    looked_for = book.keep(sample.id, "2.2.1", origin="concordance", claim_text="brass*").id
    before = book.keep(sample.id, "2.3.1").id
    book.write(before, verdict="unsure")
    at = pressed_open(sound(app.open(NOTEBOOK)), *notes, met, looked_for, before)
    asked = [control.key for control in at.segmented_control if control.label == SAYS["verdict"]]
    assert asked == [f"notebook_verdict_{each}" for each in (*notes, before)], "one given before can be taken back"
    assert shown(at) == [*notes[:2], notes[2], met, looked_for, before]
    told = " ".join(text.value for text in at.text)
    assert SAYS["without verdict"] in told
    assert SAYS["without claim"] in told


def test_as_many_words_as_a_field_takes_are_refused_and_stay_in_it(app, notes):
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    typed = "x" * MOST
    field = at.text_area(key=f"notebook_words_{notes[0]}")
    field.set_value(typed)
    at = sound(at.run())
    assert SAYS["note too long"] in said(at)
    assert at.text_area(key=f"notebook_words_{notes[0]}").value == typed
    assert app.bench.notebook.note(notes[0]).note.words == ""
    at.switch_page(FIND).run()
    at = sound(at.switch_page(NOTEBOOK).run())
    assert at.text_area(key=f"notebook_words_{notes[0]}").value == typed, "after another page, too"
    at.text_area(key=f"notebook_words_{notes[0]}").set_value("Shorter.")
    at = sound(at.run())
    assert said(at) == ""
    assert app.bench.notebook.note(notes[0]).note.words == "Shorter."


# ---- changed elsewhere ------------------------------------------------------------------------------------------

THEIRS = "Theirs: <b>*no*</b> star."


def typed(at, note_id, words):
    at.text_area(key=f"notebook_words_{note_id}").set_value(words)
    return sound(at.run())


def told_of_other(at):
    """Return what is told of versions that were written elsewhere meanwhile."""
    return [
        plain(part)
        for part in re.findall(r'<div class="relic-note-version" role="status">.*?</div>', html(at), re.DOTALL)
    ]


@pytest.mark.parametrize(
    ("choice", "words"),
    [("put", f"{THEIRS}\n\nMine."), ("use", THEIRS), ("keep", "Mine.")],
    ids=["both", "theirs", "mine"],
)
def test_words_changed_in_another_tab_are_shown_beside_mine_and_the_scholar_chooses(app, notes, choice, words):
    first, second = sound(app.open(NOTEBOOK, note=notes[0])), sound(app.open(NOTEBOOK, note=notes[0]))
    assert told_of_other(typed(first, notes[0], THEIRS)) == []
    at = typed(second, notes[0], "Mine.")
    (told,) = told_of_other(at)
    assert SAYS["changed elsewhere"] in told
    assert THEIRS in told
    assert "<b>" not in html(at)
    assert at.text_area(key=f"notebook_words_{notes[0]}").value == "Mine."
    at = sound(at.button(key=f"notebook_{choice}_{notes[0]}").click().run())
    assert told_of_other(at) == []
    assert at.text_area(key=f"notebook_words_{notes[0]}").value == words
    assert app.bench.notebook.note(notes[0]).note.words == words
    assert {THEIRS, "Mine.", words} <= {each.words for each in app.bench.notebook.versions(notes[0])}
    assert told_of_other(typed(first, notes[0], "Later.")) == ([] if words == THEIRS else [ANY])


def test_words_that_together_are_too_long_stay_in_their_field_with_the_reason(app, notes):
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    app.bench.notebook.write(notes[0], words="x" * 15_000)
    at = typed(at, notes[0], "y" * 15_000)
    at = sound(at.button(key=f"notebook_put_{notes[0]}").click().run())
    assert SAYS["words too long"] in said(at)
    assert len(at.text_area(key=f"notebook_words_{notes[0]}").value) == 30_002
    assert app.bench.notebook.note(notes[0]).note.words == "y" * 15_000
    app.bench.notebook.write(notes[0], words="Once more.")
    at.selectbox(key="notebook_order").set_value("By claim")  # the page is drawn anew, and the field not filled anew
    at = typed(sound(at.run()), notes[0], "Shorter.")
    assert "Once more." in told_of_other(at)[0]


def test_a_verdict_given_elsewhere_is_told_and_can_be_taken_and_tags_come_together(app, notes):
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    app.bench.notebook.write(notes[0], verdict="contradicts", tags=["night"])
    at.multiselect(key=f"notebook_tags_{notes[0]}").set_value(["sea"])
    at.segmented_control(key=f"notebook_verdict_{notes[0]}").set_value("supports")
    at = sound(at.run())
    note = app.bench.notebook.note(notes[0]).note
    assert (set(note.tags), note.verdict) == ({"sea", "night"}, "supports")
    assert set(at.multiselect(key=f"notebook_tags_{notes[0]}").value) == {"sea", "night"}
    assert "Contradicts" in told_of_other(at)[0]
    assert "Put both together" not in labels(at)
    sound(at.button(key=f"notebook_use_{notes[0]}").click().run())
    note = app.bench.notebook.note(notes[0]).note
    assert (set(note.tags), note.verdict) == ({"sea", "night"}, "contradicts")


def test_an_earlier_version_is_taken_back_as_a_new_one(app, notes):
    book, key = app.bench.notebook, f"notebook_earlier_{notes[0]}"
    book.write(notes[0], words="First.", tags=["sea"], verdict="supports")
    book.write(notes[1], words="Only.")
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    assert key not in at.session_state
    at = typed(at, notes[0], "Second <i>words</i>.")
    assert "Restore" not in labels(at), "read when it is opened"
    assert f"notebook_earlier_{notes[1]}" not in at.session_state
    at.session_state[key] = True
    at = sound(at.run())
    assert labels(at).count("Restore") == 1
    assert "First.SupportsTags: sea" in plain(html(at))
    at.multiselect(key=f"notebook_tags_{notes[0]}").set_value([])
    at = sound(at.run())
    at = sound(at.button(key=f"{key}_1").click().run())
    note = book.note(notes[0]).note
    assert (note.words, note.tags, note.verdict) == ("First.", ("sea",), "supports")
    assert at.text_area(key=f"notebook_words_{notes[0]}").value == "First."
    assert "Restore" not in labels(at), "the list has closed"
    assert [each.words for each in book.versions(notes[0])] == [
        "First.",
        "Second <i>words</i>.",
        "Second <i>words</i>.",
        "First.",
        "",
    ]


# ---- order and collections --------------------------------------------------------------------------------------


def headings(at):
    """Return the claims that notes stand under."""
    return re.findall(r'<h2 class="relic-notes-claim">(.*?) <span>(.*?)</span></h2>', html(at))


def test_notes_move_within_their_collection_alone(app, notes, press_button):
    at = sound(app.open(NOTEBOOK))
    assert re.findall(r'data-does="(up|down)" data-to="(\w+)"', html(at)) == [("down", notes[0]), ("up", notes[1])]
    at = press_button(at, "down", notes[0])
    assert shown(at) == [notes[1], notes[0], notes[2]]


def test_a_note_takes_a_sentence_more_and_gives_it_back(app, notes, press_button):
    at = press_button(sound(app.open(NOTEBOOK, note=notes[0])), "longer", notes[0])
    longer, *others = shown(at)
    assert others == notes[1:]
    assert app.bench.notebook.note(longer).note.kept.length == 2
    at = press_button(at, "shorter", longer)
    assert shown(at) == notes
    assert 'data-does="shorter"' not in html(at)


def test_a_note_goes_to_another_collection(app, notes):
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    dark = app.bench.notebook.collections()[1].collection
    at = sound(at.button(key=f"notebook_to_{notes[0]}_{dark.id}").click().run())
    assert [view.note.id for view in app.bench.notebook.notes(dark.id)] == [notes[2], notes[0]]


def test_a_collection_that_has_gone_meanwhile_is_told_by_the_note_alone(app, notes):
    def note_alone(note_id):  # as a fragment runs after a press: without the page around it
        import streamlit as st

        from relic_core.config import Settings
        from relic_core.wiring import build
        from relic_ui.notebook import notebook_note

        bench = build(Settings.from_environment())
        st.session_state["notebook_now"] = {note_id: bench.notebook.note(note_id).note}
        notebook_note._editor(bench, note_id, (), {"gone": "Gone"})

    at = sound(AppTest.from_function(note_alone, args=(notes[0],), default_timeout=30).run())
    at = sound(at.button(key=f"notebook_to_{notes[0]}_gone").click().run())
    assert "no collection 'gone'" in said(at)


def test_a_removed_note_is_put_back_at_once_or_later(app, notes, press_button):
    at = press_button(sound(app.open(NOTEBOOK, note=notes[0])), "remove-note", notes[0])
    assert shown(at) == notes[1:]
    assert SAYS["removed"] in plain(html(at))
    at = sound(at.button(key="note_undo").click().run())
    assert shown(at) == notes
    press_button(pressed_open(at, notes[1]), "remove-note", notes[1])
    at = sound(app.open(NOTEBOOK))
    at = sound(at.button(key=f"notebook_back_{notes[1]}").click().run())
    assert shown(at) == notes


def test_collections_are_chosen_made_renamed_and_removed(app, notes):
    at = sound(app.open(NOTEBOOK))
    choice = at.selectbox(key="notebook_collection")
    assert choice.options == ["All notes (3)", "Light *or* water (2)", "Dark (1)"]
    at.text_input(key="notebook_new_name").set_value("The sea")
    at = sound(next(button for button in at.button if button.label == "Create").click().run())
    assert at.selectbox(key="notebook_collection").options[-1] == "The sea (0)"
    assert SAYS["collection empty"] in plain(html(at))
    sea = app.bench.notebook.collections()[-1].collection
    at.text_input(key=f"notebook_name_{sea.id}").set_value("dark")
    at = sound(next(button for button in at.button if button.label == "Rename").click().run())
    assert "called “Dark” already" in said(at)
    at = sound(at.button(key="notebook_remove").click().run())
    assert [each.collection.name for each in app.bench.notebook.collections()] == ["Light *or* water", "Dark"]
    at = sound(at.button(key="collection_undo").click().run())
    assert app.bench.notebook.collections()[-1].collection.name == "The sea"


def test_the_notebook_is_searched(app, notes):
    app.bench.notebook.write(notes[2], words="A lantern.", tags=["night"], verdict="unsure")
    at = sound(app.open(NOTEBOOK))
    at.text_input(key="notebook_sought").set_value("LANTERN")
    at = sound(at.run())
    assert shown(at) == [notes[2]]
    assert "one note found." in plain(html(at))
    at.text_input(key="notebook_sought").set_value("")
    at.selectbox(key="notebook_verdict").set_value("none")
    at = sound(at.run())
    assert shown(at) == notes[:2]
    (filters,) = [each for each in at.get("popover") if each.proto.popover.label.startswith("Filters")]
    assert filters.proto.popover.label == "Filters (1): None yet", "what is set is seen while they are folded"
    assert at.selectbox(key="notebook_verdict") in filters.selectbox
    assert 'data-does="up"' not in html(at)  # what is not all of a collection is not put in order


def test_the_address_of_a_note_opens_the_page_it_stands_on(app, sample):
    work = app.bench.works.load(sample.id)
    addresses = [str(work.address(index)) for index in range(12)]
    ids = [app.bench.notebook.keep(sample.id, at).id for at in addresses]
    assert shown(sound(app.open(NOTEBOOK))) == ids[:10]
    assert shown(sound(app.open(NOTEBOOK, note=ids[11]))) == ids[10:]
    assert SAYS["note unknown"] in said(sound(app.open(NOTEBOOK, note="nothing")))


def test_notes_stand_under_their_claims_in_the_order_of_the_first_of_each(app, sample):
    book, work = app.bench.notebook, app.bench.works.load(sample.id)
    claims = ["", "On <b>light</b>", "On water", "On <b>light</b>", "", *["On water"] * 9]
    ids = [book.keep(sample.id, str(work.address(index)), claim_text=claim).id for index, claim in enumerate(claims)]
    at = sound(app.open(NOTEBOOK))
    assert shown(at) == ids[:10]
    at.selectbox(key="notebook_order").set_value("By claim")
    at = sound(at.run())
    light, water, without = [ids[1], ids[3]], [ids[2], *ids[5:]], [ids[0], ids[4]]
    assert shown(at) == [*light, *water[:8]]
    levels = re.findall(r"<(h[23])\b(?! class=.relic-menu)", html(at))
    assert levels == ["h2", *["h3"] * 2, "h2", *["h3"] * 8]
    assert headings(at) == [("On &lt;b&gt;light&lt;/b&gt;", "2 notes"), ("On water", "10 notes")]
    assert 'data-does="down"' not in html(at), "what is not in its own order is not put in order"
    at.switch_page(FIND).run()
    at.switch_page(NOTEBOOK)
    at.query_params["note"] = ids[0]
    at = sound(at.run())
    assert shown(at) == [*water[8:], *without]
    assert headings(at) == [("On water", "10 notes"), (SAYS["no claim"], "2 notes")]


def test_the_address_of_a_collection_opens_it_and_says_where_there_is_none(app, notes):
    book = app.bench.notebook
    made = book.add_collection("Light & *water*")
    book.write(notes[0], collection_id=made.id)
    for name in (made.id, "light & *WATER*"):
        at = sound(app.open(NOTEBOOK, collection=name))
        assert shown(at) == [notes[0]]
        assert said(at) == ""
    at = sound(app.open(NOTEBOOK, collection="zz*z*"))
    assert SAYS["collection unknown"] in said(at)
    assert set(shown(at)) == set(notes)


def test_a_note_whose_work_was_removed_says_so(app, notes, sample):
    app.bench.works.remove(sample.id)
    at = sound(app.open(NOTEBOOK, note=notes[0]))
    words = plain(html(at))
    assert f"{sample.title} {SAYS['work removed']}" in words
    assert 'href="read?' not in html(at)


# ---- files ------------------------------------------------------------------------------------------------------


def take_in(at, data):
    at.file_uploader[0].set_value([("notes.json", data, "application/json")])
    return sound(at.run())


def test_a_saved_notebook_is_taken_in_and_a_damaged_one_changes_nothing(app, notes):
    data = app.bench.notebook_files.export()
    app.bench.notebook.remove(notes[0])
    at = take_in(sound(app.open(NOTEBOOK)), data)
    assert "notes.json: one note taken in, 2 notes here already." in said(at)
    assert sorted(shown(at)) == sorted(notes)
    at = take_in(at, data.replace(b"Dark", b"Bark"))
    assert "sha256" in said(at)
    assert sorted(shown(at)) == sorted(notes)


def test_the_menu_says_which_verdicts_can_be_measured_on(app, notes):
    book = app.bench.notebook
    book.write(notes[0], verdict="supports")
    book.write(notes[1], verdict="contradicts")
    at = sound(app.open(NOTEBOOK))
    told = " ".join(text.value for text in at.text)
    assert SAYS["one supporting"] in told
    assert SAYS["contradicting"] in told
    made = json.loads(app.bench.notebook_files.evaluation_set().content)
    assert [list(each["quotes"]) for each in made.values()] == [[notes[0]]]
