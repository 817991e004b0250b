"""Tokens: what parts words, what is folded, what is left out."""

import unicodedata

import pytest

from relic_core.text.words import (
    CRITICS_WORDS,
    STOPWORDS,
    WorkWords,
    content_tokens,
    shared_words,
    tokens,
    unknown_words,
    without_names,
    word_spans,
)
from tests.making import make_work


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gatsby's Gatsby’s", ["gatsby", "gatsby"]),
        ("she'll she’d they’ve we're I'm", ["she", "she", "they", "we", "i"]),
        ("don’t don't", ["don't", "don't"]),
        ("o'clock", ["o'clock"]),
        ("‘Tis the dogs’ ‘supper’", ["tis", "the", "dogs", "supper"]),
        ("drawing-room—at last", ["drawing", "room", "at", "last"]),
        ("_very_ __emphatic__", ["very", "emphatic"]),
        ("Natásha ÆNEAS Straße", ["natasha", "aeneas", "strasse"]),
        ("ИЛИ 42", ["или", "42"]),
        ("", []),
        ("— … _ ’ '", []),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


def test_accents_written_as_characters_of_their_own_make_the_same_token():
    assert tokens(unicodedata.normalize("NFD", "Natásha’s café")) == ["natasha", "cafe"]


def test_word_spans_are_the_words_to_the_letter():
    text = "“_Lizzy’s_ drawing-room,” said he."
    assert [text[start:end] for start, end, _ in word_spans(text)] == ["Lizzy’s", "drawing", "room", "said", "he"]
    assert [token for *_, token in word_spans(text)] == tokens(text)


def test_every_listed_word_is_a_token_the_tokenizer_makes():
    unreachable = {word for word in STOPWORDS | CRITICS_WORDS if tokens(word) != [word]}
    assert not unreachable


def test_contracted_function_words_are_no_content():
    assert content_tokens("I didn't, they’ll not, it's what you'd have: isn’t it?") == []


def test_shared_words_ignore_case_possessives_and_function_words():
    text = "The light of Daisy’s dock was green."
    wanted = set(content_tokens("daisy and the GREEN light"))
    lit = [text[start:end] for start, end in shared_words(wanted, text)]
    assert lit == ["light", "Daisy’s", "green"]


def test_work_words_are_the_content_tokens_of_each_sentence():
    work = make_work([["The cat sat.", "It was what it was.", "A cat’s cradle!"]])
    words = WorkWords.of(work)
    names = list(words.vocabulary)
    found = [[names[i] for i in words.ids[words.starts[s.index] : words.starts[s.index + 1]]] for s in work.sentences]
    assert found == [["cat", "sat"], [], ["cat", "cradle"]]
    assert found == [content_tokens(work.sentence_text(s.index)) for s in work.sentences]


@pytest.fixture
def emma():
    return make_work(
        [["Emma looked at Harriet.", "Mr. Knightley was silent."]], title="Emma of Hartfield", author="Jane Austen"
    )


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Harriet admires Mr. Knightley", ()),
        ("We are told that Gatsby gives parties for Daisy’s sake, and Gatsby waits", ("Gatsby", "Daisy")),
        ("Gatsby’s parties are empty", ("Gatsby",)),
        ("Matchmaking goes wrong. Vanity is punished.", ()),  # opening words are capitalised anyway
        ("In Hartfield, Austen lets Emma err", ()),  # the title and the author
        ("Emma is blind; here Gatsby’s parties say so", ("Gatsby",)),
        ("Hers is a Victorian and Dickensian certainty", ()),  # periods and schools
        ("Read against Modernism, Emma is a Kafkaesque tale for Structuralists", ()),
        ("Emma has a Freudian slip, which Freud’s uncanny explains", ()),  # thinkers
        ("Emma errs, as Freud would say", ()),
        ("Emma errs, as Dorothy Parsloe once argued", ()),  # whoever is cited
        ("According to W. B. Parsloe Emma errs, and Gatsby waits", ("Gatsby",)),
        ("Emma errs as Gatsby waits", ("Gatsby",)),
        ("In Chapter XII, on a Sunday in June, Emma errs", ()),
        ("The Misplaced Pride of Emma", ()),  # set as a title
        ("SELF-DECEIT AND MISPLACED PRIDE IN EMMA", ()),
        ("Self-deceit and Misplaced Pride. She errs, and Gatsby waits", ("Gatsby",)),
        ("it is of Jay Gatsby", ("Jay", "Gatsby")),  # two capitals are not a title
    ],
)
def test_unknown_words_are_names_the_work_never_uses(emma, claim, expected):
    assert unknown_words(claim, emma) == expected


def test_names_are_told_by_how_the_work_prints_them_and_where_it_does_not_by_the_claims_own_capitals():
    pip = make_work(
        [[f"They asked {name} about the pip of an apple, and the heart of {name} beat." for name in ["Joe"] * 4]],
        title="Great Expectations",
    )
    assert without_names("joe is ashamed", pip) == "is ashamed"
    assert without_names("Joe eats a pip", pip) == "eats a pip"
    assert without_names("Heart and hearth of Estella", pip) == "Heart and hearth of"
    assert without_names("Joe is ashamed of Estella’s pride") == "Joe is ashamed of pride"
    assert (
        without_names("The Shame of Poor Pip") == "The Shame of Poor Pip"
    )  # set as a title: its capitals tell nothing
