"""The ports: what a retriever, an encoder, a segmenter, a progress report must be able to do."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from relic_core.domain import (
    LENGTHS,
    BenchmarkCard,
    Book,
    Claim,
    Corpus,
    QuotationContext,
    Ranking,
    Scores,
    Span,
    Work,
    WorkVersion,
)
from relic_core.domain.attribution import Target
from relic_core.domain.calibration import Calibration

T = TypeVar("T")
R = TypeVar("R")


class Progress(Protocol):
    """Told how far long work has come; may raise `JobCancelled` to stop it."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report `done` of `total` steps, with a short note for a person."""


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing: a `Progress` for those whom nobody watches."""


class Executor(Protocol):
    """Runs jobs, here or in another process."""

    def submit(self, folder: Path, alive: int) -> None:
        """Run the job of a folder, now or soon.

        - `alive`: a file descriptor with a lock that shows the job to be alive; the caller closes its own copy.
        """


class Workers(Protocol):
    """Applies one function to many things: in this process, in several, or on a cluster."""

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Generator[R]:
        """Apply a function to each task; closed before its end, it ends what is still being done.

        - `function`: found by its name in an importable module, without side effects that the caller relies on.
        - `tasks`: taken as workers become free, so that many large tasks are never in memory at once.

        Yields: the results, in the order in which they are finished. An error that a task raises is raised here.
        """


class Segmenter(Protocol):
    """Cuts a stretch of text into sentences."""

    @property
    def identity(self) -> str:
        """Name and version; part of every work and index manifest."""

    def segment(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Cut ``text[start:end]``, one paragraph.

        Returns: half-open offsets into `text`, in order, not overlapping, no white space at either end; together they
        hold every visible character of the paragraph.
        """


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
        """Encode a work in one pass: per sentence the sum of its own tokens' contextual states, and their number."""


class Reranker(Protocol):
    """Reorders the head of a ranking: reads a claim together with each of some spans, which is dear and tells more."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def configuration(self) -> Mapping[str, str]:
        """All that decides its scores beside the claim and the work: model, digest of its files, number format."""

    def rerank(self, claim: Claim, work: Work, spans: Sequence[Span], progress: Progress) -> npt.NDArray[np.float32]:
        """Score some spans of a work, in their order: finite, higher is better. Raises BadClaim: nothing to read."""


class SpanScorer(Protocol):
    """Says how likely the span of a target is, given what stands around it and a source (`encoders.generator`)."""

    def __call__(
        self, target: Target, sources: Sequence[str], progress: Progress
    ) -> tuple[list[tuple[int, int]], npt.NDArray[np.float32]]:
        """Score the tokens of a span under several sources; of an empty one, under none.

        Returns: where each token is in the span, half-open; log-probabilities of shape (n_sources, n_tokens).
        """


class Retriever(Protocol):
    """Scores the spans of one length of one work for a claim.

    >>> class Earliest(Retriever):
    ...     name, configuration = "earliest", {"code": "earliest/1"}
    ...
    ...     def score(self, claim, work, length):
    ...         return -np.arange(work.candidates(length), dtype=np.float32)

    A retriever first prepares a work (`prepare`), which may take long and is kept on disk or in memory, then answers
    (`score`) fast. One that needs no preparation, or has no encoder, inherits what it would say of them.
    """

    @property
    def name(self) -> str:
        """The registered name."""

    @property
    def encoder_identity(self) -> str:
        """Identity of the encoder whose vectors are compared; empty where the retriever has none of its own."""
        return ""

    @property
    def calibration(self) -> Calibration | None:
        """What is known of the scores of that encoder. Raises BadWeights: the file that says so cannot be used."""
        return None

    @property
    def configuration(self) -> Mapping[str, str]:
        """All that decides its scores beside the claim and the work: parameters, encoder, code versions."""

    def ready(self, work: Work, *lengths: int) -> bool:  # noqa: ARG002 - for those that are prepared
        """Whether `score` would answer at once for each of these lengths."""
        return True

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:  # noqa: ARG002 - as above
        """Build and keep what `score` needs for some lengths; safe to call again, resumes where it can."""
        progress(1, 1, "Nothing to prepare")

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences, in the order of the text. Raises NoIndex: not prepared; BadClaim."""


