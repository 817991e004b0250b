"""Metrics against ir-measures, on random rankings without ties; and what must hold of any ranks."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, P, R, SetF, SetP, SetR, Success, nDCG

from relic_core.config import Settings
from relic_core.domain import ContextSize
from relic_core.evaluation import metrics
from relic_core.evaluation.benchmarks import registry
from relic_core.evaluation.imported import import_ranking
from tests.making_outcomes import outcome
from tests.shelf import Shelf

KS = (1, 3, 5, 10, 50, 100)
ORACLE = {
    **{f"recall@{k}": R @ k for k in KS},
    **{f"p@{k}": P @ k for k in KS},
    **{f"ndcg@{k}": nDCG @ k for k in KS},
    "mrr": RR,
}
JUDGED = {
    **ORACLE,
    **{f"success@{k}": Success @ k for k in KS},
    "set-precision": SetP,
    "set-recall": SetR,
    "f1": SetF,
}


@st.composite
def queries(draw):
    """Rankings of some queries (cut somewhere) and the one gold of each."""
    rankings, relevant = {}, {}
    for number in range(draw(st.integers(1, 4))):
        pool = [f"c{each}" for each in range(draw(st.integers(1, 120)))]
        shuffled = draw(st.permutations(pool))
        query = f"q{number}"
        rankings[query] = shuffled[: draw(st.integers(1, len(pool)))]
        relevant[query] = {draw(st.sampled_from(pool)): 1}
    return rankings, relevant


@st.composite
def judged_queries(draw):
    """Rankings of some queries, cut somewhere, and grades of some of their candidates."""
    rankings, grades = {}, {}
    for number in range(draw(st.integers(1, 4))):
        pool = [f"c{each}" for each in range(draw(st.integers(1, 30)))]
        query = f"q{number}"
        rankings[query] = draw(st.permutations(pool))[: draw(st.integers(1, len(pool)))]
        grades[query] = draw(st.dictionaries(st.sampled_from(pool), st.integers(0, 3), min_size=1))
        grades[query][draw(st.sampled_from(pool))] = draw(st.integers(1, 3))
    return rankings, grades


@given(judged_queries())
@settings(max_examples=40)
def test_graded_metrics_of_qrels_and_runs_are_those_of_ir_measures(tmp_path_factory, case):
    rankings, grades = case
    folder = tmp_path_factory.mktemp("judged")
    qrels = [f"{query} 0 {each} {grade}\n" for query, own in grades.items() for each, grade in own.items()]
    run = [
        f"{query} Q0 {each} 0 {-place} x\n" for query, ranking in rankings.items() for place, each in enumerate(ranking)
    ]
    (folder / "qrels.txt").write_text("".join(qrels), "utf-8")
    (folder / "x.run").write_text("".join(run), "utf-8")
    opened = registry.open_benchmark("judged", settings=Settings(), works=Shelf(), data=folder)
    _, outcomes, _ = import_ranking(opened, folder / "x.run", ContextSize(4, 4))
    oracle = by_oracle(rankings, grades, JUDGED)
    for name, measure in JUDGED.items():
        expected = [oracle[str(measure), each.example_id] for each in outcomes]
        assert metrics.values(name, outcomes).tolist() == pytest.approx(expected, abs=1e-12), name


def by_oracle(rankings, relevant, measures=ORACLE):
    """Per metric and query what ir-measures says; places become scores without ties."""
    run = {
        query: {each: float(len(ranking) - place) for place, each in enumerate(ranking)}
        for query, ranking in rankings.items()
    }
    found = ir_measures.iter_calc(list(measures.values()), relevant, run)
    return {(str(each.measure), each.query_id): each.value for each in found}


@given(queries())
def test_metrics_of_outcomes_are_those_of_ir_measures_for_one_gold(case):
    rankings, relevant = case
    oracle = by_oracle(rankings, relevant)
    outcomes = []
    for query, (gold,) in relevant.items():
        ranking = rankings[query]
        rank = ranking.index(gold) + 1 if gold in ranking else None  # the ranking was cut before it: a miss
        outcomes.append(outcome(query, rank, candidates=120))
    for name, measure in ORACLE.items():
        expected = [oracle[str(measure), query] for query in relevant]
        assert metrics.values(name, outcomes).tolist() == pytest.approx(expected, abs=1e-12), name


ranks = st.integers(1, 500).flatmap(
    lambda candidates: st.none() | st.integers(1, candidates).flatmap(
        lambda rank: st.tuples(st.just(candidates), st.just(rank), st.integers(1, rank))
    )
)  # fmt: skip


@given(st.lists(ranks, min_size=1, max_size=30))
def test_recall_grows_with_k_and_the_tolerant_one_is_never_below_it(cases):
    outcomes = [
        outcome(str(number), None)
        if case is None
        else outcome(str(number), case[1], overlap=case[2], candidates=case[0])
        for number, case in enumerate(cases)
    ]
    strict = np.array([metrics.values(f"recall@{k}", outcomes) for k in KS])
    tolerant = np.array([metrics.values(f"overlap-recall@{k}", outcomes) for k in KS])
    assert np.all(np.diff(strict, axis=0) >= 0)
    assert np.all(tolerant >= strict)
    for name in metrics.names():
        found = metrics.values(name, outcomes)
        assert np.all(np.isfinite(found))
        assert not metrics.metric(name).percent or np.all((found >= 0) & (found <= 1))
        assert found.min() - 1e-12 <= metrics.figure(name, outcomes) <= found.max() + 1e-12
