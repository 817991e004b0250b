"""The strip of hits: a dot stands where its passage stands, can be told from the others and clicked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_ui.find.strip import DOT, stacked


@given(st.lists(st.floats(0, 1), max_size=15), st.sampled_from([264, 600]), st.integers(1, 3))
def test_dots_that_would_meet_stand_above_each_other_or_are_ticks_alone(fractions, width, most):
    levels = stacked(fractions, width, most)
    shown = [(level, fraction * width) for level, fraction in zip(levels, fractions, strict=True) if level is not None]
    for at, (level, left) in enumerate(shown):
        assert 0 <= level < most
        assert all(other != level or abs(left - there) >= DOT - 1e-6 for other, there in shown[:at])
    for number, level in enumerate(levels):
        if level is None:
            near = [
                other
                for other, fraction in zip(levels[:number], fractions, strict=False)
                if other is not None and abs(fraction - fractions[number]) * width < DOT
            ]
            assert {*near} == {*range(most)}, "it had no room"


@pytest.mark.parametrize("width", [264, 600])
def test_the_first_passage_always_has_a_dot(width):
    assert stacked([0.5] * 4, width, 2) == [0, 1, None, None]
