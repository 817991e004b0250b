"""Recall: how often does a retriever put the critic's own quotation near the top, and what stands there instead?"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from relic_core.errors import StoreBusy
from relic_core.services.recall import CODES, Recall
from tests.app.reading import html, plain, said, sound
from tests.approved import says
from tests.making_runs import book_of, make_books, make_outcomes, make_run, outcomes_in
from tests.making_sources import keep, make_source, make_window

SAYS = says("recall")

RECALL = "pages/recall.py"
BOOKS = make_books(14)


@pytest.fixture(autouse=True)
def _none_shipped(tmp_path, monkeypatch):
    """What comes with the program changes from version to version: here every run is made by the test."""
    (tmp_path / "results").mkdir()
    monkeypatch.setattr("relic_core.services.runs.SHIPPED", tmp_path / "results")


def store(app, *, books=BOOKS, seed=1, skill=1.3, candidates=0, kinds=True, **given):
    outcomes = make_outcomes(books, seed=seed, skill=skill, candidates=candidates, kinds=kinds)
    run = make_run(books, outcomes, **given)
    app.bench.store.runs.add(run, outcomes)
    return run


@pytest.fixture
def two(app):
    """Two runs of one benchmark, on works that are not in the library."""
    return store(app), store(app, seed=2, skill=1.8, retriever="dense-relic")


@pytest.fixture
def readable(app):
    """A run on the sample work, whose text is in the library, under a benchmark that is not."""
    (summary,) = app.bench.works.summaries()
    work = app.bench.works.load(summary.id)
    book = book_of(work, "averhythe")
    outcomes = outcomes_in(work, book.key, [1, 40, None, 12, 3, 55, 60, 70, 80, 90], length=2)
    run = make_run([book], outcomes, benchmark="readable")
    app.bench.store.runs.add(run, outcomes)
    return work, run, outcomes


def address(at):
    """Return what the page's address carries."""
    return {name: value[0] if isinstance(value, list) else value for name, value in at.query_params.items()}


def spec(at):
    """Return what the page's one chart draws."""
    (chart,) = at.get("plotly_chart")
    return json.loads(chart.proto.spec)


def drawn(at):
    """Return the names of the series in the chart's legend."""
    return [trace["name"] for trace in spec(at)["data"] if trace.get("showlegend", True)]


def rows(at):
    """Return the keys of the chart's rows."""
    return spec(at)["layout"]["yaxis"]["categoryarray"]


def cases(at):
    return re.findall(r'<article class="relic-recall-case" id="case-([^"]*)"', html(at))


def headings(at):
    return [header.value for header in at.header]


# ---- nothing yet --------------------------------------------------------------------------------------------------


def test_before_anything_was_measured_the_page_says_how_to_begin(app):
    at = sound(app.open(RECALL))
    assert said(at)
    assert [code.value for code in at.code] == [SAYS["command"]]
    assert SAYS["meaning of recall"] in plain(html(at))
    assert address(at) == {}


# ---- one run, several runs ----------------------------------------------------------------------------------------


def test_one_run_is_shown_with_its_figure_interval_and_n(app):
    run = store(app)
    at = sound(app.open(RECALL))
    (mark,) = app.bench.recall.overall([run], "recall@10")
    shown = plain(re.search(r'<ul class="relic-recall-numbers".*?</ul>', html(at), re.DOTALL)[0])
    assert f"{100 * mark.value:.1f}%" in shown
    assert f"{100 * mark.low:.1f}% to {100 * mark.high:.1f}%, n = {run.examples}" in shown
    assert drawn(at) == ["BM25 · 4 before, 4 after"]
    assert headings(at)[0] == "Recall@k over k"
    assert address(at) == {}


def test_recall_is_explained_in_one_sentence_with_the_number_of_candidates(app, two):
    at = sound(app.open(RECALL))
    assert "the first 10 passages." in plain(html(at))
    assert re.search(r"among [\d,]+ candidates", plain(html(at)))


def test_a_benchmark_says_in_its_own_words_what_is_asked_and_what_counts(app):
    store(app, benchmark="birco-wtb")
    at = sound(app.open(RECALL, benchmark="birco-wtb"))
    measure = plain(re.search(r'<p class="relic-measure">.*?</p>', html(at), re.DOTALL)[0])
    assert "description of that book" in measure
    assert "critic" not in measure


