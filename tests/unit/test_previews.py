"""Previews: what is said of a text before anything of it is stored."""

import os
import threading
from dataclasses import replace

import pytest

from relic_core.config import PROJECT
from relic_core.errors import BadRequest, BadText, EmptyText, NotText
from relic_core.library import apart
from relic_core.library.previews import left_out_of
from relic_core.wiring import build
from tests.making import work_of
from tests.making_books import epub

LANTERNS = """\
*** START OF THE PROJECT GUTENBERG EBOOK LANTERNS ***

LANTERNS

by Ann Nobody

CHAPTER I

The river
rose. Nobody counted the lanterns.

CHAPTER II

It was late.

*** END OF THE PROJECT GUTENBERG EBOOK LANTERNS ***

You may copy it under the terms of the licence.
"""


@pytest.fixture
def works(settings):
    return build(settings).works


def test_a_preview_tells_what_was_understood_and_stores_nothing(works):
    preview = works.preview(LANTERNS.encode(), name="lanterns.txt")
    assert (preview.work.title, preview.work.author, preview.work.translator, preview.work.year) == (
        "Lanterns",
        "Ann Nobody",
        "",
        None,
    )
    assert [(chapter.name, chapter.words) for chapter in preview.chapters] == [("Chapter I", 7), ("Chapter II", 3)]
    assert preview.first == "The river rose. Nobody counted the lanterns. It was late."
    assert {part.kind: part.count for part in preview.left_out}["heading"] == 2
    licence = next(part for part in preview.left_out if part.kind == "licence")
    assert licence.characters > 40
    assert (preview.stored, preview.removed, preview.namesakes) == (None, None, ())
    assert works.summaries() == ()


def test_the_same_text_is_recognised_stored_or_removed(works):
    stored = works.add(LANTERNS.encode(), name="lanterns.txt", title="Another title").work
    preview = works.preview(LANTERNS.encode(), name="copy.txt")
    assert (preview.stored, preview.removed, preview.namesakes) == (stored, None, ())
    works.remove(stored.id)
    preview = works.preview(LANTERNS.encode(), name="copy.txt")
    assert (preview.stored, preview.removed.id) == (None, stored.id)


def test_other_editions_of_the_work_are_named(works):
    other = works.add(b"The river rose, elsewhere.\n", name="x.txt", title="The Lanterns: A Tale", author="A. Nobody")
    works.add(b"No lanterns here.\n", name="y.txt", title="Lanterns", author="Zoe Else")
    preview = works.preview(LANTERNS.encode(), name="lanterns.txt")
    assert preview.namesakes == (other.work,)
    assert preview.stored is None


def test_a_file_that_holds_more_than_a_work_is_told(works):
    text = "It rose.\n\n" + "[1] A note on the river.\n\n" * 10
    preview = works.preview(text.encode(), name="x.txt")
    assert "of the file was set aside" in preview.notice
    (notes,) = preview.left_out
    assert notes.sample.startswith("[1] A note on the river. [1] A note")


def test_long_beginnings_and_long_samples_are_cut_between_words(works):
    text = "Nobody counted the lanterns " * 200 + "at all.\n\n[Illustration: " + "river " * 200 + "]\n"
    preview = works.preview(text.encode(), name="x.txt")
    assert 250 < len(preview.first) <= 450
    assert preview.first.endswith((" Nobody …", " counted …", " the …", " lanterns …"))
    assert all(len(part.sample) <= 160 for part in preview.left_out)
    sample = next(part.sample for part in left_out_of(works.preview(text.encode(), name="x.txt").work))
    assert sample.startswith("[Illustration: river river")


def test_what_was_set_aside_comes_longest_first():
    parts = left_out_of(work_of())
    assert [part.characters for part in parts] == sorted((part.characters for part in parts), reverse=True)


@pytest.mark.parametrize(("data", "error"), [(b"", EmptyText), (b"\x00\x01\x02\x03" * 50, NotText)])
def test_what_is_no_text_is_told(works, data, error):
    with pytest.raises(error):
        works.preview(data, name="x.txt")


@pytest.mark.parametrize("year", [0, 99_999, -50_000])
def test_a_year_that_cannot_be_is_told(works, year):
    with pytest.raises(BadRequest, match=f"{year} is not a year"):
        works.add(LANTERNS.encode(), name="x.txt", year=year)


def test_a_page_that_an_epub_lists_and_does_not_hold_is_told(works):
    manifest = '<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>'
    data = epub(["<h2>I</h2><p>The river rose.</p>"], manifest=manifest, spine='<itemref idref="gone"/>')
    notice = works.preview(data, name="lanterns.epub").notice
    assert "OEBPS/gone.xhtml" in notice
    assert works.add(data, name="lanterns.epub").notice == notice


