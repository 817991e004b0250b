"""The one-pass encoder: a work goes through the model once, in stretches, and any run of sentences can be pooled after.

A sentence's vector is the sum of the contextual states of its own tokens, so the mean over any span is the sum of its
sentences' sums over the sum of their counts. The model sees what stands around a sentence: stretches overlap, and each
sentence is taken from the one in which it stands in the middle.
"""

from __future__ import annotations

import threading
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.encoders.precision import Precision, best_precision
from relic_core.encoders.stretches import cut_stretches
from relic_core.encoders.weights import CONFIG, TOKENIZER, WEIGHTS, ModelFiles, find_model
from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import torch
    from tokenizers import Tokenizer

    from relic_core.domain import Claim, Sentence, Work
    from relic_core.ports import Progress

WINDOW = 254
"""Tokens that go through the model together, special tokens apart: all-MiniLM-L6-v2 was trained on 256."""

CONTEXT = 32
"""Tokens of context on either side of those whose states are kept: about a third more tokens than the work has."""

BATCH = 16
"""Stretches in a forward pass; on two cores larger batches are no faster."""


class OnePassEncoder:
    """Encodes works in one pass and claims by mean pooling; the model is loaded when first used.

    Parameters
    ----------
    files : ModelFiles
        A model that was found and checked.
    precision : {"float32", "bfloat16"}, optional
        Number format of the model; by default the best for this machine. Vectors that come out are float32.
    window, context : int, optional
        See `WINDOW` and `CONTEXT`.
    """

    def __init__(
        self,
        files: ModelFiles,
        *,
        precision: Precision | None = None,
        window: int = WINDOW,
        context: int = CONTEXT,
    ) -> None:
        self._files = files
        self._precision: Precision = precision or best_precision()
        self._window = window
        self._context = context
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """Model, digest of its files, number format, pooling, and how the work is cut."""
        return (
            f"{self._files.name}/{self._files.digest[:12]}/{self._precision}/"
            f"one-pass mean, {self._window} tokens with {self._context} of context"
        )

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._loaded.config.hidden_size)

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims: both sides as one text, the mask left out.

        Of a claim longer than the window the words nearest to the mask are kept, and of one without a mask the first.

        Returns
        -------
        float32 array, shape (n_claims, dimension)
            Means over all token states, special tokens included as the model was trained; each of length 1.
        """
        import torch

        vectors = np.zeros((len(claims), self.dimension), dtype=np.float32)
        rows = [self._claim_ids(claim) for claim in claims]
        for members, states, mask in self._forward(rows):
            weights = mask.unsqueeze(-1).float()
            means = (states * weights).sum(1) / weights.sum(1)
            vectors[members] = torch.nn.functional.normalize(means, dim=-1).numpy()
        return vectors

    def encode_sentences(self, work: Work, progress: Progress) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Encode the sentences of a work in one pass; stretches do not cross the borders of chapters.

        Parameters
        ----------
        work : Work
            Its sentences may be a part of the whole work's.
        progress : Progress
            Told after every batch how many tokens are done.

        Returns
        -------
        sums : float32 array, shape (n_sentences, dimension)
            Per sentence the sum of its own tokens' contextual states.
        counts : int32 array, shape (n_sentences,)
            Number of tokens of each sentence, at least 1.
        """
        import torch

        sums = torch.zeros((len(work.sentences), self.dimension), dtype=torch.float32)
        counts = np.zeros(len(work.sentences), dtype=np.int32)
        rows: list[list[int]] = []
        cores: list[tuple[int, torch.Tensor]] = []  # where the core begins in its row, and whose tokens it holds
        for ids, sentence_of in self._chapters(work):
            counts += np.bincount(sentence_of, minlength=len(counts)).astype(np.int32)
            for stretch in cut_stretches(sentence_of, window=self._window, context=self._context):
                rows.append(ids[stretch.start : stretch.end].tolist())
                owners = torch.from_numpy(sentence_of[stretch.core_start : stretch.core_end])
                cores.append((stretch.core_start - stretch.start, owners))
        done, total = 0, sum(len(row) for row in rows)
        for members, states, _ in self._forward(rows):
            for member, state in zip(members, states, strict=True):
                first, owners = cores[member]
                first += len(self._prefix)
                sums.index_add_(0, owners, state[first : first + len(owners)])
            done += sum(len(rows[member]) for member in members)
            progress(done, total, "Reading the work")
        return sums.numpy(), counts

    def _chapters(self, work: Work) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Yield, chapter by chapter, the token ids and the position in `work.sentences` each token belongs to."""
        first = 0
        for _, members in groupby(work.sentences, key=lambda sentence: sentence.chapter):
            sentences = list(members)
            ids, sentence_of = self._tokens([_flat(work, sentence) for sentence in sentences])
            yield ids, sentence_of + first
            first += len(sentences)

    def _tokens(self, texts: list[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Tokenize texts as one, and say which text each token belongs to; every text gets a token."""
        encoding = self._tokenizer.encode(" ".join(texts), add_special_tokens=False)
        ids = np.array(encoding.ids, dtype=np.int64)
        places = np.array([start for start, _ in encoding.offsets], dtype=np.int64)
        starts = np.cumsum([0, *(len(text) + 1 for text in texts[:-1])])
        text_of = np.searchsorted(starts, places, side="right") - 1
        silent = np.setdiff1d(np.arange(len(texts)), text_of)  # only characters that the tokenizer drops
        where = np.searchsorted(text_of, silent)
        return np.insert(ids, where, self._suffix[-1]), np.insert(text_of, where, silent)

    def _claim_ids(self, claim: Claim) -> list[int]:
        left = self._tokenizer.encode(claim.left, add_special_tokens=False).ids
        right = self._tokenizer.encode(f" {claim.right}", add_special_tokens=False).ids if claim.right else []
        if not claim.masked:
            return [*left, *right][: self._window]
        after = min(len(right), max(self._window - len(left), self._window // 2))
        before = min(len(left), self._window - after)
        return [*left[len(left) - before :], *right[:after]]

    def _forward(self, rows: Sequence[list[int]]) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
        """Run rows of token ids through the model, those of like length together.

        Yields
        ------
        members : list of int
            Which rows these are.
        states : float32 tensor, shape (len(members), n_tokens, dimension)
            Last hidden states, special tokens included.
        mask : bool tensor, shape (len(members), n_tokens)
            False where a row was padded.
        """
        import torch

        order = sorted(range(len(rows)), key=lambda row: (-len(rows[row]), row))
        for at in range(0, len(order), BATCH):
            members = order[at : at + BATCH]
            padded = [
                torch.tensor([*self._prefix, *rows[member], *self._suffix], dtype=torch.int64) for member in members
            ]
            lengths = torch.tensor([len(row) for row in padded])
            ids = torch.nn.utils.rnn.pad_sequence(padded, batch_first=True, padding_value=self._padding)
            mask = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)
            with torch.inference_mode():
                states = self._loaded(input_ids=ids, attention_mask=mask.long()).last_hidden_state.float()
            yield members, states, mask

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._files.folder / TOKENIZER))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _prefix(self) -> list[int]:
        return self._tokenizer.encode("").ids[:1]

    @cached_property
    def _suffix(self) -> list[int]:
        return self._tokenizer.encode("").ids[1:]

    @cached_property
    def _padding(self) -> int:
        return int(self._loaded.config.pad_token_id or 0)

    @property
    def _loaded(self) -> Any:  # noqa: ANN401 - transformers is not typed
        with self._lock:
            return self._model

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - transformers is not typed
        """Build the model and fill it with the weights, refusing weights that leave a part of it unset."""
        import torch
        from safetensors import SafetensorError
        from safetensors.torch import load_file
        from transformers import AutoConfig, AutoModel

        path = self._files.folder / WEIGHTS
        try:
            config = AutoConfig.from_pretrained(self._files.folder / CONFIG, trust_remote_code=False)
            self._check_window(config)
            model = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]  # untyped
            prefix = f"{model.base_model_prefix}."
            weights = {name.removeprefix(prefix): tensor for name, tensor in load_file(path).items()}
            missing, _ = model.load_state_dict(weights, strict=False)
        except (SafetensorError, OSError, ValueError, RuntimeError) as error:
            raise BadWeights(
                f"The model in {self._files.folder} cannot be read ({str(error).splitlines()[0]}). "
                "Fetch it again, or take another: RELIC_MODEL empty means the packaged one."
            ) from error
        unset = [name for name in missing if not name.startswith("pooler.")]
        if unset:
            raise BadWeights(
                f"The weights in {path} do not fit {CONFIG} beside them: "
                f"{len(unset)} part(s) are missing, the first being {unset[0]}. Fetch the model again."
            )
        return model.to(getattr(torch, self._precision)).eval()

    def _check_window(self, config: Any) -> None:  # noqa: ANN401 - transformers is not typed
        """Refuse a model with fewer positions than a stretch has tokens; one with relative positions has no limit."""
        positions = getattr(config, "max_position_embeddings", None)
        longest = self._window + len(self._prefix) + len(self._suffix)
        if positions is not None and positions < longest:
            raise BadWeights(
                f"The model in {self._files.folder} reads at most {positions} tokens at a time, and works are read in "
                f"stretches of up to {longest}. Take another: RELIC_MODEL empty means the packaged one."
            )


def _flat(work: Work, sentence: Sentence) -> str:
    """Undo the hard line wraps of a sentence."""
    return " ".join(work.text[sentence.start : sentence.end].split())


_encoders: dict[str, OnePassEncoder] = {}
_encoders_lock = threading.Lock()


def load_encoder(model: str = "") -> OnePassEncoder:
    """Give the encoder for a model, the same one for every caller in this process.

    Parameters
    ----------
    model : str, optional
        As `find_model` takes it.

    Raises
    ------
    BadWeights
        The model's files are missing or not the expected ones.
    """
    files = find_model(model)
    with _encoders_lock:
        return _encoders.setdefault(files.digest, OnePassEncoder(files))
