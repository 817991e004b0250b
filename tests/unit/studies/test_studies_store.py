"""Answers to studies in the store: nothing is lost, the last counts, and what is erased is gone from the file."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from relic_core.errors import NotFound, StoreBusy, StudyFrozen
from relic_core.store import Store
from tests.making_studies import TERMS, make_answer, make_study

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "relic.duckdb", lock_seconds=30)


@pytest.fixture
def study(store):
    made = make_study()
    store.studies.add(made, TERMS)
    return made


def test_a_study_is_kept_to_the_letter_and_listed(store, study):
    assert store.studies.get(study.id) == study
    assert store.studies.terms(study.id) == TERMS
    (listed,) = store.studies.all()
    assert (listed.id, listed.items, listed.works, listed.answers) == (study.id, 6, ("The Ferry",), 0)
    assert not store.studies.add(study, TERMS)
    assert len(store.studies.all()) == 1


def test_a_study_that_was_removed_comes_back_with_its_answers(store, study):
    anna = store.study_answers.join(study.id, "Anna")
    store.study_answers.add(study.id, make_answer(anna.id, "w0", 1))
    store.studies.remove(study.id)
    assert store.studies.all() == ()
    assert [each.id for each in store.studies.all(removed=True)] == [study.id]
    with pytest.raises(NotFound):
        store.studies.get(study.id)
    with pytest.raises(NotFound):
        store.studies.remove(study.id)
    assert store.studies.restore(study.id) == study
    assert len(store.study_answers.all(study.id)) == 1


def test_terms_are_appended_and_frozen_with_the_first_answer(store, study):
    store.studies.change_terms(study.id, {"instructions": "Choose well.", "wanted": 3, "consent": "Agreed."})
    assert store.studies.terms(study.id).instructions == "Choose well."
    anna = store.study_answers.join(study.id, "Anna")
    store.studies.change_terms(study.id, {"wanted": 2})  # somebody has joined, and nobody has answered
    store.study_answers.add(study.id, make_answer(anna.id, "w0", 1))
    for change in ({"instructions": "Hurry."}, {"wanted": 0}):
        with pytest.raises(StudyFrozen):
            store.studies.change_terms(study.id, change)
    store.studies.change_terms(study.id, {"consent": "I agree.", "privacy": "There.", "revealed": True, "wanted": 2})
    assert store.studies.terms(study.id).revealed
    said = store.studies._all("SELECT kind, said FROM study_terms ORDER BY created, rowid")
    assert [text for what, text in said if what == "consent"] == ['"Agreed."', '"I agree."']
    assert [text for what, text in said if what == "wanted"] == ["0", "3", "2"]


def test_one_name_is_one_annotator_and_markup_in_it_is_kept_to_the_letter(store, study):
    name = '<b onclick="x">Anna</b> & Co.'
    anna = store.study_answers.join(study.id, name)
    assert anna.name == name
    assert store.study_answers.join(study.id, f"  {name.upper()} ") == anna
    assert store.study_answers.named(study.id, name) == anna
    assert store.study_answers.named(study.id, "Bea") is None
    assert store.study_answers.join("another study", name) != anna


def test_an_answer_that_comes_twice_after_a_lost_connection_is_one_answer(store, study):
    anna, bea = (store.study_answers.join(study.id, name) for name in ("Anna", "Bea"))
    first = store.study_answers.add(study.id, make_answer(anna.id, "w0", 1, comment="Hm."))
    assert store.study_answers.add(study.id, make_answer(anna.id, "w0", 1, comment="Hm.")) == first
    for different in (
        make_answer(bea.id, "w0", 1, comment="Hm."),
        make_answer(anna.id, "w1", 1, comment="Hm."),
        make_answer(anna.id, "w0", 1, comment="Ah."),
        make_answer(anna.id, "w0", 2, comment="Ah."),
        make_answer(anna.id, "w0", 2, comment="Ah.", seconds=9.0),
    ):
        store.study_answers.add(study.id, different)
    # To go back to what one had chosen first is another answer.
    store.study_answers.add(study.id, make_answer(anna.id, "w0", 1, comment="Hm."))
    assert [each.choice for each in store.study_answers.all(study.id)] == [1, 1, 1, 1, 2, 2, 1]


def test_the_owners_code_that_was_given_last_counts(store, study):
    assert store.studies.sealed(study.id) == ""
    for sealed in ("one", "two"):
        store.studies.add_owner(study.id, sealed)
    assert store.studies.sealed(study.id) == "two"
    assert store.studies.sealed("another study") == ""


def test_of_several_answers_the_last_counts_and_all_are_kept(store, study):
    anna = store.study_answers.join(study.id, "Anna")
    for choice in (1, 3, 2):
        store.study_answers.add(study.id, make_answer(anna.id, "w0", choice, comment=f"{choice}"))
    (last,) = store.study_answers.latest(study.id)
    assert (last.choice, last.number) == (2, 3)
    assert [each.choice for each in store.study_answers.all(study.id)] == [1, 3, 2]
    assert store.studies.all()[0].answers == 1


def test_an_answer_of_nobody_is_refused(store, study):
    with pytest.raises(NotFound):
        store.study_answers.add(study.id, make_answer("nobody", "w0", 1))
    with pytest.raises(NotFound):
        store.study_answers.standing(study.id, "nobody")


def test_twenty_annotators_answer_at_once_and_nothing_is_lost(store):
    study = make_study(10)
    store.studies.add(study, TERMS)

    def answer(number):
        annotator = store.study_answers.join(study.id, f"annotator {number}")
        for place, item in enumerate(study.items):
            choice = (number + place) % 4
            store.study_answers.add(study.id, make_answer(annotator.id, item.id, choice, comment=f"{number}"))
            own = store.study_answers.standing(study.id, annotator.id).answers
            assert own[item.id].choice == choice
        return annotator.id

    with ThreadPoolExecutor(20) as pool:
        ids = list(pool.map(answer, range(20)))
    answers = store.study_answers.all(study.id)
    assert [each.number for each in answers] == list(range(1, 201))
    assert {(each.annotator_id, each.item_id, each.choice) for each in answers} == {
        (annotator, item.id, (number + place) % 4)
        for number, annotator in enumerate(ids)
        for place, item in enumerate(study.items)
    }
    assert store.study_answers.count(study.id) == (20, 200)


def test_twenty_people_of_one_name_who_join_at_once_are_one_annotator(store, study):
    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(lambda _: store.study_answers.join(study.id, "Anna"), range(20)))) == 1


ANSWERS = """
import sys
from pathlib import Path
from relic_core.store import Store
from tests.making_studies import make_answer
store = Store(Path(sys.argv[1]), lock_seconds=60)
annotator = store.study_answers.join(sys.argv[2], sys.argv[3])
for number in range(6):
    store.study_answers.add(sys.argv[2], make_answer(annotator.id, f"w{number}", 1, comment=sys.argv[4]))