@pytest.fixture
def by_process(monkeypatch):
    """Have every file read in a process of its own."""
    monkeypatch.setattr(apart, "LARGE", 0)


LONG = LANTERNS.replace("It was late.\n", "It was late.\n\n" + "The lamp stood on the quay.\n\n" * 500)


@pytest.mark.parametrize("data", [LONG.encode(), epub(["<h2>I</h2><p>The river rose.</p>"])])
def test_a_file_read_in_a_process_of_its_own_is_previewed_and_added_as_any_other(works, monkeypatch, data):
    small = works.preview(data, name="lanterns.txt")
    monkeypatch.setattr(apart, "LARGE", 0)
    large = works.preview(data, name="lanterns.txt")
    assert small.kept is None
    assert len(large.work.sentences) <= 300
    assert replace(large, work=small.work, kept=None) == small
    assert (large.work.id, large.work.title, large.work.sha256) == (small.work.id, small.work.title, small.work.sha256)
    stored = works.add(large.kept, name="lanterns.txt", title="Lamps", year=1900).work
    assert works.add(data, name="lanterns.txt", title="Lamps", year=1900).already
    assert (stored.title, stored.author, stored.year) == ("Lamps", small.work.author, 1900)
    assert works.load(stored.id).sentences == small.work.sentences


def test_what_was_read_in_a_process_is_not_read_again_when_it_is_added(works, monkeypatch, by_process):
    kept = works.preview(LONG.encode(), name="lanterns.txt").kept
    monkeypatch.setattr(apart, "read", lambda *_, **__: pytest.fail("read again"))
    assert works.add(kept, name="lanterns.txt", author="Zoe Else").work.author == "Zoe Else"


def test_errors_of_a_process_are_those_of_reading(works, by_process):
    with pytest.raises(NotText):
        works.preview(b"\x00\x01\x02\x03" * 50, name="x.txt")


@pytest.mark.parametrize(("limit", "value"), [("SECONDS", 1), ("MEGABYTES", 500)])
def test_a_file_that_takes_too_much_is_given_up_in_words(works, monkeypatch, by_process, limit, value):
    monkeypatch.setattr(apart, limit, value)
    with pytest.raises(BadText, match="Split it into volumes"):
        works.preview(b"A lamp. No? It rose.\n\n" * 190_000, name="x.txt")


def test_a_failure_that_is_no_limit_is_told_as_such_and_logged(works, by_process, monkeypatch, caplog, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "from relic_core.library import reading\n"
        "def fail(**_):\n"
        "    raise LookupError('a lamp')\n"
        "reading.read_edition = fail\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{PROJECT}")
    with pytest.raises(BadText) as told:
        works.preview(LONG.encode(), name="x.txt")
    assert "Split it" not in str(told.value)
    assert "LookupError: a lamp" in caplog.text


def test_what_is_read_anew_when_it_is_added_takes_the_turn_of_its_visitor_and_ends_with_the_visit(works, by_process):
    def go():
        raise _LeftError

    kept = works.preview(epub(["<h2>I</h2><p>The river rose.</p>"]), name="x.epub", whose="ada").kept
    with apart._turn("ada", lambda: None), pytest.raises(_LeftError):
        works.add(kept._replace(wait=go), name="x.epub", author="Zoe Else")


class _LeftError(Exception):
    pass


def test_reading_ends_with_the_visit_and_a_visitor_has_one_file_read_after_the_other(works, monkeypatch, by_process):
    begun = []
    popen = apart.subprocess.Popen
    monkeypatch.setattr(apart.subprocess, "Popen", lambda *a, **k: begun.append(popen(*a, **k)) or begun[-1])
    first, left = threading.Event(), threading.Event()

    def stay():
        first.set()
        if left.is_set():
            raise _LeftError

    def go():
        raise _LeftError

    def visit():
        with pytest.raises(_LeftError):
            works.preview(b"A lamp. No? It rose.\n\n" * 190_000, name="x.txt", whose="ada", wait=stay)

    visitor = threading.Thread(target=visit)
    visitor.start()
    assert first.wait(30)
    with pytest.raises(_LeftError):
        works.preview(LONG.encode(), name="y.txt", whose="ada", wait=go)
    assert len(begun) == 1
    left.set()
    visitor.join(30)
    assert begun[0].returncode == -9
    assert works.preview(LONG.encode(), name="y.txt", whose="ada").sentences
