"""An author or a year that was guessed is called so wherever the work is cited, until somebody confirms it."""

from __future__ import annotations

import pytest

from relic_core.library.reading import read_file
from relic_core.services.citing import guess
from relic_core.wiring import build
from tests.making_books import epub, tei

PLAIN = "THE FERRY\n\nby Mara Quill\n\n(1848)\n\n\n\nCHAPTER I\n\nRain fell.\n\n\nCHAPTER II\n\nNobody came.\n"
HEADER = "Title: The Ferry\n\nAuthor: Mara Quill\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n\n"
PAGE = "<h2>I</h2><p>Rain fell.</p>"
QUILL = "<dc:title>The Ferry</dc:title><dc:creator>Mara Quill</dc:creator>"
PRINTED = "<titleStmt><title>The Ferry</title></titleStmt><sourceDesc><bibl>{}<date>1848</date></bibl></sourceDesc>"


@pytest.mark.parametrize(
    ("data", "guessed"),
    [
        (PLAIN.encode(), "author, year"),
        ((HEADER + PLAIN).encode(), "year"),
        (PLAIN.replace("by Mara Quill", "A Tale").replace("(1848)", "").encode(), ""),
        (epub([PAGE], metadata=f"{QUILL}<dc:date>1848</dc:date>"), "year"),
        (epub([PAGE], metadata=f'{QUILL}<dc:date o:event="original-publication">1848</dc:date>'), ""),
        (epub([PAGE], metadata=QUILL), ""),
        (tei("<p>Rain fell.</p>", header=PRINTED.format("")), "year"),
        (tei("<p>Rain fell.</p>", header=PRINTED.format("").replace("<bibl>", "<bibl type='firstEdition'>")), ""),
    ],
)
def test_what_is_guessed_is_told_apart_from_what_a_file_says(data, guessed):
    assert read_file(data, name="ferry").guessed == guessed


def test_a_citation_says_so_until_somebody_confirms_it(settings):
    bench = build(settings)
    work = bench.works.add(PLAIN.encode(), name="ferry.txt").work
    said = guess(bench.citing.work(work.id))
    assert "Mara Quill" in said
    assert "1848" in said
    assert bench.works.add(PLAIN.encode(), name="ferry.txt", author="Mara Quill").work.guessed == "year"
    bench.works.describe(work.id, title=work.title, author=work.author, translator="", year=work.year)
    assert bench.citing.work(work.id).guessed == ""
    assert bench.works.load(work.id).guessed == ""


def test_what_a_person_gives_is_no_guess(settings):
    work = build(settings).works.add(PLAIN.encode(), name="ferry.txt", author="M. Quill", year=1849).work
    assert (work.author, work.year, work.guessed) == ("M. Quill", 1849, "")
