"""Serving BM25 against rank_bm25, the library the RELiC paper used, and against bm25s's own table."""

from importlib.metadata import version
from itertools import chain

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from relic_core.caching import LRUCache
from relic_core.domain import Claim, rank_scores
from relic_core.errors import BadClaim, BadRequest
from relic_core.retrieval import bm25_reference
from relic_core.retrieval.bm25 import EPSILON, K1, B, Bm25
from relic_core.retrieval.bm25_reference import Bm25Reference
from relic_core.retrieval.words import SpanCounts
from relic_core.text.forms import lemma, lemmas_version
from relic_core.text.words import content_tokens, tokens
from tests.making import make_work

SENTENCES = [
    "The ferry left the quay at dusk.",
    "Nobody saw the ferryman’s face.",
    "“The river is high,” said the ferryman; the ferry shook.",
    "She counted her letters, and burned one.",
    "The river took the ash.",
    "It was what it was.",
    "In the morning the quay was white with frost, and the river still.",
    "A gull stood on the ferry rail.",
    "Letters came for nobody.",
    "The ferry, the ferry, always the ferry!",
    "He wrote that the river had frozen from bank to bank.",
    "Her lamp burned until the morning.",
]
CLAIM = Claim("The ferryman and the river stand for death;", "the burned letters answer the ferry", masked=True)


@pytest.fixture(scope="module")
def work():
    """Return a work long enough for rare words to outweigh common ones, with the ferry in every third sentence."""
    filler = [f"Word{i} met name{i} and place{i}{' by the ferry' if i % 3 == 0 else ''}." for i in range(40)]
    return make_work(SENTENCES, filler)


@pytest.mark.parametrize("length", range(1, 6))
def test_scores_are_those_of_rank_bm25(work, length):
    served = Bm25().score(CLAIM, work, length)
    reference = Bm25Reference().score(CLAIM, work, length)
    np.testing.assert_allclose(served, reference, atol=1e-4)


@pytest.mark.parametrize("length", [1, 3, 5])
def test_with_function_words_too_scores_are_those_of_rank_bm25(work, length):
    words = [tokens(work.sentence_text(index)) for index in range(len(work.sentences))]
    spans = [[*chain.from_iterable(words[start : start + length])] for start in range(work.candidates(length))]
    reference = BM25Okapi(spans, k1=K1, b=B, epsilon=EPSILON)
    served = Bm25(terms="all").score(CLAIM, work, length)
    np.testing.assert_allclose(served, reference.get_scores(tokens(CLAIM.words)), atol=1e-4)
    assert Bm25(terms="all").score(Claim("of the and"), work, length).any()


def test_words_in_more_than_half_of_the_spans_keep_a_small_weight(work):
    """The ferry is in nearly every span of five sentences: its idf is negative, and rank_bm25 raises it."""
    served = Bm25().score(Claim("ferry"), work, 5)
    assert (served > 0).any()
    np.testing.assert_allclose(served, Bm25Reference().score(Claim("ferry"), work, 5), atol=1e-4)


@given(
    sentences=st.lists(st.lists(st.sampled_from("abcdefghijklmnpqrstuvwxyz"), max_size=6), min_size=30, max_size=60),
    length=st.integers(1, 5),
    words=st.lists(st.sampled_from("abcdefghijklmnpqrstuvwxyz"), min_size=1, max_size=8),
)
def test_scores_are_those_of_rank_bm25_on_any_work(sentences, length, words):
    work = make_work([" ".join(f"{word}{word}" for word in sentence) + "." for sentence in sentences])
    claim = Claim(" ".join(f"{word}{word}" for word in words))
    reference = Bm25Reference()
    table = bm25_reference._table(work, length)
    served = Bm25().score(claim, work, length)
    if table is None or table.average_idf >= 0:  # below 0, rank_bm25 would count shared words against a span
        np.testing.assert_allclose(served, reference.score(claim, work, length), atol=1e-4)
    assert (served >= 0).all()


