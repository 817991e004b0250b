"""Jobs: started once, watched through their journals, stopped when asked, told of when they die."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from relic_core import wiring
from relic_core.domain.records import WAITING
from relic_core.errors import BadRequest, BadText, NotFound, StoreError, StoreReadOnly
from relic_core.services.jobs import SubprocessExecutor
from relic_core.store import locks
from relic_core.store.jobs import STOPPED, JobFolder
from relic_core.wiring import build
from tests.approved import says
from tests.inline import InlineExecutor

SAYS = says("jobs")

PROJECT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
from relic_core import wiring
from tests.unit.job_functions import count
wiring.JOBS.update(add=count, index=count)
from relic_core.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""The program, with slow work of the test in the place of its own."""


@pytest.fixture
def inline(settings, monkeypatch):
    """A workbench whose jobs run before `start` returns; gives a way to say what they do."""
    bench = build(settings, executor=InlineExecutor(settings))

    def doing(function):
        monkeypatch.setattr(wiring, "JOBS", dict.fromkeys(wiring.JOBS, function))
        return bench

    return doing


@pytest.fixture
def bench(settings):
    """A workbench whose jobs run in processes; those still running at the end are stopped."""
    bench = build(settings, executor=SubprocessExecutor(settings, ("-c", PROGRAM)))
    yield bench
    for job in bench.jobs.recent():
        if job.active:
            bench.jobs.cancel(job.id)
            assert not bench.jobs.wait(job.id, 20).active


def until(true, seconds=20):
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


def test_a_job_is_done_with_its_note_and_told_its_arguments(inline, settings):
    def work(workbench, arguments, progress):
        assert workbench.settings == settings
        progress(1, 2, "half-way")
        return f"Added {arguments['path']}."

    job = inline(work).jobs.start("add", title="Adding", subject="x", arguments={"path": "Дом.txt"})
    assert (job.state, job.note, job.kind, job.title, job.subject) == ("done", "Added Дом.txt.", "add", "Adding", "x")
    assert (job.done, job.total) == (1, 2)
    assert job.created <= job.updated


def test_a_failure_that_a_person_can_act_on_keeps_its_message(inline):
    def work(*_):
        raise BadText("The file is empty.")

    job = inline(work).jobs.start("add", title="Adding")
    assert (job.state, job.note) == ("failed", "The file is empty.")


def test_a_fault_of_the_program_is_told_and_logged(inline, caplog):
    job = inline(lambda *_: {}["key"]).jobs.start("add", title="Adding")
    assert job.state == "failed"
    assert "KeyError('key')" in job.note
    assert "Traceback" in caplog.text


def test_the_latest_job_of_a_subject_is_found_before_and_after_the_store_has_it(inline):
    bench = inline(lambda *_: "Done.")
    assert bench.jobs.latest("add", "x") is None
    bench.jobs.start("add", title="First", subject="x")
    second = bench.jobs.start("add", title="Second", subject="x")
    bench.jobs.start("add", title="Another", subject="y")
    assert bench.jobs.latest("add", "x") == second
    bench.jobs.recent()
    assert bench.jobs.latest("add", "x") == second


