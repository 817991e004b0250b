"""Studies given away and taken in: checked whole, held where their works are not here, anonymous where wanted."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from html.parser import HTMLParser

import pytest

from relic_core.domain.studies import CANNOT_DECIDE, study_id
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.studies import _FILE, read_study, write_study
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making_studies import TERMS, make_ferry, make_study

MARKUP = '<img src=x onerror="alert(1)"> & Co.'


@pytest.fixture
def bench(settings):
    workbench = build(settings, executor=InlineExecutor(settings))
    workbench.store.works.add(make_ferry())
    return workbench


@pytest.fixture
def answered(bench):
    """A study that two people have answered, one of them with markup in the name and a formula for a comment."""
    study = make_study(work=make_ferry())
    bench.store.studies.add(study, TERMS)
    for name, comment in ((MARKUP, "=1+1"), ("Bea", "<script>alert(2)</script>")):
        annotator = bench.answering.join(study.id, name)
        for item in study.items:
            bench.answering.answer(study.id, annotator.id, item.id, item.right_option, seconds=2, comment=comment)
    bench.answering.answer(study.id, annotator.id, "w0", CANNOT_DECIDE, seconds=9)
    return study


def test_a_study_goes_to_another_department_and_is_the_same_there(bench, tmp_path, settings):
    study = make_study(work=make_ferry())
    bench.store.studies.add(study, TERMS)
    data = bench.study_files.export(study.id)
    assert data == bench.study_files.export(study.id)
    assert bench.study_files.take_in(data) == (study, False)
    elsewhere = build(type(settings)(data=tmp_path / "other", indexes=tmp_path / "ix"))
    elsewhere.store.works.add(make_ferry())
    taken, new = elsewhere.study_files.take_in(data)
    assert new
    assert taken == study
    assert elsewhere.study_files.export(study.id) == data
    anna = [each.answering.join(study.id, "Anna") for each in (bench, elsewhere)]
    assert anna[0].id != anna[1].id


def test_a_study_whose_work_is_not_here_is_taken_in_and_held(tmp_path, settings):
    elsewhere = build(type(settings)(data=tmp_path / "other", indexes=tmp_path / "ix"))
    study, new = elsewhere.study_files.take_in(write_study(make_study(work=make_ferry()), TERMS))
    assert new
    (said,) = elsewhere.studies.get(study.id).held
    assert "The Ferry" in said


def change(data, edit, *, digest=True):
    """Edit the content of a study's file, with a digest that fits or not."""
    whole = json.loads(data)
    edit(whole)
    if digest:
        whole["sha256"] = _FILE.digest({name: whole[name] for name in ("study", "terms")})
    return json.dumps(whole).encode()


def right_option(whole):
    item = whole["study"]["items"][0]
    item["right_option"] = 1 + item["right_option"] % 3


@pytest.mark.parametrize(
    ("edit", "digest"),
    [
        (right_option, False),
        (right_option, True),
        (lambda whole: whole["study"].update(version="one"), True),
        (lambda whole: whole["study"]["items"].clear(), True),
        (lambda whole: whole["study"]["items"][0].pop("left"), True),
        (lambda whole: whole["study"]["items"][0]["options"].pop(), True),
        (lambda whole: whole["study"]["works"].clear(), True),
        (lambda whole: whole["terms"].update(wanted=-1), True),
        (lambda whole: whole["terms"].update(consent=5), True),
        (lambda whole: whole.update(format="relic study/9"), True),
        (lambda whole: whole.update(more=1), True),
    ],
)
def test_a_study_that_was_changed_is_refused(edit, digest):
    data = write_study(make_study(), TERMS)
    read_study(change(data, lambda _: None), "study.json")
    with pytest.raises(BadBenchmark, match=r"study\.json"):
        read_study(change(data, edit, digest=digest), "study.json")


@pytest.mark.parametrize(
    ("shared", "kind", "terms"),
    [
        (2, "proxy", {"wanted": 1}),
        (2, "proxy", {"wanted": 0}),
        (0, "proxy", {"wanted": 10_000}),
        (0, "proxy", {"consent": "word " * 10_000}),
        (1, "proxy", {"wanted": 3}),
        (2, "evidence", {"wanted": 3}),
    ],
)
def test_a_study_that_could_not_be_made_so_is_not_taken_in_either(shared, kind, terms):
    study = make_study(shared=shared)
    if kind == "evidence":
        items = tuple(dataclasses.replace(item, options=(item.gold,), right_option=0) for item in study.items)
        making = dataclasses.replace(study.making, kind=kind)
        named = study_id(name=study.name, version=1, seed=1, items=items, shared=shared)
        study = dataclasses.replace(study, id=named, items=items, making=making)
    with pytest.raises(BadBenchmark, match=r"study\.json"):
        read_study(write_study(study, dataclasses.replace(TERMS, **terms)), "study.json")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"{}", b'{"format": 1, "format": 2}', b"null"])
def test_what_is_no_study_is_refused(bench, data):
    with pytest.raises(BadBenchmark, match=r"It|it"):
        bench.study_files.take_in(data, "It")


