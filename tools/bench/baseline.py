"""What encoders are held against for speed: sentence-transformers' own way, and a model's bare forward pass."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from relic_core.encoders.batching import TOKENS
from relic_core.encoders.generator import without_progress_bars
from relic_core.encoders.towers import flat_span
from relic_core.encoders.weights import TOKENIZER, find_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from relic_core.domain import Span, Work
    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.late_chunking import LateChunkingEncoder

BATCH = 32
"""Texts in a batch: what `SentenceTransformer.encode` takes where nothing is said."""

_POOLING = {"mean": "mean", "first": "cls", "pooler": "cls"}
"""What sentence-transformers calls the ways of pooling; the pooler's own layer, which costs little, is left out."""


class SentenceTransformersBaseline:
    """`SentenceTransformer.encode` with the files of an encoder card's model, in float32: each passage by itself.

    - `card`: which model; its passages' tower is taken.
    - `device`: where it computes, as torch names it.

    Raises BadWeights: the model's files are missing or not the expected ones.
    """

    def __init__(self, card: EncoderCard, *, device: str = "cpu") -> None:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

        from relic_core.encoders.weights import named_as, state_of

        files = find_model(card.passage_model)
        folder = files.folder
        with without_progress_bars():
            reader = Transformer(
                str(folder),
                max_seq_length=card.window + 2,
                model_kwargs={"dtype": "float32", "local_files_only": True, "trust_remote_code": False},
                processor_kwargs={"local_files_only": True, "tokenizer_file": str(folder / TOKENIZER)},
                config_kwargs={"local_files_only": True, "trust_remote_code": False},
            )
        if files.layers is not None:
            reader.model.load_state_dict(named_as(state_of(files), reader.model.state_dict()), strict=False)
        modules: list[Any] = [reader, Pooling(reader.get_embedding_dimension(), pooling_mode=_POOLING[card.pooling])]
        if card.similarity == "cosine":
            modules.append(Normalize())
        self._model = SentenceTransformer(modules=modules, device=device, local_files_only=True)
        self._prefix = card.passage_prefix

    def encode(self, work: Work, spans: Sequence[Span]) -> tuple[float, npt.NDArray[np.float32]]:
        """Encode spans of a work in batches of `BATCH`, which the library itself sorts by length.

        What it returns:
        - `seconds`: that encoding took, the joining of the texts left out.
        - `vectors`: each of length 1 where the card compares by cosine.
        """
        texts = [f"{self._prefix}{flat_span(work, span)}" for span in spans]
        began = time.perf_counter()
        vectors: npt.NDArray[np.float32] = self._model.encode(texts, batch_size=BATCH, show_progress_bar=False)
        return time.perf_counter() - began, vectors


def plain_forward(encoder: LateChunkingEncoder, batches: int) -> tuple[int, float]:
    """Run an encoder's own model over full batches and do nothing else: the most that it can read in a time.

    The rows are as long as the encoder's longest stretch, none is padded, and a batch has as many as when a work is
    read. The ids are random words, of which the time does not depend.

    - `encoder`: its model object and number format are used.
    - `batches`: how many, after one that is not counted.

    What it returns:
    - `tokens`: that went through, special tokens included.
    - `seconds`: what they took.
    """
    import torch

    tower = encoder._pair.passages  # noqa: SLF001 - the very model that reads works is wanted
    model = tower._loaded  # noqa: SLF001
    special = len(tower.opening) + len(tower.closing)
    length = encoder._stretch + special  # noqa: SLF001
    shape = (max(1, TOKENS[model.device.type] // length), length)
    made = torch.Generator().manual_seed(0)
    ids = torch.randint(0, tower.tokenizer.get_vocab_size(), shape, generator=made).to(model.device)
    mask = torch.ones_like(ids)
    began = 0.0
    with torch.inference_mode():
        for batch in range(batches + 1):
            if batch == 1:
                _wait_for(model)
                began = time.perf_counter()
            model(input_ids=ids, attention_mask=mask)
        _wait_for(model)
    return batches * ids.numel(), time.perf_counter() - began


def threads() -> int:
    """Count the threads that torch computes with on the processor."""
    import torch

    return torch.get_num_threads()


def _wait_for(model: Any) -> None:  # noqa: ANN401 - transformers is not typed
    """Wait until a GPU has done what it was given; a processor has."""
    import torch

    if model.device.type == "cuda":
        torch.cuda.synchronize()
