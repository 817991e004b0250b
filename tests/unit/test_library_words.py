"""BM25 over many works at once, held to `Bm25` for one work and to rank_bm25 over the spans of all."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from relic_core.domain import Claim, Corpus, Span, rank_scores
from relic_core.errors import BadClaim, NotFound
from relic_core.retrieval.bm25 import EPSILON, K1, B, Bm25
from relic_core.retrieval.postings import Postings
from relic_core.text.words import WorkWords, content_tokens
from tests.making import make_work

LETTERS = "abcdefghijklm"
SENTENCES = st.lists(st.lists(st.sampled_from(LETTERS), max_size=6), min_size=1, max_size=20)
WORDS = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=8)

FERRY = make_work(
    ["The ferry left the quay at dusk.", "Nobody saw the ferryman’s face.", "The ferry, the ferry, always the ferry!"],
    ["The river is high, said the ferryman; the ferry shook.", "She counted her letters, and burned one."],
    title="The Ferry",
)
ORCHARD = make_work(
    ["In the morning the orchard was white with frost.", "A fox crossed the orchard, and the river.", "So it was."],
    title="The Orchard",
)
MISER = make_work(["The miser counted his coins; the letters he burned."], title="The Miser")
EMPTY = make_work([], title="Nothing")
SHELF = [FERRY, ORCHARD, MISER, EMPTY]
CLAIM = Claim(
    "The ferryman and the river stand for death;", "the burned letters answer the ferry, the ferry", masked=True
)


def double(words):
    """Spell words of one letter so that none is a function word."""
    return " ".join(f"{word}{word}x" for word in words)


def prose(sentences, title):
    return make_work([double(words) + "." for words in sentences], title=title)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("words")


@pytest.fixture
def library(folder):
    return Bm25(indexes=folder)


def copies_apart(works):
    """Give each work an id of its own, also where two have the same text."""
    return [replace(work, id=f"{work.id}-{number}") for number, work in enumerate(works)]


def corpus(works, load=None):
    by_id = {work.id: work for work in works}
    return Corpus(tuple(work.version for work in works), load or by_id.__getitem__)


def reference(claim, works, length):
    """Score every span of some works by rank_bm25, as one collection; also gives the average idf."""
    spans = [
        content_tokens(work.span_text(Span(start, length)))
        for work in works
        for start in range(work.candidates(length))
    ]
    if not any(spans):
        return np.zeros(len(spans)), 0.0
    table = BM25Okapi(spans, k1=K1, b=B, epsilon=EPSILON)
    return table.get_scores(content_tokens(claim.words)), table.average_idf


# ---------------------------------------------------------------- one work


@given(sentences=SENTENCES, length=st.integers(1, 7), words=WORDS)
def test_one_work_is_scored_and_ordered_as_by_itself(folder, sentences, length, words):
    work, claim = prose(sentences, "One"), Claim(double(words))
    alone = Bm25().score(claim, work, length)
    ranking = Bm25(indexes=folder).rank(claim, corpus([work]), length)
    np.testing.assert_allclose(ranking.scores, alone, atol=1e-5)
    order = rank_scores("bm25", work.id, length, alone).order
    assert ranking.order.tolist() == order.tolist()


@settings(max_examples=40)
@given(
    sentences=SENTENCES,
    others=st.lists(SENTENCES, max_size=3),
    length=st.integers(1, 5),
    words=WORDS,
    at=st.integers(0, 3),
)
def test_one_of_the_works_that_are_held_is_scored_as_if_the_others_were_not(
    folder, sentences, others, length, words, at
):
    work, claim = prose(sentences, "One"), Claim(double(words))
    shelf = [prose(each, f"Other {number}") for number, each in enumerate(others)]
    assume(len({each.sha256 for each in [work, *shelf]}) == 1 + len(shelf))  # a store holds no text twice
    shelf.insert(at, work)
    library = Bm25(indexes=folder)
    library.rank(claim, corpus(shelf), length)
    found = library.rank(claim, corpus([work]), length)
    np.testing.assert_allclose(found.scores, Bm25().score(claim, work, length), atol=1e-5)


@pytest.mark.parametrize("options", [{"k1": 1.2, "b": 0.75}, {"k1": 0.0}, {"b": 0.0}, {"terms": "lemmas"}])
@pytest.mark.parametrize("length", [1, 3])
def test_parameters_and_lemmas_count_as_for_one_work(folder, options, length):
    found = Bm25(indexes=folder, **options).rank(CLAIM, corpus([FERRY]), length)
    np.testing.assert_allclose(found.scores, Bm25(**options).score(CLAIM, FERRY, length), atol=1e-5)
    assert found.retriever == Bm25(**options).name


# ---------------------------------------------------------------- many works


@settings(max_examples=40)
@given(shelf=st.lists(SENTENCES, min_size=1, max_size=5), length=st.integers(1, 6), words=WORDS)
def test_works_are_scored_as_rank_bm25_scores_their_spans_together(folder, shelf, length, words):
    works = copies_apart([prose(sentences, f"Work {number}") for number, sentences in enumerate(shelf)])
    claim = Claim(double(words))
    ranking = Bm25(indexes=folder).rank(claim, corpus(works), length)
    expected, average = reference(claim, works, length)
    assert len(ranking) == len(expected) == ranking.candidates
    if average >= 0.001:  # near or below 0, rank_bm25 would count shared words for nothing or against a span
        np.testing.assert_allclose(ranking.scores, expected, atol=1e-4)


@settings(max_examples=40)
@given(shelf=st.lists(SENTENCES, min_size=2, max_size=5, unique_by=str), length=st.integers(1, 5), words=WORDS)
def test_works_that_came_one_by_one_rank_as_works_that_came_together(folder, shelf, length, words):
    works = [prose(sentences, f"Work {number}") for number, sentences in enumerate(shelf)]
    claim = Claim(double(words))
    slowly = Bm25(indexes=folder)
    for last in range(1, len(works)):
        slowly.rank(claim, corpus(works[-last:]), length)
    found, expected = (each.rank(claim, corpus(works), length) for each in (slowly, Bm25(indexes=folder)))
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)
    np.testing.assert_array_equal(found.work, expected.work)
    np.testing.assert_array_equal(found.start, expected.start)


@pytest.mark.parametrize("length", range(1, 6))
def test_every_span_is_named_by_its_work_and_start(library, length):
    ranking = library.rank(CLAIM, corpus(SHELF), length)
    expected = [(work.id, start) for work in SHELF for start in range(work.candidates(length))]
    assert [(ranking.works[at], start) for at, start in zip(ranking.work, ranking.start, strict=True)] == expected
    assert ranking.works == tuple(work.id for work in SHELF)
    assert ranking.exact


def test_no_span_crosses_from_one_work_into_the_next(library):
    """The last sentence of one work and the first of the next hold the claim's words between them."""
    ranking = library.rank(Claim("letters orchard"), corpus(SHELF), 2)
    for at in range(len(ranking)):
        work = next(work for work in SHELF if work.id == ranking.works[ranking.work[at]])
        text = work.span_text(Span(int(ranking.start[at]), 2))
        assert (ranking.scores[at] > 0) == ("letters" in text or "orchard" in text)


