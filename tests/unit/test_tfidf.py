"""TF-IDF over spans, held to the formula written out word by word."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Claim, Span
from relic_core.errors import BadClaim
from relic_core.retrieval.tfidf import TfIdf
from relic_core.text.forms import lemma
from relic_core.text.words import content_tokens
from tests.making import make_work

LETTERS = "abcdefghijklm"


def written_out(claim, work, length):
    """Score every span by the formula, one text and one word at a time."""
    texts = [terms(work.span_text(Span(start, length))) for start in range(work.candidates(length))]
    holding = Counter(term for text in texts for term in text)

    def vector(counts):
        return {
            term: (1 + math.log(tf)) * math.log(1 + len(texts) / holding[term])
            for term, tf in counts.items()
            if term in holding
        }

    asked = vector(terms(claim.words))
    return [cosine(asked, vector(text)) for text in texts]


def terms(text):
    return Counter(lemma(token) for token in content_tokens(text))


def cosine(a, b):
    product = sum(weight * b.get(term, 0.0) for term, weight in a.items())
    return product / math.sqrt(norm(a) * norm(b)) if product else 0.0


def norm(vector):
    return sum(weight * weight for weight in vector.values())


@given(
    sentences=st.lists(st.lists(st.sampled_from(LETTERS), max_size=6), min_size=1, max_size=30),
    length=st.integers(1, 5),
    words=st.lists(st.sampled_from(LETTERS), min_size=1, max_size=8),
)
def test_scores_are_the_formula_on_any_work(sentences, length, words):
    work = make_work([" ".join(f"{word}{word}x" for word in sentence) + "." for sentence in sentences])
    claim = Claim(" ".join(f"{word}{word}x" for word in words))
    scores = TfIdf().score(claim, work, length)
    np.testing.assert_allclose(scores, written_out(claim, work, length), atol=1e-6)
    assert ((scores >= 0) & (scores <= 1)).all()


@pytest.fixture(scope="module")
def work():
    return make_work(
        ["The ferry left the quay at dusk.", "The ferries, the ferry!", "She counted her letters and burned one.",
         "It was what it was.", "The river took the ash, and the ferry took the river.", "He burns a letter."],
    )  # fmt: skip


@pytest.mark.parametrize("length", range(1, 7))
def test_scores_are_the_formula_on_prose(work, length):
    claim = Claim("Burning letters; the letter burned,", "and ferries left for nowhere", masked=True)
    np.testing.assert_allclose(TfIdf().score(claim, work, length), written_out(claim, work, length), atol=1e-6)


def test_a_word_is_found_in_another_form(work):
    scores = TfIdf().score(Claim("burnt"), work, 1)
    assert np.flatnonzero(scores).tolist() == [2, 5]


def test_a_passage_of_the_claims_own_words_scores_one(work):
    assert TfIdf().score(Claim("a letter that he burns"), work, 1)[5] == pytest.approx(1.0)


def test_function_words_do_not_count_on_either_side(work):
    plain, padded = (TfIdf().score(Claim(text), work, 1) for text in ("river", "it was the river of them all"))
    np.testing.assert_array_equal(plain, padded)


@pytest.mark.parametrize("text", ["Наташа и Пьер", "of the and", "xylophone zither"])
def test_a_claim_without_known_words_scores_zero_everywhere(work, text):
    assert not TfIdf().score(Claim(text), work, 2).any()


@pytest.mark.parametrize("text", ["", "  ", "… —"])
def test_a_claim_without_any_word_is_refused(work, text):
    with pytest.raises(BadClaim, match="no words"):
        TfIdf().score(Claim(text), work, 1)


def test_a_word_of_every_span_still_tells_a_shared_word_from_none():
    scores = TfIdf().score(Claim("the ferry"), make_work(["The ferry left.", "The ferry came."]), 1)
    assert (scores > 0).all()


def test_spans_of_the_same_words_tie(work):
    twice = make_work(["The ferry left.", "Nobody spoke.", "Left, the ferry!"])
    scores = TfIdf().score(Claim("a ferry that left"), twice, 1)
    assert scores[0] == scores[2]


def test_weights_that_are_not_kept_are_made_again(work, monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.tfidf._MOST", 1)
    retriever = TfIdf()
    first = retriever.score(Claim("ferry"), work, 1)
    retriever.score(Claim("ferry"), work, 2)
    np.testing.assert_array_equal(retriever.score(Claim("ferry"), work, 1), first)


@pytest.mark.corpus
def test_scores_are_the_formula_on_a_novel(shared):
    text = (shared / "corpus" / "primary" / "daisy_miller.txt").read_text(encoding="utf-8")
    novel = make_work([part.strip() for part in text.replace("\n", " ").split(". ") if part.strip()])
    claim = Claim("Winterbourne judges the young American girl by the standards of Geneva.")
    for length in (1, 5):
        np.testing.assert_allclose(TfIdf().score(claim, novel, length), written_out(claim, novel, length), atol=1e-6)
