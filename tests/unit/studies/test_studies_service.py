"""Studies: made from windows, frozen by answers, answered one item at a time, counted, beside models."""

from __future__ import annotations

import csv
import dataclasses
import html
import json
from collections import Counter

import pytest

from relic_core.domain.figures import Figure
from relic_core.domain.studies import (
    CANNOT_DECIDE,
    CLAIMS_ALONE,
    DEFAULT_TERMS,
    ModelAnswers,
    StudyRequest,
    check_terms,
)
from relic_core.errors import BadRequest, NotFound, StudyFrozen, StudyHeld
from relic_core.evaluation.benchmarks.opened import Opened
from relic_core.formats.studies import read_study, write_study
from relic_core.ports import silent
from relic_core.studies import service
from relic_core.studies.proxy_task import caveat, may_answer
from relic_core.studies.raters import KEYS
from relic_core.studies.report import accuracies, agreement, guide, load_of, made_of, tables
from relic_core.studies.service import PRIDE, SAMPLE, paper_study
from relic_core.wiring import build
from tests.making_studies import TERMS, WHEN, make_ferry, make_study

pytestmark = pytest.mark.usefixtures("kept_open")


@pytest.fixture
def ferry(bench):
    """A study of six items whose work is in the library; option numbers of the right ones by item."""
    study = make_study(work=make_ferry())
    bench.store.works.add(make_ferry())
    bench.store.studies.add(study, TERMS)
    return study


def answer_all(bench, study, name, choose):
    """Answer every item of a study; `choose` gives the number of an option for an item."""
    annotator = bench.answering.join(study.id, name)
    for item in study.items:
        bench.answering.answer(study.id, annotator.id, item.id, choose(item), seconds=2.0)
    return annotator


def right(item):
    return item.right_option


def wrong(item):
    return 1 + item.right_option % 3


def test_a_fresh_store_has_the_sample_study_and_it_works_at_once(bench):
    (listed,) = bench.studies.all()
    assert listed.name == "High Water at Averhythe"
    view = bench.studies.get(listed.id)
    assert view.held == ()
    assert not view.frozen
    anna = bench.answering.join(listed.id, "Anna")
    task = bench.answering.task(listed.id, anna.id)
    assert (task.done, task.total) == (0, listed.items)
    assert len(set(task.item.options)) == 3
    bench.studies.remove(listed.id)
    assert bench.studies.all() == ()  # one that was removed stays away


@pytest.fixture
def claims(monkeypatch):
    """Claims in the place of what critics write around quotations."""
    windows = Opened.windows

    def put(*, masked=False):
        claim = {"left": ("They quarrel.",), "right": (), "masked": masked}

        def alone(self):
            return tuple(dataclasses.replace(each, **claim) for each in windows(self))

        monkeypatch.setattr(Opened, "windows", alone)

    return put


def test_instructions_speak_of_a_claim_where_nothing_is_written_around_a_quotation(bench, claims):
    asked = StudyRequest(name="Gaps", benchmark="sample", most=2)
    around = bench.study_making.make(asked)
    before = bench.study_making.make(dataclasses.replace(asked, name="Words before", shape="4/0"))
    claims()
    alone = bench.study_making.make(dataclasses.replace(asked, name="Claims"))
    own = bench.study_making.make(dataclasses.replace(asked, name="Own", instructions="Choose."))
    read = [bench.studies.get(study.id).terms.instructions for study in (around, before, alone, own)]
    assert read == [DEFAULT_TERMS.instructions, DEFAULT_TERMS.instructions, CLAIMS_ALONE, "Choose."]


def test_claims_are_alone_where_their_source_says_so_whichever_sentences_were_asked_for(bench, claims):
    asked = StudyRequest(name="Claims", benchmark="sample", most=2, shape="4/0")
    claims()
    alone = bench.study_making.make(asked)
    claims(masked=True)
    ends = bench.study_making.make(dataclasses.replace(asked, name="Nothing behind", shape="4/4"))
    for made, expected in ((alone, True), (ends, False)):
        study, terms = read_study(bench.study_files.export(made.id), "study.json")
        assert study.claims_alone is made.claims_alone is expected
        assert (terms.instructions == CLAIMS_ALONE) is expected
    assert b'"alone"' not in write_study(make_study(), TERMS)  # as studies were written before


