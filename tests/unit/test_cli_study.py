"""The command line of studies."""

from __future__ import annotations

import json

import pytest

from relic_core.wiring import build

SAMPLE = "High Water at Averhythe"


@pytest.fixture
def study(settings, run):
    """Run the command in a store with the sample."""
    build(settings).ensure_sample()
    return lambda *typed: run("study", *typed)


def test_a_study_is_made_listed_shown_answered_by_models_exported_and_taken_in_again(study, tmp_path, settings):
    assert SAMPLE in study().out
    made = study("make", "Averhythe", "--benchmark", "sample", "--most", "4", "--seed", "3")
    assert (made.code, "4 items of 30 windows" in made.out) == (0, True)
    shown = study("show", "averhythe")
    assert (shown.code, "BM25" in shown.out) == (0, True)
    answered = study("models", "Averhythe", "--retriever", "random,tf-idf")
    assert (answered.code, bool(answered.err)) == (0, False)
    assert "93.5" in answered.out
    assert len(json.loads(study("results", "Averhythe", "--format", "json").out)) == 3
    file = tmp_path / "study.json"
    assert study("export", "Averhythe", file).code == study("import", file).code == 0
    for action, name in (("answers", "a.csv"), ("answers", "a.json"), ("report", "r.html"), ("signal", "s.jsonl")):
        assert study(action, "Averhythe", tmp_path / name).code == 0
        assert (tmp_path / name).stat().st_size > 0
    assert study("import-answers", "Averhythe", tmp_path / "a.json", "--of", "Oxford").code == 0
    studies = build(settings).studies
    study_id = studies.find("Averhythe").id
    for code, wrong in (("ferry", False), ("", True)):
        assert study("owner-code", "Averhythe", code).code == 0
        assert (studies.opens(study_id, "ferry"), studies.opens(study_id, "boat")) == (True, wrong)
    assert study("remove", "Averhythe").out.endswith(f" study restore {study_id}\n")
    assert study_id not in study().out
    assert study("restore", study_id).code == 0
    assert study_id in study().out


def test_an_annotator_is_removed_by_name(study, settings):
    app = build(settings)
    study()
    (listed,) = app.studies.all()
    anna = app.answering.join(listed.id, "Anna")
    task = app.answering.task(listed.id, anna.id)
    app.answering.answer(listed.id, anna.id, task.item.id, 1, seconds=1)
    assert "Anna" in study("show", listed.id).out
    assert study("remove-annotator", listed.id, "anna").out.startswith("1 ")
    assert "Anna" not in study("show", listed.id).out


@pytest.mark.parametrize(
    ("typed", "code", "named"),
    [
        (["make"], 2, "NAME"),
        (["answers", SAMPLE], 2, "FILE"),
        (["answers", SAMPLE, "a.txt"], 2, "FILE.csv"),
        (["show", "Nobody"], 1, "'Nobody'"),
        (["show", SAMPLE, "--most", "3"], 2, "--most"),
        (["import", "nowhere.json"], 1, "nowhere.json"),
        (["models", SAMPLE, "--retriever", "bm25"], 1, ""),
        (["make", "Mine"], 1, ""),
    ],
)
def test_what_cannot_be_done_is_told(study, typed, code, named):
    study()
    ran = study(*typed)
    assert (ran.code, named in ran.err) == (code, True)
