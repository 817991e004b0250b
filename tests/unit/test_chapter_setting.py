"""A chapter ready to be set holds every word of the work once, in its place."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Address, LeftOut, Span
from relic_core.reporting.chapters import Aside, ChapterParagraph, chapter_span, printed_chapter, set_chapter
from relic_core.text.reading import read_work
from tests.making import make_work

KINDS = ("prose", "verse", "stage")


def kinds(chapter):
    return [block.kind for block in chapter.body]


def paragraphs(chapter):
    """All paragraphs of a chapter, the notes last."""
    return [*(block for block in chapter.body if isinstance(block, ChapterParagraph)), *chapter.notes]


def plain(stretch):
    return "".join(piece.text for piece in stretch.pieces)


def words(text, kind="prose"):
    """What a reader sees of a text from a file: wraps undone, but in verse, where the indents of lines go alone."""
    return re.sub(r"[ \t]*\n[ \t]*", "\n", text) if kind == "verse" else re.sub(r"\s+", " ", text)


def sentences(work):
    """All sentences of a work as its chapters set them."""
    return [
        (stretch.address, plain(stretch), paragraph.kind)
        for chapter in work.chapters
        for paragraph in paragraphs(set_chapter(work, chapter.index))
        for stretch in paragraph.stretches
        if stretch.address
    ]


def play():
    """Two speeches, a stage direction between them, verse numbered from 3, and a note on the second speech."""
    work = make_work(
        [
            ["Who is there?\nNobody at all,\n  and no one else.", "Then go."],
            ["They go."],
            ["I stay."],
            ["So in one copy."],
        ]
    )
    first, second, third, note = work.paragraphs
    label = LeftOut(second.end, second.end + 1, "speaker")
    return replace(
        work,
        left_out=(label,),
        paragraphs=(
            replace(first, kind="verse", speaker="BOATMAN", line=3),
            replace(second, kind="stage", speaker="BOATMAN"),
            replace(third, speaker="BOATMAN"),
            replace(note, kind="note", number=1, note_to=2),
        ),
    )


# ---- every word, once ---------------------------------------------------------------------------------------------

PIECE = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(
    str.strip
)
PARAGRAPHS = st.lists(st.lists(PIECE.map(str.strip), min_size=1, max_size=4), min_size=1, max_size=5)


@given(st.lists(PARAGRAPHS, min_size=1, max_size=4), st.data())
def test_every_sentence_stands_once_in_its_chapter_to_the_letter(chapters, data):
    work = make_work(*chapters)
    chosen = [data.draw(st.sampled_from(KINDS)) for _ in work.paragraphs]
    lines = [data.draw(st.none() | st.integers(1, 40)) for _ in work.paragraphs]
    paragraphs = zip(work.paragraphs, chosen, lines, strict=True)
    work = replace(work, paragraphs=tuple(replace(each, kind=kind, line=line) for each, kind, line in paragraphs))
    shown = sentences(work)
    assert [address for address, *_ in shown] == [work.address(each.index) for each in work.sentences]
    assert [text.replace("_", "") for _, text, _ in shown] == [
        words(work.sentence_text(each.index), kind).replace("_", "")
        for each, (*_, kind) in zip(work.sentences, shown, strict=True)
    ]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["jacobs_room", "pride_and_prejudice", "alices_adventures_in_wonderland", "moby_dick"])
def test_every_visible_character_of_a_novels_paragraphs_stands_in_its_chapters(shared, name):
    path = shared / "corpus" / "primary" / f"{name}.txt"
    work = read_work(path.read_bytes(), name=path.name)
    shown = sentences(work)
    assert [address for address, *_ in shown] == [work.address(each.index) for each in work.sentences]
    for chapter in work.chapters:
        own = [paragraph for paragraph in work.paragraphs if paragraph.chapter == chapter.index]
        held = "".join(work.text[paragraph.start : paragraph.end] for paragraph in own)
        shown = "".join(
            plain(stretch)
            for paragraph in paragraphs(set_chapter(work, chapter.index))
            for stretch in paragraph.stretches
        )
        assert "".join(shown.split()).replace("_", "") == "".join(held.split()).replace("_", "")


def test_an_address_set_beside_a_sentence_leads_to_it():
    work = make_work(["One.", ["Two.", "Three."]], ["Four."])
    for address, text, _ in sentences(work):
        assert work.sentence_text(work.sentence_at(address)) == text


# ---- as in the source ---------------------------------------------------------------------------------------------


def test_wraps_are_undone_and_italics_run_over_sentences_without_their_marks():
    work = make_work([["He said: _come\nhere.", "At once._", "Nobody came."]])
    (paragraph,) = paragraphs(set_chapter(work, 0))
    pieces = [piece for stretch in paragraph.stretches for piece in stretch.pieces]
    assert "".join(piece.text for piece in pieces) == "He said: come here. At once. Nobody came."
    assert "".join(piece.text for piece in pieces if piece.italic) == "come here. At once."


def test_verse_keeps_its_lines_and_every_fifth_shows_its_number():
    verse = paragraphs(set_chapter(play(), 0))[0]
    assert "".join(plain(stretch) for stretch in verse.stretches) == (
        "Who is there?\nNobody at all,\nand no one else. Then go."
    )
    numbered = [(piece.line, piece.text) for stretch in verse.stretches for piece in stretch.pieces if piece.line]
    assert numbered == [(5, "and no one else.")]


def test_a_speaker_is_named_where_the_edition_names_him():
    chapter = set_chapter(play(), 0)
    assert [paragraph.speaker for paragraph in paragraphs(chapter)] == ["BOATMAN", "", "BOATMAN", ""]


def test_a_note_stands_at_the_foot_and_is_joined_to_its_paragraph():
    chapter = set_chapter(play(), 0)
    (note,) = chapter.notes
    assert (note.number, note.hangs_on) == (1, 3)
    assert [block.notes for block in chapter.body if isinstance(block, ChapterParagraph)] == [(), (), (1,)]
    assert note.stretches[0].address == Address(1, 1, 1, note=True)
    assert note.stretches[0].place == "Chapter 1 · note 1"


def test_a_sentence_of_verse_knows_its_line_and_speaker():
    places = [stretch.place for stretch in paragraphs(set_chapter(play(), 0))[0].stretches if stretch.address]
    assert places == ["Chapter 1 · line 3 (BOATMAN)", "Chapter 1 · line 5 (BOATMAN)"]


# ---- what was left out --------------------------------------------------------------------------------------------

NOVEL = """\
THE FERRY

