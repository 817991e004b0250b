"""Scores of spans without span vectors: what pooling each span would give."""

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Span
from relic_core.retrieval import sentence_sums
from relic_core.retrieval.sentence_sums import DenseIndex, neighbour_products


def index_of(sums, counts=None):
    products = np.stack([neighbour_products(sums, distance) for distance in range(5)])
    return DenseIndex(sums, products, np.ones(len(sums), dtype=np.int32) if counts is None else counts)


@given(seed=st.integers(0, 2**32 - 1), sentences=st.integers(1, 30), length=st.integers(1, 9))
def test_scores_are_the_cosines_of_explicitly_pooled_spans(seed, sentences, length):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 40, sentences)
    sums = (rng.standard_normal((sentences, 8)) + 0.5).astype(np.float32) * counts[:, None].astype(np.float32)
    query = rng.standard_normal(8).astype(np.float32)
    query /= np.linalg.norm(query)
    means = [sums[i : i + length].sum(0) / counts[i : i + length].sum() for i in range(sentences - length + 1)]
    expected = [float(mean @ query / np.linalg.norm(mean)) for mean in means]
    scores = index_of(sums).score(query, length)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, np.array(expected, dtype=np.float32).reshape(-1), atol=2e-5)
    assert (np.abs(scores) <= 1).all()


@given(seed=st.integers(0, 2**32 - 1), sentences=st.integers(1, 30), length=st.integers(1, 9))
def test_inner_products_are_those_with_the_means_of_explicitly_pooled_spans(seed, sentences, length):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 40, sentences).astype(np.int32)
    sums = (rng.standard_normal((sentences, 8)) * counts[:, None]).astype(np.float32)
    query = rng.standard_normal(8).astype(np.float32) * 3
    spans = range(max(0, sentences - length + 1))
    expected = [float(sums[i : i + length].sum(0) @ query / counts[i : i + length].sum()) for i in spans]
    scores = index_of(sums, counts).score(query, length, "dot")
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, np.array(expected, dtype=np.float32).reshape(-1), atol=1e-3)


def test_threads_that_ask_for_different_lengths_beyond_those_stored_do_not_disturb_each_other(monkeypatch):
    sums = np.random.default_rng(3).standard_normal((40, 8)).astype(np.float32)
    query = np.full(8, 8**-0.5, dtype=np.float32)
    expected = index_of(sums).score(query, 9)
    index = index_of(sums)

    def interrupted(*arguments):
        monkeypatch.undo()
        other = threading.Thread(target=index.score, args=(query, 7))
        other.start()
        other.join()
        return neighbour_products(*arguments)

    monkeypatch.setattr(sentence_sums, "neighbour_products", interrupted)
    np.testing.assert_array_equal(index.score(query, 9), expected)


def test_a_long_work_keeps_the_order_of_near_equal_spans():
    """Cumulative sums in float32 fail this: late in a work they have no digits left."""
    rng = np.random.default_rng(0)
    sums = (rng.standard_normal((40_000, 4)) * 0.01 + 30).astype(np.float32)
    query = np.full(4, 0.5, dtype=np.float32)
    query[0] += 0.1
    query /= np.linalg.norm(query)
    pooled = sum(sums[shift : shift + 39_996].astype(np.float64) for shift in range(5))
    exact = pooled @ query.astype(np.float64) / np.linalg.norm(pooled, axis=1)
    scores = index_of(sums).score(query, 5)
    np.testing.assert_allclose(scores, exact, atol=3e-7)


def test_a_sentence_without_a_direction_scores_zero():
    sums = np.array([[0, 0], [1, 0]], dtype=np.float32)
    assert index_of(sums).score(np.array([1, 0], dtype=np.float32), 1).tolist() == [0, 1]


@given(
    seed=st.integers(0, 2**32 - 1),
    sentences=st.integers(1, 30),
    length=st.integers(1, 9),
    similarity=st.sampled_from(["cosine", "dot"]),
)
def test_some_spans_or_several_questions_get_the_scores_of_all(seed, sentences, length, similarity):
    rng = np.random.default_rng(seed)
    sums = rng.standard_normal((sentences, 8)).astype(np.float32)
    index = index_of(sums, rng.integers(1, 40, sentences).astype(np.int32))
    queries = rng.standard_normal((3, 8)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    whole = np.array([index.score(query, length, similarity) for query in queries])
    np.testing.assert_allclose(next(index.score_many(queries, [length], similarity)).T, whole, atol=1e-5)
    some = np.flatnonzero(rng.random(whole.shape[1]) < 0.4)
    np.testing.assert_array_equal(index.score_some(queries[0], some, length, similarity), whole[0][some])
    products = [queries[0] @ index.vector(Span(int(start), length), similarity) for start in some]
    np.testing.assert_allclose(products, whole[0][some], atol=1e-5)
    np.testing.assert_allclose(
        index.sentence_vectors(similarity) @ queries[0], index.score(queries[0], 1, similarity), atol=1e-5
    )
