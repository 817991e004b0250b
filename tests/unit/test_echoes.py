"""What the methods that score echoes do: the formulas by hand, what words count, what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from relic_core.errors import BadRequest
from relic_core.retrieval import echoes
from relic_core.retrieval.echoes import Counted, Filters, Two

LEFT = ["The whale swallowed the prophet in the deep.", "And it came to pass that he wept.", "Nothing at all."]
RIGHT = ["A great fish, a whale, had swallowed him in the deep sea.", "And it came to pass in those days.", "A loaf."]


def two(a=LEFT, b=RIGHT, filters=Filters(), **counting):  # noqa: B008 - frozen
    return Two(Counted.of(a, **counting), Counted.of(b, **counting), filters)


def whole(scorer):
    return scorer(range(len(LEFT)))


def test_soft_cosine_with_the_identity_is_the_cosine():
    a, b = sp.csr_array([[1.0, 2.0]]), sp.csr_array([[2.0, 1.0]])
    plain, soft = echoes.cosine(a, b)(range(1)), echoes.soft_cosine(a, b, sp.eye_array(2).tocsr())(range(1))
    assert plain[0, 0] == pytest.approx(0.8)
    assert soft[0, 0] == pytest.approx(0.8)


def test_soft_cosine_takes_related_words_as_partly_shared():
    alike = sp.csr_array([[1.0, 0.5], [0.5, 1.0]])
    assert echoes.soft_cosine(sp.csr_array([[1.0, 0.0]]), sp.csr_array([[0.0, 1.0]]), alike)(range(1)) == 0.5


def test_tesserae_by_hand():
    assert echoes.tesserae_score(np.array(150.0 + 225), np.array(3.0 + 2)) == pytest.approx(4.317, abs=5e-4)


def test_tesserae_wants_two_shared_words_and_prefers_those_that_stand_together():
    pairs = two(["brass bolt"], ["brass gate", "brass bolt", "brass door and window and wall, bolt"])
    one, near, far = echoes.tesserae(pairs)(range(1))[0]
    assert one == 0 < far < near


@st.composite
def bags(draw):
    sizes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    weights = [np.array(draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)), float) for size in sizes]
    places = draw(st.lists(st.tuples(*[st.floats(-3, 3)] * 2), min_size=sum(sizes), max_size=sum(sizes)))
    points = np.array(places)
    costs = np.linalg.norm(points[: sizes[0], None] - points[None, sizes[0] :], axis=2)
    return weights[0] / weights[0].sum(), weights[1] / weights[1].sum(), costs


@given(bags())
def test_word_movers_distance_is_symmetric_and_never_below_its_bound(bag):
    x, y, costs = bag
    distance = echoes.wmd(x, y, costs)
    assert distance == pytest.approx(echoes.wmd(y, x, costs.T), abs=1e-7)
    assert echoes.relaxed_wmd(x, y, costs) <= distance + 1e-7


def test_word_movers_distance_of_equal_bags_is_nothing():
    pairs = two(["the grey sea at dawn"], ["a loaf of bread", "the grey sea, at dawn", ""])
    scores = echoes.word_movers(pairs, echoes.random_vectors(pairs))(range(1))[0]
    assert scores[1] == pytest.approx(1, abs=1e-6)
    assert scores.argmax() == 1
    assert scores.argmin() == 2


@pytest.mark.parametrize("name", ["bow", "tf-idf", "jaccard", "tesserae", "soft-cosine", "hybrid", "wmd"])
def test_each_method_by_words_finds_the_passage_that_is_echoed(name):
    scorer = echoes.make(
        name, echoes.Passages(tuple(LEFT)), echoes.Passages(tuple(RIGHT)), vectors=echoes.random_vectors
    )
    scores = whole(scorer)
    assert scores.shape == (3, 3)
    assert scores[0].argmax() == 0
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", ["embeddings", "dense-relic", "combined"])
def test_methods_by_meaning_take_the_vectors_of_the_passages(name):
    vectors = np.eye(3, dtype=np.float32)
    left = echoes.Passages(("a loaf", "b", "c"), vectors)
    right = echoes.Passages(("x", "y", "z loaf"), vectors[::-1].copy())
    assert whole(echoes.make(name, left, right)).argmax(axis=1).tolist() == [2, 1, 0]


def test_common_formulas_weigh_little_and_filters_leave_words_out():
    many = ["it came to pass", "it came to pass again", "he came and passed brass"]
    pairs = two(many, many)
    weight = dict(zip(pairs.vocabulary, pairs.weighted()[0].toarray()[2], strict=True))
    assert weight["come"] < weight["brass"]
    filtered = two(many, many, Filters(most=0.5))
    held = dict(zip(filtered.vocabulary, filtered.a.toarray()[2], strict=True))
    assert held["come"] == 0 < held["brass"]
    with pytest.raises(BadRequest):
        two(["once"], ["twice"], Filters(least=5))


def test_the_best_pairs_come_first_and_each_once():
    scorer = echoes.make("tf-idf", echoes.Passages(tuple(LEFT)), echoes.Passages(tuple(RIGHT)))
    every = echoes.best_pairs(scorer, 3, top=100)
    assert [each[:2] for each in echoes.best_pairs(scorer, 3, top=2)] == [each[:2] for each in every[:2]]
    assert [each.score for each in every] == sorted((each.score for each in every), reverse=True)
    assert all(each.score > 0 for each in every)
    assert echoes.rescored(every[::-1], scorer) == every


def test_a_file_of_vectors_of_words_is_read_or_refused_in_words(tmp_path):
    pairs = two(["sea ship"], ["sea boat"])
    good = tmp_path / "good.txt"
    good.write_text("2 2\nsea 1 0\nboat 0 1\n", encoding="utf-8")
    vectors = echoes.read_vectors(good, pairs)
    assert vectors[pairs.vocabulary.index("sea")].tolist() == [1, 0]
    assert not vectors[pairs.vocabulary.index("ship")].any()
    for content in ("sea 1 0\nboat 0 1 2\n", "loaf 1 0\n"):
        bad = tmp_path / "bad.txt"
        bad.write_text(content, encoding="utf-8")
        with pytest.raises(BadRequest):
            echoes.read_vectors(bad, pairs)
    with pytest.raises(BadRequest):
        echoes.read_vectors(tmp_path / "none.txt", pairs)
