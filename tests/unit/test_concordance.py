"""Finding words: what a query means, where it stands, and what its context is."""

from __future__ import annotations

import numpy as np
import pytest

from relic_core.errors import BadRequest
from relic_core.library.concordance import Finder, Wording
from relic_core.library.lexicon import Lexicon, Reach, nearest, word_offsets
from relic_core.library.queries import MAX_CHARACTERS, MAX_WORDS, read_query
from relic_core.text.reading import read_work
from relic_core.text.words import word_spans
from tests.making import make_work


def wording_of(work, lexicon):
    def column(rows, name):
        return np.array([getattr(row, name) for row in rows], np.int32)

    sentences = tuple(column(work.sentences, name) for name in ("start", "end", "chapter", "paragraph"))
    return Wording.of(work.text, sentences, np.array([p.kind == "note" for p in work.paragraphs], np.bool_), lexicon)


def found(work, typed, **reach):
    """Return the keywords found in a work, as printed."""
    lexicon = Lexicon()
    wording = wording_of(work, lexicon)
    reach = Reach(**reach)
    places = Finder(read_query(typed, reach), reach, lexicon).find(wording)
    return [
        wording.context(first, length, width=40)[1]
        for first, length in zip(places.firsts.tolist(), places.lengths.tolist(), strict=True)
    ]


def prose(*sentences):
    return make_work([list(sentences)])


# ---- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "’", "a", "don’t 'quoted' o'er", "_Gatsby’s_ drawing-room—1,000th!", "Nata\u0301sha’s e\u0301te\u0301",
     "𝔄𝔅 𝔠’d", "x'", "''a''b", "a__b", "ǅ ß ﬁ", "a\u0301\u0301'b", "\u0301a"],
)  # fmt: skip
def test_words_are_those_of_the_tokenizer(text):
    starts, ends = word_offsets(text)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [span[:2] for span in word_spans(text)]


@pytest.mark.parametrize(
    ("typed", "text", "keywords"),
    [
        ("natasha", "Natásha saw NATASHA; Natásha’s hat.", ["Natásha", "NATASHA", "Natásha’s"]),
        ("Natásha", "Natasha came.", ["Natasha"]),
        ("don't", "I don’t. Don't!", ["don’t", "Don't"]),
        ("don’t", "I don't.", ["don't"]),
        ("gatsby", "Gatsby’s car, Gatsbys and Gatsby.", ["Gatsby’s", "Gatsby"]),
        ("gatsby's", "Gatsby’s car, Gatsby.", ["Gatsby’s"]),
        ("we", "We’ll see what we want.", ["we"]),
        ("the", "Other the there.", ["the"]),
        ("histoire", "L’histoire, d'histoires, qu'histoire; histoire.", ["L’histoire", "qu'histoire", "histoire"]),
        ("artagnan", "D’Artagnan’s horse", ["D’Artagnan’s"]),
        ("anno", "dell'anno, un'anno, panno", ["dell'anno", "un'anno"]),
        ("l'amour", "l’amour, amour", ["l’amour"]),
        ("you", "d'you know, m'lord", []),
        ("lord", "d'you know, m'lord", []),
    ],
)
def test_capitals_accents_and_apostrophes_are_folded(typed, text, keywords):
    assert found(prose(text), typed) == keywords


@pytest.mark.parametrize(
    ("typed", "keywords"),
    [
        ("Natásha", ["Natásha"]),
        ("natásha", []),
        ("Natasha", []),
        ("Natásha's", ["Natásha’s"]),
        ("Nat*", ["Natásha", "Natásha’s"]),
    ],
)
def test_exactly_as_written_folds_nothing_but_apostrophes(typed, keywords):
    assert found(prose("Natásha and NATÁSHA and Natásha’s."), typed, as_written=True) == keywords


@pytest.mark.parametrize(
    ("typed", "text", "keywords"),
    [
        ("lamp window", "None but the lamp-\nwindow.", ["lamp-window"]),
        ("garden", "The gar\u00ad\nden, the gar-\nden.", ["garden", "garden"]),
    ],
)
def test_words_are_found_and_shown_without_what_line_ends_add(typed, text, keywords):
    assert found(prose(text), typed) == keywords


