"""Library: which works can I search, and how do I add one?"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import streamlit as st

from relic_core.config import Settings
from relic_core.store.jobs import JobFolder
from tests.app.reading import FIND, LIBRARY, as_read, bars, html, plain, said, sound
from tests.approved import says

SAYS = says("library")

LANTERNS = (
    "LANTERNS\n\nCHAPTER I\n\nThe river rose all night.\n\nCHAPTER II\n\nIn the café there was one lantern fewer.\n"
)


def titles(at):
    """Return the titles of the works that are listed."""
    return re.findall(r'<li id="work-[^>]*><div><h3 class="relic-item">(.*?)</h3>', html(at))


def upload(at, *files):
    """Choose files; each is a name and its bytes."""
    at.file_uploader[0].set_value([(name, data, "text/plain") for name, data in files])
    return sound(at.run())


def labelled(at, label):
    """Return the buttons of a label."""
    return [button for button in at.button if button.label == label]


def click(at, label, number=0):
    return sound(labelled(at, label)[number].click().run())


def submit(at, label):
    """Press the button of a form."""
    (button,) = [button for button in at.button if button.label == label]
    return sound(button.click().run())


def add(at, path):
    at.text_input(key="library_path").set_value(str(path))
    return submit(at, "Add")


def under_way(at):
    """Return what is said of each job in the list of those under way."""
    return [plain(line) for line in re.findall(r'<p class="relic-job">(.*?)<progress', html(at))]


def earlier(at):
    """Return how the jobs that have ended went, newest first."""
    return [text.value.split("UTC  ")[1] for expander in at.expander for text in expander.text]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "lanterns.txt"
    path.write_text(LANTERNS)
    return path


def test_the_sample_is_listed_with_what_is_known_of_it(app):
    at = sound(app.open(LIBRARY))
    (sample,) = app.bench.works.summaries()
    assert titles(at) == [sample.title]
    assert f"{sample.chapters} chapters · {sample.words:,} words · {sample.sentences:,} sentences" in html(at)
    for page in ("read", "find", "work"):
        assert f'href="{page}?work={sample.id}"' in html(at)


# ---- adding by path -----------------------------------------------------------------------------------------------


def test_a_path_is_added_and_can_be_searched(app, text):
    app.run_jobs()
    at = add(app.open(LIBRARY), text)
    assert said(at) == SAYS["file added"]
    assert said(at) in earlier(at)
    lanterns = next(work for work in app.bench.works.summaries() if work.source == str(text))
    assert lanterns.title in titles(at)
    assert app.bench.indexes.missing(lanterns.id) == ()
    at = sound(app.open(FIND, work=lanterns.id))
    assert at.selectbox(key="find_work").value == lanterns.id


def test_adding_is_watched_and_can_be_stopped(app, text):
    at = add(app.open(LIBRARY), text)
    assert bars(at) == ["Adding lanterns.txt: starting"]
    assert under_way(at) == ["Adding lanterns.txt starting"]
    stop = [button for button in at.button if as_read(button.label) == "Stop adding lanterns.txt"][-1]
    sound(stop.click().run())
    app.held.let_go()  # the job has seen the mark, and ends
    sound(at.run())
    assert bars(at) == []
    assert earlier(at)[0] == "Adding lanterns.txt: Stopped."


def test_the_same_text_again_is_known(app, text, tmp_path):
    app.run_jobs()
    at = add(app.open(LIBRARY), text)
    before = titles(at)
    again = tmp_path / "again.txt"
    again.write_bytes(b"\xef\xbb\xbf" + LANTERNS.replace("\n", "\r\n").encode())
    add(at, again)
    assert titles(at) == before
    assert said(at) == SAYS["file again"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no file"),
        (Path.mkdir, "is a folder"),
        (Path.touch, "The file is empty"),
        (lambda path: path.write_bytes(bytes(range(256)) * 64), "line 1 holds the control character U+0000"),
        (lambda path: (path.touch(), os.truncate(path, 60_000_000)), "at most 20,000,000 are allowed"),
    ],
    ids=["missing", "folder", "empty", "binary", "60 MB"],
)
def test_what_cannot_be_added_is_told_and_nothing_is_lost(app, tmp_path, make, message):
    make(tmp_path / "it.txt")
    app.run_jobs()
    at = app.open(LIBRARY)
    before = titles(at)
    add(at, tmp_path / "it.txt")
    (warning,) = at.warning
    assert as_read(warning.value).startswith("Adding it.txt: it.txt: ")
    assert message in as_read(warning.value)
    assert titles(at) == before
    assert said(app.open(LIBRARY)) == "", "a later visitor finds it among the earlier jobs"
    assert message in earlier(app.open(LIBRARY))[0]


def readiness(at, work):
    """Return what a work's row says of its readiness: whether by words only, and whether it can be prepared."""
    row = re.search(rf'<li id="work-{work.id}".*?</li>', html(at), re.DOTALL)[0]
    return "words only" in row, "<progress" in row, 'data-does="prepare"' in row


