"""Whatever a file holds, its visible characters are parted between paragraphs and what is left out, each told once."""

from __future__ import annotations

import codecs
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from relic_core.text.blocks import split_blocks
from relic_core.text.decoding import decode
from relic_core.text.reading import read_work
from relic_core.text.structure import analyse

PIECES = [
    "CHAPTER I", "CHAPTER II.", "Chapter 3. The Ferry", "BOOK ONE", "PART II: Winter", "I", "II", "III.", "1",
    "2. The Bell", "PROLOGUE", "EPILOGUE", "PREFACE", "CONTENTS", "LIST OF ILLUSTRATIONS", "THE END", "FOOTNOTES",
    "Transcriber's Note:", "[Illustration]", "[Illustration: a boat", "]", "[Footnote 1: so they say]", "[12]",
    "* * *", "{3}", "by", "LETTER IV", "*** START OF THIS PROJECT GUTENBERG EBOOK X ***",
    "*** END OF THE PROJECT GUTENBERG EBOOK X ***", "Produced by A. B.", "End of the Project Gutenberg EBook",
    "Title: X", "Chapter 1.I.", "THE FERRY", "“I--”", "He said nothing.",
    "The tide went out over the flats and left the boats leaning on their sides,", "and nobody spoke. " * 15,
    "  O rose,", "\tThen she went.", "\u00a0", "\f", "\ufeff", "&mdash;",
]  # fmt: skip
GLUE = ["\n", "\n\n", "\n\n\n\n", "\n   ", " ", "\n\f\n", "\n\u00a0\n"]
ANY = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40)


@st.composite
def texts(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(st.one_of(st.sampled_from(PIECES), ANY), st.sampled_from(GLUE)), max_size=30))
    place = draw(st.integers(0, len(parts)))
    return "".join(piece + glue for piece, glue in [*parts[:place], ("word", "\n"), *parts[place:]])


def visible(text: str) -> str:
    return "".join(text.split())


@given(texts())
@example("CHAPTER I")
@example("word\n[Illustration: a\n\nboat] word")
def test_visible_characters_are_parted_between_paragraphs_and_what_is_left_out(text):
    found = analyse(text)
    pieces = sorted((piece.start, piece.end) for piece in (*found.paragraphs, *found.left_out))
    assert "".join(visible(text[start:end]) for start, end in pieces) == visible(text)
    assert all(end <= start for (_, end), (start, _) in pairwise(pieces))
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in pieces)


@given(texts())
def test_chapters_and_paragraphs_are_in_order_and_inside_each_other(text):
    found = analyse(text)
    assert found.paragraphs
    assert [chapter.index for chapter in found.chapters] == list(range(len(found.chapters)))
    assert [piece.index for piece in found.paragraphs] == list(range(len(found.paragraphs)))
    assert all(one.end <= other.start for one, other in pairwise(found.chapters))
    for chapter in found.chapters:
        inside = [piece for piece in found.paragraphs if piece.chapter == chapter.index]
        assert [piece.number for piece in inside] == list(range(1, len(inside) + 1))
        assert inside, "a chapter without a paragraph"
        assert chapter.start <= inside[0].start
        assert inside[-1].end == chapter.end
        assert "\n" not in chapter.name


@given(texts(), st.data())
def test_blocks_hold_every_visible_character_of_their_stretch(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    blocks = list(split_blocks(text, start, end))
    assert "".join(visible(text[block.start : block.end]) for block in blocks) == visible(text[start:end])
    assert all(visible("".join(block.lines)) == visible(text[block.start : block.end]) for block in blocks)


@given(texts(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.sampled_from(["\n", "\r\n", "\r"]))
def test_decoding_gives_the_text_whatever_the_encoding_and_line_ends(text, encoding, line_end):
    text = text.lstrip("\ufeff")
    data = text.replace("\n", line_end).encode(encoding)
    assert decode(data, max_bytes=len(data)) == text


@given(texts())
def test_sentences_lie_in_their_paragraphs(text):
    class Whole:
        identity = "whole/1"

        def segment(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
            return [(start, end)]

    work = read_work(codecs.BOM_UTF8 + text.encode(), name="x.txt", segmenter=Whole())
    assert len(work.sentences) == len(work.paragraphs)
    for sentence in work.sentences:
        paragraph = work.paragraphs[sentence.paragraph]
        assert (sentence.start, sentence.end, sentence.chapter) == (paragraph.start, paragraph.end, paragraph.chapter)