def test_the_papers_figures_stand_beside_quotations_and_not_beside_claims_alone(bench, claims):
    (sample,) = bench.studies.all()
    claims()
    alone = bench.study_making.make(StudyRequest(name="Claims", benchmark="sample", most=2))
    for study_id, printed in ((sample.id, True), (alone.id, False)):
        results = bench.study_results.of(study_id)
        assert ("the paper's" in [row[4] for row in accuracies(results).rows]) is printed
        assert any(row[3] for row in agreement(results).rows) is printed


def test_a_quotation_at_the_end_of_what_a_critic_writes_is_missing_all_the_same(bench, claims):
    (sample,) = bench.studies.all()
    items = bench.studies.study(sample.id).items
    (ends,) = [item for item in items if not item.right]
    claims()
    alone = bench.study_making.make(StudyRequest(name="Claims", benchmark="sample", most=1))
    shown = []
    for study, item in ((sample, ends), (alone, alone.items[0])):
        anna = bench.answering.join(study.id, "Anna")
        shown.append(bench.answering.task(study.id, anna.id, item.id).item)
    assert [each.alone for each in shown] == [False, True]
    gaps = bench.studies.study(sample.id)
    assert [each.asks for each in shown] == [gaps.kind.label, alone.asks]
    assert alone.asks != alone.kind.label


def test_the_sample_study_is_what_its_command_makes(bench, tmp_path):
    bench.study_making.make_sample(tmp_path / "study.json")
    assert (tmp_path / "study.json").read_bytes() == SAMPLE.read_bytes()


def test_a_study_is_made_by_its_seed_and_the_items_are_single_sentences(bench):
    request = StudyRequest(name="Averhythe", benchmark="sample", most=8, seed=3)
    study = bench.study_making.make(request)
    assert len(study.items) == 8
    assert {option.span.length for item in study.items for option in item.options} == {1}
    assert (study.making.chooser, str(study.making.shape), study.making.windows) == ("bm25", "4/4", 30)
    other = bench.study_making.make(dataclasses.replace(request, name="Others", seed=4))
    assert {item.id for item in other.items} != {item.id for item in study.items}
    again = bench.study_making.make(dataclasses.replace(request, name="Same draw"))
    assert [dataclasses.replace(item) for item in again.items] == list(study.items)
    assert again.id != study.id
    work = bench.works.load(bench.studies.get(study.id).stored[study.works[0].key])
    for item in study.items:
        for option in item.options:
            assert work.text[slice(*option.at)].split() == option.words.split()


def test_quotations_of_any_length_become_items_on_request(bench):
    study = bench.study_making.make(StudyRequest(name="Any", benchmark="sample", lengths=()))
    lengths = {item.gold.span.length for item in study.items}
    assert lengths == {1, 2, 3, 4, 5}


def test_the_second_variant_takes_only_quotations_beyond_a_place(bench):
    study = bench.study_making.make(StudyRequest(name="Hard", benchmark="sample", chooser="tf-idf", beyond=200))
    assert all(item.gold_rank > 200 for item in study.items)
    assert (study.making.beyond, study.making.chooser) == (200, "tf-idf")
    with pytest.raises(BadRequest, match="5,000"):
        bench.study_making.make(StudyRequest(name="Harder", benchmark="sample", beyond=5_000))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"name": " "}, "0"),
        ({"name": "a\u202eb"}, "3"),
        ({"benchmark": "simple"}, "simple"),
        ({"benchmark": "birco-pools"}, "BIRCO"),
        ({"works": ("emma",)}, "'emma'"),
        ({"lengths": (9,)}, "9"),
        ({"most": -1}, "-1"),
        ({"chooser": "bm52"}, "bm52"),
        ({"shape": "9/9"}, "9/9"),
        ({"wanted": -1}, "-1"),
        ({"consent": "x" * 10_001}, "10,001"),
    ],
)
def test_a_study_that_cannot_be_is_refused_and_named(bench, changes, named):
    request = dataclasses.replace(StudyRequest(name="Averhythe", benchmark="sample", most=3), **changes)
    with pytest.raises(BadRequest, match=named):
        bench.study_making.make(request)