def test_a_work_is_read_by_words_alone_until_it_is_prepared_which_is_watched_beside_it(app, text, press_button):
    work = app.bench.works.add(text.read_bytes(), name="lanterns.txt").work
    assert readiness(app.open(LIBRARY), work) == (True, False, True)
    at = press_button(app.open(LIBRARY), "prepare", work.id)
    assert readiness(at, work) == (True, True, False)
    (job,) = app.bench.jobs.under_way()
    app.bench.jobs.cancel(job.id)
    app.held.let_go()
    app.run_jobs()
    at = press_button(app.open(LIBRARY), "prepare", work.id)
    assert readiness(at, work) == (False, False, False)


@pytest.mark.parametrize("model", ["small", "larger"])
def test_a_work_that_is_ready_says_which_model_answers(app, monkeypatch, model):
    (work,) = app.bench.works.summaries()
    monkeypatch.setattr("relic_core.services.indexing.Indexes.models", lambda *_: {work.id: model})
    row = re.search(rf'<li id="work-{work.id}".*?</li>', html(app.open(LIBRARY)), re.DOTALL)[0]
    assert f"by the {model} model" in plain(row)


def test_what_was_added_leads_to_the_works(app, text):
    app.run_jobs()
    at = app.open(LIBRARY)
    at.session_state["part"] = "Add"
    assert add(at, text).session_state["part"] == "Works"


def test_what_cannot_be_found_leaves_the_reader_where_it_was_named(app, tmp_path):
    app.run_jobs()
    at = app.open(LIBRARY)
    at.session_state["part"] = "Add"
    assert add(at, tmp_path / "missing.txt").session_state["part"] == "Add"


# ---- texts of the reader's own ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "chapters", "first"),
    [
        (LANTERNS.encode("latin-1"), 2, "The river rose all night."),
        ("“The café,” she said…".encode("cp1252") + b"\n", 1, "“The café,” she said…"),
        (b"It rained for a while. " * 4_000, 1, "It rained for a while."),
    ],
    ids=["Latin-1", "cp1252", "one long line"],
)
def test_odd_files_become_works(app, data, chapters, first):
    at = upload(app.open(LIBRARY), ("odd.txt", data))
    click(at, "Add")
    (odd,) = [work for work in app.bench.works.summaries() if work.source == "odd.txt"]
    assert odd.chapters == chapters
    assert app.bench.works.load(odd.id).sentence_text(0) == first


def test_a_file_is_shown_as_it_was_understood_before_anything_is_stored(app):
    at = upload(app.open(LIBRARY), ("lanterns.txt", LANTERNS.encode()))
    assert len(app.bench.works.summaries()) == 1
    shown = plain(html(at))
    for words in (
        "Plain text · 2 chapters · 13 words · 2 sentences",
        "The river rose all night.",
        "Left out: headings",
    ):
        assert words in shown
    assert [box.value for box in at.text_input if box.key.startswith("own-")] == ["Lanterns", "", "", ""]

    at.text_input[[box.label for box in at.text_input].index("Title")].set_value("The Lanterns")
    at.text_input[[box.label for box in at.text_input].index("First published")].set_value("1891")
    click(at, "Add")
    (added,) = [work for work in app.bench.works.summaries() if work.source == "lanterns.txt"]
    assert said(at).startswith(SAYS["added at once"])
    for to in ("read", "find"):
        assert f'href="{to}?work={added.id}"' in html(at)
    assert (added.title, added.year) == ("The Lanterns", 1891)
    assert under_way(at) == ["Preparing The Lanterns starting"]
    assert not labelled(at, "Discard"), "the uploader has been emptied"
    assert said(sound(at.run())) == said(at), "a message outlives what else has the page drawn anew"
    at.switch_page(FIND).run()
    assert said(sound(at.switch_page(LIBRARY).run())) == "", "and is gone when one comes back"


