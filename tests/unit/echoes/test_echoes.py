"""What the methods that score echoes do: the formulas by hand, what words count, what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from relic_core.echoes import scoring
from relic_core.echoes.scoring import Counted, Filters, Two
from relic_core.errors import BadRequest
from tests.making import write_wordnet

LEFT = ["The whale swallowed the prophet in the deep.", "And it came to pass that he wept.", "Nothing at all."]
RIGHT = ["A great fish, a whale, had swallowed him in the deep sea.", "And it came to pass in those days.", "A loaf."]


def two(a=LEFT, b=RIGHT, filters=Filters(), **counting):  # noqa: B008 - frozen
    return Two(Counted.of(a, **counting), Counted.of(b, **counting), filters)


def whole(scorer):
    return scorer(range(len(LEFT)))


def test_soft_cosine_with_the_identity_is_the_cosine():
    a, b = sp.csr_array([[1.0, 2.0]]), sp.csr_array([[2.0, 1.0]])
    plain, soft = scoring.cosine(a, b)(range(1)), scoring.soft_cosine(a, b, sp.eye_array(2).tocsr())(range(1))
    assert plain[0, 0] == pytest.approx(0.8)
    assert soft[0, 0] == pytest.approx(0.8)


def test_soft_cosine_takes_related_words_as_partly_shared():
    alike = sp.csr_array([[1.0, 0.5], [0.5, 1.0]])
    assert scoring.soft_cosine(sp.csr_array([[1.0, 0.0]]), sp.csr_array([[0.0, 1.0]]), alike)(range(1)) == 0.5


def test_tesserae_by_hand():
    assert scoring.tesserae_score(np.array(150.0 + 225), np.array(3.0 + 2)) == pytest.approx(4.317, abs=5e-4)


def test_tesserae_wants_two_shared_words_and_prefers_those_that_stand_together():
    pairs = two(["brass bolt"], ["brass gate", "brass bolt", "brass door and window and wall, bolt"])
    one, near, far = scoring.tesserae(pairs)(range(1))[0]
    assert one == 0 < far < near


BAGS = st.lists(st.sampled_from(["sea", "ship", "dawn", "loaf", "brass"]), min_size=1, max_size=5).map(" ".join)


@given(BAGS, st.lists(BAGS | st.just(""), min_size=1, max_size=4).filter(any), st.integers(1, 3))
def test_word_movers_distance_is_symmetric_never_below_its_bound_and_puts_the_computed_first(bag, others, exact):
    pairs, back = two([bag], others), two(others, [bag])
    whole, bounds, some = (
        scoring.word_movers(pairs, scoring.random_vectors(pairs), exact=number)(range(1))[0] for number in (9, 0, exact)
    )
    vectors = dict(zip(pairs.vocabulary, scoring.random_vectors(pairs), strict=True))
    turned = scoring.word_movers(back, np.stack([vectors[term] for term in back.vocabulary]))(range(len(others)))
    assert turned[:, 0] == pytest.approx(whole, abs=1e-5)
    assert (whole <= bounds + 1e-6).all()
    computed = np.argsort(-bounds, kind="stable")[:exact]
    assert some[computed] == pytest.approx(whole[computed], abs=1e-6)
    assert np.delete(some, computed).max(initial=0) <= some[computed].min() + 1e-6


def test_the_last_word_counts_where_an_empty_passage_comes_last():
    last, first = (two(["sea"], ["loaf sea", *rest]) for rest in (["", ""], []))
    scores = [
        scoring.word_movers(each, scoring.random_vectors(each), exact=0)(range(1))[0, 0] for each in (last, first)
    ]
    assert scores[0] == scores[1]


def test_word_movers_distance_of_equal_bags_is_nothing():
    pairs = two(["the grey sea at dawn"], ["a loaf of bread", "the grey sea, at dawn", ""])
    scores = scoring.word_movers(pairs, scoring.random_vectors(pairs))(range(1))[0]
    assert scores[1] == pytest.approx(1, abs=1e-6)
    assert scores.argmax() == 1
    assert scores.argmin() == 2


@pytest.mark.parametrize("name", ["bow", "tf-idf", "jaccard", "tesserae", "soft-cosine", "hybrid", "wmd"])
def test_each_method_by_words_finds_the_passage_that_is_echoed(name):
    scorer = scoring.make(
        name, scoring.Passages(tuple(LEFT)), scoring.Passages(tuple(RIGHT)), vectors=scoring.random_vectors
    )
    scores = whole(scorer)
    assert scores.shape == (3, 3)
    assert scores[0].argmax() == 0
    assert np.isfinite(scores).all()


def test_by_lot_words_that_differ_are_about_half_alike_so_that_the_control_is_not_tf_idf(monkeypatch):
    alike = scoring.random_similarity(50)
    assert (alike == alike.T).all()
    assert (np.diag(alike) == 1).all()
    others = alike[~np.eye(50, dtype=bool)]
    assert others.mean() == pytest.approx(0.5, abs=0.01)
    assert others.std() > 0
    sides = [scoring.Passages(("the grey sea",)), scoring.Passages(("a loaf", "the grey sea", "a grey loaf"))]
    scores = whole(scoring.make("soft-cosine", *sides, vectors=scoring.random_vectors))[0]
    assert 0 < scores[0] < scores[2] < scores[1]
    monkeypatch.setattr(scoring, "_DRAWN", 2)
    with pytest.raises(BadRequest):
        scoring.make("soft-cosine", *sides, vectors=scoring.random_vectors)


@pytest.mark.parametrize("name", ["embeddings", "dense-relic", "combined"])
def test_methods_by_meaning_take_the_vectors_of_the_passages(name):
    vectors = np.eye(3, dtype=np.float32)
    left = scoring.Passages(("a loaf", "b", "c"), vectors)
    right = scoring.Passages(("x", "y", "z loaf"), vectors[::-1].copy())
    assert whole(scoring.make(name, left, right)).argmax(axis=1).tolist() == [2, 1, 0]


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
    scorer = scoring.make("tf-idf", scoring.Passages(tuple(LEFT)), scoring.Passages(tuple(RIGHT)))
    every = scoring.best_pairs(scorer, 3, top=100)
    assert [each[:2] for each in scoring.best_pairs(scorer, 3, top=2)] == [each[:2] for each in every[:2]]
    assert [each.score for each in every] == sorted((each.score for each in every), reverse=True)
    assert all(each.score > 0 for each in every)
    assert scoring.rescored(every[::-1], scorer) == every


def test_a_file_of_vectors_of_words_is_read_or_refused_in_words(tmp_path):
    pairs = two(["sea ship"], ["sea boat"])
    good = tmp_path / "good.txt"
    good.write_text("2 2\nsea 1 0\n\nboat 0 1\n\n", encoding="utf-8")
    vectors = scoring.read_vectors(good, pairs)
    assert vectors[pairs.vocabulary.index("sea")].tolist() == [1, 0]
    assert not vectors[pairs.vocabulary.index("ship")].any()
    for content in ("sea 1 0\nboat 0 1 2\n", "loaf 1 0\n"):
        bad = tmp_path / "bad.txt"
        bad.write_text(content, encoding="utf-8")
        with pytest.raises(BadRequest):
            scoring.read_vectors(bad, pairs)
    with pytest.raises(BadRequest):
        scoring.read_vectors(tmp_path / "none.txt", pairs)


def test_words_are_alike_by_wordnet_as_far_as_they_share_meanings_and_what_is_above_them(tmp_path):
    folder = write_wordnet(
        tmp_path / "dict",
        index_noun=(
            "ship n 1 1 @ 1 0 00000001",
            "vessel n 2 1 @ 2 0 00000001 00000003",
            "boat n 1 1 @ 1 0 00000002",
            "bottle n 1 1 @ 1 0 00000003",
        ),
        data_noun=(
            "00000001 06 n 02 ship 0 vessel 0 001 @ 00000004 n 0000 | a large craft",
            "00000002 06 n 01 boat 0 001 @ 00000004 n 0000 | a small craft",
            "00000003 06 n 02 bottle 0 vessel 1 000 | a container",
            "00000004 06 n 01 craft 0 000 | what floats",
        ),
    )
    pairs = two(["ship vessel storm"], ["boat bottle"])
    made = dict(zip(pairs.vocabulary, scoring.wordnet_vectors(folder, pairs), strict=True))

    def alike(one, other):
        return made[one] @ made[other] / np.linalg.norm(made[one]) / np.linalg.norm(made[other])

    # Directions: ship and half of craft; boat and half of craft; a vessel is a ship, and by half a bottle.
    assert alike("ship", "vessel") == pytest.approx(1.25 / (1.25 * 1.5) ** 0.5, abs=0.1)
    assert alike("ship", "boat") == pytest.approx(0.25 / 1.25, abs=0.1)
    assert alike("boat", "bottle") == pytest.approx(0, abs=0.1)
    assert not made["storm"].any()


def test_what_stands_above_several_meanings_counts_for_each_and_an_adjective_is_above_those_like_it(tmp_path):
    folder = write_wordnet(
        tmp_path / "dict",
        index_noun=("ship n 2 1 @ 2 0 00000001 00000002", "craft n 1 0 1 0 00000003"),
        data_noun=(
            "00000001 06 n 01 ship 0 001 @ 00000003 n 0000 | one",
            "00000002 06 n 01 ship 0 001 @ 00000003 n 0000 | two",
            "00000003 06 n 01 craft 0 000 | both",
        ),
        index_adj=("big a 1 1 & 1 0 00000004", "huge a 1 1 & 1 0 00000005", "vast a 1 1 & 1 0 00000006"),
        data_adj=(
            "00000004 00 a 01 big 0 002 & 00000005 a 0000 & 00000006 a 0000 | the head",
            "00000005 00 s 01 huge 0 001 & 00000004 a 0000 | like it",
            "00000006 00 s 01 vast 0 001 & 00000004 a 0000 | like it",
        ),
    )
    pairs = two(["ship craft"], ["big huge vast"])
    made = dict(zip(pairs.vocabulary, scoring.wordnet_vectors(folder, pairs), strict=True))

    def share(word, other):
        return made[word] @ made[other] / (made[other] @ made[other])

    assert share("ship", "craft") == pytest.approx(0.75, abs=0.1), "half of one and of a half"
    assert share("huge", "big") == pytest.approx(0.5, abs=0.1)
    assert share("vast", "huge") == pytest.approx(0.25 / 1.25, abs=0.1), "by what is above both"


def test_what_is_no_wordnet_or_has_none_of_the_words_is_refused_in_words(tmp_path):
    pairs = two(["sea ship"], ["sea boat"])
    empty = write_wordnet(tmp_path / "empty")
    cut = write_wordnet(
        tmp_path / "cut", index_noun=("ship n 1 1 @ 1 0 00000001",), data_noun=("00000001 06 n 01 ship",)
    )
    for folder in (tmp_path, empty, cut):
        with pytest.raises(BadRequest):
            scoring.wordnet_vectors(folder, pairs)
