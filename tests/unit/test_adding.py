"""Adding works: from a mirror, from a folder, many by one job; two at once, killed half-way, on a full disk."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from relic_core.errors import BadRequest, NotFound, StoreBusy
from relic_core.services import indexing
from relic_core.services.catalogue import make_gutenberg
from relic_core.services.indexing import Preparing
from relic_core.store.engine import translate_error
from relic_core.wiring import build
from tests.approved import says
from tests.gutenberg_mirror import corpus_books, serve
from tests.inline import InlineExecutor

SAYS = says("jobs")

PROJECT = Path(__file__).resolve().parents[2]


def book(title, *, lines=3):
    prose = "".join(f"This is sentence {number} of {title}.\n" for number in range(lines))
    mark = f"OF THE PROJECT GUTENBERG EBOOK {title.upper()} ***"
    return f"Title: {title}\n\n*** START {mark}\n\n{prose}\n\n*** END {mark}\n".encode()


TITLES = {158: "Emma", 1156: "Babbitt", 105: "Persuasion", 98: "A Tale of Two Cities", 7: "Lanterns"}
BOOKS = {number: book(title) for number, title in TITLES.items()}


@pytest.fixture
def mirror():
    with serve(BOOKS) as mirror:
        yield mirror


@pytest.fixture
def bench(settings, mirror):
    """A workbench on the test's own mirror, whose jobs run to their end at once."""
    on_mirror = replace(settings, gutenberg=mirror.address, gutenberg_pause=0.0)
    return build(on_mirror, executor=InlineExecutor(on_mirror))


@pytest.fixture(autouse=True)
def prepared(monkeypatch):
    """Take note of what would be prepared, and prepare nothing."""
    ids = []

    def start(indexes, work_id, _retrievers=()):
        ids.append(work_id)
        return SimpleNamespace(id="ended", active=False, state="done", note="")

    monkeypatch.setattr("relic_core.services.indexing.Indexes.start", start)
    monkeypatch.setattr(
        "relic_core.services.jobs.Jobs.get", lambda jobs, job_id: SimpleNamespace(id=job_id, active=False)
    )
    return ids


def test_a_work_of_the_catalogue_is_fetched_with_what_is_known_of_it(bench, mirror, prepared):
    job = bench.catalogue.add(["emma"])
    assert (job.state, job.title, job.note) == ("done", "Adding Emma", "Added."), "no title twice"
    (work,) = bench.works.summaries()
    assert (work.title, work.author, work.year, work.translator) == ("Emma", "Jane Austen", 1815, "")
    assert work.source.startswith(f"Project Gutenberg 158, {mirror.address}/cache/epub/158/pg158.txt, fetched ")
    assert prepared == [work.id]
    assert next(each for each in bench.catalogue.shelf() if each.entry.slug == "emma").work == work


def test_any_number_can_be_fetched_and_one_of_the_catalogue_is_known(bench):
    job = bench.catalogue.add_gutenberg(7)
    assert (job.title, job.note) == ("Fetching no. 7 (Project Gutenberg)", SAYS["Lanterns added"])
    known = bench.catalogue.add_gutenberg(158)
    assert (known.title, known.note) == ("Fetching no. 158 (Emma)", "Added.")
    assert {work.author for work in bench.works.summaries()} == {"", "Jane Austen"}


def test_what_is_stored_is_not_asked_for_again(bench, mirror):
    bench.catalogue.add(["emma"])
    bench.catalogue.add_gutenberg(7)
    del mirror.asked[:]
    assert bench.catalogue.add(["emma"]).note == SAYS["there already"]
    assert bench.catalogue.add_gutenberg(7).note == SAYS["Lanterns there"]
    assert mirror.asked == []


def test_a_file_of_the_library_folder_stands_before_the_mirror(settings, tmp_path, mirror):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "emma.txt").write_text("Of one's own.\n")
    own = replace(settings, library=tmp_path / "texts", gutenberg=mirror.address, gutenberg_pause=0.0)
    bench = build(own, executor=InlineExecutor(own))
    bench.catalogue.add(["emma"])
    (work,) = bench.works.summaries()
    assert (work.title, work.author, work.source) == ("Emma", "Jane Austen", str(tmp_path / "texts" / "emma.txt"))
    assert mirror.asked == []


