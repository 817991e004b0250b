"""A window has the work's whole sentences for its gold, the critic's quotation, and a context without the answer."""

from __future__ import annotations

import hashlib
import re
import textwrap

import pytest

from relic_core.domain import SecondarySource, Span, window_id
from relic_core.mining.prose import read_prose
from relic_core.mining.quotations import find_quotations
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.windows import make_windows
from relic_core.ports import silent
from tests.making import make_work

TIDE = (
    "The tide had turned before the harbour bell rang twice, and the boats lay crooked in the mud.",
    "Old Marrable folded his ledger upon the wet stones of the quay.",
    "No creditor in the whole parish had ever seen him hurry;",
    "he honoured his debts slowly, as a glacier honours a valley.",
    "“Nonsense!” cried he.",
    "“Bring the lantern, and mind the third step, for it has drowned better men than you.”",
    "The widow Penhallow laughed until her bonnet slipped into the brine, and then she wept for the bonnet.",
    "Nobody thanked the bell.",
)
BEFORE = "Quill began the book in her aunt's kitchen. It is her dampest story. She had no patience with clerks."
AFTER = "That is all the portrait we are given. A lesser writer would have gone on. She turned to the weather instead."


@pytest.fixture(scope="module")
def work():
    return make_work([TIDE], title="The Slow Tide", author="Ada Quill")


@pytest.fixture(scope="module")
def works(work, tmp_path_factory):
    other = make_work([["Something else altogether.", "Nobody read it."]], title="Else")
    return QuotedWorks.build([other, work], tmp_path_factory.mktemp("works") / "words", silent)


def mined(works, text, **told):
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    source = SecondarySource(
        id="a-study", title="A Study", author="", name="study.txt", sha256=sha256, characters=len(text)
    )
    prose = read_prose(text)
    return make_windows(prose, find_quotations(prose), source, works, **told)


def essay(quoting):
    """Write an essay of three paragraphs with a quotation in the second."""
    return f"{BEFORE}\n\n{BEFORE.replace('Quill', 'She')} {quoting} {AFTER}\n\n{AFTER}\n"


def the_one(works, quoting):
    (window,) = mined(works, essay(quoting))
    return window


@pytest.mark.parametrize(
    ("quoting", "gold"),
    [
        (f"We read: “{TIDE[1]}”", Span(1, 1)),
        (f"We read: “{TIDE[2]} {TIDE[3]}”", Span(2, 2)),
        ("He had “folded his ledger upon the wet stones of the quay” already.", Span(1, 1)),
        ("We read: “Old Marrable folded his account-book upon the wet stones of the quay.”", Span(1, 1)),
        ("We read: “Old Marrable folded his ledger [with care] upon the wet stones of the quay.”", Span(1, 1)),
        ("“Old Marrable folded ... upon the wet stones of the quay. No creditor had ever seen him hurry.”", Span(1, 2)),
        ("“No creditor in the whole parish,” we read, “had ever seen him hurry; he honored his debts.”", Span(2, 2)),
        (f"We read: “{TIDE[3]} ‘Nonsense!’ cried he. {TIDE[5][1:-1]}”", Span(3, 3)),
        ("We read: “... in the whole parish had ever seen him hurry; he honoured his debts ...”", Span(2, 2)),
        ("There “the boats lay crooked in the mud. Old Marrable folded his ledger.”", Span(0, 2)),
        ("“The widow Penhallow laughed until her bonnet slipped ... Nobody thanked the bell.”", Span(6, 2)),
    ],
)  # fmt: skip
def test_the_gold_is_the_works_own_sentences(works, quoting, gold):
    assert the_one(works, quoting).gold == gold


def test_a_sentence_of_which_a_word_or_two_is_shared_is_no_gold(works):
    window = the_one(
        works, "It ends: “Bring the lantern, and mind the third step, for it has drowned better men.” The whale!"
    )
    assert window.gold == Span(5, 1)


def test_a_short_sentence_that_was_passed_over_between_two_goes_with_them(works):
    assert the_one(works, f"We read: “{TIDE[3]} ... {TIDE[5][1:-1]}”").gold == Span(3, 3)