def test_windows_of_ones_own_sources_are_wanted_where_no_benchmark_is_named(bench):
    with pytest.raises(NotFound):
        bench.study_making.make(StudyRequest(name="Mine"))
    mined, *others = bench.study_making.sources()
    assert mined.problem
    (found,) = [each for each in others if each.benchmark == "sample"]
    ((key, title, counts),) = found.works
    assert (key, title, counts[0]) == ("high_water_at_averhythe", "High Water at Averhythe", 72)
    made = bench.study_making.make(StudyRequest(name="Pairs of sentences", benchmark="sample", lengths=(2,)))
    assert counts[2] == len(made.items) == made.making.windows
    assert ("taken from", "The sample") in made_of(made)
    assert paper_study(bench.catalogue, bench.settings) == (None, False)


def test_a_name_is_taken_once_and_a_study_is_made_in_the_background_too(bench):
    job = bench.study_making.start(StudyRequest(name="Averhythe", benchmark="sample", most=3))
    ended = bench.jobs.get(job.id)
    assert ended.state == "done", ended.note
    study = bench.studies.find("averhythe")
    assert f"({study.id})" in ended.note
    with pytest.raises(BadRequest, match=study.id):
        bench.study_making.make(StudyRequest(name="AVERHYTHE", benchmark="sample", most=4))


def test_everybody_has_an_order_of_their_own_that_is_the_same_on_every_device(bench):
    study = bench.study_making.make(StudyRequest(name="Averhythe", benchmark="sample", wanted=0))
    orders = {}
    for name in ("Anna", "Bea"):
        annotator = bench.answering.join(study.id, name)
        orders[name] = []
        other_device = build(bench.settings)
        for place in range(6):
            device = other_device if place % 2 else bench
            task = device.answering.task(study.id, annotator.id)
            orders[name].append(task.item.id)
            device.answering.answer(study.id, annotator.id, task.item.id, 1, seconds=1)
    assert orders["Anna"] != orders["Bea"]
    assert len(set(orders["Anna"])) == 6


def test_one_goes_back_changes_an_answer_and_goes_on(bench, ferry):
    answering = bench.answering
    anna = answering.join(ferry.id, "Anna")
    assert not answering.knows(ferry.id, "Bea")
    assert answering.knows(ferry.id, " anna ")
    first = answering.task(ferry.id, anna.id)
    assert (first.before, first.after, first.answer) == ("", "", None)
    answering.answer(ferry.id, anna.id, first.item.id, 2, seconds=3, comment="Hm.")
    second = answering.task(ferry.id, anna.id)
    assert second.before == first.item.id
    back = answering.task(ferry.id, anna.id, second.before)
    assert (back.item.number, back.answer.choice, back.answer.comment, back.after) == (1, 2, "Hm.", "")
    answering.answer(ferry.id, anna.id, first.item.id, CANNOT_DECIDE, seconds=1)
    assert answering.task(ferry.id, anna.id).item.id == second.item.id
    assert [(each.item.id, each.answer.choice) for each in answering.answered(ferry.id, anna.id)] == [
        (first.item.id, CANNOT_DECIDE)
    ]


def test_an_item_that_has_its_annotators_is_not_given_to_others_but_an_answer_that_comes_is_kept(bench, ferry):
    bench.studies.edit(ferry.id, wanted=1)
    answering = bench.answering
    anna, bea = (answering.join(ferry.id, name) for name in ("Anna", "Bea"))
    shown = answering.task(ferry.id, bea.id)
    answering.answer(ferry.id, anna.id, shown.item.id, 1, seconds=1)
    assert answering.task(ferry.id, bea.id).item.id != shown.item.id
    assert answering.task(ferry.id, bea.id).total == 5
    answering.answer(ferry.id, bea.id, shown.item.id, 2, seconds=1)  # it was before their eyes
    assert answering.task(ferry.id, bea.id).done == 1
    answer_all(bench, ferry, "Anna", right)
    assert answering.task(ferry.id, bea.id).item is None


def test_right_and_wrong_are_told_only_when_the_owner_allows_it_and_after_the_answer(bench, ferry):
    answering = bench.answering
    anna = answering.join(ferry.id, "Anna")
    answering.answer(ferry.id, anna.id, "w0", 1, seconds=1)
    assert answering.task(ferry.id, anna.id, "w0").item.right_option == 0
    bench.studies.edit(ferry.id, revealed=True)
    assert answering.task(ferry.id, anna.id, "w0").item.right_option == ferry.items[0].right_option
    assert answering.task(ferry.id, anna.id, "w1").item.right_option == 0, "not answered yet"
    (done,) = answering.answered(ferry.id, anna.id)
    assert done.item.right_option == ferry.items[0].right_option


