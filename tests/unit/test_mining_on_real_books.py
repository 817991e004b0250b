"""On a real book of criticism and two novels that it quotes: the windows are there, right, and quickly found.

Words of the books are not repeated here.
"""

from __future__ import annotations

import hashlib
import time
import zipfile

import pytest

from relic_core.domain import SecondarySource
from relic_core.mining import thresholds
from relic_core.mining.prose import read_prose
from relic_core.mining.quotations import find_quotations
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.windows import make_windows
from relic_core.ports import silent
from relic_core.text.decoding import decode
from relic_core.text.reading import read_work

pytestmark = pytest.mark.corpus

BOOK = "18566"
QUOTED, OTHER = "the_scarlet_letter", "a_christmas_carol"
_ROOM = 50_000_000


@pytest.fixture(scope="module")
def works(shared, tmp_path_factory):
    paths = [shared / "corpus" / "primary" / f"{name}.txt" for name in (QUOTED, OTHER)]
    return QuotedWorks.build(
        [read_work(path.read_bytes(), name=path.name) for path in paths],
        tmp_path_factory.mktemp("works") / "words",
        silent,
    )


@pytest.fixture(scope="module")
def found(shared, works):
    with zipfile.ZipFile(shared / "corpus" / "criticism.zip") as archive:
        text = decode(archive.read(f"{BOOK}.txt"), max_bytes=_ROOM)
    source = SecondarySource(
        id="hawthorne", title="Hawthorne", author="Henry James", name=f"{BOOK}.txt",
        sha256=hashlib.sha256(text.encode()).hexdigest(), characters=len(text),
    )  # fmt: skip
    prose = read_prose(text)
    began = time.perf_counter()
    windows = make_windows(prose, find_quotations(prose), source, works)
    seconds = time.perf_counter() - began
    aside = thresholds.set_aside(windows, {source.id: source}, thresholds.facts_of(works))
    return text, windows, aside, seconds


def test_a_book_on_an_author_quotes_the_work_of_that_author_and_not_another(works, found):
    _, windows, aside, _ = found
    kept = [window for window in windows if window.id not in aside]
    assert kept
    assert {window.work_id for window in kept} == {works.works[0].id}


def test_every_window_stands_where_it_says_in_both_texts(works, found):
    text, windows, _, _ = found
    by_id = {work.id: work for work in works.works}
    for window in windows:
        work = by_id[window.work_id]
        assert len(window.lit) == len(window.lit_in_work)
        sentences = " ".join(works.gold_texts(work, window.gold))
        passage = text[slice(*window.at)]
        shared = sum(
            len(set(window.quotation[start:end].lower().split()) & set(sentences.lower().split()))
            for start, end in window.lit
        )
        assert shared >= 3
        assert window.quotation.split()[0].strip("“”\"'_") in passage
        assert window.score >= 80


def test_a_book_takes_seconds_and_not_minutes(found):
    assert found[-1] < 30