def test_one_failure_does_not_stop_the_rest(bench, mirror, prepared):
    bench.catalogue.add(["babbitt"])
    mirror.books[105] = b"  \n"
    job = bench.catalogue.add(["emma", "middlemarch", "persuasion", "the_waves", "babbitt", "a_tale_of_two_cities"])
    assert job.state == "done"
    assert job.note.startswith(SAYS["two added, one there"])
    assert "Not added: Middlemarch. Project Gutenberg's" in job.note
    assert "Not added: Persuasion. The file" in job.note
    assert SAYS["in copyright"] in job.note
    assert len(set(prepared)) == 3


def test_of_many_works_the_note_gives_numbers_and_failures_of_one_reason_are_told_together(bench, mirror):
    slugs = [each.entry.slug for each in bench.catalogue.shelf() if each.entry.split == "validation"]
    mirror.books |= {
        each.entry.gutenberg: book(each.entry.title) for each in bench.catalogue.shelf() if each.entry.gutenberg
    }
    job = bench.catalogue.add(slugs)
    assert (job.title, job.note) == ("Adding 18 works", SAYS["all added"])
    assert (job.done, job.total) == (18, 18)
    assert bench.catalogue.add(slugs).note == SAYS["all there"]


def test_a_book_that_does_not_say_its_title_is_called_by_its_number(bench, mirror):
    mirror.books[7] = b"The river rose.\n"
    assert bench.catalogue.add_gutenberg(7).note == "Added."
    assert [work.title for work in bench.works.summaries()] == ["Project Gutenberg 7"]


def test_a_job_that_adds_nothing_has_failed(bench):
    job = bench.catalogue.add(["middlemarch"])
    assert job.state == "failed"
    assert "gutenberg.org/ebooks/145" in job.note
    assert SAYS["number unknown"] in bench.catalogue.add(["to_the_lighthouse"]).note


def test_a_mirror_that_does_not_answer_is_not_asked_for_every_work(bench, mirror):
    mirror.misbehaviour += ["always 429"]
    mirror.retry_after = "3600"
    job = bench.catalogue.add(["emma", "babbitt", "persuasion", "a_tale_of_two_cities"])
    assert job.state == "failed"
    assert len(mirror.asked) == 2
    assert "Not added: Emma, Babbitt. The mirror" in job.note
    assert "Not added: Persuasion, A Tale of Two Cities." in job.note
    assert SAYS["mirror spared"] in job.note


def test_without_a_network_what_was_fetched_before_can_be_added(bench, mirror):
    bench.catalogue.add(["emma", "babbitt", "persuasion"])
    for work in bench.works.summaries():
        bench.works.remove(work.id)
    mirror.misbehaviour.append("always 500")
    job = bench.catalogue.add(["emma", "babbitt", "persuasion"])
    assert job.note.startswith(SAYS["added from copies"])


def test_the_readers_own_words_stand_over_the_catalogues(bench):
    item = bench.catalogue.item_of_number(158) | {"title": "Emma, for Clara", "year": None}
    (added,) = bench.catalogue.fetch([item], lambda *_: None).added
    assert (added.work.title, added.work.author, added.work.year) == ("Emma, for Clara", "Jane Austen", 1815)


def test_the_job_says_how_far_it_has_come(bench):
    said = []
    bench.catalogue.fetch(bench.catalogue.items(["emma", "babbitt"]), lambda *report: said.append(report))
    assert said[0] == (0, 2, "Emma")
    assert (1, 2, "Babbitt") in said
    assert said[-1] == (2, 2, "")


# Preparing many works.