def test_every_retriever_is_shown_side_by_side_at_first_and_fewer_when_chosen(app, two):
    at = sound(app.open(RECALL))
    assert drawn(at) == ["dense-RELiC", "BM25"]
    sound(at.multiselect(key="recall_runs").set_value([two[0].id]).run())
    assert drawn(at) == ["BM25 · 4 before, 4 after"]
    assert address(at)["runs"] == two[0].id
    sound(at.multiselect(key="recall_runs").set_value([]).run())
    assert "Choose one or more measurements" in said(at)


@pytest.mark.parametrize("view", ["books", "lengths", "shapes", "kinds", "curve", "ranks", "published"])
def test_every_view_has_its_chart_caption_table_file_and_commands(app, two, view):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view=view))
    assert said(at) == ""
    assert len(spec(at)["data"]) >= 2
    page = html(at)
    assert "claims about 14 works" in plain(re.search(r'relic-table-caption">(.*?)</p>', page)[1])
    assert "python -m relic_core evaluate novels-by-hand dense-relic --shape 4/4" in plain(page)
    assert len(re.findall(r"<tr>", page)) > len(two)
    (button,) = at.get("download_button")
    assert button.label.endswith("CSV")
    (chart,) = at.get("plotly_chart")
    assert chart.proto.alt
    saved = json.loads(chart.proto.config)["toImageButtonOptions"]["filename"]
    assert saved == f"novels-by-hand recall-10 {view}"


def test_all_figures_stand_in_a_table_with_the_paired_tests(app, two):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="table"))
    assert at.get("plotly_chart") == []
    assert len(headings(at)) == 2
    assert [button.label for button in at.get("download_button")] == [
        "Save as CSV",
        "Save as Markdown",
        "Save as LaTeX",
    ]
    assert "Mean rank" in html(at)
    assert "Holm" in html(at)


def test_one_run_is_compared_with_nothing(app):
    store(app)
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="table"))
    assert headings(at) == ["All figures"]


def test_kinds_that_are_not_labelled_are_told(app):
    store(app, kinds=False)
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="kinds"))
    assert "labelled" in said(at)
    assert at.get("plotly_chart") == []


def test_runs_on_different_states_of_the_data_are_told_apart(app, two):
    other = store(app, data="other", retriever="random")
    at = sound(app.open(RECALL, benchmark="novels-by-hand", runs=f"{two[0].id},{other.id}"))
    assert "different data" in said(at)


def test_figures_of_given_pools_are_of_a_benchmark_of_their_own(app, two):
    pools = store(app, benchmark="pools", pool="given", candidates=50)
    at = sound(app.open(RECALL))
    assert at.selectbox(key="recall_benchmark").options == ["novels-by-hand", "pools"]
    sound(at.selectbox(key="recall_benchmark").set_value("pools").run())
    assert at.multiselect(key="recall_runs").value == [pools.id]
    assert "a pool given" in plain(html(at))
    assert address(at)["benchmark"] == "pools"


def test_published_figures_are_marked_as_measured_elsewhere(app, two):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="published"))
    assert drawn(at)[-1].startswith("measured elsewhere")
    assert "RELiC (Thai et al. 2022), table 3" in plain(html(at))
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="lengths"))
    assert "measured elsewhere" not in plain(html(at))
    sound(at.checkbox(key="recall_beside").check().run())
    assert drawn(at)[-1].startswith("measured elsewhere")
    assert address(at)["beside"] == "1"


# ---- by work ------------------------------------------------------------------------------------------------------


def test_works_with_fewer_quotations_than_asked_for_are_left_out(app, two):
    at = sound(app.open(RECALL, view="books"))
    sound(at.number_input(key="recall_least").set_value(1).run())
    assert len(rows(at)) == 14
    sound(at.number_input(key="recall_least").set_value(8).run())
    held = rows(at)
    assert 0 < len(held) < 14
    assert f"{14 - len(held)} works with" in plain(html(at))
    assert all(int(n) >= 8 for n in re.findall(r"n = (\d+)", " ".join(spec(at)["layout"]["yaxis"]["ticktext"])))
    assert address(at)["least"] == "8"
    sound(at.number_input(key="recall_least").set_value(900).run())
    assert "No work" in said(at)


def test_works_are_put_in_order(app, two):
    at = sound(app.open(RECALL, view="books"))
    sound(at.number_input(key="recall_least").set_value(1).run())
    sound(at.selectbox(key="recall_sort").set_value("year").run())
    assert rows(at) == [book.key for book in BOOKS]
    assert address(at)["sort"] == "year"


# ---- the examples behind a figure ---------------------------------------------------------------------------------


