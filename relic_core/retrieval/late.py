"""Late interaction: each token of the claim meets the token of the passage that is nearest to it.

    score(span) = sum_i w_i max_j <q_i, d_j>

over the tokens j of the span (MaxSim, Khattab and Zaharia 2020, "ColBERT"). The tokens are those of the one pass over
the work, which have seen what stands around them. A span's maxima are the maxima of its sentences', so that one product
of the claim with the tokens of a work serves every length.

Of each token one number of 8 bits a dimension is kept, and a scale. That takes a work hundreds of megabytes and a claim
seconds, so the head of another ranking is put in order, by this score and that ranking's own together, as a reranker
does it, and the rest stays as it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.config import Settings
from relic_core.domain import LENGTHS, Claim, Corpus, Ranking, Scores, Span, Work, WorkVersion, best_first
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.late_chunking import ClaimTokens, LateChunkingEncoder, load_late_chunking
from relic_core.errors import BadWeights, RelicError
from relic_core.ports import Progress, Retriever, silent
from relic_core.retrieval import index_files
from relic_core.retrieval.dense import blocks, read_blocks, trained_model
from relic_core.retrieval.index_files import Arrays
from relic_core.retrieval.reranked import Reordering, beside
from relic_core.retrieval.sentence_sums import times
from relic_core.text.masking import claim_tokens
from relic_core.text.words import content_tokens

Vectors = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]

CODE = "late/1"
"""Version of the arrays' layout and of how a claim meets them; a new one makes old indexes unused."""

_LARGEST = 127
_AT_ONCE = 4096
"""Tokens of a work that are multiplied at once: what they make stays in a processor's cache."""
_OPEN = 8
"""Works whose indexes stay open, and claims whose tokens stay known."""
_MATCHES = 6


