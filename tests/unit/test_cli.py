"""Commands for works and for running the program: what they do, print and end with."""

from __future__ import annotations

import io
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from relic_core.cli import console
from relic_core.errors import BadRequest, BadWeights, NotFound, StaleIndex
from relic_core.wiring import App, build
from tests.gutenberg_mirror import serve
from tests.making import work_of

PROJECT = Path(__file__).resolve().parents[2]
TEXT = "The river rose.\n\nNobody counted the lanterns. Nobody had been asked to.\n"
BOOK = """Title: {0}

*** START OF THE PROJECT GUTENBERG EBOOK {0} ***

Nobody counted the lanterns of {0}.

*** END OF THE PROJECT GUTENBERG EBOOK {0} ***
"""


@pytest.fixture
def ferry(settings):
    work = work_of()
    build(settings).store.works.add(work)
    return work


@pytest.fixture
def river(tmp_path):
    path = tmp_path / "river.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def titles(run):
    """Give the titles of the works that are listed."""
    return lambda *options: [work["title"] for work in json.loads(run("works", "--json", *options).out)]


def test_a_text_is_added_listed_and_known_again(run, river):
    first = run("add", river, "--title", "The River", "--author", "A. Nobody", "--year", "1891")
    assert (first.code, first.err) == (0, "")
    (listed,) = json.loads(run("works", "--json").out)
    assert (listed["title"], listed["year"], listed["sentences"], listed["words"]) == ("The River", 1891, 3, 12)
    assert listed["id"] in first.out.splitlines()[0]
    assert first.out.splitlines()[1].endswith(f"index {listed['id']}")
    again = run("add", river)
    assert (again.code, "index" in again.out) == (0, False)
    heads, row = run("works").out.splitlines()
    assert heads.split() == ["id", "title", "author", "year", "format", "chapters", "sentences", "words"]
    assert row.split()[1:] == ["The", "River", "A.", "Nobody", "1891", "plain", "text", "1", "3", "12"]


def test_what_is_given_of_a_stored_text_corrects_it(run, river, titles):
    run("add", river)
    assert run("add", river, "--title", "The Flood").code == 0
    assert titles() == ["The Flood"]


def test_a_folder_is_added_whole_and_one_bad_text_does_not_stop_the_rest(run, tmp_path, titles):
    for name in ("a", "c"):
        (tmp_path / f"{name}.txt").write_text(f"This is {name}.\n")
    (tmp_path / "b.txt").write_bytes(b"")
    ran = run("add", tmp_path)
    assert (ran.code, titles()) == (1, ["A", "C"])
    assert ran.err.startswith(f"{tmp_path}/b.txt: ")
    assert run("add", tmp_path, "--title", "One title").code == 2


def test_all_of_the_library_folder_can_be_added(run, tmp_path, monkeypatch, titles):
    assert isinstance(run("add", "--all").error, BadRequest)
    (tmp_path / "a.txt").write_text("This is a.\n")
    monkeypatch.setenv("RELIC_LIBRARY", str(tmp_path))
    assert run("add", "--all").code == run("add", "a").code == 0
    assert titles() == ["A"]