def test_the_table_is_the_one_bm25s_would_make(work):
    """Single sentences: no word is in more than half of them. bm25s leaves out the factor k1 + 1."""
    spans = [content_tokens(work.sentence_text(index)) for index in range(len(work.sentences))]
    table = bm25s.BM25(k1=K1, b=B, method="robertson")
    table.index(spans, show_progress=False)
    expected = table.get_scores(content_tokens(CLAIM.words)) * (K1 + 1)
    np.testing.assert_allclose(Bm25().score(CLAIM, work, 1), expected, atol=1e-5)


@pytest.mark.parametrize("text", ["Наташа и Пьер", "of the and", "xylophone zither"])
def test_a_claim_without_known_words_scores_zero_everywhere(work, text):
    for retriever in (Bm25(), Bm25Reference()):
        assert not retriever.score(Claim(text), work, 2).any()


@pytest.mark.parametrize("text", ["", "  ", "… —", "_"])
def test_a_claim_without_any_word_is_refused(work, text):
    for retriever in (Bm25(), Bm25Reference()):
        with pytest.raises(BadClaim, match="no words"):
            retriever.score(Claim(text), work, 1)


def test_a_work_of_function_words_scores_zero():
    work = make_work(["It was.", "So it is.", "—"])
    for retriever in (Bm25(), Bm25Reference()):
        assert retriever.score(Claim("a ferry"), work, 2).tolist() == [0, 0]


@pytest.mark.parametrize(
    "sentences",
    [
        ["The ferry left."],
        ["The ferry left.", "Nobody spoke."],
        ["The ferry left.", "The ferry came.", "A ferry sank."],
    ],
    ids=["one span", "every word in half of the spans", "a word in all spans"],
)
def test_in_a_tiny_work_shared_words_come_before_none(sentences):
    """All idf of such a work may be 0 or below."""
    scores = Bm25().score(Claim("the ferry"), make_work(sentences), 1)
    shared = np.array(["ferry" in sentence for sentence in sentences])
    assert (scores[shared] > 0).all()
    assert not scores[~shared].any()


def test_in_a_tiny_work_a_rarer_word_still_counts_more():
    work = make_work(["The ferry left.", "The ferry came.", "The ferry sank."])
    assert Bm25().score(Claim("a ferry sank"), work, 1).argmax() == 2


def test_function_words_do_not_count_on_either_side(work):
    plain = Bm25().score(Claim("river"), work, 1)
    padded = Bm25().score(Claim("it was the river of them all"), work, 1)
    np.testing.assert_array_equal(plain, padded)


