"""Whatever is cut from a work is found where it was cut."""

import random

from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Span
from relic_core.text.placing import Places
from tests.making import make_work

WORDS = st.text(st.sampled_from("aehilmnorstuwéß"), min_size=1, max_size=9)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=12)
MARKS = st.sampled_from([" ", "  ", " -- ", ", ", "\n", "” “", "… "])


@st.composite
def spans(draw):
    sentences = draw(SENTENCES)
    start = draw(st.integers(0, len(sentences) - 1))
    return sentences, Span(start, draw(st.integers(1, len(sentences) - start)))


@given(spans(), st.data())
def test_a_span_is_found_whatever_stands_between_its_words(cut, data):
    sentences, span = cut
    words = " ".join(sentences[span.start : span.end]).split()
    passage = "".join(word.upper() + data.draw(MARKS) for word in words)
    found = {place.span: place for place in Places(make_work([sentences])).find(passage)}
    assert found[span].whole


@given(st.integers(0, 2**32), st.data())
def test_slips_and_lost_words_move_nothing(seed, data):
    chance = random.Random(seed)
    sentences = [
        " ".join(
            "".join(chance.choices("aehilmnorstuwy", k=chance.randint(2, 8))) for _ in range(chance.randint(12, 16))
        )
        for _ in range(20)
    ]
    span = Span(data.draw(st.integers(0, 15)), data.draw(st.integers(1, 5)))
    words = " ".join(sentences[span.start : span.end]).split()
    lost = data.draw(st.integers(3, len(words) - 4))
    slip = data.draw(st.integers(3, len(words) - 4))
    words[slip] = f"q{words[slip][1:]}"
    del words[lost]
    (place,) = Places(make_work([sentences])).find(" ".join(words), least=0.5)
    assert place.span == span


@given(SENTENCES, st.text(max_size=80))
def test_what_is_found_lies_in_the_work(sentences, passage):
    work = make_work([sentences])
    for place in Places(work).find(passage, least=0.0):
        assert place.span.length >= 1
        assert 0 <= place.span.start < place.span.end <= len(work.sentences)
        assert 0 <= place.agreement <= 1
        assert 0 < place.coverage <= 1
