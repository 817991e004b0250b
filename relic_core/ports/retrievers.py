"""Retrievers: ranking the spans of a work, or of many, for a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from relic_core.domain import LENGTHS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from relic_core.domain import Claim, Corpus, Ranking, Scores, Span, Work, WorkVersion
    from relic_core.ports.work import Progress


class Retriever(Protocol):
    """Scores the spans of one length of one work for a claim.

    A retriever first prepares a work (`prepare`), which may take long and is kept on disk or in memory, then answers
    (`score`) fast. A retriever without preparation says it is always ready.
    """

    @property
    def name(self) -> str:
        """The registered name."""

    @property
    def encoder_identity(self) -> str:
        """Identity of the encoder whose vectors are compared; empty where the retriever has none of its own."""

    @property
    def configuration(self) -> Mapping[str, str]:
        """All that decides its scores beside the claim and the work: parameters, encoder, code versions."""

    def ready(self, work: Work, length: int) -> bool:
        """Whether `score` would answer at once."""

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Build and keep what `score` needs for some lengths; safe to call again, resumes where it can."""

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences, in the order of the text: finite, higher is better.

        Raises NoIndex: the work has not been prepared.
        Raises BadClaim: the claim holds nothing to search with.
        """


@runtime_checkable
class CorpusRetriever(Protocol):
    """A retriever that ranks the spans of many works at once, from what has been prepared of each."""

    def missing(self, works: Sequence[WorkVersion], length: int) -> tuple[str, ...]:
        """Give the ids of the works that have not been prepared."""

    def rank(
        self, claim: Claim, corpus: Corpus, length: int, *, like: tuple[WorkVersion, Span] | None = None
    ) -> Ranking:
        """Rank the spans of `length` sentences of a corpus.

        Of many works those that are missing, or go away meanwhile, are passed over: they are not among the works of the
        ranking. Of one whole work that is an error.

        - `claim`: what is asked; the words of the passage where `like` is given.
        - `like`: the passage that others are to be like, for retrievers that know more of it than its words.

        Raises BadClaim: the claim holds nothing to search with.
        Raises NoIndex, StaleIndex: the one whole work has not been prepared, or its index is damaged.
        """


@runtime_checkable
class Combining(Protocol):
    """A retriever made of others, whose rankings it combines."""

    def combine(self, claim: Claim, corpus: Corpus, rankings: Sequence[Ranking]) -> Ranking:
        """Make one ranking of those of its components, in their order."""


@runtime_checkable
class VectorRetriever(Protocol):
    """A retriever that compares one vector of what is asked with vectors of the spans: of a claim, or of a passage."""

    def claim_vector(self, claim: Claim) -> npt.NDArray[np.float32]:
        """Encode a claim; shape (dimension,). Raises BadClaim where it holds no word."""

    def vector(self, claim: Claim, like: tuple[WorkVersion, Span] | None) -> npt.NDArray[np.float32]:
        """Give the vector of what is asked: of the passage where there is one, if its work has been prepared."""

    def span_vector(self, work: WorkVersion, span: Span) -> npt.NDArray[np.float32]:
        """Take the vector of a span from its work's index; shape (dimension,), of length 1 where cosines are compared.

        Raises NoIndex, StaleIndex: the work has not been prepared for the span's length, or its index is damaged.
        """

    def score_vector(self, vector: npt.NDArray[np.float32], work: WorkVersion, length: int) -> Scores:
        """Score every span of `length` sentences of a work; shape (n_candidates,). Raises as `span_vector`."""


@runtime_checkable
class Compacting(Protocol):
    """A retriever that answers from a compact index where the works are together too large for memory."""

    def compact_due(self, works: Sequence[WorkVersion], length: int) -> bool:
        """Whether these works need the compact index, and it is still to be built, or built anew."""

    def build_compact(self, works: Sequence[WorkVersion], progress: Progress, *, claims: Sequence[Claim] = ()) -> None:
        """Build the compact index of some works where it is due; recall is measured on the claims given too."""