def test_ties_keep_the_order_of_the_works_asked_for(folder):
    works = copies_apart([make_work(["The ferry left.", "Nobody spoke."])] * 2)
    library = Bm25(indexes=folder)
    for order in (works, works[::-1]):
        best = library.rank(Claim("the ferry left"), corpus(order), 1).hits(2)
        assert [hit.work_id for hit in best] == [work.id for work in order]


def test_a_narrowed_search_weighs_words_by_the_works_searched(library):
    """The orchard is rare in the library, and in two of three sentences of its own work."""
    library.rank(Claim("orchard"), corpus(SHELF), 1)
    narrowed = library.rank(Claim("orchard"), corpus([ORCHARD]), 1)
    np.testing.assert_allclose(narrowed.scores, Bm25().score(Claim("orchard"), ORCHARD, 1), atol=1e-6)
    assert narrowed.scores.max() < library.rank(Claim("orchard"), corpus(SHELF), 1).scores.max()


@pytest.mark.parametrize("text", ["zzyzx", "of the and", "Наташа"])
def test_words_that_no_work_uses_score_zero(library, text):
    ranking = library.rank(Claim(text), corpus(SHELF), 1)
    assert len(ranking) == 9
    assert not ranking.scores.any()


@pytest.mark.parametrize("works", [[], [EMPTY], [MISER]])
def test_where_there_is_no_span_none_is_ranked(library, works):
    ranking = library.rank(CLAIM, corpus(works), 2)
    assert (len(ranking), ranking.candidates, ranking.hits(3)) == (0, 0, ())


@pytest.mark.parametrize("works", [[], SHELF])
def test_a_claim_without_words_is_refused(library, works):
    with pytest.raises(BadClaim, match="no words"):
        library.rank(Claim("—"), corpus(works), 1)


def test_no_work_is_ever_missing(library):
    assert library.missing(corpus(SHELF).versions, 3) == ()


# ---------------------------------------------------------------- what is held


def known_by(work):
    return f"{work.id} {work.fingerprint}"


def test_texts_are_loaded_once_and_not_in_the_next_start(tmp_path):
    loaded = []
    by_id = {work.id: work for work in SHELF}

    def load(work_id):
        loaded.append(work_id)
        return by_id[work_id]

    for _ in range(2):
        library = Bm25(indexes=tmp_path)
        for length in (1, 2):
            library.rank(CLAIM, corpus(SHELF, load), length)
    assert sorted(loaded) == sorted(by_id)


def test_a_new_work_is_added_to_those_that_are_held(folder, monkeypatch):
    library = Bm25(indexes=folder)
    library.rank(CLAIM, corpus(SHELF[:3]), 1)
    added = []
    extended = Postings.extended

    def watched(self, words):
        words = list(words)
        added.append([work for work, _ in words])
        return extended(self, words)

    monkeypatch.setattr(Postings, "extended", watched)
    library.rank(CLAIM, corpus(SHELF), 1)
    library.rank(CLAIM, corpus(SHELF[1:]), 1)
    assert added == [[known_by(EMPTY)]]


