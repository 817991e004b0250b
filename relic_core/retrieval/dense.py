"""Dense retrieval: the cosine of the claim's vector with the mean of a span's token states, for spans of any length.

The index holds per sentence the sum of its tokens' states and the inner products with the sums of the next sentences.
A span's sum is the sum of its sentences' sums, and the count of its tokens cancels out of the cosine:

    cos(q, span) = sum_i <q, s_i> / sqrt(sum_i sum_j <s_i, s_j>)

so one product of the claim with all sentences serves every length, and no matrix of spans is ever made. Where the
encoder's card asks for inner products, the count of tokens stays in:

    dot(q, span) = sum_i <q, s_i> / sum_i n_i

Windows are summed by shifted additions; float32 cumulative sums over a long work would lose the order of near-equal
spans.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LENGTHS, MAX_LENGTH
from relic_core.encoders.cards import read_card
from relic_core.retrieval import index_builds, index_files
from relic_core.retrieval.claims import claim_tokens
from relic_core.retrieval.dense_alone import CLAIMS, DenseAlone
from relic_core.retrieval.open_indexes import OpenIndexes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Scores, Work
    from relic_core.encoders.cards import Similarity
    from relic_core.ports import Encoder, PassageEncoder, Progress, Retriever

    Floats = npt.NDArray[np.floating]

CODE = "dense/1"
"""Version of the arrays' layout and of how the work is cut into blocks; a new one makes old indexes unused."""

BLOCK = 400
"""Sentences after which, at the end of a chapter, finished work is kept so that a stopped build goes on from there."""


class DenseIndex:
    """The index of one work, open.

    Parameters
    ----------
    sums : float32 array, shape (n_sentences, dimension)
        Per sentence the sum of its tokens' states.
    products : float32 array, shape (n_distances, n_sentences)
        ``products[d, i]`` is the inner product of the sums of sentences ``i`` and ``i + d``; zero past the end.
    counts : int32 array, shape (n_sentences,)
        Tokens of each sentence, at least 1.
    """

    def __init__(
        self,
        sums: npt.NDArray[np.float32],
        products: npt.NDArray[np.float32],
        counts: npt.NDArray[np.int32],
    ) -> None:
        self.sums = sums
        self._products = products
        self._counts = counts
        self._inverse_norms: dict[int, npt.NDArray[np.float64]] = {}

    def score(self, query: npt.NDArray[np.float32], length: int, similarity: Similarity = "cosine") -> Scores:
        """Score every span of `length` sentences against a query, which is of length 1 where cosines are wanted.

        Returns
        -------
        float32 array, shape (n_candidates,)
            Cosines, -1 to 1, or inner products with the means of the spans' token states.
        """
        if len(self.sums) < length:
            return np.zeros(0, dtype=np.float32)
        products = (self.sums @ query).astype(np.float64)  # (n_sentences,)
        if similarity == "dot":
            tokens = _window_sums(self._counts.astype(np.float64), length)
            return (_window_sums(products, length) / tokens).astype(np.float32)
        cosines = _window_sums(products, length) * self._inverse_norm(length)
        return np.clip(cosines, -1.0, 1.0).astype(np.float32)

    def _inverse_norm(self, length: int) -> npt.NDArray[np.float64]:
        """One over the norm of each span's sum; 0 where the sum is zero. Shape (n_candidates,)."""
        if length not in self._inverse_norms:
            squares = _window_sums(self._product(0), length)
            for distance in range(1, length):
                pairs = self._product(distance)[: len(self.sums) - distance]
                squares += 2.0 * _window_sums(pairs, length - distance)
            norms = np.sqrt(np.maximum(squares, 0.0))
            self._inverse_norms[length] = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        return self._inverse_norms[length]

    def _product(self, distance: int) -> npt.NDArray[np.float64]:
        """Inner products of sentences `distance` apart; those the index does not hold are made when asked for."""
        held = distance < len(self._products)
        products = self._products[distance] if held else neighbour_products(self.sums, distance)
        return np.asarray(products, dtype=np.float64)


def neighbour_products(sums: npt.NDArray[np.float32], distance: int) -> npt.NDArray[np.float32]:
    """Multiply the sum of each sentence with that of the sentence `distance` further on.

    Returns
    -------
    float32 array, shape (n_sentences,)
        The last `distance` entries are zero.
    """
    found = np.zeros(len(sums), dtype=np.float32)
    if distance < len(sums):
        np.einsum("ij,ij->i", sums[: len(sums) - distance], sums[distance:], out=found[: len(sums) - distance])
    return found


