"""Words that print has broken are whole wherever they are searched; what is shown stays as the file has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relic_core.attribution.ranking import Attributor, Stretches
from relic_core.domain import Span
from relic_core.domain.attribution import Target
from relic_core.encoders.towers import flat, flat_span
from relic_core.ports import silent
from relic_core.retrieval.dense import Dense
from relic_core.text.masking import QuotationFinder, read_claim
from relic_core.text.reading import read_work
from relic_core.text.unbroken import cuts, inline_noise, printed_noise, unbroken, without
from relic_core.text.words import WorkWords, tokens, whole_words, work_words
from tests.fake_encoder import FakeEncoder
from tests.making_books import looked_up

SCANNED = """THE MILL BY THE WEIR

BY ADA MARLOW

CHAPTER I

Nobody on the [Pg 2]
far bank rang the bell, and no{3}body crossed. The slow transfor-
mation of the river was complete, and the gar-
14                    THE MILL BY THE WEIR
den and the well-
known stile were under water.

THE MILL BY THE WEIR                    15

He was a non¬
commissioned man and did not an-
swer; the lan\u200btern and the gar\u00adden were an-
other matter.

CHAPTER II

It was cold, and no one had touched the garden.
"""


@pytest.fixture
def scanned():
    return read_work(SCANNED.encode(), name="mill.txt")


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("transformation", ["transfor-\nmation"]),
        ("on the far bank", ["on the [Pg 2]\nfar bank"]),
        ("nobody", ["Nobody", "no{3}body"]),
        ("garden", ["gar-\n14                    THE MILL BY THE WEIR\nden", "gar\u00adden", "garden"]),
        ("known", ["known"]),
        ("wellknown", []),
        ("noncommissioned", ["non¬\ncommissioned"]),
        ("an*er", ["an-\nswer", "an-\nother"]),
        ("lan\u00adtern", ["lan\u200btern"]),
        ("weir", []),
        ("15", []),
        ("pg", []),
    ],
)
def test_a_broken_word_is_found_and_given_as_the_file_has_it(scanned, typed, printed):
    assert looked_up(scanned, typed) == printed


def test_retrievers_by_words_and_find_a_word_take_the_same_words(scanned):
    words = WorkWords.of(scanned, left_out=frozenset())
    assert {"transformation", "nobody", "garden", "known", "noncommissioned", "answer", "another"} <= set(
        words.vocabulary
    )
    assert not {"transfor", "mation", "pg", "weir", "swer"} & set(words.vocabulary)
    assert all(looked_up(scanned, word) for word in words.vocabulary)


def test_models_read_broken_words_whole_and_sentences_stay_as_the_file_has_them(scanned):
    read = flat_span(scanned, Span(0, len(scanned.sentences)))
    assert "Nobody on the far bank rang the bell, and nobody crossed. The slow transformation of the river" in read
    assert "and the garden and the well- known stile" in read
    assert "He was a noncommissioned man and did not answer; the lantern and the garden were another matter." in read
    assert "and the gar-\n14                    THE MILL BY THE WEIR\nden and" in scanned.sentence_text(1)


def test_a_part_of_a_work_is_read_as_the_whole_is(scanned, tmp_path):
    (pieces,) = Dense("demo", encoder=FakeEncoder, root=tmp_path).pieces(scanned)
    for first in range(len(scanned.sentences)):
        part = pieces.content(range(first, len(scanned.sentences)))
        whole = [flat(scanned, sentence) for sentence in scanned.sentences[first:]]
        assert [flat(part, sentence) for sentence in part.sentences] == whole


def test_an_index_of_the_older_reading_is_not_used_and_stays_in_use_for_a_work_without_broken_words(scanned, tmp_path):
    whole = read_work(b"The river rose. Nobody rang the bell.", name="river.txt")
    retriever = Dense("demo", encoder=FakeEncoder, root=tmp_path)
    for work in (scanned, whole):
        retriever.prepare(replace(work, cuts=()), silent)
    assert not retriever.ready(scanned, 1)
    assert retriever.ready(whole, 1)
    assert scanned.fingerprint == replace(scanned, cuts=()).fingerprint


def test_what_stands_between_sentences_is_no_other_reading():
    text = "He went.\n\n[Pg 2]\n\nShe stayed."
    work = read_work(text.encode(), name="page.txt")
    assert cuts(text)
    assert work.cuts == ()


@pytest.mark.parametrize(
    "text",
    [
        "The grey-\nhaired man by the flag-\nstaff, the snow-\nwhite horse, the river-\nside and the corn-\nfactor.",
        "He said--\nand went.",
        "Word a¬1 and 2¬b stay.",
        "To-\nday and well-\nknown.",
        "In 1848\nit rained. (p) [A] man.",
        "Plain words, nothing else.",
        "He took H_{2}O.\n\nEndnote 1\n\nA note.\n\nEndnote 2\n\nAnother.\n\nEndnote 3\n\nA third.",
    ],
)  # fmt: skip
def test_a_text_without_broken_words_keeps_its_words(text):
    work = read_work(text.encode(), name="plain.txt")
    assert cuts(text) == work.cuts == ()
    assert work.reading == work.fingerprint
    assert unbroken(text) == text
    assert [word for *_, word in whole_words(text)] == [text[start:end] for start, end, _ in whole_words(text)]
    assert work_words(work).vocabulary == WorkWords.of_texts(each for each in [text]).vocabulary


def test_offsets_of_part_of_a_text_are_those_of_the_text(scanned):
    every = list(whole_words(scanned.text))
    start, end = scanned.sentences[2].start, scanned.sentences[2].end
    assert list(whole_words(scanned.text, start, end)) == [
        each for each in every if start <= each[0] and each[1] <= end
    ]


def test_offsets_hold_where_a_page_line_begins_before_the_sentence():
    text = "Nobody knew it.\n- 12 -\nThe road was long."
    start = text.index("The")
    assert cuts(text)[0][0] < start
    for at in (start, text.index("- 12")):
        found = list(whole_words(text, at))
        assert [word for *_, word in found] == ["The", "road", "was", "long"]
        assert [text[first:last] for first, last, _ in found] == ["The", "road", "was", "long"]


def test_the_cuts_of_a_work_are_looked_for_once(scanned, monkeypatch):
    asked = []
    monkeypatch.setattr("relic_core.text.masking.cuts", lambda text: asked.append(text) or cuts(text))
    QuotationFinder(scanned)
    assert len(asked) == 1 < len(scanned.sentences)


def test_what_is_typed_or_pasted_is_whole_too(scanned):
    pasted = "The slow transfor-\nmation of the river was com-\nplete, and the gar-\nden"
    assert tokens(read_claim(pasted, max_words=100).words) == tokens(
        "The slow transformation of the river was complete, and the garden"
    )
    (found,) = QuotationFinder(scanned).find(pasted)
    assert (found.start, found.end) == (0, len(pasted))


def test_a_passage_pasted_with_the_line_ends_of_a_page_has_the_same_source():
    lines = [f"The {word} river rose slowly over the meadow and the orchard wall." for word in ("old", "dark", "slow")]
    named = read_work(" ".join(lines).encode(), name="river.txt")
    other = read_work(b"A lamp burned in the tower until the morning came again.", name="lamp.txt")
    stretches = Stretches.of((work.title, work.title, work_words(work)) for work in (named, other))
    whole = "the dark river rose slowly over the meadow"
    broken = "the dark ri-\nver rose slow-\nly over the mea-\ndow"
    scores = [Attributor(stretches).rank(Target(text, 0, len(text))) for text in (whole, broken)]
    assert scores[0].tolist() == scores[1].tolist()
    assert scores[0].max() > 0


def noted(work):
    return [work.text[part.start : part.end].split()[0] for part in work.left_out if part.kind == "page number"]


def pages(*lines):
    return read_work("\n\n".join(["THE WEIR", "by Ada Marlow", "CHAPTER I", *lines]).encode(), name="weir.txt")


def test_pages_and_heads_on_lines_of_their_own_are_no_paragraphs():
    work = read_work(SCANNED.encode(), name="mill.txt")
    assert noted(work) == ["THE"]
    assert len(work.paragraphs) == 3
    numbered = pages("The weir ran [Pg 7] high.", "8", "It fell again by noon, as it had fallen [8] before.")
    assert noted(numbered) == ["8"]
    assert "8" not in tokens(without(numbered.text, 0, len(numbered.text), cuts(numbered.text)))


@pytest.mark.parametrize(
    "lines",
    [
        ("The weir ran high.", "8", "It fell again."),
        ("The weir ran [Pg 70] high.", "8", "It fell again [3] by noon."),
        tuple(line for number in (1, 2, 3, 1, 2, 3, 1, 2) for line in (str(number), "It fell,\nAnd rose,\nAnd fell.")),
    ],
    ids=["no page is known", "the pages are others", "stanzas begin anew"],
)
def test_numbers_that_may_be_others_than_pages_stay(lines):
    work = pages(*lines)
    assert noted(work) == []
    assert {"8", "1", "3"} & set(tokens(without(work.text, 0, len(work.text), cuts(work.text))))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("An ill-\nness kept the gar-\ndener.", "An illness kept the gardener."),
        ("A half-\nopen gate, a gar-\nden and an or-\nchard.", "A half-\nopen gate, a garden and an orchard."),
    ],
)
def test_a_hyphen_belongs_to_a_compound_where_both_halves_are_words(text, words):
    assert unbroken(text) == words


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("She says, “I stay,”15 and stays.", ["15"]),
        ("I stay;3 you go.", ["3"]),
        ("He paid “£15” and £5; 12 went.", []),
        ("It was 4:30 or 4,500.", []),
    ],
)
def test_a_number_set_close_behind_a_mark_is_that_of_a_note(text, marks):
    assert [text[start:end] for start, end in inline_noise(text, printed_noise(text))] == marks
