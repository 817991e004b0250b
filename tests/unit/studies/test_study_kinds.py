"""Studies of other kinds than the proxy task: made, answered, given away, counted, used."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import pytest
from pyarrow import parquet

from relic_core.domain.studies import KINDS, MOST_WORDS, Item, Making, StudyRequest, span_choice
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.formats.studies import item_content, making_content
from relic_core.language_models.parsing import Reading
from relic_core.ports import silent
from relic_core.retrieval.read_by_model import ReadByModel
from relic_core.studies.making import check_request
from relic_core.studies.proxy_task import ask, caveat
from relic_core.studies.report import tables
from relic_core.studies.results import span_retrieval
from relic_core.wiring import build
from tests.making_studies import make_ferry, make_study
from tests.unit.studies.test_spans import LINES


@pytest.fixture
def spans(bench):
    request = StudyRequest(name="Thieves & lamps", kind="span")
    return bench.study_making.make_spans(request, bench.echoes.known, file=LINES.encode(), name="pairs.jsonl")


def answer(bench, study, name, *choices):
    annotator = bench.answering.join(study.id, name)
    for item, choice in zip(study.items, choices, strict=False):
        bench.answering.answer(study.id, annotator.id, item.id, choice, seconds=5)


def test_a_study_of_spans_is_answered_by_spans_that_hold_the_anchor(bench, spans):
    assert (spans.kind.name, bench.studies.terms(spans.id).wanted, bench.studies.get(spans.id).held) == ("span", 3, ())
    for bad in (1, span_choice(1, 2), span_choice(8, 9), span_choice(6, 99), -1):
        with pytest.raises(BadRequest):
            answer(bench, spans, "Anna", bad)
    answer(bench, spans, "Anna", span_choice(6, 9), 0)
    answer(bench, spans, "Ben", span_choice(6, 9), span_choice(2, 2))
    results = bench.study_results.of(spans.id)
    first = next(each for each in results.items if each.item.id == "1")
    assert (first.majority, first.right, first.share) == (span_choice(6, 9), 0, None)
    assert [each.value for each in results.agreement if each.key == "perfect agree"] == [1.0]
    assert len(tables(results)) == 3
    assert len(span_retrieval(results, bench.echoes.known).rows) == 4


def test_a_study_of_spans_and_its_answers_go_to_another_department(bench, spans, tmp_path, settings):
    answer(bench, spans, "Anna", span_choice(6, 9), span_choice(2, 4))
    rows = json.loads(bench.study_files.answers_json(spans.id))["answers"]
    assert [row["said"] for row in rows] == ["a thief in the", "lamp unto my"]
    elsewhere = build(type(settings)(data=tmp_path / "other", indexes=tmp_path / "ix"))
    taken, _ = elsewhere.study_files.take_in(bench.study_files.export(spans.id))
    assert taken == spans
    people, new = elsewhere.study_files.take_in_answers(
        spans.id, bench.study_files.answers_json(spans.id, anonymous=False), of="Oxford"
    )
    assert (people, new) == (1, 2)
    assert b"lamp unto my" in elsewhere.study_files.answers_csv(spans.id)
    bad = bench.study_files.answers_json(spans.id).replace(b'"choice": 6009', b'"choice": 6099')
    with pytest.raises(BadBenchmark):
        elsewhere.study_files.take_in_answers(spans.id, bad, of="Oxford")


def test_kinds_of_evidence_become_labels_of_the_quotations(bench):
    study = bench.study_making.make(StudyRequest(name="Kinds", kind="evidence", benchmark="sample", lengths=()))
    assert {len(item.options) for item in study.items} == {1}
    assert bench.studies.terms(study.id).wanted == 2
    with pytest.raises(BadRequest):
        bench.label_windows(study.id)
    answer(bench, study, "Anna", 2, 1, 3)
    answer(bench, study, "Ben", 2, 2, 3)
    run = next(run for run in bench.runs.all() if run.benchmark == "sample")
    before = {each.example_id: each.kind for each in bench.runs.labelled(run.id)}
    bench.label_windows(study.id)
    after = {each.example_id: each.kind for each in bench.runs.labelled(run.id)}
    named = {study.items[0].id: "paraphrase-supporting", study.items[2].id: "other"}
    assert after == before | named
    assert {each.example_id: each.kind for each in bench.runs.outcomes(run.id)} == before, "the run is as it was"
    counts = next(table for table in tables(bench.study_results.of(study.id)) if table.heads[0] == "kind")
    assert [row[1] for row in counts.rows] == [0, 1, 1]


def test_labels_go_out_beside_the_benchmarks_own_and_never_beside_another_quotation(bench, tmp_path):
    study = bench.study_making.make(StudyRequest(name="Kinds", kind="evidence", benchmark="sample", lengths=()))
    run = next(run for run in bench.runs.all() if run.benchmark == "sample")
    assert bench.runs.export(run, tmp_path / "none.parquet") == ""
    answer(bench, study, "Anna", 2, 1)
    answer(bench, study, "Ben", 2, 1)
    bench.label_windows(study.id)
    named = {study.items[0].id: "paraphrase-supporting", study.items[1].id: "claim-supporting"}
    said = bench.runs.export(run, tmp_path / "run.parquet")
    rows = parquet.read_table(tmp_path / "run.parquet").to_pylist()
    assert {row["example_id"]: row["label"] for row in rows if row["label"]} == named
    assert [row["kind"] for row in rows] == [each.kind for each in bench.runs.outcomes(run.id)]
    assert said.startswith(f"2 of {len(rows)} ")
    joined = bench.benchmarks.export("sample", tmp_path / "windows.parquet")
    windows = parquet.read_table(tmp_path / "windows.parquet").to_pylist()
    assert {row["id"]: row["label"] for row in windows if row["label"]} == joined.by_id == named

    moved = [replace(each, gold=(1, 2)) for each in bench.runs.outcomes(run.id)]
    other = replace(run, id="0123456789ab", tags=(), shipped=False)
    bench.store.runs.add(other, moved)
    bench.runs.all()
    assert len(bench.runs.export(other, tmp_path / "other.parquet").split("2 ids")) == 2
    assert not any(row["label"] for row in parquet.read_table(tmp_path / "other.parquet").to_pylist())
    assert bench.runs.labelled(other.id) == bench.runs.outcomes(other.id)


def test_a_label_for_a_quotation_that_is_gone_is_counted_and_not_kept(bench):
    study = bench.study_making.make(StudyRequest(name="Kinds", kind="evidence", benchmark="sample"))
    answer(bench, study, "Anna", 1)
    answer(bench, study, "Ben", 1)
    mined = bench.study_results.of(study.id)
    object.__setattr__(mined.study.making, "benchmark", "")  # as if it had been mined here, and removed since
    assert bench.label_windows(study.id).startswith("0 quotations")
    assert bench.store.windows.evidence() == {}


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_a_study_that_nobody_has_answered_has_results_that_say_so(bench, spans, kind):
    study = spans
    if kind != "span":
        study = bench.study_making.make(StudyRequest(name="Empty", kind=kind, benchmark="sample", most=2))
    results = bench.study_results.of(study.id)
    empty = results.notes[0]
    answer(bench, study, "Anna", 0)
    assert empty not in bench.study_results.of(study.id).notes
    assert b"<html" in bench.study_files.report(study.id)


def test_models_and_examples_are_of_the_proxy_task_alone(bench, spans):
    assert bench.study_models.due(spans.id) == ()
    for asked in (bench.study_models.start, bench.study_files.judged, bench.label_windows):
        with pytest.raises(BadRequest):
            asked(spans.id)


def test_a_package_holds_the_study_its_guide_and_the_sheet_by_its_own_settings(bench, spans):
    bench.studies.edit(spans.id, runner="Dr <b>Who</b>, room 4")
    with zipfile.ZipFile(io.BytesIO(bench.study_files.package(spans.id))) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert held["study.json"] == bench.study_files.export(spans.id)
    terms, sheet = bench.studies.terms(spans.id), held["information.html"].decode()
    assert "Dr &lt;b&gt;Who&lt;/b&gt;, room 4" in sheet
    assert all(part in sheet for part in (terms.instructions, terms.consent, terms.privacy))
    assert spans.id in held["information.html"].decode()
    assert "study models" not in held["README.txt"].decode(), "models answer the proxy task alone"
    assert bench.study_files.package(spans.id) == bench.study_files.package(spans.id)


def test_the_study_of_the_test_works_says_what_is_missing(bench):
    with pytest.raises(NotFound):
        bench.study_making.of_test_works(60)


def test_the_files_of_the_proxy_task_are_as_they_were():
    study = make_study()
    assert "kind" not in making_content(study.making)
    assert "anchor" not in item_content(study.items[0])
    assert Making.__dataclass_fields__["kind"].default == "proxy"


class Reader(ReadByModel):
    """A language model that scores the passages as it is told."""

    name = "llm-score"

    def __init__(self, scores):
        self._scores = scores

    def read(self, claim, passages, progress):
        self.shown = passages
        order = sorted(range(len(passages)), key=lambda at: -(self._scores[at] or 0))
        return order, [Reading(score) for score in self._scores]


def test_a_language_model_reads_the_three_options_as_people_do():
    items = make_study(1).items
    model = Reader((1.0, 3.0, 2.0))
    assert ask(items, make_ferry, model, progress=silent).choices == {"w0": 2}
    assert list(model.shown) == [option.words for option in items[0].options]
    assert ask(items, make_ferry, Reader((None,) * 3), progress=silent).choices == {"w0": 0}
    assert caveat("llm-score", "bm25") == ""


def test_an_item_has_one_passage_or_three(spans):
    item = spans.items[0]
    facts = {name: getattr(item, name) for name in Item.__dataclass_fields__}
    long = (replace(item.options[0], words="word " * MOST_WORDS),)
    for wrong in ({"anchor": 99}, {"right_option": 1}, {"options": item.options * 2}, {"options": long}):
        with pytest.raises(BadRequest):
            Item(**facts | wrong)
    assert len(Item(**facts | {"options": long, "anchor": 0}).words) == MOST_WORDS, "no span is marked in it"


@pytest.mark.parametrize("wrong", [{"beyond": 9}, {"kind": "span", "works": ("a",)}, {"kind": "span", "lengths": (2,)}])
def test_what_a_kind_of_study_would_pass_over_is_refused(wrong):
    request = StudyRequest(**{"name": "Wrong", "kind": "evidence", "benchmark": "sample"} | wrong)
    with pytest.raises(BadRequest):
        check_request(request)
