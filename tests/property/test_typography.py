"""The typography of print: the same words at the same places, whatever the pieces they are set in."""

import re

from hypothesis import given
from hypothesis import strategies as st

from relic_core.text.typography import printed, printed_pieces

TYPED = st.lists(st.text(alphabet="aB '\"-.,‘“—\n", max_size=8), max_size=6)


def bare(text):
    return re.sub("[-—\"'“”‘’]", "", text)


@given(TYPED)
def test_pieces_are_set_as_the_whole_is_and_each_keeps_its_own_words(pieces):
    made = printed_pieces(pieces)
    assert "".join(made) == printed("".join(pieces))
    assert [bare(piece) for piece in made] == [bare(piece) for piece in pieces]


@given(TYPED)
def test_nothing_typed_is_left_and_what_is_set_already_stays(pieces):
    made = printed("".join(pieces))
    assert not re.search("[\"']", made)
    assert printed(made) == made or "--" in made  # two dashes that met are set no further


@given(TYPED)
def test_marks_stay_as_many_and_where_they_were(pieces):
    text = "".join(pieces)
    marks = re.compile("[\"'“”‘’]")
    assert [len(bare(text[: found.start()])) for found in marks.finditer(text)] == [
        len(bare(made[: found.start()])) for made in [printed(text)] for found in marks.finditer(made)
    ]