def test_a_long_sentence_that_was_left_out_parts_two_windows(works):
    first, second = mined(works, essay(f"We read: “{TIDE[1]} ... {TIDE[3]}”"))
    assert (first.gold, second.gold) == (Span(1, 1), Span(3, 1))
    assert (first.quotation, second.quotation) == (TIDE[1], TIDE[3])
    for window in (first, second):
        around = " ".join((*window.left, *window.right))
        assert "Marrable" not in around
        assert "glacier" not in around


@pytest.mark.parametrize(
    "quoting",
    [
        f"We read: “You are right, my dear sir; she is old. {TIDE[1]}”",
        f"We read: “{TIDE[1]} This was his substitute for prayers.”",
    ],
)
def test_words_of_nobody_at_an_end_of_the_quotation_are_not_the_windows(works, quoting):
    window = the_one(works, quoting)
    assert (window.gold, window.quotation) == (Span(1, 1), TIDE[1])
    assert "right, my dear" not in " ".join((*window.left, *window.right))
    assert "substitute" not in " ".join((*window.left, *window.right))


@pytest.mark.parametrize(
    "strange",
    [
        "With respect to ale she takes it every night and never a drop beyond, for her health alone.",
        "With respect to ale she takes it every night.",
    ],
)
def test_words_of_nobody_amid_a_quotation_part_two_windows(works, strange):
    first, second = mined(works, essay(f"We read: “{TIDE[2]} {strange} {TIDE[3]}”"))
    assert (first.gold, second.gold) == (Span(2, 1), Span(3, 1))


@pytest.mark.parametrize(
    ("quoting", "gold"),
    [
        (f"We read: “{TIDE[2]} [that is, in the small and dripping parish of Saint Ives] {TIDE[3]}”", Span(2, 2)),
        (f"We read: “{TIDE[1]} [by which the town is meant, as ever]”", Span(1, 1)),
        (f"We read: “{TIDE[6].partition(',')[0]}, before weeping over it all night.”", Span(6, 1)),
    ],
)
def test_what_a_critic_says_in_brackets_or_words_otherwise_stays_in_the_quotation(works, quoting, gold):
    window = the_one(works, quoting)
    quoted = quoting.removeprefix("We read: “").removesuffix("”")
    assert (window.gold, window.quotation.rstrip("].")) == (gold, quoted.rstrip("]."))


def test_the_quotation_is_the_marked_one_where_half_of_it_is_the_works(works):
    quoted = "Old Marrable folded his ledger upon the wet stones of the quay, dear reader"
    window = the_one(works, f"We read: “{quoted}.”")
    assert window.quotation.rstrip(".") == quoted


def test_the_quotation_is_the_matched_words_where_the_marked_one_is_mostly_the_critics(works):
    long = "I met him, I remember, on a morning in March when the whole coast seemed asleep, and I saw how "
    end = ", whereupon we walked along the cliff and spoke about the price of herring until the lamps were lit in town"
    window = the_one(
        works, f"A friend writes: “{long}old Marrable folded his ledger upon the wet stones of the quay{end}.”"
    )
    assert window.quotation.strip(",") == "old Marrable folded his ledger upon the wet stones of the quay"


def test_words_without_marks_count_when_they_are_many(works):
    window = the_one(works, "We see that old Marrable folded his ledger upon the wet stones of the quay once more.")
    assert window.quotation == "old Marrable folded his ledger upon the wet stones of the quay"
    assert window.kind == "inline"


def test_a_quotation_set_off_is_a_block(works):
    before, after = (textwrap.fill(f"{each} {each} {each}", 70) for each in (BEFORE, AFTER))
    set_off = textwrap.indent(textwrap.fill(" ".join(TIDE[1:4]), 60), "    ")
    text = f"{before}\n\nShe goes on as follows:\n\n{set_off}\n\n{after}\n"
    (window,) = mined(works, text)
    assert (window.kind, window.gold) == ("block", Span(1, 3))


def test_what_is_lit_is_the_same_words_on_both_sides(works, work):
    window = the_one(works, "We read: “Old Marrable folded his ledger [with care] upon the wet stones of the quay.”")
    here = [window.quotation[start:end] for start, end in window.lit]
    there = [work.text[start:end] for start, end in window.lit_in_work]
    assert here == there == ["Old Marrable folded his ledger", "upon the wet stones of the quay"]