def test_a_figure_leads_to_the_quotations_that_were_missed(app, readable):
    work, _, outcomes = readable
    at = sound(app.open(RECALL, view="books"))
    assert cases(at) == []
    sound(at.selectbox(key="recall_part").set_value("averhythe").run())
    assert "8 of 10 quotations of High Water" in plain(html(at))
    assert cases(at) == ["averhythe-2", "averhythe-9", "averhythe-8", "averhythe-7", "averhythe-6"]
    assert address(at)["book"] == "averhythe"
    first = re.search(r'<article class="relic-recall-case" id="case-averhythe-9".*?</article>', html(at), re.DOTALL)[0]
    assert "at rank 90 of" in plain(first)
    gold, hit = re.findall(r'<blockquote>(.*?)</blockquote>.*?href="read\?([^"]*)"', first, re.DOTALL)
    for (words, href), at_sentence in ((gold, 9), (hit, 10)):
        assert " ".join(work.sentence_text(at_sentence).replace("_", "").split()) in " ".join(plain(words).split())
        assert f"work={work.id}&amp;at={work.address(at_sentence)}&amp;n=2" in href
    assert outcomes[2].rank is None
    assert "no ranking." in plain(html(at))


def test_those_found_are_shown_when_asked_for(app, readable):
    at = sound(app.open(RECALL, benchmark="readable", book="averhythe"))
    sound(at.get_by_key("recall_show").set_value("found").run())
    assert cases(at) == ["averhythe-4", "averhythe-0"]
    assert SAYS["put first"] in plain(html(at))
    assert address(at)["show"] == "found"


def test_what_runs_make_differently_of_an_example_can_be_told_apart(app, two):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="lengths", length="2", show="all"))
    chosen = at.get_by_key("recall_show")
    counts = {label.split(":")[0]: int(label.split(":")[1]) for label in chosen.options}
    assert set(counts) == {"Missed by all", SAYS["some missed"], "Found by all", "All"}
    assert sum(counts.values()) == 2 * counts["All"]
    sound(chosen.set_value("some").run())
    assert f"{counts[SAYS['some missed']]} of {counts['All']} quotations of 2 sentences" in plain(html(at))
    for article in re.findall(r'<article class="relic-recall-case".*?</article>', html(at), re.DOTALL):
        ranks = [int(rank.replace(",", "")) for rank in re.findall(r"<td>([\d,]+) of", article)]
        assert 0 < sum(rank > 10 for rank in ranks) < 2


def test_many_examples_are_paged(app, readable):
    at = sound(app.open(RECALL, benchmark="readable", book="averhythe", page="2"))
    assert cases(at) == ["averhythe-5", "averhythe-1", "averhythe-3"]
    assert address(at)["page"] == "2"
    at = sound(app.open(RECALL, benchmark="readable", book="averhythe", page="77"))
    assert len(cases(at)) == 3


def test_the_claim_is_shown_where_the_benchmark_is_here(app):
    benchmark = app.bench.benchmarks.open("sample")
    window = benchmark.windows()[0]
    work = benchmark.work(window.pool)
    (outcome,) = outcomes_in(work, window.book, [77])
    run = make_run(benchmark.books(), [outcome], benchmark="sample")
    app.bench.store.runs.add(run, [replace(outcome, example_id=window.id)])
    at = sound(app.open(RECALL, benchmark="sample", view="books", book=window.book))
    assert said(at) == ""
    shown = " ".join(plain(re.search(r'relic-recall-claim">(.*?)</div>', html(at), re.DOTALL)[1]).split())
    assert " ".join(window.left).split()[-3:] == shown[: shown.index(" the quotation")].split()[-3:]


def test_where_the_text_is_not_here_offsets_are_shown_and_how_to_have_it(app, two):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="lengths", length="1"))
    (told,) = re.findall(r'<div id="recall-missing".*?</div>', html(at))
    assert "Not in your" in plain(told)
    titles = re.findall(r"<cite>(.*?)</cite>", told)
    assert len(titles) == len(set(titles)) > 1
    assert 'href="library"' in told
    assert not {"--data", "JSON", "RELIC_"} & set(plain(told).split())
    assert SAYS["claims hidden"] in plain(told)
    first = re.search(r'<article class="relic-recall-case".*?</article>', html(at), re.DOTALL)[0]
    assert SAYS["critic quotes"] in plain(first)
    assert re.findall(r'scope="row">([^<]*)', first) == ["dense-RELiC · 4 before, 4 after", "BM25 · 4 before, 4 after"]
    assert "characters" not in plain(first)
    assert 'href="read' not in html(at)