CHAPTER I

Rain fell all night, and nobody had expected it to do otherwise.

* * *

* * *

In the morning there was one lantern fewer, and the ferryman said nothing.

[Illustration: the ferry]

[Footnote 1: It was a Tuesday.]

Nobody came, for nobody had been asked, and it was not a day for visits.

CHAPTER II

The river had no opinion, and it rose all the same.
"""


def test_breaks_and_footnotes_are_shown_and_headings_and_illustrations_are_not():
    work = read_work(NOVEL.encode(), name="ferry.txt")
    chapter = set_chapter(work, 0)
    assert chapter.name == "Chapter I"
    assert kinds(chapter) == ["prose", "break", "prose", "note", "prose"]
    assert [block.text for block in chapter.body if isinstance(block, Aside)][1] == "[Footnote 1: It was a Tuesday.]"
    assert kinds(set_chapter(work, 1)) == ["prose"]


def test_the_first_paragraph_and_one_after_a_break_open():
    opens = [p.opens for p in paragraphs(set_chapter(read_work(NOVEL.encode(), name="ferry.txt"), 0))]
    assert opens == [True, True, True]
    assert [p.opens for p in paragraphs(set_chapter(make_work(["One.", "Two."]), 0))] == [True, False]


def test_a_heading_of_a_section_is_shown_where_it_stands():
    work = make_work(["One.", "Two."])
    start = work.paragraphs[0].end
    work = replace(work, text=work.text[:start] + "\n" + work.text[start + 1 :], left_out=())
    heading = LeftOut(0, 9, "heading")
    within = LeftOut(start, start + 2, "heading")
    chapter = set_chapter(replace(work, left_out=(heading, within)), 0)
    assert kinds(chapter) == ["prose", "heading", "prose"]


def test_a_paragraph_of_marks_is_shown_without_an_address():
    work = make_work(["One.", ". . . .", "Two."])
    dots = work.sentences[1]
    after = replace(work.sentences[2], index=1)
    work = replace(work, sentences=(work.sentences[0], after))
    chapter = set_chapter(work, 0)
    assert plain(paragraphs(chapter)[1].stretches[0]) == work.text[dots.start : dots.end]
    assert paragraphs(chapter)[1].stretches[0].address is None


def test_the_sentences_of_a_chapter():
    work = make_work(["One.", "Two."], ["Three."])
    assert [chapter_span(work, index) for index in (0, 1)] == [Span(0, 2), Span(2, 1)]


def test_marks_of_quotation_are_set_as_in_print_across_the_sentences_of_a_paragraph():
    work = make_work([['"Who is there?', 'Nobody--go," said he.']])
    (paragraph,) = paragraphs(printed_chapter(set_chapter(work, 0)))
    assert "".join(map(plain, paragraph.stretches)).split() == "“Who is there? Nobody—go,” said he.".split()  # noqa: SIM905
    assert [each.address for each in paragraph.stretches] == [
        each.address for block in paragraphs(set_chapter(work, 0)) for each in block.stretches
    ]


def test_what_stands_between_paragraphs_is_set_as_in_print_as_well():
    typed = 'CHAPTER I\n\nIt rained.[1]\n\n[Footnote 1: "It\'s a note--long."]\n\nIt stopped.\n'
    chapter = printed_chapter(set_chapter(read_work(typed.encode(), name="rain.txt"), 0))
    assert [each.text for each in chapter.body if isinstance(each, Aside)] == ["[Footnote 1: “It’s a note—long.”]"]
