"""What version 0.1.0 wrote opens as it was: a library, its back-up, and files given away (``tests/golden/old_store``).

``expected.json`` there is what that version itself said of the library.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from relic_core.cli import main
from relic_core.encoders import precision
from relic_core.retrieval import fusion, registry, vectors

FILES = {"notebook", "study", "answers"}
"""What the library holds that was given away in files of their own."""
OLD = Path(__file__).resolve().parent.parent / "golden" / "old_store"
EXPECTED = OLD / "expected.json"

ADA = "3f0c9a12b4d5e6f7"
STUDY = "5341198a5b8e"
RUN = "4cd925900a08"
SOURCE = "essays-on-river-novels-1bd86a3a"
SEARCH, ASKED = "c7eg2jl", "2026-11-23 09:37"
LEDGER, WEIR = "the-ferry-ledger-1e9606c8", "the-weir-aeb110a5"


@pytest.fixture(autouse=True)
def _computing_in_float32(monkeypatch):
    """Compute as the library was made, on every processor."""
    monkeypatch.setattr(precision, "seems_to_have_gpu", lambda: False)
    monkeypatch.setattr(precision, "best_precision", lambda: "float32")
    precision.best_arithmetic.cache_clear()
    yield
    precision.best_arithmetic.cache_clear()


@pytest.fixture(autouse=True)
def _ranking_as_then(monkeypatch):
    """Read a short claim in one way, let words count without a limit and what stands around not, as 0.1.0 did."""
    monkeypatch.setattr(vectors, "readings", lambda claim, work=None: [claim])
    monkeypatch.setattr(vectors, "READINGS", "")
    monkeypatch.setattr(fusion.Fusion, "weights", replace(fusion.WEIGHTS, most={}))
    then = {card.name: card for card in registry.cards()}
    then["fusion"] = replace(then["fusion"], components=("dense-relic", "bm25"))
    monkeypatch.setattr(registry, "_CARDS", tuple(then.values()))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command on a library of the test's own, which is empty at first; gives what it printed."""
    monkeypatch.setenv("RELIC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("RELIC_INDEXES", str(tmp_path / "indexes"))

    def run(*arguments):
        assert main([*map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def library(run, tmp_path):
    """Run a command on the old library."""
    with zipfile.ZipFile(OLD / "library.zip") as archive:
        archive.extractall(tmp_path)
    return run


def ids(table):
    return sorted(line.split()[0] for line in table.splitlines()[1:])


MODELS = {"dense-relic", "fusion", "reranked"}
"""Ways of searching whose model has been trained anew since."""


def without_models(search):
    """Leave out what answers by a model: a file that is saved now names the model of now."""
    makers = {name: made for name, made in search["makers"].items() if name not in MODELS}
    return search | {"makers": makers}


def held(run, folder):
    """Say what a library holds, in the words of its own exports."""

    def written(*arguments, options=()):
        file = folder / f"{len(list(folder.iterdir()))}.json"
        run(*arguments, file, *options)
        return json.loads(file.read_text("utf-8"))

    searches = {each: without_models(written("history", "save", each)["search"]) for each in ids(run("history"))}
    answers = written("study", "answers", STUDY, options=("--named", "--comments"))
    for each in answers["answers"]:
        del each["too_fast"]  # computed from the answers, and newer than the library
    measured = written("runs", "export", RUN)
    return {
        "works": ids(run("works")),
        "works removed": ids(run("works", "--removed")),
        "works as cited": [json.loads(run("cite", each, "--format", "csl-json")) for each in (LEDGER, WEIR)],
        "searches": {each: {**said, "version": ""} for each, said in searches.items()},
        "searches removed": ids(run("history", "--removed")),
        "searches of Ada": ids(run("history", "--person", ADA)),
        "notebook": written("notebook", "export")["collections"],
        "notebook of Ada": written("notebook", "export", options=("--person", ADA))["collections"],
        "study": written("study", "export", STUDY),
        "answers": {name: said for name, said in answers.items() if name not in {"made_with", "sha256"}},
        "windows": json.loads(run("sources", "--windows", SOURCE, "--show", "all", "--format", "json")),
        "run": {name: measured[name] for name in ("tags", "shape", "configuration", "outcomes")},
        "jobs": {each["title"]: each["state"] for each in json.loads(run("jobs", "--json"))},
    }


def answer(run):
    """Ask a search of the library again."""
    asked = (LEDGER, "Nobody keeps account of lanterns", "--results", "10", "--length", "1")
    columns = [part for name in ("dense-relic", "bm25", "fusion") for part in ("--retriever", name)]
    found = json.loads(run("search", *asked, *columns, "--format", "json"))
    return {name: said for name, said in found.items() if name not in {"seconds", "made_with"}}


def freeze(run, folder):
    """Write what is expected: for the version that wrote the library, once."""
    said = held(run, folder) | {"answer": answer(run)}
    lines = [f"{json.dumps(name)}: {json.dumps(said[name], ensure_ascii=False)}" for name in said if name not in FILES]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read(name):
    return json.loads((OLD / name).read_text("utf-8"))


def expected():
    """What the old version said of its library, up to `answer`; notes, study and answers are in the files it wrote."""
    given = {name: said for name, said in read("answers.json").items() if name not in {"made_with", "sha256"}}
    said = read("expected.json")
    return said | {
        "searches": {each: without_models(search) for each, search in said["searches"].items()},
        "notebook": read("notebook.json")["collections"],
        "study": read("study.json"),
        "answers": given,
    }


def holds_what_it_held(run, folder):
    said = held(run, folder)
    assert said == {name: known for name, known in expected().items() if name in said}


def test_a_library_holds_what_it_held(library, tmp_path):
    holds_what_it_held(library, tmp_path)


def test_a_back_up_brings_everything_back(run, tmp_path):
    run("restore", OLD / "backup.zip")
    holds_what_it_held(run, tmp_path)


def test_words_answer_as_then_and_meaning_once_it_is_prepared_for_the_model_of_now(library):
    """Ranks and scores are those of then; clauses of one sentence share a card."""
    now, then = answer(library), expected()["answer"]
    columns = {column["retriever"]: column for column in now["columns"]}
    before = {column["retriever"]: column for column in then["columns"]}
    known = {hit["rank"]: hit for hit in before["bm25"]["hits"]}
    again = [hit for hit in columns["bm25"]["hits"] if hit["span_rank"] in known]
    assert len(again) > len(known) / 2
    for hit in again:
        # The number of the card, and what has not answered yet.
        was = known[hit.pop("span_rank")] | {"rank": hit["rank"], "elsewhere": {}}
        assert hit == was | {"score": pytest.approx(was["score"], rel=1e-5)}
    assert {name for name, column in columns.items() if column["pending"]} == {"dense-relic", "fusion"}
    library("index", LEDGER)
    answered = {column["retriever"]: column for column in answer(library)["columns"]}
    assert all(column["hits"] and not column["pending"] for column in answered.values())
    assert [hit["start"] for hit in answered["bm25"]["hits"]] == [hit["start"] for hit in columns["bm25"]["hits"]]


def test_a_search_of_then_is_asked_again_once_its_work_is_prepared(library):
    library("index", LEDGER)
    since, *said = library("history", "rerun", SEARCH).splitlines()
    assert ASKED in since
    assert {"dense-RELiC", "BM25", "Combined"} <= {line.split(":")[0] for line in said}


@pytest.mark.parametrize("given", [OLD / "search.relic.json", read("address.json")["code"]], ids=["file", "address"])
def test_a_search_given_away_opens_and_says_that_models_have_been_trained_anew(library, given):
    said, search = library("history", "open", given).splitlines()
    assert "dense-RELiC and Reranked" in said
    assert read("address.json")["short"]["q"] in search


def test_a_study_and_its_answers_are_taken_in_elsewhere(run, tmp_path):
    def given(answers):
        return sorted((each["item"], each["choice"], each["seconds"], each["comment"]) for each in answers)

    run("study", "import", OLD / "study.json")
    run("study", "import-answers", STUDY, OLD / "answers.json", "--of", "Oxford")
    run("study", "export", STUDY, tmp_path / "study.json")
    run("study", "answers", STUDY, tmp_path / "answers.json", "--comments")
    assert json.loads((tmp_path / "study.json").read_text("utf-8")) == read("study.json")
    taken = json.loads((tmp_path / "answers.json").read_text("utf-8"))
    assert given(taken["answers"]) == given(read("answers.json")["answers"])


def test_a_notebook_is_taken_in_elsewhere(run, tmp_path):
    run("notebook", "import", OLD / "notebook.json")
    run("notebook", "export", tmp_path / "notebook.json")
    taken = json.loads((tmp_path / "notebook.json").read_text("utf-8"))
    named = [{**each, "id": ""} for each in taken["collections"]]
    assert named == [{**each, "id": ""} for each in read("notebook.json")["collections"]]
