"""Whatever a paragraph holds, its sentences hold all of it, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relic_core.text.sentences import default_segmenter

PIECES = st.sampled_from(
    [
        *("he", "She", "Mr.", "I.", "p.m.", "7:15", "Oh!", "asked", "and", "é"),
        *(".", "!", "?", "...", "…", ";", ":", "--", "—", "_", "“", "”", "‘", "’", '"', "'", "(", ")"),
        *(" ", "  ", "\n", "\u00a0"),
    ]
)
PROSE = st.one_of(st.text(), st.lists(PIECES).map("".join))


@given(PROSE, PROSE, PROSE)
def test_sentences_hold_every_visible_character_once_and_in_order(before, paragraph, after):
    text = before + paragraph + after
    start, end = len(before), len(before) + len(paragraph)
    spans = default_segmenter().segment(text, start, end)
    assert [place for a, b in spans for place in range(a, b) if not text[place].isspace()] == [
        place for place in range(start, end) if not text[place].isspace()
    ]
    assert all(a < b and text[a:b] == text[a:b].strip() for a, b in spans)


@given(PROSE, PROSE)
def test_what_stands_around_a_paragraph_does_not_change_it(before, paragraph):
    alone = default_segmenter().segment(paragraph, 0, len(paragraph))
    text = before + paragraph + before
    within = default_segmenter().segment(text, len(before), len(before) + len(paragraph))
    assert within == [(a + len(before), b + len(before)) for a, b in alone]


@given(PROSE)
def test_every_sentence_of_several_holds_a_word(paragraph):
    spans = default_segmenter().segment(paragraph, 0, len(paragraph))
    if len(spans) > 1:
        assert all(any(letter.isalnum() for letter in paragraph[a:b]) for a, b in spans)
