"""BM25 over what stands around a span: against the formula worked out document by document."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Claim, Corpus, Span
from relic_core.evaluation.benchmarks.passages import work_of as work_of_passages
from relic_core.retrieval.bm25 import K1, B
from relic_core.retrieval.surroundings import BLOCK, HALVES, Surroundings
from tests.making import make_work

WORDS = ("frost", "lamp", "river", "miser", "fox")


def work_of(sentences, title="A"):
    return make_work([[f"{' '.join(words)}.".capitalize() for words in sentences]], title=title)


def documents(sentences, half):
    """Give the words of each block with those on either side of it."""
    borders = [(max(0, at - half * BLOCK), at + (half + 1) * BLOCK) for at in range(0, len(sentences), BLOCK)]
    return [list(chain(*sentences[first:end])) for first, end in borders]


def expected(claim, works):
    """Score the blocks of works, each a list of sentences that are lists of words."""
    scores = [[0.0] * math.ceil(len(work) / BLOCK) for work in works]
    for half in HALVES:
        each = [documents(work, half) for work in works]
        every = [document for some in each for document in some]
        average = sum(map(len, every)) / len(every)
        for word in claim:
            holding = sum(word in document for document in every)
            idf = math.log(1 + (len(every) - holding + 0.5) / (holding + 0.5))
            for of, some in zip(scores, each, strict=True):
                for at, document in enumerate(some):
                    count = document.count(word)
                    of[at] += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * len(document) / average))
    return scores


SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=3, max_size=70)


@given(
    st.lists(SENTENCES, min_size=1, max_size=3, unique_by=str),
    st.lists(st.sampled_from([*WORDS, "unheard"]), min_size=1),
)
def test_a_span_has_the_scores_of_the_documents_around_its_middle(texts, claim):
    works = [work_of(text, title=f"Work {number}") for number, text in enumerate(texts)]
    corpus = Corpus(tuple(work.version for work in works), {work.id: work for work in works}.__getitem__)
    ranking = Surroundings().rank(Claim(" ".join(claim)), corpus, 3)
    for work, blocks in zip(works, expected(claim, texts), strict=True):
        found = ranking.scores[ranking.part(work.id)]
        assert found == pytest.approx([blocks[(start + 1) // BLOCK] for start in range(work.candidates(3))], rel=1e-4)


def test_one_work_is_scored_as_a_library_of_one_whatever_was_asked_before():
    works = [work_of([[word] * 2] * 30, title=word) for word in ("frost", "lamp")]
    retriever, claim = Surroundings(), Claim("frost and lamp")
    alone = [retriever.score(claim, work, 1) for work in works]
    both = Corpus(tuple(work.version for work in works), {work.id: work for work in works}.__getitem__)
    retriever.rank(claim, both, 1)
    for work, scores in zip(works, alone, strict=True):
        assert np.array_equal(retriever.score(claim, work, 1), scores)


def test_around_passages_that_do_not_follow_each_other_nothing_stands():
    sentences = [["frost"]] * 9 + [["lamp"]]
    given, running = (
        work_of_passages("Pool", {str(at): f"{words[0]}." for at, words in enumerate(sentences)}, ""),
        work_of(sentences),
    )
    corpus = Corpus((given.version, running.version), {work.id: work for work in (given, running)}.__getitem__)
    ranking = Surroundings().rank(Claim("lamp"), corpus, 1)
    assert not ranking.scores[ranking.part(given.id)].any()
    assert np.array_equal(ranking.scores[ranking.part(running.id)], Surroundings().score(Claim("lamp"), running, 1))


def test_a_passage_is_not_looked_for_in_its_own_scene():
    work = work_of([["frost", "lamp"]] * 9)
    asked = {"claim": Claim("frost"), "corpus": Corpus.of(work), "length": 1}
    assert Surroundings().rank(**asked).scores.any()
    assert not Surroundings().rank(**asked, like=(work.version, Span(0, 1))).scores.any()


def test_a_rare_word_counts_as_in_a_long_work():
    sentences = [["frost"]] * 900
    sentences[411] = ["lamp"]
    blocks = expected(["lamp"], [sentences])[0]
    found = Surroundings().score(Claim("lamp"), work_of(sentences), 1)
    assert found == pytest.approx([blocks[start // BLOCK] for start in range(900)], rel=1e-4)


def test_no_more_words_are_held_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.bm25._MOST_SENTENCES", 100)
    retriever = Surroundings()
    for at in range(8):
        works = [work_of([[word] * (at + 1)] * 30) for word in ("frost", "lamp")]
        texts = {work.id: work for work in works}
        retriever.rank(Claim("frost"), Corpus(tuple(work.version for work in works), texts.__getitem__), 1)
        assert retriever._held.postings.sentences * BLOCK <= 100


def test_a_work_without_spans_or_words_has_no_scores_or_zeros():
    assert Surroundings().rank(Claim("frost"), Corpus.of(make_work([])), 1).scores.shape == (0,)
    assert Surroundings().score(Claim("frost"), work_of([["frost"]]), 2).shape == (0,)
    assert not Surroundings().score(Claim("frost"), make_work([["It was he.", "It was she."]]), 1).any()
