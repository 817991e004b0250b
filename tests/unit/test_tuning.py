"""Tuning: a grid tried honestly, on data that nothing is reported on; and the proxy task asked of retrievers."""

from dataclasses import replace

import numpy as np
import pytest

from relic_core.domain import ContextSize
from relic_core.errors import BadClaim, BadRequest
from relic_core.evaluation.comparing import compare
from relic_core.evaluation.metrics import figure
from relic_core.ports import silent
from relic_core.retrieval.bm25 import Bm25
from relic_core.retrieval.bm25_reference import Bm25Reference
from relic_core.retrieval.random_order import create as random_order
from relic_core.studies import proxy_task
from relic_core.studies.proxy_task import ItemSettings, ask, make_items, proxy_values
from relic_core.wiring import build
from tests.small_benchmark import Counting, SmallBenchmark, outcomes_of
from tools.tune import bm25 as tuning
from tools.tune.bm25 import tune_bm25

SHAPE = ContextSize(1, 1)


def made(k1, b):
    return Bm25(k1=k1, b=b)


def search(benchmark=None, **options):
    given = {"shape": SHAPE, "k1s": (0.5, 2.0), "bs": (0.9, 0.0), "progress": silent, **options}
    return tuning.search(benchmark or SmallBenchmark(), made, **given)


def outcomes(retriever):
    return outcomes_of(SmallBenchmark(), retriever, shape=SHAPE)


def test_every_point_has_the_figure_that_measuring_it_gives():
    grid = search(beside=[(0.7, 0.3)])
    assert (grid.k1s, grid.bs) == ((0.5, 2.0), (0.0, 0.9))
    for row, k1 in enumerate(grid.k1s):
        for column, b in enumerate(grid.bs):
            assert grid.figures[row, column] == pytest.approx(figure("mrr", outcomes(made(k1, b))))
    assert grid.outcomes[0.7, 0.3] == outcomes(made(0.7, 0.3))
    assert figure("mrr", grid.outcomes[grid.best]) == pytest.approx(grid.figures.max())


def test_the_best_by_a_rank_is_the_lowest():
    grid = search(name="mean-rank")
    assert figure("mean-rank", grid.outcomes[grid.best]) == pytest.approx(grid.figures.min())


def test_each_work_is_asked_with_all_points_before_the_next_and_progress_counts_answers():
    told = []
    search(progress=lambda done, total, note="": told.append((done, total, note)))
    assert told[0][:2] == (0, 40)
    assert told[-1][:2] == (40, 40)
    assert [note.split(",")[0] for _, _, note in told[:-1]] == ["The First"] * 4 + ["The Second"] * 4


@pytest.mark.parametrize("wrong", [{"k1s": ()}, {"bs": ()}, {"name": "candidates"}, {"name": "nothing"}])
def test_a_grid_of_nothing_and_a_metric_of_no_merit_are_refused(wrong):
    with pytest.raises(BadRequest):
        search(**wrong)


@pytest.fixture
def workbench(settings):
    return build(settings)


def tune(workbench, monkeypatch, benchmark, **options):
    monkeypatch.setattr(workbench.benchmarks, "open", lambda name, *, data=None: benchmark)
    given = {"shape": SHAPE, "k1s": (0.5, 2.0), "bs": (0.0, 0.9), "progress": silent, **options}
    return tune_bm25(workbench, "sample", **given)


def test_tuning_prints_the_grid_and_where_the_papers_values_stand(workbench, monkeypatch):
    tuned = tune(workbench, monkeypatch, SmallBenchmark())
    assert tuned.heads == ("k1", "b 0", "b 0.9")
    assert [row[0] for row in tuned.rows] == ["0.5", "2"]
    assert sum(cell.best for row in tuned.rows for cell in row[1:]) == 1
    said, candidates = tuned.notes
    assert candidates.startswith("Candidates: 39 ")
    assert "the paper's k1 0.5, b 0.9" in said
    assert "paired interval over works" in said


@pytest.mark.parametrize(
    ("split", "why"),
    [
        ("test", "of the test split"),
        ("sample", "no counting of words can answer"),
        ("", "of no known split"),
        ("validation", ""),
    ],
)
def test_only_a_split_for_choosing_is_tuned_on(workbench, monkeypatch, split, why):
    with pytest.raises(BadRequest, match=f"{why}.*choices are made on dev"):
        tune(workbench, monkeypatch, SmallBenchmark(split=split))