def _window_sums(values: npt.NDArray[np.float64], length: int) -> npt.NDArray[np.float64]:
    """Add up each run of `length` neighbours.

    Examples
    --------
    >>> _window_sums(np.array([1.0, 2.0, 4.0, 8.0]), 3).tolist()
    [7.0, 14.0]
    """
    candidates = len(values) - length + 1
    total = values[:candidates].copy()
    for shift in range(1, length):
        total += values[shift : shift + candidates]
    return total


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

    Parameters
    ----------
    name : str
        The registered name.
    encoder : callable
        Gives the encoder; called when first needed.
    root : Path
        Folder of all indexes.
    similarity : {"cosine", "dot"}, optional
        How the claim's vector is compared with a span's mean.
    """

    def __init__(
        self, name: str, *, encoder: Callable[[], Encoder], root: Path, similarity: Similarity = "cosine"
    ) -> None:
        self._name = name
        self._encoder = encoder
        self._root = root
        self._similarity: Similarity = similarity
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
    def configuration(self) -> Mapping[str, str]:
        """The encoder, and the versions of the index and of the claims. Raises as `encoder_identity`."""
        return {"encoder": self.encoder_identity, "code": CODE, "claims": CLAIMS}

    def ready(self, work: Work, length: int) -> bool:  # noqa: ARG002 - one index serves every length
        """Whether the work's index is there and whole."""
        return index_files.exists(self._root, self._recipe(work))

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:  # noqa: ARG002 - one index serves all
        """Encode a work and keep the index; goes on where an earlier build was stopped.

        Where somebody else is preparing the same work, waits for that, and `progress` is told.

        Raises
        ------
        StoreReadOnly
            The folder of indexes cannot be written.
        BadWeights
            The encoder's files are missing or not the expected ones.
        """
        recipe = self._recipe(work)
        if index_files.exists(self._root, recipe):
            return

        def waiting() -> None:
            progress(0, len(work.sentences), "Another program is preparing this work")

        with index_builds.building(self._root, recipe, while_waiting=waiting):
            if not index_files.exists(self._root, recipe):  # nobody finished it during the wait
                self._build(recipe, work, progress)

    def _build(self, recipe: index_files.Recipe, work: Work, progress: Progress) -> None:
        began = time.perf_counter()
        parts = index_builds.Parts(self._root, recipe)
        total = len(work.sentences)
        sums: list[npt.NDArray[np.float32]] = []
        counts: list[npt.NDArray[np.int32]] = []
        progress(0, total, "Loading the encoder")
        for number, block in enumerate(blocks(work)):
            part = parts.load(number)
            if part is None or len(part["counts"]) != len(block):
                some = replace(work, sentences=work.sentences[block.start : block.stop])
                encoded = self._encoder().encode_sentences(some, _silent)
                part = {"sums": encoded[0], "counts": encoded[1]}
                parts.save(number, part)
            sums.append(part["sums"])
            counts.append(part["counts"])
            progress(block.stop, total, "Reading the work")
        dimension = self._encoder().dimension if not sums else sums[0].shape[1]
        joined = np.concatenate([*sums, np.zeros((0, dimension), dtype=np.float32)])
        tokens = np.concatenate([*counts, np.zeros(0, dtype=np.int32)])
        products = np.stack([neighbour_products(joined, distance) for distance in range(MAX_LENGTH)])
        index_files.save(
            self._root,
            recipe,
            {"sums": joined, "counts": tokens, "products": products},
            notes={
                "sentences": total,
                "tokens": int(tokens.sum()),
                "seconds": round(time.perf_counter() - began, 2),
            },
        )
        parts.clear()

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences.

        Returns
        -------
        float32 array, shape (n_candidates,)
            Cosines, -1 to 1, or inner products, as the encoder's card says.

        Raises
        ------
        BadClaim
            The claim holds no word.
        NoIndex
            The work has not been prepared.
        StaleIndex
            The index is damaged.
        """
        claim_tokens(claim)
        index = self._indexes.get(self._recipe(work))
        return index.score(self._encoder().encode_claims([claim])[0], length, self._similarity)

    def _recipe(self, work: Work) -> index_files.Recipe:
        return index_files.Recipe(
            retriever=self._name,
            work_id=work.id,
            title=work.title,
            work=work.fingerprint,
            segmenter=work.segmenter,
            encoder=self.encoder_identity,
            code=CODE,
        )


def _silent(done: int, total: int, note: str = "") -> None:
    """Report nothing: progress is told block by block."""


def create(settings: Settings, components: Sequence[Retriever]) -> Dense | DenseAlone:  # noqa: ARG001 - the registry's signature
    """Make the zero-shot dense retriever, as the encoder's card says.

    Raises
    ------
    BadWeights
        There is no such encoder, or its card cannot be followed.
    """
    card = read_card(settings.model)
    if card.spans == "alone":

        def plain() -> PassageEncoder:
            from relic_core.encoders.loading import load_alone

            return load_alone(card)

        return DenseAlone("zero-shot", encoder=plain, root=settings.indexes)

    def encoder() -> Encoder:
        from relic_core.encoders.loading import load_one_pass

        return load_one_pass(card)

    return Dense("zero-shot", encoder=encoder, root=settings.indexes, similarity=card.similarity)
