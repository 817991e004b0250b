"""Rerankers as others publish them: cross-encoders of one logit, MonoT5, and causal models that say yes or no.

Each reads claim and passage together in the form that it was trained with; the two sides of a claim are one text, since
none of them knows a mask. Of a claim that is too long the words around the quotation's place are kept, of a passage the
first.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, Span, Work
from relic_core.encoders.batching import scored
from relic_core.encoders.cards import LEAST_WINDOW
from relic_core.encoders.cutting import kept
from relic_core.encoders.kinds import PEFT
from relic_core.encoders.peft_files import ADAPTERS, peft_base, with_peft
from relic_core.encoders.precision import Arithmetic, Precision, best_arithmetic
from relic_core.encoders.pretrained import load_pretrained
from relic_core.encoders.towers import flat_span, positions
from relic_core.encoders.weights import find_model, load_tokenizer, sha256_of
from relic_core.errors import BadWeights
from relic_core.ports import Progress
from relic_core.text.masking import claim_tokens

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding, Tokenizer

Scores = npt.NDArray[np.float32]

_OF_CLAIM = 4 / 7
"""Of the tokens that are read at a time, the most that a claim takes."""


class PretrainedReranker:
    """Scores passages for a claim; the model is loaded when first used."""

    what: ClassVar[str]
    mapping: ClassVar[str]
    window: ClassVar[int] = 512
    """Tokens read at a time, the prompt included."""

    def __init__(self, model: str, *, precision: Precision | None = None) -> None:
        if not model.strip():
            raise BadWeights(f"A reranker is to be {self.what}, and none was named. {_ADVICE}")
        self._files = find_model(model)
        self._arithmetic = Arithmetic(precision) if precision else best_arithmetic()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's, and what it is."""
        return f"{self._files.name}, {self.what}"

    @property
    def configuration(self) -> Mapping[str, str]:
        """Name, digest of the files, number format, how much is read, and in what form."""
        form = self._form("CLAIM", "PASSAGE")
        return {
            "reranker": self.name,
            "weights": self._files.digest,
            "precision": str(self._arithmetic),
            "window": str(self.window),
            "form": form if isinstance(form, str) else "pair",
        }

    def rerank(self, claim: Claim, work: Work, spans: Sequence[Span], progress: Progress) -> Scores:
        """Score some spans of a work: see `Reranker.rerank`."""
        import torch

        claim_tokens(claim)
        if not spans:
            return np.zeros(0, dtype=np.float32)
        with self._lock:
            model = self._loaded
        most = min(self.window, positions(model) or self.window)
        room = most - len(self._row("", ""))
        if room < 2 * LEAST_WINDOW:
            raise BadWeights(
                f"The model in {self._files.folder} has room for {max(room, 0)} tokens of claim and passage, which is "
                f"too little. {_ADVICE}"
            )
        query = self._query(claim, int(room * _OF_CLAIM))
        rows = [self._fitting(query, flat_span(work, span), most) for span in spans]

        def score(members: list[int]) -> Scores:
            longest = max(len(rows[member]) for member in members)
            side, pad = self._padding, int(model.config.pad_token_id or 0)
            for member in members:
                rows[member].pad(longest, direction=side, pad_id=pad)
            batch = [rows[member] for member in members]
            tensors = [
                torch.tensor([getattr(row, part) for row in batch], device=self._arithmetic.device)
                for part in ("ids", "attention_mask", "type_ids")
            ]
            with torch.inference_mode():
                found: Scores = self._logits(model, *tensors).float().cpu().numpy()
            return found

        return scored([len(row) for row in rows], score, arithmetic=self._arithmetic, name=self.name, progress=progress)

    _padding: ClassVar[str] = "right"

    def _form(self, query: str, passage: str) -> str | tuple[str, str]:
        """Put claim and passage into the form that the model was trained with."""
        raise NotImplementedError

    def _logits(self, model: Any, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
        """Score rows; shape (n_rows,)."""
        raise NotImplementedError

    def _fitting(self, query: str, passage: str, room: int) -> Encoding:
        """Cut a passage to the room that there is; what is cut may fall into other tokens, and more of them."""
        left = room
        while True:
            row = self._row(query, self._part(passage, slice(0, max(0, left))))
            if len(row) <= room or left <= 0:
                return row
            left -= len(row) - room

    def _row(self, query: str, passage: str) -> Encoding:
        form = self._form(query, passage)
        return self._tokenizer.encode(form) if isinstance(form, str) else self._tokenizer.encode(*form)

    def _query(self, claim: Claim, most: int) -> str:
        left, right = claim.left.strip(), claim.right.strip()
        if not claim.masked:
            left, right = " ".join(filter(None, (left, right))), ""
        before, after = kept(self._encoded(left), self._encoded(right), most, gap=claim.masked)
        return " ".join(filter(None, (self._part(left, before), self._part(right, after))))

    def _encoded(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _part(self, text: str, tokens: slice) -> str:
        """Give the part of a text that some of its tokens stand for."""
        places = self._encoded(text).offsets
        part = places[tokens]
        if not part:
            return "" if places else text
        start = part[0][0] if tokens.start else 0
        end = part[-1][1] if tokens.stop < len(places) else len(text)
        if tokens.start and places[tokens.start - 1][1] > start:  # a character of several tokens is kept whole, or not
            start += 1
        if tokens.stop < len(places) and places[tokens.stop][0] < end:
            end -= 1
        return text[start : max(start, end)]

    def _word(self, word: str) -> int:
        ids: list[int] = self._encoded(word).ids
        if len(ids) != 1:
            raise BadWeights(
                f"The tokenizer of {self._files.folder} has no single token for '{word}', so its model is not "
                f"{self.what}. {_ADVICE}"
            )
        return ids[0]

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(self._files.folder)

    @cached_property
    def _loaded(self) -> Any:  # noqa: ANN401 - transformers is not typed
        return load_pretrained(self._files, self._arithmetic, self.mapping, what=self.what, advice=_ADVICE)


_ADVICE = (
    "A reranker from elsewhere is named by RELIC_RERANKER: cross:FOLDER a cross-encoder with one logit, t5:FOLDER a "
    "MonoT5, rankllama:FOLDER a RankLLaMA or its adapters, causal:FOLDER a Qwen3-Reranker (docs/reranking.md)."
)


class OneLogitReranker(PretrainedReranker):
    """A classifier of pairs with one logit, as sentence-transformers makes them (Nogueira and Cho 2019)."""

    what = "a cross-encoder"
    mapping = "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING"

    def _form(self, query: str, passage: str) -> tuple[str, str]:
        return query, passage

    def _logits(self, model: Any, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
        if hasattr(model, "score"):
            raise BadWeights(
                f"The model in {self._files.folder} reads one way, and no form of its questions is known. A RankLLaMA "
                f"is named rankllama:FOLDER. {_ADVICE}"
            )
        # Models that tell the two texts apart take the kinds; others know no such argument.
        token_types = {"token_type_ids": kinds} if getattr(model.config, "type_vocab_size", 0) > 1 else {}
        return self._only(model(input_ids=ids, attention_mask=mask, **token_types).logits)

    def _only(self, logits: torch.Tensor) -> torch.Tensor:
        if logits.shape[1] != 1:
            raise BadWeights(
                f"The model in {self._files.folder} gives {logits.shape[1]} logits for a claim and a passage, and "
                f"passages are ordered by one. Take a model that was trained to rank. {_ADVICE}"
            )
        return logits[:, 0]


class RankLlamaReranker(OneLogitReranker):
    """RankLLaMA (Ma et al. 2023, section 2.3): one logit of the end token behind a claim and a passage, in its words.

    A folder of adapters, as PEFT writes it, is read with the base that it names: `with_peft`.
    """

    what = "a RankLLaMA"

    def __init__(self, model: str, *, precision: Precision | None = None) -> None:
        folder = Path(model).expanduser()
        self._adapters = folder if model.strip() and (folder / PEFT).is_file() else None
        super().__init__(peft_base(folder) if self._adapters else model, precision=precision)
        if self._adapters:
            digest = hashlib.sha256(f"{self._files.digest}{sha256_of(folder / ADAPTERS)}".encode()).hexdigest()
            self._files = replace(self._files, name=folder.resolve().name, digest=digest)

    def _form(self, query: str, passage: str) -> str:  # type: ignore[override]
        return f"query: {query} document: {passage}"

    def _row(self, query: str, passage: str) -> Encoding:
        form = self._form(query, passage)
        row = self._tokenizer.encode(form)
        end = next((token for token in _ENDS if self._tokenizer.token_to_id(token) is not None), "")
        ends = bool(end) and row.ids[-1:] != [self._tokenizer.token_to_id(end)]
        return self._tokenizer.encode(form + end) if ends else row

    def _logits(self, model: Any, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:  # noqa: ANN401, ARG002
        read = getattr(model, model.base_model_prefix)(input_ids=ids, attention_mask=mask, use_cache=False)
        last = mask.sum(1) - 1
        return self._only(model.score(read.last_hidden_state[last.new_tensor(range(len(ids))), last]))

    @cached_property
    def _loaded(self) -> Any:  # noqa: ANN401 - transformers is not typed
        adapters = self._adapters
        changed = (lambda state: with_peft(state, adapters)) if adapters else None
        model = load_pretrained(
            self._files,
            self._arithmetic,
            self.mapping,
            what=self.what,
            advice=_ADVICE,
            changed=changed,
            labels=1 if adapters else None,
        )
        if not hasattr(model, "score"):
            raise BadWeights(f"The model in {self._files.folder} reads both ways, and is no RankLLaMA. {_ADVICE}")
        return model


_ENDS = ("</s>", "<|end_of_text|>", "<|endoftext|>", "<|im_end|>")


class MonoT5Reranker(PretrainedReranker):
    """MonoT5 (Nogueira et al. 2020): log p(true) - log p(false) of the first word that it says."""

    what = "a MonoT5"
    mapping = "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING"

    def _form(self, query: str, passage: str) -> str:
        return f"Query: {query} Document: {passage} Relevant:"

    def _logits(self, model: Any, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:  # noqa: ANN401, ARG002
        start = ids.new_full((len(ids), 1), model.config.decoder_start_token_id)
        logits = (
            model(input_ids=ids, attention_mask=mask, decoder_input_ids=start, use_cache=False).logits[:, 0].float()
        )
        found: torch.Tensor = logits[:, self._word("true")] - logits[:, self._word("false")]
        return found


class YesNoReranker(PretrainedReranker):
    """A causal model asked whether a passage meets a request, in Qwen3-Reranker's words: log p(yes) - log p(no)."""

    what = "a causal model that says yes or no"
    mapping = "MODEL_FOR_CAUSAL_LM_MAPPING"
    window = 1024
    _padding = "left"  # the last token's logits alone are computed

    task: ClassVar[str] = "Given what a critic writes around a quotation, retrieve the passage that is quoted there"

    def _form(self, query: str, passage: str) -> str:
        return (
            "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
            'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
            f"<Instruct>: {self.task}\n<Query>: {query}\n<Document>: {passage}<|im_end|>\n"
            "<|im_start|>assistant\n<think>\n\n</think>\n\n"
        )

    def _row(self, query: str, passage: str) -> Encoding:
        if self._tokenizer.token_to_id("<|im_start|>") is None:
            raise BadWeights(
                f"The tokenizer of {self._files.folder} knows no <|im_start|>, so its model is not asked in "
                f"Qwen3-Reranker's way. {_ADVICE}"
            )
        return self._encoded(self._form(query, passage))

    def _logits(self, model: Any, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:  # noqa: ANN401, ARG002
        places = (mask.cumsum(1) - 1).clamp(min=0)
        logits = model(
            input_ids=ids, attention_mask=mask, position_ids=places, use_cache=False, logits_to_keep=1
        ).logits
        found: torch.Tensor = logits[:, -1, self._word("yes")].float() - logits[:, -1, self._word("no")].float()
        return found
