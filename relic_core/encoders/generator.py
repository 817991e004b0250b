"""Likelihood under a language model: how likely some words are, given a passage.

Source: Muther and Smith 2023, "Citations as Queries", section 4.3, equation 2: the log-likelihood of a masked stretch
of the citing text, ``log p(t_mask | t_obs, s)``, under BART, which reads what is left of that text and the source.
There the quotation is known and is the stretch that is masked: `SpanLikelihood` does the same, also with a causal
model, which reads the source and what stands before the span. Where the quotation is what is looked for
(`GeneratorReranker`), the masked stretch is the claim's own words around it, at most 100 word pieces of them as in the
paper; what is left of a longer claim is read with the passage.

The paper sums over the stretch. The reranker's sum is divided by its length: the order of a claim's candidates is the
same, as all are asked for the same words, and scores of long and short claims can be compared.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, Span, Work
from relic_core.domain.attribution import Target
from relic_core.encoders.batching import scored
from relic_core.encoders.cutting import kept
from relic_core.encoders.precision import Arithmetic, Precision, best_arithmetic
from relic_core.encoders.pretrained import load_pretrained
from relic_core.encoders.towers import MASKS, flat_span
from relic_core.encoders.weights import find_model, load_tokenizer
from relic_core.errors import BadWeights
from relic_core.ports import Progress
from relic_core.text.masking import claim_tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Scores = npt.NDArray[np.float32]

BART = "facebook/bart-base"
PIECES = 100
"""Word pieces of a claim that are masked (section 4.3)."""

OBSERVED = 200
"""Those of the rest of a claim that are read with the passage, at most."""

WINDOW = 510
"""Tokens that the model reads at a time, special ones apart."""


class Generator:
    """A model that generates text; it is loaded when first used."""

    _causal = False
    """Whether a model that reads one way will do, too."""
    _why = ""
    """Else why not."""

    def __init__(self, model: str = BART, *, precision: Precision | None = None) -> None:
        if not model.strip():
            raise BadWeights(
                f"Reordering by likelihood needs a sequence-to-sequence model, and none was named. {_get(BART)}"
            )
        try:
            self._files = find_model(model)
        except BadWeights as error:
            raise BadWeights(
                f"Reordering by likelihood needs the sequence-to-sequence model '{model}'. {error} {_get(model)}"
            ) from error
        self._arithmetic = Arithmetic(precision) if precision else best_arithmetic()
        self._lock = threading.Lock()

    def _log_likelihoods(
        self, rows: Sequence[list[int]], target: Sequence[int], counted: Sequence[bool], progress: Progress
    ) -> Scores:
        """Give the log-likelihood of each token that counts after each row; shape (n_rows, n_counted).

        - `target`: what the decoder is to say with special tokens; of a causal model, what ends each row.
        """
        import torch

        device, model = self._arithmetic.device, self.model
        labels, weights = torch.tensor(target), torch.tensor(counted)
        wanted = labels[weights].to(device)
        causal = not model.config.is_encoder_decoder
        found = np.zeros((len(rows), len(wanted)), dtype=np.float32)

        def likelihoods(members: list[int]) -> Scores:
            side = "left" if causal else "right"
            padded = [torch.tensor(rows[member]) for member in members]
            ids = torch.nn.utils.rnn.pad_sequence(padded, batch_first=True, padding_side=side)
            length = torch.tensor([len(row) for row in padded]).unsqueeze(1)
            at = torch.arange(ids.shape[1])
            read = at >= ids.shape[1] - length if causal else at < length
            ids = ids.masked_fill(~read, model.config.pad_token_id or 0).to(device)
            given: dict[str, Any] = {"input_ids": ids, "attention_mask": read.long().to(device), "use_cache": False}
            if causal:
                given["position_ids"] = (read.long().cumsum(1) - 1).clamp(min=0).to(device)
                given["logits_to_keep"] = len(target) + 1
            else:
                start = torch.tensor([model.config.decoder_start_token_id])
                given["decoder_input_ids"] = torch.cat([start, labels[:-1]]).expand(len(members), -1).to(device)
            with torch.inference_mode():
                logits = model(**given).logits
                logits = (logits[:, -len(target) - 1 : -1] if causal else logits)[:, weights.to(device)].float()
                chosen = logits.gather(-1, wanted.expand(len(members), -1).unsqueeze(-1)).squeeze(-1)
                found[members] = (chosen - logits.logsumexp(-1)).cpu().numpy()
            sums: Scores = found[members].sum(axis=1)
            return sums

        scored(
            [len(row) + len(target) for row in rows],
            likelihoods,
            arithmetic=self._arithmetic,
            name=self._files.name,
            progress=progress,
        )
        return found

    def _observed(self, left: list[int], right: list[int]) -> list[int]:
        before, after = kept(left, right, OBSERVED)
        return [*left[before], *self._mask, *right[after]]

    def _source(self, observed: list[int], passage: str) -> list[int]:
        opening, closing = self._special
        both = self._tokenizer.encode("", "").ids
        between = both[len(opening) : len(both) - len(closing)]
        words = self._ids(passage)[: WINDOW - len(observed) - len(between)]
        return [*opening, *observed, *between, *words, *closing]

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _mask(self) -> list[int]:
        found = [self._tokenizer.token_to_id(token) for token in MASKS]
        return [token for token in found if token is not None][:1]

    @cached_property
    def _special(self) -> tuple[list[int], list[int]]:
        alone = self._tokenizer.encode("").ids
        return alone[:-1], alone[-1:]  # BART puts <s> before and </s> behind, T5 </s> alone

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(self._files.folder)

    @property
    def model(self) -> Any:  # noqa: ANN401 - transformers is not typed
        """The model itself, not to be trained while it scores. Raises BadWeights: it cannot be read."""
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:  # noqa: ANN401 - transformers is not typed
        model = load_pretrained(
            self._files,
            self._arithmetic,
            "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
            *(["MODEL_FOR_CAUSAL_LM_MAPPING"] if self._causal else []),
            what="one that generates text from text",
            advice=f"{self._why} {_get(BART)}".strip(),
        )
        positions = getattr(model.config, "max_position_embeddings", None)
        if positions is not None and positions < WINDOW + 2:
            raise BadWeights(
                f"The model in {self._files.folder} reads at most {positions} tokens at a time, and "
                f"{WINDOW + 2} are needed. {_get(BART)}"
            )
        return model


class GeneratorReranker(Generator):
    """Scores passages by how likely they make a claim's words."""

    _why = (
        "The claim's words are asked for with what stands on either side of them, and a causal model reads what "
        "stands before alone: it can say where a passage is from, and cannot read passages again beside a claim."
    )

    @property
    def name(self) -> str:
        """The model's."""
        return f"{self._files.name}, likelihood of the claim"

    @property
    def configuration(self) -> Mapping[str, str]:
        """Name, digest of the files, number format, and how much is read."""
        return {
            "reranker": self.name,
            "weights": self._files.digest,
            "precision": str(self._arithmetic),
            "pieces": str(PIECES),
            "observed": str(OBSERVED),
            "window": str(WINDOW),
        }

    def rerank(self, claim: Claim, work: Work, spans: Sequence[Span], progress: Progress) -> Scores:
        """Score some spans of a work: the mean log-likelihood of a token of the claim's masked words, at most 0."""
        claim_tokens(claim)
        if not spans:
            return np.zeros(0, dtype=np.float32)
        observed, target, counted = self._cut(claim)
        rows = [self._source(observed, flat_span(work, span)) for span in spans]
        means: Scores = self._log_likelihoods(rows, target, counted, progress).mean(axis=1)
        return means

    def _cut(self, claim: Claim) -> tuple[list[int], list[int], list[bool]]:
        """Part a claim into what is read, with the mask token for the words left out, and what is to be said.

        Returns: the first; the second with special tokens; which of these are words: neither special tokens nor the
        quotation's mask.
        """
        left, right = self._ids(claim.left), self._ids(f" {claim.right}") if claim.right.strip() else []
        mask = self._mask if claim.masked else []
        before, after = kept(left, right, PIECES, gap=claim.masked)
        near, further = left[before], right[after]
        counted = [True] * len(near) + [False] * len(mask) + [True] * len(further)
        opening, closing = self._special
        return (
            self._observed(left[: before.start], [*left[before.stop :], *right[after.stop :]]),
            [*opening, *near, *mask, *further, *closing],
            [*[False] * len(opening), *counted, *[False] * len(closing)],
        )


