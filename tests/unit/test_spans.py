"""Agreement on spans, by the paper's formulas worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.errors import BadRequest
from relic_core.evaluation.spans import agreement, consensus, overlap

SPANS = st.tuples(st.integers(-9, 0), st.integers(1, 9))


def test_the_papers_figures():
    found = agreement([[(3, 8), (4, 9)], [(0, 2), (0, 2)]])
    assert found.observed == pytest.approx(0.833, abs=5e-4)
    assert found.expected == 0.75
    assert found.kappa == pytest.approx(0.333, abs=5e-4)
    assert found.perfect == 0.5
    assert found.chance == 0


@given(SPANS, SPANS)
def test_overlap_is_symmetric_and_one_for_equal_spans_alone(s, t):
    assert overlap(s, t) == overlap(t, s)
    assert (overlap(s, t) == 1) == (s == t)


@given(st.lists(SPANS, min_size=1, max_size=4))
def test_the_consensus_overlaps_all_at_least_as_much_as_any_of_them(spans):
    best = consensus(spans)
    assert all(
        sum(overlap(best, each) for each in spans) >= sum(overlap(one, each) for each in spans) - 1e-9 for one in spans
    )


def test_equal_spans_have_no_kappa_and_one_reader_says_nothing():
    assert agreement([[(0, 2), (0, 2)]]).kappa is None
    for items in ([[(0, 2)]], [[(2, 2), (0, 2)]]):
        with pytest.raises(BadRequest):
            agreement(items)