def test_a_word_printed_as_two_shifts_nothing_that_is_lit_behind_it(works, work):
    """The sentences are cut apart behind it, by the words of the work."""
    window = the_one(works, f"We read: “{TIDE[2].replace('parish', 'par ish')} {TIDE[3]} {TIDE[4][1:-1]}”")
    here = "".join("".join(window.quotation[start:end].split()) for start, end in window.lit)
    there = "".join("".join(work.text[start:end].split()) for start, end in window.lit_in_work)
    assert re.sub(r"\W", "", here) == re.sub(r"\W", "", there)
    assert here.startswith("Nocreditor")


def test_offsets_are_those_of_the_source(works):
    text = essay(f"We read: “{TIDE[1]}”")
    (window,) = mined(works, text)
    assert text[slice(*window.at)].strip("“”") == TIDE[1]
    passage = " ".join(text[slice(*window.passage)].split())
    assert all(sentence in passage for sentence in (*window.left, *window.right))


def test_neither_side_holds_words_of_the_gold_that_the_critic_did_not_quote(works):
    window = the_one(
        works,
        "“Old Marrable folded his ledger.” Well, “folded his ledger upon the wet stones of the quay,” we read on.",
    )
    around = " ".join((*window.left, *window.right))
    assert "wet stones" not in around


def test_up_to_four_sentences_stand_on_either_side(works):
    window = the_one(works, f"We read: “{TIDE[1]}”")
    assert 1 <= len(window.left) <= 4
    assert len(window.right) == 4
    assert window.right[0] == "That is all the portrait we are given."


def test_the_id_is_made_of_where_it_stands_and_the_same_every_time(works, work):
    text = essay(f"We read: “{TIDE[1]}”")
    (window,), (again,) = mined(works, text), mined(works, text)
    sentence = work.sentences[1]
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    assert window == again
    assert window.id == window_id(sha256, work.sha256, window.at, (sentence.start, sentence.end))


def test_only_the_works_that_are_named_are_looked_at(works, work):
    text = essay(f"We read: “{TIDE[1]}”")
    assert [window.work_id for window in mined(works, text, among=[work.id])] == [work.id]
    assert mined(works, text, among=[works.works[0].id]) == ()


@pytest.mark.parametrize("text", ["", "Nothing is quoted here.", f"{BEFORE}\n\n{AFTER}\n"])
def test_a_source_that_quotes_nothing_has_no_windows(works, text):
    assert mined(works, text) == ()


@pytest.mark.parametrize(
    "beside", ["The widow Penhallow laughed at such a man, they say.", "Nobody thanked him for that."]
)
def test_the_critics_own_words_beside_a_quotation_add_no_sentence(works, beside):
    assert the_one(works, f"We read: “{TIDE[5][1:-1]}” {beside}").gold == Span(5, 1)


@pytest.mark.parametrize(
    ("quoting", "gold"),
    [
        (f"We read: “The tide had turned in all the mud. {TIDE[1]}”", Span(0, 2)),
        (f"The tide had turned in all the mud. “{TIDE[1]}”", Span(1, 1)),
        (f"We read: “{TIDE[5][1:-1]} The widow Penhallow for all her bonnet.”", Span(5, 2)),
    ],
)
def test_sentences_before_and_behind_are_completed_by_fifteen_characters_of_the_quotation(works, quoting, gold):
    assert the_one(works, quoting).gold == gold


def test_a_long_quotation_is_one_although_the_work_repeats_phrases_of_it(tmp_path):
    """What the phrases match elsewhere stands between the halves of the quotation and must not part them."""
    spoken = [f"word{number}" for number in range(400)]
    passage = [" ".join(spoken[at : at + 10]).capitalize() + "." for at in range(0, 400, 10)]
    phrases = [" ".join(spoken[at : at + 5]).capitalize() + "." for at in range(0, 300, 6)]
    work = make_work([passage, phrases], title="The Slow Tide", author="Ada Quill")
    works = QuotedWorks.build([work], tmp_path / "words", silent)
    quoted = " ".join(passage).replace("word303 ", "changed ")
    assert the_one(works, f"We read: “{quoted}”").gold == Span(0, 40)