class SpanLikelihood(Generator):
    """Says how likely the span of a target is, given what stands around it and a source: see `SpanScorer`."""

    _causal = True

    @property
    def name(self) -> str:
        """The model's."""
        return f"{self._files.name}, likelihood of the span"

    def __call__(
        self, target: Target, sources: Sequence[str], progress: Progress
    ) -> tuple[list[tuple[int, int]], Scores]:
        """Score a span of at most `PIECES` word pieces, of a longer one its beginning; a source may be empty."""
        rows, ids, counted, offsets = self.cut(target, sources)
        return offsets, self._log_likelihoods(rows, ids, counted, progress)

    def cut(
        self, target: Target, sources: Sequence[str]
    ) -> tuple[list[list[int]], list[int], list[bool], list[tuple[int, int]]]:
        """Cut a target and its sources to what the model reads and says.

        Returns: of each source the row of token ids that is read; what is to be said, with special tokens, or of a
        causal model what ends each row; which of that counts; and where in the span each token that counts stands.
        """
        two_ways = self.model.config.is_encoder_decoder
        if two_ways:
            left, right = self._ids(target.left.rstrip()), self._ids(f" {target.right.lstrip()}".rstrip())
            span = self._tokenizer.encode(target.span, add_special_tokens=False)
            observed = self._observed(left, right)
            opening, closing = self._special
            rows = [self._source(observed, source) for source in sources]
            ids, ends = [*opening, *span.ids[:PIECES], *closing], (len(opening), len(closing))
        else:  # the first word takes in the space before it, as byte pairs do
            span = self._tokenizer.encode(f" {target.span}", add_special_tokens=False)
            ids, ends = span.ids[:PIECES], (0, 0)
            before = self._ids(target.left.rstrip())[-OBSERVED:]
            room = WINDOW - len(before) - len(ids)
            config = self.model.config  # something stands before the first word, also where there is no mark for it
            marks = (each for each in (config.bos_token_id, config.eos_token_id, 0) if each is not None)
            mark = int(np.ravel(next(marks))[0])
            rows = [[mark, *self._ids(f"{source}\n\n" * bool(source))[:room], *before, *ids] for source in sources]
        counted = [ends[0] <= at < len(ids) - ends[1] for at in range(len(ids))]
        shift = 0 if two_ways else 1
        offsets = [(max(0, start - shift), end - shift) for start, end in span.offsets[:PIECES]]
        return rows, ids, counted, offsets


class SourceReader(SpanLikelihood):
    """The same by a sequence-to-sequence model alone: one that is to be trained."""

    _causal = False


def _get(model: str) -> str:
    return f"Fetch one once, with hf download {model}, or name a folder that holds one."
