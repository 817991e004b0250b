"""Preparing works by workers, without a cluster: what is there is not made again, one that fails stops no other."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from relic_core.domain import LENGTHS, ContextSize
from relic_core.errors import BadWeights, NoIndex
from relic_core.evaluation.experiments import answer_slice
from relic_core.evaluation.runner import Slice
from relic_core.ports import silent
from relic_core.retrieval import dense, preparing, registry
from relic_core.retrieval.preparing import prepare_works
from relic_core.retrieval.registry import RetrieverSpec, same_here
from tests.inline import InProcess
from tests.making_training import make_base, make_novel
from tests.small_benchmark import SmallBenchmark


@pytest.fixture
def settings(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(dense, "BLOCK", 10)
    return replace(settings, trained=str(make_base(tmp_path / "tiny", positions=256)))


@pytest.fixture
def retriever(settings):
    return registry.create("dense-relic", settings=settings)


class Watched(InProcess):
    """Counts the tasks; those of one work are lost."""

    def __init__(self, lost=""):
        self.done, self._lost = 0, lost

    def map(self, function, tasks):
        for task in tasks:
            self.done += 1
            yield preparing.lost(task, "it died") if task.recipe.work_id == self._lost else function(task)


def prepare(retriever, works, settings, workers):
    given = [(work, LENGTHS) for work in works]
    return prepare_works([retriever], given, settings, workers=workers, sentences=1, progress=silent)


def test_what_was_encoded_before_an_interruption_is_not_encoded_again(retriever, settings):
    work, first, second = make_novel(), Watched(), Watched()

    def stop(done, total, note=""):
        raise KeyboardInterrupt

    given = [(work, LENGTHS)]
    with pytest.raises(KeyboardInterrupt):
        list(prepare_works([retriever], given, settings, workers=first, sentences=1, progress=stop))
    assert not retriever.ready(work, 1)
    with closing(prepare(retriever, [work], settings, second)) as ready:
        assert list(ready) == [(work, "")]
    assert retriever.ready(work, 1)
    assert first.done == 1
    assert second.done == len(dense.blocks(work)) - 1
    third = Watched()
    assert list(prepare(retriever, [work], settings, third)) == [(work, "")]
    assert third.done == 0


def test_a_work_whose_worker_died_is_told_and_the_others_are_ready(retriever, settings):
    works = [make_novel(), make_novel(80)]
    ready = list(prepare(retriever, works, settings, Watched(lost=works[0].id)))
    assert [(work, bool(problem)) for work, problem in ready] == [(works[0], True), (works[1], False)]
    assert [retriever.ready(work, 1) for work in works] == [False, True]


def test_a_worker_with_another_model_is_refused(retriever, settings):
    spec = RetrieverSpec.of(retriever, settings)
    assert same_here(spec).configuration == retriever.configuration
    with pytest.raises(BadWeights):
        same_here(replace(spec, configuration=(("encoder", "another"),)))


def test_a_worker_that_does_not_see_the_indexes_says_so(retriever, settings):
    benchmark = SmallBenchmark(2)
    window = benchmark.windows()[0]
    asked = Slice(benchmark.card, benchmark.work(window.pool), ContextSize(1, 1), [window], {window.id: None})
    with pytest.raises(NoIndex):
        answer_slice(RetrieverSpec.of(retriever, settings), asked)
