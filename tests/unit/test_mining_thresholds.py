"""What is not a quotation by a critic is set aside with a reason, and what is one is kept."""

from __future__ import annotations

import dataclasses

import pytest

from relic_core.domain import MinedWindow, SecondarySource, Span
from relic_core.mining import thresholds
from relic_core.mining.thresholds import WorkFacts, facts_of, names, no_criticism, same_author, set_aside
from tests.making import make_work

WORDS = "the grocer folded his ledger upon the wet stones of the quay"
NAMED = "old Marrable folded his ledger upon the wet stones of the quay"
TIDE = WorkFacts(title="The Slow Tide", author="Ada Quill", sentences=1000, own=frozenset({"marrable", "penhallow"}))
BELL = WorkFacts(title="Bell", author="Orrin Vane", sentences=1000)
WORKS = {"tide": TIDE, "bell": BELL}
SOURCE = SecondarySource(
    id="study", title="Ada Quill: A Study", author="B. Critic", name="study.txt", sha256="0", characters=200_000
)
ESSAYS = dataclasses.replace(SOURCE, title="Idle Essays")


def window(number=0, *, work="tide", quotation=WORDS, **told):
    at = told.get("at", (1000 * number, 1000 * number + len(quotation)))
    given = {
        "id": f"{work}-{number}", "source_id": "study", "work_id": work, "kind": "inline", "left": (), "right": (),
        "quotation": quotation, "gold": Span(10 * number, 1), "at": at, "passage": at, "lit": ((0, len(quotation)),),
        "lit_in_work": ((0, len(quotation)),), "score": 100.0,
    }  # fmt: skip
    return MinedWindow(**{**given, **told})


def aside(*windows, source=SOURCE):
    return set_aside(windows, {"study": source}, WORKS)


def test_quotations_in_a_book_about_the_author_are_kept():
    assert aside(window(0), window(1)) == {}


@pytest.mark.parametrize(
    "title",
    ["A Dictionary of Ada Quill", "Quill: An Anthology", "Encyclopædia of the Tide", "Selections from Quill",
     "The Ada Quill Birthday Book", "A Concordance"],
)  # fmt: skip
def test_a_title_that_says_it_is_no_criticism_sets_all_aside(title):
    found = aside(window(0), window(1), source=dataclasses.replace(SOURCE, title=title))
    assert len(found) == 2
    assert all(reason for reason in found.values())


@pytest.mark.parametrize("title", ["The Common Reader", "On the Art of Reading", "Life and Letters of Ada Quill"])
def test_titles_that_only_sound_like_it_are_criticism(title):
    assert no_criticism(title) == ""


def test_a_source_by_the_author_of_the_work_is_no_critics():
    (reason,) = aside(window(0), source=dataclasses.replace(SOURCE, author="A. Quill")).values()
    assert "by the author of the work" in reason


def test_an_edition_of_the_work_is_set_aside_and_says_how_much_it_holds():
    windows = [window(number, gold=Span(10 * number, 10)) for number in range(30)]
    found = aside(*windows)
    assert len(found) == 30
    assert ["30%" in reason for reason in set(found.values())] == [True]


def test_long_extracts_of_less_than_a_quarter_of_the_work_are_kept():
    assert aside(*(window(number, gold=Span(10 * number, 10)) for number in range(20))) == {}


def test_sentences_quoted_twice_count_once_towards_an_edition():
    assert aside(*(window(number, gold=Span(0, 10)) for number in range(90))) == {}


def test_a_source_that_is_mostly_the_works_own_words_is_a_reprint():
    short = dataclasses.replace(SOURCE, characters=100)
    (reason,) = aside(window(0), source=short).values()
    assert "60%" in reason


def test_a_chapter_in_one_piece_is_a_reprint_and_the_rest_is_kept():
    found = aside(window(0, gold=Span(0, thresholds.LONGEST + 1)), window(50))
    assert set(found) == {"tide-0"}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("Quill put it better.",), ()),
        ((), ("So ends the Slow Tide.",)),
        (("It is the moment when Marrable gives in.",), ()),
        (("As in Mrs. Penhallow's bonnet:",), ()),
    ],
)
def test_a_short_match_counts_where_author_title_or_people_are_named_beside_it(left, right):
    assert aside(window(0, left=left, right=right), source=ESSAYS) == {}


def test_a_short_match_of_which_nothing_is_named_is_set_aside():
    (reason,) = aside(window(0, left=("A tide is slow.",)), source=ESSAYS).values()
    assert "named nearby" in reason


def test_a_match_is_borne_out_by_one_nearby_that_is_named_and_not_by_one_far_off():
    named = window(0, left=("Quill says:",))
    assert aside(named, window(1), source=ESSAYS) == {}
    far = window(1, at=(90_000, 90_062))
    assert set(aside(named, far, source=ESSAYS)) == {far.id}


