"""A benchmark made by hand, over two small works, and retrievers that count how often they are asked."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import BenchmarkCard, Book, QuotationContext, Span
from relic_core.evaluation.runner import FIRST_CLAIM, Answering, evaluate, slices
from relic_core.ports import silent
from relic_core.retrieval.bm25 import Bm25
from tests.making import make_work

if TYPE_CHECKING:
    from relic_core.domain import Work

WORDS = ("river", "lantern", "ferry", "bolt", "gauge", "tide", "book", "bridge", "stone", "rope", "light", "glass")


def novel(title: str, seed: int, sentences: int = 40) -> Work:
    """Make a work of sentences of four words."""
    rng = np.random.default_rng(seed)
    return make_work([" ".join(rng.choice(WORDS, 4)).capitalize() + "." for _ in range(sentences)], title=title)


class SmallBenchmark:
    """The port `Benchmark` over two works, in which the windows take turns; counts how often a work is asked for."""

    def __init__(self, windows: int = 10, *, pool: str = "whole work", every: int = 1, split: str = "dev") -> None:
        self.works = {"first": novel("The First", 1), "second": novel("The Second", 2)}
        self.asked: list[str] = []
        self._every = every
        self._windows = tuple(self._window(number) for number in range(windows))
        self.card = BenchmarkCard(
            name="sample", label="A Small Benchmark", description="", split=split, pool=pool, main_metric="recall@10",
            examples=windows, books=2, source="", licence="", citation="",
        )  # fmt: skip

    def _window(self, number: int) -> QuotationContext:
        key = ("first", "second")[number % 2]
        gold = Span(2 * (number % 16), 1 + number % 3)
        words = self.works[key].span_text(gold).split()
        return QuotationContext(
            id=f"w{number}", book=key, pool=key, left=(f"He says {words[0]}",), right=(words[-1],), gold=gold
        )

    @property
    def data_hash(self) -> str:
        return hashlib.sha256(repr((self._windows, self._every)).encode()).hexdigest()

    def windows(self) -> tuple[QuotationContext, ...]:
        return self._windows

    def books(self) -> tuple[Book, ...]:
        return tuple(
            Book(key=key, title=work.title, sentences=len(work.sentences), sha256=work.sha256)
            for key, work in self.works.items()
        )

    def work(self, pool: str) -> Work:
        self.asked.append(pool)
        return self.works[pool]

    def candidates(self, window: QuotationContext):
        if self._every == 1:
            return None
        return np.arange(0, self.works[window.pool].candidates(window.gold.length), self._every)


class Counting(Bm25):
    """BM25 that counts its answers, under its registered name."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = 0
        self.prepared: list[str] = []

    def prepare(self, work, progress, *, lengths=()):
        self.prepared.append(work.title)
        super().prepare(work, progress, lengths=lengths)

    def score(self, claim, work, length):
        self.answers += claim != FIRST_CLAIM
        return super().score(claim, work, length)


def outcomes_of(benchmark, retriever, *, shape, done=(), keep=lambda outcome, seconds: None, progress=silent):
    """Rank every window in this process."""
    known = {each.example_id: each for each in done}
    asked = slices(benchmark, retriever, shape=shape, done=known, progress=progress)
    return evaluate(benchmark, map(Answering(retriever), asked), done=known, keep=keep, progress=progress)
