"""Postings: spans put together from sentences, held to the words of their texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Span
from relic_core.retrieval.postings import Postings
from relic_core.text.words import WorkWords, content_tokens
from tests.making import make_work

SHELVES = st.lists(
    st.lists(st.lists(st.sampled_from("abcdefghijklm"), max_size=6), min_size=1, max_size=20),
    min_size=1,
    max_size=4,
    unique_by=str,
)


@given(shelf=SHELVES, length=st.integers(1, 7))
def test_spans_that_hold_a_word_are_those_whose_sentences_do(shelf, length):
    works = [make_work([" ".join(f"{word}{word}x" for word in words) + "." for words in each]) for each in shelf]
    postings = Postings.none().extended((work.fingerprint, WorkWords.of(work)) for work in works)
    block = {work.fingerprint: postings.works[work.fingerprint].start for work in works}
    spans = {
        block[work.fingerprint] + start: content_tokens(work.span_text(Span(start, length)))
        for work in works
        for start in range(work.candidates(length))
    }
    holding = postings.holding([work.fingerprint for work in works], length)
    sizes = postings.sizes(length)
    assert {start: int(sizes[start]) for start in spans} == {start: len(words) for start, words in spans.items()}
    for term, number in postings.vocabulary.items():
        expected = [(start, words.count(term)) for start, words in sorted(spans.items()) if term in words]
        span, count = postings.spans_holding(number, length)
        assert list(zip(span.tolist(), count.tolist(), strict=True)) == expected
        assert holding[number] == len(expected)


def test_a_word_that_fills_a_long_sentence_is_counted_to_the_last():
    work = make_work(["Ho " * 5000 + ".", "Ho ho.", "Hum."])
    postings = Postings.none().extended([(work.fingerprint, WorkWords.of(work))])
    postings = postings.extended([("other", WorkWords.of(make_work(["Ho.", "Hum."])))])
    assert postings.spans_holding(postings.vocabulary["ho"], 2)[1].tolist() == [5002, 2, 1]
