"""Mining for a workbench: what is taken in, what is not done twice, what goes on after a run was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from relic_core.config import Settings
from relic_core.errors import BadText, JobCancelled, NotFound
from relic_core.mining import runs, volumes
from relic_core.wiring import App, build
from tests.criticism import ESSAYS, FRENCH, NOVEL, SECOND, add_novel, write_books, write_zip
from tests.inline import InProcess

RUN = Path(__file__).with_name("mining_run.py")
PROJECT = RUN.parents[2]
HERE = InProcess()


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(data=tmp_path / "data", indexes=tmp_path / "indexes")


@pytest.fixture
def books(tmp_path) -> Path:
    return write_books(tmp_path / "books", essays=ESSAYS, widows=SECOND)


def state(bench: App):
    windows = {each.window.id: each for batch in bench.store.windows.iterate("all") for each in batch}
    sources = sorted((each.source.name, each.language, each.problem) for each in bench.store.sources.all())
    return sources, sorted(bench.store.pairs.ids()), windows


def test_sources_are_mined_and_what_was_found_is_kept(bench, books):
    work = add_novel(bench)
    summary = bench.mining.run([books], workers=HERE)
    assert (summary.mined, summary.pairs, summary.windows, summary.problems) == (2, 4, 4, {})
    assert {each.source.name for each in bench.sources.all()} == {"essays.txt", "widows.txt"}
    assert len(bench.store.windows.page(work_id=work.id, show="all")[1]) == 4
    assert "2 books mined: 4 quotations of any book, and 4 windows" in summary.note


def test_a_second_run_does_nothing(bench, books, monkeypatch):
    add_novel(bench)
    bench.mining.run([books], workers=HERE)
    before = state(bench)
    monkeypatch.setattr(volumes, "mine_volume", None)  # nothing may be given out
    summary = bench.mining.run([books], workers=HERE)
    assert (summary.mined, summary.already, state(bench)) == (0, 2, before)


def test_the_same_book_by_another_way_is_not_mined_again(bench, books, tmp_path):
    add_novel(bench)
    bench.mining.run([books], workers=HERE)
    before = state(bench)
    archive = write_zip(tmp_path / "same.zip", {"essays.txt": ESSAYS, "twice.txt": ESSAYS})
    summary = bench.mining.run([archive], workers=HERE)
    assert (summary.mined, summary.already, summary.twice, state(bench)) == (0, 1, 1, before)


def test_again_mines_all_anew_and_adds_nothing_twice(bench, books):
    add_novel(bench)
    bench.mining.run([books], workers=HERE)
    before = state(bench)
    assert bench.mining.run([books], workers=HERE, again=True).mined == 2
    assert state(bench) == before


def test_a_work_that_is_new_is_looked_for_alone(bench, books):
    add_novel(bench, SECOND * 2, title="Another Book")
    first = bench.mining.run([books], workers=HERE)
    assert not bench.mining.due()
    work = add_novel(bench)
    assert bench.mining.due()
    asked = []

    class Listening(InProcess):
        def map(self, function, tasks):
            for task in tasks:
                asked.append(task)
                yield function(task)

    summary = bench.mining.run([], workers=Listening())
    assert {task.among for task in asked} == {frozenset({work.id})}
    assert not any(task.pairs for task in asked)
    assert (first.pairs, summary.pairs, summary.windows, bench.store.pairs.count()) == (4, 0, 4, 4)
    assert not bench.mining.due()


def test_only_the_works_that_are_named_are_looked_for(bench, books):
    add_novel(bench)
    other = add_novel(bench, NOVEL.replace("Orlick", "Amos"), title="Another Count")
    bench.mining.run([books], workers=HERE, works=[other.id])
    assert {each.window.work_id for each in state(bench)[2].values()} == {other.id}
    assert bench.mining.due()


def test_without_works_there_are_pairs(bench, books):
    summary = bench.mining.run([books], workers=HERE)
    assert (summary.pairs, summary.windows) == (4, 0)


def test_rules_that_changed_make_everything_due(bench, books, monkeypatch):
    add_novel(bench)
    bench.mining.run([books], workers=HERE)
    before = state(bench)
    monkeypatch.setattr(volumes, "WINDOW_RULES", "windows/next")
    assert bench.mining.due()
    assert bench.mining.run([], workers=HERE).mined == 2
    assert state(bench) == before


def test_what_cannot_be_read_is_told_by_name_and_the_rest_is_done(bench, books):
    add_novel(bench)
    (books / "spoilt.txt").write_bytes(b"\x00\x01\x02" * 99)
    (books / "roman.txt").write_text(FRENCH)
    summary = bench.mining.run([books], workers=HERE)
    assert (summary.mined, summary.unread, summary.windows) == (3, 1, 4)
    assert {name for names in summary.problems.values() for name in names} == {"spoilt.txt", "roman.txt"}
    told = {each.source.name: each.problem for each in bench.sources.all() if each.problem}
    assert "'fr'" in told["roman.txt"]
    assert set(told) == {"spoilt.txt", "roman.txt"}
    assert bench.mining.run([books], workers=HERE).already == 3


def test_a_book_that_was_repaired_takes_the_place_of_the_damaged_one(bench, books):
    (books / "essays.txt").write_bytes(b"\x00\x01\x02" * 99)
    bench.mining.run([books], workers=HERE)
    (books / "essays.txt").write_text(ESSAYS)
    bench.mining.run([books], workers=HERE)
    assert [(name, problem) for name, _, problem in state(bench)[0]] == [("essays.txt", ""), ("widows.txt", "")]


def test_a_volume_that_was_lost_is_tried_again(bench, books):
    class Losing(InProcess):
        def map(self, function, tasks):
            for task in tasks:
                yield volumes.lost(task, "the process died") if "widows" in task.file.name else function(task)

    summary = bench.mining.run([books], workers=Losing())
    assert (summary.mined, summary.unread) == (1, 1)
    assert bench.mining.run([books], workers=HERE).mined == 1
    assert [problem for _, _, problem in state(bench)[0]] == ["", ""]


def test_a_source_that_was_removed_stays_away(bench, books):
    bench.mining.run([books], workers=HERE)
    removed = bench.sources.remove(bench.sources.all()[0].source.id)
    summary = bench.mining.run([books], workers=HERE, pairs=True)
    assert (summary.removed, summary.already) == (1, 1)
    assert removed.id not in {each.source.id for each in bench.sources.all()}


def test_a_text_keeps_its_id_when_a_table_gives_it_another_title(bench, books):
    bench.mining.run([books], workers=HERE)
    before = {each.source.id for each in bench.sources.all()}
    (books / "list.csv").write_text("file,title\nessays.txt,Rivers\n")
    bench.mining.run([books], workers=HERE, again=True)
    assert {each.source.id for each in bench.sources.all()} == before
    assert "Rivers" in {each.source.title for each in bench.sources.all()}


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_run_that_was_killed_is_gone_on_with(bench, books, settings, taken, tmp_path):
    write_books(books, more=ESSAYS.replace("famous", "well known"))
    add_novel(bench)
    environment = {**os.environ, **settings.to_environment(), "PYTHONPATH": str(PROJECT)}
    killed = subprocess.run([sys.executable, str(RUN), str(books), str(taken)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(bench.sources.all()) == taken
    summary = bench.mining.run([books], workers=HERE)
    assert (summary.already, summary.mined) == (taken, 3 - taken)
    whole = build(Settings(data=tmp_path / "whole", indexes=tmp_path / "whole"))
    add_novel(whole)
    whole.mining.run([books], workers=HERE)
    assert state(bench) == state(whole)


def test_a_run_that_is_stopped_keeps_what_it_mined_and_judges_it(bench, books):
    add_novel(bench)

    def stop(done, total, note=""):
        if done and "left" in note:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        bench.mining.run([books], stop, workers=HERE)
    assert len(bench.sources.all()) == 1
    assert bench.mining.run([books], workers=HERE).already == 1


def test_progress_tells_books_and_the_time_left(bench, books, monkeypatch):
    clock = iter(range(0, 10_000, 60))
    monkeypatch.setattr(runs.time, "monotonic", lambda: next(clock))
    told = []
    bench.mining.run([books], lambda done, total, note="": told.append(note), workers=HERE)
    assert any("Looking through 2 books" in note for note in told)
    assert "0 of 2 books" in told
    assert any(note.startswith("1 of 2 books, ") and note.endswith(" left") for note in told)
    assert told[-1] == "2 of 2 books"


def test_a_job_mines_and_says_what_it_came_to(bench, books):
    add_novel(bench)
    job = bench.mining.start([books])
    assert (job.kind, job.state) == ("mine", "done")
    assert "2 books mined" in bench.jobs.get(job.id).note


def test_a_job_that_could_read_nothing_fails_with_the_reason(bench, tmp_path):
    (tmp_path / "spoilt.txt").write_bytes(b"\x00\x01\x02" * 99)
    with pytest.raises(BadText, match=r"spoilt\.txt"):
        bench.mining.run_job({"paths": [str(tmp_path / "spoilt.txt")]}, lambda *_: None)


def test_what_is_not_there_is_refused_before_a_job_is_started(bench, tmp_path):
    with pytest.raises(NotFound, match=str(tmp_path / "away")):
        bench.mining.start([tmp_path / "away"])
    with pytest.raises(NotFound):
        bench.mining.start([])


def test_an_upload_is_kept_once_and_under_its_name(bench, settings):
    first = bench.mining.keep("../../essays.txt", ESSAYS.encode())
    assert first.read_text() == ESSAYS
    assert first.name == "essays.txt"
    assert first.is_relative_to(settings.data)
    assert bench.mining.keep("essays.txt", ESSAYS.encode()) == first
    assert bench.mining.keep("essays.txt", SECOND.encode()) != first
    with pytest.raises(BadText, match="empty"):
        bench.mining.keep("nothing.txt", b"")


def test_places_hold_no_word_and_the_store_nothing(bench, books, tmp_path):
    add_novel(bench)
    summary = bench.mining.run([books], places=tmp_path / "places", workers=HERE)
    assert (summary.mined, summary.pairs, summary.windows) == (2, 4, 4)
    assert state(bench) == ([], [], {})
    written = "".join(path.read_text() for path in (tmp_path / "places").rglob("*") if path.is_file())
    for word in ("gravity", "forgiving", "indifference", "geraniums", "counted his"):
        assert word in ESSAYS + SECOND
        assert word not in written
    for path in [*bench.settings.data.rglob("*"), *bench.settings.indexes.rglob("*")]:
        assert not path.is_file() or b"indifference" not in path.read_bytes()


def test_places_are_gone_on_with_source_by_source(bench, books, tmp_path):
    add_novel(bench)
    bench.mining.run([books / "essays.txt"], places=tmp_path / "places", workers=HERE)
    summary = bench.mining.run([books], places=tmp_path / "places", workers=HERE)
    assert (summary.already, summary.mined) == (1, 1)
    next((tmp_path / "places").glob("*/volume.json")).write_text("{ torn")
    assert bench.mining.run([books], places=tmp_path / "places", workers=HERE).mined == 1
    add_novel(bench, SECOND * 2, title="Another Book")
    assert bench.mining.run([books], places=tmp_path / "places", workers=HERE).mined == 2


def test_places_of_an_earlier_run_go_when_something_else_is_asked_for(bench, books, tmp_path):
    add_novel(bench)
    out = tmp_path / "places"
    bench.mining.run([books / "essays.txt"], places=out, workers=HERE)
    assert {path.name for path in out.glob("*/*")} == {"volume.json", "pairs.jsonl", "windows.jsonl"}
    bench.mining.run([books / "essays.txt"], places=out, workers=HERE, pairs=False)
    assert {path.name for path in out.glob("*/*")} == {"volume.json", "windows.jsonl"}


def test_rules_that_changed_make_pairs_due_without_works(bench, books, monkeypatch):
    bench.mining.run([books], workers=HERE)
    assert not bench.mining.due()
    monkeypatch.setattr(volumes, "WINDOW_RULES", "windows/other")
    assert bench.mining.due()


def test_the_index_of_works_is_built_anew_when_it_is_damaged(bench, books, settings):
    add_novel(bench)
    bench.mining.run([books], workers=HERE)
    (settings.indexes / "quoted-works" / "manifest.json").write_text("{}")
    assert bench.mining.run([books], workers=HERE, again=True).windows == 4
