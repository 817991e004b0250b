"""Whatever a text holds, its speeches lie in it, in order, and a speaker is a word of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relic_core.text.speech import NARRATOR, WorkSpeech
from tests.making import make_work

WORDS = st.sampled_from(
    [
        *(
            "said",
            "replied",
            "Mr.",
            "Orme",
            "Tamsin",
            "Tamsin's",
            "van",
            "the",
            "she",
            "I",
            "and",
            "_Job_",
            "the Bishop",
        ),
        *("“", "”", "‘", "’", '"', "'", "—", "--", ",", ".", "?", ":", ";", " ", " ", " ", "\n"),
    ]
)
SENTENCE = st.lists(WORDS, max_size=20).map("".join).map(str.strip).filter(bool)
CHAPTERS = st.lists(st.lists(st.lists(SENTENCE, min_size=1, max_size=3), max_size=6), max_size=3)


@given(CHAPTERS)
def test_speeches_lie_in_the_text_in_order_and_name_who_stands_there(chapters):
    work = make_work(*chapters)
    speech = WorkSpeech.of(work)
    words = " ".join(work.text.replace("_", "").split())
    before = 0
    for each in speech.speeches:
        assert before <= each.start < each.end <= len(work.text)
        assert each.speaker in {"", NARRATOR} or each.speaker in words
        before = each.end
    assert len(speech.spoken) == len(work.sentences)
