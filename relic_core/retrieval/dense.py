"""Dense retrieval: the cosine of the claim's vector with the mean of a span's token states, for spans of any length.

A work is read once, whatever the length; `sentence_sums` says what is kept of it and how spans are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from relic_core.config import ASSETS, Settings
from relic_core.domain import LENGTHS, MAX_LENGTH, Claim, Ranking, Scores, Span, Work, WorkVersion
from relic_core.encoders.cards import Similarity, read_card
from relic_core.encoders.late_chunking import load_late_chunking
from relic_core.encoders.towers import PassageEncoder, shared
from relic_core.encoders.weights import find_model
from relic_core.errors import NoIndex, StaleIndex
from relic_core.ports import Encoder, Progress, Retriever, Workers, silent
from relic_core.retrieval import compact, index_files
from relic_core.retrieval.compact import Compact
from relic_core.retrieval.dense_alone import DenseAlone
from relic_core.retrieval.index_files import Arrays
from relic_core.retrieval.sentence_sums import DenseIndex, neighbour_products
from relic_core.retrieval.vectors import Pieces, VectorSearch, check_span

CODE = "dense/1"
"""Version of the arrays' layout and of how the work is cut into blocks; a new one makes old indexes unused."""

TRAINED = ASSETS / "weights" / "dense-relic"
"""The trained model that comes with the program."""

BLOCK = 400
"""Sentences after which, at the end of a chapter, finished work is kept so that a stopped build goes on from there."""


LEAST_HELD = 0.9
"""Share of the sentences that a compact index must hold; one that holds fewer is to be built anew."""


def blocks(work: Work) -> list[range]:
    """Cut a work's sentences into blocks that end with a chapter, or after twice `BLOCK` sentences where none ends."""
    borders = [0]
    for at, (before, after) in enumerate(pairwise(work.sentences), start=1):
        size = at - borders[-1]
        if size >= 2 * BLOCK or (size >= BLOCK and before.chapter != after.chapter):
            borders.append(at)
    if work.sentences:
        borders.append(len(work.sentences))
    return [range(start, stop) for start, stop in pairwise(borders)]


def _part(work: Work, block: range) -> Work:
    """Give a work with some of its sentences, and of its text no more than is read of them."""
    some = work.sentences[block.start : block.stop]
    first, last = some[0].start, some[-1].end
    moved = tuple(replace(each, start=each.start - first, end=each.end - first) for each in some)
    cuts = tuple((start - first, end - first) for start, end in work.cuts if first < end and start < last)
    text = work.text[first:last]
    return replace(work, text=text, sentences=moved, chapters=(), paragraphs=(), left_out=(), cuts=cuts)


