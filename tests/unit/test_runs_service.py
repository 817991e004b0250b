"""Runs: those that came with the program and those made here, and reading an outcome."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from unittest.mock import Mock

import pytest

from relic_core.domain import Address
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.formats import run_files
from relic_core.formats.run_files import write_run
from relic_core.services import recall
from relic_core.services import runs as runs_module
from relic_core.services.recall import Missing
from relic_core.services.runs import Runs
from relic_core.wiring import build
from tests.making import make_work
from tests.making_runs import book_of, make_books, make_outcomes, make_run, outcomes_in


@pytest.fixture
def shipped(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


@pytest.fixture
def workbench(settings, shipped, monkeypatch):
    monkeypatch.setattr(runs_module, "SHIPPED", shipped)
    return build(settings)


def measured(**given):
    books = make_books(3)
    outcomes = make_outcomes(books, seed=3)
    return make_run(books, outcomes, **given), outcomes


def ship(folder, run, outcomes):
    write_run(folder / f"{run.id}.json", run, outcomes)


# ---- which there are ----------------------------------------------------------------------------------------------


def test_shipped_and_stored_runs_are_listed_newest_first(workbench, shipped):
    (old, outcomes), (new, _), (middle, _) = (measured(shape=s, age=a) for s, a in (("4/4", 9), ("1/1", 0), ("1/0", 4)))
    ship(shipped, old, outcomes)
    workbench.store.runs.add(new, outcomes)
    ship(shipped, middle, outcomes)
    assert [(run.id, run.shipped) for run in workbench.runs.all()] == [
        (new.id, False), (middle.id, True), (old.id, True),
    ]  # fmt: skip
    assert workbench.runs.outcomes(old.id) == workbench.runs.outcomes(new.id) == outcomes


def test_a_run_that_is_shipped_and_stored_is_one(workbench, shipped):
    run, outcomes = measured()
    ship(shipped, run, outcomes)
    workbench.store.runs.add(run, outcomes)
    (found,) = workbench.runs.all()
    assert found.shipped


def test_a_run_that_was_measured_again_is_not_said_to_have_come_with_the_program(workbench, shipped):
    (run, outcomes), (other, _) = measured(age=9), measured(shape="1/1")
    for each in (run, other):
        ship(shipped, each, outcomes)
    assert all(map(workbench.runs.came_along, workbench.runs.all()))
    workbench.store.runs.add(replace(run, created=run.created + timedelta(days=1)), outcomes, again=True)
    assert [each.id for each in workbench.runs.all() if workbench.runs.came_along(each)] == [other.id]


def test_a_shipped_run_can_be_tagged_and_stays_shipped(workbench, shipped, settings):
    run, outcomes = measured()
    ship(shipped, run, outcomes)
    workbench.runs.tag(run.id, ["baseline"])
    for bench in (workbench, build(settings)):
        assert (bench.runs.find(run.id).tags, bench.runs.find(run.id).shipped) == (("baseline",), True)


def test_a_run_is_removed_and_comes_back(workbench):
    run, outcomes = measured()
    workbench.store.runs.add(run, outcomes)
    assert workbench.runs.outcomes(run.id) == outcomes
    workbench.runs.remove(run.id)
    assert workbench.runs.all() == ()
    for ask in (workbench.runs.find, workbench.runs.outcomes):
        with pytest.raises(NotFound, match=run.id):
            ask(run.id)
    assert workbench.runs.restore(run.id).id == run.id
    assert workbench.runs.outcomes(run.id) == outcomes


def test_a_shipped_run_is_not_removed(workbench, shipped):
    run, outcomes = measured()
    ship(shipped, run, outcomes)
    with pytest.raises(BadRequest, match="program"):
        workbench.runs.remove(run.id)
    assert [each.id for each in workbench.runs.all()] == [run.id]


@pytest.mark.parametrize("ask", ["find", "outcomes", "remove", "restore"])
def test_a_run_that_is_not_there_is_told(workbench, ask):
    with pytest.raises(NotFound, match="nowhere"):
        getattr(workbench.runs, ask)("nowhere")


def test_a_run_that_was_measured_again_has_its_new_outcomes(workbench, shipped):
    run, outcomes = measured()
    ship(shipped, run, outcomes)
    workbench.store.runs.add(run, outcomes)
    assert workbench.runs.outcomes(run.id) == outcomes
    for days in (1, 2):
        later = replace(run, created=run.created + timedelta(days=days))
        moved = tuple(replace(each, rank=days, overlap_rank=days) for each in outcomes)
        workbench.store.runs.add(later, moved, again=True)
        assert workbench.runs.find(run.id).created == later.created
        assert workbench.runs.outcomes(run.id) == moved


def test_a_damaged_shipped_run_is_told_by_its_file(workbench, shipped):
    run, outcomes = measured()
    ship(shipped, run, outcomes)
    path = shipped / f"{run.id}.json"
    path.write_text(path.read_text()[:-40])
    with pytest.raises(BadBenchmark, match=run.id):
        workbench.runs.all()


def test_outcomes_are_read_of_the_runs_that_are_asked_for_alone(workbench, shipped, monkeypatch):
    run, outcomes = measured()
    ship(shipped, run, outcomes)
    read = Mock(wraps=run_files.read_outcome)
    monkeypatch.setattr(run_files, "read_outcome", read)
    assert [each.id for each in workbench.runs.all()] == [run.id]
    assert read.call_count == 0
    for _ in range(2):
        assert workbench.runs.outcomes(run.id) == outcomes
    assert read.call_count == len(outcomes)


def test_the_runs_that_come_with_the_program_can_be_read(settings):
    for run in Runs(build(settings).store.runs).all():
        assert run.shipped


# ---- reading an outcome -------------------------------------------------------------------------------------------


@pytest.fixture
def read(workbench):
    """Give a run of three outcomes in a work that is in the library, and what it reads."""
    work = make_work(
        [["The tide came in.", "She kept the gauge."], "He kept the books."],
        ["It rained.", "Nobody came.", "Lamps were lit.", "The end."],
        title="The Gauge",
    )  # fmt: skip
    outcomes = outcomes_in(work, "gauge", [2, 1, None], length=2)
    run = make_run([book_of(work, "gauge")], outcomes)
    return work, run, outcomes


def test_an_outcome_is_read_in_the_work_of_the_library(workbench, read):
    work, run, outcomes = read
    workbench.store.works.add(work)
    one = workbench.outcomes.read([(run, outcomes[0])])[0]
    assert one.gold.passage.plain == "The tide came in. She kept the gauge."
    assert one.gold.place.label == "Chapter 1 · paragraph 1"
    assert (one.gold.work_id, one.gold.length) == (work.id, 2)
    assert [work.sentence_at(Address.parse(str(hit.place.address))) for hit in one.first] == [1, 2, 3]
    assert one.first[0].passage.plain == "She kept the gauge.\n\nHe kept the books."


def test_without_the_work_there_are_offsets_and_how_to_have_the_text(workbench, read):
    _, run, outcomes = read
    one = workbench.outcomes.read([(run, outcomes[0])])[0]
    assert (one.gold.offsets, one.gold.passage, one.gold.place, one.gold.work_id) == (outcomes[0].gold, None, None, "")
    assert [hit.offsets for hit in one.first] == list(outcomes[0].first)
    assert Missing("work", "The Gauge") in one.missing


def test_a_work_of_the_shelf_that_was_not_added_is_named(workbench, read):
    _, run, outcomes = read
    emma = replace(run.books[0], key="emma", title="Emma")
    one = workbench.outcomes.read([(replace(run, books=(emma,)), replace(outcomes[0], book="emma"))])[0]
    assert Missing("work", "Emma") in one.missing


def test_another_edition_is_not_read_by_offsets_that_are_not_its_own(workbench, read):
    work, run, outcomes = read
    workbench.store.works.add(replace(work, title="Emma", author="Jane Austen", year=1815))
    emma = replace(run.books[0], key="emma", title="Emma", sha256="0" * 64)
    one = workbench.outcomes.read([(replace(run, books=(emma,)), replace(outcomes[0], book="emma"))])[0]
    assert one.gold.passage is None
    assert Missing("edition", "Emma") in one.missing


def test_offsets_beyond_the_text_give_no_passage(workbench, read):
    work, run, outcomes = read
    workbench.store.works.add(work)
    one = workbench.outcomes.read([(run, replace(outcomes[0], gold=(10**6, 10**6 + 5)))])[0]
    assert one.gold.passage is None
    assert one.first[0].passage is not None


def test_sentences_cut_otherwise_since_are_shown_whole(workbench, read):
    work, run, outcomes = read
    workbench.store.works.add(work)
    start, end = outcomes[0].gold
    one = workbench.outcomes.read([(run, replace(outcomes[0], gold=(start + 3, end - 3)))])[0]
    assert one.gold.passage.plain == "The tide came in. She kept the gauge."


def test_the_passages_of_a_given_pool_are_not_looked_for_in_works(workbench, read):
    work, run, outcomes = read
    workbench.store.works.add(work)
    one = workbench.outcomes.read([(replace(run, pool="given"), outcomes[0])])[0]
    assert one.gold.passage is None
    assert Missing("pool", run.benchmark) in one.missing


def sample_run(workbench, shape="4/4"):
    """Make a run of the sample's first two examples."""
    benchmark = workbench.benchmarks.open("sample")
    windows = benchmark.windows()[:2]
    work = benchmark.work(windows[0].pool)
    outcomes = tuple(
        replace(
            outcomes_in(work, window.book, [5])[0],
            example_id=window.id,
            gold=(work.sentences[window.gold.start].start, work.sentences[window.gold.end - 1].end),
        )
        for window in windows
    )
    return make_run(benchmark.books(), outcomes, benchmark="sample", shape=shape), outcomes, windows, work


