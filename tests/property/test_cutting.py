"""What of a text on both sides of a gap is kept, whatever its length and the room."""

from hypothesis import given
from hypothesis import strategies as st

from relic_core.encoders.cutting import kept

sides = st.integers(0, 40).map(lambda length: list(range(length)))
rooms = st.integers(0, 50)


@given(sides, sides, rooms)
def test_around_a_gap_the_nearest_tokens_are_kept_and_the_room_is_used(left, right, room):
    before, after = (side[part] for side, part in zip((left, right), kept(left, right, room), strict=True))
    assert before == left[len(left) - len(before) :]
    assert after == right[: len(after)]
    assert len(before) + len(after) == min(room, len(left) + len(right))
    assert len(before) >= min(len(left), room // 2)
    assert len(after) >= min(len(right), room // 2)


@given(sides, sides, rooms)
def test_without_a_gap_the_beginning_of_both_sides_together_is_kept(left, right, room):
    before, after = kept(left, right, room, gap=False)
    assert [*left[before], *right[after]] == [*left, *right][:room]


@given(sides, sides, rooms, st.booleans())
def test_what_is_left_out_stands_before_and_behind_what_is_kept(left, right, room, gap):
    before, after = kept(left, right, room, gap=gap)
    assert [*left[: before.start], *left[before], *left[before.stop :]] == left
    assert [*right[after], *right[after.stop :]] == right
