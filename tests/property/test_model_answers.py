"""Whatever a model answers, it is read as a score of the scale or an order of all passages, or refused."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from relic_core.language_models import parsing, prompts

ANSWERS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(['{"score": ', "7", "11", "}", '"T1"', "T2", '{"order": [', "]", ",", "<think>", "score "]),
        max_size=12,
    ).map("".join),
)  # fmt: skip


@given(ANSWERS)
def test_a_score_is_of_the_scale(answer):
    with contextlib.suppress(ValueError):
        assert 0 <= parsing.read_score(answer).score <= prompts.BEST


@given(ANSWERS, st.integers(1, 6))
def test_an_order_has_every_passage_once(answer, count):
    with contextlib.suppress(ValueError):
        assert sorted(parsing.read_order(answer, count)) == list(range(count))


@given(st.lists(st.text(max_size=80), min_size=1, max_size=8))
def test_codes_stand_in_no_part_and_are_put_back_in_an_answer(texts):
    prompt = prompts.Prompt("Judge.", tuple(("A text", text) for text in texts))
    drawn = prompt.draw_codes()
    assert len(set(drawn)) == len(texts)
    assert not any(code in text for code in drawn for text in texts)
    assert prompts.plain(" ".join(drawn), drawn, prompt.plain_codes()) == " ".join(prompt.plain_codes())
