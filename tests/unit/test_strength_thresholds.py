"""Thresholds of strength: set so that few hits in another book pass, and chosen on data that nothing is reported on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.errors import BadRequest
from relic_core.evaluation.calibrating import BestHit, set_thresholds
from relic_core.ports import silent
from relic_core.wiring import build
from tests.fake_retrievers import use_fakes
from tests.small_benchmark import SmallBenchmark
from tools.tune.strength import BARE, Question, choose_thresholds, left_out, level_of


def drawn(count=300, *, gap=0.15, foreign=0.0, seed=3):
    """Draw hits of claims about three works; in another work scores are lower, and higher for foreign words."""
    rng = np.random.default_rng(seed)
    hits = []
    for at in range(count):
        about = "abc"[at % 3]
        for own in (True, False):
            share = float(rng.uniform(0, 0.3) if own else rng.uniform(0.2, 0.8))
            score = float(rng.normal(0.5 if own else 0.5 - gap, 0.05)) + foreign * share
            hits.append(BestHit(about=about, own=own, score=score, share=share, named=bool(rng.random() < 0.2)))
    return hits


def shares(hits, levels, *, own):
    held = [level for hit, level in zip(hits, levels, strict=True) if hit.own == own]
    return {level: held.count(level) / len(held) for level in ("strong", "fair", "weak")}


def test_so_many_hits_in_other_books_pass_as_were_allowed():
    hits = drawn()
    thresholds = set_thresholds(hits, fair=0.1, strong=0.02)
    passed = shares(hits, [level_of(hit, thresholds) for hit in hits], own=False)
    assert passed["strong"] == pytest.approx(0.02, abs=0.005)
    assert passed["strong"] + passed["fair"] == pytest.approx(0.1, abs=0.005)
    assert thresholds.strong > thresholds.fair


def test_foreign_words_raise_the_threshold_where_they_tell_books_apart():
    assert set_thresholds(drawn(gap=0.0)).per_unknown > 0.05
    told = drawn(gap=0.0)
    assert shares(told, left_out(told), own=True)["weak"] < 0.3


def test_a_name_raises_the_threshold_only_where_it_tells_something():
    told = [replace(hit, named=not hit.own) for hit in drawn(gap=0.05)]
    assert set_thresholds(told).if_named > set_thresholds(drawn(gap=0.05)).if_named


@given(st.integers(0, 1000), st.floats(-1, 1))
def test_a_shift_of_all_scores_shifts_the_thresholds(seed, shift):
    hits = drawn(30, seed=seed)
    moved = [replace(hit, score=hit.score + shift) for hit in hits]
    here, there = set_thresholds(hits), set_thresholds(moved)
    assert there.strong - here.strong == pytest.approx(shift, abs=1e-6)
    assert there.per_unknown == pytest.approx(here.per_unknown, abs=1e-6)


def test_each_work_is_judged_by_thresholds_set_without_it():
    hits = drawn(60)
    # The claims about one work score high everywhere: thresholds that knew them would stand higher.
    odd = [replace(hit, score=hit.score + 0.5) if hit.about == "a" else hit for hit in hits]
    levels = left_out(odd)
    of_a = [level for hit, level in zip(odd, levels, strict=True) if hit.about == "a"]
    assert set(of_a) == {"strong"}


def test_without_other_works_there_is_nothing_to_set_thresholds_by():
    with pytest.raises(BadRequest, match="two works or more"):
        set_thresholds([hit for hit in drawn(9) if hit.own])
    with pytest.raises(BadRequest, match="two works or more"):
        left_out([hit for hit in drawn(9) if hit.about == "a"])


@pytest.fixture
def bench(settings, monkeypatch):
    bench = build(settings)
    use_fakes(bench)
    monkeypatch.setattr(bench.benchmarks, "open", lambda name, data=None: SmallBenchmark(split=name))
    return bench


def test_claims_of_every_shape_are_asked_of_their_own_work_and_of_others(bench):
    thresholds, table = choose_thresholds(bench, Question(benchmark="dev"), progress=silent)
    assert thresholds.strong >= thresholds.fair
    assert [row[:2] for row in table.rows[:6]] == [
        (shape, where) for shape in ("4/4", "1/1", BARE) for where in ("its own work", "another")
    ]
    assert {row[-1] for row in table.rows[:6]} == {"10"}
    for row in table.rows[:6]:
        assert sum(figure.value for figure in row[2:5]) == pytest.approx(100)
    assert f"strong {thresholds.strong:.3f}" in table.notes[0]


def test_thresholds_are_not_chosen_on_what_is_reported_nor_for_words(bench):
    with pytest.raises(BadRequest, match="choices are made on dev"):
        choose_thresholds(bench, Question(benchmark="test"), progress=silent)
    with pytest.raises(BadRequest, match="BM25 compares no vectors"):
        choose_thresholds(bench, Question(benchmark="dev", retriever="bm25"), progress=silent)
    with pytest.raises(BadRequest, match="At least 1 window"):
        choose_thresholds(bench, Question(benchmark="dev", others=0), progress=silent)
