"""Whatever a book's markup holds, its visible characters are parted between paragraphs and what is left out."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from relic_core.domain import Address, Span
from relic_core.errors import BadText
from relic_core.library.blocks import Inline
from relic_core.library.reading import read_file
from tests.making_books import epub, pack, tei

WORDS = st.sampled_from(
    ["Rain fell.", "The bell", " rang; ", "“No,” he", "CHAPTER I", "II", "* * *", "THE END", "&amp;", "&nbsp;", "_",
     "1", "Contents", "Notes", "é—ß", "[Illustration: a boat]", "\n ", "The tide went out over the flats and on. " * 12]
)  # fmt: skip
HTML = [
    "p", "div", "h1", "h2", "h3", "i", "em", "span", "blockquote", "li", "td", "pre", "sup", "nav", "hgroup", "header",
    "section epub:type='chapter'", "section epub:type='part'", "section epub:type='titlepage'", "div class='poem'",
    "p class='pb'", "div class='newpage'", "span class='pgnum'", "p hidden=''", "span hidden=''", "section hidden=''",
    "div class='contents'",
    "div class='stanza'", "div class='verse'", "aside epub:type='footnote' id='n1'", "p class='footnote' id='n2'",
    "a href='#n1' epub:type='noteref'", "a href='#n2'", "span class='pagenum'", "figcaption", "div class='pgheader'",
]  # fmt: skip
TEI = [
    "p", "div", "div type='chapter'", "div type='part'", "div type='notes'", "head", "lg", "l", "l n='40'",
    "l part='F'", "sp", "speaker", "stage", "note", "note xml:id='n1'", "note type='editorial'", "ref target='#n1'",
    "hi", "emph",
    "q", "quote", "list", "item", "row", "cell", "figure", "fw", "choice", "sic", "corr", "del", "add", "floatingText",
    "body", "trailer", "castList", "gap", "lb", "closer", "w", "c", "pc join='left'", "text", "group", "titlePage",
]  # fmt: skip


def trees(elements):
    def around(inner):
        made = st.tuples(st.sampled_from(elements), st.lists(inner, max_size=4))
        return made.map(lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0].split()[0]}>")

    return st.lists(st.recursive(WORDS, around, max_leaves=12), max_size=6).map("".join)


def visible(text):
    return "".join(text.split())


def check(data):
    try:
        work = read_file(data, name="x")
    except BadText as refused:
        assert "no text of a work" in str(refused)
        return
    pieces = sorted((piece.start, piece.end) for piece in (*work.paragraphs, *work.left_out))
    assert "".join(visible(work.text[start:end]) for start, end in pieces) == visible(work.text)
    assert all(end <= start for (_, end), (start, _) in pairwise(pieces))
    assert all(work.text[start:end].strip() == work.text[start:end] != "" for start, end in pieces)
    assert [chapter.index for chapter in work.chapters] == list(range(len(work.chapters)))
    assert all(one.end <= other.start for one, other in pairwise(work.chapters))
    assert [piece.index for piece in work.paragraphs] == list(range(len(work.paragraphs)))
    assert all(one.end <= other.start for one, other in pairwise(work.paragraphs))
    for chapter in work.chapters:
        inside = [piece for piece in work.paragraphs if piece.chapter == chapter.index]
        for notes in (False, True):
            numbers = [piece.number for piece in inside if (piece.kind == "note") == notes]
            assert numbers == list(range(1, len(numbers) + 1))
        assert [piece.kind == "note" for piece in inside] == sorted(piece.kind == "note" for piece in inside)
        assert chapter.start <= inside[0].start
        assert inside[-1].end == chapter.end
        assert "\n" not in chapter.name
    for sentence in work.sentences:
        paragraph = work.paragraphs[sentence.paragraph]
        assert paragraph.start <= sentence.start < sentence.end <= paragraph.end
        assert paragraph.chapter == sentence.chapter
        assert work.text[sentence.start : sentence.end].strip() == work.text[sentence.start : sentence.end]
        place = work.place(Span(sentence.index, 1))
        assert work.sentence_at(Address.parse(str(place.address))) == sentence.index == place.sentence - 1
        assert (place.chapter_index, place.paragraph) == (paragraph.chapter, paragraph.number)
        assert (place.line is not None) == (paragraph.line is not None)
    for paragraph in work.paragraphs:
        if paragraph.note_to is not None:
            assert paragraph.kind == "note"
            assert work.paragraphs[paragraph.note_to].chapter == paragraph.chapter
            assert work.paragraphs[paragraph.note_to].kind != "note"


@given(trees(HTML), trees(HTML))
def test_an_epub_is_parted_between_paragraphs_and_what_is_left_out(one, other):
    check(epub([one + "<p>A word.</p>", other]))


@given(trees(TEI), trees(TEI), trees(TEI))
@example("", "<note>Rain fell.<note>Rain fell.</note></note>", "")
def test_a_tei_file_is_parted_between_paragraphs_and_what_is_left_out(front, body, back):
    check(tei(body + "<p>A word.</p>", front=front, back=back))


@given(trees([each for each in TEI if not re.match(r"del|choice|corr|figure|gap|lb|ref|app|note", each)]))
@example("Rain fell.<fw><p></p>Rain fell.</fw>")
def test_no_word_of_a_tei_file_is_lost(body):
    text = re.sub(r"<[^>]*>", "", body).replace("&amp;", "&").replace("&nbsp;", " ")
    try:
        work = read_file(tei(body), name="x")
    except BadText:
        return
    assert sorted(filter(str.isalnum, work.text)) == sorted(filter(str.isalnum, text))


@given(trees([each for each in HTML if not re.match(r"a |sup", each)]))
def test_no_word_of_an_epub_is_lost(body):
    text = re.sub(r"<[^>]*>", "", body).replace("&amp;", "&").replace("&nbsp;", " ")
    try:
        work = read_file(epub([body]), name="x")
    except BadText:
        return
    assert sorted(filter(str.isalnum, work.text)) == sorted(filter(str.isalnum, text))


NUMBERS = st.sampled_from(["", "n='1'", "n='2'", "n='10'", "part='I'", "part='F'", "n='3' part='F'", "part='M'"])
FILLINGS = st.sampled_from(["", "empty", "<note><q><l n='7'>A</l><l>B</l></q></note>", "<note>A note.</note>", "<lb/>"])
BETWEEN = st.sampled_from(["", "", "", "</lg><lg>", "<stage>Exit.</stage>", "<note><l>C</l></note>"])


@given(st.lists(st.tuples(NUMBERS, FILLINGS, BETWEEN), min_size=1, max_size=8))
def test_every_line_of_a_poem_is_found_at_its_number(lines):
    body, expected, last = "", {}, 0
    for place, (attributes, filling, between) in enumerate(lines):
        given_number = re.search(r"n='(\d+)'", attributes)
        goes_on = re.search("F|M", attributes)
        last = int(given_number[1]) if given_number else max(1, last) if goes_on else last + 1
        word = f"Rain{place}x"
        body += f"<l {attributes}>" + ("" if filling == "empty" else f"{word} fell.{filling}") + f"</l>{between}"
        if filling != "empty":
            expected[word] = last
    try:
        work = read_file(tei(f"<div type='poem'><lg>{body}</lg></div>"), name="x")
    except BadText:
        assert not expected
        return
    places = {work.sentence_text(index): work.place(Span(index, 1)) for index in range(len(work.sentences))}
    assert {text.split()[0]: place.line for text, place in places.items() if text.startswith("Rain")} == expected


@given(st.lists(st.one_of(st.sampled_from(["open", "close", "break", "glue"]), st.text(max_size=8)), max_size=12))
def test_inline_text_keeps_its_letters_and_has_no_blank_at_the_ends_of_its_lines(steps):
    inline = Inline()
    deep = 0
    for step in steps:
        if step == "open":
            inline.open_italic()
            deep += 1
        elif step == "close" and deep:
            inline.close_italic()
            deep -= 1
        elif step == "break":
            inline.line_break()
        elif step == "glue":
            inline.glue()
        elif step != "close":
            inline.text(step)
    lines = inline.lines()
    assert all(line == line.strip() != "" and "\n" not in line for line in lines)
    letters = [step for step in steps if step not in {"open", "close", "break", "glue"}]
    assert list(filter(str.isalnum, "".join(lines))) == list(filter(str.isalnum, "".join(letters)))


@given(st.binary(max_size=300))
def test_damage_is_told_and_never_crashes(noise):
    whole = epub(["<h2>I</h2><p>Rain fell.</p>"])
    for data in (
        noise,
        b"PK\x03\x04" + noise,
        whole[: len(noise) * 3] + noise,
        whole[:-22] + noise + whole[-22:],
        pack({"META-INF/container.xml": noise}),
        b"<TEI>" + noise,
        b"<?xml version='1.0'?><!DOCTYPE TEI [" + noise + b"]><TEI/>",
    ):
        try:
            read_file(data, name="x")
        except BadText as refused:
            assert len(str(refused)) > 20