@pytest.mark.parametrize("slugs", [["emma"], ["emma", "babbitt", "persuasion", "a_tale_of_two_cities"]])
def test_what_was_added_is_not_called_not_added_where_its_preparation_cannot_begin(bench, monkeypatch, slugs):
    def busy(*_):
        raise StoreBusy("The store is in use.")

    monkeypatch.setattr("relic_core.services.indexing.Indexes.start", busy)
    monkeypatch.setattr("relic_core.services.jobs.Jobs.under_way", lambda *_: ())
    start = bench.jobs.start

    def start_waiting(jobs, kind, **given):
        return busy() if kind == "prepare" else start(kind, **given)

    monkeypatch.setattr("relic_core.services.jobs.Jobs.start", start_waiting)
    note = bench.catalogue.run_fetch({"items": bench.catalogue.items(slugs)}, lambda *_: None)
    assert "Not added" not in note
    assert SAYS["unprepared"] in note
    assert SAYS["store in use"] in note
    assert len(bench.works.summaries()) == len(slugs)


def test_files_that_were_added_are_not_called_failed_where_their_preparation_cannot_begin(bench, monkeypatch, tmp_path):
    def busy(*_):
        raise StoreBusy("The store is in use.")

    monkeypatch.setattr("relic_core.services.indexing.Indexes.start", busy)
    (tmp_path / "a.txt").write_text("This is a.\n")
    job = bench.jobs.start("add", title="Adding a.txt", arguments={"paths": [str(tmp_path / "a.txt")]})
    assert job.state == "done"
    assert job.note.startswith(SAYS["A unprepared"])


def test_a_file_that_fails_is_called_by_its_name(bench, tmp_path):
    (tmp_path / "a.txt").write_text("This is a.\n")
    items = [{"path": str(tmp_path / name)} for name in ("gone.txt", "a.txt")]
    tally = bench.catalogue.fetch(items, lambda *_: None)
    assert list(tally.failed.values()) == [["gone.txt"]]
    assert "Not added: gone.txt. There is no file" in tally.note()


def test_works_can_be_added_without_preparing_them(bench, prepared):
    assert bench.catalogue.add(["emma"], prepare=False).state == "done"
    assert prepared == []
    assert bench.works.summaries()


def test_a_work_that_was_removed_meanwhile_does_not_stop_the_preparing_of_the_next(bench, monkeypatch, prepared):
    active = ["somebody else's"]
    monkeypatch.setattr("relic_core.services.jobs.Jobs.under_way", lambda jobs, kind: tuple(active))
    queue = Preparing(bench.indexes, bench.jobs, 5)
    queue.add("a")
    queue.add("b")
    assert prepared == [], "somebody else's index comes first"

    def start(_indexes, work_id, _retrievers=()):
        if work_id == "a":
            raise NotFound("There is no work 'a'.")
        prepared.append(work_id)

    monkeypatch.setattr("relic_core.services.indexing.Indexes.start", start)
    active.clear()
    queue.go_on()
    assert prepared == ["b"]


class Machine:
    """Jobs that run one at a time and take some looks each; what waits goes first."""

    def __init__(self, looks):
        self.looks = looks
        self.log = []
        self.active = []

    def start(self, _indexes, work_id, _retrievers=()):
        self.log.append(f"begin {work_id}")
        job = SimpleNamespace(id=work_id, title=f"Preparing {work_id}", active=True, state="running", note="", left=2)
        self.active.append(job)
        return job

    def under_way(self, _jobs, _kind):
        return tuple(self.active)

    def end(self, job, state):
        job.active, job.state = False, state
        self.active.remove(job)
        self.log.append(f"{state} {job.id}")

    def cancel(self, _jobs, job_id, _behind=""):
        (job,) = [job for job in self.active if job.id == job_id]
        self.end(job, "cancelled")

    def wait(self, _jobs, job_id, _timeout):
        self.looks(self)
        found = [job for job in self.active if job.id == job_id]
        for job in found:
            job.left -= 1
            if job.left == 0:
                self.end(job, "done")
        return found[0] if found else SimpleNamespace(id=job_id, active=False, state="cancelled", note="Stopped.")


