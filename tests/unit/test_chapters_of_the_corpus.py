"""Chapters of the 73 works, against a table made by reading the files (``tests/golden/chapters.csv``)."""

from __future__ import annotations

import csv
import time
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from relic_core.text.decoding import decode
from relic_core.text.metadata import Metadata
from relic_core.text.structure import Structure, analyse

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "chapters.csv"
ROWS = list(csv.DictReader(GOLDEN.read_text(encoding="utf-8").splitlines()))
WRONG: dict[str, str] = {}
"""Works whose chapters are known to come out wrong, each with its reason; may only shrink, and never exceeds 8."""

pytestmark = pytest.mark.corpus


def read(shared: Path, slug: str) -> str:
    data = (shared / "corpus" / "primary" / f"{slug}.txt").read_bytes()
    return decode(data, max_bytes=10_000_000)


@cache
def structure(shared: Path, slug: str) -> Structure:
    return analyse(read(shared, slug))


def visible(text: str, start: int, end: int) -> str:
    return "".join(text[start:end].split())


def test_the_table_has_a_row_for_every_work(shared):
    assert {row["slug"] for row in ROWS} == {path.stem for path in (shared / "corpus" / "primary").glob("*.txt")}
    assert len(ROWS) == 73
    assert len(WRONG) <= 8


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["slug"])
def test_chapters_are_those_of_the_table(shared, row):
    found = structure(shared, row["slug"])
    chapters = found.chapters
    seen = {
        "chapters": str(len(chapters)),
        "parts": str(len({chapter.part for chapter in chapters} - {""})),
        "by_part": "+".join(str(len(list(run))) for _, run in groupby(chapter.part for chapter in chapters)),
        "first": chapters[0].name,
        "last": chapters[-1].name,
    }
    expected = {column: row[column] for column in seen}
    if row["slug"] in WRONG:
        assert seen != expected, f"{row['slug']} is right now: take it out of WRONG"
    else:
        assert seen == expected


@pytest.mark.parametrize("slug", [row["slug"] for row in ROWS])
def test_every_visible_character_is_in_one_paragraph_or_left_out(shared, slug):
    text = read(shared, slug)
    found = structure(shared, slug)
    stretches = sorted((piece.start, piece.end) for piece in (*found.paragraphs, *found.left_out))
    assert all(end <= start for (_, end), (start, _) in pairwise(stretches))
    assert "".join(visible(text, start, end) for start, end in stretches) == visible(text, 0, len(text))
    for paragraph in found.paragraphs:
        chapter = found.chapters[paragraph.chapter]
        assert chapter.start <= paragraph.start < paragraph.end <= chapter.end
    prose = sum(paragraph.end - paragraph.start for paragraph in found.paragraphs)
    body = len(text) - sum(piece.end - piece.start for piece in found.left_out if piece.kind == "licence")
    assert prose > 0.93 * body, "too much of the text was left out"


@pytest.mark.parametrize("slug", [row["slug"] for row in ROWS])
def test_no_word_of_whoever_made_the_file_is_in_a_paragraph(shared, slug):
    text = read(shared, slug)
    for paragraph in structure(shared, slug).paragraphs:
        stretch = text[paragraph.start : paragraph.end].lower()
        assert "gutenberg" not in stretch
        assert "transcriber" not in stretch
        assert not stretch.startswith("[illustration")


def test_war_and_peace_is_structured_quickly(shared):
    text = read(shared, "war_and_peace")
    began = time.process_time()
    analyse(text)
    assert time.process_time() - began < 2.0


def test_metadata_is_read_from_the_header(shared):
    found = structure(shared, "the_red_and_the_black")
    assert found.metadata == Metadata("The Red and the Black", "Stendhal", "Horace B. Samuel", found.metadata.year)
    assert structure(shared, "brothers_karamazov").metadata.translator == "Constance Garnett"
    assert structure(shared, "sense_and_sensibility").metadata.year == 1811