def test_the_claim_is_shown_in_the_shape_of_the_run(workbench):
    run, outcomes, windows, _ = sample_run(workbench, shape="1/0")
    one = workbench.outcomes.read([(run, outcomes[0])])[0]
    assert one.claim == windows[0].claim(run.shape)
    assert one.claim.right == ""


def test_where_the_library_has_no_copy_the_benchmark_gives_the_text_without_a_link(workbench):
    run, outcomes, windows, work = sample_run(workbench)
    assert workbench.works.summaries() == ()
    one = workbench.outcomes.read([(run, outcomes[0])])[0]
    assert one.gold.passage.plain.split() == work.span_text(windows[0].gold).replace("_", "").split()
    assert (one.gold.place, one.gold.work_id, one.missing) == (None, "", ())


def test_the_benchmarks_text_is_not_read_by_the_offsets_of_another(workbench):
    run, outcomes, *_ = sample_run(workbench)
    one = workbench.outcomes.read([(replace(run, books=(replace(run.books[0], sha256="0" * 64),)), outcomes[0])])[0]
    assert one.gold.passage is None
    assert one.claim is not None


def test_an_example_of_that_name_in_another_book_has_another_claim(workbench):
    run, outcomes, *_ = sample_run(workbench)
    other = replace(run.books[0], key="other")
    one = workbench.outcomes.read([(replace(run, books=(other,)), replace(outcomes[0], book="other"))])[0]
    assert one.claim is None
    assert Missing("example", "sample") in one.missing