def test_a_study_with_passages_that_are_not_its_works_is_refused(bench):
    def words(whole):
        from relic_core.formats.studies import study_of

        whole["study"]["items"][0]["options"][0]["words"] = "Nobody wrote this."
        facts = {key: said for key, said in whole["study"].items() if key != "items"}
        items = study_of(facts, whole["study"]["items"], "It").items
        whole["study"]["id"] = study_id(name="Ferries", version=1, seed=1, items=items)

    data = change(write_study(make_study(work=make_ferry()), TERMS), words)
    with pytest.raises(BadBenchmark, match=r"The Ferry.*'w0'"):
        bench.study_files.take_in(data)
    assert not any(each.name == "Ferries" for each in bench.store.studies.all())


def test_answers_are_given_with_items_and_times_by_name(bench, answered):
    whole = json.loads(bench.study_files.answers_json(answered.id, anonymous=False))
    assert len(whole["answers"]) == 13
    assert {each["annotator"] for each in whole["answers"]} == {MARKUP, "Bea"}
    first, *_, last = whole["answers"]
    assert first["comment"] == "=1+1"
    assert first["answered"].startswith("20")
    assert (last["item"], last["choice"], last["cannot_decide"], last["seconds"], last["counts"]) == (
        "w0", CANNOT_DECIDE, True, 9.0, True,
    )  # fmt: skip
    earlier = [each for each in whole["answers"] if each["annotator"] == "Bea" and each["item"] == "w0"]
    assert [each["counts"] for each in earlier] == [False, True]
    assert len(whole["study"]["items"]) == 6


def test_anonymous_answers_give_numbers_in_place_of_names_and_no_hours_or_comments(bench, answered):
    for data in (bench.study_files.answers_json(answered.id), bench.study_files.answers_csv(answered.id)):
        text = data.decode()
        assert "annotator 1" in text
        assert "annotator 2" in text
        for annotator in bench.studies.annotators(answered.id):
            assert annotator.annotator.id not in text
            assert annotator.annotator.name not in text
        assert "alert" not in text
        assert "=1+1" not in text
    rows = json.loads(bench.study_files.answers_json(answered.id))["answers"]
    assert "answered" not in rows[0]
    assert [row["annotator"] for row in rows] == sorted(row["annotator"] for row in rows)
    assert "=1+1" in bench.study_files.answers_json(answered.id, comments=True).decode()


@pytest.fixture
def elsewhere(tmp_path, settings, answered):
    """Another department with the same study, whom one Bea has begun to answer."""
    workbench = build(type(settings)(data=tmp_path / "other", indexes=tmp_path / "ix"))
    workbench.store.works.add(make_ferry())
    workbench.store.studies.add(answered, TERMS)
    bea = workbench.answering.join(answered.id, "Bea")
    workbench.answering.answer(answered.id, bea.id, "w3", 1, seconds=3, comment="from here")
    return workbench


def counted(workbench, study):
    return {each.annotator.name: each.answered for each in workbench.studies.annotators(study.id)}


def test_answers_of_two_departments_are_put_together_once(bench, elsewhere, answered):
    files = elsewhere.study_files
    given = bench.study_files.answers_json(answered.id, anonymous=False)
    assert files.take_in_answers(answered.id, given, of="Oxford") == (2, 13)
    together = {"Bea": 1, "Bea (Oxford)": 6, f"{MARKUP} (Oxford)": 6}
    assert counted(elsewhere, answered) == together
    assert files.take_in_answers(answered.id, given, of="Oxford") == (2, 0), "the same file once more"
    anonymous = bench.study_files.answers_json(answered.id)
    assert files.take_in_answers(answered.id, anonymous, of="Oxford") == (2, 0), "the same people without names"
    results = {each.annotator.name: each for each in elsewhere.study_results.of(answered.id).people}
    assert (results["Bea (Oxford)"].right, results["Bea (Oxford)"].cannot) == (5, 1), "the last of two answers counts"
    # Later somebody joins there, so that other numbers stand for the same people, and one goes on.
    cy = bench.answering.join(answered.id, "Cy")
    bench.answering.answer(answered.id, cy.id, "w2", 3, seconds=5)
    assert files.take_in_answers(answered.id, bench.study_files.answers_json(answered.id), of="Oxford") == (3, 1)
    assert sorted(counted(elsewhere, answered).values()) == [1, 1, 6, 6]
    # What goes back is known there to be theirs.
    back = elsewhere.study_files.answers_json(answered.id, anonymous=False)
    assert bench.study_files.take_in_answers(answered.id, back, of="Cambridge") == (4, 1)
    assert counted(bench, answered) == {MARKUP: 6, "Bea": 6, "Cy": 1, "Bea (Cambridge)": 1}


