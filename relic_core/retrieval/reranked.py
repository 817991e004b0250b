"""A ranking whose top k a reranker reorders: it reads the first thirty passages, the others stay below.

The new order goes by both: what the reranker says, and what the first retriever said of the thirty, each standardised
over them. What the first retriever leaves out of its top k cannot come back, and reading a whole work together with a
claim would take minutes (two stages as in Nogueira and Cho 2019, "Passage Re-ranking with BERT"). The texts of the
works of the top k are loaded for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt

from relic_core.config import ASSETS, Settings
from relic_core.domain import LENGTHS, Claim, Corpus, Ranking, Scores, Span, Work, WorkVersion, rank_scores
from relic_core.encoders.cross_encoder import open_reranker
from relic_core.errors import NotFound, RelicError
from relic_core.ports import CorpusRetriever, Progress, Reranker, Retriever, silent
from relic_core.retrieval.fusion import share, sum_of_shares

TOP_K = 30
"""Passages that are read. More cost time and gained nothing on dev: docs/reranking.md has the figures."""

FIRST = 3.0
"""What the first retriever counts for beside the reranker's 1. Chosen on dev, too."""

WEIGHTS = ASSETS / "weights" / "reranker"


class Reordering(Retriever):
    """Ranks as another retriever does, but for its top k, which it puts into an order of its own: see `combine`."""

    def __init__(self, first: Retriever, top_k: int) -> None:
        self._first = first
        self._top_k = top_k

    @property
    def configuration(self) -> Mapping[str, str]:
        """How many are reordered, and all that decides the scores of the first retriever, under its name."""
        parts = {f"{self._first.name} {name}": value for name, value in self._first.configuration.items()}
        return {"head": str(self._top_k), "first": self._first.name, **parts}

    def ready(self, work: Work, *lengths: int) -> bool:
        """Whether the first retriever is."""
        return self._first.ready(work, *lengths)

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Prepare the first retriever."""
        self._first.prepare(work, progress, lengths=lengths)

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences: those of the top k by what `combine` gives, the others below.

        Below it are whole numbers: what ties for the first retriever ties here.
        """
        first = rank_scores(self._first.name, work.id, length, self._first.score(claim, work, length))
        return self.combine(claim, Corpus.of(work), [first]).scores

    def missing(self, works: Sequence[WorkVersion], *lengths: int) -> tuple[str, ...]:
        """Give the ids of the works that the first retriever lacks."""
        return cast("CorpusRetriever", self._first).missing(works, *lengths)

    def rank(
        self, claim: Claim, corpus: Corpus, length: int, *, like: tuple[WorkVersion, Span] | None = None
    ) -> Ranking:
        """Rank the spans of `length` sentences of a corpus; the words of a passage asked with are read as a claim."""
        return self.combine(
            claim, corpus, [cast("CorpusRetriever", self._first).rank(claim, corpus, length, like=like)]
        )

    def combine(
        self, claim: Claim, corpus: Corpus, rankings: Sequence[Ranking], progress: Progress = silent
    ) -> Ranking:
        """Reorder the top k of the ranking that the first retriever has made; raises as `scores_of_top`."""
        (ranking,) = rankings
        top, rest = ranking.order[: self._top_k], ranking.order[self._top_k :]
        if len(top):
            found = self.scores_of_top(claim, corpus, ranking, top, progress)
            ranking = replace(ranking, scores=below(found, top, rest, ranking.scores))
        return replace(ranking, retriever=self.name)

    def scores_of_top(
        self, claim: Claim, corpus: Corpus, ranking: Ranking, top: npt.NDArray[np.int64], progress: Progress
    ) -> Scores:
        """Score the top k, given by their places in the ranking of the first retriever; shape (k,)."""
        raise NotImplementedError


