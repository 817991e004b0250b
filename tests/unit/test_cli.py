"""Commands: what they print, what they end with, and that their help says how they are used."""

import io
import json
import os
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from relic_core import cli
from relic_core.cli import console
from relic_core.domain import Address, Place, SeedPassage, Span, WorkFilter
from relic_core.errors import BadWeights, StaleIndex, StoreReadOnly
from relic_core.store.searches import SearchRows
from relic_core.text.masking import Quoted
from relic_core.wiring import App, build
from tests.gutenberg_mirror import serve
from tests.making import work_of

PROJECT = Path(__file__).resolve().parents[2]
TEXT = "The river rose.\n\nNobody counted the lanterns. Nobody had been asked to.\n"


@pytest.fixture
def run(settings, monkeypatch, capsys):
    """Run a command on the test's own store; gives exit code, output and errors."""
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("os.nice", lambda _steps: 0)  # a job steps back for the pages; this process has none to serve

    def run(*arguments):
        try:
            code = cli.main(list(arguments))
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def ferry(settings):
    work = work_of()
    build(settings).store.works.add(work)
    return work


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nothing"],
        ["add"],
        ["catalogue", "--add"],
        ["catalogue", "--split", "dev"],
        ["describe", "ferry"],
        ["search", "ferry"],
        ["search", "ferry", "claim", "--length", "two"],
        ["search", "ferry", "claim", "--format", "xml"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(run, arguments):
    code, said, errors = run(*arguments)
    assert (code, said) == (2, "")
    assert "usage:" in errors.lower()


def test_a_text_is_added_listed_and_known_again(run, tmp_path):
    path = tmp_path / "river.txt"
    path.write_text(TEXT)
    code, said, errors = run("add", str(path), "--title", "The River", "--author", "A. Nobody", "--year", "1891")
    assert (code, errors) == (0, "")
    assert said.startswith("The River: added as the-river-")
    first, second = said.splitlines()
    work_id = first.split()[4]
    assert first.endswith("(1 chapter, 3 sentences)")
    assert second == f"Not yet found by meaning: The River. Prepare for it: python -m relic_core index {work_id}"
    assert run("add", str(path))[1].startswith("The River: in the library already")
    assert "index" not in run("add", str(path))[1]
    heads, row = run("works")[1].splitlines()
    assert heads.split() == ["id", "title", "author", "year", "format", "chapters", "sentences", "words"]
    assert row.split()[1:] == ["The", "River", "A.", "Nobody", "1891", "plain", "text", "1", "3", "12"]
    (listed,) = json.loads(run("works", "--json")[1])
    assert (listed["title"], listed["year"], listed["sentences"]) == ("The River", 1891, 3)


def test_a_folder_is_added_whole_and_one_bad_text_does_not_stop_the_rest(run, tmp_path):
    for name in ("a", "c"):
        (tmp_path / f"{name}.txt").write_text(f"This is {name}.\n")
    (tmp_path / "b.txt").write_bytes(b"")
    code, said, errors = run("add", str(tmp_path))
    assert code == 1
    assert said.count(": added as ") == 2
    assert f"{tmp_path}/b.txt: " in errors
    assert "1 of 3 texts could not be added." in errors
    assert "Traceback" not in errors


def test_metadata_for_several_texts_at_once_is_wrong_usage(run, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"This is {name}.\n")
    code, said, errors = run("add", str(tmp_path), "--title", "One title")
    assert (code, said) == (2, "")
    assert "2 were given" in errors


def test_all_of_the_library_folder_can_be_added(run, tmp_path, monkeypatch):
    code, _, errors = run("add", "--all")
    assert (code, "RELIC_LIBRARY names none" in errors) == (1, True)
    (tmp_path / "a.txt").write_text("This is a.\n")
    monkeypatch.setenv("RELIC_LIBRARY", str(tmp_path))
    assert run("add", "--all")[1].startswith("A: added as ")
    assert "already" in run("add", "a")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "gone.txt"], "There is no file gone.txt"),
        (["add", "gutenberg:emma"], "'gutenberg:emma' is no number of Project Gutenberg"),
        (["add", "--gutenberg", "0"], "'0' is no number of Project Gutenberg"),
        (["catalogue", "--add", "ema"], "Did you mean emma"),
        (["describe", "ferry", "--year", "4000"], "4000 is no year"),
        (["describe", "ferry", "--title", ""], "A work needs a title"),
        (["remove", "gone"], "There is no work 'gone'"),
        (["restore", "ferry"], "No removed work is called 'ferry'"),
        (["index", "gone"], "There is no work 'gone'"),
        (["search", "gone", "claim"], "There is no work 'gone'"),
        (["job", "gone"], "not the folder of a job"),
        (["jobs", "--stop", "gone"], "There is no job 'gone'"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_cannot_be_done_ends_with_1_and_a_message(run, ferry, arguments, said):
    code, out, errors = run(*arguments)
    assert (code, out) == (1, "")
    assert said in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("given", ["~nosuchuser/x.txt", "x" * 300, "/dev/null/x.txt"])
def test_a_path_that_no_file_can_have_ends_with_1_and_a_message(run, given):
    code, said, errors = run("add", given)
    assert (code, said) == (1, "")
    assert errors.count("\n") == 1


BOOK = """Title: {0}

*** START OF THE PROJECT GUTENBERG EBOOK {0} ***

Nobody counted the lanterns of {0}.

*** END OF THE PROJECT GUTENBERG EBOOK {0} ***
"""


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
def test_a_book_of_project_gutenberg_is_added_by_its_number(run, mirror, given):
    code, said, errors = run("add", *given)
    assert (code, errors) == (0, "")
    assert said.startswith("Lanterns: added as lanterns-")
    assert run("add", *given)[1].startswith("Lanterns: in the library already as lanterns-")
    assert len(mirror.asked) == 1


def test_what_is_said_of_a_book_and_what_fails_is_told(run, mirror, tmp_path):
    assert run("add", "gutenberg:7", "--title", "Lamps", "--year", "1891")[1].startswith("Lamps: added as lamps-")
    (tmp_path / "a.txt").write_text("This is a.\n")
    code, said, errors = run("add", "gutenberg:99", str(tmp_path / "a.txt"))
    assert (code, said.startswith("A: added as")) == (1, True)
    assert "Project Gutenberg 99: Project Gutenberg's mirror" in errors
    assert "1 of 2 texts could not be added." in errors


def test_the_catalogue_is_listed_with_what_is_stored(run, mirror):
    run("add", "gutenberg:105")
    code, said, _ = run("catalogue")
    assert code == 0
    heads, *rows = said.splitlines()
    assert (heads.split(), len(rows)) == (["name", "year", "author", "title", "split", "state"], 79)
    by_name = {row.split()[0]: row for row in rows}
    assert "stored as persuasion-" in by_name["persuasion"]
    assert by_name["emma"].endswith("Project Gutenberg 158")
    assert by_name["the_waves"].endswith("in copyright in the US until 31 December 2026")
    listed = json.loads(run("catalogue", "--split", "test", "--json")[1])
    assert [row["slug"] for row in listed if row["origin"] == "stored"] == ["persuasion"]
    assert len(listed) == 5


def test_works_of_the_catalogue_are_added_by_name_or_by_split(run, mirror):
    code, said, errors = run("catalogue", "--add", "persuasion", "pride_and_prejudice")
    assert (code, said, errors) == (0, "Persuasion, Pride and Prejudice have been added.\n", "")
    code, said, errors = run("catalogue", "--split", "test", "--add")
    assert (code, said) == (1, "")
    assert "Not to be had from here: Tender Is the Night (in copyright in the US until 31 December 2029)." in errors
    assert "Pride and Prejudice, Persuasion were there already." in errors
    assert "Not added: Heart of Darkness." in errors
    assert run("catalogue", "--add", "persuasion")[1] == "Persuasion was in the library already.\n"


def test_without_a_network_a_command_says_what_else_there_is(run, monkeypatch, mirror):
    mirror.misbehaviour.append("always 500")
    code, said, errors = run("add", "gutenberg:7")
    assert (code, said) == (1, "")
    assert "RELIC_LIBRARY" in errors
    assert "Traceback" not in errors


def test_a_work_is_removed_listed_and_restored(run, ferry):
    code, said, _ = run("remove", "ferry")
    assert (code, said) == (
        0,
        "The Ferry was removed. To put it back: python -m relic_core restore the-ferry-00000000\n",
    )
    assert "no works yet" in run("works")[1]
    assert "The Ferry" in run("works", "--removed")[1]
    assert run("restore", "the ferry")[1] == "The Ferry is back in the library as the-ferry-00000000.\n"
    assert run("works", "--removed")[1] == "No work has been removed.\n"
    assert "The Ferry" in run("works")[1]


def test_a_work_is_described_anew_and_what_is_not_named_stays(run, ferry):
    code, said, _ = run("describe", "ferry", "--author", "Ann Else", "--translator", "B. Else")
    assert (code, said) == (0, "the-ferry-00000000: The Ferry, Ann Else, 1891, translated by B. Else\n")
    assert run("describe", "ferry", "--year", "0", "--title", "The Boat", "--translator", "")[1] == (
        "the-ferry-00000000: The Boat, Ann Else\n"
    )


def test_what_is_given_of_a_stored_text_corrects_it(run, tmp_path):
    path = tmp_path / "river.txt"
    path.write_text(TEXT)
    run("add", str(path))
    code, said, _ = run("add", str(path), "--title", "The River", "--year", "1891")
    assert code == 0
    assert said.startswith("The River: in the library already, its description corrected, as river-")
    (listed,) = json.loads(run("works", "--json")[1])
    assert (listed["title"], listed["year"]) == ("The River", 1891)


def test_a_file_of_which_much_is_set_aside_is_added_with_a_word(run, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("It rose.\n\n" + "[1] A note on the river.\n\n" * 10)
    code, said, errors = run("add", str(path))
    assert (code, said.count("\n")) == (0, 2)
    assert errors.startswith("Notes: 9")
    assert "split the file" in errors


def test_words_that_are_not_in_utf_8_are_refused(run, searcher, tmp_path, monkeypatch):
    path = tmp_path / "river.txt"
    path.write_text(TEXT)
    damaged = os.fsdecode(b"Zo\xe9")
    for arguments in (["add", str(path), "--title", damaged], ["search", "ferry", damaged]):
        code, said, errors = run(*arguments)
        assert (code, said) == (1, "")
        assert "is not in UTF-8 (its character 3 is damaged)" in errors
    for encoding in ({"encoding": "utf-8"}, {"encoding": "utf-8", "errors": "surrogateescape"}):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Zo\xe9"), **encoding))
        code, said, errors = run("search", "ferry", "-")
        assert (code, said) == (1, "")
        assert "is not in UTF-8" in errors
    assert searcher.asked is None


def test_a_wrong_setting_is_told(run, monkeypatch):
    monkeypatch.setenv("RELIC_LOCK_SECONDS", "soon")
    code, _, errors = run("works")
    assert (code, errors) == (1, "RELIC_LOCK_SECONDS is 'soon'; it must be a number greater than 0.\n")


def test_settings_say_where_each_comes_from(run, settings, tmp_path, monkeypatch):
    path = tmp_path / "relic.toml"
    path.write_text("max_claim_words = 150\n", encoding="utf-8")
    monkeypatch.setenv("RELIC_CONFIG", str(path))
    monkeypatch.delenv("RELIC_MAX_CLAIM_WORDS")
    monkeypatch.setenv("RELIC_LIBRARY", "")
    code, said, _ = run("settings")
    told = {line.split()[0]: line.split(maxsplit=1)[1] for line in said.splitlines()}
    assert (code, told["data"].split()) == (0, [str(settings.data), "RELIC_DATA"])
    assert told["max_claim_words"].endswith(f"max_claim_words in {path}")
    assert told["library"].split() == ["none", "as", "usual"]
    rows = {row["name"]: row for row in json.loads(run("settings", "--format", "json")[1])}
    assert rows["max_claim_words"]["value"] == "150"
    assert "# max_claim_words = 2_000" in run("settings", "--example")[1]


def test_an_empty_library_says_how_to_fill_it(run):
    assert run("works") == (0, "The library has no works yet. Add one: python -m relic_core add FILE\n", "")
    assert run("works", "--json")[1] == "[]\n"


def test_stopping_with_ctrl_c_ends_with_130(run, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("relic_core.services.works.Works.summaries", stop)
    assert run("works") == (130, "", "Stopped.\n")


def test_stopping_while_the_program_is_loaded_ends_with_130_too(monkeypatch, capsys):
    class Stopping:
        def find_spec(self, name, path=None, target=None):
            if name == "relic_core.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "relic_core.cli")
    monkeypatch.setattr(sys, "meta_path", [Stopping(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("relic_core", run_name="__main__")
    assert (ended.value.code, capsys.readouterr().err) == (130, "Stopped.\n")


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
    assert run("index", "the ferry") == (0, "The Ferry is ready to search.\n", "")
    assert run("index", "the ferry", "--retriever", "a", "--retriever", "b")[0] == 0
    assert made.built == [(ferry.id, ("dense-relic",)), (ferry.id, ("a", "b"))]
    made = indexes(missing=())
    assert run("index", "the ferry")[0] == 0
    assert made.built == [(ferry.id, ())], "its words are read all the same"


def test_setting_up_twice_adds_the_sample_once(run, indexes):
    made = indexes()
    for _ in range(2):
        code, said, errors = run("setup")
        assert (code, errors) == (0, "")
        assert said.endswith("is ready to search.\n")
    assert len(json.loads(run("works", "--json")[1])) == 1
    assert len(made.built) == 2


def test_setting_up_without_a_model_still_gives_something_to_search(run, indexes):
    indexes(error=BadWeights("The model is damaged."))
    code, said, errors = run("setup")
    assert code == 0
    assert said.endswith("is ready to search.\n")
    assert errors == "Searching by meaning is not available. The model is damaged.\n"


@dataclass
class Searcher:
    """In the place of the search: remembers what was asked, gives one hit."""

    work: object
    weak: bool = False
    asked: object = None

    def run(self, request):
        self.asked = request
        span = Span(1, 1)
        card = SimpleNamespace(
            work=self.work,
            rank=1,
            span=span,
            quotation=SimpleNamespace(plain="He counted their\nlanterns instead."),
            place=Place(
                chapter="Chapter One", chapter_index=0, paragraph=1, sentence=2, fraction=0.25, address=Address(1, 1, 2)
            ),
            score=2.5,
            strength=SimpleNamespace(level="strong", sentence="Stands far above the rest of this work."),
            shared=("counted",),
            elsewhere=(("Fusion", 3),),
        )
        likeness = request.like
        return SimpleNamespace(
            work=self.work if request.work_id else None,
            searched=() if request.work_id else (self.work,),
            unprepared=() if request.work_id else (self.work,),
            source=likeness
            and SimpleNamespace(
                work=self.work, span=span, quotation=card.quotation, place=SimpleNamespace(address=likeness.at)
            ),
            request=request,
            weak=self.weak,
            seconds=0.01,
            made_with="version 0",
            unknown=("Gatsby",),
            quoted=(Quoted(3, 9, span, 1),),
            columns=(
                SimpleNamespace(
                    retriever="bm25",
                    label="Same words",
                    cards=(card,),
                    pending=False,
                    candidates=5,
                    note="",
                    exact=True,
                ),
                SimpleNamespace(
                    retriever="dense-relic",
                    label="Same sense",
                    cards=(),
                    pending=True,
                    candidates=5,
                    note="Its index is gone.",
                    exact=True,
                ),
            ),
        )


@pytest.fixture
def searcher(monkeypatch, ferry):
    made = Searcher(ferry)
    monkeypatch.setattr(App, "search", made)
    return made


def test_a_search_is_printed_with_its_places(run, searcher):
    code, said, errors = run("search", "ferry", "He counts.", "--length", "2", "--results", "3", "--retriever", "bm25")
    assert code == 0
    assert said.splitlines()[:3] == [
        "Same words:",
        "   1  He counted their lanterns instead.",
        "      Chapter One, 25% into the work · 1.1.2 · strong",
    ]
    assert errors == (
        "Same sense: Its index is gone.\n"
        f"Same sense is not prepared for this work: python -m relic_core index {searcher.work.id}\n"
    )
    asked = searcher.asked
    assert (asked.claim_text, asked.length, asked.results, asked.retrievers) == ("He counts.", 2, 3, ("bm25",))


def test_a_search_is_kept_in_the_history(run, searcher, settings):
    run("search", "ferry", "He counts.", "--length", "2", "--results", "3", "--retriever", "bm25")
    (kept,) = build(settings).history.recent()
    assert (kept.work_id, kept.claim_text, kept.made_with) == (searcher.work.id, "He counts.", "version 0")
    assert (kept.length, kept.results, kept.retrievers) == (2, 3, ("bm25",))


def test_a_search_that_cannot_be_kept_is_answered(run, searcher, monkeypatch):
    def refuse(*_, **__):
        raise StoreReadOnly("The store cannot be written.")

    monkeypatch.setattr(SearchRows, "add", refuse)
    code, said, errors = run("search", "ferry", "He counts.", "--format", "json")
    assert code == 0
    assert json.loads(said)["claim"] == "He counts."
    assert "The search is not in the history. The store cannot be written.\n" in errors


def test_a_weak_search_says_so(run, searcher):
    searcher.weak = True
    assert "The evidence is weak" in run("search", "ferry", "He counts.")[1]


def test_a_search_as_json_is_verbatim_and_reads_the_claim_from_standard_input(run, searcher, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("He counts.\n"))
    code, said, _ = run("search", "ferry", "-", "--format", "json")
    assert code == 0
    answer = json.loads(said)
    assert searcher.asked.claim_text == "He counts.\n"
    (hit,) = answer["columns"][0]["hits"]
    assert hit["quotation"] == "He counted their\nlanterns instead."
    assert (hit["rank"], hit["chapter"], hit["strength"], hit["elsewhere"]) == (
        1,
        "Chapter One",
        "strong",
        {"Fusion": 3},
    )
    assert (hit["strength_sentence"], hit["shared"]) == ("Stands far above the rest of this work.", ["counted"])
    assert answer["unknown"] == ["Gatsby"]
    (quoted,) = answer["quoted"]
    assert quoted == {"words": "counts", "start": hit["start"], "end": hit["end"]}
    assert searcher.work.text[quoted["start"] : quoted["end"]] == "He counted their lanterns instead."
    assert answer["columns"][1] == {
        "retriever": "dense-relic",
        "label": "Same sense",
        "pending": True,
        "note": "Its index is gone.",
        "exact": True,
        "candidates": 5,
        "hits": [],
    }


def test_a_search_of_all_works_names_the_work_of_each_passage_and_what_is_not_prepared(run, searcher):
    code, said, errors = run("search", "--all", "He counts.", "--from", "1800", "--to", "1900")
    assert code == 0
    assert said.splitlines()[2] == "      The Ferry · Chapter One, 25% into the work · 1.1.2 · strong"
    assert errors.endswith(
        "Not all works have been prepared for searching by meaning: The Ferry. "
        "Prepare them: python -m relic_core index --all\n"
    )
    asked = searcher.asked
    assert (asked.work_id, asked.claim_text) == ("", "He counts.")
    assert asked.narrowing == WorkFilter(first_year=1800, last_year=1900)
    answer = json.loads(run("search", "He counts.", "--all", "--format", "json")[1])
    assert (answer["work"], answer["unprepared"]) == (None, [searcher.work.id])
    assert [work["title"] for work in answer["works"]] == ["The Ferry"]
    assert answer["columns"][0]["hits"][0]["work"] == searcher.work.id


def test_the_whole_library_is_narrowed_by_parts_of_names_and_by_works(run, searcher):
    run("search", "--all", "He counts.", "--author", "NOBODY", "--works", "ferry")
    assert searcher.asked.narrowing == WorkFilter(works=(searcher.work.id,), authors=(searcher.work.author,))
    code, _, errors = run("search", "--all", "He counts.", "--author", "austen")
    assert code == 1
    assert errors == f"No work of the library is by 'austen'. Its authors: {searcher.work.author}.\n"


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1)])
def test_options_may_stand_anywhere_among_what_is_searched_and_the_claim(run, searcher, order):
    given = (["ferry"], ["He counts."], ["--length", "2"])
    run("search", *(word for at in order for word in given[at]))
    assert (searcher.asked.work_id, searcher.asked.claim_text) == (searcher.work.id, "He counts.")


def test_chapters_are_given_as_a_list_of_numbers_and_ranges(run, searcher):
    run("search", "ferry", "He counts.", "--chapters", "3, 5-7,5")
    assert searcher.asked.chapters == (3, 5, 6, 7)
    for wrong in ("", "x", "7-5", "1-", "1;2", "1-99999"):
        code, _, errors = run("search", "ferry", "He counts.", "--chapters", wrong)
        assert code == 1, wrong
        assert "is no chapter and no range" in errors


def test_passages_like_another_are_shown_without_a_level_and_with_their_source(run, searcher):
    code, said, _ = run("search", "ferry", "--like", "1.1.2", "--sentences", "2")
    assert code == 0
    assert said.splitlines()[2] == "      Chapter One, 25% into the work · 1.1.2"
    assert searcher.asked.like == SeedPassage(searcher.work.id, "1.1.2", 2)
    assert searcher.asked.work_id == searcher.work.id
    answer = json.loads(run("search", "--all", "ferry", "--like", "1.1.2", "--format", "json")[1])
    assert (searcher.asked.work_id, searcher.asked.like.work_id) == ("", searcher.work.id)
    assert (answer["like"]["address"], answer["like"]["work"]["title"]) == ("1.1.2", "The Ferry")
    assert answer["columns"][0]["hits"][0]["strength"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ["ferry"],
        ["--all"],
        ["ferry", "claim", "--all"],
        ["ferry", "claim", "--author", "x"],
        ["ferry", "claim", "--to", "1900"],
        ["claim", "--all", "--chapters", "3"],
        ["ferry", "claim", "--like", "1.1"],
        ["--like", "1.1"],
        ["ferry", "claim", "--sentences", "2"],
    ],
    ids=" ".join,
)
def test_options_of_a_search_that_do_not_go_together_are_refused(run, searcher, arguments):
    assert run("search", *arguments)[0] == 2
    assert searcher.asked is None


def test_all_works_are_prepared_one_after_another_and_a_failure_does_not_stop_the_rest(run, ferry, indexes, settings):
    other = build(settings).works.add(b"The river rose.", name="x.txt", title="A River").work
    made = indexes()
    each = "A River is ready to search.\nThe Ferry is ready to search.\n"
    assert run("index", "--all") == (0, f"{each}2 works are ready to search.\n", "")
    assert made.built == [(other.id, ("dense-relic",)), (ferry.id, ("dense-relic",))]
    assert made.whole == 0
    indexes(error=StaleIndex("Its index is damaged."), due=True)
    code, said, errors = run("index", "--all")
    assert (code, said) == (1, "0 works are ready to search.\n")
    assert errors == "A River: Its index is damaged.\nThe Ferry: Its index is damaged.\n"
    made = indexes(missing=(), due=True)
    assert run("index", "--all")[0] == 0
    assert ([names for _, names in made.built], made.whole) == ([(), ()], 1), "their words are read all the same"
    indexes(error=BadWeights("The model is damaged."))
    assert run("index", "--all") == (1, "", "The model is damaged.\n")


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
    environment = {**os.environ, **settings.to_environment()}
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "relic_core", "works"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.startswith("The library has no works yet.")
    imported = {line.rsplit("|", 1)[-1].strip() for line in said.stderr.splitlines()}
    assert "relic_core.services.works" in imported
    assert not imported & {"torch", "transformers", "spacy", "pandas", "streamlit"}


def test_a_reader_who_has_seen_enough_is_no_error(settings):
    build(settings).store.works.add(work_of(title="A long title " * 20_000))
    environment = {**os.environ, **settings.to_environment()}
    with subprocess.Popen(
        [sys.executable, "-m", "relic_core", "works"],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 0