def test_a_claim_that_a_source_of_ones_own_holds_stands_with_the_missed_quotation(app):
    """The benchmark's data are not here; the very place was found in the reader's own criticism."""
    (summary,) = app.bench.works.summaries()
    work = app.bench.works.load(summary.id)
    source = make_source("Tides")
    window = make_window(work, source, 9, left=("One.", "Two <b>before</b>.", "Three."), right=("After it.",))
    keep(app.bench, source, [window], works=[work])
    outcomes = outcomes_in(work, "averhythe", [90, 80])
    run = make_run([book_of(work, "averhythe")], outcomes, benchmark="public-relic-test", shape="1/0")
    app.bench.store.runs.add(run, [replace(outcomes[0], example_id=window.id), outcomes[1]])
    at = sound(app.open(RECALL, view="books", book="averhythe", least="1"))
    held, other = re.findall(r'<article class="relic-recall-case".*?</article>', html(at), re.DOTALL)
    claim = re.search(r'relic-recall-claim">(.*?)</div>', held, re.DOTALL)[1]
    assert " ".join(plain(claim).split()) == "Three. the quotation"
    assert SAYS["no claim"] not in plain(held)
    assert SAYS["no claim"] in plain(other)
    app.bench.sources.remove(source.id)
    at = sound(app.open(RECALL, view="books", book="averhythe", least="1"))
    assert "relic-recall-claim" not in html(at)


def test_beside_a_missed_case_stands_why_and_what_somebody_says_of_it_is_kept(app):
    (summary,) = app.bench.works.summaries()
    work = app.bench.works.load(summary.id)
    source = make_source("Tides")
    window = make_window(work, source, 9, left=("Of the tide.",), right=("After it.",))
    keep(app.bench, source, [window], works=[work])
    outcomes = outcomes_in(work, "averhythe", [90, 80, 1])
    run = make_run([book_of(work, "averhythe")], outcomes, benchmark="by-hand")
    app.bench.store.runs.add(run, [replace(outcomes[0], example_id=window.id), *outcomes[1:]])
    at = sound(app.open(RECALL, view="place", place="1", show="all"))
    assert html(at).count("relic-missed") == len(outcomes) - 1  # none where it was put first
    (asked,) = [each for each in at.button_group if each.key.startswith("judged_")]  # those with a claim alone
    sound(asked.set_value([list(CODES)[3]]).run())
    assert app.bench.runs.case_judgements(run) == {(window.id, ""): (list(CODES)[3],)}
    at = sound(app.open(RECALL, view="place", place="1", show="all"))
    assert [each.value for each in at.button_group if each.key == asked.key] == [[list(CODES)[3]]]
    at = sound(app.open(RECALL, benchmark="by-hand", view="overlap", overlap="1"))
    assert cases(at) == [window.id]


def test_each_of_several_runs_that_missed_is_judged_and_the_same_passage_once(app):
    (summary,) = app.bench.works.summaries()
    work = app.bench.works.load(summary.id)
    source = make_source("Tides")
    window = make_window(work, source, 9, left=("Of the tide.",), right=("After it.",))
    keep(app.bench, source, [window], works=[work])
    (missed,) = outcomes_in(work, "averhythe", [90])
    elsewhere = (work.sentences[40].start, work.sentences[40].end)
    runs = []
    for name, first in (("bm25", missed.first), ("tf-idf", missed.first), ("random", (elsewhere,))):
        outcome = replace(missed, example_id=window.id, first=first)
        runs.append(make_run([book_of(work, "averhythe")], [outcome], retriever=name, benchmark="by-hand"))
        app.bench.store.runs.add(runs[-1], [outcome])
    at = sound(app.open(RECALL, view="curve", k="10", show="all", runs=",".join(run.id for run in runs)))
    asked = [each for each in at.button_group if each.key.startswith("judged_")]
    assert len(asked) == 2
    codes = list(CODES)
    for each, code in zip(asked, codes, strict=False):
        at = sound(at.button_group(each.key).set_value([code]).run())
    kept = [app.bench.runs.case_judgements(run)[window.id, ""] for run in runs]
    assert sorted(kept) == sorted([(codes[0],), (codes[0],), (codes[1],)])
    app.bench.runs.judge_case(runs[1], window.id, [codes[2]])  # it was shown alone before
    at = sound(app.open(RECALL, view="curve", k="10", show="all", runs=",".join(run.id for run in runs)))
    both = next(each for each in at.button_group if each.key == asked[0].key)
    assert both.value == [codes[0], codes[2]]
    sound(both.set_value([codes[0], codes[2], codes[3]]).run())
    kept = [app.bench.runs.case_judgements(run)[window.id, ""] for run in runs[:2]]
    assert kept == [(codes[0], codes[2], codes[3])] * 2


