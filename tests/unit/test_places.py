"""Where a passage stands: addresses that open again, and places in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Address, Span
from relic_core.errors import BadRequest, NotFound
from tests.making import make_work, work_of

sentence = st.just("It rained.")
works = st.lists(st.lists(st.lists(sentence, min_size=1, max_size=4), min_size=1, max_size=4), min_size=1, max_size=4)


@given(works)
def test_every_sentence_has_an_address_of_its_own_that_leads_back_to_it(chapters):
    work = make_work(*chapters)
    addresses = [work.address(index) for index in range(len(work.sentences))]
    assert len(set(addresses)) == len(addresses)
    assert [work.sentence_at(Address.parse(str(address))) for address in addresses] == list(range(len(addresses)))


@given(
    st.builds(
        Address,
        chapter=st.integers(1, 999),
        paragraph=st.integers(1, 9999),
        sentence=st.integers(1, 999),
        note=st.booleans(),
    )
)
def test_an_address_survives_being_written_and_read(address):
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("written", ["", "0", "1.0", "1.2.3.4", "one", "1.2.x", "1..2", "-1", "1.nn2", "²", "9" * 40])
def test_what_is_no_address_is_told_with_an_example(written):
    with pytest.raises(BadRequest, match=r"such as 3\.5\.2"):
        Address.parse(written)


def test_a_chapter_or_paragraph_alone_means_its_beginning():
    work = make_work([["A.", "B."], ["C."]], [["D."]])
    assert work.sentence_at(Address.parse("1")) == 0
    assert work.sentence_at(Address.parse("1.2")) == 2
    assert work.sentence_at(Address.parse("2")) == 3


def test_a_sentence_beyond_its_paragraph_means_the_last_one_of_it():
    work = make_work([["A.", "B."], ["C."]])
    assert work.sentence_at(Address(1, 1, 9)) == 1


@pytest.mark.parametrize("address", [Address(3), Address(1, 9), Address(1, 1, note=True)])
def test_an_address_that_the_work_has_not_is_told(address):
    with pytest.raises(NotFound):
        make_work([["A."]], [["B."]]).sentence_at(address)


def test_a_time_of_day_before_a_paragraph_is_no_verse():
    assert make_work(["The boat left at 6:30", "Nobody came."]).place(Span(1, 1)).verse == 0


def test_a_note_is_told_from_the_paragraph_of_the_same_number():
    plain = make_work([["A."], ["B."]])
    note = replace(plain.paragraphs[1], kind="note", number=1, note_to=0)
    work = replace(plain, paragraphs=(plain.paragraphs[0], note))
    assert str(work.address(1)) == "1.n1.1"
    assert work.sentence_at(Address.parse("1.n1.1")) == 1
    assert work.place(Span(1, 1)).label == "Chapter 1 · note 1"


def test_a_sentence_of_verse_is_placed_by_the_line_it_begins_in():
    plain = work_of("PLAY\n\nSong\nNight came.\nDay followed.\n")
    verse = replace(plain.paragraphs[0], kind="verse", line=40, speaker="CHORUS")
    work = replace(plain, paragraphs=(verse,))
    labels = [work.place(Span(at, 1)).label for at in range(2)]
    assert labels == ["Chapter Song · line 40 (CHORUS)", "Chapter Song · line 41 (CHORUS)"]
