"""A ranking whose head is reordered: the first thirty by the reranker, the others below as they stood."""

from __future__ import annotations

import numpy as np
import pytest

from relic_core.config import Settings
from relic_core.domain import Claim, Span, rank_scores
from relic_core.errors import BadWeights, NoIndex, RelicError
from relic_core.retrieval import registry, reranked
from relic_core.retrieval.reranked import Reranked, below
from tests.making import make_work
from tests.making_rerankers import CountingReranker, make_cross_encoder
from tests.making_training import make_base

CLAIM = Claim("fox")
WORK = make_work([[f"{'fox ' * (40 - at)}{'z' * (at % 4)} end" for at in range(30)] + ["nothing here"] * 10])


@pytest.fixture
def first():
    return registry.create("bm25", settings=Settings())


def ranked(retriever, length=1, work=WORK):
    scores = retriever.score(CLAIM, work, length)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    return rank_scores("reranked", work.id, length, scores).order.tolist()


def test_the_head_is_in_the_reranker_s_order_and_the_rest_below_as_it_was(first):
    before = rank_scores("bm25", WORK.id, 1, first.score(CLAIM, WORK, 1)).order.tolist()
    reranker = CountingReranker()
    after = ranked(Reranked(first, reranker, top_k=8))
    assert reranker.asked == [[Span(start, 1) for start in before[:8]]]
    assert after[:8] == sorted(before[:8], key=lambda start: (-WORK.sentence_text(start).count("z"), start))
    assert after[8:] == before[8:]
    assert after[:8] != before[:8]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_thirty_are_asked_for_or_all_there_are(first, length):
    reranker = CountingReranker()
    work = make_work([[f"fox {'z' * (at % 7)}" for at in range(31 + length)]])
    after = ranked(Reranked(first, reranker), length, work)
    assert len(reranker.asked[0]) == reranked.TOP_K == 30
    assert sorted(after) == list(range(32))
    ranked(Reranked(first, reranker, top_k=50))
    assert len(reranker.asked[1]) == 40


def test_ties_below_the_head_stay_ties_and_ties_within_it_keep_the_order_of_the_text(first):
    scores = Reranked(first, CountingReranker("q"), top_k=5).score(CLAIM, WORK, 1)
    assert len(set(scores[30:].tolist())) == 1
    assert ranked(Reranked(first, CountingReranker("q"), top_k=5))[:5] == sorted(
        rank_scores("bm25", WORK.id, 1, first.score(CLAIM, WORK, 1)).order.tolist()[:5]
    )


def test_what_the_first_retriever_said_counts_beside_the_reranker(first):
    said = first.score(CLAIM, WORK, 1)
    top_k = rank_scores("bm25", WORK.id, 1, said).order[:8]
    alone, both, other = (
        Reranked(first, CountingReranker(), top_k=8, weight=weight).score(CLAIM, WORK, 1)[top_k]
        for weight in (0, 1, 1e6)
    )
    expected = sum((scores - scores.mean()) / scores.std() for scores in (alone, said[top_k]))
    assert both == pytest.approx(expected, abs=1e-5)
    assert np.argsort(-other, kind="stable").tolist() == list(range(8))
    assert np.argsort(-both, kind="stable").tolist() not in [list(range(8)), np.argsort(-alone, kind="stable").tolist()]


@pytest.mark.parametrize("low", [0.0, -7.25, 3e9, -3e9])
def test_the_rest_is_below_whatever_the_scores_of_the_head(low):
    first = np.linspace(1, 0, 40_000, dtype=np.float32)
    found = np.array([low, low + abs(low) + 1], dtype=np.float32)
    scores = below(found, np.array([0, 1]), np.arange(2, 40_000), first)
    assert rank_scores("a", "b", 1, scores).order.tolist() == [1, 0, *range(2, 40_000)]


def test_a_length_beyond_the_work_asks_nobody(first):
    reranker = CountingReranker()
    assert Reranked(first, reranker).score(CLAIM, WORK, 60).shape == (0,)
    assert not reranker.asked


def test_preparing_is_preparing_the_first_retriever(tmp_path):
    first = registry.create("zero-shot", settings=Settings(indexes=tmp_path))
    retriever = Reranked(first, CountingReranker())
    work = make_work(["The ferry left the quay at dusk."])
    assert not retriever.ready(work, 1)
    with pytest.raises(NoIndex):
        retriever.score(CLAIM, work, 1)
    told = []
    retriever.prepare(work, lambda done, total, note="": told.append((done, total)), lengths=[1])
    assert told
    assert retriever.ready(work, 1)
    assert first.ready(work, 1)
    assert retriever.score(CLAIM, work, 1).shape == (1,)


def test_the_configuration_names_both(first):
    said = Reranked(first, CountingReranker()).configuration
    assert said["first"] == "bm25"
    assert said["head"] == "30"
    assert said["reranker letter"] == "z"
    assert {f"bm25 {name}" for name in first.configuration} <= set(said)
    assert all(isinstance(part, str) and part for pair in said.items() for part in pair)


@pytest.mark.parametrize("given", [np.full(40, np.nan, dtype=np.float32), np.zeros(3, dtype=np.float32)])
def test_scores_that_cannot_be_ranked_by_are_refused(first, given):
    reranker = CountingReranker()
    reranker.rerank = lambda *_: given
    with pytest.raises(RelicError, match="number"):
        Reranked(first, reranker).score(CLAIM, WORK, 1)


def test_it_is_made_from_the_reranker_that_comes_with_the_program(first, tmp_path, monkeypatch):
    monkeypatch.setattr(reranked, "WEIGHTS", tmp_path / "reranker")
    with pytest.raises(BadWeights, match="There is no folder"):
        reranked.create(Settings(), [first])
    make_cross_encoder(tmp_path / "reranker", make_base(tmp_path / "base"))
    retriever = reranked.create(Settings(), [first])
    assert sorted(ranked(retriever)) == list(range(40))
    np.testing.assert_array_equal(retriever.score(CLAIM, WORK, 2), retriever.score(CLAIM, WORK, 2))
