"""Encodings are told apart, and what is not text is refused with a message that says what to do."""

from __future__ import annotations

import codecs
import random
import zlib

import pytest

from relic_core.errors import BadText, EmptyText, NotText, TextTooLarge
from relic_core.text.decoding import decode

PROSE = "“Emma,” said he—“you are naïve!”\nShe went out; the café was shut.\n"


def read(data: bytes):
    return decode(data, max_bytes=1_000_000)


@pytest.mark.parametrize(
    "data",
    [
        PROSE.encode(),
        codecs.BOM_UTF8 + PROSE.encode(),
        codecs.BOM_UTF16_LE + PROSE.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + PROSE.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + PROSE.encode("utf-32-le"),
        PROSE.encode("cp1252"),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16-le", "utf-16-be", "utf-32-le", "cp1252"],
)
def test_each_encoding_gives_the_same_text_without_its_mark(data):
    assert read(data) == PROSE


def test_latin_1_is_read():
    assert read("Zoë, Chloé".encode("latin-1")) == "Zoë, Chloé"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_every_line_end_becomes_one_line_feed(end):
    assert read(f"One.{end}{end}Two.{end}".encode()) == "One.\n\nTwo.\n"


def test_tabs_form_feeds_blanks_and_entities_stay_as_they_are():
    text = "\tOne.\fTwo.\u00a0Three &mdash; four.\u200a"
    assert read(text.encode()) == text


def test_the_end_mark_of_dos_is_no_control_character():
    assert read(b"One.\r\n\x1a") == "One.\n"


@pytest.mark.parametrize("data", [b"", b" \r\n\t ", codecs.BOM_UTF8, codecs.BOM_UTF8 + b"\n", b"* * *\n---"])
def test_a_file_without_a_word_is_empty(data):
    with pytest.raises(EmptyText):
        read(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        zlib.compress(bytes(range(256)) * 40),
        b"One sentence.\x00 Another.",
        "No mark before it".encode("utf-16-le"),
        b"Price: \x81 pounds",
        codecs.BOM_UTF16_LE + b"\x00\xd8a",
        random.Random(5).randbytes(5_000),
    ],
    ids=["picture", "archive", "null", "utf-16 without mark", "byte without meaning", "damaged utf-16", "noise"],
)
def test_binary_data_is_not_text(data):
    with pytest.raises(NotText, match=r"plain text in UTF-8"):
        read(data)


def test_the_message_names_the_character_and_its_line():
    with pytest.raises(NotText, match=r"line 3 .*U\+0007"):
        read(b"One.\nTwo.\nThree.\x07\n")


def test_another_alphabet_in_one_byte_is_not_taken_for_accents():
    with pytest.raises(NotText, match="encoding"):
        read("Все счастливые семьи похожи друг на друга.".encode("cp1251"))


def test_a_text_with_many_accents_is_still_text():
    accented = "L'été, à Orléans, où l'élève naïf rêva."
    assert read(accented.encode("latin-1")) == accented


def test_the_size_limit_is_told_with_both_numbers():
    assert decode(b"four", max_bytes=4) == "four"
    with pytest.raises(TextTooLarge, match=r"5 bytes; at most 4 are allowed.*RELIC_MAX_TEXT_BYTES"):
        decode(b"fives", max_bytes=4)


def test_all_refusals_are_bad_texts():
    assert issubclass(EmptyText, BadText)
    assert issubclass(NotText, BadText)
    assert issubclass(TextTooLarge, BadText)