def test_a_long_match_in_prose_needs_no_name_and_one_in_verse_does():
    long = " ".join([WORDS] * 6)
    assert aside(window(0, quotation=long), source=ESSAYS) == {}
    assert set(aside(window(0, quotation=long, kind="verse"), source=ESSAYS)) == {"tide-0"}
    assert set(aside(window(0, quotation=" ".join([WORDS] * 4)), source=ESSAYS)) == {"tide-0"}


def test_of_two_works_with_the_same_words_the_one_that_holds_more_of_them_is_meant():
    better, worse = window(0), window(0, work="bell", lit=((0, 25),))
    found = aside(better, worse)
    assert set(found) == {worse.id}
    assert found[worse.id].count("“The Slow Tide”") == 1


def test_of_two_works_alike_the_one_that_is_named_is_meant():
    tide, bell = window(0, right=("Thus Orrin Vane.",)), window(0, work="bell", right=("Thus Orrin Vane.",))
    assert set(aside(tide, bell, source=ESSAYS)) == {tide.id}


def test_of_two_works_alike_and_both_named_the_one_quoted_more_is_meant():
    both = ("Quill and Vane both say it.",)
    rivals = window(0, right=both), window(0, work="bell", right=both)
    more = window(5, work="bell", right=both)
    assert set(aside(*rivals, more, source=ESSAYS)) == {"tide-0"}


def test_where_nothing_tells_two_works_apart_both_are_set_aside():
    both = ("Quill and Vane both say it.",)
    found = aside(window(0, right=both), window(0, work="bell", right=both), source=ESSAYS)
    assert set(found) == {"tide-0", "bell-0"}
    assert all(reason for reason in found.values())


def test_words_that_stand_twice_in_a_work_that_nobody_names_are_set_aside():
    one = window(0)
    other = dataclasses.replace(one, gold=Span(700, 1), id="again")
    assert set(aside(one, other, source=ESSAYS)) == {one.id, other.id}


@pytest.mark.parametrize(("score", "kept"), [(100.0, "tide-0"), (90.0, "again")])
def test_of_two_places_of_a_work_that_is_named_the_more_alike_is_meant_and_else_the_first(score, kept):
    one = window(0, score=score)
    other = dataclasses.replace(one, gold=Span(700, 1), id="again", score=100.0)
    assert {one.id, other.id} - set(aside(one, other)) == {kept}


def test_a_name_of_the_works_own_in_the_quotation_speaks_for_it():
    assert aside(window(0, quotation=NAMED), source=ESSAYS) == {}
    assert set(aside(window(0), source=ESSAYS)) == {"tide-0"}


def test_two_editions_of_one_work_are_no_rivals():
    works = {**WORKS, "bell": dataclasses.replace(TIDE, sentences=990)}
    assert set_aside([window(0), window(0, work="bell")], {"study": SOURCE}, works) == {}


def test_parts_of_one_quotation_are_no_rivals():
    one = window(0, lit=((0, 25),))
    other = dataclasses.replace(window(0, gold=Span(4, 1), lit=((30, 60),)), id="other part")
    assert aside(one, other) == {}


def test_each_source_is_judged_by_itself():
    other = dataclasses.replace(ESSAYS, id="essays")
    elsewhere = dataclasses.replace(window(1), source_id="essays")
    assert set(set_aside([window(0), elsewhere], {"study": SOURCE, "essays": other}, WORKS)) == {elsewhere.id}


def test_the_order_of_windows_makes_no_difference():
    windows = [window(0), window(0, work="bell"), window(3, work="bell"), window(4)]
    assert aside(*windows) == aside(*windows[::-1])


def test_a_title_of_one_common_word_has_to_stand_there_as_a_name():
    assert not names(window(0, work="bell", left=("The bell rang. Bell ropes are long.",)), ESSAYS, BELL)
    assert names(window(0, work="bell", left=("So it stands in Bell to this day.",)), ESSAYS, BELL)


def test_two_names_of_a_long_title_are_enough():
    crusoe = WorkFacts(title="The life and adventures of jonas penhallow", author="", sentences=9)
    assert names(window(0, left=("That is where Jonas Penhallow wakes.",)), ESSAYS, crusoe)
    assert not names(window(0, left=("A life of adventures, said jonas.",)), ESSAYS, crusoe)


def test_nobody_is_the_author_of_two_nameless_works():
    assert not same_author("", "")
    assert same_author("Brontë, Charlotte (1816-1855)", "Brontë, Charlotte")


def test_facts_are_those_of_the_index(tmp_path):
    from relic_core.mining.quoted_works import QuotedWorks
    from relic_core.ports import silent

    work = make_work([["Marrable rang."] * 6 + ["The tide rose."]], title="The Slow Tide", author="Ada Quill")
    facts = facts_of(QuotedWorks.build([work], tmp_path / "words", silent))
    assert facts == {
        work.id: WorkFacts(title="The Slow Tide", author="Ada Quill", sentences=7, own=frozenset({"marrable", "rang"}))
    }
