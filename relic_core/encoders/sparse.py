"""Learned sparse vectors: what each term of a vocabulary weighs in a text, by a model's head for masked words.

    w_j = max over the text's tokens i of  log(1 + relu(logit_ij))

Source: Formal et al. 2021, "SPLADE v2", equations 1 and 6; of the first version the sum in place of the maximum.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim
from relic_core.encoders.batching import in_batches, too_little_memory
from relic_core.encoders.cards import WINDOW, EncoderCard
from relic_core.encoders.kinds import MODULES, SPLADE, Seen, kind_of
from relic_core.encoders.precision import Arithmetic, Precision, best_arithmetic
from relic_core.encoders.pretrained import load_pretrained
from relic_core.encoders.towers import TowerPair
from relic_core.encoders.weights import find_model, model_folder
from relic_core.errors import BadWeights

Vectors = npt.NDArray[np.float32]

_STRATEGIES = ("max", "sum")
_ACTIVATIONS = ("relu", "log1p_relu")
_ADVICE = (
    "Name a SPLADE in RELIC_SPARSE, a model with a head for masked words that was trained to weigh terms "
    "(docs/encoders.md)."
)


class SparseEncoder:
    """Weighs the terms of claims and passages, each read by itself; the model is loaded when first used."""

    def __init__(self, model: str, *, precision: Precision | None = None) -> None:
        if not model.strip():
            raise BadWeights(f"No SPLADE is named, and none comes with the program. {_ADVICE}")
        folder = model_folder(model)
        seen, kind = Seen(folder), kind_of(folder)
        if kind and kind.name != SPLADE:
            raise BadWeights(f"The model in {folder} is no SPLADE ({kind.name}). {_ADVICE}")
        if seen.modules and seen.modules != ("MLMTransformer", "SpladePooling"):
            raise BadWeights(
                f"{folder / MODULES} lists {', '.join(seen.modules)}; what is read here is MLMTransformer and "
                f"SpladePooling. {_ADVICE}"
            )
        pooling = seen.table(str(seen.json(MODULES)[1].get("path", "")) + "/config.json") if seen.modules else {}
        self._strategy = str(pooling.get("pooling_strategy", "max"))
        self._activation = str(pooling.get("activation_function", "relu"))
        if self._strategy not in _STRATEGIES or self._activation not in _ACTIVATIONS:
            raise BadWeights(f"{folder} pools by {self._strategy} of {self._activation}, which is not done here.")
        length = seen.table("sentence_bert_config.json").get("max_seq_length")
        window = length - 2 if isinstance(length, int) and length > WINDOW else WINDOW
        self._files = find_model(model)
        card = EncoderCard(name=self._files.name, query_model=model, passage_model=model, spans="alone", window=window)
        self._pair = TowerPair(card, precision=precision)
        self._arithmetic = Arithmetic(precision) if precision else best_arithmetic()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's."""
        return self._files.name

    @property
    def identity(self) -> str:
        """Model, digest of its files, number format, and how terms are weighed."""
        how = f"{self._strategy} of {self._activation}, spans alone of up to {self._pair.card.window} tokens"
        return f"{self.name}/{self._files.digest[:12]}/{self._arithmetic}/term weights, {how}"

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What makes the vectors, for the manifests of indexes."""
        own = {"strategy": self._strategy, "activation": self._activation}
        return {**self._pair.facts(stretch=self._pair.card.window, context=0), "pooling": "terms", **own}

    def encode_claims(self, claims: Sequence[Claim]) -> Vectors:
        """Weigh the terms of claims, both sides as one text; shape (n_claims, n_terms)."""
        return self._weights([self._pair.claim_ids(claim) for claim in claims])

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Weigh the terms of passages; shape (n_passages, n_terms)."""
        return self._weights([self._pair.passage_ids(passage) for passage in passages])

    def _weights(self, rows: Sequence[list[int]]) -> Vectors:
        import torch

        tower, device = self._pair.passages, self._arithmetic.device
        with self._lock:
            model = self._loaded
        tower.check_window(model)
        padded = [torch.tensor([*tower.opening, *row, *tower.closing], dtype=torch.int64) for row in rows]
        found = np.zeros((len(rows), model.config.vocab_size), dtype=np.float32)

        def weigh(members: list[int]) -> torch.Tensor:
            some = [padded[member] for member in members]
            ids = torch.nn.utils.rnn.pad_sequence(some, batch_first=True, padding_value=model.config.pad_token_id or 0)
            read = (torch.arange(ids.shape[1]) < torch.tensor([len(row) for row in some]).unsqueeze(1)).to(device)
            with torch.inference_mode():
                logits = model(input_ids=ids.to(device), attention_mask=read.long()).logits
                weights = torch.log1p(torch.relu(logits.float()))
                if self._activation == "log1p_relu":
                    weights = torch.log1p(weights)
                weights = weights * read.unsqueeze(-1)
                return (weights.amax(1) if self._strategy == "max" else weights.sum(1)).cpu()

        batches = in_batches(
            [len(row) for row in padded],
            weigh,
            device=device,
            too_little=lambda: too_little_memory(self.name, "weighing terms", device),
        )
        for members, weights in batches:
            found[members] = weights.numpy()
        return found

    @cached_property
    def _loaded(self) -> Any:  # noqa: ANN401 - transformers is not typed
        what = "one that says what words are masked"
        return load_pretrained(self._files, self._arithmetic, "MODEL_FOR_MASKED_LM_MAPPING", what=what, advice=_ADVICE)