def test_works_that_are_not_asked_for_go_where_too_many_would_be_held(folder, monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.bm25._MOST_SENTENCES", 6)
    library = Bm25(indexes=folder)
    library.rank(CLAIM, corpus([FERRY]), 1)
    library.rank(CLAIM, corpus([ORCHARD, MISER]), 1)
    assert set(library._held.postings.works) == {known_by(ORCHARD), known_by(MISER)}
    whole = library.rank(CLAIM, corpus(SHELF), 1)  # larger than the limit: it is answered all the same
    np.testing.assert_array_equal(whole.scores, Bm25(indexes=folder).rank(CLAIM, corpus(SHELF), 1).scores)


def test_threads_that_ask_for_different_works_get_their_own_answers(folder):
    library = Bm25(indexes=folder)
    wanted = [[FERRY], [ORCHARD, FERRY], SHELF, [MISER]]
    expected = [Bm25(indexes=folder).rank(CLAIM, corpus(works), 1).scores for works in wanted]
    wrong = []

    def ask(number):
        for _ in range(20):
            found = library.rank(CLAIM, corpus(wanted[number]), 1).scores
            if not np.allclose(found, expected[number], atol=1e-6):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_work_that_is_gone_before_its_words_are_read_is_passed_over(tmp_path):
    there = {work.id: work for work in SHELF if work is not ORCHARD}

    def load(work_id):
        if work_id not in there:
            raise NotFound(f"There is no work '{work_id}'.")
        return there[work_id]

    library = Bm25(indexes=tmp_path)
    ranking = library.rank(CLAIM, corpus(SHELF, load), 1)
    assert ranking.works == tuple(there)
    expected = Bm25(indexes=tmp_path).rank(CLAIM, corpus(there.values()), 1)
    np.testing.assert_array_equal(ranking.scores, expected.scores)
    np.testing.assert_array_equal(ranking.work, expected.work)
    nothing = library.rank(CLAIM, corpus([ORCHARD], load), 1)
    assert (len(nothing), nothing.candidates, nothing.works) == (0, 0, ())


def test_a_search_of_works_that_are_held_does_not_wait_for_words_that_another_reads(tmp_path):
    by_id = {work.id: work for work in SHELF}
    reading, go_on = threading.Event(), threading.Event()

    def load(work_id):
        if work_id == ORCHARD.id:
            reading.set()
            assert go_on.wait(20)
        return by_id[work_id]

    library = Bm25(indexes=tmp_path)
    expected = library.rank(CLAIM, corpus([FERRY]), 1).scores
    with ThreadPoolExecutor(2) as pool:
        try:
            whole = pool.submit(library.rank, CLAIM, corpus(SHELF, load), 1)
            assert reading.wait(20)
            held = pool.submit(library.rank, CLAIM, corpus([FERRY]), 1)
            np.testing.assert_array_equal(held.result(10).scores, expected)
            pool.submit(library.rank, CLAIM, corpus([FERRY, MISER]), 1).result(10)
            assert not whole.done()
        finally:
            go_on.set()
        assert len(whole.result(20)) == sum(work.candidates(1) for work in SHELF)
    assert set(library._held.postings.works) == {known_by(work) for work in SHELF}, "the larger are kept"


@pytest.mark.corpus
def test_a_novel_is_scored_as_by_itself_and_two_as_by_rank_bm25(shared, tmp_path):
    novels = []
    for name in ("daisy_miller", "ethan_frome"):
        text = (shared / "corpus" / "primary" / f"{name}.txt").read_text(encoding="utf-8")
        novels.append(
            make_work([part.strip() for part in text.replace("\n", " ").split(". ") if part.strip()], title=name)
        )
    claim = Claim(
        "Winterbourne judges the young American girl by the standards of Geneva.",
        "Her mother and her courier let her walk in Rome with Giovanelli; she came, said the old man, in the snow.",
        masked=True,
    )
    library = Bm25(indexes=tmp_path)
    for length in range(1, 6):
        together = library.rank(claim, corpus(novels), length)
        np.testing.assert_allclose(together.scores, reference(claim, novels, length)[0], atol=1e-4)
        alone = rank_scores("bm25", novels[0].id, length, Bm25().score(claim, novels[0], length))
        found = library.rank(claim, corpus(novels[:1]), length)
        np.testing.assert_allclose(found.scores, alone.scores, atol=1e-5)
        assert found.order.tolist() == alone.order.tolist()


def test_sentences_of_all_works_are_counted(library):
    library.rank(CLAIM, corpus(SHELF), 1)
    assert library._held.postings.sentences == sum(len(work.sentences) for work in SHELF)
    assert set(chain.from_iterable(WorkWords.of(work).vocabulary for work in SHELF)) == set(
        library._held.postings.vocabulary
    )
