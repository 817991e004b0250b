"""Words of a source are found in the work they come from, however the critic or the printer changed them."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from relic_core.mining.matches import Aligner, matches_of
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.ports import silent
from tests.making import make_work

TIDE = (
    "The tide had turned before the harbour bell rang twice,",
    "and old Marrable folded his ledger upon the wet stones of the quay.",
    "No creditor in the whole parish had ever seen him hurry;",
    "he honoured his debts slowly, as a glacier honours a valley.",
    "“Bring the lantern,” he said, “and mind the third step, for it has drowned better men than you.”",
    "The widow Penhallow laughed until her bonnet slipped into the brine.",
)
BELL = ("A bell is a patient animal, and this one had waited forty years for its rope.", TIDE[1])


@pytest.fixture(scope="module")
def works(tmp_path_factory):
    return QuotedWorks.build(
        [
            make_work([TIDE], title="The Slow Tide", author="Ada Quill"),
            make_work([[BELL[0], "Nobody rang it."]], title="The Bell", author="Orrin Vane"),
        ],
        tmp_path_factory.mktemp("works") / "words",
        silent,
    )


def find_matches(read, works, **told):
    return matches_of(Aligner(read.text, works.read(read.text), works), **told)


def prose(text):
    return SimpleNamespace(text=text)


def quoted(works, text, **told):
    """List what was found: the title, the words in the source from first to last, and how many are shared."""
    return [
        (match.work.title, text[match.start : match.end], match.words)
        for match in find_matches(prose(text), works, **told)
    ]


def test_words_to_the_letter_are_found_without_any_marks(works):
    text = "Here we learn that old Marrable folded his ledger upon the wet stones of the quay. A fine touch."
    assert quoted(works, text) == [
        ("The Slow Tide", "old Marrable folded his ledger upon the wet stones of the quay", 12)
    ]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("OLD MARRABLE FOLDED HIS LEDGER, UPON the wet-stones of the quay", 12),
        ("old Marrable folded his _ledger_ upon\nthe wet stones of the quay", 12),
        ("old Marrable folded his ledger upon thc wet ftones of the quay", 12),
        ("old Marrable folded his led ger upon the wet stones of the quay", 12),
        ("old Marrable folded [up] his ledger upon the wet stones of the quay", 12),
        ("old Marrable folded his ledger upon the stones of the quay", 11),
        ("old Marrable folded his ledger upon the cold stones of the quay", 11),
    ],
)
def test_other_printing_slips_and_small_changes_are_bridged(works, changed, words):
    assert quoted(works, f"We read: {changed}, and no more.") == [("The Slow Tide", changed, words)]


def test_another_editions_spelling_is_the_same_word(works):
    text = "he honored his debts slowly, as a glacier honors a valley"
    assert quoted(works, f"Thus {text}.") == [("The Slow Tide", text, 11)]


def test_an_ellipsis_is_bridged_and_what_it_left_out_is_not_shared(works):
    text = "old Marrable folded his ledger ... No creditor in the whole parish had ever seen him hurry"
    assert quoted(works, f"So {text}!") == [("The Slow Tide", text, 16)]


def test_words_of_the_critic_between_two_halves_are_bridged(works):
    text = "No creditor in the whole parish,” says our author with his usual calm, “had ever seen him hurry"
    assert quoted(works, f"“{text}.”") == [("The Slow Tide", text, 11)]


def test_two_quotations_far_apart_are_two_matches(works):
    between = "The critic then turns to other matters of which there is nothing to say here at all. " * 4
    text = f"{TIDE[0]} {between} {TIDE[5]}"
    assert [each[0] for each in quoted(works, text)] == ["The Slow Tide"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing of the kind.",
        "old Marrable folded his ledger upon the stair",
        "and it was in the whole of the parish that he had ever seen the bell",
    ],
)
def test_fewer_than_eight_words_in_a_row_are_no_match(works, text):
    assert quoted(works, text) == []


def test_words_are_taken_for_the_work_that_holds_more_of_them(works, tmp_path):
    both = QuotedWorks.build(
        [
            make_work([TIDE], title="The Slow Tide"),
            make_work([["Some prose.", f"{TIDE[1][:-13]} pier."]], title="Echo"),
        ],
        tmp_path / "words",
        silent,
    )
    assert [each[0] for each in quoted(both, " ".join(TIDE[:3]))] == ["The Slow Tide"]


def test_words_that_stand_in_two_works_alike_match_both(tmp_path):
    both = QuotedWorks.build(
        [make_work([TIDE], title="The Slow Tide"), make_work([BELL], title="The Bell")], tmp_path / "words", silent
    )
    assert sorted(each[0] for each in quoted(both, TIDE[1])) == ["The Bell", "The Slow Tide"]


def test_only_the_works_that_are_named_are_looked_at(works):
    _, bell = (work.id for work in works.works)
    text = f"{TIDE[3]} {BELL[0]}"
    assert [each[0] for each in quoted(works, text)] == ["The Slow Tide", "The Bell"]
    assert [each[0] for each in quoted(works, text, among=[bell])] == ["The Bell"]
    assert quoted(works, text, among=[]) == []


def test_blocks_name_the_same_words_on_both_sides(works):
    text = "She knew that old Marrable folded his ledger upon the cold stones of the quay."
    (match,) = find_matches(prose(text), works)
    words = works.read(text)
    for block in match.blocks:
        here = text[words.starts[block.here] : words.ends[block.here_end - 1]]
        start, end = works.offsets(block.there, block.there_end - 1)
        assert here == make_work([TIDE]).text[start:end]
    assert match.here == (3, 15)


def test_of_a_retelling_whose_thousand_runs_lie_far_apart_none_is_lost(tmp_path):
    syllables = [first + vowel for first in "bcdfghklmnprst" for vowel in "aeiou"]
    letters = itertools.product(syllables, syllables, syllables)
    told = [[f"{''.join(each)}x" for each in itertools.islice(letters, 38)] for _ in range(1_200)]
    works = QuotedWorks.build([make_work([[" ".join(itertools.chain(*told))]])], tmp_path / "words", silent)
    text = " ".join(" ".join([*words[:8], *(f"zz{word}" for word in words[8:])]) for words in told)
    assert len(find_matches(prose(text), works)) == 1_200


def test_what_is_quoted_again_a_few_words_on_is_found_again(works):
    first = "old Marrable folded his ledger upon the wet stones of the quay"
    again = "upon the wet stones of the quay. No creditor in the whole parish had ever seen him"
    text = f"We read: {first}. This is how the story opens in its first part; and later, {again}, as he says."
    assert [words for _, words, _ in quoted(works, text)] == [first, again]
