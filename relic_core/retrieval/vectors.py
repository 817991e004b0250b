"""Search by the vectors of one encoder, over one work or many: the part that does not ask how spans get their vectors.

A search reads the indexes of single works, which stay open and memory-mapped, so that the scores of many works are
those of each work alone. Where the indexes of the works searched are together larger than the settings allow, the
compact index of the library is asked first (`relic_core.retrieval.compact`), and works that it does not hold are
searched exactly beside it. Of spans encoded one by one there is no compact index: what memory does not hold is read
from disk.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.domain import LENGTHS, Claim, Corpus, Ranking, Scores, Span, Work, WorkVersion, rank_scores, rank_works
from relic_core.domain.calibration import Calibration
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadRequest, StaleIndex
from relic_core.ports import Encoder, Progress, silent
from relic_core.retrieval import calibration, index_files
from relic_core.retrieval.index_files import Arrays, Recipe
from relic_core.text.masking import claim_tokens
from relic_core.text.words import content_tokens, without_names

Vector = npt.NDArray[np.float32]

CLAIMS = "claims/1"
"""Version of how a claim becomes a vector and meets an index; a new one makes other scores from the same indexes."""

READINGS = "readings/1"
"""Version of how a short claim is read: see `readings`."""

_AHEAD = 16
"""Claims whose vectors are kept: those of a search, which asks for one twice where it is then read again."""

THREADS = min(4, os.cpu_count() or 1)
"""Works scored at the same time; memory, not arithmetic, is what a search waits for."""


def readings(claim: Claim, work: Work | None = None) -> list[Claim]:
    """Give the ways in which a claim is read, whose vectors are averaged.

    A long one is read as it stands. A short one also without its names (by how the work prints them), which draw it to
    where they stand alone ("What, Gatsby?"), and as a critic would put it (docs/evaluation.md has what that gains).
    """
    plain = without_names(claim.words, work) if claim.short else ""
    if not content_tokens(plain):
        return [claim]
    return [claim, Claim(plain), Claim(f"The author shows {plain}:")]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces in which a work is encoded for one index.

    - `members`: of each piece, what its rows stand for: sentences, or spans.
    - `content`: gives what of the work is to be encoded for a piece; it can be sent to another machine.
    """

    recipe: Recipe
    members: Sequence[range]
    content: Callable[[range], Any]


