"""How a quotation differs: words left out, replaced or moved are shown as such, and never beside words they are not."""

from __future__ import annotations

import pytest

from relic_core.domain.drafts import Draft

SIGNAL = (
    "The Signal\n\nby Ada North\n\nCHAPTER I\n\n"
    "Patience, as I have told you, was the brass compass by which the old pilot and his sister steered their boat. "
    "The gulls were hungry. The chandler counted crooked anchors behind the shuttered warehouse, and judged every "
    "cable impossible to be mended. "
    "I own that such keepers misname their idleness vigilance beside the smoking lantern. "
    "They're such warm-hearted fishermen along the northern estuary, whatever the sexton mutters. "
    "Whether it were for loss or gain, the widow bartered her silver thimble for a barrel of herring. "
    "The drowsy ensign polished seven copper buttons before the parade, and whistled a hornpipe.\n"
)


@pytest.fixture
def differences(bench):
    bench.works.add(SIGNAL.encode(), name="the_signal.txt", title="The Signal", author="Ada North")

    def differences(quotation):
        (check,) = bench.drafts.check(Draft(f"In *The Signal* we read: “{quotation}”")).checks
        return [(each.ours, each.theirs, each.excuse) for each in check.differences]

    return differences


@pytest.mark.parametrize(
    ("quotation", "shown"),
    [
        (  # left out behind the first word
            "Patience was the brass compass by which the old pilot and his sister steered their boat",
            [("", "as I have told you", "ellipsis")],
        ),
        (  # left out before the last word
            "The chandler counted crooked anchors behind the shuttered warehouse, and judged every cable mended",
            [("", "impossible to be", "ellipsis")],
        ),
        (  # another form of the last word
            "counted crooked anchors behind the shuttered warehouse, and judged every cable impossible to mend",
            [("mend", "be mended", "")],
        ),
        (  # replaced between the first words and the rest
            "such keepers as those of the cape call their idleness vigilance beside the smoking lantern",
            [("as those of the cape call", "misname", "")],
        ),
        (  # words with a hyphen are whole
            "they are such kind-hearted fishermen along the northern estuary, whatever the sexton mutters",
            [("they are such kind-hearted", "They're such warm-hearted", "")],
        ),
        (  # moved at the beginning
            "for gain or loss, the widow bartered her silver thimble for a barrel of herring",
            [("for gain or loss", "for loss or gain", "")],
        ),
        (  # moved behind others
            "The drowsy ensign seven copper buttons polished before the parade, and whistled a hornpipe",
            [("seven copper buttons polished", "polished seven copper buttons", "")],
        ),
        (  # the writer's own beside what was put in
            "The drowsy ensign polished [his] bright seven copper buttons before the parade",
            [("[his] bright", "", "")],
        ),
        (  # put in behind the end of a sentence, where another follows
            "the old pilot and his sister steered their boat. (North 42)",
            [("North 42", "", "")],
        ),
        (  # replaced in the sentence before
            "mumbled. Whether it were for loss or gain, the widow bartered her silver thimble for a barrel of herring",
            [("mumbled", "mutters", "")],
        ),
        (
            "the widow bartered her silver thimble for a barrel of herring. A drowsy",
            [("A drowsy", "The drowsy", "")],
        ),
        (  # put in behind the end of the last sentence
            "The drowsy ensign polished seven copper buttons before the parade, and whistled a hornpipe. (North 42)",
            [("North 42", "", "")],
        ),
        (
            "whatever the sexton mutters. Whether it were for loss or gain, the widow bartered her copper thimble",
            [("copper", "silver", "")],
        ),
    ],
)
def test_each_difference_is_shown_beside_the_words_that_it_stands_for(differences, quotation, shown):
    assert differences(quotation) == shown


def test_a_word_left_out_at_an_ellipsis_is_no_difference_at_the_first_word_either(differences):
    assert differences("Patience … was the brass compass by which the old pilot and his sister steered") == []


def test_of_parts_in_the_other_order_nothing_is_said_to_be_left_out(differences):
    (only,) = differences(
        "the widow bartered her silver thimble for a barrel of herring … "
        "Patience, as I have told you, was the brass compass by which the old pilot and his sister steered their boat"
    )
    assert only == (
        "a barrel of herring … Patience, as I have",
        "Patience, as I have … a barrel of herring",
        "",
    )
