"""The notebook as files: JSON out and in, verdicts as an evaluation set."""

import json
from dataclasses import replace

import pytest

from relic_core.config import Settings
from relic_core.domain import ContextSize, Span
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.evaluation.benchmarks import relic as benchmark
from relic_core.formats.notebook import FILE, write_notebook
from relic_core.ports import silent
from relic_core.services.notebook_files import LARGEST, TakenIn
from relic_core.wiring import build
from tests.making_notes import add_ferry, ask, words_of


@pytest.fixture
def ferry(bench):
    return add_ferry(bench)


@pytest.fixture
def elsewhere(tmp_path):
    return build(Settings(data=tmp_path / "elsewhere", indexes=tmp_path / "indexes"))


@pytest.fixture
def notes(bench, ferry):
    """Three notes in two collections, one of them judged."""
    book, search = bench.notebook, ask(bench, ferry)
    first = book.keep(ferry.id, "1.1.2", origin="find", search_id=search.id, retriever="bm25", rank=1)
    second = book.keep(ferry.id, "1.2.1")
    dark = book.add_collection("Dark")
    third = book.keep(ferry.id, "2.1.1", 2, search_id=search.id, collection_id=dark.id)
    book.write(first.id, words="Nobody counts. <b>", tags=["light"], verdict="supports")
    return [first.id, second.id, third.id]


def contents(bench, person=""):
    return [
        (section.collection.name, [(note.kept, note.words, note.tags, note.verdict) for note in section.notes])
        for section in bench.notebook_files.sections(person=person)
    ]


# ---- out and in -------------------------------------------------------------------------------------------------


def test_a_notebook_taken_in_elsewhere_is_the_same_and_twice_adds_nothing(bench, elsewhere, notes):
    data = bench.notebook_files.export()
    assert elsewhere.notebook_files.take_in(data) == TakenIn(new=3, newer=0, there=0)
    assert contents(elsewhere) == contents(bench)
    before = elsewhere.store.notes.all()
    assert elsewhere.notebook_files.take_in(data) == TakenIn(new=0, newer=0, there=3)
    assert elsewhere.store.notes.all() == before
    assert bench.notebook_files.take_in(data) == TakenIn(new=0, newer=0, there=3)
    assert bench.notebook_files.export() == data


def test_one_collection_goes_out_alone(bench, elsewhere, notes):
    dark = bench.notebook.collections()[1].collection
    files = bench.notebook_files
    elsewhere.notebook_files.take_in(files.export(dark.id))
    assert [name for name, _ in contents(elsewhere)] == ["Dark"]
    assert (files.file_name("json"), files.file_name("json", dark.id)) == ("notebook.json", "notebook dark.json")
    with pytest.raises(NotFound, match="no collection 'x'"):
        files.export("x")


def test_notes_go_to_the_end_of_the_collection_of_that_name(bench, elsewhere, notes):
    other = add_ferry(elsewhere)
    elsewhere.notebook.keep(other.id, "1.1.1")
    elsewhere.notebook_files.take_in(bench.notebook_files.export())
    held = {name: [kept.at for kept, *_ in each] for name, each in contents(elsewhere)}
    assert held == {"My notes": ["1.1.1", "1.1.2", "1.2.1"], "Dark": ["2.1.1"]}


def test_what_was_written_later_counts_whichever_side_it_was_written_on(bench, elsewhere, notes):
    first, second, _ = notes
    elsewhere.notebook_files.take_in(bench.notebook_files.export())
    elsewhere.notebook.write(first, words="Later, there.")
    bench.notebook.write(second, words="Later, here.")
    assert bench.notebook_files.take_in(elsewhere.notebook_files.export()) == TakenIn(new=0, newer=1, there=2)
    assert bench.notebook.note(first).note.words == "Later, there."
    assert bench.notebook.note(second).note.words == "Later, here."
    assert words_of(bench.store, first)[-2:] == ("Nobody counts. <b>", "Later, there.")