class VectorSearch(ABC):
    """Ranks spans by the vectors of one encoder, all of them where the indexes searched fit into `memory` bytes."""

    code: ClassVar[str]
    """Version of the arrays' layout and of how works are cut; a new one makes old indexes unused."""

    def __init__(
        self,
        name: str,
        *,
        encoder: Callable[[], Encoder | PassageEncoder],
        root: Path,
        memory: float = float("inf"),
        model: str = "",
    ) -> None:
        self.name = name
        self.root = root
        self.memory = memory
        self._encoder = encoder
        self._model = model
        self._ahead: LRUCache[Vector] = LRUCache(_AHEAD)

    @property
    def encoder_identity(self) -> str:
        """Identity of the encoder. Raises BadWeights where its files are missing or not the expected ones."""
        return self._encoder().identity

    @property
    def calibration(self) -> Calibration | None:
        """What is known of the encoder's scores; raises as `calibration.find`."""
        return calibration.find(self._model, self.encoder_identity)

    @property
    def configuration(self) -> Mapping[str, str]:
        """The encoder, and the versions of the index and of the claims. Raises as `encoder_identity`."""
        read = {"short claims": READINGS} if READINGS else {}
        return {"encoder": self.encoder_identity, "code": self.code, "claims": CLAIMS, **read}

    @abstractmethod
    def recipe(self, work: WorkVersion, length: int) -> Recipe | None:
        """Say what the index of a work that serves a length is made of; None where none is needed."""

    def prepared(self, work: WorkVersion, *lengths: int) -> bool:
        """Whether each index that serves one of these lengths is there and whole, or none is needed."""
        recipes = {self.recipe(work, length) for length in lengths}
        return all(recipe is None or index_files.exists(self.root, recipe) for recipe in recipes)

    def size(self, work: WorkVersion, length: int) -> int:
        """Give the bytes of the index of a work that serves a length. Raises NoIndex and StaleIndex."""
        recipe = self.recipe(work, length)
        return index_files.size(self.root, recipe) if recipe else 0

    @abstractmethod
    def pieces(self, work: Work, lengths: Sequence[int] = LENGTHS) -> list[Pieces]:
        """Say in which pieces a work is encoded, for each index that serves some lengths."""

    @abstractmethod
    def encode(self, content: Any, progress: Progress = silent) -> Arrays:  # noqa: ANN401 - of each retriever its own
        """Encode the content of a piece; a row for each of its members."""

    @abstractmethod
    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Encode a work, and keep what `score` needs."""

    @abstractmethod
    def span_vector(self, work: WorkVersion, span: Span) -> Vector:
        """Take a span's vector from its work's index; shape (dimension,), of length 1 where cosines are compared."""

    @abstractmethod
    def score_vector(self, vector: Vector, work: WorkVersion, length: int) -> Scores:
        """Score every span of `length` sentences against a vector. Raises NoIndex, StaleIndex: as `span_vector`."""

    def ready(self, work: Work, *lengths: int) -> bool:
        """Whether each index that serves one of these lengths is there and whole."""
        return self.prepared(work.version, *lengths)

    def missing(self, works: Sequence[WorkVersion], *lengths: int) -> tuple[str, ...]:
        """Give the ids of the works that are not prepared for each of these lengths, or whose index is damaged."""
        return tuple(work.id for work in works if not self.prepared(work, *lengths))

    def claim_vector(self, claim: Claim, work: Work | None = None) -> Vector:
        """Encode a claim; shape (dimension,). `work`: that is searched, where it is one: see `readings`."""
        claim_tokens(claim)
        return self._ahead.get((claim, work and work.fingerprint), lambda: self._claim_vectors([claim], work)[0])

    def read_ahead(self, claims: Sequence[Claim], work: Work | None = None) -> None:
        """Encode several claims in one pass, which takes less than one each, for `claim_vector` to have them."""
        vectors = dict(zip(claims, self._claim_vectors(claims, work), strict=True))
        for claim in claims:
            self._ahead.get((claim, work and work.fingerprint), partial(vectors.__getitem__, claim))

    def _claim_vectors(self, claims: Sequence[Claim], work: Work | None) -> list[Vector]:
        read = [readings(claim, work) for claim in claims]
        every = self._encoder().encode_claims(list(chain.from_iterable(read)))
        found, first = [], 0
        for of in read:
            vectors = every[first : first + len(of)]
            first += len(of)
            mean = vectors.mean(axis=0) if len(of) > 1 else vectors[0]
            each, together = np.linalg.norm(vectors, axis=1).mean(), np.linalg.norm(mean)
            scale = each / together if len(of) > 1 and together else 1.0  # as long as each of them
            found.append(np.asarray(mean * scale, dtype=np.float32))
        return found

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences: cosines, -1 to 1, or inner products, as the encoder's card says."""
        return self.score_vector(self.claim_vector(claim, work), work.version, length)

    def rank(
        self, claim: Claim, corpus: Corpus, length: int, *, like: tuple[WorkVersion, Span] | None = None
    ) -> Ranking:
        """Rank the spans of `length` sentences of a corpus; of many works those not prepared are passed over.

        - `like`: the passage whose own vector is asked with, read in its context like those it is compared with. Where
          its work has not been prepared, its words are encoded as a claim would be.

        Raises NoIndex: the works are too large for memory and no compact index holds them.
        Raises NoIndex, StaleIndex: the one whole work has not been prepared, or its index is damaged.
        """
        vector = self.vector(claim, like, corpus.whole)
        if corpus.whole:
            scores = self.score_vector(vector, corpus.whole.version, length)
            return rank_scores(self.name, corpus.whole.id, length, scores)
        return self._rank_many(vector, *self.held(corpus.versions, length), length)

    def _rank_many(
        self,
        vector: Vector,
        works: Sequence[WorkVersion],
        size: int,  # noqa: ARG002 - for those that have a compact index
        length: int,
    ) -> Ranking:
        """Rank the spans of prepared works, whose indexes are together so large."""

        def score(work: WorkVersion) -> Scores | None:
            with suppress(StaleIndex):  # damaged, or deleted since we looked: passed over, as `missing` says next time
                return self.score_vector(vector, work, length)
            return None

        with ThreadPoolExecutor(THREADS) as pool:
            scored = [
                (work.id, found) for work, found in zip(works, pool.map(score, works), strict=True) if found is not None
            ]
        return rank_works(self.name, length, scored)

    def vector(self, claim: Claim, like: tuple[WorkVersion, Span] | None, work: Work | None = None) -> Vector:
        """Give the vector of what is asked: see `rank` and `claim_vector`."""
        if like is not None:
            with suppress(StaleIndex):  # not prepared, or damaged, which its own search would say
                return self.span_vector(*like)
        return self.claim_vector(claim, work)

    def held(self, works: Sequence[WorkVersion], length: int) -> tuple[list[WorkVersion], int]:
        """List the works that are prepared, and give the bytes of their indexes together."""
        held, size = [], 0
        for work in works:
            with suppress(StaleIndex):
                size += self.size(work, length)
                held.append(work)
        return held, size


def check_span(work: WorkVersion, span: Span) -> None:
    """Refuse a span that its work does not hold.

    >>> from relic_core.domain import WorkVersion, Span
    >>> check_span(WorkVersion(id="a", title="A", fingerprint="", reading="", segmenter="", sentences=3), Span(1, 2))
    """
    if not 0 <= span.start < span.end <= work.sentences:
        raise BadRequest(
            f"{work.title} has {work.sentences} sentences, so it holds no passage of {span.length} from the "
            f"{span.start + 1}. on. Choose a shorter passage, or one further up."
        )
