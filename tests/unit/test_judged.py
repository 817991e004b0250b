"""Judged benchmarks: folders of several forms, golds with grades, whole rankings, and BIRCO's published figures."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from relic_core.config import Settings
from relic_core.domain import ContextSize, Outcome
from relic_core.errors import BadBenchmark, NotFound
from relic_core.evaluation import metrics
from relic_core.evaluation.benchmarks import registry
from relic_core.evaluation.imported import import_ranking
from relic_core.formats import run_files
from relic_core.ports import silent
from relic_core.wiring import build
from tests.making_runs import make_books, make_outcomes, make_run
from tests.shelf import Shelf

SHAPE = ContextSize(4, 4)
PASSAGES = {
    "a": "The kettle sings on the hob.",
    "b": "A kettle and a lamp.",
    "c": "The lamp is out.",
    "d": "Rain over the moor.",
}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def opened(folder):
    return registry.open_benchmark("judged", settings=Settings(), works=Shelf(), data=folder)


@pytest.fixture
def folder(tmp_path):
    """A folder of JSON lines with one pool."""
    tmp_path = tmp_path / "kettles"
    tmp_path.mkdir()
    write(tmp_path / "queries.jsonl", [{"id": "q", "text": "Who sings? The kettle.", "template": "_ and _"}])
    write(tmp_path / "passages.jsonl", [{"id": name, "text": text} for name, text in PASSAGES.items()])
    write(tmp_path / "pools.jsonl", [{"query_id": "q", "relevance": {"a": 2, "b": 0, "c": 1.0}}])
    return tmp_path


def graded(graded, returned=10):
    """Make the outcome of a query of which this many passages were returned."""
    rank = min((at for at, grade in graded if at and grade >= 1), default=None)
    return Outcome(
        example_id="q", book="x", length=1, kind="", candidates=20, rank=rank, overlap_rank=rank, gold=(0, 1),
        first=tuple((at, at + 1) for at in range(returned)), graded=tuple(graded),
    )  # fmt: skip


def test_grades_2_0_1_have_the_ndcg_that_was_worked_out_by_hand():
    # (2 + 1/2) / (2 + 1/log2 3)
    assert metrics.figure("ndcg@10", [graded([(1, 2.0), (3, 1.0)])]) == pytest.approx(0.950, abs=5e-4)


def test_three_answers_of_which_two_are_among_four_golds():
    found = [graded([(2, 1.0), (3, 1.0), (0, 1.0), (0, 1.0)], returned=3)]  # {a, b, c} against {b, c, d, e}
    assert metrics.figure("set-precision", found) == pytest.approx(2 / 3)
    assert metrics.figure("set-recall", found) == metrics.figure("recall@10", found) == 1 / 2
    assert metrics.figure("f1", found) == pytest.approx(0.571, abs=5e-4)
    assert [metrics.figure(f"success@{k}", found) for k in (1, 2)] == [0, 1]
    assert metrics.figure("mrecall@10", found) == 0


def test_mrecall_wants_every_answer_within_k_and_lower_grades_are_no_answers():
    found = [graded([(1, 0.5), (2, 1.0), (4, 2.0)])]
    assert [metrics.figure(f"mrecall@{k}", found) for k in (1, 3, 4)] == [0, 0, 1]
    assert metrics.figure("mrr", found) == 1 / 2
    assert metrics.figure("mrecall@10", [graded([(1, 0.5)])]) == 0


def test_a_folder_of_json_lines_is_measured_with_its_whole_ranking(folder, settings):
    (folder / "objective.txt").write_text("It must\nsing.", "utf-8")
    app = build(settings)
    benchmark = app.benchmarks.open("judged", data=folder)
    (context,) = benchmark.windows()
    assert (benchmark.card.pool, benchmark.card.objective, context.kind) == ("given", "It must sing.", "_ and _")
    assert context.claim(ContextSize(1, 0)).left == "Who sings? The kettle."
    measured = app.measuring.measure(benchmark, "bm25", SHAPE, progress=silent)
    (outcome,) = measured.outcomes
    assert (outcome.rank, outcome.candidates, len(outcome.first)) == (1, 3, 3)
    assert outcome.graded[0] == (1, 2.0)
    assert app.store.runs.outcomes(measured.run.id) == measured.outcomes
    again = app.measuring.measure(benchmark, "bm25", SHAPE, again=True, progress=silent)
    assert not again.moved


def test_without_pools_every_passage_is_a_candidate_and_qrels_have_the_grades(folder):
    (folder / "pools.jsonl").unlink()
    (folder / "qrels.txt").write_text("q 0 a 2\nq 0 d 1\nq 0 b 0\n", "utf-8")
    benchmark = opened(folder)
    (context,) = benchmark.windows()
    work = benchmark.work(context.pool)
    assert benchmark.card.pool == "whole work"
    assert {work.chapters[at].title: grade for at, grade in context.grades} == {"a": 2.0, "d": 1.0}
    assert work.chapters[context.gold.start].title == "a"
    assert len(work.sentences) == len(PASSAGES)


def test_files_of_quest_are_read_with_their_templates(tmp_path):
    write(tmp_path / "documents.jsonl", [{"title": name, "text": text} for name, text in PASSAGES.items()])
    query = {"query": "kettles or lamps", "docs": ["a", "c"], "metadata": {"template": "_ or _", "domain": "things"}}
    write(tmp_path / "test.jsonl", [query, {**query, "docs": []}])
    benchmark = opened(tmp_path)
    (context,) = benchmark.windows()
    assert context.kind == "_ or _, things"
    assert [grade for _, grade in context.grades] == [1.0, 1.0]
    assert "1." in benchmark.card.description, "the query without an answer is told of"


def test_qrels_and_runs_alone_are_enough_to_measure_runs(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 x 1\nq1 0 y 2\n", "utf-8")
    (tmp_path / "theirs.run").write_text("q1 Q0 y 1 9.5 t\nq1 Q0 z 2 9 t\n", "utf-8")
    _, (outcome,), _ = import_ranking(opened(tmp_path), tmp_path / "theirs.run", SHAPE)
    assert outcome.candidates == 3
    assert outcome.graded == ((1, 2.0), (0, 1.0)), "what a run does not name was not found"
    assert len(outcome.first) == 2


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("pools.jsonl", '{"query_id": "q", "relevance": {"a": -1}}', "line 1.*relevance"),
        ("pools.jsonl", '{"query_id": "q", "relevance": {"z": 1}}', "no passage 'z'"),
        ("pools.jsonl", '{"query_id": "q"}', "line 1"),
        ("qrels.txt", "q 0 d 1", "'d', relevant to 'q', is not in its pool"),
        ("qrels.txt", "q 0 a one", "line 1.*grade"),
        ("qrels.txt", "q 0 a 1\nq 0 a 2", "line 2.*twice"),
        ("documents.jsonl", '{"title": "a"}', "line 1.*text"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(folder, name, content, says):
    (folder / name).write_text(f"{content}\n", "utf-8")
    with pytest.raises(BadBenchmark, match=says):
        opened(folder)


@pytest.fixture
def odd(folder, tmp_path):
    """Write TREC's grades of a query whose id the file of queries spells otherwise, with a sign that nobody sees."""
    (folder / "pools.jsonl").unlink()
    (folder / "qrels.txt").write_text("q 0 a 1\nk\u200b1 0 b 1\n", "utf-8")
    with (folder / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "k1", "text": "Rain?"}\n')
    return folder


