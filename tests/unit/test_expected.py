"""Expected figures: runs are held against them, and the tables of the documentation are what the command makes."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relic_core.domain import ContextSize
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.formats.run_files import write_run
from relic_core.ports import silent
from relic_core.retrieval.bm25 import Bm25
from relic_core.services.evaluation import chosen_retrievers
from relic_core.services.runs import Runs
from relic_core.wiring import build
from tests.small_benchmark import SmallBenchmark
from tools import figures as expected
from tools.between_marks import marks, put_between

PROJECT = Path(__file__).resolve().parents[2]
SHAPE = ContextSize(4, 4)
WEIGHTS = ("dense-relic", "reranker")


def workbench_of(settings, shipped):
    made = build(settings)
    vars(made)["runs"] = Runs(made.store.runs, shipped=shipped)
    return made


@pytest.fixture
def workbench(settings, tmp_path):
    """Return a workbench that came with one run."""
    (tmp_path / "shipped").mkdir()
    first = workbench_of(replace(settings, data=tmp_path / "maker"), tmp_path / "shipped")
    for name in ("bm25", "random"):
        made = first.measuring.measure(SmallBenchmark(), name, SHAPE, progress=silent)
        write_run(tmp_path / "shipped" / f"{name}.json", made.run, made.outcomes)
    return workbench_of(settings, tmp_path / "shipped")


@pytest.fixture
def figures(workbench, tmp_path):
    path = tmp_path / "expected.csv"
    assert expected.write_expected(workbench, path) == 2 * len(expected.NAMES)
    return expected.read_expected(path)


def test_what_came_with_the_program_is_as_it_is_expected(workbench, figures):
    assert {(each.benchmark, each.retriever, each.shape) for each in figures} == {
        ("sample", "bm25", "4/4"), ("sample", "random", "4/4")
    }  # fmt: skip
    checked = expected.check(workbench, figures)
    assert [each.why for each in checked] == [""] * len(figures)


def test_a_figure_that_is_off_is_told_with_what_it_is(workbench, figures):
    (checked,) = expected.check(workbench, [replace(figures[0], value=figures[0].value + 0.1)])
    assert checked.found == pytest.approx(figures[0].value)
    assert "is expected" in checked.why


@pytest.mark.parametrize("changes", [{"data_hash": "0" * 64}, {"shape": "1/1"}, {"retriever": "tf-idf"}])
def test_a_run_that_is_not_there_is_told_with_the_command(workbench, figures, changes):
    (checked,) = expected.check(workbench, [replace(figures[0], **changes)])
    assert checked.found is None
    assert "python -m relic_core evaluate sample" in checked.why


def test_the_command_for_a_run_of_relic_says_that_a_file_is_to_be_named(workbench, figures):
    (checked,) = expected.check(workbench, [replace(figures[0], benchmark="relic")])
    assert checked.why.endswith(" --data FILE.")


def test_a_run_made_by_other_code_does_not_count(workbench, figures, monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.bm25.CODE", "bm25/99")
    checked = expected.check(workbench, figures)
    assert {each.expected.retriever for each in checked if each.why} == {"bm25"}


def test_parameters_of_the_readers_own_do_not_count(workbench, figures):
    own = chosen_retrievers("bm25", k1=3.0, b=0.0)[0]
    workbench.measuring.measure(SmallBenchmark(), own, SHAPE, progress=silent)
    assert [each.why for each in expected.check(workbench, figures)] == [""] * len(figures)


@pytest.mark.parametrize("short", [True, False])
def test_models_in_another_number_format_count_and_other_models_do_not(short):
    first = {"zero-shot encoder": "model/abc/bfloat16/one pass", "reranker precision": "bfloat16", "k": "60"}
    second = {"zero-shot encoder": "model/abc/float16 on cuda/one pass", "reranker precision": "float32", "k": "60"}
    third = {"zero-shot encoder": "model/xyz/float32/one pass", "reranker precision": "float32", "k": "60"}
    first, second, third = (expected._any_format(each, short=short) for each in (first, second, third))
    assert first == second != third


def test_how_short_claims_are_read_counts_where_they_are_asked():
    now = {"k": "60", "of a short claim at most": "5"}
    assert expected._any_format(now, short=True) != expected._any_format({"k": "60"}, short=True)
    assert expected._any_format(now, short=False) == expected._any_format({"k": "60"}, short=False)


def test_measured_anew_figures_are_those_of_what_comes_out(workbench, figures, monkeypatch):
    monkeypatch.setattr(workbench.benchmarks, "open", lambda name, *, data=None: SmallBenchmark())
    assert [each.why for each in expected.measure(workbench, figures, silent)] == [""] * len(figures)
    monkeypatch.setattr(workbench.benchmarks, "open", lambda name, *, data=None: SmallBenchmark(8))
    assert all("data here are others" in each.why for each in expected.measure(workbench, figures, silent))

    def missing(name, *, data=None):
        raise NotFound("The novels are not here.")

    monkeypatch.setattr(workbench.benchmarks, "open", missing)
    assert all("not here" in each.why for each in expected.measure(workbench, figures, silent))


HEAD = "benchmark,data_hash,retriever,shape,metric,value,tolerance\n"


@pytest.mark.parametrize(
    "text",
    [
        "", "a,b\n", HEAD + "sample,h,bm25,4/4,mrr,0.5\n", HEAD + "sample,h,bm25,4/4,mrr,half,0\n",
        HEAD + "sample,h,bm25,4/4,mrr,nan,0\n", HEAD + "sample,h,bm25,4/4,mrr,0.5,-1\n",
        HEAD + "sample,h,bm25,9/9,mrr,0.5,0\n", HEAD + "sample,h,bm25,4/4,most,0.5,0\n",
    ],
)  # fmt: skip
def test_a_damaged_file_of_expected_figures_is_refused(tmp_path, text):
    (tmp_path / "expected.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadBenchmark):
        expected.read_expected(tmp_path / "expected.csv")


def test_measured_anew_for_a_check_what_is_kept_stays(workbench, figures, monkeypatch):
    runs = {run.id: workbench.runs.outcomes(run.id) for run in workbench.runs.all()}
    monkeypatch.setattr(workbench.benchmarks, "open", lambda name, *, data=None: SmallBenchmark())
    monkeypatch.setattr(Bm25, "score", lambda self, claim, work, length: np.zeros(work.candidates(length), np.float32))
    assert any(each.why for each in expected.measure(workbench, figures, silent))
    assert {run.id: workbench.runs.outcomes(run.id) for run in workbench.runs.all()} == runs


def test_the_table_is_put_between_its_marks_and_only_there(workbench, tmp_path):
    page = tmp_path / "page.md"
    begin, end = marks(expected.MARKS)
    page.write_text(f"before\n\n{begin}\nold\n{end}\n\nafter\n", encoding="utf-8")
    table = expected.results_tables(workbench)
    assert put_between(page, expected.MARKS, table)
    assert page.read_text(encoding="utf-8") == f"before\n\n{begin}\n\n{table}\n\n{end}\n\nafter\n"
    assert not put_between(page, expected.MARKS, table)
    assert "BM25" in table
    page.write_text(f"{end} {begin}", encoding="utf-8")
    with pytest.raises(BadRequest, match="once"):
        put_between(page, expected.MARKS, table)


@pytest.mark.parametrize(
    "page", ["docs/results.md", *(f"relic_core/assets/weights/{name}/README.md" for name in WEIGHTS)]
)
def test_the_tables_of_the_results_and_of_the_cards_are_what_the_command_makes(settings, page):
    assert expected.results_tables(build(settings)) in (PROJECT / page).read_text(encoding="utf-8")


def test_the_runs_that_came_with_the_program_are_as_expected(settings):
    figures = expected.read_expected()
    assert figures  # a check of nothing would always be passed
    checked = expected.check(build(settings), figures)
    assert [(each.expected, each.why) for each in checked if each.why] == []


def test_the_sample_is_measured_anew_and_comes_to_what_came_with_the_program(run):
    ran = run("evaluate", "sample", "bm25,dense-relic", "--again", "--format", "csv")
    by_words, by_meaning = csv.DictReader(io.StringIO(ran.out))
    assert ran.code == 0
    assert (float(by_words["R@10"]), float(by_words["Mean rank"])) == (0.0, pytest.approx(609.486, abs=0.001))
    assert float(by_meaning["R@100"]) > 0.5  # far from chance, 8%, whatever model comes along
