"""Lemmas: one dictionary word for every form of a word."""

from __future__ import annotations

import numpy as np
import pytest

from relic_core.text import forms
from relic_core.text.forms import lemma, lemmas_version, work_lemmas
from relic_core.text.words import STOPWORDS, content_tokens
from tests.making import make_work


@pytest.mark.parametrize(
    "alike",
    [
        "go goes went gone going goeth", "lamp lamps", "man men", "child children", "think thinks thought thoughts",
        "leave leaves left leaving", "write wrote written writing", "bring brings brought", "feel felt feeling",
        "freeze froze frozen freezes", "good better best", "bad worse worst", "begin began begun", "old older eldest",
        "bid bids bade", "speak spoke spake spoken", "happy happier happiest",
    ],
)  # fmt: skip
def test_the_forms_of_a_word_are_one_word(alike):
    assert len({lemma(form) for form in alike.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("princess", "prince"), ("news", "new"), ("forest", "fore"), ("earnest", "earn")]
)
def test_what_only_looks_like_a_form_is_a_word_of_its_own(one, other):
    assert lemma(one) != lemma(other)


@pytest.mark.parametrize("token", ["zzyzx", "1851", "d'artagnan", "natasha", "наташа", "a", "x"])
def test_an_unknown_word_is_its_own_lemma(token):
    assert lemma(token) == token


@pytest.mark.parametrize("token", ["likes", "liked", "ones", "owned", "wills", "art", "nearer"])
def test_a_word_never_becomes_a_function_word(token):
    assert token not in STOPWORDS
    assert lemma(token) not in STOPWORDS


@pytest.mark.parametrize(
    "way", [{"ab": "cd", "cd": "ab", "abs": "cd"}, {"ab": "cd", "cd": "ef", "ef": "ab", "a": "ef"}]
)
def test_words_that_are_each_the_others_lemma_are_one_word(monkeypatch, way):
    monkeypatch.setattr("relic_core.text.forms.lemmas", lambda word: frozenset({way[word]}))
    assert [lemma.__wrapped__(word) for word in way] == ["ab"] * len(way)


def test_erasure_and_erasures_are_one_word():
    assert lemma("erasure") == lemma("erasures") == "erasure"


def test_the_lemmas_of_a_work_are_those_of_its_content_tokens_sentence_by_sentence():
    work = make_work([["The men thought of lamps.", "It was what it was.", "A man thinks, and a lamp went out."]])
    words = work_lemmas(work)
    names = list(words.vocabulary)
    found = [[names[i] for i in words.ids[words.starts[s.index] : words.starts[s.index + 1]]] for s in work.sentences]
    assert found == [["man", "think", "lamp"], [], ["man", "think", "lamp", "go"]]
    assert found == [[lemma(token) for token in content_tokens(work.sentence_text(s.index))] for s in work.sentences]
    assert words.ids.dtype == np.int32


def test_a_work_without_words_has_no_lemmas():
    assert work_lemmas(make_work(["It was.", "—"])).ids.shape == (0,)


def test_each_different_word_is_looked_up_once(monkeypatch):
    asked = []
    monkeypatch.setattr("relic_core.text.forms.lemma", lambda token: asked.append(token) or forms.lemmas(token))
    work_lemmas(make_work([["Qwerty ferries!", "Ferries and qwerty, ferries."], ["Qwerty."]]))
    assert sorted(asked) == ["ferries", "qwerty"]


def test_the_version_names_words_rule_and_dictionary():
    assert lemmas_version() == "words/1, lemmas/2, simplemma 2.0.0"


@pytest.mark.corpus
def test_lemmas_of_a_novel_are_fewer_and_settle_at_once(shared):
    """A lemma is its own lemma, so that claims and works are looked up alike; pairs that go round are allowed few."""
    text = (shared / "corpus" / "primary" / "daisy_miller.txt").read_text(encoding="utf-8")
    tokens = set(content_tokens(text))
    lemmas = {lemma(token) for token in tokens}
    assert 0.6 < len(lemmas) / len(tokens) < 0.9
    assert [each for each in lemmas if lemma(each) != each] == []
