"""The command line of studies."""

from __future__ import annotations

import json

import pytest

from relic_core.domain.studies import span_choice
from relic_core.wiring import build
from tests.unit.studies.test_spans import LINES

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


def test_a_divided_study_says_so_whenever_it_goes_out_or_comes_in(study, tmp_path, settings):
    said = study("make", "Parts", "--benchmark", "sample", "--most", "12", "--shared", "3").err
    app = build(settings)
    found = app.studies.find("Parts")
    assert (len(found.shared), found.division in " ".join(said.split())) == (3, True)
    who = app.answering.join(found.id, "Anna")
    app.answering.answer(found.id, who.id, found.items[0].id, 1, seconds=9)
    for typed in (
        ["export", "Parts", tmp_path / "study.json"],
        ["import", tmp_path / "study.json"],
        ["answers", "Parts", tmp_path / "a.json"],
        ["import-answers", "Parts", tmp_path / "a.json", "--of", "Oxford"],
        ["package", tmp_path / "p.zip", "Parts"],
    ):
        ran = study(*typed)
        assert (ran.code, found.division in " ".join(ran.err.split())) == (0, True), typed


def test_studies_of_other_kinds_are_made_and_used(study, tmp_path, settings):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(LINES)
    assert study("make", "Thieves", "--kind", "span", "--pairs", pairs).code == 0
    assert study("make", "Kinds", "--kind", "evidence", "--benchmark", "sample", "--most", "2").code == 0
    app = build(settings)
    assert app.studies.terms(app.studies.find("Kinds").id).wanted == 2
    for name, choose in (("Thieves", lambda item: span_choice(item.anchor, item.anchor)), ("Kinds", lambda _item: 1)):
        found = app.studies.find(name)
        for who in ("Anna", "Ben"):
            annotator = app.answering.join(found.id, who)
            for item in found.items:
                app.answering.answer(found.id, annotator.id, item.id, choose(item), seconds=9)
    assert study("retrieval", "Thieves").code == study("results", "Kinds").code == 0
    assert study("label", "Kinds").code == 0
    assert len(app.store.windows.evidence()) == 2
    sheet, packed = tmp_path / "sheet.html", tmp_path / "study.zip"
    assert study("information", "Kinds", sheet).code == study("package", packed, "Kinds").code == 0
    assert sheet.stat().st_size > 0 < packed.stat().st_size


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
        (["make", "Spans", "--kind", "span"], 2, "--pairs"),
        (["make", "Spans", "--texts", "a"], 2, "--kind span"),
        (["make", "Spans", "--kind", "spam"], 1, "span"),
        (["make", "Spans", "--kind", "span", "--pairs", "pairs.jsonl", "--benchmark", "sample"], 2, "--pairs"),
        (["package", "a.zip"], 1, "dataset rebuild"),
        (["package", "a.zip", SAMPLE, "--minutes", "9"], 2, "--minutes"),
        (["package", "a.zip", "--minutes", "9", "--shared", "5"], 2, "--shared"),
        (["package", "a.zip", "--shared", "0", "--readers", "5"], 2, "--readers"),
        (["make", "Parts", "--benchmark", "sample", "--shared", "1"], 1, ""),
        (["label", SAMPLE], 1, ""),
        (["retrieval", SAMPLE], 1, ""),
        (["make", "Mine"], 1, ""),
    ],
)
def test_what_cannot_be_done_is_told(study, typed, code, named):
    study()
    ran = study(*typed)
    assert (ran.code, named in ran.err) == (code, True)
