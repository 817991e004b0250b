"""Dense retrieval, the plain way: every span of a length is encoded by itself, and the claim meets one matrix.

    score(claim, span) = <vector of the claim, vector of the span>

which is the cosine where the encoder's card says so (the vectors then have length 1), else the inner product. There is
one index for each length, so preparing all lengths costs as many passes over the work. This is how the RELiC paper used
DPR and its own encoders (section 3.2), and the only way for encoders whose vector is that of a first token.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import LENGTHS, Span
from relic_core.encoders.texts import flat_span
from relic_core.retrieval import index_builds, index_files
from relic_core.retrieval.claims import claim_tokens
from relic_core.retrieval.open_indexes import OpenIndexes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Claim, Scores, Work
    from relic_core.ports import PassageEncoder, Progress

CODE = "dense-alone/1"
"""Version of the matrix's layout and of the texts that are encoded; a new one makes old indexes unused."""

CLAIMS = "claims/1"
"""Version of how a claim becomes a vector and meets an index; a new one makes other scores from the same indexes."""

BLOCK = 512
"""Spans after which finished work is kept, so that a stopped build goes on from there."""


class DenseAlone:
    """Ranks spans by the vectors of an encoder that reads each by itself.

    Parameters
    ----------
    name : str
        The registered name.
    encoder : callable
        Gives the encoder; called when first needed.
    root : Path
        Folder of all indexes.
    """

    def __init__(self, name: str, *, encoder: Callable[[], PassageEncoder], root: Path) -> None:
        self._name = name
        self._encoder = encoder
        self._root = root
        self._indexes: OpenIndexes[npt.NDArray[np.float32]] = OpenIndexes(root, lambda arrays: arrays["vectors"])

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

    def ready(self, work: Work, length: int) -> bool:
        """Whether the index of this length is there and whole; none is needed where there is no span."""
        return work.candidates(length) == 0 or index_files.exists(self._root, self._recipe(work, length))

    def prepare(self, work: Work, progress: Progress, *, lengths: Sequence[int] = LENGTHS) -> None:
        """Encode a work's spans and keep an index for each length; goes on where an earlier build was stopped.

        Where somebody else is preparing the same length, waits for that, and `progress` is told.

        Raises
        ------
        StoreReadOnly
            The folder of indexes cannot be written.
        BadWeights
            The encoder's files are missing or not the expected ones.
        """
        missing = [length for length in dict.fromkeys(lengths) if not self.ready(work, length)]
        done, total = 0, sum(work.candidates(length) for length in missing)
        progress(done, total, "Loading the encoder")
        for length in missing:
            recipe = self._recipe(work, length)

            def waiting(so_far: int = done) -> None:
                progress(so_far, total, "Another program is preparing this work")

            def told(spans: int, before: int = done, length: int = length) -> None:
                progress(before + spans, total, f"Reading passages of {length} sentence{'s' if length > 1 else ''}")

            with index_builds.building(self._root, recipe, while_waiting=waiting):
                if not index_files.exists(self._root, recipe):  # nobody finished it during the wait
                    self._build(recipe, work, length, told)
            done += work.candidates(length)
            told(work.candidates(length), done - work.candidates(length))

    def _build(self, recipe: index_files.Recipe, work: Work, length: int, told: Callable[[int], None]) -> None:
        began = time.perf_counter()
        parts = index_builds.Parts(self._root, recipe)
        vectors: list[npt.NDArray[np.float32]] = []
        spans = work.candidates(length)
        for number, first in enumerate(range(0, spans, BLOCK)):
            last = min(first + BLOCK, spans)
            part = parts.load(number)
            if part is None or len(part["vectors"]) != last - first:
                texts = [flat_span(work, Span(start, length)) for start in range(first, last)]
                part = {"vectors": self._encoder().encode_passages(texts)}
                parts.save(number, part)
            vectors.append(part["vectors"])
            told(last)
        index_files.save(
            self._root,
            recipe,
            {"vectors": np.concatenate(vectors)},
            notes={"length": length, "spans": spans, "seconds": round(time.perf_counter() - began, 2)},
        )
        parts.clear()

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences.

        Returns
        -------
        float32 array, shape (n_candidates,)
            Cosines or inner products, as the encoder's card says.

        Raises
        ------
        BadClaim
            The claim holds no word.
        NoIndex
            The work has not been prepared for this length.
        StaleIndex
            The index is damaged.
        """
        claim_tokens(claim)
        if work.candidates(length) == 0:
            return np.zeros(0, dtype=np.float32)
        vectors = self._indexes.get(self._recipe(work, length))
        scores: Scores = vectors @ self._encoder().encode_claims([claim])[0]
        return scores

    def _recipe(self, work: Work, length: int) -> index_files.Recipe:
        return index_files.Recipe(
            retriever=self._name,
            work_id=work.id,
            title=work.title,
            work=work.fingerprint,
            segmenter=work.segmenter,
            encoder=self.encoder_identity,
            code=f"{CODE}, spans of {length}",
        )