@pytest.mark.parametrize(
    ("item", "choice", "options", "error"),
    [
        ("w9", 1, {}, NotFound),
        ("w0", 4, {}, BadRequest),
        ("w0", -1, {}, BadRequest),
        ("w0", 1, {"seconds": float("nan")}, BadRequest),
        ("w0", 1, {"seconds": -1.0}, BadRequest),
        ("w0", 1, {"comment": "x" * 4_001}, BadRequest),
    ],
)
def test_an_answer_that_cannot_be_is_refused(bench, ferry, item, choice, options, error):
    anna = bench.answering.join(ferry.id, "Anna")
    with pytest.raises(error):
        bench.answering.answer(ferry.id, anna.id, item, choice, **{"seconds": 1.0} | options)
    assert bench.store.study_answers.all(ferry.id) == ()


def test_an_item_left_open_for_days_counts_as_a_day(bench, ferry):
    anna = bench.answering.join(ferry.id, "Anna")
    assert bench.answering.answer(ferry.id, anna.id, "w0", 1, seconds=9e9).seconds == 86_400


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "two\nlines"])
def test_a_name_that_cannot_be_is_refused(bench, ferry, name):
    with pytest.raises(BadRequest):
        bench.answering.join(ferry.id, name)


def test_a_study_that_was_answered_is_frozen_and_goes_on_as_a_new_version(bench, ferry):
    bench.studies.edit(ferry.id, instructions="Choose well.")
    answer_all(bench, ferry, "Anna", right)
    with pytest.raises(StudyFrozen):
        bench.studies.edit(ferry.id, instructions="Choose fast.")
    assert bench.studies.edit(ferry.id, consent="I agree.").consent == "I agree."
    with pytest.raises(BadRequest, match="'name'"):
        bench.studies.edit(ferry.id, name="Boats")
    later = bench.studies.new_version(ferry.id)
    bench.studies.edit(later.id, instructions="Choose fast.")
    assert (later.version, later.earlier, later.items) == (2, ferry.id, ferry.items)
    assert later.label == "Ferries, version 2"
    assert bench.studies.get(ferry.id).later == later.id
    assert bench.studies.get(later.id).terms.instructions == "Choose fast."
    assert bench.studies.get(ferry.id).terms.instructions == "Choose well."
    assert bench.studies.get(later.id).answers == 0
    assert bench.studies.find("ferries").id == later.id


def test_a_study_whose_work_is_missing_or_of_another_edition_is_held_and_says_which(bench):
    study = make_study(work=make_ferry())
    bench.store.studies.add(study, TERMS)
    (said,) = bench.studies.get(study.id).held
    assert "The Ferry" in said
    assert study.works[0].sha256[:12] in said
    with pytest.raises(StudyHeld, match="Ferries"):
        bench.answering.join(study.id, "Anna")
    with pytest.raises(StudyHeld):
        bench.study_models.start(study.id)
    bench.store.works.add(make_ferry(40))
    (said,) = bench.studies.get(study.id).held
    assert make_ferry(40).sha256[:12] in said
    bench.store.works.add(make_ferry())
    assert bench.studies.get(study.id).held == ()
    assert bench.answering.join(study.id, "Anna").name == "Anna"


def test_the_owners_code_opens_a_study_is_not_kept_and_goes_with_its_versions(bench, ferry):
    codes = bench.studies
    assert not codes.guarded(ferry.id)
    assert codes.opens(ferry.id, "anything")
    codes.give_code(ferry.id, "Quillfeather 7")
    assert codes.guarded(ferry.id)
    assert codes.opens(ferry.id, " Quillfeather 7 ")
    for wrong_code in ("", "quillfeather 7", "x" * 10_000):
        assert not codes.opens(ferry.id, wrong_code)
    assert b"Quillfeather" not in bench.store.path.read_bytes()
    later = bench.studies.new_version(ferry.id)
    assert codes.guarded(later.id)
    assert codes.opens(later.id, "Quillfeather 7")
    assert b"Quill" not in bench.study_files.export(ferry.id)
    codes.give_code(ferry.id, "")
    assert codes.opens(ferry.id, "")
    assert codes.guarded(later.id)
    with pytest.raises(BadRequest, match="201"):
        codes.give_code(ferry.id, "x" * 201)
    with pytest.raises(NotFound):
        codes.give_code("no study", "code")


