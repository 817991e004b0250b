"""Dense retrieval: the cosine of the claim's vector with the mean of a span's token states, for spans of any length.

A work is read once, whatever the length; `sentence_sums` says what is kept of it and how spans are scored.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.config import ASSETS
from relic_core.domain import LENGTHS, MAX_LENGTH
from relic_core.encoders.cards import read_card
from relic_core.retrieval import index_builds, index_files
from relic_core.retrieval.claims import check_span, claim_tokens
from relic_core.retrieval.dense_alone import CLAIMS, DenseAlone
from relic_core.retrieval.open_indexes import OpenIndexes
from relic_core.retrieval.sentence_sums import DenseIndex, neighbour_products

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Scores, Span, Work, WorkVersion
    from relic_core.encoders.cards import Similarity
    from relic_core.encoders.passage_encoder import PassageEncoder
    from relic_core.ports import Encoder, Progress, Retriever
    from relic_core.retrieval.index_files import Arrays

CODE = "dense/1"
"""Version of the arrays' layout and of how the work is cut into blocks; a new one makes old indexes unused."""

TRAINED = ASSETS / "weights" / "dense-relic"
"""The trained model that comes with the program."""

BLOCK = 400
"""Sentences after which, at the end of a chapter, finished work is kept so that a stopped build goes on from there."""


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


