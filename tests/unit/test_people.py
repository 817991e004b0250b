"""People who sign in: known by their address, and handed what was kept before."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from relic_core import cli
from relic_core.config import Settings
from relic_core.domain import Collection, KeptPassage, Note, SearchRequest, note_id
from relic_core.domain.notes import LONGEST_WORDS, MOST_TAGS, brought_together
from relic_core.domain.people import Holding, address_digest
from relic_core.errors import BadRequest, NotFound
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
from relic_core.wiring import build
from tests.approved import says
from tests.making_notes import add_ferry, words_of

pytestmark = pytest.mark.usefixtures("kept_open")

SAYS = says("commands")

ADA, BEN = "a" * 16, "b" * 16
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def bench(settings, monkeypatch):
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    made = build(settings)
    made.people.signed_in(ADA, "Ada@Example.org")
    return made


@pytest.fixture
def ferry(bench):
    return add_ferry(bench)


def ask(bench, claim, person=""):
    return bench.history.keep(SearchRequest(work_id="ferry", claim_text=claim), person=person)


def places(bench, person, name):
    """Give the addresses of the notes of a collection, in their order."""
    (found,) = [each.collection.id for each in bench.notebook.collections(person) if each.collection.name == name]
    return [view.note.kept.at for view in bench.notebook.notes(found, person=person)]


def names(bench, person=""):
    return [each.collection.name for each in bench.notebook.collections(person)]


# ---- finding a person ---------------------------------------------------------------------------------------------


def test_a_person_is_found_by_the_address_they_signed_in_with_by_their_id_and_nobody_by_that_word(bench):
    assert bench.people.find(" ada@example.ORG") == bench.people.find(ADA) == ADA
    assert bench.people.find("Nobody") == ""


def test_no_address_is_in_the_store(bench):
    with Database.at(bench.settings.store).reading(LockTimeout(1)) as cursor:
        assert cursor.execute("SELECT person, address FROM people").fetchall() == [
            (ADA, address_digest("ada@example.org"))
        ]
    assert b"xample.org" not in bench.settings.store.read_bytes()


def test_a_person_is_written_down_once_and_again_where_the_address_is_another(bench):
    for address in ("ada@example.org", "ada@example.org", "ada@new.org", "ada@new.org"):
        bench.people.signed_in(ADA, address)
    with Database.at(bench.settings.store).reading(LockTimeout(1)) as cursor:
        assert cursor.execute("SELECT count(*) FROM people").fetchall() == [(2,)]
    assert bench.people.find("ada@new.org") == bench.people.find("ada@example.org") == ADA


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("ben@example.org", r"ben@example\.org yet.*sign in.*: a{16}\."),
        ("zzz", r"'zzz'.*: a{16}\."),
        ("", "called ''"),
        ("x@" + "y" * 3000, "x@y+ yet"),
        ("\udce4@x", "@x yet"),
    ],
)
def test_who_is_not_known_is_told_with_who_there_is(bench, said, why):
    with pytest.raises(NotFound, match=why):
        bench.people.find(said)


def test_an_address_at_two_providers_is_two_people(bench):
    bench.people.signed_in(BEN, "ada@example.org")
    with pytest.raises(BadRequest, match=rf"^2 .* ada@example.org.*{ADA}, {BEN}"):
        bench.people.find("ada@example.org")


def test_who_keeps_what_is_listed_by_the_addresses_of_the_operators_list(bench, settings, ferry):
    listed = build(
        Settings(data=settings.data, indexes=settings.indexes, sign_in_allow=("example.edu", "ada@example.org"))
    )
    bench.notebook.remove(bench.notebook.keep(ferry.id, "1.1.1").id)
    bench.notebook.keep(ferry.id, "1.1.2")
    ask(bench, "A claim", BEN)
    found = {each.name: each.holding for each in listed.people.known()}
    assert list(found) == ["nobody", "ada@example.org", BEN]
    assert found["nobody"] == Holding(person="", notes=1, collections=1, removed=1)
    assert found["ada@example.org"].empty
    assert found[BEN].searches == 1


# ---- handing over -------------------------------------------------------------------------------------------------


def test_everything_moves_keeps_its_order_and_words_and_is_found_when_it_is_kept_again(bench, ferry):
    book = bench.notebook
    kept = [book.keep(ferry.id, at, claim_text="Light") for at in ("1.1.1", "1.1.2", "1.2.1")]
    book.write(kept[1].id, words="First.")
    book.write(kept[1].id, words="Mine.", tags=["sea"], verdict="supports")
    book.move(kept[2].id, -2)
    book.add_collection("Empty")
    first, second = ask(bench, "One"), ask(bench, "Two")
    moved = bench.people.transfer_ownership("ada@example.org")
    assert moved == Holding(person="", notes=3, collections=2, searches=2)
    assert book.notes() == book.collections() == ()
    assert bench.history.asked()[1] == 0
    assert names(bench, ADA) == ["My notes", "Empty"]
    assert places(bench, ADA, "My notes") == ["1.2.1", "1.1.1", "1.1.2"]
    assert [each.id for each in bench.history.asked(person=ADA)[0]] == [second.id, first.id]
    again = book.keep(ferry.id, "1.1.2", claim_text="Light", person=ADA)
    assert (again.words, again.tags, again.verdict) == ("Mine.", ("sea",), "supports")
    assert again.id == note_id(ADA, again.kept)
    assert again.created == kept[1].created
    assert len(book.notes(person=ADA)) == 3
    assert words_of(bench.store, again.id, ADA) == ("", "First.", "Mine.")


def test_done_again_nothing_is_left_and_nothing_changes(bench, ferry):
    bench.notebook.keep(ferry.id, "1.1.1")
    bench.people.transfer_ownership("ada@example.org")
    before = (bench.notebook.notes(person=ADA), bench.people.known())
    assert bench.people.transfer_ownership("ada@example.org").empty
    assert (bench.notebook.notes(person=ADA), bench.people.known()) == before


def test_there_and_back_is_as_it_was(bench, ferry):
    book = bench.notebook
    kept = [book.keep(ferry.id, at) for at in ("1.1.1", "1.1.2")]
    book.write(kept[0].id, words="Mine.")
    book.remove(kept[1].id)
    bench.history.remove(ask(bench, "Gone").id)
    before = (book.notes(), book.collections(), book.removed(), bench.history.removed(), bench.people.known()[0])
    bench.people.transfer_ownership(ADA)
    bench.people.transfer_ownership("nobody", "ada@example.org")
    assert (book.notes(), book.collections(), book.removed(), bench.history.removed()) == before[:4]
    assert bench.people.known()[0] == before[4]


def test_what_was_removed_stays_removed_and_can_be_put_back(bench, ferry):
    book = bench.notebook
    gone = book.keep(ferry.id, "1.1.1")
    book.write(gone.id, words="Mine.")
    book.remove(gone.id)
    hidden = book.add_collection("Hidden")
    book.keep(ferry.id, "1.1.2", collection_id=hidden.id)
    book.remove_collection(hidden.id)
    search = ask(bench, "Gone")
    bench.history.remove(search.id)
    assert bench.people.transfer_ownership(ADA) == Holding(person="", collections=1, removed=4)
    assert book.removed() == book.removed_collections() == bench.history.removed() == ()
    (note,) = book.removed(ADA)
    assert book.undo(note.id, ADA).words == "Mine."
    book.undo_collection(hidden.id, ADA)
    assert places(bench, ADA, "Hidden") == ["1.1.2"]
    assert [each.id for each in bench.history.removed(ADA)] == [search.id]
    assert bench.history.undo(search.id, ADA).request.claim_text == "Gone"


def test_collections_of_one_name_become_one_with_what_came_at_its_end(bench, ferry):
    book = bench.notebook
    for at in ("1.1.1", "1.1.2", "1.2.1"):
        book.keep(ferry.id, at)
    book.move(book.notes()[0].note.id, 2)
    own = book.add_collection("MY notes", ADA)
    for at in ("2.2.1", "2.1.1"):
        book.keep(ferry.id, at, person=ADA)
    bench.people.transfer_ownership(ADA)
    assert names(bench, ADA) == ["MY notes"]
    assert places(bench, ADA, "MY notes") == ["2.2.1", "2.1.1", "1.1.2", "1.2.1", "1.1.1"]
    assert {view.note.collection_id for view in book.notes(person=ADA)} == {own.id}
    assert book.removed_collections(ADA) == ()


def test_a_note_that_both_have_stays_in_its_place_with_what_both_said(bench, ferry):
    book = bench.notebook
    before = book.keep(ferry.id, "1.1.2")
    book.write(before.id, words="Theirs.", tags=["sea", "Light"], verdict="unsure")
    own = book.add_collection("Own", ADA)
    after = book.keep(ferry.id, "1.1.2", collection_id=own.id, person=ADA)
    book.write(after.id, words="Hers.", tags=["light"], person=ADA)
    bench.people.transfer_ownership(ADA)
    (view,) = book.notes(person=ADA)
    assert (view.note.id, view.note.collection_id) == (after.id, own.id)
    assert (view.note.words, view.note.tags, view.note.verdict) == ("Theirs.\n\nHers.", ("light", "sea"), "unsure")
    assert words_of(bench.store, after.id, ADA) == ("", "Theirs.", "", "Hers.", "Theirs.\n\nHers.")
    assert names(bench, ADA) == ["My notes", "Own"], "an empty collection comes along"


@pytest.mark.parametrize("whose", ["", ADA])
def test_a_note_that_one_of_them_removed_is_there(bench, ferry, whose):
    book = bench.notebook
    for person, words in (("", "Theirs."), (ADA, "Hers.")):
        note = book.keep(ferry.id, "1.1.2", person=person)
        book.write(note.id, words=words, person=person)
        if person == whose:
            book.remove(note.id, person)
    bench.people.transfer_ownership(ADA)
    (view,) = book.notes(person=ADA)
    assert view.note.words == ("Hers." if whose == "" else "Theirs.")
    assert set(words_of(bench.store, view.note.id, ADA)) == {"", "Theirs.", "Hers."}
    assert book.removed(ADA) == ()


@pytest.mark.parametrize(("giver", "taker"), [(True, False), (False, True), (True, True)])
def test_a_search_that_one_of_them_removed_is_there(bench, giver, taker):
    search = ask(bench, "One")
    ask(bench, "One", ADA)
    for removes, person in ((giver, ""), (taker, ADA)):
        if removes:
            bench.history.remove(search.id, person)
    bench.people.transfer_ownership(ADA)
    assert bench.history.asked(person=ADA)[1] == (0 if giver and taker else 1)
    assert len(bench.history.removed(ADA)) == (1 if giver and taker else 0)


@pytest.mark.parametrize(("hers", "after"), [([], ["Who?", "When?"]), (["When?", "Why?"], ["When?", "Why?", "Who?"])])
def test_what_was_asked_of_a_model_about_a_search_comes_along(bench, hers, after):
    search_id, further = ask(bench, "One").id, bench.model_reading.further
    for person, questions in (("", ["Who?"]), ("", ["Who?", "When?"]), (ADA, hers), (BEN, ["How?"])):
        if questions:
            bench.store.reading_texts.add("further", f"{search_id}/{person}", json.dumps(questions))
    bench.people.transfer_ownership(ADA)
    assert [further(search_id, person) for person in ("", ADA, BEN)] == [[], after, ["How?"]]


def test_others_are_left_alone(bench, ferry):
    hers = bench.notebook.keep(ferry.id, "1.1.1", person=BEN)
    ask(bench, "One", BEN)
    bench.notebook.keep(ferry.id, "1.1.1")
    bench.people.transfer_ownership(ADA)
    assert [view.note for view in bench.notebook.notes(person=BEN)] == [hers]
    assert bench.history.asked(person=BEN)[1] == 1


def test_nothing_moves_where_something_fails(bench, ferry, monkeypatch):
    bench.notebook.keep(ferry.id, "1.1.1")
    ask(bench, "One")
    before = bench.people.known()

    def fails(*_):
        raise RuntimeError

    monkeypatch.setattr("relic_core.store.people._transfer_searches", fails)
    with pytest.raises(RuntimeError):
        bench.people.transfer_ownership(ADA)
    assert bench.people.known() == before


def test_an_address_that_somebody_had_once_gets_nothing_without_their_number(bench, ferry):
    bench.people.signed_in(ADA, "ada@new.example.org")
    ask(bench, "A claim of nobody's")
    with pytest.raises(BadRequest, match=f"another address.* {ADA}"):
        bench.people.transfer_ownership("ada@example.org")
    assert bench.people.transfer_ownership("ada@new.example.org").searches == 1
    assert bench.people.transfer_ownership("nobody", "ada@example.org").searches == 1, "whose they were may be said so"


def test_a_collection_that_was_handed_over_meanwhile_is_not_taken_back_by_a_new_name(bench, monkeypatch):
    collection = bench.notebook.add_collection("Mine")
    looked = bench.store.collections.all

    def hand_over_meanwhile(person):
        there = looked(person)
        monkeypatch.undo()
        bench.people.transfer_ownership(ADA)
        return there

    monkeypatch.setattr(bench.store.collections, "all", hand_over_meanwhile)
    with pytest.raises(NotFound):
        bench.notebook.rename_collection(collection.id, "Mine again")
    assert [names(bench), names(bench, ADA)] == [[], ["Mine"]]


def test_nobody_is_handed_their_own(bench):
    with pytest.raises(BadRequest, match="different people"):
        bench.people.transfer_ownership(ADA, "ada@example.org")


# ---- two notes on one passage -------------------------------------------------------------------------------------


def note(words="", tags=(), verdict=None):
    kept = KeptPassage(
        work_id="ferry", sha256="f" * 64, title="The Ferry", author="A. Nobody", at="1.1.1", length=1, start=1, end=9,
        place="One", chapter="One", paragraph=1, quotation="Lantern.",
    )  # fmt: skip
    later = NOW + timedelta(hours=1)
    return Note(
        id="n", collection_id="c", kept=kept, words=words, tags=tags, verdict=verdict, created=NOW, updated=later
    )


@pytest.mark.parametrize(
    ("earlier", "later", "both"),
    [("", "B", "B"), ("A", "", "A"), ("A", "B", "A\n\nB"), ("A", "A and B", "A and B"), ("A and B", "B", "A and B")],
)
def test_words_of_both_are_there_once(earlier, later, both):
    assert brought_together(note(earlier), note(later)).words == both


def test_what_is_too_much_for_one_note_stays_with_the_earlier_versions():
    long = brought_together(note("a" * LONGEST_WORDS), note("b"))
    assert long.words == "b"
    tags = brought_together(note(tags=tuple("abcdefghijklmno")), note(tags=tuple("ABCdefpqrstuvwx"))).tags
    assert len(tags) == MOST_TAGS
    assert tags[:15] == tuple("ABCdefpqrstuvwx")


def test_the_later_verdict_counts():
    assert brought_together(note(verdict="supports"), note(verdict="unsure")).verdict == "unsure"
    assert brought_together(note(verdict="supports"), note()).verdict == "supports"


# ---- the commands -------------------------------------------------------------------------------------------------


@pytest.fixture
def run(bench, capsys):
    def command(*arguments):
        try:
            code = cli.main([*map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_the_command_lists_and_hands_over_and_says_how_much(bench, run, ferry):
    bench.notebook.keep(ferry.id, "1.1.1")
    ask(bench, "A claim about lanterns")
    assert "nobody" in run("hand-over")[1]
    code, said, _ = run("hand-over", "ada@example.org")
    assert (code, said) == (0, SAYS["handed over"] + "\n")
    assert run("hand-over", "ada@example.org")[:2] == (0, SAYS["nothing to hand over"] + "\n")
    assert run("hand-over", "ada@example.org", "--from", "zoe@example.org")[0] == 1
    assert run("hand-over", "--from", "ada@example.org")[0] == 2
    assert run("hand-over", "nobody", "--from", "ada@example.org")[0] == 0


def test_commands_show_one_persons_things(bench, run, ferry, tmp_path):
    bench.notebook.keep(ferry.id, "1.1.2", person=ADA)
    ask(bench, "A claim about lanterns", ADA)
    assert SAYS["nothing kept"] in run("notebook")[1]
    assert SAYS["no searches"] in run("history")[1]
    assert "1.1.2" in run("notebook", "--person", "ada@example.org")[1]
    assert "lanterns" in run("history", "--person", "ada@example.org")[1]
    for file in (tmp_path / "ada.json", tmp_path / "ada.md"):
        assert run("notebook", "export", file, "--person", ADA)[0] == 0
        assert "Nobody counted the lanterns" in file.read_text(encoding="utf-8")
    assert "Taken in: 1 note." in run("notebook", "import", tmp_path / "ada.json")[1]
    assert "Here already: 1." in run("notebook", "import", tmp_path / "ada.json", "--person", ADA)[1]
    code, _, told = run("notebook", "--person", "zoe@example.org")
    assert (code, "zoe@example.org yet." in told) == (1, True)


def test_a_command_removes_a_search_and_puts_it_back(bench, run):
    search = ask(bench, "A claim about lanterns")
    code, said, _ = run("history", "remove", search.id)
    assert (code, f"history restore {search.id}" in said) == (0, True)
    assert SAYS["no searches"] in run("history")[1]
    assert "lanterns" in run("history", "--removed")[1]
    code, _, told = run("history", "show", search.id)
    assert (code, "was removed" in told) == (1, True)
    assert run("history", "remove", search.id)[0] == 0, "it is removed"
    assert len(bench.history.removed()) == 1
    assert SAYS["search restored"] in run("history", "restore", search.id)[1]
    assert "lanterns" in run("history")[1]
    assert run("history", "show", search.id, "--person", ADA)[0] == 2
    assert run("history", "--removed", "--words", "x")[0] == 2


def test_a_collection_named_as_a_removed_one_is_no_hindrance(bench, ferry):
    book = bench.notebook
    book.keep(ferry.id, "1.1.1")
    hers = book.add_collection("My notes", ADA)
    book.remove_collection(hers.id, ADA)
    bench.people.transfer_ownership(ADA)
    assert names(bench, ADA) == ["My notes"]
    assert [each.name for each in book.removed_collections(ADA)] == ["My notes"]


def test_a_collection_of_no_notes_goes_into_its_namesake(bench):
    bench.store.collections.add(Collection(id="c", name="Light", created=NOW))
    bench.store.collections.add(Collection(id="d", name="light", created=NOW, person=ADA))
    assert bench.people.transfer_ownership(ADA).collections == 1
    assert names(bench, ADA) == ["light"]
