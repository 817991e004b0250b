"""The strip of hits: each dot can be told from the others and clicked, however the hits cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_ui.find.strip import asides_of

DOT = 24


@given(st.lists(st.floats(0, 1), max_size=10))
@pytest.mark.parametrize("width", [290, 700, 1200])
def test_no_dot_of_ten_covers_another_or_leaves_the_strip(width, fractions):
    at = [fraction * width + aside for fraction, aside in zip(fractions, asides_of(fractions, 282), strict=True)]
    assert all(-1e-6 <= left <= width + 1e-6 for left in at)
    for number, left in enumerate(at):
        assert all(abs(left - other) >= DOT - 1e-6 for other in at[:number])