def test_people_of_one_name_from_one_place_stay_apart(bench, elsewhere, answered, tmp_path, settings):
    third = build(type(settings)(data=tmp_path / "third", indexes=tmp_path / "ix"))
    third.store.studies.add(answered, TERMS)
    for workbench in (bench, elsewhere):
        given = workbench.study_files.answers_json(answered.id, anonymous=False)
        third.study_files.take_in_answers(answered.id, given, of="there")
    assert counted(third, answered) == {f"{MARKUP} (there)": 6, "Bea (there)": 6, "Bea (there) (2)": 1}


def test_answers_that_cannot_be_are_refused_and_none_is_taken_in(bench, elsewhere, answered):
    given = bench.study_files.answers_json(answered.id, anonymous=False)
    for at, edit in enumerate((
        lambda whole: whole.update(format="relic study/1"),
        lambda whole: whole["study"].update(id="another"),
        lambda whole: whole.update(instructions="Guess."),
        lambda whole: whole["answers"][0].update(choice=4),
        lambda whole: whole["answers"][0].update(choice=True),
        lambda whole: whole["answers"][0].update(seconds=-1),
        lambda whole: whole["answers"][0].update(seconds=float("nan")),
        lambda whole: whole["answers"][0].update(item="w99"),
        lambda whole: whole["answers"][0].update(annotator_key="Bea"),
        lambda whole: whole["answers"][0].update(annotator=7),
        lambda whole: whole["answers"][0].update(comment="x" * 4_001),
        lambda whole: whole["answers"][0].update(answered="yesterday"),
        lambda whole: whole["answers"][0].pop("choice"),
        lambda whole: whole.update(answers=5),
        lambda whole: whole.pop("answers"),
    )):  # fmt: skip
        whole = json.loads(given)
        edit(whole)
        with pytest.raises(BadBenchmark):
            elsewhere.study_files.take_in_answers(answered.id, json.dumps(whole).encode(), of="Oxford")
        assert counted(elsewhere, answered) == {"Bea": 1}, at


def test_answers_want_a_place_they_come_from_and_a_file_of_answers(bench, answered):
    given = bench.study_files.answers_json(answered.id)
    with pytest.raises(BadRequest):
        bench.study_files.take_in_answers(answered.id, given, of=" ")
    for data in (b"", b"[]", b"\xff", bench.study_files.export(answered.id)):
        with pytest.raises(BadBenchmark):
            bench.study_files.take_in_answers(answered.id, data, of="Oxford")


def test_csv_has_a_row_for_each_answer_with_its_item_and_no_formulas(bench, answered):
    data = bench.study_files.answers_csv(answered.id, anonymous=False).decode()
    rows = list(csv.DictReader(io.StringIO(data)))
    assert len(rows) == 13
    assert rows[0]["comment"] == "'=1+1"
    assert rows[0]["annotator"] == MARKUP
    items = {item.id: item for item in answered.items}
    for row in rows:
        item = items[row["item"]]
        assert [row[f"option_{number}"] for number in (1, 2, 3)] == [option.words for option in item.options]
        assert row["left_context"] == item.left
        assert int(row["right_option"]) == item.right_option
    assert list(rows[0])[-2:] == ["right_option", "too_fast"]  # what programs read by its place stays there
    assert {row["too_fast"] for row in rows} <= {"True", "False"}
    empty = make_study(name="Empty", work=make_ferry())
    bench.store.studies.add(empty, TERMS)
    assert bench.study_files.answers_csv(empty.id).count(b"\n") == 1


def test_what_people_chose_is_given_as_examples_and_works_that_are_measured_on_are_for_evaluation(bench, answered):
    head, *lines = bench.study_files.judged(answered.id).decode().splitlines()
    assert json.loads(head)["rows"] == len(lines) == 6
    examples = {example["id"]: example for example in map(json.loads, lines)}
    assert examples["w1"]["verdict"] == "the quotation"
    assert examples["w0"]["verdict"] == "no majority"  # one of the two could not decide
    assert examples["w1"]["positive"]["words"] == answered.items[1].gold.words
    assert len(examples["w1"]["negatives"]) == 2
    assert examples["w1"]["positive"] not in examples["w1"]["negatives"]
    assert examples["w1"]["votes"] == {"quotation": 2, "others": 0, "cannot decide": 0}
    assert {example["use"] for example in examples.values()} == {"evaluation"}  # the split of the study


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []
        self.links = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in {"src", "href"} or name.startswith("on")]


def test_the_report_is_one_page_that_shows_markup_as_it_is_and_needs_nothing_else(bench, answered):
    page = bench.study_files.report(answered.id, anonymous=False).decode()
    found = Tags()
    found.feed(page)
    assert not {"script", "img", "link", "iframe"} & set(found.tags)
    assert found.links == []
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; Co." in page
    assert "&lt;script&gt;alert(2)&lt;/script&gt;" in page
    for measure in ("Fleiss&#x27; kappa", "Gwet&#x27;s AC1", "Krippendorff&#x27;s alpha"):
        assert f"<td>{measure}</td>" in page
    anonymous = bench.study_files.report(answered.id).decode()
    assert "annotator 1" in anonymous
    assert "alert" not in anonymous
    assert bench.study_files.file_name(answered.id, "html") == f"ferries-{answered.id}.html"