def test_a_work_that_a_reader_asks_for_comes_before_those_of_a_shelf(bench, monkeypatch):
    first, second, readers = (
        bench.works.add(book(title), name="x.txt").work.id for title in ("Emma", "Babbitt", "Ours")
    )

    def looks(machine):
        if machine.log == [f"begin {first}"]:
            machine.start(None, readers)

    machine = Machine(looks)
    for place in ("indexing.Indexes.start", "jobs.Jobs.under_way", "jobs.Jobs.cancel", "jobs.Jobs.wait"):
        method = getattr(machine, place.rpartition(".")[2])
        monkeypatch.setattr(f"relic_core.services.{place}", lambda *given, method=method: method(*given))
    said = []
    note = bench.indexes.run_prepare({"works": [first, second]}, lambda done, total, note: said.append(note))
    assert machine.log == [
        f"begin {first}",
        f"begin {readers}",
        f"cancelled {first}",
        f"done {readers}",
        f"begin {first}",
        f"done {first}",
        f"begin {second}",
        f"done {second}",
    ]
    assert note == SAYS["two ready"]
    assert f"Preparing {readers} comes first" in said


def test_few_works_are_prepared_at_once(bench, prepared):
    queue = Preparing(bench.indexes, bench.jobs, 2)
    queue.add("a")
    queue.add("b")
    queue.start_waiting()
    assert prepared == ["a", "b"]
    assert bench.jobs.recent() == ()


def test_of_many_works_one_is_prepared_at_a_time_and_the_rest_by_a_job_of_its_own(bench, monkeypatch, prepared):
    active = []
    monkeypatch.setattr("relic_core.services.jobs.Jobs.under_way", lambda jobs, kind: tuple(active))
    started = []
    monkeypatch.setattr(
        "relic_core.services.jobs.Jobs.start", lambda jobs, kind, **given: started.append((kind, given))
    )
    queue = Preparing(bench.indexes, bench.jobs, 5)
    queue.add("a")
    active.append("the index of a, or somebody else's")
    for work_id in "bcde":
        queue.add(work_id)
    assert prepared == ["a"], "the first is still being prepared"
    active.clear()
    queue.go_on()
    assert prepared == ["a", "b"]
    queue.start_waiting()
    ((kind, given),) = started
    assert (kind, given["title"], given["arguments"]) == (
        "prepare",
        "Preparing 3 works",
        {"works": ["c", "d", "e"], "retrievers": []},
    )


def test_works_are_prepared_one_by_one_and_one_that_fails_does_not_stop_the_rest(bench, monkeypatch):
    ids = [bench.works.add(book(title), name="x.txt").work.id for title in ("Emma", "Babbitt", "Persuasion")]
    waits = []

    def start(indexes, work_id, _retrievers=()):
        return SimpleNamespace(id=work_id, active=True, state="running", note="")

    def wait(jobs, job_id, timeout):
        waits.append(job_id)
        ended = waits.count(job_id) > 1
        state = "failed" if job_id == ids[1] else "done"
        return SimpleNamespace(id=job_id, active=not ended, state=state if ended else "running", note="Out of memory.")

    monkeypatch.setattr("relic_core.services.indexing.Indexes.start", start)
    monkeypatch.setattr("relic_core.services.jobs.Jobs.wait", wait)
    bench.works.remove(ids[2])
    said = []
    note = bench.indexes.run_prepare({"works": [*ids, "never-was"]}, lambda *report: said.append(report))
    assert note == SAYS["one ready, one not"]
    assert waits == [ids[0], ids[0], ids[1], ids[1]]
    assert said[0] == (0, 2, "Preparing Emma")


def test_a_shelf_is_not_put_before_the_readers_own_work(bench, mirror, prepared, monkeypatch):
    """A whole split starts one index at a time: what is not begun yet waits in one job, not in fifty."""
    monkeypatch.setattr(indexing, "_AT_ONCE", 1)
    begun = []
    start = bench.jobs.start
    monkeypatch.setattr("relic_core.services.jobs.Jobs.under_way", lambda jobs, kind: tuple(prepared))
    monkeypatch.setattr(
        "relic_core.services.jobs.Jobs.start",
        lambda jobs, kind, **given: begun.append(kind) if kind == "prepare" else start(kind, **given),
    )
    bench.catalogue.run_fetch({"items": bench.catalogue.items(["emma", "babbitt", "persuasion"])}, lambda *_: None)
    assert len(prepared) == 1
    assert begun == ["prepare"]