@runtime_checkable
class CorpusRetriever(Protocol):
    """A retriever that ranks the spans of many works at once, from what has been prepared of each."""

    def missing(self, works: Sequence[WorkVersion], *lengths: int) -> tuple[str, ...]:
        """Give the ids of the works that have not been prepared for each of these lengths."""

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

    def combine(
        self, claim: Claim, corpus: Corpus, rankings: Sequence[Ranking], progress: Progress = silent
    ) -> Ranking:
        """Make one ranking of those of its components, in their order; may take long, and reports progress."""


@runtime_checkable
class Matching(Protocol):
    """A retriever that compares word by word, and says which words met."""

    def matches(self, claim: Claim, work: Work, span: Span) -> tuple[tuple[str, str], ...]:
        """Give the few pairs, a word of the claim and one of the passage, that count most. Raises as `score`."""


@runtime_checkable
class Metered(Protocol):
    """A retriever that asks a server, which costs: it is not asked but for an answer that is wanted."""

    @property
    def usage(self) -> Mapping[str, float]:
        """What it has taken since it was made, by name: calls, tokens, answers that could not be read, cost."""


@runtime_checkable
class VectorRetriever(Protocol):
    """A retriever that compares one vector of what is asked with vectors of the spans: of a claim, or of a passage."""

    def claim_vector(self, claim: Claim) -> npt.NDArray[np.float32]:
        """Encode a claim; shape (dimension,). Raises BadClaim where it holds no word."""

    def read_ahead(self, claims: Sequence[Claim], work: Work | None = None) -> None:
        """Encode several claims at once, whose vectors will be asked for."""

    def vector(self, claim: Claim, like: tuple[WorkVersion, Span] | None) -> npt.NDArray[np.float32]:
        """Give the vector of what is asked: of the passage where there is one, if its work has been prepared."""

    def span_vector(self, work: WorkVersion, span: Span) -> npt.NDArray[np.float32]:
        """Take a span's vector from its work's index; shape (dimension,), of length 1 where cosines are compared."""

    def score_vector(self, vector: npt.NDArray[np.float32], work: WorkVersion, length: int) -> Scores:
        """Score every span of `length` sentences of a work; shape (n_candidates,). Raises as `span_vector`."""


@runtime_checkable
class Compacting(Protocol):
    """A retriever that answers from a compact index where the works are together too large for memory."""

    def compact_due(self, works: Sequence[WorkVersion], length: int) -> bool:
        """Whether these works need the compact index, and it is still to be built, or built anew."""

    def build_compact(
        self,
        works: Sequence[WorkVersion],
        progress: Progress,
        *,
        claims: Sequence[Claim] = (),
        workers: Workers | None = None,
    ) -> None:
        """Build the compact index of some works where it is due; recall is measured on the claims given too."""


class Benchmark(Protocol):
    """Claims whose quotation is known, and what it is to be chosen from."""

    @property
    def card(self) -> BenchmarkCard:
        """What it is."""

    @property
    def data_hash(self) -> str:
        """Sha256 over the windows and the works that hold their candidates: other sentences, another hash."""

    def windows(self) -> tuple[QuotationContext, ...]:
        """List all windows in the order of the benchmark, each with its gold checked against its work.

        Raises BadBenchmark: the data are damaged, or of another text.
        Raises NotFound: data or works that are not here; the message says how to get them.
        """

    def books(self) -> tuple[Book, ...]:
        """List the quoted works, each once, in the order of their first window."""

    def work(self, pool: str) -> Work:
        """Give the work whose spans are the candidates of every window of this pool.

        A given pool comes as a work of which each passage is one sentence and one chapter of its own.
        """

    def candidates(self, window: QuotationContext) -> npt.NDArray[np.int64] | None:
        """List where the spans that count as candidates of the gold's length start, ascending; None for all spans."""


class WorkSource(Protocol):
    """Finds the works that a benchmark's quotations come from."""

    def find(self, keys: Sequence[str]) -> dict[str, Work]:
        """Give the works of some slugs. Raises NotFound: the message names what is not here, and how to add it."""