def read_blocks(
    root: Path,
    recipe: index_files.Recipe,
    work: Work,
    progress: Progress,
    *,
    encode: Callable[[Work, Progress], Arrays],
    join: Callable[[Sequence[Arrays]], tuple[Arrays, Mapping[str, Any]]],
) -> None:
    """Build the index of a work block by block, unless it is there: see `index_files.build`."""
    if index_files.exists(root, recipe):
        return
    total = len(work.sentences)

    def report(done: int, note: str) -> None:
        progress(done, total, note)

    def make(block: range) -> Arrays:
        def within(done: int, total: int, note: str = "") -> None:
            report(block.start + len(block) * done // max(1, total), note or "Reading the work")

        return encode(_part(work, block), within)

    index_files.build(root, recipe, blocks(work), make=make, join=join, report=report)


class Dense(VectorSearch):
    """Ranks spans by one encoder's vectors, each span pooled from its own tokens in their context."""

    code = CODE
    _encoder: Callable[[], Encoder]

    def __init__(
        self,
        name: str,
        *,
        encoder: Callable[[], Encoder],
        root: Path,
        memory: float = float("inf"),
        similarity: Similarity = "cosine",
        model: str = "",
    ) -> None:
        super().__init__(name, encoder=encoder, root=root, memory=memory, model=model)
        self.similarity: Similarity = similarity
        self._opened = index_files.kept_open(
            root, lambda recipe: DenseIndex(**index_files.load(root, recipe)), most=index_files.files_allowed() // 3
        )
        self._opened_compact = index_files.kept_open(root, lambda recipe: compact.open_compact(root, recipe), most=1)

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What the encoder's vectors are made by, for manifests. Raises as `encoder_identity`."""
        return self._encoder().facts

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:  # noqa: ARG002 - one index serves all
        """Encode a work and keep the index; goes on where an earlier build was stopped.

        Where somebody else is preparing the same work, waits for that. `progress` counts sentences.
        """
        read_blocks(self.root, self.recipe(work.version), work, progress, encode=self.encode, join=self._join)

    def pieces(self, work: Work, lengths: Sequence[int] = LENGTHS) -> list[Pieces]:  # noqa: ARG002 - one index serves all
        """Give the blocks of a work."""
        return [Pieces(self.recipe(work.version), blocks(work), partial(_part, work))]

    def encode(self, content: Work, progress: Progress = silent) -> Arrays:
        """Encode the sentences of a part of a work."""
        sums, counts = self._encoder().encode_sentences(content, progress)
        return {"sums": sums, "counts": counts}

    def _join(self, parts: Sequence[Arrays]) -> tuple[Arrays, Mapping[str, Any]]:
        encoder = self._encoder()
        sums = np.concatenate([*(part["sums"] for part in parts), np.zeros((0, encoder.dimension), dtype=np.float32)])
        counts = np.concatenate([*(part["counts"] for part in parts), np.zeros(0, dtype=np.int32)])
        products = np.stack([neighbour_products(sums, distance) for distance in range(MAX_LENGTH)])
        notes = {"sentences": len(sums), "tokens": int(counts.sum()), "encoder": dict(self.facts)}
        return {"sums": sums, "counts": counts, "products": products}, notes

    def span_vector(self, work: WorkVersion, span: Span) -> npt.NDArray[np.float32]:
        """Pool a span from its work's index: the mean of its token states. Raises as `VectorSearch.span_vector`."""
        check_span(work, span)
        return self.open(work).vector(span, self.similarity)

    def score_vector(self, vector: npt.NDArray[np.float32], work: WorkVersion, length: int) -> Scores:
        """Score every span of `length` sentences against a vector. Raises NoIndex and StaleIndex."""
        return self.open(work).score(vector, length, self.similarity)

    def held(self, works: Sequence[WorkVersion], length: int) -> tuple[list[WorkVersion], int]:
        """List works as `VectorSearch.held`, but those of the compact index without looking at their own.

        Looking at those of thousands of works would take longer than all else; one that is gone is noticed when what
        was found in it is scored.
        """
        index = self._compact(works)
        if index is None:
            return super().held(works, length)
        sizes = {work.id: size for work in works if (size := index.size(work)) is not None}
        beside, more = super().held([work for work in works if work.id not in sizes], length)
        known = sizes.keys() | {work.id for work in beside}
        return [work for work in works if work.id in known], sum(sizes.values()) + more

    def compact_due(self, works: Sequence[WorkVersion], length: int) -> bool:
        """Whether these works are too large for memory and their compact index is still to be built, or built anew."""
        held, size = self.held(works, length)
        if size <= self.memory:
            return False
        index = self._compact(held)
        within = sum(work.sentences for work in held if index is not None and index.holds(work))
        return within < LEAST_HELD * sum(work.sentences for work in held)

    def build_compact(
        self,
        works: Sequence[WorkVersion],
        progress: Progress,
        *,
        claims: Sequence[Claim] = (),
        workers: Workers | None = None,
    ) -> None:
        """Build the compact index of the library where it is due; of works that are prepared, and nothing else."""
        held, _ = super().held(works, 1)
        if self.compact_due(works, 1):
            compact.build(self, held, progress, claims=claims, workers=workers)
        total = sum(work.sentences for work in held)
        progress(total, total, "The library is ready")

    def _rank_many(
        self, vector: npt.NDArray[np.float32], works: Sequence[WorkVersion], size: int, length: int
    ) -> Ranking:
        if size <= self.memory:
            return super()._rank_many(vector, works, size, length)
        index = self._compact(works)
        beside = [work for work in works if index is None or not index.holds(work)]
        if index is None or super().held(beside, length)[1] > self.memory:
            raise NoIndex(
                f"The indexes of {len(works)} works take {size / 1e6:,.0f} MB, and RELIC_LIBRARY_MEMORY allows "
                f"{self.memory / 1e6:,.0f} MB for searching them all. Build the library's compact index, or search "
                "fewer works."
            )
        return self._approximate(vector, works, length, index)

    def _approximate(
        self, vector: npt.NDArray[np.float32], works: Sequence[WorkVersion], length: int, index: Compact
    ) -> Ranking:
        """Score the spans that hold a sentence which the compact index finds, and all of the works it does not hold."""
        found = index.find(vector, [work for work in works if index.holds(work)])
        gone: set[str] = set()
        scored: list[tuple[str, npt.NDArray[np.int64], Scores]] = []
        for work in works:
            if not index.holds(work):
                starts = np.arange(work.candidates(length))
            elif work.id in found:
                starts = compact.spans_of(found[work.id], work, length)
            else:
                continue
            try:
                scored.append((work.id, starts, self.open(work).score_some(vector, starts, length, self.similarity)))
            except StaleIndex:
                gone.add(work.id)
        searched = [work for work in works if work.id not in gone]
        number = {work.id: at for at, work in enumerate(searched)}
        return Ranking(
            retriever=self.name,
            length=length,
            works=tuple(number),
            work=np.repeat(
                np.array([number[work_id] for work_id, *_ in scored], dtype=np.int32),
                [len(starts) for _, starts, _ in scored],
            ),
            start=np.concatenate([np.zeros(0, dtype=np.int64), *(starts for _, starts, _ in scored)]).astype(np.int32),
            scores=np.concatenate([np.zeros(0, dtype=np.float32), *(scores for *_, scores in scored)]),
            candidates=sum(work.candidates(length) for work in searched),
            exact=False,
            recall=index.measured.get(length),
        )

    def _compact(self, works: Sequence[WorkVersion]) -> Compact | None:
        """Open the compact index that holds most of these works; None where there is none, or a damaged one."""
        recipe = compact.newest(self.root, self.name, self.encoder_identity, works)
        if recipe is not None:
            with suppress(StaleIndex):
                return self._opened_compact(recipe)
        return None

    def open(self, work: WorkVersion) -> DenseIndex:
        """Open a work's index, or take it from those that are open. Raises NoIndex and StaleIndex."""
        return self._opened(self.recipe(work))

    def recipe(self, work: WorkVersion, length: int = 1) -> index_files.Recipe:  # noqa: ARG002 - one index serves all
        """Say what the index of a work is made of."""
        return index_files.Recipe.of(work, retriever=self.name, encoder=self.encoder_identity, code=CODE)


def create(settings: Settings, components: Sequence[Retriever]) -> Dense | DenseAlone:  # noqa: ARG001 - the registry's signature
    """Make the zero-shot dense retriever, as the encoder's card says."""
    return _made("zero-shot", settings.model, settings)


def create_trained(settings: Settings, components: Sequence[Retriever]) -> Dense | DenseAlone:  # noqa: ARG001 - as above
    """Make dense-RELiC: with the model that was chosen, else with the one that comes with the program."""
    return _made("dense-relic", trained_model(settings), settings)


def trained_model(settings: Settings) -> str:
    """Name the model of dense-RELiC: a folder or a card."""
    return settings.trained or str(TRAINED)


def checked_encoder(model: str) -> str:
    """Look at the files of an encoder, and give its name. Raises BadWeights: also where it compares single tokens."""
    card = read_card(model)
    card.check_pooled()
    find_model(card.query_model)
    find_model(card.passage_model)
    return card.name


def _made(name: str, model: str, settings: Settings) -> Dense | DenseAlone:
    card = read_card(model)
    card.check_pooled()
    root, memory = settings.indexes, settings.library_memory * 1e6
    if card.spans == "alone":
        alone = cache(lambda: shared(PassageEncoder(card)))
        return DenseAlone(name, encoder=alone, root=root, memory=memory, model=model)
    # Asked for its identity at every look at an index, and what makes it reads files.
    encoder = cache(lambda: load_late_chunking(card))
    return Dense(name, encoder=encoder, root=root, memory=memory, similarity=card.similarity, model=model)
