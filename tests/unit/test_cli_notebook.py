"""The command line of the notebook, up to measuring on verdicts."""

from __future__ import annotations

import json

import pytest

from relic_core.cli import main
from relic_core.wiring import build
from tests.making_notes import add_ferry, ask


@pytest.fixture
def bench(settings, monkeypatch):
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    return build(settings)


@pytest.fixture
def run(bench, capsys):
    """Run a command; give its code and what it said on either stream."""

    def command(*arguments):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_notes_are_listed_saved_and_taken_in_again(bench, run, tmp_path):
    assert "Nothing has been kept yet." in run("notebook")[1]
    ferry = add_ferry(bench)
    note = bench.notebook.keep(ferry.id, "1.1.2")
    bench.notebook.write(note.id, words="Nobody\ncounts.", tags=["light"], verdict="unsure")
    said = run("notebook")[1]
    for part in ("My notes", "The Ferry", "1.1.2", "unsure", "light", "Nobody counted the lanterns", "Nobody counts."):
        assert part in said
    assert "No note fits." in run("notebook", "list", "--words", "sea")[1]
    file = tmp_path / "notebook.json"
    assert run("notebook", "export", file, "--collection", "my NOTES")[0] == 0
    bench.notebook.remove(note.id)
    code, said, _ = run("notebook", "import", file)
    assert (code, "Taken in: 1 note." in said) == (0, True)
    assert "Here already: 1." in run("notebook", "import", file)[1]
    bench.works.remove(ferry.id)
    assert "was removed from your library" in run("notebook")[1]


def test_what_supports_a_claim_is_what_retrievers_are_measured_on(bench, run, tmp_path):
    ferry = add_ferry(bench)
    search = ask(bench, ferry)
    for at, verdict in (("1.1.2", "supports"), ("2.2.1", "supports"), ("1.1.1", "contradicts"), ("1.2.1", "unsure")):
        bench.notebook.write(bench.notebook.keep(ferry.id, at, search_id=search.id).id, verdict=verdict)
    file = tmp_path / "verdicts.json"
    code, said, _ = run("notebook", "evaluation-set", file)
    assert code == 0
    assert "2 examples of 1 work. Left out: " in said
    assert "1, since they contradict their claim" in said
    assert "1, since you are unsure of them" in said
    code, said, told = run("evaluate", "relic", "bm25", "--data", file, "--format", "json")
    assert code == 0, told
    assert json.loads(said)
    rows = build(bench.settings).store.runs
    (measured,) = rows.all()
    outcomes = rows.outcomes(measured.id)
    assert [outcome.rank for outcome in outcomes] == [1, 2], "BM25 puts the lanterns first for a claim about lanterns"


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["export"], 2, "FILE"),
        (["export", "a.pdf"], 2, "files that end in .docx, .md, .csv or .json, and a.pdf does not"),
        (["list", "a.json"], 2, "a.json"),
        (["import", "a.json", "--words", "x"], 2, "notebook import takes no --words"),
        (["import", "nowhere.json"], 1, "There is no file nowhere.json"),
        (["export", "a.json", "--collection", "Mine"], 1, "no collection called “Mine”"),
        (["evaluation-set", "a.json"], 1, "no note to make an example of"),
    ],
)
def test_what_cannot_be_done_is_told(run, arguments, code, why):
    ended, _, told = run("notebook", *arguments)
    assert ended == code
    assert why in told