"""


def test_two_processes_answer_under_one_name_and_nothing_is_lost(store, study):
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    devices = [
        subprocess.Popen(
            [sys.executable, "-c", ANSWERS, str(store.path), study.id, "Anna", device],
            env=environment, stderr=subprocess.PIPE, text=True,
        )
        for device in ("desk", "phone")
    ]  # fmt: skip
    for device in devices:
        _, said = device.communicate(timeout=120)
        assert device.returncode == 0, said
    answers = store.study_answers.all(study.id)
    assert len({each.annotator_id for each in answers}) == 1
    assert sorted(each.comment for each in answers) == ["desk"] * 6 + ["phone"] * 6
    assert [each.number for each in answers] == list(range(1, 13))


HOLD = """
import sys
from pathlib import Path
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
with Database.at(Path(sys.argv[1])).reading(LockTimeout(5)):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_an_answer_that_meets_a_store_in_use_is_refused_and_can_be_given_again(store, study):
    anna = store.study_answers.join(study.id, "Anna")
    hasty = Store(store.path, lock_seconds=0.3)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.path)],
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreBusy):
            hasty.study_answers.add(study.id, make_answer(anna.id, "w0", 2))
        holder.stdin.close()
        holder.wait(20)
    assert hasty.study_answers.all(study.id) == ()
    assert hasty.study_answers.add(study.id, make_answer(anna.id, "w0", 2)).number == 1


def test_an_annotator_who_is_erased_is_gone_from_the_tables_and_from_the_file(store, study):
    anna = store.study_answers.join(study.id, "Xanthippe Quincemedlar")
    bea = store.study_answers.join(study.id, "Beatrix Ornithologue")
    for item in study.items:
        for annotator, word in ((anna, "ZWIEBACKTORTE"), (bea, "MARZIPANKUCHEN")):
            comment = f"{word} is what I thought of when I came to {item.id}, and I still do"
            store.study_answers.add(study.id, make_answer(annotator.id, item.id, 1, comment=comment))
    before = store.path.read_bytes()
    assert before.count(b"ZWIEBACKTORTE") >= 6
    assert store.study_answers.erase(study.id, anna.id) == 6
    wal = store.path.with_name(f"{store.path.name}.wal")
    after = store.path.read_bytes() + (wal.read_bytes() if wal.exists() else b"")
    for gone in (b"ZWIEBACK", b"Xanth", b"xanth"):
        assert gone not in after
    assert after.count(b"MARZIPANKUCHEN") >= 6
    assert [each.annotator for each in store.study_answers.annotators(study.id)] == [bea]
    assert {each.annotator_id for each in store.study_answers.all(study.id)} == {bea.id}
    with pytest.raises(NotFound):
        store.study_answers.add(study.id, make_answer(anna.id, "w0", 1))
    with pytest.raises(NotFound):
        store.study_answers.erase(study.id, anna.id)
    # Numbers go on, the other tables are whole, and the same name begins anew.
    assert store.studies.get(study.id) == study
    assert store.study_answers.join(study.id, "Xanthippe Quincemedlar").id != anna.id


def test_erasing_waits_for_those_who_read_and_keeps_what_is_written_meanwhile(store, study):
    anna = store.study_answers.join(study.id, "Anna")
    store.study_answers.add(study.id, make_answer(anna.id, "w0", 1))
    others = [store.study_answers.join(study.id, f"other {number}") for number in range(4)]

    def work(annotator):
        for item in study.items:
            store.study_answers.add(study.id, make_answer(annotator.id, item.id, 2))
            store.study_answers.latest(study.id)

    with ThreadPoolExecutor(5) as pool:
        done = [pool.submit(work, other) for other in others]
        erased = pool.submit(store.study_answers.erase, study.id, anna.id)
        for each in (*done, erased):
            each.result(120)
    assert store.study_answers.count(study.id) == (4, 24)


def test_a_study_from_before_its_tables_were_there_can_be_added_to_an_old_store(tmp_path):
    from relic_core.store.connection import Database
    from relic_core.store.locks import LockTimeout
    from relic_core.store.migrations import read_migrations

    path = tmp_path / "old.duckdb"
    with Database(path, read_migrations()[:8]).writing(LockTimeout(5)) as cursor:
        cursor.execute("INSERT INTO tombstones VALUES ('work', 'x', '2026-01-01')")
    made = make_study()
    assert Store(path).studies.add(made, TERMS)
    assert Store(path).studies.get(made.id) == made