# A killed job, two readers, a full disk.

JOB = (
    "import sys\n"
    "from relic_core.services.indexing import Indexes\n"
    "from types import SimpleNamespace\n"
    "Indexes.start = lambda self, work_id: SimpleNamespace(id='x', active=True)\n"
    "from relic_core.services.jobs import Jobs\n"
    "Jobs.start = lambda *a, **k: None\n"
    "Jobs.get = lambda *a: SimpleNamespace(active=True)\n"
    "from relic_core.wiring import build\n"
    "bench = build()\n"
    "items = bench.catalogue.items(sys.argv[1:])\n"
    "print(bench.catalogue.run_fetch({'items': items}, lambda *a: print(*a, flush=True)))\n"
)
SLUGS = ["emma", "babbitt", "persuasion", "a_tale_of_two_cities"]


def run(bench, code, *arguments):
    environment = {**os.environ, **bench.settings.to_environment(), "PYTHONPATH": str(PROJECT)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_killed_job_goes_on_where_it_was_when_asked_again(bench, mirror):
    with run(bench, JOB, *SLUGS) as process:
        for line in process.stdout:
            if line.startswith("2 4 "):
                process.kill()
                break
        process.wait()
    stored = {work.title for work in bench.works.summaries()}
    assert stored >= {"Emma", "Babbitt"}
    del mirror.asked[:]
    with run(bench, JOB, *SLUGS) as process:
        said = process.stdout.read()
    assert process.returncode == 0, said
    assert len(bench.works.summaries()) == 4
    assert not any("pg158.txt" in path or "pg1156.txt" in path for path, _ in mirror.asked)


def test_an_adder_killed_at_any_moment_leaves_a_work_whole_or_not_at_all(bench, mirror):
    mirror.books[158] = book("Emma", lines=4_000)
    with run(bench, JOB, "emma") as process:  # how long the whole takes here
        began = time.monotonic()
        process.wait()
        whole = time.monotonic() - began
    (work,) = bench.works.summaries()
    expected = bench.works.load(work.id)
    for share in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        for made in (bench.settings.data / name for name in ("relic.duckdb", "relic.duckdb.wal")):
            made.unlink(missing_ok=True)
        with run(bench, JOB, "emma") as process:
            time.sleep(share * whole)
            process.send_signal(signal.SIGKILL)
            process.wait()
        found = build(bench.settings).works.summaries()
        assert len(found) in {0, 1}
        for each in found:
            assert build(bench.settings).works.load(each.id) == replace(expected, source=each.source)
        assert build(bench.settings).works.add(book("Lanterns"), name="x.txt").outcome == "added"


def test_two_threads_that_add_one_work_store_it_once_and_are_both_told(bench):
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: bench.works.add(BOOKS[158], name="emma.txt").outcome, range(4)))
    assert sorted(outcomes) == ["added", "already", "already", "already"]
    assert len(bench.works.summaries()) == 1


ADD = (
    "import sys\n"
    "from pathlib import Path\n"
    "from relic_core.wiring import build\n"
    "bench = build()\n"
    "print('ready', flush=True)\n"
    "sys.stdin.readline()\n"
    "print(bench.works.add(Path(sys.argv[1])).outcome)\n"
)


