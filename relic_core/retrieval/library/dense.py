"""Dense retrieval over many works at once: every span scored where memory allows, else those that are likely best.

A search reads the indexes of single works, which stay open and memory-mapped, and scores are those that each work's own
search gives. Where the indexes of the works searched are together larger than the settings allow, the compact index of
the library is asked first, and works that it does not hold are searched exactly beside it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, cast

import numpy as np

from relic_core.domain import LibraryRanking
from relic_core.errors import NoIndex, StaleIndex
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.kept import LRUCache
from relic_core.retrieval.library import compact
from relic_core.retrieval.open_indexes import OpenIndexes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Scores, Span, Work, WorkVersion
    from relic_core.ports import LibraryRetriever, Progress, Retriever
    from relic_core.retrieval.dense_alone import DenseAlone
    from relic_core.retrieval.library.compact import Compact

    Ints = npt.NDArray[np.int32]

THREADS = min(4, os.cpu_count() or 1)
"""Works scored at the same time; memory, not arithmetic, is what a search waits for."""

LEAST_HELD = 0.9
"""Share of the sentences that a compact index must hold; one that holds fewer is to be built anew."""

_PLACES_BYTES = 50_000_000
"""Kept of where spans stand: 8 bytes for each, so all five lengths of a library of more than a million sentences."""


class LibraryDense:
    """Ranks the spans of many works by the vectors of one encoder.

    - `retriever`: who has prepared the works.
    - `memory`: in bytes: how large the indexes of the works searched may be together for every span to be scored.
    """

    def __init__(self, retriever: Dense | DenseAlone, *, memory: float) -> None:
        self._retriever = retriever
        self._memory = memory
        self._places: LRUCache[tuple[Ints, Ints]] = LRUCache(
            _PLACES_BYTES, lambda made: sum(array.nbytes for array in made)
        )
        self._compacts: OpenIndexes[Compact] = OpenIndexes(
            retriever.root,
            itemgetter(compact.FILE),
            files=1,
            load=lambda root, recipe: {compact.FILE: compact.open_compact(root, recipe)},
        )
        # Of spans encoded one by one there is no compact index: what memory does not hold is read from disk.
        self._pooling = retriever if isinstance(retriever, Dense) else None

    @property
    def name(self) -> str:
        """The registered name of the retriever whose works it searches."""
        return self._retriever.name

    def missing(self, works: Sequence[WorkVersion], length: int) -> tuple[str, ...]:
        """Give the ids of the works that have not been prepared, or whose index is damaged.

        Raises BadWeights: the encoder's files are missing or not the expected ones.
        """
        return tuple(work.id for work in works if not self._retriever.prepared(work, length))

    def compact_due(self, works: Sequence[WorkVersion], length: int) -> bool:
        """Whether these works are too large for memory and their compact index is still to be built, or built anew."""
        held, size = self._held(works, length)
        if self._pooling is None or size <= self._memory:
            return False
        return self._share(self._compact(self._pooling, held), held) < LEAST_HELD

    def prepare(self, works: Sequence[WorkVersion], progress: Progress, *, claims: Sequence[Claim] = ()) -> None:
        """Build the compact index of the library where it is due; of works that are prepared, and nothing else.

        - `progress`: told of sentences, each counting twice.
        - `claims`: real questions that recall is measured on, beside made ones.

        Raises StoreReadOnly: the folder of indexes cannot be written.
        Raises StaleIndex: a work's index was found to be damaged, or went away meanwhile.
        """
        held, _ = self._held(works, 1)
        if self._pooling and self.compact_due(works, 1):
            compact.build(self._pooling, held, progress, claims=claims)
        total = 2 * sum(work.sentences for work in held)
        progress(total, total, "The library is ready")

    def rank(
        self, claim: Claim, works: Sequence[WorkVersion], length: int, *, like: tuple[WorkVersion, Span] | None = None
    ) -> LibraryRanking:
        """Rank the spans of `length` sentences of some works; those that are not prepared are passed over.

        Raises BadClaim: the claim holds no word.
        Raises NoIndex: the work of `like` has not been prepared; or the works are too large for memory and no compact
        index holds them.
        Raises BadWeights: the encoder's files are missing or not the expected ones.
        """
        vector = self._retriever.span_vector(*like) if like else self._retriever.claim_vector(claim)
        held, size = self._held(works, length)
        if self._pooling is None or size <= self._memory:
            return self._exact(vector, held, length)
        compact = self._compact(self._pooling, held)
        beside = [work for work in held if compact is None or not compact.holds(work)]
        if compact is None or self._held(beside, length)[1] > self._memory:
            raise NoIndex(
                f"The indexes of {len(held)} works take {size / 1e6:,.0f} MB, and RELIC_LIBRARY_MEMORY allows "
                f"{self._memory / 1e6:,.0f} MB for searching them all. Build the library's compact index, or search "
                "fewer works."
            )
        return self._approximate(vector, held, length, self._pooling, compact)

    def _exact(self, vector: npt.NDArray[np.float32], works: Sequence[WorkVersion], length: int) -> LibraryRanking:
        def score(work: WorkVersion) -> Scores | None:
            with suppress(StaleIndex):  # damaged, or deleted since we looked: passed over, as `missing` says next time
                return self._retriever.score_vector(vector, work, length)
            return None

        with ThreadPoolExecutor(THREADS) as pool:
            scored = [
                (work, scores) for work, scores in zip(works, pool.map(score, works), strict=True) if scores is not None
            ]
        number, start = self._all_places(tuple(len(scores) for _, scores in scored))
        return LibraryRanking(
            retriever=self.name,
            length=length,
            works=tuple(work.id for work, _ in scored),
            work=number,
            start=start,
            scores=np.concatenate([np.zeros(0, dtype=np.float32), *(scores for _, scores in scored)]),
            candidates=len(start),
        )

    def _approximate(
        self, vector: npt.NDArray[np.float32], works: Sequence[WorkVersion], length: int, dense: Dense, index: Compact
    ) -> LibraryRanking:
        """Score the spans that hold a sentence which the compact index finds, and all of the works it does not hold."""
        found = index.find(vector, [work for work in works if index.holds(work)])
        searched: list[str] = []
        places, scores, candidates = [], [], 0
        for work in works:
            starts = np.arange(work.candidates(length))
            if index.holds(work):
                starts = compact.spans_of(found.get(work.id, starts[:0]), work, length)
            with suppress(StaleIndex):
                scores.append(dense.open(work).score_some(vector, starts, length, dense.similarity))
                places.append(starts)
                searched.append(work.id)
                candidates += work.candidates(length)
        return LibraryRanking(
            retriever=self.name,
            length=length,
            works=tuple(searched),
            work=np.repeat(np.arange(len(places), dtype=np.int32), [len(starts) for starts in places]),
            start=np.concatenate([np.zeros(0, dtype=np.int64), *places]).astype(np.int32),
            scores=np.concatenate([np.zeros(0, dtype=np.float32), *scores]),
            candidates=candidates,
            exact=False,
            recall=index.measured.get(length),
        )

    def _held(self, works: Sequence[WorkVersion], length: int) -> tuple[list[WorkVersion], int]:
        """List the works that are prepared, and give the bytes of their indexes."""
        held, size = [], 0
        for work in works:
            with suppress(StaleIndex):
                size += self._retriever.size(work, length)
                held.append(work)
        return held, size

    def _compact(self, dense: Dense, works: Sequence[WorkVersion]) -> Compact | None:
        """Open the compact index that holds most of these works; None where there is none, or a damaged one."""
        recipe = compact.newest(dense.root, self.name, dense.encoder_identity, works)
        if recipe is None:
            return None
        with suppress(StaleIndex):
            return self._compacts.get(recipe)
        return None

    @staticmethod
    def _share(compact: Compact | None, works: Sequence[WorkVersion]) -> float:
        """Give the share of the works' sentences that a compact index holds."""
        total = sum(work.sentences for work in works)
        held = sum(work.sentences for work in works if compact is not None and compact.holds(work))
        return held / total if total else 1.0

    def _all_places(self, counts: tuple[int, ...]) -> tuple[Ints, Ints]:
        """Say of each span, of works with so many, which work it is of and where it begins; the last few are kept."""

        def make() -> tuple[Ints, Ints]:
            starts = [np.zeros(0, dtype=np.int32), *(np.arange(count, dtype=np.int32) for count in counts)]
            made = (np.repeat(np.arange(len(counts), dtype=np.int32), counts), np.concatenate(starts))
            for array in made:
                array.flags.writeable = False  # shared by all rankings of these works
            return made

        return self._places.get(counts, make)


def create_library(
    settings: Settings,
    retriever: Retriever,
    components: Sequence[LibraryRetriever],  # noqa: ARG001 - the registry's signature
    load: Callable[[str], Work],  # noqa: ARG001 - the registry's signature
) -> LibraryDense:
    """Make the search of many works by the zero-shot dense retriever, from the indexes of the single works."""
    return LibraryDense(cast("Dense | DenseAlone", retriever), memory=settings.library_memory * 1e6)