def test_several_files_are_added_at_once_and_one_that_cannot_be_read_says_why(app):
    files = [("a.txt", LANTERNS.encode()), ("noise_*1*.txt", bytes(range(256)) * 64), ("b.txt", b"It rained. I slept.")]
    at = upload(app.open(LIBRARY), *files)
    (refused,) = at.error
    assert as_read(refused.value).startswith("**noise_*1*.txt**: The file is not plain text")
    click(at, "Add all 2")
    assert len(at.success) == 2
    assert len(titles(at)) == 3
    assert len(at.error) == 1, "it stands until it is discarded"
    click(at, "Discard")
    assert not at.error


def test_all_that_could_not_be_read_is_discarded_at_once(app):
    noise = bytes(range(256)) * 64
    files = [("a.txt", LANTERNS.encode()), ("noise.txt", noise), ("book.pdf", b"%PDF-1.7\n\x00\xff" * 99)]
    at = upload(app.open(LIBRARY), *files)
    assert len(at.error) == 2
    assert "book.pdf" in said(at), "a type that is not read is told in our own words"
    click(at, SAYS["discard unreadable"])
    assert not at.error
    assert labelled(at, "Add")


def test_a_press_is_kept_although_the_page_is_drawn_anew_in_the_middle(app, monkeypatch):
    at = upload(app.open(LIBRARY), ("lanterns.txt", LANTERNS.encode()))
    told = [True]

    def interrupted(*_given):
        if told:
            told.pop()
            st.rerun()

    monkeypatch.setattr("relic_ui.library.library.show_works", interrupted)
    click(at, "Add")
    assert not told
    assert "Lanterns" in {work.title for work in app.bench.works.summaries()}


def test_a_play_is_shown_as_a_play(app):
    tei = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Wet</title></titleStmt>'
        "</fileDesc></teiHeader><text><body><div type='act'><head>Act 1</head><sp><speaker>ANNE</speaker>"
        "<l>The river rose<note>All night.</note></l><l>and nobody slept.</l></sp>"
        "<stage>She goes.</stage></div></body></text></TEI>"
    )
    at = upload(app.open(LIBRARY), ("wet.xml", tei.encode()))
    (shown,) = re.findall(r'<blockquote class="relic-shelf-first">(.*?)</blockquote>', html(at), re.DOTALL)
    assert '<p class="relic-read-speaker">ANNE</p>' in shown
    assert "The river rose\nand nobody slept." in shown
    assert "All night" not in shown
    assert re.search(r'<div class="relic-shelf-stage"><p>She goes', shown)


@pytest.mark.parametrize(
    ("label", "typed", "message"),
    [
        ("Title", " ", SAYS["title empty"]),
        ("First published", "soon", "not a number"),
        ("First published", "9999", "9999"),
    ],
)
def test_what_cannot_be_said_of_a_work_is_told_and_the_file_is_still_there(app, label, typed, message):
    at = upload(app.open(LIBRARY), ("lanterns.txt", LANTERNS.encode()))
    at.text_input[[box.label for box in at.text_input].index(label)].set_value(typed)
    click(at, "Add")
    assert message in said(at)
    assert len(app.bench.works.summaries()) == 1
    assert labelled(at, "Add")


def test_a_text_that_is_there_is_known_and_so_is_one_that_was_removed(app):
    work = app.bench.works.add(LANTERNS.encode(), name="lanterns.txt", title="My Lanterns").work
    at = upload(app.open(LIBRARY), ("again.txt", LANTERNS.encode()))
    assert SAYS["already there"] in said(at)
    app.bench.works.remove(work.id)
    at = upload(app.open(LIBRARY), ("again.txt", LANTERNS.encode()))
    assert SAYS["removed earlier"] in said(at)


