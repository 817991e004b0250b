"""A file becomes a work: metadata, identity, sentences with their places."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import pytest

from relic_core.errors import EmptyText, NotText, TextTooLarge
from relic_core.text.metadata import Metadata
from relic_core.text.reading import read_work, title_of_file, work_id

FILE = (
    b"Title: The Ferry\nAuthor: Ann Other\nTranslator: C. B. Third\n\n"
    b"*** START OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***\r\n\r\n"
    b"CHAPTER I\r\n\r\nRain fell. Nobody came.\r\n\r\n[Illustration]\r\n\r\nThe bell rang.\r\n\r\n\r\n"
    b"CHAPTER II\r\n\r\nShe was gone.\r\n\r\n*** END OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***\r\n"
)


@dataclass(frozen=True)
class FullStops:
    """Cuts behind every full stop."""

    identity: str = "full stops/1"

    def segment(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        return [match.span() for match in re.compile(r"\S[^.]*\.?").finditer(text, start, end)]


def read(data: bytes = FILE, **given):
    return read_work(data, **{"name": "ferry.txt", "segmenter": FullStops(), **given})


def test_sentences_are_the_text_to_the_letter_and_know_their_place():
    work = read()
    assert [work.sentence_text(index) for index in range(len(work.sentences))] == [
        "Rain fell.",
        "Nobody came.",
        "The bell rang.",
        "She was gone.",
    ]
    assert [(one.index, one.chapter, one.paragraph) for one in work.sentences] == [
        (0, 0, 0),
        (1, 0, 0),
        (2, 0, 1),
        (3, 1, 2),
    ]
    assert work.chapters[1].name == "Chapter II"


def test_the_text_is_the_whole_file_with_plain_line_ends():
    work = read()
    assert work.text == FILE.decode().replace("\r\n", "\n")
    assert work.sha256 == hashlib.sha256(work.text.encode()).hexdigest()
    assert work.segmenter == "full stops/1"


def test_metadata_comes_from_the_file():
    work = read()
    assert (work.title, work.author, work.translator, work.year) == ("The Ferry", "Ann Other", "C. B. Third", None)


def test_given_metadata_wins_over_the_file():
    work = read(metadata=Metadata("The Boat", "Another", "Nobody", 1811), source="upload")
    assert (work.title, work.author, work.translator, work.year) == ("The Boat", "Another", "Nobody", 1811)
    assert work.source == "upload"
    assert work.id == f"the-boat-{work.sha256[:8]}"


def test_the_name_of_the_file_is_the_last_resort_for_a_title():
    assert read(b"rain fell. nobody came.", name="folder/the_ferry-2.txt").title == "The ferry 2"


@pytest.mark.parametrize(
    ("name", "title"), [("", "Untitled"), ("C:\\texts\\emma.txt", "Emma"), ("a.b.txt", "A.b"), ("___.txt", "Untitled")]
)
def test_title_of_file(name, title):
    assert title_of_file(name) == title


def test_the_identity_depends_on_the_text_and_not_on_its_line_ends():
    assert read(FILE.replace(b"\r\n", b"\n")).id == read().id
    assert read(FILE.replace(b"Rain", b"Snow")).id != read().id


@pytest.mark.parametrize(
    ("title", "slug"),
    [("Emma", "emma"), ("Été à Łódź", "ete-a-odz"), ("Война и мир", "work"), ("  --  ", "work"), ("A" * 300, "a" * 49)],
)
def test_slugs_are_plain_and_short(title, slug):
    assert work_id(title, "0123456789abcdef") == f"{slug}-01234567"


@pytest.mark.parametrize(
    ("data", "error"),
    [(b"", EmptyText), (b"\x00\x01", NotText), (b"a" * 101, TextTooLarge)],
    ids=["0", "binary", "101"],
)
def test_bad_files_are_refused(data, error):
    with pytest.raises(error):
        read(data, max_bytes=100)


def test_the_default_segmenter_is_used_where_none_is_given():
    work = read_work(FILE, name="ferry.txt")
    assert work.segmenter.startswith("relic-rules/")
    assert "".join(work.sentence_text(index) for index in range(len(work.sentences))).startswith("Rain fell.")
