"""Who is in a novel: forms of one person are brought together, and places stay out."""

from __future__ import annotations

from relic_core.text.people import people_of
from tests.making import make_work

TEXT = """
“Come,” said Elizabeth. The bridge at Averhythe was wet. Mr. Darcy looked at Averhythe.

“No,” answered Darcy. Miss Darcy smiled. Elizabeth Bennet thought of Averhythe.

Mr. Bennet laughed, and Elizabeth looked at Mr. Darcy. “Averhythe!” cried Miss Darcy.

“Yes,” said Mr. Bennet. Darcy went to Averhythe. “Nobody,” said Elizabeth.

Mr. Bennet said nothing, Miss Darcy smiled, and Darcy left. Miss Darcy and Elizabeth stayed.

Mr. Bennet read. Mr. Bennet slept. Miss Darcy sang. In Averhythe it rained.

Elizabeth slept. Elizabeth woke. Elizabeth left.
"""


def people():
    work = make_work(TEXT.strip().split("\n\n"))
    return work, {person.name: person for person in people_of(work)}


def test_forms_of_one_person_are_one_and_namesakes_are_not():
    _, found = people()
    assert set(found) == {"Elizabeth", "Mr. Bennet", "Miss Darcy", "Darcy"}
    assert set(found["Darcy"].forms) == {"Mr. Darcy", "Darcy"}
    assert set(found["Elizabeth"].forms) == {"Elizabeth", "Elizabeth Bennet"}


def test_a_place_is_nobody():
    _, found = people()
    assert not [person for person in found.values() if "Averhythe" in person.forms]


def test_the_most_named_come_first_and_no_more_than_are_asked_for():
    work, _ = people()
    counts = [len(person.sentences) for person in people_of(work)]
    assert counts == sorted(counts, reverse=True)
    assert len(people_of(work, most=2)) == 2


def test_kin_and_what_is_somebodys_own_show_a_person_who_never_speaks():
    shown = ["My cousin Flora came to Averhythe. Averhythe's bridge was wet.", "Flora's little hand shook."]
    work = make_work([*shown, *["Flora saw Averhythe."] * 5])
    assert [person.name for person in people_of(work)] == ["Flora"]