def test_a_benchmark_whose_data_are_not_here_is_not_asked_for_again_at_once(workbench, read, monkeypatch):
    _, run, outcomes = read
    asked = []
    monkeypatch.setattr(workbench.benchmarks, "open", lambda name: asked.append(name) or _raise(NotFound("Not here.")))
    one, two = workbench.outcomes.read([(run, outcomes[0]), (run, outcomes[1])])
    assert asked == [run.benchmark]
    assert Missing("data", run.benchmark) in one.missing
    assert one.missing == two.missing
    monkeypatch.setattr(recall, "_ASKED_AGAIN", -1.0)
    workbench.outcomes.read([(run, outcomes[0])])[0]
    assert len(asked) == 2


def test_claims_are_read_where_the_novels_are_not_in_the_library(shared, settings, shipped):
    workbench = build(replace(settings, benchmarks=shared / "benchmarks"))
    run = next(
        each
        for each in Runs(workbench.store.runs).all()
        if each.benchmark == "birco-novels" and str(each.shape) == "4/4"
    )
    outcome = Runs(workbench.store.runs).outcomes(run.id)[0]
    one = workbench.outcomes.read([(run, outcome)])[0]
    assert len(one.claim.words) > 20
    assert {each.what for each in one.missing} == {"work"}


def test_a_benchmark_that_needs_its_works_for_its_claims_says_so(workbench, read, monkeypatch):
    _, run, outcomes = read
    run = replace(run, benchmark="birco-pools")
    monkeypatch.setattr(workbench.benchmarks, "open", lambda name: _raise(BadBenchmark("Damaged.")))
    monkeypatch.setattr(
        "relic_core.evaluation.benchmarks.registry.unplaced", lambda *_, **__: _raise(BadBenchmark("x"))
    )
    assert Missing("damaged", "birco-pools") in workbench.outcomes.read([(run, outcomes[0])])[0].missing
    monkeypatch.setattr(recall, "_ASKED_AGAIN", -1.0)
    monkeypatch.setattr(workbench.benchmarks, "open", lambda name: _raise(NotFound("No works.")))
    monkeypatch.setattr("relic_core.evaluation.benchmarks.registry.unplaced", lambda *_, **__: ())
    assert Missing("needs works", "birco-pools") in workbench.outcomes.read([(run, outcomes[0])])[0].missing


def _raise(error):
    raise error
