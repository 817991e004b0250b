"""The command line of studies."""

from __future__ import annotations

import json

import pytest

from relic_core.cli import main
from relic_core.wiring import build


@pytest.fixture
def run(settings, monkeypatch, capsys):
    """Run a command in a store with the sample; give its code and what it said on either stream."""
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    build(settings).works.ensure_sample()

    def command(*arguments):
        try:
            code = main(["study", *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_a_study_is_made_listed_shown_answered_by_models_exported_and_taken_in_again(run, tmp_path, settings):
    assert "High Water at Averhythe" in run()[1]
    code, said, _ = run("make", "Averhythe", "--benchmark", "sample", "--most", "4", "--seed", "3")
    assert (code, "has 4 items of 30 windows" in said) == (0, True)
    assert "the best two of bm25" in run("show", "averhythe")[1]
    code, said, _ = run("models", "Averhythe", "--retriever", "random,tf-idf")
    assert code == 0
    assert "chose the other options, and is left out" in said
    assert "93.5" in said
    code, said, _ = run("results", "Averhythe", "--format", "json")
    assert len(json.loads(said)) == 3
    file = tmp_path / "study.json"
    assert run("export", "Averhythe", file)[0] == 0
    assert "is here already" in run("import", file)[1]
    for action, name in (("answers", "a.csv"), ("answers", "a.json"), ("report", "r.html"), ("signal", "s.jsonl")):
        assert run(action, "Averhythe", tmp_path / name)[0] == 0
        assert (tmp_path / name).stat().st_size > 0
    assert run("answers", "Averhythe", tmp_path / "ours.json")[0] == 0
    assert (
        "0 new answers of 0 annotators"
        in run("import-answers", "Averhythe", tmp_path / "ours.json", "--of", "Oxford")[1]
    )
    study = build(settings).studies.find("Averhythe")
    assert "opens with the new code" in run("owner-code", "Averhythe", "ferry")[1]
    assert build(settings).studies.owners.opens(study.id, "ferry")
    assert "opens to everybody" in run("owner-code", "Averhythe", "")[1]
    assert "is removed" in run("remove", "Averhythe")[1]
    assert "is back" in run("restore", study.id)[1]


def test_an_annotator_is_removed_by_name(run, settings):
    studies = build(settings).studies
    (listed,) = studies.all()
    anna = studies.answering.join(listed.id, "Anna")
    task = studies.answering.task(listed.id, anna.id)
    studies.answering.answer(listed.id, anna.id, task.item.id, 1, seconds=1)
    assert "Anna" in run("show", listed.id)[1]
    code, said, _ = run("remove-annotator", listed.id, "anna")
    assert (code, "1 answers were removed for good" in said) == (0, True)
    assert "Anna" not in run("show", listed.id)[1]


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["make"], 2, "NAME"),
        (["answers", "High Water at Averhythe"], 2, "FILE"),
        (["answers", "High Water at Averhythe", "a.txt"], 2, "FILE.csv or FILE.json"),
        (["show", "Nobody"], 1, "There is no study 'Nobody'"),
        (["show", "High Water at Averhythe", "--most", "3"], 2, "study show takes no --most"),
        (["import", "nowhere.json"], 1, "There is no file nowhere.json"),
        (["models", "High Water at Averhythe", "--retriever", "bm25"], 1, "Name others"),
        (["make", "Mine"], 1, "No window was mined"),
    ],
)
def test_what_cannot_be_done_is_told(run, arguments, code, why):
    run()
    ended, _, told = run(*arguments)
    assert ended == code
    assert why in told
