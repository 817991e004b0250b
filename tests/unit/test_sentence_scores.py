"""The agreement of our sentences with RELiC's lists: what the measure counts, and how well we do by it."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

from relic_core.domain import LeftOut
from relic_core.errors import BadRequest
from relic_core.evaluation.sentences import read_list, score_sentences, score_spans
from relic_core.text.reading import read_work
from tests.making import make_work

SENTENCES = ["The storm rose.", "“Who goes?” she cried;", "nobody went.", "Today, at last, it was calm."]


def score(ours, theirs):
    """Score a text cut into `ours` against `theirs`, as (ours, theirs, exact)."""
    text = " ".join(ours)
    starts = [len(" ".join(ours[:index])) + (index > 0) for index in range(len(ours))]
    spans = [(start, start + len(sentence)) for start, sentence in zip(starts, ours, strict=True)]
    found = score_spans(text, spans, theirs)
    return found.ours, found.theirs, found.exact


@pytest.mark.parametrize(
    ("theirs", "counts"),
    [
        (SENTENCES, (4, 4, 4)),
        (["the STORM rose ", '" who goes? she cried', "nobody went", "To-day at last it was calm."], (4, 4, 4)),
        (["The storm rose. “Who goes?” she cried;", *SENTENCES[2:]], (4, 3, 2)),
        (["The", "storm rose.", *SENTENCES[1:]], (4, 5, 3)),
        (["The great storm rose.", *SENTENCES[1:]], (4, 4, 3)),
        (["The storm.", *SENTENCES[1:]], (4, 4, 3)),
        ([*SENTENCES[:2], "And then nothing at all.", *SENTENCES[2:]], (4, 5, 4)),
        ([*SENTENCES, "* * *"], (4, 4, 4)),
    ],
    ids=[
        "same",
        "other spelling",
        "two in one",
        "one in two",
        "a word more",
        "a word less",
        "a sentence more",
        "stars",
    ],
)
def test_what_counts_as_exact(theirs, counts):
    assert score(SENTENCES, theirs) == counts


def test_the_same_sentence_at_another_place_is_not_exact():
    ours = ["He ran.", "She sat down by the fire and wept a while.", "He ran.", "It grew dark."]
    assert score(ours, ["He ran. She sat down by the fire and wept a while.", *ours[2:]]) == (4, 3, 2)


def test_both_shares():
    found = score_spans(
        "He rose. She sat. It rained.", [(0, 8), (9, 17), (18, 28)], ["He rose.", "She sat. It rained."]
    )
    assert (found.precision, found.recall) == (1 / 3, 1 / 2)


def test_headings_of_the_work_are_left_out_of_the_list():
    work = make_work([["The storm rose.", "Nobody went."]], [["It was calm."]])
    headings = tuple(
        LeftOut(work.text.index(name), work.text.index(name) + 9, "heading") for name in ("CHAPTER 1", "CHAPTER 2")
    )
    work = dataclasses.replace(work, left_out=headings)
    found = score_sentences(work, ["Chapter 1   The storm rose.", "Nobody went. ", "CHAPTER 2 ", "It was calm."])
    assert (found.ours, found.theirs, found.exact, found.apparatus) == (3, 3, 3, 1)


def test_what_is_left_out_for_another_reason_still_counts_against_us():
    work = make_work([["The storm rose.", "Nobody went."]])
    work = dataclasses.replace(work, left_out=(LeftOut(0, 9, "contents"),))
    found = score_sentences(work, ["Chapter 1", "The storm rose.", "Nobody went."])
    assert (found.ours, found.theirs, found.exact, found.apparatus) == (2, 3, 2, 0)


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        (["Call me Ishmael.", "Some years ago, never mind how long precisely."], "another"),
        ([], "nothing"),
        (["—", "* * *"], "nothing"),
    ],
)
def test_a_list_that_cannot_be_compared_is_refused(theirs, message):
    with pytest.raises(BadRequest, match=message):
        score(SENTENCES, theirs)


def test_a_text_without_sentences_is_refused():
    with pytest.raises(BadRequest, match="nothing"):
        score_spans("* * *", [(0, 5)], SENTENCES)


def test_a_list_is_read(tmp_path):
    path = tmp_path / "list.json"
    path.write_text('["One. ", "Zwölf."]', "utf-8")
    assert read_list(path) == ["One. ", "Zwölf."]


@pytest.mark.parametrize("content", ["", "{}", '["One.", 2]', b"\xff\xfe"], ids=["empty", "object", "number", "binary"])
def test_what_is_no_list_is_refused(tmp_path, content):
    path = tmp_path / "list.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadRequest, match=r"list\.json"):
        read_list(path)


def test_a_missing_list_is_refused(tmp_path):
    with pytest.raises(BadRequest, match=r"none\.json"):
        read_list(tmp_path / "none.json")


@pytest.fixture(scope="module")
def read(shared):
    def read(slug):
        path = shared / "corpus" / "primary" / f"{slug}.txt"
        return read_work(path.read_bytes(), name=path.name)

    return read


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("slug", "precision", "recall"),
    [
        ("frankenstein", 0.97, 0.97),
        ("the_awakening", 0.97, 0.97),
        ("what_maisie_knew", 0.97, 0.97),
        ("ethan_frome", 0.955, 0.955),
        ("the_scarlet_letter", 0.955, 0.955),
        ("the_great_gatsby", 0.85, 0.85),
    ],
)
def test_our_sentences_are_relics(shared, read, slug, precision, recall):
    theirs = read_list(shared / "benchmarks" / "relic_sentences" / f"{slug}.json")
    found = score_sentences(read(slug), theirs)
    assert found.precision >= precision
    assert found.recall >= recall
    assert found.apparatus <= 0.025 * len(theirs), "more of the list is left out than headings and illustrations"


@pytest.mark.corpus
def test_golden_sentences_of_pride_and_prejudice(read):
    work = read("pride_and_prejudice")
    first = "\n".join(" ".join(work.text[s.start : s.end].split()) for s in work.sentences[:200])
    assert hashlib.sha256(first.encode()).hexdigest() == (
        "720852f42404e929a7a68a68b27e026ce7a0b9984da756655c792257c5ba1620"
    )