def test_another_edition_is_told(app):
    app.bench.works.add(b"The river rose, and fell.", name="other.txt", title="Lanterns")
    at = upload(app.open(LIBRARY), ("lanterns.txt", LANTERNS.encode()))
    assert SAYS["other edition"] in said(at)


def test_the_same_file_twice_is_offered_once(app):
    at = upload(app.open(LIBRARY), ("a.txt", LANTERNS.encode()), ("b.txt", LANTERNS.encode()))
    assert len(labelled(at, "Discard")) == 2
    assert len([box for box in at.text_input if box.label == "Title"]) == 1
    assert SAYS["same file"] in said(at).replace("**", "")


def test_a_file_can_be_discarded(app):
    at = upload(app.open(LIBRARY), ("lanterns.txt", LANTERNS.encode()))
    click(at, "Discard")
    assert not labelled(at, "Discard")
    assert len(app.bench.works.summaries()) == 1


def test_a_file_name_and_a_title_with_markup_are_shown_as_they_are(app):
    at = upload(app.open(LIBRARY), ("<b>*x*</b>.txt", b"<i>Wet</i>\n\nIt rained <script>x</script> a while.\n"))
    assert "<script>" not in html(at)
    assert "<b>" not in html(at)
    assert "&lt;script&gt;" in html(at)


# ---- the folder of RELIC_LIBRARY ----------------------------------------------------------------------------------


def test_texts_of_the_library_folder_are_offered_until_they_are_added(app, text, monkeypatch):
    (text.parent / "texts").mkdir()
    offered = text.rename(text.parent / "texts" / "lanterns.txt")
    (offered.parent / "rain.txt").write_text("It rained. Nobody minded.")
    monkeypatch.setenv("RELIC_LIBRARY", str(offered.parent))
    app.run_jobs()
    at = sound(app.open(LIBRARY))
    choice = at.multiselect(key="library_chosen")
    assert len(choice.options) == 2
    choice.set_value([str(offered)])
    submit(at, SAYS["add chosen"])
    assert len(titles(at)) == 2
    assert len(at.multiselect(key="library_chosen").options) == 1


def test_a_library_folder_that_is_missing_is_told_and_the_page_goes_on(app, tmp_path, monkeypatch):
    monkeypatch.setenv("RELIC_LIBRARY", str(tmp_path / "gone"))
    at = sound(app.open(LIBRARY))
    assert str(tmp_path / "gone") in said(at)
    assert at.text_input(key="library_path").label


# ---- Project Gutenberg --------------------------------------------------------------------------------------------


def test_a_number_of_project_gutenberg_is_fetched_by_a_job(app):
    at = app.open(LIBRARY)
    at.text_input(key="library_gutenberg").set_value("https://www.gutenberg.org/ebooks/1342")
    submit(at, "Fetch and add")
    (bar,) = bars(at)
    assert "Prejudice" in bar
    assert bar.endswith(SAYS["fetching"])
    assert app.bench.jobs.recent()[0].active


def test_how_a_fetch_failed_is_told_beside_the_form(app, monkeypatch, tmp_path):
    monkeypatch.setenv("RELIC_GUTENBERG", "http://127.0.0.1:9/")  # where nobody listens
    app.settings = Settings.from_environment()
    app.run_jobs()
    at = app.open(LIBRARY)
    at.text_input(key="library_gutenberg").set_value("2701")
    submit(at, "Fetch and add")
    (warning,) = at.warning
    assert "127.0.0.1" in as_read(warning.value)


def test_what_is_no_number_is_told(app):
    at = app.open(LIBRARY)
    at.text_input(key="library_gutenberg").set_value("Emma")
    submit(at, "Fetch and add")
    assert "Emma" in said(at)
    assert bars(at) == []


# ---- the shelf ----------------------------------------------------------------------------------------------------


