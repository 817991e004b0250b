"""Where a quotation comes from, learnt with less and less said of it.

After Muther and Smith 2023, "Citations as Queries", sections 4.3, 4.4 and 5. The source of a quotation is a stretch of
a work, as in attribution, which chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from relic_core.domain import Claim, MinedWindow, Work
from relic_core.domain.attribution import Target
from relic_core.encoders.cards import CARD, EncoderCard, read_card
from relic_core.encoders.generator import SourceReader, SpanLikelihood
from relic_core.encoders.towers import PassageEncoder
from relic_core.ports import Progress, silent
from relic_core.training.batching import Planned
from relic_core.training.collating import Features, Material, padded
from relic_core.training.models import DualEncoder
from relic_core.training.recipes import LIKELIHOOD, SourceRecipe, Supervision

ChooseSources = Callable[[Supervision, Sequence[MinedWindow], Callable[[str], Work], int], dict[str, tuple[str, ...]]]
"""Chooses the sources that each window is trained with, by its id: of how many candidates, from works read by id."""


def target_of(window: MinedWindow) -> Target:
    """Give a window as the passage of a critic whose quotation is to be attributed."""
    return Target.between(" ".join(window.left), window.quotation, " ".join(window.right)).near()


class SourceCollator:
    """Makes the tensors of a planned batch for a model that learns to say quotations."""

    def __init__(self, reader: SourceReader, material: Material) -> None:
        self._reader, self._material = reader, material

    def __call__(self, planned: Sequence[Planned]) -> Features:
        """Make one batch.

        Returns: "spans", "rows": int64, shape (n_windows, n_tokens), what is said, with special tokens, and what is
        read, as `SpanLikelihood.cut` gives them; their "span_lengths" and "row_lengths"; "counted": bool, of "spans".
        """
        (batch,) = planned
        rows, spans, counted = [], [], []
        for member in batch.members:
            window = self._material.windows[member]
            read, span, counts, _ = self._reader.cut(target_of(window), self._material.sources[window.id])
            rows += read
            spans.append(span)
            counted.append(counts)
        span_ids, span_lengths = padded(spans, 0)
        row_ids, row_lengths = padded(rows, 0)
        return {
            "spans": span_ids,
            "span_lengths": span_lengths,
            "rows": row_ids,
            "row_lengths": row_lengths,
            "counted": padded(counted, 0)[0].bool(),
        }


class GeneratorInTraining(nn.Module):
    """A sequence-to-sequence model that learns to say a quotation from its source (equations 2 and 3)."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - transformers is not typed
        super().__init__()
        self.model = model

    def train(self, mode: bool = True) -> Self:  # noqa: ARG002 - torch's signature
        """Stay without dropout, as nothing else here has any by default."""
        return super().train(mode=False)

    def forward(
        self,
        *,
        spans: torch.Tensor,
        span_lengths: torch.Tensor,  # noqa: ARG002 - part of a batch; what is not counted says as much
        rows: torch.Tensor,
        row_lengths: torch.Tensor,
        counted: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Give minus the mean log-probability of a token of the quotations, and the share that the model would say."""
        config = self.model.config
        read = torch.arange(rows.shape[1], device=rows.device) < row_lengths.unsqueeze(1)
        start = spans.new_full((len(spans), 1), config.decoder_start_token_id)
        logits = self.model(
            input_ids=rows.masked_fill(~read, config.pad_token_id or 0),
            attention_mask=read.long(),
            decoder_input_ids=torch.cat([start, spans[:, :-1]], dim=1),
            use_cache=False,
        ).logits[counted]
        labels = spans[counted]
        first = (logits.argmax(-1) == labels).float().mean()
        return {"loss": nn.functional.cross_entropy(logits.float(), labels), "first": first.detach()}


class RetrievalCollator:
    """Makes the tensors of a planned batch for an encoder that learns which source helps.

    - `encoder`: whose vectors of sources stay as they are.
    - `generator`: says how likely quotations are, once for each and each of its sources.
    """

    def __init__(self, encoder: PassageEncoder, generator: SpanLikelihood, material: Material) -> None:
        self._pair, self._material = encoder.pair, material
        self._likelihoods = cache(lambda at: log_probabilities(generator, material.windows[at], material.sources))
        self._vector = cache(lambda text: encoder.encode_passages([text])[0])

    def __call__(self, planned: Sequence[Planned]) -> Features:
        """Make one batch.

        Returns: "claims": int64, shape (n_windows, n_tokens), what stands around the quotations; "claim_lengths";
        "sources": float32, shape (n_sources, dimension), all of the batch; "likelihoods": float32, shape (n_windows,
        n_sources), the log-probability of a quotation given a source, minus infinity where that is none of its own.
        """
        (batch,) = planned
        windows = [self._material.windows[member] for member in batch.members]
        texts = [self._material.sources[window.id] for window in windows]
        place = {text: at for at, text in enumerate(dict.fromkeys(chain.from_iterable(texts)))}
        likelihoods = torch.full((len(windows), len(place)), float("-inf"))
        for row, (member, own) in enumerate(zip(batch.members, texts, strict=True)):
            likelihoods[row, [place[text] for text in own]] = torch.from_numpy(self._likelihoods(member).sum(axis=1))
        opening, closing = self._pair.claims.opening, self._pair.claims.closing
        claims = [self._pair.claim_ids(query_of(target_of(window))) for window in windows]
        ids, lengths = padded([[*opening, *row, *closing] for row in claims], 0)
        sources = torch.from_numpy(np.stack([self._vector(text) for text in place]))
        return {"claims": ids, "claim_lengths": lengths, "sources": sources, "likelihoods": likelihoods}


def query_of(target: Target) -> Claim:
    """Give what stands around a span as the query for its source."""
    return Claim(target.left, target.right, masked=True)


def log_probabilities(
    reader: SpanLikelihood, window: MinedWindow, sources: Mapping[str, Sequence[str]]
) -> npt.NDArray[np.float32]:
    """Give the log-probability of each token of a quotation given each of its sources; shape (n_sources, n_tokens)."""
    return reader(target_of(window), sources[window.id], silent)[1]


class RetrievalInTraining(nn.Module):
    """A query encoder that learns from a generator which source helps to say a quotation; passages stay as they are."""

    def __init__(self, encoder: DualEncoder) -> None:
        super().__init__()
        self.encoder = encoder
        encoder.passages.requires_grad_(requires_grad=False)

    def forward(
        self,
        *,
        claims: torch.Tensor,
        claim_lengths: torch.Tensor,
        sources: torch.Tensor,
        likelihoods: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Give the `marginal_loss`, and the share of windows whose nearest source makes their quotation likeliest."""
        scores = self.encoder.scores(self.encoder.claim_vectors(claims, claim_lengths), sources)
        scores = scores.masked_fill(likelihoods.isneginf(), float("-inf"))
        first = (scores.argmax(dim=1) == likelihoods.argmax(dim=1)).float().mean()
        return {"loss": marginal_loss(scores, likelihoods).mean(), "first": first.detach()}


def marginal_loss(scores: torch.Tensor, likelihoods: torch.Tensor) -> torch.Tensor:
    """Give -log sum_s p(s|q) prod_i p(t_i | t_<i, q, s), RAG-Sequence (equation 4), of each window.

    - `scores`: of each source; p(s|q) is their softmax.
    - `likelihoods`: the sum of log p(t_i | t_<i, q, s) over the tokens of the quotation; both of shape (n_windows,
      n_sources), minus infinity where a source is none of the window's.

    >>> loss = marginal_loss(torch.tensor([[0.7, 0.3]]).log(), torch.tensor([[0.5, 0.1]]).log())
    >>> round(loss.item(), 4)
    0.9676
    """
    return -torch.logsumexp(scores.log_softmax(dim=1) + likelihoods, dim=1)


class SourceValidation:
    """Says how likely a model calls quotations of works that it did not learn from, given their true source.

    Where an encoder learns, given BM25's first sources, each as far as the encoder calls it near.
    """

    def __init__(
        self,
        recipe: SourceRecipe,
        windows: Sequence[MinedWindow],
        sources: Mapping[str, Sequence[str]],
        progress: Progress,
    ) -> None:
        self._recipe, self._windows, self._sources, self._progress = recipe, windows, sources, progress
        self._frozen = cache(lambda: SpanLikelihood(recipe.generator, precision="float32"))
        self._by_frozen = cache(lambda at: log_probabilities(self._frozen(), windows[at], self._sources))

    def __call__(self, folder: Path) -> dict[str, float]:
        """Give the figures of a model that a training wrote."""
        return self.measure(read_card(str(folder / CARD)) if self._recipe.retrieves else str(folder))

    def measure(self, model: str | EncoderCard) -> dict[str, float]:
        """Give the figures of a sequence-to-sequence model by its name, or of an encoder.

        Returns: "loss", minus the mean log-probability of a token of the quotations; `LIKELIHOOD`; "windows", how many.
        """
        reader = SourceReader(model, precision="float32") if isinstance(model, str) else None
        encoder = PassageEncoder(model, precision="float32") if isinstance(model, EncoderCard) else None
        total, tokens = 0.0, 0
        for done, window in enumerate(self._windows):
            self._progress(done, len(self._windows), f"validating: {done} of {len(self._windows)} quotations")
            likelihoods = log_probabilities(reader, window, self._sources) if reader else self._by_frozen(done)
            scores = np.zeros((1, len(likelihoods)), dtype=np.float32)
            if encoder is not None:
                vectors = encoder.encode_passages(self._sources[window.id])
                scores = encoder.encode_claims([query_of(target_of(window))]) @ vectors.T / self._recipe.temperature
            total += marginal_loss(torch.from_numpy(scores), torch.from_numpy(likelihoods.sum(axis=1))).item()
            tokens += likelihoods.shape[1]
        loss = total / tokens
        return {"loss": loss, LIKELIHOOD: 100.0 * float(np.exp(-loss)), "windows": float(len(self._windows))}
