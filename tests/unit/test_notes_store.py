"""What the store keeps of a notebook: versions, places, tombstones."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from relic_core.domain import Collection, KeptPassage, Note, note_id
from relic_core.errors import NotFound
from relic_core.store import Store
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
from tests.making_notes import words_of

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def kept(number=1, claim=""):
    return KeptPassage(
        work_id="ferry", sha256="f" * 64, title="The Ferry", author="A. Nobody", at=f"1.{number}.1", length=1,
        start=number * 100, end=number * 100 + 50, place=f"One · paragraph {number}", chapter="One", paragraph=number,
        quotation=f"Lantern {number}.", claim_text=claim, made_with="version 1",
    )  # fmt: skip


def note(number=1, collection="c", person="", **changed):
    passage = kept(number)
    made = Note(
        id=note_id(person, passage), collection_id=collection, kept=passage, created=NOW, updated=NOW, person=person
    )
    return replace(made, **changed)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "relic.duckdb", lock_seconds=1)
    made.collections.add(Collection(id="c", name="Light", created=NOW))
    made.collections.add(Collection(id="d", name="Dark", created=NOW + timedelta(seconds=1)))
    return made


def numbers(store, collection="c"):
    return [each.kept.paragraph for each in store.notes.all("", collection)]


def test_a_note_comes_back_as_it_was_kept_and_is_there_once(store):
    stored, new = store.notes.keep(note())
    assert new
    assert stored == store.notes.get(stored.id) == note(position=1.0)
    assert store.notes.keep(note(words="Other", collection="d")) == (stored, False)
    assert store.notes.all() == (stored,)


def test_the_last_version_counts_and_earlier_ones_stay(store):
    first, _ = store.notes.keep(note())
    store.notes.change(first.id, words="One.")
    store.notes.change(first.id, words="Two.", tags=("light",), verdict="supports")
    last = store.notes.get(first.id)
    assert (last.words, last.tags, last.verdict, last.kept) == ("Two.", ("light",), "supports", first.kept)
    assert last.updated > first.updated
    assert last.created == first.created
    assert words_of(store, first.id) == ("", "One.", "Two.")


def test_a_change_that_changes_nothing_is_not_written(store):
    first, _ = store.notes.keep(note(words="One."))
    assert store.notes.change(first.id, words="One.") == (first, first)
    assert store.notes.get(first.id).updated == first.updated


def test_versions_are_what_was_said_and_not_where_a_note_stood(store):
    first, _ = store.notes.keep(note())
    store.notes.keep(note(2))
    assert store.notes.rewritten() == set()
    store.notes.change(first.id, words="One.")
    store.notes.place(first.id, 1)
    store.notes.change(first.id, collection_id="d")
    assert store.notes.rewritten() == set(), "what stands there, and what was kept with no word"
    store.notes.change(first.id, tags=("light",))
    store.notes.change(first.id, words="", tags=())
    said = [(each.words, each.tags) for each in store.notes.versions(first.id)]
    assert said == [("", ()), ("One.", ("light",)), ("One.", ()), ("", ())]
    times = [each.updated for each in store.notes.versions(first.id)]
    assert times == sorted(times, reverse=True)
    assert store.notes.rewritten() == {first.id}
    assert store.notes.rewritten("anna") == set()
    with pytest.raises(NotFound, match="no note"):
        store.notes.versions(first.id, "anna")


def test_what_was_written_last_counts_though_a_clock_was_ahead(store):
    ahead = NOW + timedelta(days=20_000)
    first, _ = store.notes.keep(note(updated=ahead, words="From the future."))
    store.notes.change(first.id, words="Now.")
    assert store.notes.get(first.id).words == "Now."


@pytest.mark.parametrize(
    ("moved", "to", "expected"), [(3, 0, [3, 1, 2]), (1, 1, [2, 1, 3]), (1, 99, [2, 3, 1]), (2, 1, [1, 2, 3])]
)
def test_a_note_goes_to_its_place(store, moved, to, expected):
    for number in (1, 2, 3):
        store.notes.keep(note(number))
    store.notes.place(note(moved).id, to)
    assert numbers(store) == expected


def test_where_no_number_is_left_between_two_notes_all_are_placed_anew(store):
    near = math.nextafter(1.0, 2.0)
    store.notes.take_in([], [note(1, position=1.0), note(2, position=near), note(3, position=5.0)])
    store.notes.place(note(3).id, 1)
    assert numbers(store) == [1, 3, 2]
    assert [each.position for each in store.notes.all("", "c")] == [1.0, 2.0, 3.0]


def test_a_note_goes_to_the_end_of_another_collection(store):
    store.notes.keep(note(1))
    store.notes.keep(note(2, collection="d"))
    store.notes.change(note(1).id, collection_id="d")
    assert (numbers(store), numbers(store, "d")) == ([], [2, 1])
    with pytest.raises(NotFound, match="no collection 'e'"):
        store.notes.change(note(1).id, collection_id="e")


def test_a_removed_note_is_hidden_and_comes_back_with_its_words(store):
    store.notes.keep(note(1, words="Mine."))
    store.notes.keep(note(2))
    store.notes.remove(note(1).id)
    assert numbers(store) == [2]
    assert [each.words for each in store.notes.removed()] == ["Mine."]
    with pytest.raises(NotFound, match="no note"):
        store.notes.change(note(1).id, words="More.")
    store.notes.restore(note(1).id)
    assert numbers(store) == [1, 2]
    assert store.notes.removed() == ()
    assert store.notes.get(note(1).id).words == "Mine."


def test_keeping_a_removed_passage_again_brings_its_words_back(store):
    store.notes.keep(note(1, words="Mine."))
    store.notes.remove(note(1).id)
    again, new = store.notes.keep(note(1, collection="d"))
    assert (new, again.words, again.collection_id) == (True, "Mine.", "d")


def test_a_removed_collection_hides_its_notes_and_brings_them_back(store):
    store.notes.keep(note(1))
    store.notes.keep(note(2))
    store.notes.remove(note(2).id)
    store.collections.remove("c")
    assert [each.collection.name for each in store.collections.all()] == ["Dark"]
    assert store.notes.all() == store.notes.removed() == ()
    assert [each.name for each in store.collections.removed()] == ["Light"]
    with pytest.raises(NotFound, match="no collection 'c'"):
        store.notes.keep(note(3))
    store.collections.restore("c")
    assert numbers(store) == [1], "what was removed by itself stays removed"


def test_a_collection_has_its_last_name_and_counts_its_notes(store):
    store.collections.add(replace(store.collections.get("c"), name="Lanterns"))
    store.notes.keep(note(1))
    assert [(each.collection.name, each.notes) for each in store.collections.all()] == [("Lanterns", 1), ("Dark", 0)]


def test_nobody_sees_or_touches_what_another_keeps(store):
    store.collections.add(Collection(id="a", name="Anna's", created=NOW, person="anna"))
    hers, _ = store.notes.keep(note(1, collection="a", person="anna"))
    store.notes.keep(note(1))
    assert hers.id != note(1).id
    assert [each.id for each in store.notes.all("anna")] == [hers.id]
    assert store.notes.all("ben") == store.collections.all("ben") == ()
    for use in (store.notes.get, store.notes.remove, store.notes.restore, store.notes.change):
        with pytest.raises(NotFound, match="no note"):
            use(hers.id, "ben")
    for use in (store.collections.get, store.collections.remove, store.collections.restore):
        with pytest.raises(NotFound, match="no collection"):
            use("a", "ben")
    with pytest.raises(NotFound, match="no collection 'a'"):
        store.notes.keep(note(2, collection="a", person="ben"))


def test_nothing_is_ever_updated_or_deleted_but_tombstones(store):
    first, _ = store.notes.keep(note())
    store.notes.change(first.id, words="One.")
    store.notes.place(first.id, 0)
    store.notes.remove(first.id)
    store.notes.restore(first.id)
    with Database.at(store.path).reading(LockTimeout(1)) as cursor:
        ((versions,),) = cursor.execute("SELECT count(*) FROM notes").fetchall()
        ((passages,),) = cursor.execute("SELECT count(*) FROM kept_passages").fetchall()
        ((tombstones,),) = cursor.execute("SELECT count(*) FROM tombstones").fetchall()
    assert (versions, passages, tombstones) == (3, 1, 0)
