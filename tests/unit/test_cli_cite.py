"""The command line of citing: citations and files, details of editions, the notebook as a document."""

from __future__ import annotations

import json

import docx
import pytest

from relic_core.cli import main
from relic_core.wiring import build
from tests.making_notes import add_ferry


@pytest.fixture
def bench(settings, monkeypatch):
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    return build(settings)


@pytest.fixture
def run(bench, capsys):
    def command(*arguments):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_a_work_and_a_passage_are_cited(bench, run):
    ferry = add_ferry(bench)
    run("describe", ferry.id, "--title", "The *Ferry*", "--author", "Ann Else", "--year", "1891")
    code, said, _ = run("cite", ferry.id, "1.1.1", "--format", "markdown")
    assert code == 0
    quoted, in_text = said.split("\n")[1], said.split("\n")[3]
    assert said.startswith("The quotation, within a sentence:\n  “")
    assert quoted.endswith(f"” {in_text.strip()}.")
    assert in_text.startswith("  (Else, ")
    assert "  Else, Ann. *The \\*Ferry\\**. 1891.\n" in said
    assert "<i>The *Ferry*</i>" in run("cite", ferry.id, "--format", "html", "--style", "chicago-notes")[1]


def test_files_are_written_as_they_are(bench, run):
    ferry = add_ferry(bench)
    (item,) = json.loads(run("cite", ferry.id, "--format", "csl-json")[1])
    assert item["id"] == ferry.id
    assert run("cite", ferry.id, "--format", "bibtex")[1].startswith(f"@book{{{ferry.id},\n")
    assert run("cite", ferry.id, "--format", "ris")[1].endswith("ER  - \r\n")


def test_details_are_corrected_and_what_is_not_named_stays(bench, run):
    ferry = add_ferry(bench)
    assert run("describe", ferry.id, "--publisher", "Dent", "--edition-year", "1906", "--volumes", "2")[0] == 0
    code, said, _ = run("describe", ferry.id, "--volumes", "0", "--accessed", "2026-11-05")
    assert code == 0
    assert said.rstrip().endswith("Dent, 1906.")
    details = bench.citing.work(ferry.id).details
    assert (details.publisher, details.year, details.volumes) == ("Dent", 1906, None)
    assert str(details.accessed) == "2026-11-05"
    code, _, told = run("describe", ferry.id, "--accessed", "yesterday")
    assert (code, "as 2026-11-05" in told) == (1, True)


def test_what_cannot_be_cited_is_said(bench, run):
    ferry = add_ferry(bench)
    assert run("cite", "never")[0] == 1
    code, _, told = run("cite", ferry.id, "99.1.1")
    assert (code, "has no passage" in told) == (1, True)
    assert run("cite", ferry.id, "--style", "apa")[0] == 2


def test_the_notebook_is_written_as_its_file_is_called(bench, run, tmp_path):
    ferry = add_ferry(bench)
    bench.notebook.keep(ferry.id, "1.1.1")
    for end in ("docx", "md", "csv", "json"):
        assert run("notebook", "export", tmp_path / f"notes.{end}", "--style", "chicago-notes")[0] == 0
    assert docx.Document(str(tmp_path / "notes.docx")).paragraphs[0].text == "Notebook"
    assert "## Bibliography" in (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert (tmp_path / "notes.csv").read_bytes().startswith(b"\xef\xbb\xbfcollection,")
    assert run("notebook", "import", tmp_path / "notes.json")[0] == 0