class Reranked(Reordering):
    """Has a reranker order the top k; `weight` is what the first retriever's scores count for beside its own."""

    name = "reranked"

    def __init__(self, first: Retriever, reranker: Reranker, *, top_k: int = TOP_K, weight: float = 0.0) -> None:
        super().__init__(first, top_k)
        self._reranker = reranker
        self._weight = weight

    @property
    def configuration(self) -> Mapping[str, str]:
        """What the first retriever and the reranker say of themselves, and what the first counts for."""
        reranker = {f"reranker {name}": value for name, value in self._reranker.configuration.items()}
        return {**super().configuration, "first counts": f"{self._weight:g}", **reranker}

    def scores_of_top(
        self, claim: Claim, corpus: Corpus, ranking: Ranking, top: npt.NDArray[np.int64], progress: Progress
    ) -> Scores:
        """Score the top k by the reranker and the first retriever together.

        Spans of works that went away since it ranked them, or that another edition has replaced, end the top k: this
        shows when they are loaded.
        """
        found = np.full(len(top), np.nan, dtype=np.float32)
        for places, work, spans in loaded(ranking, top, corpus):
            found[places] = scores_of(self._reranker, claim, work, spans, progress)
        gone = np.isnan(found)
        found[~gone] = beside(found[~gone], ranking.scores[top[~gone]], self._weight)
        found[gone] = found[~gone].min(initial=0.0) - 1.0
        return found


def loaded(
    ranking: Ranking, top: npt.NDArray[np.int64], corpus: Corpus
) -> Iterator[tuple[npt.NDArray[np.int64], Work, list[Span]]]:
    """Load the works of the top k, but for those that went away since, or that another edition has replaced.

    Yields: of each work which of the top k are its spans, the work, and the spans.
    """
    for number in dict.fromkeys(ranking.work[top].tolist()):
        places = np.flatnonzero(ranking.work[top] == number)
        spans = [Span(start, ranking.length) for start in ranking.start[top[places]].tolist()]
        with suppress(NotFound):
            work = corpus.load(ranking.works[number])
            if max(span.end for span in spans) <= len(work.sentences):
                yield places, work, spans


def scores_of(
    reranker: Reranker, claim: Claim, work: Work, spans: Sequence[Span], progress: Progress = silent
) -> npt.NDArray[np.float32]:
    """Have a reranker read spans of a work; shape (n_spans,). Raises RelicError: it gave none, or not finite ones."""
    found = reranker.rerank(claim, work, spans, progress)
    if found.shape != (len(spans),) or not np.isfinite(found).all():
        raise RelicError(
            f"The reranker {reranker.name} gave no number for some passage, so the passages cannot be put in order. "
            "Search without it, or take another reranker."
        )
    return found


def beside(found: Scores, first: Scores, weight: float = FIRST) -> Scores:
    """Put what a reranker says of the top k beside what the first retriever said: the sum of both, standardised."""
    return sum_of_shares([share(found), share(first, weight)]) if weight else found


def below(found: Scores, top: npt.NDArray[np.int64], rest: npt.NDArray[np.int64], first: Scores) -> Scores:
    """Put scores of the top k above all others, which keep their order and their ties.

    >>> first = np.array([0.1, 0.9, 0.1, 0.8, 0.5], dtype=np.float32)
    >>> found = np.array([0.5, 2.5], dtype=np.float32)
    >>> below(found, np.array([1, 3]), np.array([4, 0, 2]), first).tolist()
    [-2.0, 0.5, -2.0, 2.5, -1.0]
    """
    scores = np.zeros(len(first), dtype=np.float32)
    scores[top] = found
    if len(rest):
        in_order = first[rest]
        places = np.cumsum(np.append(1, in_order[1:] != in_order[:-1]))
        lowest = np.floor(float(found.min()))
        step = max(1.0, 4.0 * float(np.spacing(np.float32(abs(lowest)))))  # of huge numbers float32 has few
        scores[rest] = lowest - step * places
    return scores


def create(settings: Settings, components: Sequence[Retriever]) -> Reranked:
    """Make the retriever over one other, with the reranker that was chosen, else with the packaged one."""
    (first,) = components
    return Reranked(first, open_reranker(reranker_model(settings)), weight=FIRST)


def reranker_model(settings: Settings) -> str:
    """Name the reranker, as `open_reranker` takes it."""
    return settings.reranker or str(WEIGHTS)