def test_lemmas_can_be_tuned_too(workbench, monkeypatch):
    asked = set()
    whole = Bm25.score

    def score(self, claim, work, length):
        asked.add(self.name)
        return whole(self, claim, work, length)

    monkeypatch.setattr(Bm25, "score", score)
    tuned = tune(workbench, monkeypatch, SmallBenchmark(), terms="lemmas")
    assert asked == {"bm25-lemmas"}
    assert "BM25, lemmas" in tuned.caption


def test_figures_that_agree_have_digits_enough_to_differ(workbench, monkeypatch):
    values = np.array([[0.12341, 0.12342], [0.12343, 0.12344]])
    whole = tuning.search
    monkeypatch.setattr(tuning, "search", lambda *given, **options: replace(whole(*given, **options), figures=values))
    tuned = tune(workbench, monkeypatch, SmallBenchmark())
    assert [cell.text for row in tuned.rows for cell in row[1:]] == ["0.12341", "0.12342", "0.12343", "0.12344"]
    monkeypatch.setattr(
        tuning, "search", lambda *given, **options: replace(whole(*given, **options), figures=np.zeros((2, 2)))
    )
    tuned = tune(workbench, monkeypatch, SmallBenchmark())
    assert {cell.text for row in tuned.rows for cell in row[1:]} == {"0.000"}


def test_a_difference_of_nearly_nothing_has_no_sign(workbench, monkeypatch):
    def nearly(*given, **options):
        return replace(compare(*given, **options), difference=-0.00001, low=-0.00002, high=-0.00001)

    monkeypatch.setattr("tools.tune.bm25.compare", nearly)
    said = tune(workbench, monkeypatch, SmallBenchmark()).notes[0]
    assert "The difference is 0.000 (" in said
    assert "0.000 to 0.000" in said


def items_of(chooser, benchmark=None, **settings):
    benchmark = benchmark or SmallBenchmark()
    return make_items(
        benchmark,
        benchmark.windows(),
        chooser=chooser,
        settings=ItemSettings(shape=SHAPE, **settings),
        progress=silent,
    )


def right(retriever, chooser):
    """Say which items a retriever answers rightly."""
    works = {work.id: work for work in SmallBenchmark().works.values()}
    items = items_of(chooser).items
    return proxy_values(items, ask(items, works.__getitem__, retriever, progress=silent).choices)


class Named(Counting):
    """BM25 under another name."""

    name = "zero-shot"


def test_items_are_made_by_one_retriever_and_answered_by_others(settings):
    items = items_of(Counting())
    assert len(right(random_order(settings, ()), Counting())) == len(items.items) == 10 - len(items.left_out)
    # BM25 under another name finds what BM25 finds: right just where the gold comes before the other two.
    ranks = {each.example_id: each.rank for each in outcomes(Counting())}
    first = [ranks[f"w{number}"] == 1 for number in range(10)]
    assert right(Named(), Counting()).sum() >= sum(first)
    assert [item.gold_rank for item in items.items] == [ranks[item.id] for item in items.items]


def test_only_quotations_beyond_a_place_become_items_where_that_is_wanted():
    every = items_of(Counting())
    ranks = [item.gold_rank for item in every.items]
    beyond = sorted(ranks)[len(ranks) // 2]
    hard = items_of(Counting(), beyond=beyond)
    assert [item.gold_rank for item in hard.items] == [rank for rank in ranks if rank > beyond]
    assert 0 < len(hard.items) < len(every.items)
    assert len(hard.items) + len(hard.nearer) + len(hard.left_out) == 10


def test_who_chose_the_options_is_not_asked():
    with pytest.raises(BadRequest, match="bm25"):
        right(Counting(), Counting())
    with pytest.raises(BadRequest, match="bm25"):  # the same ranking under another name
        right(Bm25Reference(), Counting())
    with pytest.raises(BadRequest, match="bm25"):
        right(Counting(), Bm25Reference())


def test_claims_without_words_make_no_item_or_a_wrong_answer():
    class Speechless(Counting):
        def score(self, claim, work, length):
            raise BadClaim("no word")

    assert len(items_of(Speechless()).left_out) == 10

    class SpeechlessNamed(Speechless):
        name = "zero-shot"

    assert right(SpeechlessNamed(), Counting()).sum() == 0


def test_a_work_too_short_for_three_options_is_left_out():
    benchmark = SmallBenchmark()
    benchmark.candidates = lambda window: np.array([window.gold.start])
    assert len(items_of(Counting(), benchmark).left_out) == 10


def test_another_fault_than_a_short_work_is_told(monkeypatch):
    def wrong(*arguments, **options):
        raise BadRequest("The gold lies beyond the work.")

    monkeypatch.setattr(proxy_task, "make_item", wrong)
    with pytest.raises(BadRequest, match="beyond"):
        items_of(Counting())