class Dense:
    """Ranks spans by one encoder's vectors, each span pooled from its own tokens in their context.

    - `encoder`: gives the encoder; called when first needed.
    - `similarity`: how the claim's vector is compared with a span's mean.
    """

    def __init__(
        self, name: str, *, encoder: Callable[[], Encoder], root: Path, similarity: Similarity = "cosine"
    ) -> None:
        self._name = name
        self._encoder = encoder
        self.similarity: Similarity = similarity
        self.root = root
        self._indexes = OpenIndexes(
            root, lambda arrays: DenseIndex(arrays["sums"], arrays["products"], arrays["counts"])
        )

    @property
    def name(self) -> str:
        """The registered name."""
        return self._name

    @property
    def encoder_identity(self) -> str:
        """Identity of the encoder. Raises BadWeights where its files are missing or not the expected ones."""
        return self._encoder().identity

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What the encoder's vectors are made by, for manifests. Raises as `encoder_identity`."""
        return self._encoder().facts

    @property
    def configuration(self) -> Mapping[str, str]:
        """The encoder, and the versions of the index and of the claims. Raises as `encoder_identity`."""
        return {"encoder": self.encoder_identity, "code": CODE, "claims": CLAIMS}

    def ready(self, work: Work, length: int) -> bool:
        """Whether the work's index is there and whole."""
        return self.prepared(work.imprint, length)

    def prepared(self, work: WorkVersion, length: int) -> bool:  # noqa: ARG002 - one index serves every length
        """Whether the work's index is there and whole."""
        return index_files.exists(self.root, self._recipe(work))

    def size(self, work: WorkVersion, length: int) -> int:  # noqa: ARG002 - one index serves every length
        """Give the bytes of a work's index. Raises NoIndex and StaleIndex."""
        return index_files.size(self.root, self._recipe(work))

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:  # noqa: ARG002 - one index serves all
        """Encode a work and keep the index; goes on where an earlier build was stopped.

        Where somebody else is preparing the same work, waits for that. `progress` is told of sentences.

        Raises StoreReadOnly: the folder of indexes cannot be written.
        Raises BadWeights: the encoder's files are missing or not the expected ones.
        """
        recipe = self._recipe(work.imprint)
        if index_files.exists(self.root, recipe):
            return
        total = len(work.sentences)

        def told(done: int, note: str) -> None:
            progress(done, total, note)

        def make(block: range) -> Arrays:
            def within(done: int, total: int, note: str = "") -> None:
                told(block.start + len(block) * done // max(1, total), note or "Reading the work")

            some = replace(work, sentences=work.sentences[block.start : block.stop])
            sums, counts = self._encoder().encode_sentences(some, within)
            return {"sums": sums, "counts": counts}

        index_builds.build(self.root, recipe, blocks(work), make=make, join=self._join, told=told)

    def _join(self, parts: Sequence[Arrays]) -> tuple[Arrays, Mapping[str, Any]]:
        encoder = self._encoder()
        sums = np.concatenate([*(part["sums"] for part in parts), np.zeros((0, encoder.dimension), dtype=np.float32)])
        counts = np.concatenate([*(part["counts"] for part in parts), np.zeros(0, dtype=np.int32)])
        products = np.stack([neighbour_products(sums, distance) for distance in range(MAX_LENGTH)])
        notes = {"sentences": len(sums), "tokens": int(counts.sum()), "encoder": dict(self.facts)}
        return {"sums": sums, "counts": counts, "products": products}, notes

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences.

        Returns: cosines, -1 to 1, or inner products, as the encoder's card says.

        Raises BadClaim: the claim holds no word.
        Raises NoIndex: the work has not been prepared.
        Raises StaleIndex: the index is damaged.
        """
        claim_tokens(claim)
        index = self.open(work.imprint)
        return index.score(self.claim_vector(claim), length, self.similarity)

    def claim_vector(self, claim: Claim) -> npt.NDArray[np.float32]:
        """Encode a claim; shape (dimension,). Raises BadClaim where it holds no word."""
        claim_tokens(claim)
        vector: npt.NDArray[np.float32] = self._encoder().encode_claims([claim])[0]
        return vector

    def span_vector(self, work: WorkVersion, span: Span) -> npt.NDArray[np.float32]:
        """Pool a span from its work's index.

        Returns: the mean of its token states, of length 1 where cosines are compared.

        Raises BadRequest: the work ends before the span does.
        Raises NoIndex, StaleIndex: as `score`.
        """
        check_span(work, span)
        return self.open(work).vector(span, self.similarity)

    def score_vector(self, vector: npt.NDArray[np.float32], work: WorkVersion, length: int) -> Scores:
        """Score every span of `length` sentences; as `score`, for a vector."""
        return self.open(work).score(vector, length, self.similarity)

    def open(self, work: WorkVersion) -> DenseIndex:
        """Open a work's index, or take it from those that are open. Raises NoIndex and StaleIndex."""
        return self._indexes.get(self._recipe(work))

    def _recipe(self, work: WorkVersion) -> index_files.Recipe:
        return index_files.Recipe.of(work, retriever=self._name, encoder=self.encoder_identity, code=CODE)


def create(settings: Settings, components: Sequence[Retriever]) -> Dense | DenseAlone:  # noqa: ARG001 - the registry's signature
    """Make the zero-shot dense retriever, as the encoder's card says.

    Raises BadWeights: there is no such encoder, or its card cannot be followed.
    """
    return _made("zero-shot", settings.model, settings.indexes)


def create_trained(settings: Settings, components: Sequence[Retriever]) -> Dense | DenseAlone:  # noqa: ARG001 - as above
    """Make dense-RELiC: with the model that was chosen, else with the one that comes with the program.

    Raises BadWeights: there is no such model, or its card cannot be followed.
    """
    return _made("dense-relic", trained_model(settings), settings.indexes)


def trained_model(settings: Settings) -> str:
    """Name the model of dense-RELiC: a folder or a card."""
    return settings.trained or str(TRAINED)


def _made(name: str, model: str, root: Path) -> Dense | DenseAlone:
    card = read_card(model)
    if card.spans == "alone":

        @cache
        def plain() -> PassageEncoder:
            from relic_core.encoders.passage_encoder import load_passage_encoder

            return load_passage_encoder(card)

        return DenseAlone(name, encoder=plain, root=root)

    @cache  # asked for its identity at every look at an index, and what makes it reads files
    def encoder() -> Encoder:
        from relic_core.encoders.late_chunking import load_late_chunking

        return load_late_chunking(card)

    return Dense(name, encoder=encoder, root=root, similarity=card.similarity)