def test_two_processes_that_add_one_work_store_it_once_and_are_both_told(bench, tmp_path):
    path = tmp_path / "emma.txt"
    path.write_bytes(book("Emma", lines=500))
    environment = {**os.environ, **bench.settings.to_environment(), "PYTHONPATH": str(PROJECT)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, str(path)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = sorted(process.communicate()[0].strip() for process in processes)
    assert outcomes == ["added", "already"]
    assert len(bench.works.summaries()) == 1


FULL = (
    "import resource, signal, sys\n"
    "from relic_core.errors import RelicError\n"
    "from relic_core.wiring import build\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "bench = build()\n"
    "room = int(sys.argv[1]) + max([p.stat().st_size for p in bench.settings.data.glob('relic.duckdb*')] or [0])\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))\n"
    "text = ''.join(f'Sentence {n} of {n * n * n} is here.\\n' for n in range(60_000)).encode()\n"
    "try:\n"
    "    print(bench.works.add(text, name='long.txt').outcome)\n"
    "except RelicError as error:\n"
    "    print(type(error).__name__, error)\n"
)


@pytest.mark.parametrize("room", [0, 500_000])
def test_on_a_full_disk_nothing_is_added_and_the_store_is_as_it_was(bench, room):
    before = bench.works.add(BOOKS[158], name="emma.txt").work
    with run(bench, FULL, str(room)) as process:
        said = process.stdout.read()
    assert "Traceback" not in said
    assert said.startswith(f"StoreFull The disk of the store {bench.settings.store} is full"), said
    assert SAYS["disc full"] in said
    assert bench.works.summaries() == (before,)
    assert bench.works.load(before.id).text.startswith("Title: Emma")
    assert bench.works.add(BOOKS[105], name="p.txt").outcome == "added", "with room again, it goes on"


def test_a_full_disk_ends_a_job_and_no_further_book_is_asked_for(bench, mirror, monkeypatch):
    def full(*_, **__):
        raise translate_error(bench.settings.store, duckdb.IOException("No space left on device"))

    monkeypatch.setattr("relic_core.store.works.WorkRows.add", full)
    job = bench.catalogue.add(SLUGS)
    assert job.state == "failed"
    assert job.note.startswith("The disk of the store")
    assert len(mirror.asked) == 1


@pytest.mark.parametrize(
    "answer", ["503", "redirect http://[bad", "redirect http://" + "x" * 70 + ".localhost/", "304", "fine"]
)
def test_an_odd_answer_for_one_book_keeps_nothing_and_leaves_the_others(bench, mirror, answer):
    mirror.retry_after = "9" * 400
    mirror.misbehaviour.append(answer)
    if answer == "fine":
        mirror.books = mirror.books | {158: b""}
    job = bench.catalogue.add(["emma", "babbitt"])
    assert job.state == "done", job.note
    assert job.note.startswith(f"{SAYS['Babbitt added']} ")
    assert "mistake" not in job.note
    assert not (bench.settings.downloads / "158").exists()


def test_a_downloads_folder_that_cannot_be_made_is_told_once(bench, mirror):
    bench.settings.data.mkdir(parents=True, exist_ok=True)
    bench.settings.downloads.write_text("a file in the place of the folder")
    job = bench.catalogue.add(["emma", "babbitt"])
    assert job.state == "failed"
    assert job.note.startswith(f"{SAYS['downloads folder']} {bench.settings.downloads} ")
    assert len(mirror.asked) < 2


def test_the_fetcher_of_the_settings_keeps_its_pause(settings):
    gutenberg = make_gutenberg(settings)
    assert gutenberg._mirror == "https://gutenberg.pglaf.org"
    assert gutenberg._gate._pause == 2.0


# Descriptions and names.


def test_a_work_can_be_corrected(bench):
    work = bench.works.add(BOOKS[158], name="emma.txt").work
    bench.works.load(work.id)
    said = bench.works.describe(work.id, title=" Emma\n(1815) ", author="Jane Austen", translator="", year=1815)
    assert (said.id, said.title, said.author, said.year) == (work.id, "Emma (1815)", "Jane Austen", 1815)
    assert said.added == work.added, "a correction is not an adding"
    assert bench.works.load(work.id).title == "Emma (1815)"
    assert bench.works.describe(work.id, title="Emma", author="", translator="", year=None).year is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"title": " \n"}, "needs a title"),
        ({"title": "\u202e"}, "needs a title"),
        ({"title": "x" * 301}, " 301 characters; at most 300"),
        ({"author": "x" * 301}, "The author has 301"),
        ({"year": 0}, "0 is not a year"),
        ({"year": 3026}, "3026 is not a year"),
        ({"year": -9_999}, "-9999 is not a year"),
    ],
)
def test_a_description_that_cannot_be_is_told_and_nothing_is_written(bench, given, said):
    work = bench.works.add(BOOKS[158], name="emma.txt").work
    with pytest.raises(BadRequest, match=said):
        bench.works.describe(work.id, **({"title": "Emma", "author": "", "translator": "", "year": 1815} | given))
    assert bench.works.summaries() == (work,)


