"""Fusion over many works: scores against all of them, works that one ranking lacks, spans not found."""

from __future__ import annotations

import numpy as np
import pytest

from relic_core.domain import Claim, Corpus, Ranking
from relic_core.retrieval.fusion import Fusion, fuse
from tests.making import make_work


def ranking(found, *, works=("a", "b"), exact=True, candidates=None, length=1, name="one"):
    """Make a ranking of ``{(work, start): score}``."""
    places = sorted(found, key=lambda place: (works.index(place[0]), place[1]))
    return Ranking(
        retriever=name,
        length=length,
        works=works,
        work=np.array([works.index(work) for work, _ in places], dtype=np.int32),
        start=np.array([start for _, start in places], dtype=np.int32),
        scores=np.array([found[place] for place in places], dtype=np.float32),
        candidates=len(found) if candidates is None else candidates,
        exact=exact,
    )


def scores_of(fused):
    return {
        (fused.works[work], int(start)): pytest.approx(float(score))
        for work, start, score in zip(fused.work, fused.start, fused.scores, strict=True)
    }


UNIT = (3 / 2) ** 0.5
"""How far the least and the greatest of three even steps are from their mean, in standard deviations."""


def test_scores_are_standardised_over_all_works():
    first = ranking({("a", 0): 3, ("a", 1): 1, ("b", 0): 2})
    second = ranking({("a", 0): 1, ("a", 1): 2, ("b", 0): 3}, name="bm25")
    fused = fuse([first, second])
    assert scores_of(fused) == {("a", 0): 0.85 * UNIT, ("a", 1): -UNIT, ("b", 0): 0.15 * UNIT}
    assert (fused.retriever, fused.candidates, fused.exact) == ("fusion", 3, True)


def test_spans_that_one_did_not_find_get_the_least_of_it():
    everything = ranking({("a", 0): 3, ("a", 1): 2, ("b", 0): 1})
    some = ranking({("b", 0): 0.9, ("a", 1): 0.5}, exact=False, candidates=3)
    for rankings in ([everything, some], [some, everything]):
        fused = fuse(rankings)
        assert scores_of(fused) == {("a", 0): UNIT - 1, ("a", 1): -1, ("b", 0): 1 - UNIT}
        assert (fused.candidates, fused.exact) == (3, False)


def test_two_that_found_different_spans_are_joined():
    first = ranking({("a", 4): 1, ("b", 2): 2}, exact=False, candidates=50)
    second = ranking({("a", 1): 1, ("b", 2): 2}, exact=False, candidates=50)
    fused = fuse([first, second])
    assert scores_of(fused) == {("a", 1): -2, ("a", 4): -2, ("b", 2): 2}
    assert fused.hits(1)[0].work_id == "b"
    assert fused.candidates == 50


def test_works_that_one_lacks_are_left_out_and_nothing_is_counted_of_them():
    words = ranking({("a", 0): 9, ("b", 0): 8, ("b", 1): 7, ("c", 0): 10}, works=("c", "a", "b"), name="bm25")
    meaning = ranking({("b", 0): 0.2, ("b", 1): 0.4}, works=("b",))
    fused = fuse([words, meaning])
    assert fused.works == ("b",)
    assert scores_of(fused) == {("b", 0): -0.85, ("b", 1): 0.85}
    assert (fused.candidates, fused.exact) == (2, True)


def test_rankings_without_a_common_work_give_nothing():
    fused = fuse([ranking({("a", 0): 1}, works=("a",)), ranking({("b", 0): 1}, works=("b",))])
    assert (len(fused), fused.works) == (0, ())


@pytest.mark.parametrize("rankings", [[], [ranking({("a", 0): 1}), ranking({("a", 0): 1}, length=2)]])
def test_rankings_of_different_lengths_are_refused(rankings):
    with pytest.raises(ValueError, match="same length"):
        fuse(rankings)


def test_rankings_with_their_works_in_another_order_are_refused():
    with pytest.raises(ValueError, match="same order"):
        fuse([ranking({("a", 0): 1}), ranking({("a", 0): 1}, works=("b", "a"))])


class Fixed:
    """Ranks every sentence by how many of its letters the claim has; lacks some works."""

    calibration = None

    def __init__(self, name, *, lacks=(), sign=1):
        self.name, self.lacks, self.sign, self.asked = name, lacks, sign, []

    def missing(self, works, *lengths):
        return tuple(work.id for work in works if work.id in self.lacks)

    def rank(self, claim, corpus, length, *, like=None):
        works = corpus.versions
        self.asked.append(([work.id for work in works], like))
        found = {(work.id, at): self.sign * at for work in works for at in range(work.candidates(length))}
        return ranking(found, works=tuple(work.id for work in works), length=length, name=self.name)


def test_it_asks_its_components_for_the_works_that_none_lacks():
    works = [make_work(["One.", "Two.", f"{title}."], title=title).version for title in ("Ay", "Bee", "Cee")]
    a, b, c = works
    parts = [Fixed("meaning", lacks={b.id}), Fixed("words", lacks={a.id}, sign=2)]
    fusion = Fusion(parts)
    assert fusion.missing(works, 1) == (a.id, b.id)
    fused = fusion.rank(Claim("two"), Corpus(tuple(works), pytest.fail), 1, like=(c, "passage"))
    assert [part.asked for part in parts] == [[([c.id], (c, "passage"))]] * 2
    assert fused.works == (c.id,)
    assert fused.order.tolist() == [2, 1, 0]
    assert fused.scores[2] == pytest.approx(2 * UNIT)