class LateIndex:
    """The tokens of one work, open.

    - `counts`: tokens of each sentence, at least 1.
    - `codes`, `scales`: a token's vector is its codes, shape (n_tokens, dimension), times its scale.
    """

    def __init__(
        self, counts: npt.NDArray[np.int32], codes: npt.NDArray[np.int8], scales: npt.NDArray[np.float16]
    ) -> None:
        self._counts = np.asarray(counts, dtype=np.int64)
        self._ends = np.cumsum(self._counts)
        self._codes = np.asarray(codes)
        self._scales = np.asarray(scales)

    @staticmethod
    def arrays(vectors: Vectors, counts: npt.NDArray[np.int32]) -> Arrays:
        """Make the arrays of the vectors of tokens; no number of a vector is off by more than half its scale."""
        scales = (np.abs(vectors).max(axis=1, initial=0.0) / _LARGEST).astype(np.float16)
        steps = np.where(scales > 0, scales, 1).astype(np.float32)[:, None]
        codes = np.clip(np.rint(vectors / steps), -_LARGEST, _LARGEST).astype(np.int8)
        return {"counts": counts, "codes": codes, "scales": scales}

    def vectors(self, span: Span) -> Vectors:
        """Give the vectors of the tokens of a span."""
        rows = slice(self._ends[span.start] - self._counts[span.start], self._ends[span.end - 1])
        return self._codes[rows].astype(np.float32) * self._scales[rows].astype(np.float32)[:, None]

    def maxima(self, claim: Vectors, sentences: Places) -> Vectors:
        """Give for each of some sentences how near it comes to each token of a claim; (n_sentences, n_claim_tokens)."""
        found = np.zeros((len(sentences), len(claim)), dtype=np.float32)
        counts = self._counts[sentences]
        ends, first = np.cumsum(counts), self._ends[sentences] - counts
        at = 0
        while at < len(sentences):
            before = int(ends[at] - counts[at])
            stop = max(at + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
            own = ends[at:stop] - counts[at:stop] - before
            rows = np.repeat(first[at:stop] - own, counts[at:stop]) + np.arange(counts[at:stop].sum())
            products = self._codes[rows].astype(np.float32) @ claim.T
            products *= self._scales[rows].astype(np.float32)[:, None]
            found[at:stop] = np.maximum.reduceat(products, own, axis=0)
            at = stop
        return found

    def score(self, claim: ClaimTokens, starts: Places, length: int) -> Scores:
        """Score the spans of `length` sentences that begin at `starts`, reading the tokens of their sentences alone."""
        if not len(starts):
            return np.zeros(0, dtype=np.float32)
        sentences, where = np.unique(starts[:, None] + np.arange(length), return_inverse=True)
        return span_scores(self.maxima(claim.vectors, sentences), where.reshape(-1, length), claim.weights)


def span_scores(maxima: Vectors, sentences: Places, weights: Vectors) -> Scores:
    """Score spans, each given by the rows of its sentences among `maxima`; shape (n_spans,).

    >>> maxima = np.array([[1, 0], [0, 3]], dtype=np.float32)
    >>> span_scores(maxima, np.array([[0, 1]]), np.array([1, 0.5], dtype=np.float32)).tolist()
    [2.5]
    """
    best = maxima[sentences[:, 0]]
    for others in sentences.T[1:]:
        np.maximum(best, maxima[others], out=best)
    return times(best, weights)


class Late(Reordering):
    """Puts the top k of a ranking in the order of late interaction; `weight` is what the ranking itself counts for."""

    name = "late"

    def __init__(
        self,
        first: Retriever,
        *,
        encoder: Callable[[], LateChunkingEncoder],
        root: Path,
        top_k: int,
        weight: float = 1.0,
    ) -> None:
        super().__init__(first, top_k)
        self._weight = weight
        self._encoder = encoder
        self._root = root
        self._opened = index_files.kept_open(
            root, lambda recipe: LateIndex(**index_files.load(root, recipe)), most=_OPEN
        )
        self._asked: LRUCache[ClaimTokens] = LRUCache(_OPEN)

    @property
    def encoder_identity(self) -> str:
        """Identity of the encoder that reads the tokens of works. Raises BadWeights: as `VectorSearch`."""
        return self._encoder().token_identity

    @property
    def configuration(self) -> Mapping[str, str]:
        """What the first says, how many are reordered, the encoder with what tokens count for, and the version."""
        encoder = f"{self.encoder_identity}{self._encoder().weighed}"
        own = {"first counts": f"{self._weight:g}", "encoder": encoder, "code": CODE}
        return {**super().configuration, **own}

    def _recipe(self, work: WorkVersion) -> index_files.Recipe:
        return index_files.Recipe.of(work, retriever=self.name, encoder=self.encoder_identity, code=CODE)

    def ready(self, work: Work, *lengths: int) -> bool:
        """Whether the first retriever is, and the tokens are kept."""
        return super().ready(work, *lengths) and index_files.exists(self._root, self._recipe(work.version))

    def missing(self, works: Sequence[WorkVersion], *lengths: int) -> tuple[str, ...]:
        """Give the ids of the works that the first retriever lacks, or whose tokens are not kept."""
        lacking = set(super().missing(works, *lengths))
        lacking |= {work.id for work in works if not index_files.exists(self._root, self._recipe(work))}
        return tuple(work.id for work in works if work.id in lacking)

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Prepare the first retriever, then read the work and keep its tokens; goes on where a build was stopped."""
        super().prepare(work, progress, lengths=lengths)

        def encode(part: Work, progress: Progress) -> Arrays:
            return LateIndex.arrays(*self._encoder().encode_tokens(part, progress))

        read_blocks(self._root, self._recipe(work.version), work, progress, encode=encode, join=self._join)

    def _join(self, parts: Sequence[Arrays]) -> tuple[Arrays, Mapping[str, Any]]:
        encoder = self._encoder()
        none = LateIndex.arrays(np.zeros((0, encoder.dimension), np.float32), np.zeros(0, np.int32))
        arrays = {name: np.concatenate([none[name], *(part[name] for part in parts)]) for name in none}
        notes = {"sentences": len(arrays["counts"]), "tokens": len(arrays["scales"]), "encoder": dict(encoder.facts)}
        return arrays, notes

    def combine(
        self, claim: Claim, corpus: Corpus, rankings: Sequence[Ranking], progress: Progress = silent
    ) -> Ranking:
        """Reorder as `Reordering`. Raises RelicError: of several works, also where nothing has ranked them."""
        if corpus.whole is None:
            raise RelicError("Late interaction compares the words of one work at a time. Choose a work to use it.")
        return super().combine(claim, corpus, rankings, progress)

    def scores_of_top(
        self,
        claim: Claim,
        corpus: Corpus,
        ranking: Ranking,
        top: Places,
        progress: Progress,  # noqa: ARG002 - as of `Reordering`
    ) -> Scores:
        """Score the top k by late interaction and the first retriever together.

        Raises NoIndex, StaleIndex: the work's tokens are not kept, or damaged.
        """
        claim_tokens(claim)
        index = self._opened(self._recipe(cast("Work", corpus.whole).version))
        found = index.score(self._read(claim), ranking.start[top].astype(np.int64), ranking.length)
        return beside(found, ranking.scores[top], self._weight)

    def matches(self, claim: Claim, work: Work, span: Span) -> tuple[tuple[str, str], ...]:
        """Say which words of the claim met which words of a passage: the pairs that add most to its score.

        Function words of either are left out; other words of the claim stand once each.
        """
        asked = self._read(claim)
        vectors = self._opened(self._recipe(work.version)).vectors(span)
        words = self._words(work, span)
        products = asked.vectors @ vectors.T
        nearest = products.argmax(axis=1)
        worth = asked.weights * products.max(axis=1)
        found: dict[str, tuple[str, str]] = {}
        for at in best_first(worth).tolist():
            mine, theirs = asked.words[at], words[nearest[at]]
            if content_tokens(mine) and content_tokens(theirs):
                found.setdefault(mine.casefold(), (mine, theirs))
        return tuple(found.values())[:_MATCHES]

    def _words(self, work: Work, span: Span) -> list[str]:
        """Give the word of each token of a span; what stands beside one may decide how it is cut."""
        found: list[str] = []
        for block in blocks(work):
            first, stop = max(block.start, span.start), min(block.stop, span.end)
            if first < stop:
                near = range(max(block.start, first - 1), min(block.stop, stop + 1))
                read = replace(work, sentences=work.sentences[near.start : near.stop])
                found += chain(*self._encoder().token_words(read)[first - near.start : stop - near.start])
        return found

    def _read(self, claim: Claim) -> ClaimTokens:
        return self._asked.get(claim, lambda: self._encoder().encode_claim_tokens(claim))


def encoder_card(settings: Settings) -> EncoderCard:
    """Read the card of the encoder: the one named, else dense-RELiC's. Raises BadWeights: it reads passages alone."""
    card = read_card(settings.late or trained_model(settings))
    if card.spans == "alone":
        raise BadWeights(
            f"{card.name} reads every passage by itself, and late interaction wants an encoder that reads a work in "
            "context. Name one in RELIC_LATE."
        )
    return card


def checked_encoder(settings: Settings) -> str:
    """Look at the files of the encoder, and give its name. Raises BadWeights."""
    card = encoder_card(settings)
    LateChunkingEncoder(card).check_tokens()  # as they lie there now
    return card.name


def create(settings: Settings, components: Sequence[Retriever]) -> Late:
    """Make the retriever over one other, with the encoder that was named, else with that of dense-RELiC."""
    (first,) = components
    card = encoder_card(settings)
    # Asked for its identity at every look at an index, and what makes it reads files.
    return Late(
        first, encoder=cache(lambda: load_late_chunking(card)), root=settings.indexes, top_k=settings.late_top_k
    )