# ---- phrases ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["good fortune", "good\nfortune", "good\n    fortune", "_good_ fortune", "_good\nfortune_", "good-fortune",
     "good, fortune", "Good—fortune", "“good” fortune", "good ... fortune"],
)  # fmt: skip
@pytest.mark.parametrize("typed", ["good fortune", "Good, fortune!", "“good fortune”", "  good\nfortune "])
def test_a_phrase_bridges_signs_and_line_ends(typed, text):
    assert len(found(prose(f"It was {text} at last."), typed)) == 1


def test_a_phrase_reaches_over_the_borders_of_sentences_but_not_of_paragraphs():
    work = make_work([["They had good;", "fortune smiled."], ["It was good."], ["Fortune frowned."]])
    assert found(work, "good fortune") == ["good; fortune"]


def test_a_hyphen_in_the_query_bridges_no_comma():
    work = prose("The drawing-room, a drawing room, drawing, room.")
    assert found(work, "drawing-room") == ["drawing-room", "drawing room"]
    assert len(found(work, "drawing room")) == 3


def test_overlapping_places_are_all_found():
    assert len(found(prose("Ha ha ha ha!"), "ha ha")) == 3


def test_headings_and_what_was_left_out_are_not_found():
    text = "BRASS|CHAPTER I|The Brass|There was brass in it.|[Illustration: Brass]|CHAPTER II|More|No metal.|"
    work = read_work(text.replace("|", "\n\n").encode(), name="brass.txt")
    assert found(work, "brass") == ["brass"]
    assert found(work, "chapter") == []


# ---- the sign for any letters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "keywords"),
    [
        ("princ*", ["prince", "Princess", "princes"]),
        ("*cess", ["Princess"]),
        ("p*n*e", ["prince"]),
        ("*r*n*", ["prince", "Princess", "princes"]),
        ("prince*", ["prince", "Princess", "princes"]),
        ("the *", ["the prince", "the Princess", "the princes"]),
        ("the * and", ["the prince and"]),
        ("***prince", ["prince"]),
        ("pr?n?e", ["prince"]),
        ("princ?s*", ["Princess", "princes"]),
        ("*c?s", ["princes"]),
        ("?rinc*s", ["Princess", "princes"]),
        ("p??nc?s", ["princes"]),
        ("the prince?", ["the prince"]),
        ("prin.*", []),
        ("prin[c]e", []),
    ],
)
def test_a_star_stands_for_any_letters_and_nothing_else_is_a_pattern(typed, keywords):
    assert found(prose("the prince and the Princess of the princes."), typed) == keywords


def test_one_letter_of_a_word_is_open_and_its_s_may_follow():
    work = prose("A woman’s hat, women, womn, womaan, the Woman.")
    assert found(work, "wom?n") == ["woman’s", "women", "Woman"]
    assert found(work, "wom?n", as_written=True) == ["women"]


@pytest.mark.parametrize(
    ("typed", "keywords"),
    [
        ("whale|shark", ["whale", "shark", "whale"]),
        ("whale OR sh?rk", ["whale", "shark", "whale"]),
        ("white whale | shark", ["shark", "white whale"]),
        ("whale | white whale | whale", ["whale", "white whale", "whale"]),
        ("shark |", ["shark"]),
        ("shark or", ["shark or"]),
        ("shark OR", ["shark"]),
    ],
)
def test_several_words_are_looked_up_at_once(typed, keywords):
    assert found(prose("A whale, a shark or the white whale."), typed) == keywords


def test_a_hostile_pattern_takes_no_longer_than_the_word_is_long():
    word = "a" * 5000
    assert found(prose(f"{word}!"), f"{'*a' * 140}*b") == []
    assert found(prose(f"{word}!"), f"{'*?' * 140}*b") == []
    assert found(prose(f"{word}!"), f"*{'?a' * 140}b*") == []


# ---- variants and forms -------------------------------------------------------------------------------------------


def test_variants_and_forms_widen_a_query_each_in_its_way():
    work = prose("An honour, honors, honoured, the honour’s, dishonour.")
    assert found(work, "honor") == []
    assert found(work, "honor", variants=True) == ["honour", "honour’s"]
    assert found(work, "honour", forms=True) == ["honour", "honoured", "honour’s"]
    assert found(work, "honor", variants=True, forms=True) == ["honour", "honors", "honoured", "honour’s"]


def test_forms_of_a_word_in_a_phrase():
    work = prose("He went home. They go home. She has gone home.")
    assert found(work, "go home", forms=True) == ["went home", "go home", "gone home"]


