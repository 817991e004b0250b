"""Rankings that another system made and that were taken in: the passages it named, in its order, and no others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

import numpy as np

from relic_core.config import Settings
from relic_core.domain import GAP, Claim, Scores, Work
from relic_core.errors import RelicError
from relic_core.ports import Retriever
from relic_core.store import Store
from relic_core.text.words import tokens


class Imported(Retriever):
    """Ranks as another system did; `starts` gives where its candidates of a length start, best first."""

    configuration = {"code": "imported/1"}  # noqa: RUF012 - as the port says

    def __init__(self, name: str, starts: Callable[[Claim, Work, int], Iterable[int]]) -> None:
        self._name = name
        self._starts = starts

    @property
    def name(self) -> str:
        """The name that the system's run has as a retriever."""
        return self._name

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span; 0 where the system named none. Raises what `starts` raises."""
        starts = list(dict.fromkeys(self._starts(claim, work, length)))
        scores = np.zeros(work.candidates(length), dtype=np.float32)
        scores[starts] = np.arange(len(starts), 0, -1)
        return scores


def stored(name: str, settings: Settings) -> Imported:
    """Give the rankings of a system that are in the store. They answer the claims that it was given, to the word."""
    rows = Store(settings.store, lock_seconds=settings.lock_seconds).runs

    def starts(claim: Claim, work: Work, length: int) -> Iterable[int]:
        places = rows.imported_ranking(name, claim_digest(claim), work.sha256)
        if places is None:
            raise RelicError("The system's file ranks no claim of these very words for this work.")
        spans = (work.span_between(*place) for place in places)
        return [work.span_around(span, length).start for span in spans if span]

    return Imported(name, starts)


def claim_digest(claim: Claim) -> str:
    """Name a claim by its words, whatever their marks and capitals."""
    words = " ".join([*tokens(claim.left), *[GAP] * claim.masked, *tokens(claim.right)])
    return hashlib.sha256(words.encode()).hexdigest()