def test_a_file_brings_back_what_was_removed(bench, notes):
    data = bench.notebook_files.export()
    bench.notebook.remove(notes[0])
    bench.notebook.remove_collection(bench.notebook.collections()[1].collection.id)
    assert bench.notebook_files.take_in(data) == TakenIn(new=2, newer=0, there=1)
    assert sorted(view.note.id for view in bench.notebook.notes()) == sorted(notes)
    assert bench.notebook.note(notes[0]).note.words == "Nobody counts. <b>"


def test_the_notes_of_one_person_taken_in_by_another_are_theirs(bench, ferry):
    bench.notebook.keep(ferry.id, "1.1.1", person="anna")
    data = bench.notebook_files.export(person="anna")
    assert b"anna" not in data
    assert bench.notebook_files.take_in(data, person="ben") == TakenIn(new=1, newer=0, there=0)
    assert len(bench.notebook.notes(person="anna")) == len(bench.notebook.notes(person="ben")) == 1
    assert bench.notebook.notes() == ()


def damaged(data, old, new):
    assert old in data
    return data.replace(old, new)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: damaged(data, b"relic notebook/1", b"relic notebook/2"), "relic notebook/2"),
        (lambda data: damaged(data, b"relic notebook/1", b"relic study/1"), "no notebook of this program"),
        (lambda data: damaged(data, b"Nobody counts.", b"Nobody counted."), "sha256"),
        (lambda data: data[: len(data) // 2], "not whole JSON"),
        (lambda data: damaged(data, b"Nobody", b"\xff"), "not text in UTF-8"),
        (lambda _: b"[]", "no notebook of this program"),
        (lambda _: b"", "not whole JSON"),
        (lambda _: b"x" * (LARGEST + 1), "too large"),
    ],
)
def test_a_file_that_is_newer_damaged_or_none_changes_nothing(bench, notes, spoil, said):
    data = bench.notebook_files.export()
    before = contents(bench)
    bench.notebook.remove(notes[0])
    with pytest.raises(BadBenchmark, match=said):
        bench.notebook_files.take_in(spoil(data), "notebook.json")
    bench.notebook.undo(notes[0])
    assert contents(bench) == before


def test_a_file_with_what_no_note_can_be_is_refused_though_its_digest_fits(bench, notes):
    whole = bench.notebook_files.export()
    for change, kept in (
        ({"verdict": "maybe"}, {}),
        ({"words": "x" * 20_001}, {}),
        ({"words": 3}, {}),
        ({"tags": "light"}, {}),
        ({"updated": "yesterday"}, {}),
        ({"updated": "2026-01-01T00:00:00"}, {}),
        ({"kept": {}}, {}),
        ({}, {"start": -1}),
        ({}, {"start": True}),
        ({}, {"at": "here"}),
        ({}, {"origin": "kitchen"}),
        ({}, {"end": 0}),
        ({"further": 1}, {}),
    ):
        content = json.loads(whole)
        note = content["collections"][0]["notes"][0]
        note["kept"] |= kept
        note |= change
        content["sha256"] = FILE.digest(content)
        with pytest.raises(BadBenchmark, match=r"notebook.json"):
            bench.notebook_files.take_in(json.dumps(content).encode(), "notebook.json")


def test_a_note_twice_in_a_file_is_refused(bench, notes):
    section = bench.notebook_files.sections()[0]
    twice = write_notebook([section._replace(notes=(*section.notes, replace(section.notes[0], words="Other.")))])
    with pytest.raises(BadBenchmark, match="is in it twice"):
        bench.notebook_files.take_in(twice)


# ---- the evaluation set -----------------------------------------------------------------------------------------


