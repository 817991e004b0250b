"""The strip of hits: each dot can be told from the others and clicked, however the hits cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_ui.strip import places_of

DOT, STEP = 24, 26


@given(st.lists(st.floats(0, 1), max_size=10))
@pytest.mark.parametrize("width", [290, 700, 1200])
def test_no_dot_of_ten_covers_another_or_leaves_the_strip(width, fractions):
    places = places_of(fractions)
    at = [(lane, fraction * width + aside * STEP) for fraction, (lane, aside) in zip(fractions, places, strict=True)]
    assert all(-1e-6 <= left <= width + 1e-6 for _, left in at)
    for number, (lane, left) in enumerate(at):
        assert all(abs(left - other) >= DOT - 1e-6 for beside, other in at[:number] if beside == lane)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_there_are_two_lanes_whatever_was_found(fractions):
    assert all(lane in {0, 1} for lane, _ in places_of(fractions))
