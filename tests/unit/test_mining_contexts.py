"""The sentences around a quotation."""

from __future__ import annotations

from relic_core.mining.pairs import Context, context
from relic_core.mining.prose import read_prose

RAIN = "it rained upon the quay all that day"


def around(text: str, words: str = RAIN, *, own: tuple[str, ...] = ()) -> Context:
    """Give the context of some words of a text."""
    prose = read_prose(text)
    start = prose.text.index(words)
    return context(prose, start, start + len(words), own=own)


def test_four_sentences_of_each_side_and_what_stands_in_its_own_sentence() -> None:
    said = [f"The boy said {number}." for number in ("one", "two", "three", "four", "five", "six")]
    found = around(f"{' '.join(said)} He says that “{RAIN}” in June. {' '.join(said)}")
    assert found.left == (*said[3:], "He says that")
    assert found.right == ("in June.", *said[:3])


def test_what_holds_no_word_is_no_sentence_of_the_context() -> None:
    found = around(f"So it was. “{RAIN}.” Nobody came.")
    assert (found.left, found.right) == (("So it was.",), ("Nobody came.",))


def test_a_context_stays_in_its_chapter_and_passes_over_footnotes() -> None:
    text = (
        f"CHAPTER I\n\nNobody came.\n\n\n\nCHAPTER II\n\nSo it was. “{RAIN}.”[1]\n\n[1] Says the boy.\n\n"
        "They left.\n\n\n\nCHAPTER III\n\nThey came back.\n"
    )
    found = around(text)
    assert (found.left, found.right) == (("So it was.",), ("They left.",))


def test_a_footnote_has_no_context_but_its_own() -> None:
    found = around(f"It was dry.[1]\n\n[1] The boy has “{RAIN}.” He errs.\n\nThey left.\n")
    assert (found.left, found.right) == (("The boy has",), ("He errs.",))


def test_no_context_goes_beyond_a_sentence_that_says_the_quotation_again() -> None:
    found = around(
        f"First. He adds that it rained upon the quay all night. Then this. He has “{RAIN}” here. Then that."
    )
    assert found.left == ("Then this.", "He has")
    assert found.right == ("here.", "Then that.")


def test_no_context_holds_words_of_the_quoted_work_that_the_quotation_leaves_out() -> None:
    found = around(
        f"First. Then this. He has “{RAIN}” here. And nobody came to the ferry, it goes on. Then that.",
        own=("It rained upon the quay all that day, and nobody came to the ferry.",),
    )
    assert found.left == ("First.", "Then this.", "He has")
    assert found.right == ("here.",)


def test_where_a_context_stands_goes_with_it() -> None:
    text = f"Before. So it was. “{RAIN}.” Nobody came."
    prose = read_prose(text)
    found = around(text)
    assert prose.text[found.start : found.end] == text


def test_short_sentences_that_together_say_the_quotation_again_end_a_context() -> None:
    said = "Is it wet? It is not. Go home. I will not."
    prose = read_prose(f"First. {said} Then this. He has “{said}” here. Then that. {said} Last.")
    start = prose.text.index("“") + 1
    found = context(prose, start, start + len(said))
    assert found.left == ("I will not.", "Then this.", "He has")
    assert found.right == ("here.", "Then that.", "Is it wet?")
