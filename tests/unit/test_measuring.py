"""Measuring: a run is recognised, goes on where it was stopped, and is never damaged by who else measures."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from relic_core import __version__
from relic_core.config import provenance
from relic_core.domain import ContextSize
from relic_core.errors import BadBenchmark, BadRequest, JobCancelled, StoreReadOnly
from relic_core.evaluation import experiments
from relic_core.formats.run_files import write_run
from relic_core.ports import silent
from relic_core.retrieval.bm25 import Bm25
from relic_core.retrieval.dense import Dense
from relic_core.services import evaluation
from relic_core.services.runs import Runs
from relic_core.store import run_journal
from relic_core.wiring import build
from tests.fake_encoder import FakeEncoder
from tests.privileges import without_privileges
from tests.small_benchmark import Counting, SmallBenchmark

PROJECT = Path(__file__).resolve().parents[2]
SHAPE = ContextSize(1, 1)


@pytest.fixture
def workbench(settings, tmp_path):
    made = build(settings)
    vars(made)["runs"] = Runs(made.store.runs, shipped=tmp_path / "shipped")
    return made


@pytest.fixture
def said():
    return []


@pytest.fixture
def measure(workbench, said):
    def measure(benchmark=None, retriever=None, shape=SHAPE, **options):
        given = {"tell": said.append, "progress": silent, **options}
        return workbench.measuring.measure(benchmark or SmallBenchmark(), retriever or Counting(), shape, **given)

    return measure


def stop_at(share):
    """Make a progress that is stopped by Ctrl-C."""

    def progress(done, total, note=""):
        if total and done >= share * total:
            raise KeyboardInterrupt

    return progress


def partial(settings):
    return next((settings.data / "runs").glob("*/partial.jsonl"))


def test_a_run_is_kept_with_all_that_is_to_be_known_of_it(workbench, measure):
    measured = measure()
    run = measured.run
    assert workbench.store.runs.get(run.id) == run
    assert workbench.store.runs.outcomes(run.id) == measured.outcomes
    assert (run.benchmark, run.split, run.pool, run.retriever) == ("sample", "dev", "whole work", "bm25")
    assert run.configuration == dict(Bm25().configuration)
    assert [book.key for book in run.books] == ["first", "second"]
    assert run.examples == len(measured.outcomes) == 10
    assert run.index_bytes == 0
    assert run.seconds > 0
    assert run.code == provenance.code()
    assert run.machine["python"]
    assert not measured.found


def test_the_same_run_twice_is_recognised(workbench, measure, said):
    first = measure()
    again = Counting()
    second = measure(retriever=again)
    assert again.answers == 0
    assert second.found
    assert second.run == first.run
    assert second.outcomes == first.outcomes
    assert len(workbench.store.runs.all()) == 1
    assert first.run.id in said[-1]


def test_a_run_that_came_with_the_program_is_recognised(settings, tmp_path, measure):
    made = measure()
    (tmp_path / "shipped").mkdir()
    write_run(tmp_path / "shipped" / "one.json", made.run, made.outcomes)
    fresh = build(replace(settings, data=tmp_path / "other"))
    vars(fresh)["runs"] = Runs(fresh.store.runs, shipped=tmp_path / "shipped")
    asked = Counting()
    found = fresh.measuring.measure(SmallBenchmark(), asked, SHAPE, progress=silent)
    assert (found.found, found.run.shipped, asked.answers) == (True, True, 0)


def test_what_decides_the_ranks_decides_the_id(measure):
    ids = [
        measure().run.id,
        measure(shape=ContextSize(1, 0)).run.id,
        measure(retriever=Bm25(k1=1.2)).run.id,
        measure(SmallBenchmark(9)).run.id,
        measure(SmallBenchmark(every=2)).run.id,
        measure(SmallBenchmark(split="test")).run.id,
        measure(retriever="tf-idf").run.id,
    ]
    assert len(set(ids)) == len(ids)


def test_a_retriever_with_parameters_of_its_own_says_so_in_tables(measure):
    assert measure(retriever=Bm25(k1=1.2)).run.label == "BM25 (k1 1.2)"
    assert measure(retriever=Bm25()).run.label == "BM25"


def test_a_removed_run_comes_back_when_it_is_asked_for(workbench, measure):
    run = measure().run
    workbench.store.runs.remove(run.id)
    asked = Counting()
    assert measure(retriever=asked).run == run
    assert asked.answers == 0
    assert workbench.store.runs.all() == (run,)


class Other(Counting):
    """BM25 that has changed without saying so."""

    def score(self, claim, work, length):
        return -super().score(claim, work, length)


def test_measured_again_with_the_same_ranks_the_kept_run_stays(workbench, measure, said):
    first = measure()
    asked = Counting()
    second = measure(retriever=asked, again=True)
    assert asked.answers == 10
    assert (second.moved, second.outcomes) == ((), first.outcomes)
    assert "every rank is what it was" in said[-1]
    assert workbench.store.runs.get(first.run.id) == first.run


def test_measured_again_ranks_that_have_moved_take_the_place_of_the_kept_ones(settings, workbench, measure, said):
    first = measure()
    workbench.runs.tag(first.run.id, ["kept"])
    assert workbench.runs.outcomes(first.run.id) == first.outcomes
    second = measure(retriever=Other(), again=True)
    assert second.moved
    assert f"{len(second.moved)} of 10 ranks" in said[-1]
    assert "its place" in said[-1]
    for bench in (workbench, build(settings)):
        (run,) = bench.store.runs.all()
        assert run == replace(second.run, tags=("kept",))
        assert bench.store.runs.outcomes(run.id) == bench.runs.outcomes(run.id) == second.outcomes
    assert measure().outcomes == second.outcomes
    workbench.runs.remove(first.run.id)
    workbench.runs.restore(first.run.id)
    assert workbench.runs.outcomes(first.run.id) == second.outcomes
    assert measure(again=True).outcomes == first.outcomes == workbench.runs.outcomes(first.run.id)


def test_measured_again_to_check_nothing_is_changed(workbench, measure, said):
    first = measure()
    assert measure(retriever=Other(), again=True, renew=False).moved
    assert "stays as it was" in said[-1]
    assert workbench.store.runs.outcomes(first.run.id) == first.outcomes


def test_a_run_that_came_with_the_program_is_renewed_by_measuring_it_again(settings, tmp_path, measure):
    made = measure()
    (tmp_path / "shipped").mkdir()
    old = replace(made.run, created=made.run.created - timedelta(days=9))
    write_run(tmp_path / "shipped" / "one.json", old, made.outcomes)
    fresh = build(replace(settings, data=tmp_path / "other"))
    vars(fresh)["runs"] = Runs(fresh.store.runs, shipped=tmp_path / "shipped")
    fresh.runs.tag(old.id, ["kept"])
    again = fresh.measuring.measure(SmallBenchmark(), Other(), SHAPE, again=True, progress=silent)
    (run,) = fresh.runs.all()
    assert run == replace(again.run, tags=("kept",), shipped=True)
    assert fresh.runs.outcomes(run.id) == again.outcomes != made.outcomes


def test_a_run_taken_in_while_it_was_measured_is_compared(settings, tmp_path, workbench, measure, said):
    other = build(replace(settings, data=tmp_path / "other"))
    taken = other.measuring.measure(SmallBenchmark(), Other(), SHAPE, progress=silent)

    def progress(done, total, note=""):
        if done == 5:
            workbench.store.runs.add(taken.run, taken.outcomes)

    made = measure(progress=progress)
    assert made.moved
    assert "Measured again" in said[-1]
    assert workbench.runs.outcomes(made.run.id) == made.outcomes


def test_a_run_stopped_at_sixty_per_cent_goes_on_and_comes_out_the_same(settings, workbench, measure, said):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))
    assert workbench.store.runs.all() == ()
    rest = Counting()
    resumed = measure(retriever=rest)
    assert rest.answers == 4
    assert said[-1] == "Goes on: 6 of 10 were measured."
    assert resumed.run.seconds > 0
    whole = build(replace(settings, data=settings.data / "other"))
    assert whole.measuring.measure(SmallBenchmark(), Counting(), SHAPE, progress=silent).outcomes == resumed.outcomes
    assert list((settings.data / "runs").glob("*/partial.jsonl")) == []


def test_a_job_that_is_cancelled_leaves_what_it_had(settings, measure):
    def cancelled(done, total, note=""):
        if done == 3:
            raise JobCancelled("stop")

    with pytest.raises(JobCancelled):
        measure(progress=cancelled)
    assert len(partial(settings).read_bytes().splitlines()) == 1 + 1 + 3  # the head, a work, three outcomes


def test_a_last_line_that_was_cut_is_ignored(settings, measure, said):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))
    path = partial(settings)
    path.write_bytes(path.read_bytes()[:-9])
    rest = Counting()
    resumed = measure(retriever=rest)
    assert rest.answers == 5
    assert said[-1] == "Goes on: 5 of 10 were measured."
    assert [each.example_id for each in resumed.outcomes] == [f"w{number}" for number in range(10)]


def written(said):
    """Put the digest in front of a line."""
    return hashlib.sha256(said).hexdigest()[:16].encode() + b" " + said + b"\n"


def test_a_rank_that_was_changed_in_the_file_is_never_taken_up(settings, workbench, measure, said):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))
    path = partial(settings)
    lines = path.read_bytes().splitlines(keepends=True)
    digest, _, line = lines[3].partition(b" ")
    outcome = json.loads(line)
    outcome[2][5] = outcome[2][6] = 1 + outcome[2][5] % 20
    path.write_bytes(b"".join([*lines[:3], digest + b" " + json.dumps(outcome).encode() + b"\n", *lines[4:]]))
    asked = Counting()
    resumed = measure(retriever=asked)
    assert "damaged" in said[-1]
    assert asked.answers == 10
    assert workbench.measuring.measure(SmallBenchmark(), Counting(), SHAPE, again=True, progress=silent).moved == ()
    assert resumed.run.examples == 10


def test_outcomes_that_cannot_be_make_no_run(settings, workbench, measure, monkeypatch):
    whole = experiments.evaluate

    def wrong(*arguments, **options):
        first, *others = whole(*arguments, **options)
        return (replace(first, rank=540), *others)

    with monkeypatch.context() as patch:
        patch.setattr(experiments, "evaluate", wrong)
        with pytest.raises(BadBenchmark, match="540"):
            measure()
    assert workbench.store.runs.all() == ()
    assert measure().run.examples == 10


@pytest.mark.parametrize("cut", [0, 5, 60])
def test_a_file_cut_in_its_first_line_begins_anew(settings, measure, cut):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))
    path = partial(settings)
    path.write_bytes(path.read_bytes()[:cut])
    asked = Counting()
    measure(retriever=asked)
    assert asked.answers == 10


@pytest.mark.parametrize(
    "damage",
    [
        written(b'["outcome",1]'), written(b"{}"), written(b"[]"), written(b'["other"]'), b"\xff\n", b"\n",
        written(b"[" * 99_999),
    ],
)  # fmt: skip
def test_a_file_damaged_in_the_middle_begins_anew_and_says_so(settings, measure, said, damage):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))
    path = partial(settings)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], damage, *lines[4:]]))
    asked = Counting()
    measure(retriever=asked)
    assert asked.answers == 10
    assert "damaged" in said[-1]


def test_another_version_of_the_program_begins_anew_and_says_so(measure, said, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))
    monkeypatch.setattr(provenance, "code", lambda: "0.2.0")
    asked = Counting()
    assert measure(retriever=asked).run.code == "0.2.0"
    assert asked.answers == 10
    assert "another version" in said[-1]


def dense(settings, encoder):
    return Dense("zero-shot", encoder=lambda: encoder, root=settings.indexes / "benchmarks")


def test_an_index_that_has_changed_since_begins_the_run_anew_and_says_so(settings, measure, said):
    with pytest.raises(KeyboardInterrupt):
        measure(retriever=dense(settings, FakeEncoder()), progress=stop_at(0.6))

    class Other(FakeEncoder):
        def encode_sentences(self, work, progress):
            sums, counts = super().encode_sentences(work, progress)
            return sums[::-1].copy(), counts

    remove_indexes(settings)
    changed = measure(retriever=dense(settings, Other()))
    assert "an index" in said[-1]
    assert changed.run.examples == 10


def test_an_index_that_was_built_again_to_the_same_content_has_not_changed(settings, measure, said):
    with pytest.raises(KeyboardInterrupt):
        measure(retriever=dense(settings, FakeEncoder()), progress=stop_at(0.6))
    remove_indexes(settings)
    for work in SmallBenchmark().works.values():
        dense(settings, FakeEncoder()).prepare(work, silent)
    measure(retriever=dense(settings, FakeEncoder()))
    assert said[-1] == "Goes on: 6 of 10 were measured."


def test_a_run_says_how_large_its_indexes_are(settings, measure):
    with pytest.raises(KeyboardInterrupt):
        measure(retriever=dense(settings, FakeEncoder()), progress=stop_at(0.6))
    run = measure(retriever=dense(settings, FakeEncoder())).run  # of the works entered before it was stopped too
    assert run.index_bytes == sum(path.stat().st_size for path in settings.indexes.rglob("*.npy"))


def remove_indexes(settings):
    shutil.rmtree(settings.indexes)


def test_works_of_the_library_have_their_indexes_where_searching_finds_them(workbench, settings):
    benchmark = SmallBenchmark()
    assert workbench.measuring.settings_for(benchmark).indexes == settings.indexes / "benchmarks"
    for work in benchmark.works.values():
        workbench.store.works.add(work)
    assert workbench.measuring.settings_for(benchmark) == settings
    given = SmallBenchmark(pool="given")
    assert workbench.measuring.settings_for(given).indexes == settings.indexes / "benchmarks"


def test_a_data_folder_that_cannot_be_written_is_told(workbench, settings, measure):
    workbench.store.runs.all()  # makes the store, which can still be read
    settings.data.chmod(0o555)
    with without_privileges(), pytest.raises(StoreReadOnly, match="RELIC_DATA"):
        measure()


def test_a_full_disk_is_told_and_leaves_what_there_was(measure, monkeypatch, said):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))

    def full(said):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(run_journal, "_written", full)
        with pytest.raises(StoreReadOnly, match="full"):
            measure()
    measure()
    assert said[-1] == "Goes on: 6 of 10 were measured."


def test_a_fault_of_a_retriever_is_not_told_as_one_of_the_folder(measure):
    class Fault(Counting):
        def score(self, claim, work, length):
            raise PermissionError(13, "Permission denied", "/etc/model")

    with pytest.raises(PermissionError, match="model"):
        measure(retriever=Fault())


def test_what_is_not_gone_on_with_is_set_aside_until_the_run_is_finished(settings, measure, said, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        measure(progress=stop_at(0.6))
    before = partial(settings).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(provenance, "code", lambda: "0.2.0")
        with pytest.raises(KeyboardInterrupt):
            measure(progress=stop_at(0.3))
    aside = partial(settings).with_name("partial.jsonl.aside")
    assert aside.read_bytes() == before
    assert str(aside) in said[-1]
    partial(settings).unlink()
    aside.rename(aside.with_name("partial.jsonl"))  # back with the program that it was measured with
    measure()
    assert said[-1] == "Goes on: 6 of 10 were measured."
    assert [path.name for path in (settings.data / "runs").glob("*/*")] == ["lock"]


def start(folder, seconds):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.unit.slow_run", str(folder), str(seconds)],
        cwd=PROJECT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip


def test_two_processes_that_measure_the_same_make_one_run(tmp_path, settings):
    both = [start(tmp_path, 0.02), start(tmp_path, 0.02)]
    ends = [process.communicate(timeout=60)[0].splitlines()[-1].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert ends[0][:2] == ends[1][:2]
    assert sorted(int(end[2]) for end in ends) == [0, 40]  # one has measured, the other has found
    workbench = build(settings)
    (run,) = workbench.store.runs.all()
    alone = build(replace(settings, data=tmp_path / "alone"))
    expected = alone.measuring.measure(SmallBenchmark(40), Counting(), SHAPE, progress=silent)
    assert (workbench.store.runs.outcomes(run.id), run.id) == (expected.outcomes, expected.run.id)


def test_a_process_that_is_killed_leaves_a_store_that_opens_and_a_run_that_goes_on(tmp_path, settings):
    process = start(tmp_path, 0.05)
    while process.stdout.readline().strip() != "24":
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    workbench = build(settings)
    assert workbench.store.runs.all() == ()
    path = partial(settings)
    path.write_bytes(path.read_bytes()[:-4])
    whole = [json.loads(line.partition(b" ")[2])[0] for line in path.read_bytes().splitlines()[1:-1]]
    rest, said = Counting(), []
    provenance.code.cache_clear()  # the other process read the source just now, this one perhaps minutes ago
    run = workbench.measuring.measure(SmallBenchmark(40), rest, SHAPE, tell=said.append, progress=silent)
    assert rest.answers == 40 - whole.count("outcome") <= 17
    assert said[0] == f"Goes on: {whole.count('outcome')} of 40 were measured."
    alone = build(replace(settings, data=tmp_path / "alone"))
    assert run.outcomes == alone.measuring.measure(SmallBenchmark(40), Counting(), SHAPE, progress=silent).outcomes


def test_names_of_retrievers_are_read():
    assert evaluation.named_retrievers(" bm25, random,bm25") == ("bm25", "random")
    assert "bm25-reference" not in evaluation.named_retrievers("all")
    assert "bm25" not in evaluation.named_retrievers("all", without="bm25")
    (own,) = evaluation.chosen_retrievers("bm25", k1=1.2)
    assert (own.configuration["k1"], own.configuration["b"]) == ("1.2", "0.9")
    for wrong in ("", "bm52", ","):
        with pytest.raises(BadRequest):
            evaluation.named_retrievers(wrong)
    (own,) = evaluation.chosen_retrievers("bm25-lemmas", b=0.2)
    assert (own.name, own.configuration["b"]) == ("bm25-lemmas", "0.2")
    for others in ("random", "bm25,bm25-lemmas"):
        with pytest.raises(BadRequest, match="bm25 alone"):
            evaluation.chosen_retrievers(others, b=0.5)


def test_the_code_is_a_version_and_a_commit(tmp_path):
    assert provenance.code(tmp_path) == __version__
    (tmp_path / ".git").write_text("gitdir: nowhere", encoding="utf-8")
    assert provenance.code(tmp_path) == __version__  # git cannot tell
    done = tmp_path / "checkout"
    done.mkdir()
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=done, check=True)
    (done / "relic_core").mkdir()
    (done / "relic_core" / "one.py").write_text("1\n", encoding="utf-8")
    subprocess.run([*git, "add", "."], cwd=done, check=True)
    subprocess.run([*git, "commit", "-qm", "one"], cwd=done, check=True)
    version, commit, word, source = provenance.code(done).split(" ")
    assert (version, len(commit), word, len(source)) == (__version__, 12, "source", 8)
    said = {provenance.code(done)}
    for changed in ("2\n", "3\n"):  # a changed source that is changed again is another code
        provenance.code.cache_clear()
        (done / "relic_core" / "two.py").write_text(changed, encoding="utf-8")
        assert provenance.code(done).startswith(f"{__version__} {commit}+changes source ")
        said.add(provenance.code(done))
    assert len(said) == 3
    assert " source " in provenance.code()
