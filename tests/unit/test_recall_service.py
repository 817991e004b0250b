"""Recall: figures of runs by book, length, shape and kind, over k and by rank, and the examples behind them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.errors import BadRequest
from relic_core.evaluation import metrics
from relic_core.evaluation.benchmarks.registry import cards
from relic_core.evaluation.intervals import interval
from relic_core.evaluation.recall import default_runs, labels, marks_of, offers_of, range_of, ranges
from relic_core.retrieval.calibration import model_named
from relic_core.services import runs as runs_module
from relic_core.services.recall import METRICS, VIEWS, Recall
from relic_core.wiring import build
from tests.making_runs import make_books, make_outcomes, make_run

pytestmark = pytest.mark.usefixtures("kept_open")

BOOKS = make_books(12)


@pytest.fixture
def workbench(settings, tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(runs_module, "SHIPPED", tmp_path / "results")
    return build(settings)


def store(workbench, *, books=BOOKS, seed=1, skill=1.3, candidates=0, kinds=True, **given):
    outcomes = make_outcomes(books, seed=seed, skill=skill, candidates=candidates, kinds=kinds)
    run = make_run(books, outcomes, **given)
    workbench.store.runs.add(run, outcomes)
    return run


@pytest.fixture
def two(workbench):
    """Give two runs of one benchmark."""
    return store(workbench), store(workbench, seed=2, skill=1.7, retriever="dense-relic")


def only(chart, run):
    return {mark.group: mark for mark in chart.marks if mark.series == run.id}


# ---- what there is ------------------------------------------------------------------------------------------------


def test_benchmarks_of_whole_works_come_first_and_those_of_one_work_last(workbench):
    store(workbench, books=BOOKS[:1], benchmark="sample")
    store(workbench, benchmark="birco-pools", pool="given", candidates=50)
    store(workbench, benchmark="somebody-elses")
    store(workbench, benchmark="birco-novels")
    assert [offer.card.name for offer in workbench.recall.offers()] == [
        "birco-novels", "somebody-elses", "birco-pools", "sample",
    ]  # fmt: skip


def test_a_benchmark_that_is_not_registered_is_described_by_its_runs(workbench):
    run = store(workbench, benchmark="somebody-elses")
    (offer,) = workbench.recall.offers()
    assert (offer.card.label, offer.card.pool, offer.card.examples) == ("somebody-elses", "whole work", run.examples)


def test_the_retrievers_that_pages_offer_at_four_sentences_are_shown_first_in_the_order_of_pages(workbench):
    store(workbench, retriever="random")
    bm25 = store(workbench, age=5)
    store(workbench, shape="1/1", age=0, retriever="dense-relic")
    dense = store(workbench, retriever="dense-relic", age=9)
    (offer,) = workbench.recall.offers()
    assert [run.retriever for run in offer.default] == ["dense-relic", "bm25"]
    assert [run.id for run in offer.default] == [dense.id, bm25.id]


def test_the_run_that_came_with_the_program_is_shown_first_and_one_of_other_parameters_last(workbench):
    outcomes = make_outcomes(BOOKS, seed=1)
    tuned, plain, came = (make_run(BOOKS, outcomes, age=age) for age in (0, 5, 9))
    tuned = replace(tuned, id="tuned", configuration={"k1": "2.0"})
    plain, came = replace(plain, id="plain"), replace(came, id="came", shipped=True)
    assert [run.id for run in default_runs([tuned, plain])] == ["plain"]
    assert [run.id for run in default_runs([tuned, plain, came])] == ["came"]
    assert [run.id for run in default_runs([tuned])] == ["tuned"]


@pytest.mark.parametrize("model", ["small", "larger", ""])
def test_the_runs_of_the_model_in_use_are_shown_first_and_labels_name_the_model(settings, model):
    app = build(settings)
    offers = offers_of(app.runs.all(), cards(), model)
    (offer,) = [each for each in offers if each.card.name == "public-relic-test"]
    shown = {run.retriever: model_named(run.configuration) for run in offer.default}
    wanted = model or "small"
    assert [shown[name] for name in ("dense-relic", "fusion", "reranked", "bm25")] == [wanted] * 3 + [""]
    named = labels([run for run in offer.runs if run.retriever == "fusion" and str(run.shape) == "4/4"])
    assert sorted(re.search(r"\((\w+)\)", each)[1] for each in named.values()) == ["larger", "small"]
    (of_small,) = [each for each in offers if each.card.name == "loci-dev"]
    recall = Recall(app.runs, app.outcomes.traits, app.outcomes.diagnosed, model)
    alone = recall.labels([run for run in of_small.runs if run.retriever == "fusion"])
    assert all(("(small)" in each) == (model == "larger") for each in alone.values())


def test_what_is_shown_first_is_of_one_state_of_the_data(workbench):
    store(workbench, data="old", age=9)
    store(workbench, data="old", retriever="dense-relic", age=9)
    store(workbench, data="new", retriever="bm25")
    (offer,) = workbench.recall.offers()
    assert len({run.data_hash for run in offer.default}) == 1
    assert len(offer.default) == 2


def test_where_nothing_was_measured_with_four_sentences_the_newest_shape_is_shown(workbench):
    run = store(workbench, shape="1/1")
    (offer,) = workbench.recall.offers()
    assert offer.default == (run,)


def test_labels_tell_runs_apart(workbench):
    runs = [store(workbench), store(workbench, data="other"), store(workbench, shape="1/1")]
    labels = workbench.recall.labels(runs)
    assert len(set(labels.values())) == 3
    assert labels[runs[2].id] == "BM25 · 1 before, 1 after"


# ---- what never stands side by side -------------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
def test_given_pools_never_stand_beside_whole_works(workbench, view):
    runs = [store(workbench), store(workbench, pool="given", candidates=50, data="pools")]
    with pytest.raises(BadRequest, match="never"):
        workbench.recall.chart(view, runs, "recall@10")
    with pytest.raises(BadRequest, match="never"):
        workbench.recall.cases(view, runs, "recall@10", "book-0")


def test_runs_of_two_benchmarks_are_refused_by_name(workbench):
    runs = [store(workbench), store(workbench, benchmark="another")]
    with pytest.raises(BadRequest, match="another, novels-by-hand"):
        workbench.recall.chart("books", runs, "recall@10")


def test_no_runs_are_refused(workbench):
    with pytest.raises(BadRequest, match="Choose one or more"):
        workbench.recall.chart("books", [], "recall@10")


def test_a_measure_that_is_none_of_the_page_is_refused(workbench, two):
    with pytest.raises(BadRequest, match="no measure called 'mean-rank'"):
        workbench.recall.chart("books", two, "mean-rank")


@pytest.mark.parametrize("pool", ["whole work", "given"])
def test_published_figures_are_of_the_same_kind_of_pool(workbench, pool):
    run = store(workbench, pool=pool, candidates=50 if pool == "given" else 0)
    chart = workbench.recall.chart("published", [run], "recall@5")  # which both papers report
    papers = {group.note.split(",")[0] for group in chart.groups if group.key != run.id}
    assert papers == ({"BIRCO"} if pool == "given" else {"RELiC"})


# ---- figures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METRICS)
def test_a_figure_by_work_is_that_of_the_works_own_examples(workbench, two, name):
    chart = workbench.recall.chart("books", two, name)
    for run in two:
        outcomes = workbench.runs.outcomes(run.id)
        for key, mark in only(chart, run).items():
            own = [outcome for outcome in outcomes if outcome.book == key]
            assert mark.n == len(own)
            assert mark.value == pytest.approx(metrics.figure(name, own))
            assert mark.candidates == pytest.approx(metrics.figure("candidates", own))


def test_intervals_by_work_are_over_its_quotations_and_others_over_works(workbench, two):
    run = two[0]
    outcomes = workbench.runs.outcomes(run.id)
    mark = max(only(workbench.recall.chart("books", two, "recall@100"), run).values(), key=lambda mark: mark.n)
    own = interval("recall@100", [each for each in outcomes if each.book == mark.group], over="examples")
    assert (mark.low, mark.high) == (own.low, own.high)
    (overall,) = workbench.recall.overall([run], "recall@10")
    whole = interval("recall@10", outcomes, over="works")
    assert (overall.value, overall.low, overall.high, overall.n) == (whole.value, whole.low, whole.high, len(outcomes))


def test_no_interval_is_given_where_all_came_out_alike_or_there_is_one(workbench):
    outcomes = make_outcomes(BOOKS, seed=1)
    missed = tuple(replace(each, rank=each.candidates, overlap_rank=each.candidates) for each in outcomes)
    run = make_run(BOOKS, missed)
    workbench.store.runs.add(run, missed)
    chart = workbench.recall.chart("books", [run], "recall@10")
    assert {(mark.value, mark.low, mark.high) for mark in chart.marks} == {(0.0, None, None)}


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("year", lambda book, _: book.year),
        ("length", lambda book, _: -book.sentences),
        ("author", lambda book, _: book.author.split()[-1]),
        ("recall", lambda book, means: -means[book.key]),
    ],
)
def test_works_are_sorted(workbench, two, sort, key):
    chart = workbench.recall.chart("books", two, "recall@10", sort=sort)
    books = {book.key: book for book in BOOKS}
    means = {
        group.key: sum(mark.value for mark in chart.marks if mark.group == group.key) / 2 for group in chart.groups
    }
    order = [key(books[group.key], means) for group in chart.groups]
    assert order == sorted(order)
    assert len(chart.groups) == len(BOOKS)


def test_works_with_too_few_quotations_are_left_out_and_the_caption_says_so(workbench, two):
    every = workbench.recall.chart("books", two, "recall@10")
    some = workbench.recall.chart("books", two, "recall@10", least=6)
    assert all(group.n >= 6 for group in some.groups)
    left_out = len(every.groups) - len(some.groups)
    assert 0 < left_out == sum(group.n < 6 for group in every.groups)
    assert f"{left_out} works " in some.caption
    assert "left out" not in every.caption
    assert {mark.group for mark in some.marks} == {group.key for group in some.groups}


def test_a_minimum_that_leaves_a_handful_of_works_is_offered(workbench, two):
    least = workbench.recall.default_least(two)
    chart = workbench.recall.chart("books", two, "recall@10", least=least)
    assert least > 1
    assert len(chart.groups) >= 8
    alone = store(workbench, books=BOOKS[:2], benchmark="few")
    assert workbench.recall.default_least([alone]) == 1


@pytest.mark.parametrize("view", ["lengths", "kinds", "shapes"])
def test_groups_hold_every_example_once(workbench, two, view):
    chart = workbench.recall.chart(view, two, "recall@10")
    for each in chart.series:
        assert sum(mark.n for mark in chart.marks if mark.series == each.key) == two[0].examples


def test_kinds_that_are_not_labelled_have_no_chart(workbench):
    run = store(workbench, kinds=False)
    chart = workbench.recall.chart("kinds", [run], "recall@10")
    assert (chart.groups, chart.marks) == ((), ())
    assert chart.summary


def test_shapes_bring_in_every_run_of_the_retriever_on_the_same_data(workbench, two):
    shorter = store(workbench, shape="0/1", seed=5)
    store(workbench, shape="4/0", seed=5, data="other")
    store(workbench, shape="1/0", seed=5, retriever="random")
    chart = workbench.recall.chart("shapes", two[:1], "recall@10")
    assert [group.key for group in chart.groups] == ["0/1", "4/4"]
    (series,) = chart.series
    assert series.runs == (shorter.id, two[0].id)


def test_the_curve_is_recall_at_every_k_and_never_falls(workbench, two):
    chart = workbench.recall.chart("curve", two, "recall@10")
    for run in two:
        own = only(chart, run)
        outcomes = workbench.runs.outcomes(run.id)
        for k in (1, 7, 10, 99, 100):
            assert own[str(k)].value == pytest.approx(metrics.figure(f"recall@{k}", outcomes))
        values = [own[str(k)].value for k in range(1, 101)]
        assert values == sorted(values)
        assert {key for key, mark in own.items() if mark.low is not None} <= {"1", "3", "5", "10", "50", "100"}


def test_the_curve_of_the_tolerant_measure_counts_overlaps(workbench, two):
    chart = workbench.recall.chart("curve", two, "overlap-recall@10")
    outcomes = workbench.runs.outcomes(two[0].id)
    assert only(chart, two[0])["5"].value == pytest.approx(metrics.figure("overlap-recall@5", outcomes))


@given(st.lists(st.one_of(st.none(), st.integers(1, 30_000)), min_size=1, max_size=40))
def test_the_ranges_part_all_ranks(ranks):
    book = make_books(1)[0]
    (one, *_) = make_outcomes([book], seed=1)
    outcomes = [
        replace(one, example_id=str(number), candidates=30_000, rank=rank, overlap_rank=rank)
        for number, rank in enumerate(ranks)
    ]
    marks = marks_of(make_run([book], outcomes), outcomes, "recall@10", "ranks")
    assert sum(mark.n for mark in marks) == len(ranks)
    assert sum(mark.value for mark in marks) == pytest.approx(1)
    assert [mark.group for mark in marks] == [key for key, _, _ in ranges()]
    for rank in ranks:
        assert range_of(rank) in {mark.group for mark in marks if mark.n}


def test_the_ranks_end_where_no_rank_is_lower(workbench):
    run = store(workbench, pool="given", candidates=50)
    chart = workbench.recall.chart("ranks", [run], "recall@10")
    keys = [group.key for group in chart.groups if group.key != "no-ranking"]
    assert keys == ["1", "2-3", "4-10", "11-30", "31-100"]


def test_published_figures_stand_beside_ours_and_are_marked(workbench, two):
    chart = workbench.recall.chart("published", two, "recall@10")
    assert [series.key for series in chart.series][-1] == "published"
    assert "RELiC (Thai et al. 2022), table 3" in chart.caption
    best = next(
        group for group in chart.groups if group.label == "dense-RELiC · 4 before, 4 after" and "table" in group.note
    )
    (mark,) = (mark for mark in chart.marks if mark.group == best.key)
    assert (mark.series, mark.value, mark.n, mark.candidates) == ("published", 0.324, 7785, 4888)
    values = [mark.value for group in chart.groups[2:] for mark in chart.marks if mark.group == group.key]
    assert values == sorted(values, reverse=True)


def test_published_figures_by_length_are_laid_beside_only_when_asked(workbench, two):
    without = workbench.recall.chart("lengths", two, "recall@10")
    beside = workbench.recall.chart("lengths", two, "recall@10", beside=True)
    assert {mark.series for mark in without.marks} == {run.id for run in two}
    assert {mark.group: mark.n for mark in beside.marks if mark.series == "published"}["1"] == 3279
    assert "table A9" in beside.caption


def test_a_measure_that_is_no_share_is_written_without_a_percent_sign(workbench, two):
    assert not workbench.recall.chart("books", two, "ndcg@10").share
    assert workbench.recall.chart("curve", two, "ndcg@10").share


def test_what_was_computed_is_not_computed_again(workbench, two, monkeypatch):
    first = workbench.recall.chart("books", two, "recall@10")
    monkeypatch.setattr("relic_core.services.recall.marks_of", None)
    assert workbench.recall.chart("books", two, "recall@10") == first


def test_a_run_that_was_measured_again_has_its_new_figures(workbench, two):
    run, outcomes = two[0], workbench.runs.outcomes(two[0].id)
    workbench.recall.chart("books", [run], "recall@1")
    moved = tuple(replace(each, rank=1, overlap_rank=1) for each in outcomes)
    workbench.store.runs.add(replace(run, created=run.created + timedelta(days=1)), moved, again=True)
    chart = workbench.recall.chart("books", [workbench.runs.find(run.id)], "recall@1")
    assert {mark.value for mark in chart.marks} == {1.0}


# ---- the examples behind a figure ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view", "key"), [("books", "book-3"), ("lengths", "2"), ("kinds", "other"), ("shapes", "4/4"), ("curve", "10")]
)
def test_missed_by_all_by_some_and_found_are_all_there_are(workbench, two, view, key):
    def hits(case):
        return [outcome.rank is not None and outcome.rank <= 10 for _, outcome in case.outcomes]

    every = workbench.recall.cases(view, two, "recall@10", key)
    missed, some, found = ([case for case in every if case.verdict == said] for said in ("missed", "some", "found"))
    assert missed
    assert some
    assert len(missed) + len(some) + len(found) == len(every)
    assert not any(any(hits(case)) for case in missed)
    assert all(any(hits(case)) and not all(hits(case)) for case in some)
    assert all(all(hits(case)) for case in found)


def test_the_examples_behind_a_mark_are_as_many_as_its_n(workbench, two):
    chart = workbench.recall.chart("books", two, "recall@10")
    for group in chart.groups:
        cases = workbench.recall.cases("books", two, "recall@10", group.key)
        assert len(cases) == group.n
        assert {case.book.key for case in cases} == {group.key}


def test_an_example_has_what_every_run_made_of_it_in_the_order_of_the_runs(workbench, two):
    for case in workbench.recall.cases("books", two, "recall@10", "book-3"):
        assert [run.id for run, _ in case.outcomes] == [run.id for run in two]
        assert {outcome.example_id for _, outcome in case.outcomes} == {case.id}


def test_the_worst_come_first(workbench, two):
    cases = workbench.recall.cases("lengths", two, "recall@10", "1")
    best = [min(outcome.rank or 10**9 for _, outcome in case.outcomes) for case in cases]
    assert best == sorted(best, reverse=True)


def test_behind_a_range_stand_the_examples_that_a_run_has_in_it(workbench, two):
    for case in workbench.recall.cases("ranks", two, "recall@10", "11-30"):
        assert any(outcome.rank and 11 <= outcome.rank <= 30 for _, outcome in case.outcomes)
    missing = workbench.recall.cases("ranks", two, "recall@10", "no-ranking")
    assert all(any(outcome.rank is None for _, outcome in case.outcomes) for case in missing)


def test_behind_a_k_of_the_curve_stands_recall_at_that_k(workbench, two):
    few, many = (
        {case.id for case in workbench.recall.cases("curve", two, "recall@10", k) if case.verdict == "missed"}
        for k in ("100", "1")
    )
    assert few < many


def test_a_measure_speaks_of_critics_only_where_their_quotation_is_what_counts(workbench):
    of = {card.name: card for card in cards()}
    said = {
        name: workbench.recall.meaning("recall@10", of[name]) for name in ("public-relic-test", "loci-dev", "birco-wtb")
    }
    assert "critic" in said["public-relic-test"]
    assert "critic" not in said["loci-dev"] + said["birco-wtb"]
    assert all(of[name].description for name in of if not of[name].quotes)


@pytest.mark.parametrize("name", ["birco-arguana", "birco-wtb", "birco-pools"])
def test_where_a_benchmark_has_no_works_its_data_are_what_is_missing(workbench, two, name):
    run = two[0]
    given = replace(run, benchmark=name, pool="given")
    (read,) = workbench.outcomes.read([(given, workbench.runs.outcomes(run.id)[0])])
    assert "data" in {each.what for each in read.missing}
    assert "needs works" not in {each.what for each in read.missing}
