"""The commands `cite`, `describe` and `notebook`, up to measuring on verdicts."""

from __future__ import annotations

import json

import docx
import pytest

from relic_core.errors import BadRequest, NotFound
from relic_core.wiring import build
from tests.making_notes import add_ferry, ask


@pytest.fixture
def ferry(bench):
    return add_ferry(bench)


def test_a_work_and_a_passage_are_cited(ferry, run):
    run("describe", ferry.id, "--title", "The *Ferry*", "--author", "Ann Else", "--year", "1891")
    lines = run("cite", ferry.id, "1.1.1", "--format", "markdown").out.split("\n")
    assert lines[1].startswith("  “")
    assert lines[1].endswith(f"” {lines[3].strip()}.")
    assert lines[3].startswith("  (Else, ")
    assert "  Else, Ann. *The \\*Ferry\\**. 1891." in lines
    assert "<i>The *Ferry*</i>" in run("cite", ferry.id, "--format", "html", "--style", "chicago-notes").out


def test_citations_are_written_as_files(ferry, run):
    (item,) = json.loads(run("cite", ferry.id, "--format", "csl-json").out)
    assert item["id"] == ferry.id
    assert run("cite", ferry.id, "--format", "bibtex").out.startswith(f"@book{{{ferry.id},\n")
    assert run("cite", ferry.id, "--format", "ris").out.endswith("ER  - \r\n")


def test_details_are_corrected_and_what_is_not_named_stays(bench, ferry, run):
    assert run("describe", ferry.id, "--publisher", "Dent", "--edition-year", "1906", "--volumes", "2").code == 0
    assert run("describe", ferry.id, "--volumes", "0", "--accessed", "2026-11-05").out.endswith("Dent, 1906.\n")
    details = bench.citing.work(ferry.id).details
    assert (details.publisher, details.year, details.volumes) == ("Dent", 1906, None)
    assert str(details.accessed) == "2026-11-05"
    assert isinstance(run("describe", ferry.id, "--accessed", "yesterday").error, BadRequest)


def test_what_cannot_be_cited_is_said(ferry, run):
    assert isinstance(run("cite", "never").error, NotFound)
    assert "99.1.1" in run("cite", ferry.id, "99.1.1").err
    assert run("cite", ferry.id, "--style", "apa").code == 2


def test_the_notebook_is_written_as_its_file_is_called(bench, ferry, run, tmp_path):
    bench.notebook.keep(ferry.id, "1.1.1")
    for end in ("docx", "md", "csv", "json"):
        assert run("notebook", "export", tmp_path / f"notes.{end}", "--style", "chicago-notes").code == 0
    assert docx.Document(str(tmp_path / "notes.docx")).paragraphs[0].text == "Notebook"
    assert "## Bibliography" in (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert (tmp_path / "notes.csv").read_bytes().startswith(b"\xef\xbb\xbfcollection,")
    assert run("notebook", "import", tmp_path / "notes.json").code == 0


def test_notes_are_listed_saved_and_taken_in_again(bench, ferry, run, tmp_path):
    note = bench.notebook.keep(ferry.id, "1.1.2")
    bench.notebook.write(note.id, words="Nobody\ncounts.", tags=["light"], verdict="unsure")
    said = run("notebook").out
    for part in ("My notes", "The Ferry", "1.1.2", "unsure", "light", "Nobody counted the lanterns", "Nobody counts."):
        assert part in said
    assert "1.1.2" not in run("notebook", "list", "--words", "sea").out
    file = tmp_path / "notebook.json"
    assert run("notebook", "export", file, "--collection", "my NOTES").code == 0
    bench.notebook.remove(note.id)
    assert "1.1.2" not in run("notebook").out
    assert [run("notebook", "import", file).code for _ in range(2)] == [0, 0]
    assert run("notebook").out.count("1.1.2") == 1


def test_what_supports_a_claim_is_what_retrievers_are_measured_on(bench, ferry, run, tmp_path):
    search = ask(bench, ferry)
    for at, verdict in (("1.1.2", "supports"), ("2.2.1", "supports"), ("1.1.1", "contradicts"), ("1.2.1", "unsure")):
        bench.notebook.write(bench.notebook.keep(ferry.id, at, search_id=search.id).id, verdict=verdict)
    file = tmp_path / "verdicts.json"
    assert run("notebook", "evaluation-set", file).code == 0
    ran = run("evaluate", "relic", "bm25", "--data", file, "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)
    rows = build(bench.settings).store.runs
    (measured,) = rows.all()
    ranks = [outcome.rank for outcome in rows.outcomes(measured.id)]
    assert ranks == [1, 2], "BM25 puts the lanterns first for a claim about lanterns"
    ran = run("notebook", "measure", "bm25", "--format", "json")
    assert ran.code == 0, ran.err
    (graded,) = (each for each in rows.all() if each.id != measured.id)
    (outcome,) = rows.outcomes(graded.id)
    assert sorted(grade for _, grade in outcome.graded) == [1, 2, 2]


@pytest.mark.parametrize(
    ("typed", "code", "named"),
    [
        (["export"], 2, "FILE"),
        (["export", "a.pdf"], 2, "a.pdf"),
        (["list", "a.json"], 2, "a.json"),
        (["import", "a.json", "--words", "x"], 2, "--words"),
        (["import", "nowhere.json"], 1, "nowhere.json"),
        (["export", "a.json", "--collection", "Mine"], 1, "“Mine”"),
        (["evaluation-set", "a.json"], 1, ""),
    ],
)
def test_what_cannot_be_done_is_told(run, typed, code, named):
    ran = run("notebook", *typed)
    assert (ran.code, named in ran.err) == (code, True)