def test_tables_that_are_not_kept_are_made_again(work, monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.bm25._MOST", 1)
    retriever = Bm25()
    first = retriever.score(CLAIM, work, 1)
    retriever.score(CLAIM, work, 2)
    np.testing.assert_array_equal(retriever.score(CLAIM, work, 1), first)


# ---------------------------------------------------------------- parameters and lemmas


def span_tokens(work, length):
    sentences = [content_tokens(work.sentence_text(index)) for index in range(len(work.sentences))]
    return [[*chain.from_iterable(sentences[at : at + length])] for at in range(work.candidates(length))]


@pytest.mark.parametrize(("k1", "b"), [(0.01, 0.5), (0.5, 0.9), (1.2, 0.75), (3.0, 0.0), (0.9, 0.99)])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_with_any_parameters_scores_are_those_of_rank_bm25(work, k1, b, length):
    expected = BM25Okapi(span_tokens(work, length), k1=k1, b=b, epsilon=EPSILON).get_scores(content_tokens(CLAIM.words))
    np.testing.assert_allclose(Bm25(k1=k1, b=b).score(CLAIM, work, length), expected, atol=1e-4)


def test_with_k1_at_0_a_word_counts_once_however_often_it_stands(work):
    """Here, and in an empty span at b 1, rank_bm25 divides 0 by 0."""
    scores = Bm25(k1=0).score(Claim("ferry"), work, 1)
    assert scores[SENTENCES.index("The ferry, the ferry, always the ferry!")] == scores[0] > 0


@pytest.mark.parametrize("length", [1, 3])
def test_with_lemmas_scores_are_those_of_rank_bm25_over_lemmas(work, length):
    spans = [[lemma(token) for token in span] for span in span_tokens(work, length)]
    asked = [lemma(token) for token in content_tokens(CLAIM.words)]
    expected = BM25Okapi(spans, k1=K1, b=B, epsilon=EPSILON).get_scores(asked)
    np.testing.assert_allclose(Bm25(terms="lemmas").score(CLAIM, work, length), expected, atol=1e-4)


def test_with_lemmas_a_word_is_found_in_another_form(work):
    claim = Claim("It freezes, and she writes it down.")
    assert not Bm25().score(claim, work, 1).any()
    found = Bm25(terms="lemmas").score(claim, work, 1)
    assert [work.sentence_text(int(at)) for at in np.flatnonzero(found)] == [SENTENCES[10]]


def test_other_parameters_are_tried_without_counting_anew(work, monkeypatch):
    Bm25().score(CLAIM, work, 2)
    monkeypatch.setattr(SpanCounts, "of", None)
    assert not np.allclose(Bm25(k1=2.0).score(CLAIM, work, 2), Bm25(k1=2.0, b=0.1).score(CLAIM, work, 2))


def test_counts_that_are_not_kept_are_made_again(work, monkeypatch):
    first = Bm25().score(CLAIM, work, 1)
    monkeypatch.setattr("relic_core.retrieval.words._kept", LRUCache(1, lambda counts: counts.nbytes))
    Bm25().score(CLAIM, work, 2)
    np.testing.assert_array_equal(Bm25().score(CLAIM, work, 1), first)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k1": -0.1}, "k1 is -0.1"), ({"k1": float("nan")}, "k1 is nan"), ({"k1": float("inf")}, "k1 is inf"),
        ({"b": 1.1}, "b is 1.1; BM25 takes a number from 0 to 1"), ({"b": float("nan")}, "b is nan"),
        ({"terms": "stems"}, "'stems'; it counts tokens, lemmas, all"),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(given, message):
    with pytest.raises(BadRequest, match=message):
        Bm25(**given)


def test_the_configuration_tells_every_parameter():
    plain = {"k1": "0.5", "b": "0.9", "words": "words/1", "code": "bm25/1", "bm25s": version("bm25s")}
    assert Bm25().configuration == plain
    assert Bm25(k1=1, b=0).configuration == {**plain, "k1": "1.0", "b": "0.0"}
    assert Bm25(terms="lemmas").configuration == {**plain, "words": lemmas_version()}


def test_the_configuration_of_the_reference_names_its_library_and_its_code():
    said = Bm25Reference().configuration
    assert (said["rank_bm25"], said["code"]) == (version("rank_bm25"), "bm25-reference/1")


@pytest.mark.corpus
def test_the_first_ten_are_those_of_rank_bm25_on_a_novel(shared):
    text = (shared / "corpus" / "primary" / "daisy_miller.txt").read_text(encoding="utf-8")
    sentences = [part.strip() for part in text.replace("\n", " ").split(". ") if part.strip()]
    novel = make_work(sentences)
    claim = Claim(
        "Winterbourne judges the young American girl by the standards of Geneva.",
        "Her mother and her courier let her walk in Rome with Giovanelli.",
        masked=True,
    )
    for length in range(1, 6):
        served = rank_scores("bm25", novel.id, length, Bm25().score(claim, novel, length))
        reference = rank_scores("r", novel.id, length, Bm25Reference().score(claim, novel, length))
        np.testing.assert_allclose(served.scores, reference.scores, atol=1e-4)
        assert served.order[:10].tolist() == reference.order[:10].tolist()
