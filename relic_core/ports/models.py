"""Models of language: vectors of texts, and scores of passages read together with a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from relic_core.domain import Claim, Span, Work
    from relic_core.ports.work import Progress


class Encoder(Protocol):
    """Turns text into vectors."""

    @property
    def identity(self) -> str:
        """Name, digest of the weights, and number format; part of index manifests."""

    @property
    def facts(self) -> Mapping[str, str | int]:
        """The same by heads, for index manifests: model, weights, pooling, stretch, overlap, precision, device."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims; shape (n_claims, dimension), each of length 1 where cosines are compared."""

    def encode_sentences(self, work: Work, progress: Progress) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Encode a work in one pass.

        What it returns:
        - `sums`: per sentence the sum of its own tokens' contextual states.
        - `counts`: number of tokens of each sentence.
        """


class Reranker(Protocol):
    """Reorders the head of a ranking: reads a claim together with each of some spans, which is dear and tells more."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def configuration(self) -> Mapping[str, str]:
        """All that decides its scores beside the claim and the work: model, digest of its files, number format."""

    def rerank(self, claim: Claim, work: Work, spans: Sequence[Span], progress: Progress) -> npt.NDArray[np.float32]:
        """Score some spans of a work.

        - `work`: whose spans they are.
        - `spans`: in any order; may be none.

        Returns: in the order of `spans`, finite, higher is better.

        Raises BadClaim: the claim holds nothing to read.
        Raises BadWeights: the model's files are missing or not the expected ones.
        Raises RelicError: memory ran out.
        """