def test_grades_of_a_query_that_has_no_text_are_named_where_it_is_measured(odd, run):
    measured = run("evaluate", "judged", "bm25", "--data", str(odd))
    assert measured.code == 0
    assert "without a graded passage: 1." in measured.err
    assert r"'k\u200b1'" in measured.err, "the sign is shown"


def test_where_no_query_has_grades_the_ids_that_do_not_fit_are_named(odd):
    (odd / "qrels.txt").write_text("k\u200b1 0 b 1\n", "utf-8")
    with pytest.raises(BadBenchmark, match=r"no query with a graded passage.*u200b1"):
        opened(odd)


def test_signs_of_control_in_the_names_of_a_run_never_reach_a_terminal(odd, run):
    path = odd / "their run"
    path.write_text("q Q0 a 1 1.0 the\x1b[31m\u202eirs\nz\x1b[32m Q0 a 1 1.0 the\x1b[31m\u202eirs\n", "utf-8")
    taken = run("runs", "import", str(path), "--benchmark", "judged", "--data", str(odd))
    assert "irs (imported)" in taken.out
    assert "1: z [32m" in taken.err
    assert not {"\x1b", "\u202e"}.intersection(taken.out + taken.err)


def test_a_folder_that_says_nothing_of_relevance_is_refused(folder):
    (folder / "pools.jsonl").unlink()
    with pytest.raises(NotFound, match=r"pools\.jsonl"):
        opened(folder)


