"""Whatever a book's markup holds, its visible characters are parted between paragraphs and what is left out."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from relic_core.errors import BadText
from relic_core.library.inline import Inline
from relic_core.library.reading import read_file
from tests.making_books import epub, pack, tei

WORDS = st.sampled_from(
    ["Rain fell.", "The bell", " rang; ", "“No,” he", "CHAPTER I", "II", "* * *", "THE END", "&amp;", "&nbsp;", "_",
     "1", "Contents", "Notes", "é—ß", "[Illustration: a boat]", "\n ", "The tide went out over the flats and on. " * 12]
)  # fmt: skip
HTML = [
    "p", "div", "h1", "h2", "h3", "i", "em", "span", "blockquote", "li", "td", "pre", "sup", "nav", "hgroup", "header",
    "section epub:type='chapter'", "section epub:type='part'", "section epub:type='titlepage'", "div class='poem'",
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
        work.place(work_span(sentence.index))
    for paragraph in work.paragraphs:
        if paragraph.note_to is not None:
            assert paragraph.kind == "note"
            assert work.paragraphs[paragraph.note_to].chapter == paragraph.chapter
            assert work.paragraphs[paragraph.note_to].kind != "note"


def work_span(index):
    from relic_core.domain import Span

    return Span(index, 1)


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


@given(trees([each for each in HTML if not re.match(r"nav|a |span class|sup|figcaption", each)]))
def test_no_word_of_an_epub_is_lost(body):
    text = re.sub(r"<[^>]*>", "", body).replace("&amp;", "&").replace("&nbsp;", " ")
    try:
        work = read_file(epub([body]), name="x")
    except BadText:
        return
    assert sorted(filter(str.isalnum, work.text)) == sorted(filter(str.isalnum, text))


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
