"""The set of composed claims, the fit of its probabilities, and what is measured on it."""

import numpy as np
import pytest

from relic_core.domain import QuotationContext, Span, rank_scores
from relic_core.evaluation.calibrating import draw, fit_sigmoid
from tools import composed
from tools.composed import (
    FEWEST,
    MOST,
    TEMPLATES,
    answers,
    best_thresholds,
    compose_queries,
    measured,
    threshold_of,
)


def window(number, first, length):
    left = (f"Claim {number} says that something of weight has come to pass.",)
    return QuotationContext(id=f"w{number:02}", book="b", pool="b", left=left, right=(), gold=Span(first, length))


WINDOWS = [window(number, 3 * number, 5) for number in range(8)]


def test_queries_have_the_answers_of_their_template_and_are_the_same_each_time():
    queries = list(compose_queries(WINDOWS, 5))
    assert queries == list(compose_queries(WINDOWS, 5))
    quoted = {each.id: frozenset(range(each.gold.start, each.gold.end)) for each in WINDOWS}
    for query in queries:
        assert len(set(query.windows)) == len(TEMPLATES[query.template])
        assert FEWEST <= len(query.answers) <= MOST
        assert set(query.answers) == answers(query.template, [quoted[each] for each in query.windows])
    assert {query.template for query in queries} >= {"A", "A or B", "A and B", "A not B", "A or B or C"}
    assert len(queries) == len({(query.template, frozenset(query.windows), query.windows[-1]) for query in queries})


def test_a_query_is_answered_when_all_its_sentences_are_found_and_none_beside():
    (query, *_) = [each for each in compose_queries(WINDOWS, 40) if each.template == "A"]
    found = np.full(40, 0.01)
    found[list(query.answers)] = 0.5
    right = measured(found, query)
    assert (right.mrecall(5), right.mrecall(4), right.f1(0.4)) == (1.0, 0.0, 1.0)
    found = np.concatenate([found[:-5], np.full(5, 0.6)])
    assert measured(found, query).f1(0.4) == pytest.approx(2 * 5 / (10 + 5))
    assert measured(found, query).mrecall(5) == 0.0
    chosen = best_thresholds([query], [right])
    assert right.f1(threshold_of(query, chosen)) == 1.0


def test_the_drawn_golds_lie_in_the_quotation_and_the_sigmoid_tells_them_from_the_others():
    scored = []
    for each in WINDOWS:
        scores = np.zeros(60, dtype=np.float32)
        scores[each.gold.start : each.gold.end] = 1
        scored.append(draw(each, rank_scores("x", "b", 1, scores), 20))
    assert all(len(each.scores) == 21 and each.scores[0] > each.scores[1:].max() for each in scored)
    sigmoid = fit_sigmoid(np.concatenate([each.scores for each in scored]), np.array(([True] + [False] * 20) * 8))
    assert sigmoid(scored[0].scores)[0] > 0.5 > sigmoid(scored[0].scores)[1]


@pytest.mark.usefixtures("run")
def test_a_set_on_one_work_is_measured_too(tmp_path, capsys):
    made = tmp_path / "composed.json"
    assert composed.main(["build", "sample", "--most", "2", "--out", str(made)]) == 0
    assert composed.main(["measure", str(made), "--retriever", "bm25"]) == 0
    assert "intervals over examples" in capsys.readouterr().out
