"""Dense retrieval, the plain way: every span of a length is encoded by itself, and the claim meets one matrix.

    score(claim, span) = <vector of the claim, vector of the span>

which is the cosine where the encoder's card says so (the vectors then have length 1), else the inner product. There is
one index for each length, so preparing all lengths costs as many passes over the work. This is how the RELiC paper used
DPR and its own encoders (section 3.2), and the only way for encoders whose vector is that of a first token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from relic_core.domain import LENGTHS, Scores, Span, Work, WorkVersion
from relic_core.encoders.towers import PassageEncoder, flat_span
from relic_core.ports import Progress, silent
from relic_core.retrieval import index_files
from relic_core.retrieval.index_files import Arrays
from relic_core.retrieval.sentence_sums import times
from relic_core.retrieval.vectors import Pieces, VectorSearch, check_span

CODE = "dense-alone/1"
"""Version of the matrix's layout and of the texts that are encoded; a new one makes old indexes unused."""

BLOCK = 512
"""Spans after which finished work is kept, so that a stopped build goes on from there."""


def _texts(work: Work, length: int, starts: range) -> list[str]:
    return [flat_span(work, Span(at, length)) for at in starts]


class DenseAlone(VectorSearch):
    """Ranks spans by the vectors of an encoder that reads each by itself."""

    code = CODE
    _encoder: Callable[[], PassageEncoder]

    def __init__(
        self,
        name: str,
        *,
        encoder: Callable[[], PassageEncoder],
        root: Path,
        memory: float = float("inf"),
        model: str = "",
    ) -> None:
        super().__init__(name, encoder=encoder, root=root, memory=memory, model=model)
        self._opened = index_files.kept_open(
            root, lambda recipe: index_files.load(root, recipe), most=index_files.files_allowed()
        )

    def recipe(self, work: WorkVersion, length: int) -> index_files.Recipe | None:
        """Say what the index of one length is made of; none is needed where there is no span."""
        return self._recipe(work, length) if work.candidates(length) else None

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Encode a work's spans and keep an index for each length; goes on where an earlier build was stopped.

        Where somebody else is preparing the same length, waits for that, and `progress` says so.
        """
        missing = [length for length in dict.fromkeys(lengths) if not self.ready(work, length)]
        done, total = 0, sum(work.candidates(length) for length in missing)
        progress(done, total, "Loading the encoder")
        for length in missing:
            self._build(work, length, done, total, progress)
            done += work.candidates(length)
            progress(done, total, "Reading passages")

    def _build(self, work: Work, length: int, before: int, total: int, progress: Progress) -> None:

        def report(done: int, note: str) -> None:
            busy = f"Reading passages of {length} sentence{'s' if length > 1 else ''}"
            progress(before + done, total, busy if done else note)

        def make(spans: range) -> Arrays:
            return self.encode(pieces.content(spans))

        def join(parts: Sequence[Arrays]) -> tuple[Arrays, dict[str, Any]]:
            spans = work.candidates(length)
            return self.joined(parts), {"length": length, "spans": spans, "encoder": dict(self._encoder().facts)}

        (pieces,) = self.pieces(work, (length,))
        index_files.build(self.root, pieces.recipe, pieces.members, make=make, join=join, report=report)

    def pieces(self, work: Work, lengths: Sequence[int] = LENGTHS) -> list[Pieces]:
        """Give the spans of each length, some hundreds together."""
        found = []
        for length in dict.fromkeys(lengths):
            if spans := work.candidates(length):
                cut = [range(first, min(first + BLOCK, spans)) for first in range(0, spans, BLOCK)]
                found.append(Pieces(self._recipe(work.version, length), cut, partial(_texts, work, length)))
        return found

    def encode(self, content: Sequence[str], progress: Progress = silent) -> Arrays:  # noqa: ARG002 - a piece is short
        """Encode the texts of spans."""
        return {"vectors": self._encoder().encode_passages(content)}

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        """Join what was encoded of the pieces of a work."""
        return {"vectors": np.concatenate([part["vectors"] for part in parts])}

    def span_vector(self, work: WorkVersion, span: Span) -> npt.NDArray[np.float32]:
        """Take a span's vector from the index of its length. Raises as `VectorSearch.span_vector`."""
        check_span(work, span)
        return np.array(self._opened(self._recipe(work, span.length))["vectors"][span.start])

    def score_vector(self, vector: npt.NDArray[np.float32], work: WorkVersion, length: int) -> Scores:
        """Score every span of `length` sentences against a vector. Raises NoIndex and StaleIndex."""
        if work.candidates(length) == 0:
            return np.zeros(0, dtype=np.float32)
        return times(self._opened(self._recipe(work, length))["vectors"], vector)

    def _recipe(self, work: WorkVersion, length: int) -> index_files.Recipe:
        code = f"{self.code}, spans of {length}"
        return index_files.Recipe.of(work, retriever=self.name, encoder=self.encoder_identity, code=code)