@pytest.mark.parametrize(
    ("typed", "keywords"),
    [
        ("today", ["To-day", "today"]),
        ("to-day", ["To-day", "today"]),
        ("everybody", ["every body", "everybody"]),
        ("every body", ["every body", "everybody"]),
        ("today or", ["today or"]),
    ],
)
def test_words_written_in_two(typed, keywords):
    work = prose("To-day every body lives from day to day, and today or never everybody dies.")
    assert found(work, typed, variants=True) == keywords


def test_to_day_is_not_found_in_day_to_day():
    assert found(prose("He lives from day to day."), "to-day") == []


# ---- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "no word"),
        ("?!…", "no word"),
        ("'", "no word"),
        ("*", "needs some beside it"),
        ("* *", "needs some beside it"),
        ("?*", "needs some beside it"),
        ("|", "no word"),
        ("a|" * 100, "alternatives"),
        ("word " * 300, "use Find"),
        ("w " * (MAX_WORDS + 1), "use Find"),
        ("w" * (MAX_CHARACTERS + 1), "use Find"),
        ("w" * 10_000_000, "use Find"),
    ],
    ids=[
        "empty",
        "signs",
        "apostrophe",
        "star",
        "stars",
        "letter",
        "bar",
        "many",
        "paste",
        "words",
        "letters",
        "flood",
    ],
)
def test_what_cannot_be_looked_up_is_told(typed, said):
    with pytest.raises(BadRequest, match=said):
        read_query(typed, Reach())


# ---- contexts -----------------------------------------------------------------------------------------------------


def context(work, typed, *, width=60):
    lexicon = Lexicon()
    wording = wording_of(work, lexicon)
    places = Finder(read_query(typed, Reach()), Reach(), lexicon).find(wording)
    return wording.context(int(places.firsts[0]), int(places.lengths[0]), width=width)


def test_a_context_is_one_line_without_wraps_and_marks_of_italics():
    work = prose("He _never_\n   counted", "the _brass\nbolt_; nor\nthe ____ of it.")
    assert context(work, "brass bolt") == ("He never counted the ", "brass bolt", "; nor the ____ of it.")


def test_a_context_goes_on_into_the_next_paragraph_and_says_so_but_ends_with_the_chapter():
    work = make_work([["First."], ["The bolt is here."], ["Third."]], [["Another chapter."]])
    assert context(work, "bolt") == ("First. ¶ The ", "bolt", " is here. ¶ Third.")


def test_a_context_holds_whole_words_of_the_width_asked_for():
    left, keyword, right = context(prose("one two three four five six BOLT seven eight nine ten"), "bolt", width=15)
    assert (left, keyword, right) == ("four five six ", "BOLT", " seven eight")


def test_a_context_neither_leaves_a_note_nor_enters_one():
    work = read_work(b"CHAPTER I\n\nThe text says bolt.\n", name="x.txt")
    text = f"{work.text}Note one has a bolt. Note two follows.\n"
    paragraph, sentence = work.paragraphs[0], work.sentences[0]
    start = text.index("Note one")
    middle = text.index("Note two")
    from dataclasses import replace

    noted = replace(
        work,
        text=text,
        paragraphs=(
            paragraph,
            replace(paragraph, index=1, start=start, end=middle - 1, number=1, kind="note", note_to=0),
            replace(paragraph, index=2, start=middle, end=len(text) - 1, number=2, kind="note", note_to=0),
        ),
        sentences=(
            sentence,
            replace(sentence, index=1, start=start, end=middle - 1, paragraph=1),
            replace(sentence, index=2, start=middle, end=len(text) - 1, paragraph=2),
        ),
    )
    assert found(noted, "bolt") == ["bolt", "bolt"]
    assert context(noted, "says bolt") == ("The text ", "says bolt", ".")
    assert context(noted, "has a bolt") == ("Note one ", "has a bolt", ".")


# ---- the nearest words --------------------------------------------------------------------------------------------


def test_the_nearest_words_are_alike_and_the_frequent_first():
    from collections import Counter

    vocabulary = Counter({"colour": 9, "colours": 3, "color": 1, "court": 4, "the": 900, "valour": 2})
    assert nearest("colur", vocabulary)[0] == "colour"
    assert "the" not in nearest("colur", vocabulary)
    assert nearest("zzzz", vocabulary) == []