@pytest.mark.parametrize("view", ["overlap", "dialogue", "place"])
def test_what_the_texts_would_tell_is_told_to_be_missing_where_they_are(app, two, view):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view=view))
    assert said(at)
    assert at.get("plotly_chart") == []


def test_where_the_claims_are_not_here_a_press_brings_them(app, two):
    outcomes = make_outcomes(BOOKS, seed=3)
    app.bench.store.runs.add(make_run(BOOKS, outcomes, benchmark="public-relic-test"), outcomes)
    at = sound(app.open(RECALL, benchmark="public-relic-test", view="lengths", length="1"))
    assert "<code>" not in re.search(r'<div id="recall-missing".*?</div>', html(at))[0]
    at.button(key="get_recall_claims").click().run()
    (job,) = app.bench.jobs.under_way("rebuild")
    app.bench.jobs.cancel(job.id)
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="lengths", length="1"))
    (told,) = re.findall(r'<div id="recall-missing".*?</div>', html(at))
    assert "<code>" not in told


def test_misses_that_can_be_read_come_first(app, readable):
    work, run, _ = readable
    away = make_books(1)
    outcomes = make_outcomes(away, seed=4) + outcomes_in(work, "averhythe", [400, 500], length=2)
    run = make_run([*away, *run.books], outcomes, benchmark="mixed")
    app.bench.store.runs.add(run, outcomes)
    shown = app.bench.outcomes.readable_first(app.bench.recall.cases("lengths", [run], "recall@10", "2"))
    stored = [case.book.key == "averhythe" for case in shown]
    assert stored == sorted(stored, reverse=True)


def test_the_page_opens_on_a_benchmark_whose_claims_are_at_hand(app, two, monkeypatch):
    store(app, benchmark="another")
    monkeypatch.setattr("relic_core.services.recall.Outcomes.claims_here", lambda _, name: name == "novels-by-hand")
    assert sound(app.open(RECALL)).selectbox(key="recall_benchmark").value == "novels-by-hand"


def test_nothing_labelled_has_no_button_for_evidence(app):
    store(app, kinds=False)
    assert "Evidence" not in sound(app.open(RECALL)).get_by_key("recall_view").options
    store(app, retriever="dense-relic")
    assert "Evidence" in sound(app.open(RECALL)).get_by_key("recall_view").options


def test_runs_of_several_contexts_say_of_which_the_claim_is(app):
    benchmark = app.bench.benchmarks.open("sample")
    window = benchmark.windows()[0]
    (outcome,) = outcomes_in(benchmark.work(window.pool), window.book, [77])
    runs = [make_run(benchmark.books(), [outcome], benchmark="sample", shape=shape) for shape in ("1/0", "4/4")]
    for run in runs:
        app.bench.store.runs.add(run, [replace(outcome, example_id=window.id)])
    at = sound(app.open(RECALL, runs=",".join(run.id for run in runs), book=window.book))
    assert "The critic writes (sentences: 4 before, 4 after)" in plain(html(at))


@pytest.mark.parametrize(
    ("view", "name", "part", "words"),
    [
        ("lengths", "length", "1", "of 1 sentence "),
        ("kinds", "kind", "other", "labelled other"),
        ("shapes", "shape", "4/4", "of 4 before, 4 after"),
        ("curve", "k", "50", "with k = 50"),
        ("ranks", "rank", "11-30", "of 11–30"),
    ],
)
def test_every_chart_leads_to_its_examples(app, two, view, name, part, words):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view=view))
    sound(at.selectbox(key="recall_part").set_value(part).run())
    assert words in plain(html(at))
    assert cases(at)
    assert address(at)[name] == part
    lit = [shape for shape in spec(at)["layout"]["shapes"] if shape.get("fillcolor")]
    assert len(lit) == 1


def test_published_figures_have_no_examples(app, two):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", view="published"))
    assert len(headings(at)) == 1