def rows(at):
    """Map the works of the shelf to what is said of each."""
    found = re.findall(r'<li id="shelf-([^"]*)"[^>]*>(.*?)</li>', html(at))
    return {slug: plain(row.replace("<button", " <button")) for slug, row in found}


def test_the_shelf_has_all_works_with_where_each_can_be_had(app):
    at = sound(app.open(LIBRARY))
    shelved = app.bench.catalogue.shelf()
    assert set(rows(at)) == {each.entry.slug for each in shelved}
    assert len(shelved) == 79
    for each in shelved:
        if each.entry.free_in_us:
            expected = f"{SAYS['in copyright']} {each.entry.free_in_us - 1}: add a file of your own"
        elif each.entry.gutenberg:
            expected = " Add"
        else:
            expected = SAYS["no source"]
        assert rows(at)[each.entry.slug].endswith(expected)
    tabs = [tab.label for tab in at.tabs if "century (" in tab.label]
    assert [label.split("th")[0] for label in tabs] == ["19", "20"]
    assert sum(int(label.split("(")[1].rstrip(")")) for label in tabs) == 79


def test_one_click_adds_a_work_and_it_is_on_its_way(app, press_button):
    at = press_button(app.open(LIBRARY), "add", "emma")
    (bar,) = bars(at)
    assert "Emma" in bar
    assert rows(at)["emma"].endswith("On its way …")
    press_button(at, "add", "frankenstein")
    assert rows(at)["emma"].endswith("On its way …")  # it waits, and another can be asked for
    assert rows(at)["frankenstein"].endswith("On its way …")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A library folder of texts."""
    made = tmp_path / "texts"
    made.mkdir()
    monkeypatch.setenv("RELIC_LIBRARY", str(made))
    return made


def test_a_work_of_the_folder_is_taken_from_there_and_the_rest_can_follow(app, folder, press_button):
    late = [each.entry.slug for each in app.bench.catalogue.shelf() if each.entry.year > 1900]
    for slug in late[:2]:
        (folder / f"{slug}.txt").write_text(f"This is {slug}. It rained.")
    at = sound(app.open(LIBRARY))
    assert rows(at)[late[0]].endswith(SAYS["offered from folder"])
    app.run_jobs()
    at = press_button(app.open(LIBRARY), "add", late[0])
    assert rows(at)[late[0]].endswith(SAYS["in library"])
    assert [button.label for button in at.button if button.key == "shelf-all-20"] == [
        f"Add the other {sum(row.endswith(' Add') for slug, row in rows(at).items() if slug in late)}"
    ]
    assert "dded." in said(at)
    assert labelled(at, "Close"), "how it went stands until it is closed, or something else is begun"
    assert said(click(at, "Close")) == ""


def test_adding_a_whole_century_is_one_job(app):
    at = app.open(LIBRARY)
    sound(at.button(key="shelf-all-19").click().run())
    (bar,) = bars(at)
    assert re.match(r"Adding \d\d works: starting", bar)
    assert not [button for button in at.button if button.key == "shelf-all-19"]  # it has been asked for
    assert at.button(key="shelf-all-20").disabled, "one thing after another"


@pytest.mark.parametrize("prepare", [False, True])
def test_preparing_a_whole_century_is_told_of_and_left_to_the_reader(app, prepare):
    at = sound(app.open(LIBRARY))
    assert SAYS["several at once"] in plain(html(at))
    asked = at.checkbox(key="shelf-prepare-19")
    assert asked.value is False
    asked.set_value(prepare).run()
    sound(at.button(key="shelf-all-19").click().run())
    (folder,) = JobFolder.all(app.settings.jobs)
    assert folder.spec.arguments.get("prepare", True) is prepare


def test_the_shelf_can_be_filtered(app):
    at = app.open(LIBRARY)
    sound(at.text_input(key="shelf_filter").set_value("dickens copperfield").run())
    assert list(rows(at)) == ["david_copperfield"]
    sound(at.text_input(key="shelf_filter").set_value("zzz").run())
    assert rows(at) == {}
    assert "0 of 79 works" in html(at)


# ---- correcting, removing -----------------------------------------------------------------------------------------


def test_what_is_said_of_a_work_can_be_corrected(app, press_button):
    (sample,) = app.bench.works.summaries()
    at = press_button(app.open(LIBRARY), "correct", sample.id)
    at.text_input(key=f"correct-{sample.id}-author").set_value("A. N. Other")
    at.text_input(key=f"correct-{sample.id}-year").set_value("not yet")
    submit(at, "Save")
    assert "not a number" in said(at)
    at.text_input(key=f"correct-{sample.id}-year").set_value("1902")
    submit(at, "Save")
    (corrected,) = app.bench.works.summaries()
    assert (corrected.id, corrected.author, corrected.year) == (sample.id, "A. N. Other", 1902)
    assert "A. N. Other, 1902" in html(at)
    assert not labelled(at, "Save")


def test_correcting_can_be_given_up(app, press_button):
    (sample,) = app.bench.works.summaries()
    at = press_button(app.open(LIBRARY), "correct", sample.id)
    at.text_input(key=f"correct-{sample.id}-title").set_value("Another")
    submit(at, "Cancel")
    assert titles(at) == [sample.title]
    assert not labelled(at, "Cancel")


def test_a_removed_work_can_be_put_back(app, press_button):
    at = app.open(LIBRARY)
    before = titles(at)
    (sample,) = app.bench.works.summaries()
    press_button(at, "remove", sample.id)
    assert titles(at) == []
    assert SAYS["nothing stored"] in said(at)
    assert app.bench.works.summaries() == ()

    sound(app.open(LIBRARY))
    assert app.bench.works.summaries() == (), "the sample stays away"

    sound(at.button(key="library_undo").click().run())
    assert titles(at) == before
    assert list(sound(app.open(FIND)).text_area)


def test_a_later_visitor_can_put_a_work_back(app):
    (sample,) = app.bench.works.summaries()
    app.bench.works.remove(sample.id)
    at = sound(app.open(LIBRARY))
    assert titles(at) == []
    assert [expander.label for expander in at.expander][:1] == ["Removed works (1)"]
    sound(at.button(key=f"restore-{sample.id}").click().run())
    assert titles(at) == [sample.title]
    assert not [each for each in at.button if each.key.startswith("restore-")]


def test_many_works_can_be_filtered(app):
    for number in range(15):
        app.bench.works.add(f"It rained {number} times.".encode(), name="x.txt", title=f"Rain {number}", author="Wet")
    at = sound(app.open(LIBRARY))
    assert len(titles(at)) == 12
    sound(at.button(key="library_show_all").click().run())
    assert len(titles(at)) == 16
    sound(at.text_input(key="library_filter").set_value("wet rain 13").run())
    assert titles(at) == ["Rain 13"]


def test_of_many_jobs_a_few_are_watched(app):
    for number in range(5):
        work = app.bench.works.add(f"It rained {number} times.".encode(), name="x.txt", title=f"Rain {number}").work
        app.bench.indexes.start(work.id)
    at = sound(app.open(LIBRARY))
    assert bars(at) == []
    assert len(under_way(at)) == 5
    assert [popover.proto.popover.label for popover in at.get("popover")] == ["Under way: 5"]
    stops = [button.label for button in at.button if button.label.startswith("Stop")]
    assert stops == [f"Stop preparing Rain {number}" for number in range(5)], "each says what it stops"
    work = app.bench.works.add(b"It rained on.", name="x.txt", title="Rain 5").work
    app.bench.indexes.start(work.id)
    work = app.bench.works.add(b"It rained on and on.", name="x.txt", title="Rain 6").work
    app.bench.indexes.start(work.id)
    at = sound(app.open(LIBRARY))
    assert len(under_way(at)) == 6
    assert SAYS["one waits"] in html(at)


def test_a_preparation_that_was_killed_with_the_server_goes_on_when_the_next_one_starts(app):
    work = app.bench.works.add(b"The ferry left. It was late. Nobody came.\n" * 9, name="x.txt").work
    app.bench.indexes.start(work.id)
    app.held.let_go()
    sound(app.open(LIBRARY))
    assert [(job.kind, job.subject) for job in app.bench.jobs.under_way()] == [("index", work.id)]
