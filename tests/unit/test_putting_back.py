"""What was left out of a work is put back by one press, and nothing else in the library moves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relic_core.errors import BadRequest
from relic_core.library.previews import pieces_of
from relic_core.library.reading import read_file
from relic_core.services.concordance import ConcordanceRequest
from relic_core.text.reading import put_back
from relic_core.wiring import build
from tests.making_books import epub, names, texts
from tests.making_sources import keep, make_source, make_window

WORDS = "He that would cross must pay, says the song, and he that would not must wait for the frost to bridge it. "
MOTTO = WORDS * 4
NOTE = "The first printing had a map here, which nobody could read and which the binder left out of most copies of it. "
TEXT = (
    f"THE FERRY\n\nby Mara Quill\n\n\n\nTRANSLATOR’S NOTE\n\n{MOTTO}\n\nIt is so.\n\n\n\n"
    f"CHAPTER I\n\nThe tide went out. Nobody came.\n\n[Transcriber’s note: {NOTE * 3}]\n\nA bell rang.\n\n\n\n"
    "CHAPTER II\n\nThe boats leaned.\n"
)


@pytest.fixture
def work():
    return read_file(TEXT.encode(), name="ferry.txt")


def piece(work, words):
    return next(each for each in pieces_of(work) if words in work.text[each.start : each.start + each.characters])


def sound(work):
    """Check that the parts of a work fit together."""
    assert [each.index for each in work.paragraphs] == list(range(len(work.paragraphs)))
    assert [each.index for each in work.sentences] == list(range(len(work.sentences)))
    assert [each.start for each in work.sentences] == sorted(each.start for each in work.sentences)
    for sentence in work.sentences:
        paragraph = work.paragraphs[sentence.paragraph]
        assert paragraph.start <= sentence.start < sentence.end <= paragraph.end
        assert paragraph.chapter == sentence.chapter
        assert work.chapters[sentence.chapter].start <= sentence.start < work.chapters[sentence.chapter].end
        assert not any(part.start < sentence.end and sentence.start < part.end for part in work.left_out)
        assert work.sentence_at(work.address(sentence.index)) == sentence.index
    return work


def test_a_piece_before_the_work_becomes_a_chapter_named_by_its_heading(work):
    assert [each.kind for each in pieces_of(work)] == ["front matter", "editor's note"]
    back = sound(put_back(work, piece(work, "must pay").start))
    assert names(back) == ["TRANSLATOR’S NOTE", "Chapter I", "Chapter II"]
    assert texts(back)[:2] == [MOTTO.strip(), "It is so."]
    assert (back.text, back.sha256, back.id) == (work.text, work.sha256, work.id)
    assert back.text[back.left_out[0].start : back.left_out[0].end].split()[:2] == ["THE", "FERRY"]


def test_a_piece_inside_a_chapter_becomes_a_paragraph_of_it(work):
    back = sound(put_back(work, piece(work, "had a map").start))
    assert names(back) == names(work)
    assert [each.number for each in back.paragraphs] == [1, 2, 3, 1]
    assert "had a map" in texts(back)[1]


def test_a_piece_of_an_epub_and_every_piece_one_after_the_other():
    page = f"<h2>About the Author</h2><p>{MOTTO}</p>"
    aside = '<aside epub:type="footnote" id="n">May.</aside>'
    note = f'<h2>I</h2><p>Rain<a epub:type="noteref" href="#n">1</a> fell.</p>{aside}'
    work = read_file(epub([page, note, f"<h2>Colophon</h2><p>{MOTTO}</p>"]), name="x.epub")
    while pieces_of(work):
        work = sound(put_back(work, pieces_of(work)[0].start))
    assert names(work) == ["About the Author", "Chapter I", "Colophon"]
    noted = next(each for each in work.paragraphs if each.kind == "note")
    assert work.paragraphs[noted.note_to].kind == "prose"
    assert "Rain" in work.text[work.paragraphs[noted.note_to].start :]


def test_broken_words_of_what_is_put_back_are_read_whole():
    work = read_file(TEXT.replace("song", "so\u00adng").encode(), name="ferry.txt")
    assert work.cuts == ()
    back = put_back(work, piece(work, "must pay").start)
    assert [back.text[start:end] for start, end in back.cuts] == ["\u00ad"] * 4


def test_what_is_text_already_is_refused(work):
    with pytest.raises(BadRequest):
        put_back(work, work.sentences[0].start)


def test_the_library_finds_it_and_what_points_at_sentences_still_does(settings):
    bench = build(settings)
    added = bench.works.add(TEXT.encode(), name="ferry.txt").work
    before = bench.works.load(added.id)
    (bell,) = [
        sentence.index for sentence in before.sentences if before.sentence_text(sentence.index) == "A bell rang."
    ]
    source = make_source("On Ferries")
    keep(bench, source, [make_window(before, source, bell)], works=[before])
    wanted = ConcordanceRequest(word="must pay", work_id=added.id)
    assert bench.concordance.find(wanted).total == 0
    back = bench.works.put_back(added.id, piece(before, "must pay").start)
    after = bench.works.load(added.id)
    assert (back.id, back.sha256, back.added) == (added.id, added.sha256, added.added)
    assert back.sentences == len(after.sentences) > added.sentences
    assert sound(after) == put_back(before, piece(before, "must pay").start)
    assert bench.works.work_versions()[added.id].fingerprint == after.fingerprint != before.fingerprint
    assert bench.concordance.find(wanted).total == 4
    (moved,) = bench.store.windows.quoting(added.id, bell + back.sentences - added.sentences)
    assert after.span_text(moved.window.gold) == "A bell rang."
    assert replace(bench.works.add(TEXT.encode(), name="ferry.txt"), notice="").outcome == "already"
    assert len(bench.works.load(added.id).sentences) == back.sentences


def test_a_work_removed_and_read_otherwise_has_its_windows_on_the_words_they_had(settings):
    bench = build(settings)
    read = read_file(TEXT.encode(), name="ferry.txt")
    first, second, *others = read.sentences
    together = replace(first, end=second.end)
    later = tuple(replace(each, index=each.index - 1) for each in others)
    bench.store.works.add(read)
    source = make_source("On Ferries")
    windows = [make_window(read, source, at) for at in (1, 2)]
    keep(bench, source, windows, works=[read])
    bench.works.remove(read.id)
    bench.store.works.add(replace(read, sentences=(together, *later)))
    after = bench.works.load(read.id)
    found = [each.window for at in (0, 1) for each in bench.store.windows.quoting(read.id, at)]
    assert [each.id for each in found] == [each.id for each in windows]
    assert [after.span_text(each.gold) for each in found] == ["The tide went out. Nobody came.", "A bell rang."]
    bench.works.remove(read.id)
    bench.store.works.add(replace(read, segmenter="by hand", sentences=(together,)))
    bench.works.remove(read.id)
    bench.store.works.add(replace(read, sentences=(together, *later)))
    assert [each.window for at in (0, 1) for each in bench.store.windows.quoting(read.id, at)] == found
    bench.works.remove(read.id)
    bench.store.works.add(read)
    golds = [each.window.gold for at in (0, 2) for each in bench.store.windows.quoting(read.id, at)]
    assert [read.span_text(gold) for gold in golds] == ["The tide went out. Nobody came.", "A bell rang."]


def test_a_note_kept_before_grows_from_its_own_words(bench):
    work = bench.works.add(TEXT.encode(), name="ferry.txt").work
    note = bench.notebook.keep(work.id, "1.1.1")
    bench.works.put_back(work.id, piece(bench.works.load(work.id), "must pay").start)
    longer = bench.notebook.lengthen(note.id, 1)
    assert longer.kept.quotation == "The tide went out. Nobody came."
    assert longer.kept.at == "2.1.1"
