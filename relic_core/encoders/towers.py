"""Towers: one model with its tokenizer, from texts to token ids and from token ids to states and vectors."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.encoders.batching import in_batches
from relic_core.encoders.memory import is_out_of_memory, too_little_memory
from relic_core.encoders.weights import CONFIG, NAMED_BY, TOKENIZER
from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import torch
    from tokenizers import Tokenizer

    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.precision import Arithmetic
    from relic_core.encoders.weights import ModelFiles


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as token ids, apart from those of the prefix it was tokenized with.

    - `prefix`, `ids`: special tokens left out.
    - `places`: where the last character of each of `ids` stands in the text. The first may be the space before a word,
      which some tokenizers take in with it.
    """

    prefix: list[int]
    ids: list[int]
    places: list[int]


@dataclass(frozen=True, slots=True)
class Batch:
    """What a forward pass gives.

    - `states`: last hidden states, special tokens included.
    - `mask`: false where a row was padded.
    - `pooled`: the output of the model's pooler, where the card asks for it.
    """

    members: list[int]
    states: torch.Tensor
    mask: torch.Tensor
    pooled: torch.Tensor | None


class Tower:
    """A model, loaded when first used.

    - `files`: a model that was found and checked.
    - `arithmetic`: number format of the model, and where it computes; what comes out is float32, in main memory.
    - `longest`: the most tokens of a row that will be read, special tokens apart.
    """

    def __init__(self, files: ModelFiles, card: EncoderCard, *, arithmetic: Arithmetic, longest: int) -> None:
        self.files = files
        self._card = card
        self._arithmetic = arithmetic
        self._longest = longest
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._loaded.config.hidden_size)

    def tokens(self, text: str, prefix: str = "") -> Tokens:
        """Tokenize a text with its prefix before it, and tell the tokens of the two apart."""
        encoding = self.tokenizer.encode(f"{prefix}{text}", add_special_tokens=False)
        # A token of a word may take in the space before it: it is the text's if it ends in the text.
        first = sum(end <= len(prefix) for _, end in encoding.offsets) if prefix else 0
        places = [max(0, max(start, end - 1) - len(prefix)) for start, end in encoding.offsets[first:]]
        return Tokens(prefix=encoding.ids[:first], ids=encoding.ids[first:], places=places)

    def vectors(self, rows: Sequence[list[int]], *, reading: str) -> npt.NDArray[np.float32]:
        """Pool each row into one vector, as the card says.

        - `rows`: token ids, special tokens left out.

        Returns: each of length 1 where the card compares by cosine.

        Raises RelicError: memory ran out.
        """
        import torch

        found = np.zeros((len(rows), self.dimension), dtype=np.float32)
        for batch in self.forward(rows, reading=reading):
            if batch.pooled is not None:
                vectors = batch.pooled
            elif self._card.pooling == "first":
                vectors = batch.states[:, 0]
            else:
                weights = batch.mask.unsqueeze(-1).float()
                vectors = (batch.states * weights).sum(1) / weights.sum(1)
            if self._card.similarity == "cosine":
                vectors = torch.nn.functional.normalize(vectors, dim=-1)
            found[batch.members] = vectors.numpy()
        return found

    def forward(self, rows: Sequence[list[int]], *, reading: str) -> Iterator[Batch]:
        """Run rows of token ids through the model, those of like length together; parameters as `vectors`.

        Where memory runs out, smaller batches are tried, down to a single row.

        Raises RelicError: memory ran out over a single row.
        """
        special = len(self.opening) + len(self.closing)
        device = self._arithmetic.device
        for _, batch in in_batches(
            [len(row) + special for row in rows],
            lambda members: self._pass(members, rows),
            device=device,
            too_little=lambda: too_little_memory(self._card.name, reading, device),
        ):
            yield batch

    def _pass(self, members: list[int], rows: Sequence[list[int]]) -> Batch:
        import torch

        padded = [torch.tensor([*self.opening, *rows[member], *self.closing], dtype=torch.int64) for member in members]
        lengths = torch.tensor([len(row) for row in padded])
        ids = torch.nn.utils.rnn.pad_sequence(padded, batch_first=True, padding_value=self._padding)
        mask = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)
        device = self._arithmetic.device
        with torch.inference_mode():
            output = self._loaded(input_ids=ids.to(device), attention_mask=mask.long().to(device))
        pooled = output.pooler_output.float().cpu() if self._card.pooling == "pooler" else None
        return Batch(members, output.last_hidden_state.float().cpu(), mask, pooled)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which neither cuts nor pads."""
        from tokenizers import Tokenizer

        path = self.files.folder / TOKENIZER
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing narrower
            raise BadWeights(f"{path} cannot be read ({error}). Fetch the model again.") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def joins_spaces(self) -> bool:
        """Whether the token of a word takes in the space before it, as untrimmed byte pairs do."""
        text = "a and of the"
        return any(text[start] == " " and end > start + 1 for start, end in self.tokenizer.encode(text).offsets)

    @cached_property
    def opening(self) -> list[int]:
        """The special token that opens a text."""
        return self.tokenizer.encode("").ids[:1]

    @cached_property
    def closing(self) -> list[int]:
        """The special tokens that close a text."""
        return self.tokenizer.encode("").ids[1:]

    @cached_property
    def _padding(self) -> int:
        return int(self._loaded.config.pad_token_id or 0)

    @property
    def _loaded(self) -> Any:  # noqa: ANN401 - transformers is not typed
        with self._lock:
            return self._model

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - transformers is not typed
        return self.build()

    def build(self) -> Any:  # noqa: ANN401 - transformers is not typed
        """Build the model and fill it with the weights; each call gives another, to be trained for example.

        Raises BadWeights: the files cannot be read, or leave a part of the model unset.
        Raises RelicError: memory ran out.
        """
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModel

        from relic_core.encoders.states import named_as, state_of

        arithmetic = self._arithmetic
        try:
            config = self._config()
            model = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]  # untyped
            self._check_window(model)
            missing, _ = model.load_state_dict(named_as(state_of(self.files), model.state_dict()), strict=False)
            model = model.to(device=arithmetic.device, dtype=getattr(torch, arithmetic.precision)).eval()
        except (SafetensorError, OSError, ValueError, RuntimeError, MemoryError) as error:
            if is_out_of_memory(error):
                raise too_little_memory(self._card.name, "being loaded", arithmetic.device) from error
            raise BadWeights(
                f"The model in {self.files.weights.parent} cannot be read ({str(error).splitlines()[0]}). "
                f"Fetch it again, or take another. {NAMED_BY}"
            ) from error
        wants_pooler = self._card.pooling == "pooler"
        if wants_pooler and getattr(model, "pooler", None) is None:
            raise BadWeights(
                f"The card of {self._card.name} pools by the model's pooler, and the model in {self.files.folder} has "
                "none. Write another pooling into the card: mean or first."
            )
        unset = [name for name in missing if wants_pooler or not name.startswith("pooler.")]
        if unset:
            raise BadWeights(
                f"The weights in {self.files.weights} do not fit {self.files.folder / CONFIG}: "
                f"{len(unset)} part(s) are missing, the first being {unset[0]}. Fetch the model again."
            )
        return model

    def _config(self) -> Any:  # noqa: ANN401 - transformers is not typed
        """Read the configuration; of DPR, that of the BERT inside, whose first token's state is DPR's vector."""
        from transformers import AutoConfig, BertConfig

        config = AutoConfig.from_pretrained(self.files.folder / CONFIG, trust_remote_code=False)
        if config.model_type != "dpr":
            return config
        if config.projection_dim:
            raise BadWeights(
                f"The DPR model in {self.files.folder} projects its vectors to {config.projection_dim} dimensions, "
                "which is not done here. Take one without a projection, as the published ones are."
            )
        return BertConfig.from_dict({**config.to_dict(), "model_type": "bert"})

    def _check_window(self, model: Any) -> None:  # noqa: ANN401 - transformers is not typed
        """Refuse a model with fewer positions than a stretch has tokens; one with relative positions has no limit."""
        positions = _positions(model)
        longest = self._longest + len(self.opening) + len(self.closing)
        if positions is not None and positions < longest:
            raise BadWeights(
                f"The model in {self.files.folder} reads at most {positions} tokens at a time, and works are read in "
                f"stretches of up to {longest}. Write a smaller window into an encoder card (docs/encoders.md), or "
                f"take another model. {NAMED_BY}"
            )


def _positions(model: Any) -> int | None:  # noqa: ANN401 - transformers is not typed
    """Count the tokens that a model has positions for; None where positions are relative.

    RoBERTa and its kin count positions from the one after the padding token's: of 514 they can use 512.
    """
    positions: int | None = getattr(model.config, "max_position_embeddings", None)
    if positions is None:
        return None
    for name, module in model.named_modules():
        padding: int | None = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            return positions - padding - 1
    return positions
