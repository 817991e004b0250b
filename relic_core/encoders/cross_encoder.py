"""The cross-encoder: scores a claim and a passage read together, for some dozens of candidates.

About 100 candidates take two or three seconds where the claim is read first (docs/reranking.md).
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from relic_core.encoders.candidates import check_claim, scored
from relic_core.encoders.joint_texts import JointTexts
from relic_core.encoders.precision import Arithmetic, best_arithmetic
from relic_core.encoders.reranker_cards import read_reranker
from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Claim, Span, Work
    from relic_core.encoders.joint_reading import JointReader, ReadClaims
    from relic_core.encoders.joint_texts import PassageRow
    from relic_core.encoders.precision import Precision
    from relic_core.ports import Progress

    Scores = npt.NDArray[np.float32]


class CrossEncoder:
    """Scores passages for a claim; the model is loaded when first used.

    - `precision`: to compute in on the processor; by default what is best for this machine, on its GPU where it has
      one.

    Raises BadWeights: the files are missing, damaged or no reranker's.
    """

    def __init__(self, folder: str | Path, *, precision: Precision | None = None) -> None:
        self.card, self._files = read_reranker(folder)
        self._arithmetic = Arithmetic(precision) if precision else best_arithmetic()
        self._texts = JointTexts(self.card, str(folder), precision=precision)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """As its card calls it."""
        return self.card.name

    @property
    def configuration(self) -> Mapping[str, str]:
        """Name, digest of the files, number format, and how its card says that it is used."""
        said = {name: value for name, value in self.card.facts.items() if value}
        return {"reranker": self.name, "weights": self._files.digest, "precision": str(self._arithmetic), **said}

    def rerank(self, claim: Claim, work: Work, spans: Sequence[Span], progress: Progress) -> Scores:
        """Score some spans of a work: see `Reranker.rerank`."""
        import torch

        check_claim(claim)
        if not spans:
            return np.zeros(0, dtype=np.float32)
        read = self._texts.claim(claim)
        rows = [self._texts.passage(self._texts.passage_of(work, span), read) for span in spans]
        before = len(read) if self.card.reading == "together" else 0
        device = self._arithmetic.device
        with torch.inference_mode():
            ids = torch.tensor([read], device=device)
            claims = self._reader.read_claims(ids, torch.tensor([len(read)], device=device))
            return scored(
                [before + len(row.ids) for row in rows],
                lambda members: self._pass(claims, [rows[member] for member in members]),
                arithmetic=self._arithmetic,
                name=self.name,
                progress=progress,
            )

    def _pass(self, claims: ReadClaims, some: Sequence[PassageRow]) -> Scores:
        import torch

        from relic_core.encoders.joint_reading import Rows

        padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(row.ids) for row in some], batch_first=True)
        numbers = torch.tensor([[len(row.ids), 0, row.start, row.end] for row in some]).T
        rows = Rows(*(each.to(self._arithmetic.device) for each in (padded, *numbers)))
        found: Scores = self._reader.scores(claims, rows).cpu().numpy()
        return found

    @property
    def _reader(self) -> JointReader:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> JointReader:
        import torch

        from relic_core.encoders.joint_reading import GATES, HEAD, JointReader
        from relic_core.encoders.states import state_of

        model = self._texts.tower.build()
        reader = JointReader(model, self.card).to(model.device).eval()
        stored, named = state_of(self._files), dict(reader.named_parameters())
        for name in (HEAD, GATES) if self.card.pooling == "likeness" else (HEAD,):
            found, wanted = stored.get(name), named[name]
            if found is None or found.shape != wanted.shape:
                said = "there is none" if found is None else f"it has {found.numel()} numbers for {wanted.numel()}"
                raise BadWeights(
                    f"{self._files.weights} holds no '{name}' that fits its model ({said}), so it is no reranker's. "
                    "Train one from it (docs/reranking.md)."
                )
            with torch.no_grad():
                wanted.copy_(found)
        return reader