def test_what_a_book_is_called_is_shown_and_not_obeyed(app):
    books = [replace(book, title=f"<b>*{book.title}*</b>") for book in make_books(2)]
    store(app, books=books)
    at = sound(app.open(RECALL, benchmark="novels-by-hand", book="book-0", least="1"))
    assert "<b>*" not in html(at)
    assert "&lt;b&gt;*The Book of 0*" in html(at)


# ---- addresses ----------------------------------------------------------------------------------------------------


def test_an_address_opened_again_shows_the_same(app, two):
    asked = {
        "benchmark": "novels-by-hand", "runs": two[0].id, "metric": "recall@50", "view": "books", "sort": "author",
        "least": "2", "book": "book-3", "show": "all",
    }  # fmt: skip
    at = sound(app.open(RECALL, **asked))
    assert address(at) == asked
    assert at.multiselect(key="recall_runs").value == [two[0].id]
    assert at.selectbox(key="recall_metric").value == "recall@50"
    assert at.selectbox(key="recall_part").value == "book-3"
    assert headings(at)[0].replace("\\", "").startswith("Recall@50 by")
    assert cases(at)


def test_back_undoes_a_step_and_a_press_before_the_address_has_caught_up_is_not_lost(app, two):
    def metric_and_view():
        return at.selectbox(key="recall_metric").value, at.get_by_key("recall_view").value

    def reach(**asked):
        at.query_params.clear()
        for name, value in asked.items():
            at.query_params[name] = value

    at = sound(app.open(RECALL))
    sound(at.selectbox(key="recall_metric").set_value("recall@50").run())
    once = address(at)
    reach()
    sound(at.get_by_key("recall_view").set_value("books").run())
    assert metric_and_view() == ("recall@50", "books")
    reach(**once)
    sound(at.selectbox(key="recall_sort").set_value("author").run())
    assert (*metric_and_view(), at.selectbox(key="recall_sort").value) == ("recall@50", "books", "author")
    reach(**once)
    assert (sound(at.run()), *metric_and_view())[1:] == ("recall@50", "curve")
    reach()
    assert (sound(at.run()), *metric_and_view())[1:] == ("recall@10", "curve")


def test_the_link_to_a_chart_names_all_that_it_shows(app, two):
    at = sound(app.open(RECALL))
    href = re.search(r'href="(recall\?[^"]*)"[^>]*>Link to this chart', html(at))[1].replace("&amp;", "&")
    assert href.startswith("recall?benchmark=novels-by-hand&runs=")
    assert all(run.id in href for run in two)
    assert "metric=recall%4010&view=curve" in href


@pytest.mark.parametrize(
    "asked",
    [
        {"view": "sideways"},
        {"metric": "mean-rank"},
        {"sort": "colour"},
        {"least": "-1"},
        {"least": "9" * 40},
        {"page": "²", "book": "book-3"},
        {"book": "no-such-book"},
        {"view": "curve", "k": "1e9"},
        {"view": "shapes", "shape": "x"},
        {"show": "few"},
    ],
)
def test_odd_parameters_are_passed_over(app, two, asked):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", **asked))
    told = {"no-such-book": "'no-such-book'", "mean-rank": "MRR, mean"}
    wanted = [words for value, words in told.items() if value in asked.values()]
    assert all(words in said(at) for words in wanted)
    assert bool(said(at)) is (bool(wanted) or "k" in asked or "shape" in asked)
    assert len(at.get("plotly_chart")) == 1


def test_a_benchmark_that_is_not_here_is_told(app, two):
    at = sound(app.open(RECALL, benchmark="gone"))
    assert "'gone', on which nothing was measured" in said(at)
    assert drawn(at) == ["dense-RELiC", "BM25"]


def test_runs_that_are_not_here_are_told(app, two):
    at = sound(app.open(RECALL, benchmark="novels-by-hand", runs=f"{two[0].id},0123456789ab"))
    assert "measurements that are not here: 0123456789ab" in said(at)
    assert drawn(at) == ["BM25 · 4 before, 4 after"]


def test_an_address_that_mixes_kinds_of_pools_is_refused_in_words(app, two):
    pools = store(app, benchmark="pools", pool="given", candidates=50)
    at = sound(app.open(RECALL, runs=f"{two[0].id},{pools.id}"))
    assert "side by side" in said(at)
    assert drawn(at) == ["BM25 · 4 before, 4 after"]


def test_a_busy_store_is_told(app, monkeypatch):
    def held(_recall):
        raise StoreBusy("Another program holds the store. Wait until it has finished.")

    monkeypatch.setattr(Recall, "offers", held)
    assert "Another program holds the store." in said(sound(app.open(RECALL)))