def test_a_file_of_which_much_is_set_aside_is_added_with_a_word(run, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("It rose.\n\n" + "[1] A note on the river.\n\n" * 10)
    ran = run("add", path)
    assert (ran.code, ran.err.startswith("Notes: 9")) == (0, True)


@pytest.mark.parametrize(
    ("typed", "error", "named"),
    [
        (["catalogue", "--add", "ema"], BadRequest, "emma"),
        (["describe", "ferry", "--year", "4000"], BadRequest, "4000"),
        (["describe", "ferry", "--title", ""], BadRequest, "title"),
        (["remove", "gone"], NotFound, "'gone'"),
        (["restore", "ferry"], NotFound, "'ferry'"),
        (["index", "gone"], NotFound, "'gone'"),
        (["job", "gone"], NotFound, "gone"),
        (["jobs", "--stop", "gone"], NotFound, "'gone'"),
    ],
    ids=str,
)
def test_what_cannot_be_done_ends_with_1_and_a_message(run, ferry, typed, error, named):
    ran = run(*typed)
    assert (ran.code, ran.out, type(ran.error)) == (1, "", error)
    assert named in ran.err


@pytest.mark.parametrize(
    "given",
    ["gone.txt", "gutenberg:emma", "~nosuchuser/x.txt", "x" * 300, "/dev/null/x.txt"],
    ids=lambda each: each[:9],
)
def test_what_cannot_be_added_is_told_in_a_line(run, given):
    ran = run("add", given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)


@pytest.fixture
def mirror(run, monkeypatch):
    """A mirror with three books, which the commands use without a pause."""
    titles = {7: "Lanterns", 105: "Persuasion", 1342: "Pride and Prejudice"}
    with serve({number: BOOK.format(title).encode() for number, title in titles.items()}) as mirror:
        monkeypatch.setenv("RELIC_GUTENBERG", mirror.address)
        monkeypatch.setenv("RELIC_GUTENBERG_PAUSE", "0")
        yield mirror


@pytest.mark.parametrize(
    "given", [["gutenberg:7"], ["7", "--gutenberg"], ["--gutenberg", "pg7"], ["https://www.gutenberg.org/ebooks/7"]]
)
def test_a_book_of_project_gutenberg_is_added_by_its_number(run, mirror, given, titles):
    assert [run("add", *given).code for _ in range(2)] == [0, 0]
    assert (titles(), len(mirror.asked)) == (["Lanterns"], 1)


def test_what_is_said_of_a_book_and_what_fails_is_told(run, mirror, river, titles):
    assert run("add", "gutenberg:7", "--title", "Lamps", "--year", "1891").code == 0
    ran = run("add", "gutenberg:99", river)
    assert (ran.code, titles()) == (1, ["Lamps", "River"])
    assert "99" in ran.err.splitlines()[0]
    mirror.misbehaviour.append("always 500")
    assert "RELIC_LIBRARY" in run("add", "gutenberg:1342").err


def test_the_catalogue_is_listed_with_what_is_stored(run, mirror):
    run("add", "gutenberg:105")
    heads, *rows = run("catalogue").out.splitlines()
    assert (heads.split(), len(rows)) == (["name", "year", "author", "title", "split", "state"], 79)
    by_name = {row.split()[0]: row for row in rows}
    assert "persuasion-" in by_name["persuasion"]
    assert by_name["emma"].endswith(" 158")
    assert by_name["the_waves"].endswith(" 2026")
    listed = json.loads(run("catalogue", "--split", "test", "--json").out)
    assert [row["slug"] for row in listed if row["origin"] == "stored"] == ["persuasion"]
    assert len(listed) == 5


def test_works_of_the_catalogue_are_added_by_name_or_by_split(run, mirror, titles):
    assert run("catalogue", "--add", "persuasion", "pride_and_prejudice").code == 0
    assert (titles()[0], len(titles())) == ("Persuasion", 2)
    ran = run("catalogue", "--split", "test", "--add")
    assert (ran.code, ran.out) == (1, "")
    for title in ("Tender Is the Night", "Persuasion", "Heart of Darkness"):
        assert title in ran.err
    assert run("catalogue", "--add", "persuasion").code == 0
    assert run("catalogue", "--add").code == 2


def test_a_work_is_removed_listed_and_restored(run, ferry, titles):
    assert run("remove", "ferry").out.endswith(f" restore {ferry.id}\n")
    assert (titles(), titles("--removed")) == ([], ["The Ferry"])
    assert run("restore", "the ferry", "--check").code == 2
    assert run("restore", "the ferry").code == 0
    assert (titles(), titles("--removed")) == (["The Ferry"], [])
    assert all(run("works", *options).out for options in ([], ["--removed"]))


def test_a_work_is_described_anew_and_what_is_not_named_stays(run, ferry):
    said = run("describe", "ferry", "--author", "Ann Else", "--translator", "B. Else").out
    assert said.startswith(f"{ferry.id}: The Ferry, Ann Else, 1891, ")
    assert run("describe", "ferry", "--year", "0", "--title", "The Boat", "--translator", "").out == (
        f"{ferry.id}: The Boat, Ann Else\n"
    )
    assert run("describe", "ferry").code == 2


def test_words_that_are_not_in_utf_8_are_refused(run, ferry, river, monkeypatch):
    damaged = os.fsdecode(b"Zo\xe9")
    for typed in (["add", river, "--title", damaged], ["search", "ferry", damaged], ["concordance", damaged]):
        assert isinstance(run(*typed).error, BadRequest)
    for encoding in ({"encoding": "utf-8"}, {"encoding": "utf-8", "errors": "surrogateescape"}):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Zo\xe9"), **encoding))
        assert isinstance(run("search", "ferry", "-").error, BadRequest)


def test_a_wrong_setting_is_told(run, monkeypatch):
    monkeypatch.setenv("RELIC_LOCK_SECONDS", "soon")
    ran = run("works")
    assert ran.code == 1
    assert "RELIC_LOCK_SECONDS is 'soon'" in ran.err


def test_settings_say_where_each_comes_from(run, settings, tmp_path, monkeypatch):
    path = tmp_path / "relic.toml"
    path.write_text("max_claim_words = 150\n", encoding="utf-8")
    monkeypatch.setenv("RELIC_CONFIG", str(path))
    monkeypatch.delenv("RELIC_MAX_CLAIM_WORDS")
    told = {line.split()[0]: line.split()[1:] for line in run("settings").out.splitlines()}
    assert told["data"] == [str(settings.data), "RELIC_DATA"]
    assert told["max_claim_words"] == ["150", "max_claim_words", "in", str(path)]
    rows = {row["name"]: row for row in json.loads(run("settings", "--format", "json").out)}
    assert rows["max_claim_words"]["value"] == "150"
    assert "# max_claim_words = 2_000" in run("settings", "--example").out


def test_stopping_with_ctrl_c_ends_with_130(run, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("relic_core.store.works.WorkRows.summaries", stop)
    assert run("works").code == 130


def test_stopping_while_the_program_is_loaded_ends_with_130_too(monkeypatch):
    class Stopping:
        def find_spec(self, name, path=None, target=None):
            if name == "relic_core.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "relic_core.cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Stopping(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("relic_core", run_name="__main__")
    assert ended.value.code == 130


class Indexes:
    """In the place of the retrievers: remembers what was built."""

    def __init__(self, missing=("dense-relic",), error=None, due=False):
        self.built, self.whole = [], 0
        self._missing, self._error, self._due = missing, error, due

    def library_due(self):
        return self._due

    def build_library(self, progress):
        progress(1, 1)
        self.whole += 1

    @property
    def in_use(self):
        return self

    def missing(self, work_id):
        return self._missing

    def build(self, work_id, names, progress):
        if self._error:
            raise self._error
        progress(1, 1)
        self.built.append((work_id, tuple(names)))


@pytest.fixture
def indexes(monkeypatch):
    def use(**options):
        made = Indexes(**options)
        monkeypatch.setattr(App, "indexes", made)
        return made

    return use


def test_indexing_builds_what_is_missing_or_what_is_named(run, ferry, indexes):
    made = indexes()
    assert run("index", "the ferry").code == 0
    assert run("index", "the ferry", "--retriever", "a", "--retriever", "b").code == 0
    assert made.built == [(ferry.id, ("dense-relic",)), (ferry.id, ("a", "b"))]
    made = indexes(missing=())
    assert run("index", "the ferry").code == 0
    assert made.built == [(ferry.id, ())], "its words are read all the same"


def test_all_works_are_prepared_one_after_another_and_a_failure_does_not_stop_the_rest(run, ferry, indexes, settings):
    other = build(settings).works.add(b"The river rose.", name="x.txt", title="A River").work
    made = indexes()
    assert run("index", "--all").code == 0
    assert (made.built, made.whole) == ([(other.id, ("dense-relic",)), (ferry.id, ("dense-relic",))], 0)
    indexes(error=StaleIndex("Its index is damaged."), due=True)
    ran = run("index", "--all")
    assert (ran.code, [line.partition(":")[0] for line in ran.err.splitlines()]) == (1, ["A River", "The Ferry"])
    made = indexes(missing=(), due=True)
    assert run("index", "--all").code == 0
    assert ([names for _, names in made.built], made.whole) == ([(), ()], 1), "their words are read all the same"
    indexes(error=BadWeights("The model is damaged."))
    assert isinstance(run("index", "--all").error, BadWeights)


def test_setting_up_adds_the_sample_once_and_goes_without_a_model(run, indexes, titles):
    made = indexes()
    assert [run("setup").code for _ in range(2)] == [0, 0]
    assert (len(titles()), len(made.built)) == (1, 2)
    indexes(error=BadWeights("The model is damaged."))
    ran = run("setup")
    assert (ran.code, "damaged" in ran.err) == (0, True)


def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere(monkeypatch):
    for terminal, shown in ((True, True), (False, False)):
        errors = io.StringIO()
        errors.isatty = lambda terminal=terminal: terminal
        monkeypatch.setattr("sys.stderr", errors)
        with console.ProgressLine("Preparing") as progress:
            progress(1, 1, "done")
        assert ("Preparing 100% done" in errors.getvalue()) is shown
        assert "\n" not in errors.getvalue()


def test_the_program_starts_as_a_module_without_heavy_libraries(settings):
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "relic_core", "works"],
        cwd=PROJECT,
        env={**os.environ, **settings.to_environment()},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in said.stderr.splitlines()}
    assert "relic_core.services.works" in imported
    assert not imported & {"torch", "transformers", "spacy", "pandas", "streamlit"}


def test_a_reader_who_has_seen_enough_is_no_error(settings):
    build(settings).store.works.add(work_of(title="A long title " * 20_000))
    with subprocess.Popen(
        [sys.executable, "-m", "relic_core", "works"],
        cwd=PROJECT,
        env={**os.environ, **settings.to_environment()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 0
