"""Finding passages in a work."""

import pytest

from relic_core.domain import Span
from relic_core.text.placing import Places, letters, unscrambled
from tests.making import make_work

WORK = make_work(
    [
        ["The ferryman never counted his passengers.", "He counted their lanterns instead, and wrote the number down."],
        ["“Three,” he said; nobody answered.", "* * *", "The river had no opinion of the matter."],
    ],
    [
        ["It rose all the same, in its own colour, and took the lower orchard with it.", "We heard the gate go."],
        ["“Three,” he said; nobody answered.", "Nothing was written down that night, nor for many nights after."],
    ],
)


@pytest.fixture(scope="module")
def places():
    return Places(WORK)


def test_marks_case_and_white_space_do_not_count(places):
    (place,) = places.find("NOBODY answered -- \n the  river had no opinion, of the matter")
    assert (place.span, place.agreement) == (Span(2, 3), 1.0)
    (place,) = places.find("the river had no opinion -- of\nthe matter!")
    assert place.whole
    assert place.span == Span(4, 1)


def test_sentences_without_letters_stand_between_others_but_not_at_the_ends(places):
    (place,) = places.find("Nobody answered. The river had no opinion of the matter.")
    assert place.span == Span(2, 3)
    assert places.find("The river had no opinion of the matter.")[0].span == Span(4, 1)


def test_a_passage_that_stands_twice_is_found_twice_in_the_order_of_the_text(places):
    assert [place.span for place in places.find("“Three”, he said: nobody answered.")] == [Span(2, 1), Span(7, 1)]


def test_a_sentence_belongs_if_half_of_it_is_quoted(places):
    (place,) = places.find("counted his passengers. He counted their lanterns instead, and wrote")
    assert place.span == Span(0, 2)
    assert place.agreement == 1
    assert 0.5 < place.coverage < 1
    assert not place.whole


def test_little_of_a_sentence_beside_a_whole_one_is_left_out(places):
    whole, rest = "He counted their lanterns instead, and wrote the number down.", "his passengers. “Three,”"
    (place,) = places.find(f"his passengers. {whole} “Three,”")
    assert place.span == Span(1, 1)
    assert place.coverage == 1
    assert place.agreement == pytest.approx(len(letters(whole)) / len(letters(whole + rest)))
    assert not place.whole, "the passage goes on beyond the sentence"


def test_less_than_half_of_a_sentence_counts_where_it_is_a_third_of_the_passage(places):
    (place,) = places.find("with it. We heard")
    assert place.span == Span(5, 2)


def test_a_few_words_of_one_sentence_are_placed_in_it(places):
    (place,) = places.find("in its own colour")
    assert place.span == Span(5, 1)
    assert place.agreement == 1
    assert place.coverage < 0.5


@pytest.mark.parametrize(
    "passage",
    [
        "It rose all the same, in its own color, and took the lower orchard with it.",
        "It rose all the same, in its own col0ur, and took t8e lower orchard with it.",
        "It rose, in its own colour, and took the lower orchard with it.",
        "It rose all the same, in its own and muddy colour, and took the lower orchard with it.",
    ],
)
def test_other_spellings_slips_and_a_word_more_or_less_are_borne(places, passage):
    assert places.find_exact(passage) == ()
    (place,) = places.find(passage)
    assert place.span == Span(5, 1)
    assert place.agreement > 0.75
    assert not place.whole


def test_how_much_must_agree_can_be_asked_for(places):
    passage = "It rose all the same, as rivers will when nobody has asked them to, and took the lower orchard"
    assert places.find(passage) == ()
    (place,) = places.find(passage, least=0.4)
    assert place.span == Span(5, 1)


def test_the_place_that_is_more_like_the_passage_comes_first():
    work = make_work(
        [["The clerk wrote the number down in pencil."], ["The clerk wrote the numbers down in the ledger."]]
    )
    found = Places(work).find("The clerk wrote the numbers down in this ledger.", least=0.5)
    assert [place.span for place in found] == [Span(1, 1), Span(0, 1)]
    assert found[0].agreement > found[1].agreement


@pytest.mark.parametrize("passage", ["", "“…” —", "All happy families are alike; every unhappy family", "zz"])
def test_what_is_not_there_is_not_found(places, passage):
    assert places.find(passage) == ()


def test_of_letters_that_stand_everywhere_only_some_places_are_looked_at(monkeypatch):
    work = make_work([["She heard the others there."] * 600, ["He!"], ["Hehe; the end.", "He?"]])
    places, looked = Places(work), []
    placement = places._placement
    monkeypatch.setattr(places, "_placement", lambda *given: looked.append(given) or placement(*given))
    assert [place.span for place in places.find("He.")] == [Span(600, 1), Span(602, 1)], "whole sentences are preferred"
    assert len(looked) == 2
    found = places.find("e")
    assert len(looked) == 1_002
    assert [place.span.start for place in found] == list(range(len(found)))


def test_a_work_without_words_holds_nothing():
    assert Places(make_work([["* * *"]])).find("The clerk wrote the number down.") == ()


def test_utf_8_that_was_read_as_latin_1_is_put_right(places):
    scrambled = "“Three,” he said; nobody answered.".encode().decode("latin-1")
    assert "â" in scrambled
    assert [place.whole for place in places.find(scrambled)] == [True, True]
    assert unscrambled("Ã©¡") == "é¡", "no more is taken than the character has"
    assert unscrambled("a château, 10 Âµ, \u00e0\u0080\u0080") == "a château, 10 µ, \u00e0\u0080\u0080"


def test_letters_are_those_of_every_alphabet():
    assert letters("Ça va, Straße_12 — Война!") == "çavastrasse12война"
