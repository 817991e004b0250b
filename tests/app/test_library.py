"""Library: which works can I search, and how do I add one?"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from relic_ui.find import name_of
from tests.app.reading import FIND, LIBRARY, as_read, bars, html, said, sound

LANTERNS = (
    "LANTERNS\n\nCHAPTER I\n\nThe river rose all night.\n\nCHAPTER II\n\nIn the café there was one lantern fewer.\n"
)


def titles(at):
    return re.findall(r'<h3 class="relic-item">(.*?)</h3>', html(at))


def submit(at, label):
    """Press the button of a form."""
    (button,) = [button for button in at.button if button.label == label]
    return sound(button.click().run())


def add(at, path):
    at.text_input(key="library_path").set_value(str(path))
    return submit(at, "Add")


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
    assert titles(at) == [name_of(sample)]
    assert f"{sample.chapters} chapters · {sample.sentences:,} sentences · {sample.words:,} words" in html(at)


# ---- adding by path -----------------------------------------------------------------------------------------------


def test_a_path_is_added_and_can_be_searched(app, text):
    app.run_jobs()
    at = add(app.open(LIBRARY), text)
    assert said(at) == "Adding lanterns.txt: Lanterns has been added."
    assert said(at) in earlier(at)
    lanterns = next(work for work in app.bench.works.summaries() if work.source == str(text))
    assert name_of(lanterns) in titles(at)
    assert app.bench.indexes.missing(lanterns.id) == ()
    sound(at.button(key=f"find-{lanterns.id}").click().run())
    assert at.title[0].value == "Find a quotation"
    assert at.selectbox(key="find_work").value == lanterns.id


def test_adding_is_watched_and_can_be_stopped(app, text):
    at = add(app.open(LIBRARY), text)
    assert bars(at) == ["Adding lanterns.txt: starting"]
    (stop,) = [button for button in at.button if button.label == "Stop"]
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
    assert said(at) == "Adding again.txt: Lanterns is in the library already."


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no file"),
        (Path.mkdir, "is a folder"),
        (Path.touch, "The file is empty"),
        (lambda path: path.write_bytes(bytes(range(256)) * 64), "not text in an encoding known here"),
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
    at = app.open(LIBRARY)
    at.file_uploader[0].set_value([("odd.txt", data, "text/plain")])
    submit(at, "Add them")
    assert "has been added" in said(at)
    (odd,) = [work for work in app.bench.works.summaries() if work.source == "odd.txt"]
    assert odd.chapters == chapters
    assert app.bench.works.load(odd.id).sentence_text(0) == first


# ---- uploads ------------------------------------------------------------------------------------------------------


def test_several_uploads_are_told_one_by_one(app):
    at = app.open(LIBRARY)
    at.file_uploader[0].set_value(
        [
            ("lanterns.txt", LANTERNS.encode(), "text/plain"),
            ("noise_*1*.txt", bytes(range(256)) * 64, "text/plain"),
            ("again.txt", LANTERNS.encode(), "text/plain"),
        ]
    )
    submit(at, "Add them")
    assert len(at.success) == 2
    assert "has been added: 2 chapters, 2 sentences." in as_read(at.success[0].value)
    assert "again.txt: its text is in the library already" in as_read(at.success[1].value)
    assert [as_read(message.value)[:15] for message in at.error] == ["noise_*1*.txt: "]
    assert len(titles(at)) == 2
    assert len(bars(at)) == 1, "the work is being prepared, once"
    sound(at.run())
    assert said(at) == "", "a message is shown once"


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
    submit(at, "Add the chosen ones")
    assert len(titles(at)) == 2
    assert len(at.multiselect(key="library_chosen").options) == 1


def test_a_library_folder_that_is_missing_is_told_and_the_page_goes_on(app, tmp_path, monkeypatch):
    monkeypatch.setenv("RELIC_LIBRARY", str(tmp_path / "gone"))
    at = sound(app.open(LIBRARY))
    assert str(tmp_path / "gone") in said(at)
    assert at.text_input(key="library_path").label


# ---- removing -----------------------------------------------------------------------------------------------------


def test_a_removed_work_can_be_put_back(app):
    at = app.open(LIBRARY)
    before = titles(at)
    (sample,) = app.bench.works.summaries()
    sound(at.button(key=f"remove-{sample.id}").click().run())
    assert titles(at) == []
    assert "Nothing is stored yet" in said(at)
    assert app.bench.works.summaries() == ()

    sound(app.open(LIBRARY))
    assert app.bench.works.summaries() == (), "the sample stays away"

    sound(at.button(key="library_undo").click().run())
    assert titles(at) == before
    assert list(sound(app.open(FIND)).text_area)


def test_many_works_can_be_filtered(app):
    for number in range(8):
        app.bench.works.add(f"It rained {number} times.".encode(), name="x.txt", title=f"Rain {number}", author="Wet")
    at = sound(app.open(LIBRARY))
    assert len(titles(at)) == 9
    sound(at.text_input(key="library_filter").set_value("rain 3").run())
    assert titles(at) == ["Rain 3, Wet"]
