"""The runner: ranks by the one tie rule, each work prepared once, nothing asked twice."""

import time
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import ContextSize, Span, group_overlapping, rank_scores
from relic_core.errors import BadBenchmark, BadClaim
from relic_core.evaluation.runner import card_rank, gold_rank
from tests.small_benchmark import Counting, SmallBenchmark, outcomes_of

SHAPE = ContextSize(1, 1)


run = partial(outcomes_of, shape=SHAPE)


@given(
    scores=st.lists(st.integers(0, 4), min_size=1, max_size=40).map(lambda each: np.array(each, dtype=np.float32)),
    length=st.integers(1, 4),
    data=st.data(),
)
def test_the_rank_of_a_gold_is_what_sorting_all_candidates_gives(scores, length, data):
    every = np.arange(len(scores))
    kept = data.draw(st.none() | st.sets(st.sampled_from(every.tolist()), min_size=1))
    candidates = None if kept is None else np.array(sorted(kept))
    gold = data.draw(st.sampled_from((every if candidates is None else candidates).tolist()))
    ranking = rank_scores("", "", length, scores).order.tolist()
    order = [start for start in ranking if kept is None or start in kept]
    found = gold_rank(scores, gold, length, candidates)
    assert found.rank == order.index(gold) + 1
    assert found.overlap_rank == next(rank for rank, start in enumerate(order, 1) if abs(start - gold) < length)
    assert found.first == tuple(order[:3])


@given(
    scores=st.lists(st.integers(0, 4), min_size=1, max_size=40).map(lambda each: np.array(each, dtype=np.float32)),
    length=st.integers(1, 4),
    data=st.data(),
)
def test_where_any_of_several_places_answers_cards_are_counted_as_a_page_shows_them(scores, length, data):
    last = len(scores) + length - 2
    starts = data.draw(st.lists(st.integers(0, last), min_size=1, max_size=3))
    accepted = [Span(start, data.draw(st.integers(1, last - start + 1))) for start in starts]
    cards = [group.best.span for group in group_overlapping(rank_scores("", "", length, scores).hits(len(scores)))]
    found = card_rank(scores, accepted, length)
    answers = [any(card.overlaps(place) for place in accepted) for card in cards]
    assert found.rank == (answers.index(True) + 1 if any(answers) else len(scores))
    assert found.first == tuple(card.start for card in cards[:3])


def test_outcomes_come_in_the_order_of_the_benchmark_and_each_work_is_loaded_and_prepared_once():
    benchmark, retriever = SmallBenchmark(10), Counting()
    outcomes = run(benchmark, retriever)
    assert [each.example_id for each in outcomes] == [f"w{number}" for number in range(10)]
    assert benchmark.asked == ["first", "second"]
    assert retriever.prepared == ["The First", "The Second"]


def test_an_outcome_says_where_the_gold_and_the_first_hits_stand():
    benchmark = SmallBenchmark(3)
    window, outcome = benchmark.windows()[2], run(benchmark, Counting())[2]
    work = benchmark.works[window.pool]
    assert work.text[slice(*outcome.gold)] == work.span_text(window.gold)
    assert outcome.candidates == work.candidates(window.gold.length)
    assert outcome.length == window.gold.length
    scores = Counting().score(window.claim(SHAPE), work, window.gold.length)
    best = rank_scores("", "", window.gold.length, scores)
    spans = [hit.span for hit in best.hits(3)]
    assert [work.text[slice(*place)] for place in outcome.first] == [work.span_text(span) for span in spans]
    assert outcome.rank == best.rank_of(window.gold)


def test_only_the_candidates_of_a_benchmark_are_ranked():
    every, second = run(SmallBenchmark(10), Counting()), run(SmallBenchmark(10, every=2), Counting())
    assert all(few.candidates < many.candidates for few, many in zip(second, every, strict=True))
    assert all(few.rank <= many.rank for few, many in zip(second, every, strict=True))


def test_a_gold_that_is_no_candidate_is_refused():
    with pytest.raises(BadBenchmark, match="w2"):
        run(SmallBenchmark(10, every=3), Counting())


def test_a_claim_without_words_has_no_rank():
    class Speechless(Counting):
        def score(self, claim, work, length):
            raise BadClaim("no word")

    first = run(SmallBenchmark(2), Speechless())[0]
    assert (first.rank, first.overlap_rank, first.first) == (None, None, ())
    assert first.candidates > 0


@pytest.mark.parametrize("wrong", [np.full(40, np.nan, np.float32), np.zeros(3, np.float32)])
def test_scores_that_are_no_ranking_are_refused(wrong):
    class Broken(Counting):
        def score(self, claim, work, length):
            return wrong

    with pytest.raises(BadBenchmark, match="not a ranking"):
        run(SmallBenchmark(2), Broken())


def test_what_is_done_is_not_asked_again_and_a_finished_pool_is_not_touched():
    whole = run(SmallBenchmark(10), Counting())
    benchmark, retriever = SmallBenchmark(10), Counting()
    kept = []
    outcomes = run(
        benchmark, retriever, done=[each for each in whole if each.book == "first"],
        keep=lambda outcome, seconds: kept.append((outcome, seconds)),
    )  # fmt: skip
    assert outcomes == whole
    assert benchmark.asked == ["second"]
    assert [outcome.example_id for outcome, _ in kept] == ["w1", "w3", "w5", "w7", "w9"]
    assert all(seconds > 0 for _, seconds in kept)
    assert retriever.answers == 5


def test_what_the_first_answer_loads_is_not_timed():
    class Loading(Counting):
        def __init__(self):
            super().__init__()
            self.loaded = set()

        def score(self, claim, work, length):
            if (work.id, length) not in self.loaded:
                self.loaded.add((work.id, length))
                time.sleep(0.2)
            return super().score(claim, work, length)

    kept, retriever = [], Loading()
    run(SmallBenchmark(4), retriever, keep=lambda outcome, seconds: kept.append(seconds))
    assert len(retriever.loaded) == len(kept) == 4
    assert max(kept) < 0.2
    assert retriever.answers == 4


def test_progress_counts_what_was_done_before():
    told = []
    whole = run(SmallBenchmark(6), Counting())
    run(SmallBenchmark(6), Counting(), done=whole[:2], progress=lambda done, total, note="": told.append((done, total)))
    assert told[0] == (2, 6)
    assert told[-1] == (6, 6)
    assert told == sorted(told)


def test_the_lengths_that_will_be_asked_are_prepared():
    asked = []

    class Asked(Counting):
        def prepare(self, work, progress, *, lengths=()):
            asked.append(tuple(lengths))

    run(SmallBenchmark(10), Asked())
    assert asked == [(1, 2, 3), (1, 2, 3)]
