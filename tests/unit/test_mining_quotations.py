"""Quotations between marks and set off, as books of all styles print them."""

from __future__ import annotations

import pytest

from relic_core.mining.prose import Prose, read_prose
from relic_core.mining.quotations import find_quotations
from tests.unit.test_mining_prose import book

BRITISH = "He said, ‘It rains.’ She said, ‘It does.’ They said, ‘So it seems.’ "
AMERICAN = "He said, “It rains.” She said, “It does.” They said, “So it seems.” "


def quoted(prose: Prose, *, nested: bool = False) -> list[str]:
    """List the words of the quotations that stand within no other, or of those that do."""
    return [prose.text[one.start : one.end] for one in find_quotations(prose) if one.nested == nested]


@pytest.mark.parametrize("marks", ["“”", "‘’", '""', "''", "«»", "„“"])
def test_every_kind_of_mark_opens_and_closes(marks: str) -> None:
    opening, closing = marks
    prose = read_prose(f"The boy writes that {opening}it rained on the quay,{closing} and it did.")
    assert quoted(prose) == ["it rained on the quay,"]


@pytest.mark.parametrize("mark", ["'", "’"])
def test_apostrophes_of_a_book_in_double_marks_quote_nothing(mark: str) -> None:
    prose = read_prose(
        f"{AMERICAN} It{mark}s the boys{mark} boat, o{mark} course; {mark}tis the ferry{mark}s bell "
        f"o{mark} the year {mark}19. No{mark}."
    )
    assert quoted(prose) == ["It rains.", "It does.", "So it seems."]


def test_apostrophes_within_a_quotation_of_a_book_in_single_marks_do_not_close_it() -> None:
    prose = read_prose(f"{BRITISH} He goes on, ‘The boys’ boat isn’t the captains’ boat,’ and stops.")
    assert quoted(prose)[3:] == ["The boys’ boat isn’t the captains’ boat,"]


def test_nested_quotations_are_marked_in_both_styles() -> None:
    american = read_prose("He writes, “She said, ‘It rains,’ and left.”")
    british = read_prose("He writes, ‘She said, “It rains,” and left.’")
    assert quoted(american) == ["She said, ‘It rains,’ and left."]
    assert quoted(british) == ["She said, “It rains,” and left."]
    assert quoted(american, nested=True) == quoted(british, nested=True) == ["It rains,"]


def test_interrupted_speech_gives_its_parts() -> None:
    prose = read_prose("“I think,” says the boy, “that it rains.”")
    assert quoted(prose) == ["I think,", "that it rains."]


@pytest.mark.parametrize("mark", ["“", '"'])
def test_a_quotation_that_opens_at_each_paragraph_and_closes_at_the_last_is_one(mark: str) -> None:
    closing = mark.replace("“", "”")
    prose = read_prose(
        f"He writes: {mark}It rained upon the quay.\n\n{mark}Nobody came.\n\n{mark}So it was.{closing} Thus he.\n"
    )
    assert [one.closed for one in find_quotations(prose)] == [True]
    assert quoted(prose) == [f"It rained upon the quay. {mark}Nobody came. {mark}So it was."]


def test_a_mark_that_is_never_closed_ends_with_its_paragraph() -> None:
    prose = read_prose("He writes: “It rained upon the quay.\n\nNobody came, “as ever,” but me.\n\nSo it was.\n")
    found = [(prose.text[one.start : one.end], one.closed) for one in find_quotations(prose)]
    assert found == [("It rained upon the quay.", False), ("as ever,", True)]


def test_what_stands_behind_a_mark_that_is_never_closed_is_not_nested() -> None:
    prose = read_prose("He writes: “It rained. She said, ‘Nobody came to the quay,’ and left.\n")
    assert quoted(prose) == ["It rained. She said, ‘Nobody came to the quay,’ and left.", "Nobody came to the quay,"]


def test_an_unclosed_mark_before_another_in_one_paragraph_ends_there() -> None:
    prose = read_prose("He writes: “It rained. She writes “that it was dry” and left.")
    found = [(prose.text[one.start : one.end], one.closed) for one in find_quotations(prose)]
    assert found == [("It rained. She writes", False), ("that it was dry", True)]


def test_a_quotation_does_not_leave_its_chapter() -> None:
    prose = read_prose("CHAPTER I\n\nHe writes: “It rained.\n\n\n\nCHAPTER II\n\n“Nobody came,” she writes.\n")
    found = [(prose.text[one.start : one.end], one.closed) for one in find_quotations(prose)]
    assert found == [("It rained.", False), ("Nobody came,", True)]


def test_a_quotation_set_off_and_in_marks_is_one_without_them() -> None:
    prose = book("He sings", "    “O rain upon the quay,\n    O boat upon the sea!”", "and stops.")
    found = [(one.kind, prose.text[one.start : one.end]) for one in find_quotations(prose)]
    assert found == [("verse", "O rain upon the quay, O boat upon the sea!")]


def test_stanzas_are_one_quotation_and_two_in_marks_of_their_own_are_two() -> None:
    stanza = "    O rain upon the quay,\n    O boat upon the sea,"
    joined = book("He sings", stanza, stanza, "and stops.")
    parted = book("He sings", f"    “{stanza.strip()}”", f"    “{stanza.strip()}”", "and stops.")
    assert len(find_quotations(joined)) == 1
    assert len(find_quotations(parted)) == 2


def test_quotations_within_one_set_off_are_nested() -> None:
    prose = book("He sings", "    O rain, ‘upon the quay’ I said,\n    O boat, and “nobody is dead,”", "and stops.")
    assert quoted(prose, nested=True) == ["upon the quay", "nobody is dead,"]
