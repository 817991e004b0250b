"""Whatever a text holds, its dialogue is a part of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relic_core.text.dialogue import dialogue_of
from tests.making import make_work

WORDS = st.sampled_from(
    [
        *("he", "She", "don", "s", "tis", "boys", "1815", "“Yes,”", "‘No,’", "'em", "th’"),
        *("“", "”", "‘", "’", '"', "'", "«", "»", "—", "--", "_", ",", ".", "?", "(", ")"),
        *(" ", " ", " ", "\n"),
    ]
)
SENTENCE = st.lists(WORDS, max_size=20).map("".join).map(str.strip).filter(bool)
CHAPTERS = st.lists(st.lists(st.lists(SENTENCE, min_size=1, max_size=3), max_size=6), max_size=3)


@given(CHAPTERS)
def test_the_parts_sum_up_and_no_share_leaves_its_bounds(chapters):
    work = make_work(*chapters)
    found = dialogue_of(work)
    assert len(found.chapters) == len(work.chapters)
    assert found.whole.words == sum(len(work.sentence_text(n).split()) for n in range(len(work.sentences)))
    for part in (*found.chapters, found.whole):
        assert 0 <= part.spoken <= part.words
        assert 0.0 <= part.share <= 1.0


@given(CHAPTERS)
def test_a_work_without_marks_has_no_dialogue(chapters):
    bare = [[[s.translate(str.maketrans("“”‘’\"'«»—-", " " * 10)) or "a" for s in p] for p in c] for c in chapters]
    assert dialogue_of(make_work(*bare)).whole.spoken == 0
