"""Spans, ranks, ties and groups: the conventions stated at the top of `relic_core.domain`."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Span, group_overlapping, rank_scores
from relic_core.retrieval.fusion import fuse
from tests.making import make_work

SCORES = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0]), max_size=40).map(
    lambda s: np.array(s, dtype=np.float32)
)
LENGTHS = st.integers(1, 5)


def ranking(scores, *, length=1, name="demo"):
    return rank_scores(name, "work", length, scores)


@given(st.integers(0, 12), LENGTHS)
def test_candidates_are_all_spans_that_fit(sentences, length):
    work = make_work([f"Sentence {i}." for i in range(sentences)])
    spans = [Span(start, length) for start in range(work.candidates(length))]
    assert len(spans) == max(0, sentences - length + 1)
    assert all(span.end <= sentences for span in spans)
    for span in spans:
        assert work.span_text(span).startswith(work.sentence_text(span.start))
        assert work.span_text(span).endswith(work.sentence_text(span.end - 1))


@given(SCORES)
def test_ranks_are_a_permutation_from_one(scores):
    ranked = ranking(scores)
    assert sorted(ranked.ranks.tolist()) == list(range(1, len(scores) + 1))
    assert [ranked.rank_of(hit.span) for hit in ranked.hits(len(scores))] == list(range(1, len(scores) + 1))


@given(SCORES)
def test_scores_fall_and_ties_keep_the_order_of_the_text(scores):
    hits = ranking(scores).hits(len(scores))
    for better, worse in pairwise(hits):
        assert (better.score, -better.span.start) > (worse.score, -worse.span.start)


@given(SCORES, st.integers(0, 60))
def test_more_than_all_is_all_and_fewer_are_the_first_of_them(scores, k):
    ranked = ranking(scores)
    assert len(ranked.hits(k)) == min(k, len(scores))
    assert ranked.hits(k) == ranked.hits(len(scores))[:k]


@given(SCORES, st.sampled_from([1, 4, 0.5]))
def test_the_scale_of_scores_does_not_matter(scores, factor):
    assert ranking(scores).order.tolist() == ranking(scores * np.float32(factor)).order.tolist()


@given(SCORES, LENGTHS, st.integers(1, 30))
def test_groups_hold_each_hit_once_and_their_bests_do_not_overlap(scores, length, k):
    hits = ranking(scores, length=length).hits(k)
    groups = group_overlapping(hits)
    members = [hit for group in groups for hit in (group.best, *group.others)]
    assert sorted(members, key=lambda hit: hit.rank) == list(hits)
    bests = [group.best for group in groups]
    assert not any(a.span.overlaps(b.span) for i, a in enumerate(bests) for b in bests[i + 1 :])
    assert [best.rank for best in bests] == sorted(best.rank for best in bests)
    for group in groups:
        assert all(group.best.span.overlaps(other.span) and other.rank > group.best.rank for other in group.others)


@given(st.integers(1, 30), st.integers(1, 4), st.randoms(use_true_random=False))
def test_fusion_ignores_the_order_of_its_rankings(candidates, count, random):
    rankings = [
        ranking(np.array([random.choice([0, 0.5, 1]) for _ in range(candidates)], dtype=np.float32))
        for _ in range(count)
    ]
    shuffled = random.sample(rankings, count)
    np.testing.assert_array_equal(fuse(rankings).scores, fuse(shuffled).scores)


@given(SCORES)
def test_fusing_a_ranking_with_itself_keeps_its_order(scores):
    one = ranking(scores)
    assert fuse([one, one]).order.tolist() == one.order.tolist()


@given(SCORES, SCORES)
def test_a_span_that_is_better_in_every_ranking_is_better_fused(first, second):
    size = min(len(first), len(second))
    a, b = ranking(first[:size]), ranking(second[:size])
    fused = fuse([a, b]).scores
    for i in range(size):
        for j in range(size):
            if a.scores[i] > a.scores[j] and b.scores[i] > b.scores[j]:
                assert fused[i] > fused[j]
