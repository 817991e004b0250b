"""Pairs of quotations and contexts, and why a quotation gives none."""

from __future__ import annotations

import pytest

from relic_core.domain.sources import passage_id
from relic_core.mining import pairs as reasons
from relic_core.mining.pairs import PairsFound, make_pairs
from relic_core.mining.prose import read_prose
from relic_core.mining.quotations import find_quotations
from relic_core.text.languages import is_english, language

RAIN = "it rained upon the quay and nobody came to the ferry"
BEFORE = "The critic has written in his book about the boy that"
AFTER = "as nobody who has read the book of the boy can doubt."


def made(text: str) -> PairsFound:
    """Make the pairs of a text."""
    prose = read_prose(text)
    return make_pairs(prose, find_quotations(prose), "boy-00000000")


def test_a_pair_says_where_it_stands_in_the_source() -> None:
    text = f"{BEFORE} “it rained upon the quay {{12}} and nobody\ncame to the _ferry_” (p. 3) {AFTER}"
    (pair,) = made(text).pairs
    assert (pair.left, pair.quotation, pair.right) == ((BEFORE,), RAIN, (AFTER,))
    assert text[slice(*pair.at)] == "it rained upon the quay {12} and nobody\ncame to the _ferry"
    assert text[slice(*pair.passage)] == text
    assert (pair.id, pair.source_id, pair.kind) == (passage_id(BEFORE, RAIN, AFTER), "boy-00000000", "inline")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{BEFORE} “it rained upon the quay all day” {AFTER}", reasons.SHORT),
        (f"{BEFORE} “{RAIN}, {AFTER}", reasons.UNCLOSED),
        (f"“{RAIN}” he says.", reasons.NO_CONTEXT),
        (f"{BEFORE} “{RAIN.upper()}” {AFTER}", reasons.NO_QUOTATION),
        (f"{BEFORE} “The Life and Adventures of a Ferry Boy upon the Quay of Rainmouth” {AFTER}", reasons.NO_QUOTATION),
        (f"{BEFORE} “quid est quod nemo ad ripam venit cum pluit in urbe nostra” {AFTER}", reasons.FOREIGN),
        (f"{BEFORE} “il pleuvait au quai et personne ne venait plus au bac” {AFTER}", reasons.FOREIGN),
        (f"{BEFORE} “es regnete am Kai und niemand kam an diesem Tag zu der Fähre” {AFTER}", reasons.FOREIGN),
    ],
)
def test_what_gives_no_pair_is_counted_with_its_reason(text: str, reason: str) -> None:
    found = made(text)
    assert found.pairs == ()
    assert found.dropped == {reason: 1}


def test_a_nested_quotation_gives_no_pair_of_its_own() -> None:
    found = made(f"{BEFORE} “he told her, ‘{RAIN},’ and left the quay” {AFTER}")
    assert len(found.pairs) == 1
    assert found.dropped == {reasons.NESTED: 1}


def test_the_same_words_in_the_same_context_are_one_pair_and_in_another_two() -> None:
    chapter = f"CHAPTER {{}}\n\n{BEFORE} “{RAIN}” {AFTER}\n\n\n\n"
    again = made(chapter.format("I") + chapter.format("II"))
    assert (len(again.pairs), again.dropped) == (1, {reasons.TWICE: 1})
    other = made(chapter.format("I") + chapter.format("II").replace("critic", "other critic"))
    assert len(other.pairs) == 2


def test_a_book_in_french_gives_no_pairs_though_it_quotes_english() -> None:
    french = "Le garçon a écrit dans son livre que la pluie tombait au quai et que personne ne venait au bac. " * 20
    found = made(f"{french} Il cite: «The rain fell upon the quay and nobody came to the ferry that day.» {french}")
    assert found.pairs == ()
    assert set(found.dropped) == {reasons.FOREIGN_SOURCE}


@pytest.mark.parametrize(
    "english",
    [
        "Drop, drop, slow rain, bathe gray quays, wet feet, cold ferry bells",
        "Thou wert not fain to bide, nor I to gang",
        "Sullen, barefoot, dripping boys hauled heavy ropes",
        "Nobody, nobody! Gone, gone, gone for ever!",
    ],
)
def test_verse_and_old_spelling_are_english(english: str) -> None:
    assert is_english(english)


def test_languages_of_whole_texts_are_told() -> None:
    assert language("The rain fell upon the quay, and the boy who had come to the ferry went away. " * 2000) == "en"
    assert language("Der Regen kam auf den Kai, und der Junge ging wieder nach Hause. " * 2000) == "de"
    assert language("123 - 45") == ""
    assert not is_english("")