def test_grades_go_through_a_file_of_runs(tmp_path):
    books = make_books(1)
    outcomes = tuple(
        replace(each, graded=((each.rank, 1.5), (0, 0.25))) if each.rank else each
        for each in make_outcomes(books, seed=1)
    )
    run = make_run(books, outcomes)
    run_files.write_run(tmp_path / "run.json", run, outcomes)
    assert run_files.read_run(tmp_path / "run.json") == (run, outcomes)


TABLE_2 = {
    "e5_rank": ((43.5, 62.0), (36.6, 39.9), (29.4, 10.5)),
    "simcse_rank": ((39.8, 51.1), (31.7, 37.0), (27.7, 10.5)),
    "Tart_O": ((23.1, 28.0), (17.9, 20.7), None),
    "Monot5": ((45.9, 52.0), (50.8, 59.0), (33.2, 14.2)),
    "RankLlama": ((53.2, 71.9), None, None),
    "Rankgpt_GPT-4": ((26.7, 17.0), (79.5, 85.9), None),
    "Rankgpt_GPT-4_O": ((54.4, 70.9), (82.1, 88.0), None),
    "GPT-4_score_O": ((51.6, 70.0), (83.3, 90.9), (43.4, 17.2)),
    "GPT-4_reason_O": ((59.9, 76.8), (74.9, 82.8), (45.7, 17.0)),
    "GPT-4_subtask_O": ((69.5, 85.9), (79.6, 85.9), (43.5, 16.5)),
    "splade++_rank": ((34.0, 47.9), (9.5, 8.9), (27.5, 9.5)),
    "spladev2_rank": ((37.8, 40.7), (16.2, 20.2), (22.3, 7.2)),
}
"""nDCG@10 and R@5 on ArguAna, WhatsThatBook and Clinical-Trial, as printed (the last two systems: appendix, table 3);
None where no ranking of the task's queries is published."""

NOISE = 0.35
"""The printed figures are means over samples: a recall of 51.1 cannot be a share of 100 queries with one answer."""


def test_a_run_on_data_that_the_reader_named_is_measured_again_on_them(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 x 1\nq1 0 y 2\n", "utf-8")
    (tmp_path / "theirs.run").write_text("q1 Q0 y 1 9.5 t\nq1 Q0 z 2 9 t\n", "utf-8")
    own = registry.open_benchmark("birco-wtb", settings=Settings(), works=Shelf(), data=tmp_path)
    (run, *_) = import_ranking(own, tmp_path / "theirs.run", SHAPE)
    here = replace(run, retriever="random")
    assert here.command == "python -m relic_core evaluate birco-wtb random --shape 4/4 --data DATA"
    assert run.command.endswith(" --data DATA"), "which is not the FILE of the ranking"
    assert "--data" not in replace(here, machine={}).command


@pytest.mark.corpus
@pytest.mark.parametrize(("at", "task"), list(enumerate(("arguana", "wtb", "clinical-trial"))))
def test_published_rankings_of_birco_have_the_figures_of_its_table_2(shared, at, task):
    benchmarks = shared / "benchmarks"
    benchmark = registry.open_benchmark(f"birco-{task}", settings=Settings(benchmarks=benchmarks), works=Shelf())
    path = benchmarks / "birco_other" / task / "published_rankings.json"
    for system, printed in ((system, row[at]) for system, row in TABLE_2.items() if row[at] is not None):
        _, outcomes, _ = import_ranking(benchmark, path, SHAPE, system)
        found = [100 * metrics.figure(name, outcomes) for name in ("ndcg@10", "recall@5")]
        assert found == pytest.approx(printed, abs=NOISE), system


@pytest.mark.corpus
def test_the_ranking_published_as_tart_s_of_clinical_trial_is_of_other_queries(shared):
    benchmarks = shared / "benchmarks"
    benchmark = registry.open_benchmark("birco-clinical-trial", settings=Settings(benchmarks=benchmarks), works=Shelf())
    path = benchmarks / "birco_other" / "clinical-trial" / "published_rankings.json"
    with pytest.raises(BadBenchmark, match="ranks none of the claims"):
        import_ranking(benchmark, path, SHAPE, "Tart_O")
