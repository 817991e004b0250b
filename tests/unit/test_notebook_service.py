"""Keeping passages, writing about them, arranging them, finding them again."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from relic_core.errors import BadRequest, NotFound
from relic_core.services.notebook import Mark
from relic_core.store.engine import Engine
from relic_core.store.notes import NoteRows
from relic_core.wiring import build
from tests.making_notes import CLAIM, FERRY, add_ferry, ask


@pytest.fixture
def ferry(bench):
    return add_ferry(bench)


@pytest.fixture
def book(bench):
    return bench.notebook


# ---- keeping ----------------------------------------------------------------------------------------------------


def test_a_collection_that_was_removed_between_two_looks_is_not_kept_in(bench, ferry, monkeypatch):
    here = bench.notebook.add_collection("Here")
    note = bench.notebook.keep(ferry.id, "1.1.1")
    elsewhere = replace(note, collection_id="gone", created=datetime.now(UTC))
    monkeypatch.setattr(NoteRows, "last_kept", lambda _self, _person: elsewhere)
    assert bench.notebook.current("").id == here.id


def test_a_hit_is_kept_with_all_that_brought_it_up(bench, ferry, book):
    search = ask(bench, ferry)
    note = book.keep(ferry.id, "1.1.2", 2, origin="find", search_id=search.id, retriever="bm25", rank=3)
    kept = note.kept
    assert kept.quotation == "Nobody counted the lanterns on the quay. Nobody had been asked to."
    assert ferry.text[kept.start : kept.end] == kept.quotation
    assert (kept.work_id, kept.sha256, kept.title, kept.author) == (ferry.id, ferry.sha256, "The Ferry", "A. Nobody")
    assert (kept.at, kept.length, kept.place) == ("1.1.2", 2, "Chapter I · paragraph 1")
    assert (kept.origin, kept.claim_text, kept.search_id) == ("find", CLAIM, search.id)
    assert (kept.retriever, kept.rank, kept.made_with) == ("bm25", 3, "work x, bm25, version 1")
    assert [(each.collection.name, each.notes) for each in book.collections()] == [("My notes", 1)]


def test_a_press_of_keep_is_one_unit_of_work_and_looking_what_is_kept_another(bench, ferry, monkeypatch):
    search = ask(bench, ferry)
    opened, attach = [], Engine.attach
    monkeypatch.setattr(Engine, "attach", lambda engine: (opened.append(engine), attach(engine))[1])
    found = {"origin": "find", "search_id": search.id, "retriever": "bm25", "rank": 3}
    for outcome in ("kept", "let go", "kept"):  # the first makes a collection too
        opened.clear()
        keep = outcome == "kept"
        assert build(bench.settings).notebook.press(ferry.id, "1.1.2", 2, keep=keep, **found).outcome == outcome
        assert len(opened) == 1
    opened.clear()
    assert len(bench.notebook.marks()) == len(opened) == 1


def test_a_press_that_fails_writes_nothing(bench, ferry, monkeypatch):
    def fails(_rows, _note):
        raise BadRequest("not now")

    monkeypatch.setattr(NoteRows, "keep", fails)
    with pytest.raises(BadRequest):
        bench.notebook.press(ferry.id, "1.1.1", keep=True)
    assert bench.notebook.collections() == ()


def test_a_passage_met_in_reading_has_no_claim_and_says_which_text_it_is_of(ferry, book):
    kept = book.keep(ferry.id, "2.1.1").kept
    assert (kept.origin, kept.claim_text, kept.retriever, kept.rank) == ("read", "", "", 0)
    assert ferry.sha256[:12] in kept.made_with


def test_the_same_passage_for_the_same_claim_is_one_note_and_for_another_claim_another(bench, ferry, book):
    search = ask(bench, ferry)
    first = book.keep(ferry.id, "1.1.2", origin="find", search_id=search.id, retriever="bm25", rank=1)
    again = book.keep(ferry.id, "1.1.2", origin="read", search_id=search.id)
    assert again == first
    assert book.keep(ferry.id, "1.1.2").id != first.id
    assert book.keep(ferry.id, "1.1.2", 2, search_id=search.id).id != first.id


def test_a_search_of_another_machine_does_not_hinder_keeping(ferry, book):
    kept = book.keep(ferry.id, "1.1.2", search_id="abcdefg").kept
    assert (kept.search_id, kept.claim_text) == ("", "")


def test_sentences_beyond_the_chapter_are_left_away(ferry, book):
    note = book.keep(ferry.id, "1.2.1", 5)
    assert (note.kept.length, note.kept.quotation) == (1, "The ferryman slept, and the river did not.")


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"at": "nowhere"}, BadRequest, "is not a place in a work"),
        ({"at": "9.1.1"}, NotFound, "passage 9.1.1"),
        ({"length": 0}, BadRequest, " 0 sentences .* 200 "),
        ({"length": 201}, BadRequest, " 201 sentences"),
        ({"work_id": "none"}, NotFound, "no work 'none'"),
        ({"origin": "kitchen"}, BadRequest, "no page to keep from called 'kitchen'"),
        ({"rank": 2}, BadRequest, "retriever's"),
        ({"collection_id": "none"}, NotFound, "no collection 'none'"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_written(ferry, book, given, error, said):
    asked = {"work_id": ferry.id, "at": "1.1.1", "length": 1, "origin": "read"} | given
    with pytest.raises(error, match=said):
        book.keep(asked.pop("work_id"), asked.pop("at"), asked.pop("length"), **asked)
    assert book.notes() == ()


def test_keeping_goes_to_the_collection_kept_in_last_or_made_since(ferry, book):
    first = book.keep(ferry.id, "1.1.1").collection_id
    light = book.add_collection("Light").id
    assert book.keep(ferry.id, "1.1.2").collection_id == light
    assert book.keep(ferry.id, "1.1.3", collection_id=first).collection_id == first
    assert book.keep(ferry.id, "1.2.1").collection_id == first


def test_marks_say_what_is_kept_for_a_claim_and_where(bench, ferry, book):
    search = ask(bench, ferry)
    note = book.keep(ferry.id, "1.1.2", search_id=search.id)
    bare = book.keep(ferry.id, "1.1.1")
    marks = book.marks()
    assert marks[CLAIM, ferry.id, "1.1.2", 1] == Mark(note.id, "My notes")
    assert marks["", ferry.id, "1.1.1", 1] == Mark(bare.id, "My notes")
    assert len(marks) == 2


def test_a_passage_is_let_go_of_which_nothing_was_said_and_a_press_that_comes_twice_changes_nothing(ferry, book):
    press = partial(book.press, ferry.id, "1.1.1")
    first = press(keep=True)
    assert (first.outcome, first.collection) == ("kept", "My notes")
    assert press(keep=True) == first
    for _ in range(2):
        assert press(keep=False).outcome == "let go"
        assert book.notes() == ()
    assert press(keep=True).outcome == "kept"
    book.write(first.note.id, words="Mine.")
    assert press(keep=False).outcome == "stays"
    assert book.notes()[0].note.words == "Mine."


# ---- writing ----------------------------------------------------------------------------------------------------


def test_words_tags_and_verdict_are_written_each_by_itself(ferry, book):
    note = book.keep(ferry.id, "1.1.1")
    book.write(note.id, words="  As typed, *to the letter* $x^2$ <b>.\n")
    book.write(note.id, tags=["light", " the  sea ", "Light", ""])
    written = book.write(note.id, verdict="supports")
    assert written.words == "  As typed, *to the letter* $x^2$ <b>.\n"
    assert (written.tags, written.verdict) == (("light", "the sea"), "supports")
    assert book.write(note.id, verdict="").verdict is None
    assert book.tags() == ("light", "the sea")


def test_a_note_of_a_megabyte_is_refused_with_what_is_allowed(ferry, book):
    note = book.keep(ferry.id, "1.1.1")
    book.write(note.id, words="Before.")
    with pytest.raises(BadRequest, match=r"20,000 .* 1,000,000.*not saved"):
        book.write(note.id, words="x" * 1_000_000)
    assert book.note(note.id).note.words == "Before."
    assert book.write(note.id, words="x" * 20_000).words == "x" * 20_000


def test_what_was_written_elsewhere_meanwhile_is_handed_back_when_it_is_written_over(ferry, book):
    seen = book.keep(ferry.id, "1.1.1")
    theirs = book.write(seen.id, words="Theirs.", verdict="unsure")
    mine, other = book.write_over(seen, words="Mine.")
    assert other == theirs
    assert (mine.words, mine.verdict) == ("Mine.", "unsure")
    assert book.write_over(seen, words="Mine.") == (mine, None), "both say the same"
    assert book.write_over(mine, words="More.")[1] is None, "nobody else wrote"
    assert book.write_over(seen, tags=["light"])[1] is None, "of tags, both sides count"
    assert book.write_over(seen, verdict="supports")[1].verdict == "unsure"


@pytest.mark.parametrize(
    ("theirs", "mine", "both"),
    [
        (["sea", "light"], ["light"], {"light"}),
        (["sea", "light", "night"], ["sea", "dusk"], {"sea", "night", "dusk"}),
        ([], ["sea", "light", "dusk"], {"dusk"}),
        (["Light", "sea"], ["sea", "light"], {"sea", "Light"}),
        ([str(number) for number in range(20)], ["dusk"], {"dusk", *(str(number) for number in range(19))}),
    ],
)
def test_tags_that_two_added_or_removed_come_together(ferry, book, theirs, mine, both):
    seen = book.write(book.keep(ferry.id, "1.1.1").id, tags=["sea", "light"])
    book.write(seen.id, tags=theirs)
    assert set(book.write_over(seen, tags=mine)[0].tags) == both


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tags": [str(number) for number in range(21)]}, "20 tags,.* 21"),
        ({"tags": ["x" * 61]}, "60 characters.*has 61"),
        ({"verdict": "maybe"}, "no verdict called 'maybe'"),
        ({"words": "half \ud800"}, "character at place 6"),
    ],
)
def test_what_a_note_cannot_hold_is_refused(ferry, book, given, said):
    note = book.keep(ferry.id, "1.1.1")
    with pytest.raises(BadRequest, match=said):
        book.write(note.id, **given)
    assert book.note(note.id).note == note


# ---- arranging --------------------------------------------------------------------------------------------------


def test_notes_move_up_and_down_as_far_as_it_goes(ferry, book):
    ids = [book.keep(ferry.id, at).id for at in ("1.1.1", "1.1.2", "1.1.3")]

    def order():
        return [ids.index(view.note.id) for view in book.notes()]

    book.move(ids[2], -1)
    assert order() == [0, 2, 1]
    book.move(ids[2], -5)
    assert order() == [2, 0, 1]
    book.move(ids[2], 1)
    assert order() == [0, 2, 1]
    book.move(ids[0], 9)
    assert order() == [2, 1, 0]


def test_a_passage_is_made_longer_and_shorter_with_what_was_written_about_it(bench, ferry, book):
    search = ask(bench, ferry)
    note = book.keep(ferry.id, "1.1.1", search_id=search.id, retriever="bm25", rank=3)
    other = book.keep(ferry.id, "2.1.1")
    book.write(note.id, words="Counted by none", tags=["quay"], verdict="supports")
    longer = book.lengthen(note.id, 1)
    assert (longer.kept.at, longer.kept.length) == ("1.1.1", 2)
    assert longer.kept.quotation == ferry.text[longer.kept.start : longer.kept.end]
    assert (longer.words, longer.tags, longer.verdict) == ("Counted by none", ("quay",), "supports")
    assert (longer.kept.claim_text, longer.kept.retriever, longer.kept.rank) == (CLAIM, "bm25", 3)
    assert [view.note.id for view in book.notes()] == [longer.id, other.id]
    assert book.lengthen(longer.id, -1).kept == note.kept
    assert book.lengthen(note.id, -1).kept == note.kept  # no passage is shorter than a sentence
    assert [view.note.id for view in book.notes()] == [note.id, other.id]


def test_a_passage_ends_with_its_chapter_and_meets_the_note_that_is_there(ferry, book):
    whole = book.keep(ferry.id, "1.1.1", 99)
    assert book.lengthen(whole.id, 5) == whole
    book.write(whole.id, words="All of it")
    short = book.keep(ferry.id, "1.1.1", whole.kept.length - 1)
    book.write(short.id, words="Most of it")
    met = book.lengthen(short.id, 1)
    assert (met.id, met.words) == (whole.id, "All of it\n\nMost of it")
    assert [view.note.id for view in book.notes()] == [whole.id]


def test_a_note_moves_to_another_collection(ferry, book):
    note = book.keep(ferry.id, "1.1.1")
    dark = book.add_collection("Dark")
    book.write(note.id, collection_id=dark.id)
    assert [view.note.id for view in book.notes(dark.id)] == [note.id]
    assert book.notes(note.collection_id) == ()


def test_collections_have_names_of_their_own(book):
    light = book.add_collection("  Light  or water ")
    assert light.name == "Light or water"
    with pytest.raises(BadRequest, match="“Light or water”"):
        book.add_collection("light or WATER")
    with pytest.raises(BadRequest, match="needs a name"):
        book.add_collection("  ")
    with pytest.raises(BadRequest, match=r"120 .* 121"):
        book.add_collection("x" * 121)
    assert book.rename_collection(light.id, "Light or Water").name == "Light or Water"  # its own name is not taken
    assert [each.collection.name for each in book.collections()] == ["Light or Water"]


def test_what_was_removed_comes_back(ferry, book):
    note = book.keep(ferry.id, "1.1.1")
    book.write(note.id, words="Mine.")
    book.remove(note.id)
    assert book.notes() == ()
    assert [each.id for each in book.removed()] == [note.id]
    book.undo(note.id)
    assert book.notes()[0].note.words == "Mine."
    book.remove_collection(note.collection_id)
    assert book.collections() == ()
    book.undo_collection(book.removed_collections()[0].id)
    assert book.notes()[0].note.words == "Mine."


# ---- finding ----------------------------------------------------------------------------------------------------


def test_every_word_sought_stands_somewhere_in_the_note(bench, ferry, book):
    search = ask(bench, ferry)
    first = book.keep(ferry.id, "1.1.2", search_id=search.id)
    second = book.keep(ferry.id, "1.2.1")
    book.write(second.id, words="Sleep, again.", tags=["Night"], verdict="unsure")

    def found(words="", **asked):
        return [view.note.id for view in book.notes(words=words, **asked)]

    assert found("LANTERNS quay") == [first.id]
    assert found("account") == [first.id], "in the claim"
    assert found("sleep night") == [second.id], "in words and tags"
    assert found("ferry") == [first.id, second.id], "in the title"
    assert found("lanterns sleep") == []
    assert found(tag="Night") == found(verdict="unsure") == [second.id]
    assert found(verdict="none") == [first.id]


def test_what_was_kept_without_a_claim_is_not_waiting_for_a_verdict(ferry, book):
    met = book.keep(ferry.id, "1.1.1")
    looked_for = book.keep(ferry.id, "1.1.2", origin="concordance", claim_text="lantern*")
    asked = book.keep(ferry.id, "1.1.3", claim_text="Nobody counts.")
    assert [each.kept.for_claim for each in (met, looked_for, asked)] == [False, False, True]
    assert [view.note.id for view in book.notes(verdict="none")] == [asked.id]
    assert len(book.notes()) == 3


# ---- works that have gone ---------------------------------------------------------------------------------------


def test_a_note_says_when_its_work_has_gone_and_keeps_its_words(bench, ferry, book):
    note = book.keep(ferry.id, "1.1.1")
    view = book.note(note.id)
    assert (view.work_id, view.notice) == (ferry.id, "")
    bench.works.remove(ferry.id)
    view = book.note(note.id)
    assert view.work_id == ""
    assert "The Ferry was removed" in view.notice
    assert view.note.kept.quotation == "The river rose all night."
    bench.works.restore(ferry.id)
    assert book.note(note.id).notice == ""


def test_a_note_says_when_the_library_has_another_edition(bench, ferry, book):
    note = book.keep(ferry.id, "1.1.1")
    bench.works.remove(ferry.id)
    other = add_ferry(bench, FERRY.replace(b"all night", b"all day"))
    view = book.note(note.id)
    assert (view.work_id, view.other_id) == ("", other.id)
    assert "edition of The Ferry" in view.notice