def test_codes_are_not_guessed_one_after_another_and_the_owner_gets_in_after_a_pause(bench, ferry, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(service, "monotonic", lambda: now[0])
    codes = bench.studies
    codes.give_code(ferry.id, "Quillfeather 7")
    assert not any(codes.opens(ferry.id, f"guess {number}") for number in range(service._GUESSES))
    for _ in range(3):
        with pytest.raises(BadRequest, match="60 seconds"):
            codes.opens(ferry.id, "Quillfeather 7")
    now[0] += service._REST
    assert not codes.opens(ferry.id, "another guess")
    with pytest.raises(BadRequest):
        codes.opens(ferry.id, "Quillfeather 7")
    now[0] += service._REST
    assert codes.opens(ferry.id, "Quillfeather 7")
    assert not codes.opens(ferry.id, "one slip")
    assert codes.opens(ferry.id, "Quillfeather 7")


def test_a_study_is_made_with_its_owners_code(bench):
    job = bench.study_making.start(StudyRequest(name="Averhythe", benchmark="sample", most=3), code="ferry")
    assert bench.jobs.get(job.id).state == "done", bench.jobs.get(job.id).note
    study = bench.studies.find("Averhythe")
    assert bench.studies.opens(study.id, "ferry")
    assert not bench.studies.opens(study.id, "boat")


def test_the_study_of_pride_and_prejudice_is_known_by_its_name(bench):
    assert bench.studies.named(PRIDE.name) is None
    made = bench.study_making.make(StudyRequest(name=PRIDE.name, benchmark="sample", most=3))
    assert bench.studies.named(PRIDE.name).id == made.id
    later = bench.studies.new_version(made.id)
    assert bench.studies.named(PRIDE.name).id == later.id
    bench.studies.remove(later.id)
    bench.studies.remove(made.id)
    assert bench.studies.named(PRIDE.name) is None


def test_results_count_people_each_and_together(bench, ferry):
    answer_all(bench, ferry, "Anna", right)
    answer_all(bench, ferry, "Bea", lambda item: right(item) if item.id < "w4" else wrong(item))
    answer_all(bench, ferry, "Cy", lambda item: CANNOT_DECIDE if item.id == "w0" else wrong(item))
    results = bench.study_results.of(ferry.id)
    assert [(each.answered, each.right, each.cannot) for each in results.people] == [(6, 6, 0), (6, 4, 0), (6, 0, 1)]
    assert results.people[0].accuracy.value == 1
    assert results.people[1].accuracy.low < 4 / 6 < results.people[1].accuracy.high
    # w0 to w3: two of three for the quotation. w4 and w5: two of three for the same wrong one.
    assert (results.majority.right, results.majority.wrong, results.majority.none) == (4, 2, 0)
    assert results.majority.accuracy.value == pytest.approx(4 / 6)
    votes = {each.item.id: (each.answered, each.right, each.cannot) for each in results.items}
    assert votes["w0"] == (3, 2, 1)
    assert results.items[0].share == min(each.share for each in results.items)
    assert results.missed_by_models == ()
    agreement = {each.key: each.value for each in results.agreement}
    assert agreement["all agree"] == pytest.approx(1 / 6)  # w0: both who decided
    assert agreement["none agree"] == 0
    assert tuple(agreement) == tuple(results.figures) == KEYS
    for each in results.agreement:
        figure = results.figures[each.key]
        assert figure.text == (f"{each.value:.1%}" if each.is_share else f"{each.value:.2f}")
        assert each.key == "none agree" or figure.low <= each.value <= figure.high
    assert results.figures["none agree"].interval == "–"  # the same in every sample is no certainty


def test_answers_faster_than_anybody_can_read_are_marked_and_count_like_the_others(bench, ferry):
    """Each item shows 18 words: read in 1.2 seconds at the very fastest."""
    anna = bench.answering.join(ferry.id, "Anna")
    given = [("w0", 1.1), ("w1", 1.2), ("w2", 5.0), ("w2", 0.5)]  # who comes back to w2 has read it
    for item_id, seconds in given:
        bench.answering.answer(ferry.id, anna.id, item_id, right(ferry.item(item_id)), seconds=seconds)
    results = bench.study_results.of(ferry.id)
    (person,) = results.people
    assert (person.too_fast, person.answered, person.right) == (1, 3, 3)
    assert [each.item.id for each in results.items if each.too_fast] == ["w0"]
    told = accuracies(results)
    assert "1 of 3" in told.rows[0][-1]
    assert any("Brysbaert" in note for note in told.notes)
    rows = json.loads(bench.study_files.answers_json(ferry.id))["answers"]
    assert {(each["item"], each["too_fast"]) for each in rows} == {("w0", True), ("w1", False), ("w2", False)}


def test_where_nobody_was_too_fast_nothing_is_said_of_it(bench, ferry):
    answer_all(bench, ferry, "Anna", right)
    results = bench.study_results.of(ferry.id)
    assert results.people[0].too_fast == 0
    assert not any("Brysbaert" in note for note in results.notes)


def test_unequal_numbers_of_answers_are_counted_and_said(bench, ferry):
    answer_all(bench, ferry, "Anna", right)
    bea = bench.answering.join(ferry.id, "Bea")
    for item in ferry.items[:2]:
        bench.answering.answer(ferry.id, bea.id, item.id, wrong(item), seconds=1)
    results = bench.study_results.of(ferry.id)
    assert (results.majority.items, results.majority.none) == (2, 2)
    assert any("1 to 2" in note for note in results.notes)
    assert results.people[1].answered == 2


def test_results_before_anybody_has_answered_are_empty_and_a_later_answer_is_seen(bench, ferry):
    results = bench.study_results.of(ferry.id)
    assert results.people == ()
    assert results.majority.accuracy is None
    assert all(each.share is None for each in results.items)
    assert all("–" in {*row} for row in tables(results)[1].rows)
    answer_all(bench, ferry, "Anna", right)
    assert len(bench.study_results.of(ferry.id).people) == 1
    assert bench.study_results.of(ferry.id) is bench.study_results.of(ferry.id)


def test_models_answer_once_and_the_chooser_is_left_out_and_what_is_built_on_it_marked(bench, ferry):
    models = bench.study_models
    names = may_answer("bm25")
    assert "bm25" not in names
    assert not any(name.endswith("-reference") for name in names)
    assert "zero-shot" in names
    assert "late" not in {*names, *models.due(ferry.id)}, "it is asked where it is named"
    caveats = [caveat(name, "bm25") for name in ("fusion", "reranked", "bm25", "random", "tf-idf")]
    assert [bool(each) for each in caveats] == [True, True, True, True, False]
    assert ["BM25" in each for each in caveats[:2]] == [True, True]
    with pytest.raises(BadRequest, match="bm25"):
        models.start(ferry.id, ["bm25"])
    job = models.start(ferry.id, ["tf-idf", "random"])
    assert bench.jobs.get(job.id).state == "done", bench.jobs.get(job.id).note
    first = models.kept(ferry.id)
    assert {each.retriever for each in first} == {"tf-idf", "random"}
    for each in first:
        assert each.choices.keys() == each.ranks.keys() == {item.id for item in ferry.items}
        assert each.code
        assert each.configuration
    models.start(ferry.id, ["tf-idf", "random"])
    assert models.kept(ferry.id) == first, "nothing changed, so nothing is computed"
    models.answer(ferry.id, ["tf-idf"], again=True, progress=silent)
    assert models.kept(ferry.id) != first
    assert not {"tf-idf", "random"} & set(models.due(ferry.id))
    results = bench.study_results.of(ferry.id)
    (chooser,) = [each for each in results.models if each.left_out]
    assert (chooser.retriever, chooser.accuracy) == ("bm25", None)
    assert all(isinstance(each.accuracy, Figure) for each in results.models if not each.left_out)


def test_items_that_everybody_gets_and_a_model_does_not_leave_out_chance_and_shared_errors(bench, ferry):
    for retriever, missed in (("tf-idf", "w1"), ("fusion", "w2"), ("random", "w3")):
        bench.store.studies.add_models(
            ModelAnswers(
                id=retriever, study_id=ferry.id, retriever=retriever, label=retriever, configuration={},
                choices={item.id: wrong(item) if item.id == missed else right(item) for item in ferry.items},
                ranks={}, code="by hand", created=WHEN,
            )
        )  # fmt: skip
    answer_all(bench, ferry, "Anna", right)
    assert bench.study_results.of(ferry.id).missed_by_models == (), "one person is not everybody"
    answer_all(bench, ferry, "Bea", right)
    (told,) = bench.study_results.of(ferry.id).missed_by_models
    assert told.item.id == "w1"
    assert told.models["tf-idf"] == wrong(told.item)


def test_an_annotator_is_removed_with_all_answers_and_the_results_forget_them(bench, ferry):
    anna = answer_all(bench, ferry, "<script>Anna</script>", right)
    answer_all(bench, ferry, "Bea", wrong)
    with pytest.raises(NotFound, match="'Zoe'"):
        bench.studies.erase(ferry.id, "Zoe")
    assert bench.studies.erase(ferry.id, "<script>anna</script>") == 6
    assert [each.annotator.name for each in bench.studies.annotators(ferry.id)] == ["Bea"]
    assert [each.annotator.name for each in bench.study_results.of(ferry.id).people] == ["Bea"]
    given = bench.study_files.answers_json(ferry.id, anonymous=False).decode()
    assert "Anna" not in given
    assert anna.id not in given
    assert bench.studies.erase(ferry.id, bench.studies.annotators(ferry.id)[0].annotator.id) == 6


def test_the_default_texts_fit_and_say_that_answers_can_be_removed():
    check_terms({name: getattr(DEFAULT_TERMS, name) for name in ("instructions", "wanted", "consent", "privacy")})
    assert "removes all of it" in DEFAULT_TERMS.privacy


@pytest.fixture
def divided(bench):
    """A study of 14 items of which two are shared, for three readers."""
    study = make_study(14, work=make_ferry(), shared=2)
    bench.store.works.add(make_ferry())
    bench.store.studies.add(study, dataclasses.replace(TERMS, wanted=3))
    return study


def answer_what_is_given(bench, study, who, choose=right, most=99):
    """Answer items as they are given, so many at most; give their ids."""
    seen = []
    while len(seen) < most and (item := bench.answering.task(study.id, who.id).item):
        seen.append(item.id)
        bench.answering.answer(study.id, who.id, item.id, choose(study.item(item.id)), seconds=2.0)
    return seen


def test_a_divided_study_gives_shared_items_to_all_readers_and_each_other_to_one(bench, divided):
    readers = [bench.store.study_answers.join(divided.id, name) for name in ("Anna", "Bea", "Cid")]
    assert [bench.answering.task(divided.id, each.id).total for each in readers] == [6, 6, 6]
    seen = {each.name: [] for each in readers}
    for _ in range(6):  # in turn, as they sit side by side
        for each in readers:
            shown = bench.answering.task(divided.id, each.id)
            assert (shown.item.number, shown.given) == (len(seen[each.name]) + 1, 6)
            seen[each.name] += answer_what_is_given(bench, divided, each, most=1)
    read = Counter(item for own in seen.values() for item in own)
    assert {item for item, count in read.items() if count == 3} == set(divided.shared)
    assert sorted(read.values()) == [1] * 12 + [3, 3]
    assert all(bench.answering.task(divided.id, each.id).item is None for each in readers)


def test_what_a_reader_leaves_undone_goes_to_the_next(bench, divided):
    join = bench.store.study_answers.join
    anna, bea, cid = (join(divided.id, name) for name in ("Anna", "Bea", "Cid"))
    for who, most in ((anna, 99), (bea, 3), (cid, 99)):
        answer_what_is_given(bench, divided, who, most=most)
    answer_what_is_given(bench, divided, join(divided.id, "Dora"))
    results = bench.study_results.of(divided.id)
    shared = set(divided.shared)
    assert {each.answered for each in results.items if each.item.id not in shared} == {1}
    assert {each.answered for each in results.items if each.item.id in shared} == {3}


def test_who_comes_while_all_parts_are_read_helps_with_one_of_them(bench, divided):
    anna, bea, cid, dora = (bench.store.study_answers.join(divided.id, name) for name in ("Anna", "Bea", "Cid", "Dora"))
    for who in (anna, bea, cid):
        answer_what_is_given(bench, divided, who, most=4)
    before = {who.id: bench.answering.task(divided.id, who.id).item for who in (anna, bea, cid)}
    seen = answer_what_is_given(bench, divided, dora)
    assert {each.id for each in before.values()} & set(seen)
    for who in (anna, bea, cid):  # the item before them stays there
        item = divided.item(before[who.id].id)
        bench.answering.answer(divided.id, who.id, item.id, right(item), seconds=2.0)
        answer_what_is_given(bench, divided, who)
    read = [each.answered for each in bench.study_results.of(divided.id).items if each.item.id not in divided.shared]
    assert set(read) <= {1, 2}  # nothing is left undone; whose item lay before two people is by chance


def test_agreement_of_a_divided_study_is_of_shared_items_and_accuracy_of_all(bench, divided):
    join = bench.store.study_answers.join
    first = divided.shared[0]
    for name in ("Anna", "Bea", "Cid"):
        choose = (lambda item: wrong(item) if item.id == first else right(item)) if name == "Anna" else right
        answer_what_is_given(bench, divided, join(divided.id, name), choose)
    results = bench.study_results.of(divided.id)
    assert (results.majority.items, results.majority.right) == (2, 2)
    assert {each.key: each.value for each in results.agreement}["all agree"] == 0.5
    assert results.singly.value == pytest.approx((12 + 1 + 2 / 3) / 14)
    assert results.singly.low is not None
    assert divided.division in results.notes
    assert any(row[:1] == ("People, one by one",) for row in accuracies(results).rows)


@pytest.mark.parametrize("one", [True, False])
def test_the_sentence_on_intervals_says_what_agreement_of_shared_items_is_drawn_over(bench, one):
    made = (make_study(14, work=make_ferry(), shared=2, keys=("ferry", "barge"), seed=seed) for seed in range(99))
    study = next(each for each in made if (len({each.item(at).book for at in each.shared}) == 1) == one)
    bench.store.studies.add(study, dataclasses.replace(TERMS, wanted=3))
    for name in ("Anna", "Bea", "Cid"):
        answer_what_is_given(bench, study, bench.store.study_answers.join(study.id, name))
    said = bench.study_results.of(study.id).intervals
    assert "over works" in said
    assert ("over items" in said) == one


def test_a_divided_study_goes_out_and_comes_in_as_it_is_and_tells_readers_how_much_is_theirs(bench, divided):
    files = bench.study_files
    study, terms = read_study(files.export(divided.id), "study.json")
    assert (study.id, study.shared, terms.wanted) == (divided.id, divided.shared, 3)
    whole = make_study(14, work=make_ferry())
    assert whole.id != divided.id
    assert b'"shared"' not in write_study(whole, TERMS)  # as studies were written before
    assert bench.studies.new_version(divided.id).shared == divided.shared
    view = bench.studies.get(divided.id)
    for told in (files.information(divided.id).decode(), guide(view), load_of(view)):
        assert "6 of 14 items" in told or "6 items" in told
    who = bench.store.study_answers.join(divided.id, "Anna")
    answer_what_is_given(bench, divided, who)
    assert json.loads(files.answers_json(divided.id))["study"]["division"] == divided.division
    rows = list(csv.DictReader(files.answers_csv(divided.id).decode().splitlines()))
    assert sum(row["shared"] == "True" for row in rows) == 2
    assert files.take_in_answers(divided.id, files.answers_json(divided.id), of="Oxford") == (1, 0)
    assert divided.division in html.unescape(files.report(divided.id).decode())


def test_a_study_that_cannot_be_divided_so_is_refused(bench, divided):
    with pytest.raises(BadRequest):
        bench.studies.edit(divided.id, wanted=1)
    with pytest.raises(BadRequest):
        bench.study_making.start(StudyRequest(name="So", benchmark="sample", shared=1))
    for changes in ({"shared": 1}, {"shared": 10, "most": 10}, {"shared": 2, "wanted": 0}, {"shared": -2}):
        with pytest.raises(BadRequest):
            bench.study_making.make(StudyRequest(**{"name": "So", "benchmark": "sample"} | changes))
    with pytest.raises(BadRequest):
        bench.study_making.make(StudyRequest(name="Kinds", benchmark="sample", kind="evidence", shared=2))
    made = bench.study_making.make(StudyRequest(name="So", benchmark="sample", shared=3, most=12))
    assert len(made.shared) == 3