class _HeldFor:
    """The store in the hands of another process, for some seconds."""

    CODE = """
import sys, time
from pathlib import Path
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
with Database.at(Path(sys.argv[1])).reading(LockTimeout(5)):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""

    def __init__(self, path, seconds):
        command = [sys.executable, "-c", self.CODE, str(path), str(seconds)]
        self._process = subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": str(PROJECT)}, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout.readline() == "held\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()


def test_a_job_waits_for_the_store_much_longer_than_a_click_and_says_so(settings, inline):
    bench = inline(lambda workbench, *_: f"{len(workbench.works.summaries())} works.")
    bench.works.summaries()
    hasty = build(replace(settings, lock_seconds=0.1), executor=InlineExecutor(replace(settings, lock_seconds=0.1)))
    with _HeldFor(settings.store, 2):
        job = hasty.jobs.start("add", title="Adding")
    assert (job.state, job.note) == ("done", "0 works.")
    journal = (settings.jobs / job.id / "journal.jsonl").read_text()
    assert WAITING in journal


def test_a_job_that_waits_for_the_store_can_be_stopped(settings, inline):
    def work(workbench, *_):
        next(settings.jobs.glob("*/job.json")).with_name("cancel").touch()
        return f"{len(workbench.works.summaries())} works."

    bench = inline(work)
    bench.works.summaries()
    with _HeldFor(settings.store, 30):
        assert bench.jobs.start("add", title="Adding").state == "cancelled"


def test_a_job_asked_to_stop_stops_at_its_next_report(inline, settings):
    reports = []

    def work(_workbench, _arguments, progress):
        for step in range(5):
            progress(step, 5)
            reports.append(step)
            if step == 1:
                (folder,) = JobFolder.all(settings.jobs)
                folder.ask_to_stop()
                assert folder.job().note == "Stopping."
        return "unreached"

    job = inline(work).jobs.start("add", title="Adding")
    assert (job.state, job.note) == ("cancelled", "Stopped.")
    assert reports == [0, 1]


def test_progress_is_written_some_times_a_second_and_at_the_end(inline, settings):
    def work(_workbench, _arguments, progress):
        for step in range(2_001):
            progress(step, 2_000, f"step {step}")
        return "Done."

    began = time.monotonic()
    job = inline(work).jobs.start("add", title="Adding")
    seconds = time.monotonic() - began
    assert (job.done, job.total, job.note) == (2_000, 2_000, "Done.")
    lines = (settings.jobs / job.id / "journal.jsonl").read_text().splitlines()
    assert len(lines) <= 4 + 4 * seconds
    assert json.loads(lines[1])["note"] == "step 0"


def test_jobs_that_have_ended_are_taken_into_the_store_and_their_folders_put_away(inline, settings):
    bench = inline(lambda *_: "Done.")
    made = [bench.jobs.start("add", title=f"Adding {number}") for number in range(3)]
    recent = bench.jobs.recent()
    assert recent == tuple(reversed(made))
    assert JobFolder.all(settings.jobs) == ()
    assert [bench.jobs.get(job.id) for job in made] == made
    assert bench.jobs.recent() == recent
    assert bench.jobs.recent(2) == recent[:2]
    assert bench.jobs.cancel(made[0].id) == made[0], "what has ended stays as it is"


def test_an_unknown_job_or_kind_is_told(inline):
    bench = inline(lambda *_: "Done.")
    for strange in ("aaaaaaaa", "../..", ""):
        with pytest.raises(NotFound):
            bench.jobs.get(strange)
    with pytest.raises(BadRequest, match="Did you mean index"):
        bench.jobs.start("indexes", title="Indexing")
    with pytest.raises(NotFound, match="folder of a job"):
        bench.jobs.run(Path("nowhere"))


def test_a_data_folder_that_cannot_be_written_is_told(inline, settings):
    settings.data.parent.joinpath("data").write_text("in the way")
    with pytest.raises(StoreReadOnly, match="RELIC_DATA"):
        inline(lambda *_: "Done.").jobs.start("add", title="Adding")


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc")
def test_a_job_that_cannot_be_written_leaves_nothing_behind(inline, settings, monkeypatch):
    def full(path, *_, **__):
        path.touch()
        raise OSError(28, "No space left on device")

    bench = inline(lambda *_: "Done.")
    monkeypatch.setattr(Path, "write_text", full)
    before = descriptors()
    with pytest.raises(StoreReadOnly, match="No space left"):
        bench.jobs.start("add", title="Adding")
    assert descriptors() == before
    assert [path.name for path in settings.jobs.iterdir()] == ["start.lock"]


def test_a_process_that_cannot_be_started_is_told_and_leaves_no_job(settings, monkeypatch):
    def refuse(*_, **__):
        raise OSError(12, "No memory")

    monkeypatch.setattr("subprocess.Popen", refuse)
    bench = build(settings)
    with pytest.raises(StoreError, match=r"could not .*No memory"):
        bench.jobs.start("add", title="Adding")
    assert bench.jobs.recent() == ()


def test_a_data_folder_out_of_reach_has_no_jobs_and_says_so(settings):
    bench = build(replace(settings, data=settings.data / ("x" * 300)))
    for use in (bench.jobs.recent, lambda: bench.jobs.get("aaaaaaaa"), lambda: bench.jobs.start("add", title="Adding")):
        with pytest.raises(StoreReadOnly, match="RELIC_DATA"):
            use()


def test_the_latest_ended_jobs_are_kept_and_old_half_made_ones_removed(inline, settings):
    bench = inline(lambda *_: "Done.")
    ended = settings.jobs / "ended"
    now = time.time()
    for number in range(203):
        (ended / f"old{number}").mkdir(parents=True)
        (ended / f"old{number}" / "output.txt").touch()
        os.utime(ended / f"old{number}", (now - number, now - number))
    for name, age in (("aaaaaaaa", 90_000), ("bbbbbbbb", 60)):
        (settings.jobs / name).mkdir()
        os.utime(settings.jobs / name, (now - age, now - age))
    job = bench.jobs.start("add", title="Adding")
    assert {path.name for path in ended.iterdir()} == {f"old{number}" for number in range(200)}
    assert {path.name for path in settings.jobs.iterdir()} == {"bbbbbbbb", "ended", "start.lock", job.id}


def test_a_job_about_a_file_whose_name_is_not_in_utf_8_is_done_and_kept(inline):
    name = os.fsdecode(b"caf\xe9.txt")

    def work(_workbench, arguments, progress):
        assert arguments["paths"] == [name]
        progress(0, 1, f"Reading {name}")
        return f"{name} added."

    bench = inline(work)
    job = bench.jobs.start("add", title=f"Adding {name}", subject=name, arguments={"paths": [name]})
    assert (job.title, job.note) == ("Adding caf�.txt", "caf�.txt added.")
    assert bench.jobs.recent() == (job,)


def make_folder(tmp_path, *events):
    folder, alive = JobFolder.create(tmp_path / "jobs", kind="add", title="Adding", subject="x", arguments={})
    (folder.path / "journal.jsonl").write_bytes(b"".join(events))
    return folder, alive


def event(seconds_ago, **said):
    at = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    return json.dumps({"at": at.isoformat(), **said}).encode() + b"\n"


def test_a_flipped_bit_in_a_journal_or_in_what_was_asked_never_ends_otherwise(tmp_path):
    folder, alive = make_folder(tmp_path, event(9, state="running"), event(8, done=1, total=4, note="one"))
    for path in (folder.path / "journal.jsonl", folder.path / "job.json"):
        written = path.read_bytes()
        for bit in range(8 * len(written)):
            flipped = bytearray(written)
            flipped[bit // 8] ^= 1 << bit % 8
            path.write_bytes(flipped)
            try:
                assert folder.job().total in {0, *range(10)}
            except NotFound:
                assert path.name == "job.json"
        path.write_bytes(written)
    os.close(alive)


def test_lines_cut_short_or_strange_are_passed_over(tmp_path):
    folder, alive = make_folder(
        tmp_path,
        event(9, state="running"),
        event(8, done=1, total=4, note="one"),
        b"[]\n\n\xff\xfe\n",
        event(2, done=2, total=4, note="zwei Straßen")[:-9],
    )
    job = folder.job()
    assert (job.state, job.done) == ("running", 1)
    assert job.note.startswith("one")
    assert "2 lines" in job.note
    os.close(alive)


def test_the_time_left_is_guessed_from_the_present_stretch_of_work(tmp_path):
    folder, alive = make_folder(
        tmp_path,
        event(100, state="running"),
        event(99, done=0, total=5),
        event(50, done=5, total=5),
        event(40, done=100, total=1_000),  # gone on with from an earlier run
        event(0, done=500, total=1_000),
    )
    assert folder.job().seconds_left == pytest.approx(50, abs=2)
    os.close(alive)
    folder, alive = make_folder(tmp_path, event(9, state="running"), event(9, done=0, total=9))
    assert folder.job().seconds_left is None
    os.close(alive)


def test_a_job_without_a_living_process_has_stopped_unexpectedly(tmp_path):
    folder, alive = make_folder(tmp_path, event(9, state="running"), event(8, done=1, total=4))
    assert folder.job().active
    os.close(alive)
    job = folder.job()
    assert (job.state, job.note, job.seconds_left) == ("failed", STOPPED, None)
    folder.ask_to_stop()
    assert folder.job().state == "cancelled"


def test_looking_whether_a_lock_is_held_does_not_hold_it(tmp_path):
    path = tmp_path / "lock"
    assert not locks.is_held(path)
    handle = locks.acquire(path)
    assert locks.is_held(path)
    assert locks.acquire(path) is None
    os.close(handle)
    assert not locks.is_held(path)
    os.close(locks.acquire(path))


def test_a_job_runs_in_another_process_with_the_same_settings(bench, settings):
    job = bench.jobs.start("add", title="Counting", subject="x", arguments={"steps": 3, "pause": 0.01})
    assert job.active
    ended = bench.jobs.wait(job.id, 20)
    assert ended.state == "done", ended.note
    assert ended.note == f"Counted 3 in {settings.data}, not in {os.getpid()}."
    assert bench.jobs.recent() == (ended,)


def test_a_job_is_not_one_of_the_processes_that_were_launched_with_the_one_that_starts_it(bench, monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT", "ACCELERATE_USE_CPU", "TORCHELASTIC_RUN_ID"):
        monkeypatch.setenv(name, "1")
    arguments = {"steps": 1, "tell": ["RANK", "WORLD", "LOCAL_", "MASTER", "ACCELERATE", "TORCHELASTIC", "PATH"]}
    ended = bench.jobs.wait(bench.jobs.start("add", title="Counting", subject="x", arguments=arguments).id, 20)
    assert ended.note.endswith("It has PATH.")


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="the system does not group processes by session")
def test_a_job_gives_way_to_the_processes_of_other_sessions(bench):
    job = bench.jobs.start("add", title="Gives way", subject="x", arguments={"steps": 1, "group": True})
    assert bench.jobs.wait(job.id, 20).note.split()[-1] == "3"


def test_asking_again_for_what_is_under_way_gives_the_same_job(bench):
    first = bench.jobs.start("add", title="Counting", subject="emma", arguments={"steps": 1000, "pause": 0.02})
    again = bench.jobs.start("add", title="Counting", subject="emma")
    assert again.id == first.id
    other = bench.jobs.start("add", title="Counting", subject="maud", arguments={"steps": 0})
    assert other.id != first.id
    until(lambda: bench.jobs.get(first.id).done > 0)
    bench.jobs.cancel(first.id)
    stopped = bench.jobs.wait(first.id, 20)
    assert (stopped.state, stopped.note) == ("cancelled", "Stopped.")
    anew = bench.jobs.start("add", title="Counting", subject="emma", arguments={"steps": 0})
    assert anew.id != first.id


def test_a_killed_job_is_told_and_can_be_started_again(bench):
    job = bench.jobs.start("add", title="Counting", subject="x", arguments={"steps": 1000, "pause": 0.02})
    note = until(lambda: bench.jobs.get(job.id).note)
    os.kill(int(note.split()[-1]), signal.SIGKILL)
    failed = until(lambda: (now := bench.jobs.get(job.id)).state == "failed" and now)
    assert failed.note == STOPPED
    again = bench.jobs.start("add", title="Counting", subject="x", arguments={"steps": 1})
    assert again.id != job.id
    assert bench.jobs.wait(again.id, 20).state == "done"


class Held:
    """Takes jobs and runs none; `kill` ends all of them."""

    def __init__(self):
        self.alive = []

    def submit(self, _folder, alive):
        self.alive.append(os.dup(alive))

    def kill(self):
        while self.alive:
            os.close(self.alive.pop())


@pytest.fixture
def held(settings):
    made = Held()
    made.app = build(settings, executor=made)
    yield made
    made.kill()


def stands(jobs):
    return [(job.kind, job.subject, job.state) for job in jobs.recent()]


def test_what_gave_way_to_another_and_is_begun_again_is_never_listed_as_stopped(held):
    jobs = held.app.jobs
    first = jobs.start("index", title="Preparing Emma", subject="emma")
    jobs.cancel(first.id, "abcdefgh")
    held.kill()
    assert jobs.get(first.id).state == "cancelled", "whoever waits for it is told"
    assert stands(jobs) == []
    jobs.start("index", title="Preparing Emma", subject="emma")
    assert stands(jobs) == [("index", "emma", "queued")]
    held.kill()
    assert stands(jobs) == [("index", "emma", "failed")]


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_what_was_interrupted_and_begun_again_is_listed_once(held, how):
    jobs = held.app.jobs
    first = jobs.start("index", title="Preparing Emma", subject="emma")
    other = jobs.start("index", title="Preparing Maud", subject="maud")
    if how == "stopped":
        jobs.cancel(first.id)
        jobs.cancel(other.id)
    held.kill()
    ended = {"killed": "failed", "stopped": "cancelled"}[how]
    assert stands(jobs) == [("index", "maud", ended), ("index", "emma", ended)]
    jobs.start("index", title="Preparing Emma", subject="emma")
    assert stands(jobs) == [("index", "emma", "queued"), ("index", "maud", ended)]
    assert jobs.get(first.id).state == ended, "it is known by its id"


@pytest.fixture
def two(held):
    """The ids of the sample and of another work, of which neither is prepared."""
    sample = held.app.ensure_sample().id
    return sample, held.app.works.add(b"The ferry left. It was late. Nobody came.\n" * 9, name="x.txt").work.id


@pytest.mark.parametrize("listed", [False, True])
def test_a_preparation_that_was_killed_is_begun_again_at_the_next_start(held, two, listed):
    held.app.indexes.start(two[0])
    held.app.indexes.start_many(two)
    held.app.indexes.start_library()
    held.kill()
    if listed:
        held.app.jobs.recent()  # takes what has ended into the store
    held.app.indexes.resume()
    begun = held.app.jobs.under_way()
    assert [job.kind for job in begun] == ["index", "prepare", "library"]
    held.app.indexes.resume()
    assert held.app.jobs.under_way() == begun, "once"
    assert [job.state for job in held.app.jobs.recent()] == ["queued"] * 3


def test_what_somebody_stopped_or_has_ended_or_is_of_no_work_any_more_is_not_begun_again(held, two):
    stopped, gone = (held.app.indexes.start(each) for each in two)
    held.app.jobs.cancel(stopped.id)
    held.kill()
    held.app.works.remove(gone.subject)
    held.app.indexes.resume()
    assert held.app.jobs.under_way() == ()


def test_a_preparation_that_is_killed_each_time_is_left_alone_in_the_end(held, two):
    held.app.indexes.start(two[0])
    begun = []
    for _ in range(6):
        held.kill()
        held.app.indexes.resume()
        begun.append(len(held.app.jobs.under_way()))
    assert begun == [1, 1, 1, 0, 0, 0]
    held.app.indexes.start(two[0])
    assert len(held.app.jobs.under_way()) == 1, "somebody asked for it"


def test_a_second_index_job_waits_for_the_first_and_can_be_stopped_while_it_waits(bench):
    slow = {"steps": 1000, "pause": 0.02}
    first = bench.jobs.start("index", title="Preparing Emma", subject="emma", arguments=slow)
    until(lambda: bench.jobs.get(first.id).state == "running")
    second = bench.jobs.start("index", title="Preparing", subject="maud", arguments={"steps": 1})
    third = bench.jobs.start("index", title="Preparing", subject="zoe", arguments={"steps": 1})
    for waiting in (second, third):
        note = until(lambda waiting=waiting: bench.jobs.get(waiting.id).note)
        assert note == SAYS["waiting"]
        assert bench.jobs.get(waiting.id).state == "queued"
    bench.jobs.cancel(third.id)
    assert bench.jobs.wait(third.id, 20).state == "cancelled"
    bench.jobs.cancel(first.id)
    assert bench.jobs.wait(second.id, 20).state == "done"


def test_a_job_goes_on_when_the_process_that_started_it_ends(settings):
    starter = (
        "from relic_core.config import Settings\n"
        "from relic_core.services.jobs import SubprocessExecutor\n"
        "from relic_core.wiring import build\n"
        "settings = Settings.from_environment()\n"
        f"bench = build(settings, executor=SubprocessExecutor(settings, ('-c', {PROGRAM!r})))\n"
        "print(bench.jobs.start('add', title='Counting', arguments={'steps': 20, 'pause': 0.05}).id)\n"
    )
    environment = {**os.environ, **settings.to_environment(), "PYTHONPATH": str(PROJECT)}
    said = subprocess.run([sys.executable, "-c", starter], env=environment, capture_output=True, text=True, check=True)
    jobs = build(settings).jobs
    job_id = said.stdout.strip()
    assert jobs.get(job_id).active
    assert jobs.wait(job_id, 20).state == "done"


def test_the_workbench_brings_no_heavy_library():
    code = "import sys, relic_core.wiring; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "spacy", "streamlit", "pandas", "pyarrow", "bm25s", "faiss"}
    assert not heavy & set(said.stdout.split())