def test_a_work_that_is_not_there_cannot_be_corrected(bench):
    with pytest.raises(NotFound, match="no work 'gone'"):
        bench.works.describe("gone", title="x", author="", translator="", year=None)


def test_a_removed_work_is_listed_and_an_old_search_can_still_say_which_edition_it_spoke_of(bench):
    first = bench.works.add(BOOKS[158], name="emma.txt").work
    second = bench.works.add(BOOKS[105], name="persuasion.txt").work
    bench.works.remove(first.id)
    bench.works.remove(second.id)
    assert [work.id for work in bench.works.removed()] == [second.id, first.id]
    assert bench.works.described(first.id) == first
    assert bench.works.restore(first.id) == first
    assert [work.id for work in bench.works.removed()] == [second.id]
    assert bench.works.described(first.id) == first
    with pytest.raises(NotFound):
        bench.works.described("never-was")


@pytest.mark.parametrize(
    ("name", "title", "source"),
    [
        ("../../etc/passwd.txt", "Passwd", "passwd.txt"),
        ("/etc/emma.txt", "Emma", "emma.txt"),
        ("C:\\texts\\emma.txt", "Emma", "emma.txt"),
        ("emma\u202etxt.exe", "Emma txt", "emma txt.exe"),
        ("em\x00ma\x07\n\x1b[31m.txt", "Em ma [31m", "em ma [31m.txt"),
        ("\u2066\u200f", "Untitled", ""),
        ("..", "Untitled", ""),
        ("", "Untitled", ""),
    ],
)
def test_the_name_of_a_file_is_made_harmless(bench, name, title, source):
    work = bench.works.add(b"Nobody counted the lanterns.\n", name=name).work
    assert (work.title, work.source) == (title, source)


def test_a_name_of_300_characters_is_shortened(bench):
    work = bench.works.add(b"Nobody counted the lanterns.\n", name="lantern " * 37 + ".txt").work
    assert len(work.title) <= 200
    assert len(work.source) <= 200
    assert work.title.startswith("Lantern lantern")


@pytest.mark.corpus
def test_real_books_come_through_the_mirror_as_they_are(shared, settings):
    """The text that is stored is that of the file itself: every third of the books whose number is known."""
    from relic_core.library.folder import text_sha256
    from relic_core.library.reading import read_file

    class Uncut:
        identity = "none/1"

        def segment(self, text, start, end):
            return []

    with serve(corpus_books(shared)) as mirror:
        gutenberg = make_gutenberg(replace(settings, gutenberg=mirror.address, gutenberg_pause=0.0))
        bench = build(replace(settings, library=shared / "corpus" / "primary"))
        shelf = [each for each in bench.catalogue.shelf() if each.path and each.entry.gutenberg in mirror.books]
        assert len(shelf) == 69
        for each in shelf[::3]:
            found = gutenberg.fetch(each.entry.gutenberg, lambda _: None)
            fetched = read_file(found.data, name="x.txt", segmenter=Uncut())
            modified = each.path.stat().st_mtime_ns
            assert fetched.sha256 == text_sha256(each.path, modified=modified, max_bytes=20_000_000), each.entry.slug


@pytest.mark.corpus
def test_a_real_book_that_was_fetched_is_the_same_work_as_its_file(shared, bench, mirror):
    path = shared / "corpus" / "primary" / "the_red_badge_of_courage.txt"
    mirror.books[73] = path.read_bytes()
    assert bench.catalogue.add(["the_red_badge_of_courage"]).state == "done"
    (work,) = bench.works.summaries()
    added = bench.works.add(path)
    assert (added.outcome, added.work) == ("already", work)