def test_the_benchmark_reads_what_supports_a_claim_with_its_gold_and_both_sides(bench, ferry, notes, tmp_path):
    book, search = bench.notebook, ask(bench, ferry)
    third = notes[2]
    book.write(third, verdict="supports")
    for at, verdict in (("1.1.1", "contradicts"), ("1.1.3", "unsure"), ("1.2.1", "")):
        book.write(book.keep(ferry.id, at, search_id=search.id).id, verdict=verdict)
    book.write(book.keep(ferry.id, "2.1.2", origin="concordance", claim_text="lantern*").id, verdict="supports")
    made = bench.notebook_files.evaluation_set()
    assert (made.examples, made.works) == (2, 1)
    assert made.left_out == {
        "they contradict their claim": 1,
        "you are unsure of them": 1,
        "they have no verdict yet": 1,
        "they were kept without a claim": 2,
    }
    path = tmp_path / "set.json"
    path.write_bytes(made.content)
    opened = benchmark.create(bench.settings, bench.works, path)
    by_id = {window.id: window for window in opened.windows()}
    assert sorted(by_id) == sorted([notes[0], third])
    window = by_id[third]
    assert window.left == ("Nobody keeps account of light.",)
    assert window.right == ("The lanterns are left to themselves.",)
    work = opened.work(window.pool)
    assert work.span_text(window.gold).split() == book.note(third).note.kept.quotation.split()


def test_verdicts_are_grades_of_passages_of_one_claim_work_and_length(bench, ferry, notes):
    book, search = bench.notebook, ask(bench, ferry)
    for at, verdict in (("1.1.1", "contradicts"), ("1.1.3", "unsure")):
        book.write(book.keep(ferry.id, at, search_id=search.id).id, verdict=verdict)
    book.write(book.keep(ferry.id, "1.2.1", claim_text="Nobody rows.").id, verdict="contradicts")
    benchmark, left_out = bench.notebook_files.graded_set()
    (context,) = benchmark.windows()
    work = benchmark.work(context.pool)
    assert {str(work.place(Span(at, 1)).address): grade for at, grade in context.grades} == {"1.1.2": 2, "1.1.3": 1}
    assert str(work.place(context.gold).address) == "1.1.2"
    assert "1, since they only contradict" in left_out
    measured = bench.measuring.measure(benchmark, "bm25", ContextSize(4, 4), progress=silent)
    assert [grade for _, grade in sorted(measured.outcomes[0].graded, key=lambda each: each[1])] == [1, 2]


def test_four_sentences_of_a_long_claim_are_taken_the_nearest(bench, ferry, tmp_path):
    claim = " ".join(f"Sentence number {n} is here." for n in range(7)) + " [MASK] " + "After. " * 6
    note = bench.notebook.keep(ferry.id, "1.1.1", claim_text=claim)
    bench.notebook.write(note.id, verdict="supports")
    (book,) = json.loads(bench.notebook_files.evaluation_set().content).values()
    left, start, length, right = book["quotes"][note.id]
    assert [each.split()[2] for each in left] == ["3", "4", "5", "6"]
    assert (start, length, len(right)) == (0, 1, 4)


def test_where_nothing_can_be_an_example_the_reasons_are_told(bench, ferry):
    book = bench.notebook
    with pytest.raises(BadRequest, match="no note to make an example of"):
        bench.notebook_files.evaluation_set()
    judged = book.keep(ferry.id, "1.1.1", claim_text="A claim.")
    book.write(judged.id, verdict="contradicts")
    with pytest.raises(BadRequest, match="Left out: 1, since they contradict their claim"):
        bench.notebook_files.evaluation_set()
    book.write(judged.id, verdict="supports")
    bench.works.remove(ferry.id)
    with pytest.raises(BadRequest, match="not in your library"):
        bench.notebook_files.evaluation_set()


def test_two_works_of_one_title_are_two_books(bench, ferry):
    from tests.making_notes import FERRY

    other = add_ferry(bench, FERRY.replace(b"rose all night", b"fell all day"))
    for work in (ferry, other):
        note = bench.notebook.keep(work.id, "1.1.1", claim_text="The river moves.")
        bench.notebook.write(note.id, verdict="supports")
    made = bench.notebook_files.evaluation_set()
    assert made.works == 2
    assert sorted(json.loads(made.content)) == sorted(f"The Ferry ({work.id})" for work in (ferry, other))
