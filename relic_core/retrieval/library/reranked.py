"""A ranking over many works whose head a reranker reorders: `relic_core.retrieval.reranked`, of a whole library.

The texts of the head's works have to be loaded, since the ranking itself holds none.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from relic_core.domain import Span
from relic_core.errors import NotFound
from relic_core.retrieval.reranked import below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.config import Settings
    from relic_core.domain import Claim, LibraryRanking, Work, WorkVersion
    from relic_core.ports import LibraryRetriever, Retriever
    from relic_core.retrieval.reranked import Reranked


class LibraryReranked:
    """Ranks many works as another retriever does, but for the first hundred spans."""

    def __init__(self, reranked: Reranked, first: LibraryRetriever, load: Callable[[str], Work]) -> None:
        self._reranked = reranked
        self._first = first
        self._load = load

    @property
    def name(self) -> str:
        """The registered name."""
        return self._reranked.name

    def missing(self, works: Sequence[WorkVersion], length: int) -> tuple[str, ...]:
        """Give the ids of the works that the first retriever lacks."""
        return self._first.missing(works, length)

    def rank(
        self, claim: Claim, works: Sequence[WorkVersion], length: int, *, like: tuple[WorkVersion, Span] | None = None
    ) -> LibraryRanking:
        """Rank the spans of `length` sentences of some works; raises what the first retriever and the reranker raise.

        Where passages like one are looked for, its words are read as a claim.
        """
        return self.reorder(claim, self._first.rank(claim, works, length, like=like))

    def reorder(self, claim: Claim, ranking: LibraryRanking) -> LibraryRanking:
        """Reorder the head of a ranking that the first retriever has made already.

        Spans of works that went away since it was made, or that another edition has replaced, end the head: whoever
        loads them finds out. Raises what the reranker raises.
        """
        best = ranking.best(len(ranking))
        head, rest = best[: self._reranked.head], best[self._reranked.head :]
        if not len(head):
            return replace(ranking, retriever=self.name)
        found = np.full(len(head), np.nan, dtype=np.float32)
        for number in dict.fromkeys(ranking.work[head].tolist()):
            places = np.flatnonzero(ranking.work[head] == number)
            spans = [Span(start, ranking.length) for start in ranking.start[head[places]].tolist()]
            with suppress(NotFound):
                work = self._load(ranking.works[number])
                if max(span.end for span in spans) <= len(work.sentences):
                    found[places] = self._reranked.read(claim, work, spans)
        gone = np.isnan(found)
        found[~gone] = self._reranked.beside(found[~gone], ranking.scores[head[~gone]])
        found[gone] = found[~gone].min(initial=0.0) - 1.0
        return replace(ranking, retriever=self.name, scores=below(found, head, rest, ranking.scores))


def create_library(
    settings: Settings,  # noqa: ARG001 - the registry's signature
    retriever: Retriever,
    components: Sequence[LibraryRetriever],
    load: Callable[[str], Work],
) -> LibraryReranked:
    """Make the reranking of many works' head."""
    (first,) = components
    return LibraryReranked(cast("Reranked", retriever), first, load)
