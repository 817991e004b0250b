"""Towers: a model with its tokenizer, from texts to token ids and on to states and vectors; and pairs of them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, Sentence, Span, Work
from relic_core.encoders.batching import in_batches, is_out_of_memory, too_little_memory
from relic_core.encoders.cards import EncoderCard
from relic_core.encoders.cutting import kept
from relic_core.encoders.kinds import check_leftover
from relic_core.encoders.precision import Arithmetic, Precision, best_arithmetic
from relic_core.encoders.weights import (
    CONFIG,
    NAMED_BY,
    WEIGHTS,
    ModelFiles,
    check_size,
    configuration,
    encoder_digest,
    find_model,
    first_line,
    load_tokenizer,
    named_as,
    sha256_of,
    state_of,
)
from relic_core.errors import BadWeights
from relic_core.text.unbroken import without

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer


MASKS = ("<mask>", "[MASK]")


def flat(work: Work, sentence: Sentence) -> str:
    """Undo the hard line wraps of a sentence, its broken words whole."""
    return flat_text(work, sentence.start, sentence.end)


def flat_text(work: Work, start: int, end: int) -> str:
    """Undo the hard line wraps of a stretch, its broken words whole; a page mark alone stays as it is."""
    words = without(work.text, start, end, work.cuts).split()
    return " ".join(words or work.text[start:end].split())


def flat_span(work: Work, span: Span) -> str:
    """Join the sentences of a span; what stands between them and is not the author's text is left out."""
    return " ".join(flat(work, sentence) for sentence in work.sentences[span.start : span.end])


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as token ids, apart from those of the prefix it was tokenized with, special tokens left out.

    - `places`: where the last character of each of `ids` is in the text. The first may be the space before a word,
      which some tokenizers take in with it.
    """

    prefix: list[int]
    ids: list[int]
    places: list[int]


@dataclass(frozen=True, slots=True)
class Batch:
    """What a forward pass gives, with the output of the model's pooler where the card asks for it."""

    members: list[int]
    states: torch.Tensor
    mask: torch.Tensor
    pooled: torch.Tensor | None


class Tower:
    """A model, loaded when first used; what comes out is float32, in main memory. `longest`: tokens read of a row."""

    def __init__(self, files: ModelFiles, card: EncoderCard, *, arithmetic: Arithmetic, longest: int) -> None:
        self.files = files
        self._card = card
        self._arithmetic = arithmetic
        self._longest = longest
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._dense[-2].out_features if self._dense else self._loaded.config.hidden_size)

    @cached_property
    def _dense(self) -> list[Any]:
        layers: list[Any] = []
        for folder in self._card.dense:
            width = layers[-2].out_features if layers else int(self._loaded.config.hidden_size)
            linear, activation = dense_layers(Path(folder), self._card.name)
            if linear.in_features != width:
                raise BadWeights(
                    f"The dense layer in {folder} reads {linear.in_features} dimensions, and what {self._card.name} "
                    f"has before it gives {width}: they do not belong together. Fetch the model again."
                )
            layers += [linear, activation]
        return layers

    def tokens(self, text: str, prefix: str = "") -> Tokens:
        """Tokenize a text with its prefix before it, and tell the tokens of the two apart."""
        marker = self.tokenizer.token_to_id(prefix) if prefix.startswith("[unused") else None
        if marker is not None:  # ColBERT's, which its tokenizer would take for words
            own = self.tokens(text)
            return Tokens([marker], own.ids, own.places)
        encoding = self.tokenizer.encode(f"{prefix}{text}", add_special_tokens=False)
        # A token of a word may take in the space before it: it is the text's if it ends in the text.
        first = sum(end <= len(prefix) for _, end in encoding.offsets) if prefix else 0
        places = [max(0, max(start, end - 1) - len(prefix)) for start, end in encoding.offsets[first:]]
        return Tokens(prefix=encoding.ids[:first], ids=encoding.ids[first:], places=places)

    def vectors(self, rows: Sequence[list[int]], *, reading: str) -> npt.NDArray[np.float32]:
        """Pool each row into one vector, as the card says; of length 1 where it compares by cosine."""
        import torch

        self._card.check_pooled()
        found = np.zeros((len(rows), self.dimension), dtype=np.float32)
        for batch in self.forward(rows, reading=reading):
            if batch.pooled is not None:
                vectors = batch.pooled
            elif self._card.pooling == "first":
                vectors = batch.states[:, 0]
            elif self._card.pooling == "last":
                vectors = batch.states[torch.arange(len(batch.mask)), batch.mask.sum(1) - 1]
            else:
                weights = batch.mask.unsqueeze(-1).float()
                vectors = (batch.states * weights).sum(1) / weights.sum(1)
            found[batch.members] = self.compared(vectors).numpy()
        return found

    def compared(self, vectors: torch.Tensor) -> torch.Tensor:
        """Take vectors, or states of tokens, through the dense layers; of length 1 where cosines are compared."""
        import torch

        with torch.inference_mode():
            for layer in self._dense:
                vectors = layer(vectors)
        return torch.nn.functional.normalize(vectors, dim=-1) if self._card.similarity == "cosine" else vectors

    def forward(self, rows: Sequence[list[int]], *, reading: str) -> Iterator[Batch]:
        """Run rows of token ids through the model, those of like length together.

        Where memory runs out, smaller batches are tried, down to a single row.
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
        ids = torch.nn.utils.rnn.pad_sequence(
            padded, batch_first=True, padding_value=int(self._loaded.config.pad_token_id or 0)
        )
        mask = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)
        output = self._output(ids, mask)
        pooled = output.pooler_output.float().cpu() if self._card.pooling == "pooler" else None
        return Batch(members, output.last_hidden_state.float().cpu(), mask, pooled)

    def _output(self, ids: torch.Tensor, mask: torch.Tensor) -> Any:  # noqa: ANN401 - transformers is not typed
        import torch

        device = self._arithmetic.device
        with torch.inference_mode():
            return self._loaded(input_ids=ids.to(device), attention_mask=mask.long().to(device))

    def filled(self, row: list[int]) -> tuple[list[int], torch.Tensor]:
        """Read a claim filled up with mask tokens, as its card says; its tokens, special ones included, and states."""
        import torch

        ids = [*self.opening, *row, *self.closing]
        known = (self.tokenizer.token_to_id(token) for token in MASKS)
        mask = next((number for number in known if number is not None), None)
        added = max(0, self._card.expansion - len(ids)) if mask is not None else 0
        seen = torch.arange(len(ids) + added) < len(ids) + added * self._card.attended
        ids += [mask or 0] * added
        ((_, output),) = in_batches(
            [len(ids)],
            lambda _: self._output(torch.tensor([ids]), seen[None]),
            device=self._arithmetic.device,
            too_little=lambda: too_little_memory(self._card.name, "reading a claim", self._arithmetic.device),
        )
        return ids, output.last_hidden_state[0].float().cpu()

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which neither cuts nor pads."""
        return load_tokenizer(self.files.folder)

    @cached_property
    def joins_spaces(self) -> bool:
        """Whether the token of a word takes in the space before it, as untrimmed byte pairs do."""
        text = "a and of the"
        return any(text[start] == " " and end > start + 1 for start, end in self.tokenizer.encode(text).offsets)

    @cached_property
    def opening(self) -> list[int]:
        """The special tokens that open a text."""
        return self._special[0]

    @cached_property
    def closing(self) -> list[int]:
        """The special tokens that close a text."""
        return self._special[1]

    @cached_property
    def _special(self) -> tuple[list[int], list[int]]:
        around = self.tokenizer.encode("a")
        own = [at for at, special in enumerate(around.special_tokens_mask) if not special]
        return around.ids[: own[0]], around.ids[own[-1] + 1 :]

    @property
    def _loaded(self) -> Any:  # noqa: ANN401 - transformers is not typed
        with self._lock:
            return self._model

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - transformers is not typed
        from relic_core.encoders.attention import fuse_attention

        return fuse_attention(self.build())

    def build(self, *, begins: bool = False) -> Any:  # noqa: ANN401 - transformers is not typed
        """Build the model and fill it with the weights; each call gives another, to be trained for example.

        - `begins`: a training begins, so a pooler that the weights lack is made by lot.
        """
        import torch
        from transformers import AutoModel, AutoModelForTextEncoding

        arithmetic = self._arithmetic
        try:
            config = self._config()
            kind = AutoModelForTextEncoding if config.model_type.endswith("t5") else AutoModel
            make = partial(kind.from_config, config, trust_remote_code=False)
            check_size(self.files, make)
            model = make()
            self.check_window(model)
            missing, unused = model.load_state_dict(named_as(state_of(self.files), model.state_dict()), strict=False)
            check_leftover(self.files.folder, unused)
            if hasattr(model.config, "use_cache"):
                model.config.use_cache = False  # of a causal model, for words that it will not say
            model = model.to(device=arithmetic.device, dtype=getattr(torch, arithmetic.precision)).eval()
        except BadWeights:
            raise
        except Exception as error:  # what a wrong value in the configuration leads to may be anything
            if is_out_of_memory(error):
                raise too_little_memory(self._card.name, "being loaded", arithmetic.device) from error
            raise BadWeights(
                f"The model in {self.files.weights.parent} cannot be read ({first_line(error)}). "
                f"Fetch it again, or take another. {NAMED_BY}"
            ) from error
        wants_pooler = self._card.pooling == "pooler"
        if wants_pooler and getattr(model, "pooler", None) is None:
            raise BadWeights(
                f"The card of {self._card.name} pools by the model's pooler, and the model in {self.files.folder} has "
                "none. Write another pooling into the card: mean or first."
            )
        missing = _unset(model, missing)
        needed = wants_pooler and not begins
        unset = [name for name in missing if needed or not name.startswith("pooler.")]
        if unset:
            raise BadWeights(
                f"The weights in {self.files.weights} do not fit {self.files.folder / CONFIG}: "
                f"{len(unset)} part(s) are missing, the first being {unset[0]}. Fetch the model again."
            )
        return model

    def _config(self) -> Any:  # noqa: ANN401 - transformers is not typed
        """Read the configuration; of DPR, that of the BERT inside, whose first token's state is DPR's vector."""
        from transformers import BertConfig

        config = configuration(self.files)
        if config.model_type != "dpr":
            return config
        if config.projection_dim:
            raise BadWeights(
                f"The DPR model in {self.files.folder} projects its vectors to {config.projection_dim} dimensions, "
                "which is not done here. Take one without a projection, as the published ones are."
            )
        return BertConfig.from_dict({**config.to_dict(), "model_type": "bert"})

    def check_window(self, model: Any) -> None:  # noqa: ANN401 - transformers is not typed
        """Refuse a model with fewer positions than a stretch has tokens; one with relative positions has no limit."""
        most = positions(model)
        longest = self._longest + len(self.opening) + len(self.closing)
        if most is not None and most < longest:
            raise BadWeights(
                f"The model in {self.files.folder} reads at most {most} tokens at a time, and works are read in "
                f"stretches of up to {longest}. Write a smaller window into an encoder card (docs/encoders.md), or "
                f"take another model. {NAMED_BY}"
            )


def _unset(model: torch.nn.Module, missing: Sequence[str]) -> list[str]:
    """Leave out of the names of missing weights those of weights that have another name, too, by which they are set."""
    lacking, names = set(missing), dict[int, set[str]]()
    for name, each in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(each), set()).add(name)
    tied = set(chain.from_iterable(alike for alike in names.values() if alike - lacking))
    return [name for name in missing if name not in tied]


def dense_layers(folder: Path, encoder: str) -> list[torch.nn.Module]:
    """Read a layer behind the pooling, as sentence-transformers has it: what multiplies, and its activation."""
    import torch
    from safetensors import safe_open

    known = {each.__name__: each for each in (torch.nn.Identity, torch.nn.Tanh, torch.nn.GELU, torch.nn.ReLU)}
    try:
        settings = json.loads((folder / CONFIG).read_bytes())
        default = "Identity" if "model_type" in settings else "Tanh"  # ColBERT's lies among the weights of its model
        activation = known[str(settings.get("activation_function", default)).rsplit(".", 1)[-1]]()
        with safe_open(folder / WEIGHTS, "pt") as held:
            names = [name for name in held.keys() if name.startswith("linear.")]  # noqa: SIM118 - no mapping
            state = {name.removeprefix("linear."): held.get_tensor(name).float() for name in names}
        width, read = state["weight"].shape
        linear = torch.nn.Linear(read, width, bias="bias" in state)
        linear.load_state_dict(state)
    except Exception as error:  # noqa: BLE001 - safetensors raises its own
        problem = first_line(error)
    else:
        if settings.get("use_residual"):
            problem = "it adds to what it reads, which is not done here"
        elif not all(each.isfinite().all() for each in state.values()):
            problem = "it holds numbers that are not finite"
        else:
            return [linear, activation]
    raise BadWeights(
        f"The dense layer in {folder}, which belongs to {encoder}, cannot be used ({problem}). Fetch the model again, "
        f"with {WEIGHTS}, or take another."
    )


def positions(model: Any) -> int | None:  # noqa: ANN401 - transformers is not typed
    """Count the tokens that a model has positions for; None where positions are relative.

    RoBERTa and its kin count positions from the one after the padding token's: of 514 they can use 512.
    """
    there: int | None = getattr(model.config, "max_position_embeddings", None)
    if there is None:
        return None
    for name, module in model.named_modules():
        padding: int | None = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            return there - padding - 1
    return there


class TowerPair:
    """The towers of an encoder, used as its card says; `longest` tokens of a passage are read at a time."""

    def __init__(self, card: EncoderCard, *, precision: Precision | None = None, longest: int | None = None) -> None:
        self.card = card
        self._arithmetic = Arithmetic(precision) if precision else best_arithmetic()
        passages = find_model(card.passage_model)
        claims = passages if card.query_model == card.passage_model else find_model(card.query_model)
        if card.digest and card.digest != encoder_digest(card.query_model, card.passage_model):
            raise BadWeights(
                f"The encoder {card.name} is damaged: the files of its models are not those that its card was written "
                "for. Copy its folder again from where it was trained, or train it anew; where you changed the files "
                "yourself, take the digest out of the card."
            )
        layers = (Path(folder) / name for folder, name in product(card.dense, (CONFIG, WEIGHTS)))
        self._layers = [sha256_of(file) for file in layers if file.is_file()]
        self.passages = Tower(passages, card, arithmetic=self._arithmetic, longest=longest or card.window)
        same = claims.digest == passages.digest
        self.claims = self.passages if same else Tower(claims, card, arithmetic=self._arithmetic, longest=card.window)

    def identity(self, how: str) -> str:
        """Name the encoder, with the digest of all that decides its vectors and the number format.

        A single tower whose mean is compared by cosine has the digest of its files alone, as encoders had before there
        were cards: indexes built by it stay good.
        """
        card, digest = self.card, self.passages.files.digest
        plain = card.pooling == "mean" and card.similarity == "cosine" and card.spans == "in context"
        special = card.query_prefix or card.passage_prefix or card.mask or card.claim_windows or card.dense
        plain = plain and card.scoring == "pooled"
        if self.claims is not self.passages or special or not plain:
            everything = [card.facts, self.claims.files.digest, digest, *self._layers]
            digest = hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()
            how += f", {card.similarity}"
            if self.claims is not self.passages:
                how += ", two towers"
            if card.query_prefix or card.passage_prefix:
                how += f", prefixes {card.query_prefix!r} and {card.passage_prefix!r}"
            if card.dense:
                how += f", {len(card.dense)} dense layers"
            if card.mask:
                how += f", claims with {card.mask}"
            if card.claim_windows:
                how += f", claims of {'+'.join(map(str, card.claim_windows))} tokens"
        return f"{card.name}/{digest[:12]}/{self._arithmetic}/{how}"

    def facts(self, *, stretch: int, context: int) -> dict[str, str | int]:
        """List what makes the vectors of a work, for the manifests of indexes; `stretch` and `context` in tokens."""
        card = self.card
        found: dict[str, str | int] = {"model": card.name, "weights": self.passages.files.digest}
        if self.claims is not self.passages:
            found["claim_weights"] = self.claims.files.digest
        return {
            **found,
            "pooling": card.pooling,
            "spans": card.spans,
            "similarity": card.similarity,
            "stretch_tokens": stretch,
            "context_tokens": context,
            "overlap_tokens": 2 * context,
            "precision": self._arithmetic.precision,
            "device": self._arithmetic.device,
        }

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims: both sides as one text after the prefix, between them the mask that the card gives, if any.

        Of a claim longer than the window the words nearest to the mask are kept, and of one without a mask the first.
        Where the card gives several windows, the vectors of all cuts are added up.

        Returns: each of length 1 where the card compares by cosine.
        """
        self.check_dimensions()
        windows = self.card.claim_windows or (self.card.window,)
        cuts = [tuple(self.claim_ids(claim, window)) for claim, window in product(claims, windows)]
        place = {row: number for number, row in enumerate(dict.fromkeys(cuts))}  # a short claim has one cut
        vectors = self.claims.vectors([list(row) for row in place], reading="reading a claim")
        found = vectors[np.array([place[row] for row in cuts], dtype=np.int64)]
        if len(windows) == 1:
            return found
        added = found.reshape(len(claims), len(windows), self.claims.dimension).mean(axis=1)
        if self.card.similarity == "cosine":
            lengths = np.linalg.norm(added, axis=1, keepdims=True)
            added /= np.where(lengths > 0, lengths, 1.0)
        return np.asarray(added, dtype=np.float32)

    def check_dimensions(self) -> None:
        """Refuse towers whose vectors cannot be compared."""
        if self.claims.dimension != self.passages.dimension:
            raise BadWeights(
                f"The two towers of {self.card.name} do not belong together: the vectors of claims have "
                f"{self.claims.dimension} dimensions and those of passages {self.passages.dimension}."
            )

    def claim_ids(self, claim: Claim, window: int | None = None) -> list[int]:
        """Cut a claim to the window; token ids, the prefix's first, special tokens left out; a mask only in a gap."""
        return self.claim_tokens(claim, window).ids

    def claim_tokens(self, claim: Claim, window: int | None = None) -> Tokens:
        """Cut a claim as `claim_ids` does; `places` in left and right with a space between, -1 of prefix and mask."""
        left = self.claims.tokens(claim.left, self.card.query_prefix)
        right = self.claims.tokens(f" {claim.right}" if claim.right else "")
        mask = self._mask if claim.masked else []
        room = self.room(left, window) - len(mask)
        before, after = kept(left.ids, right.ids, room, gap=claim.masked)
        further = [len(claim.left) + place for place in right.places[after]]
        return Tokens(
            left.prefix,
            [*left.prefix, *left.ids[before], *mask, *right.ids[after]],
            [*[-1] * len(left.prefix), *left.places[before], *[-1] * len(mask), *further],
        )

    def passage_ids(self, passage: str, window: int | None = None) -> list[int]:
        """Cut a passage to the window, from its beginning; parameters and token ids as of `claim_ids`."""
        read = self.passages.tokens(passage, self.card.passage_prefix)
        return [*read.prefix, *read.ids[: self.room(read, window or self.card.passage_window)]]

    @cached_property
    def _mask(self) -> list[int]:
        return self.claims.tokens(self.card.mask).ids if self.card.mask else []

    def room(self, read: Tokens, window: int | None = None) -> int:
        """Count the tokens that a window has beside the prefix. Raises BadWeights: it takes up more than half."""
        window = window or self.card.window
        room = window - len(read.prefix)
        if room < window // 2:
            raise BadWeights(
                f"A prefix of {self.card.name} has {len(read.prefix)} tokens, more than half of its window of "
                f"{window}. Write a larger window into its encoder card, or a shorter prefix."
            )
        return room


class PassageEncoder:
    """Encodes claims and passages, each by itself; the models are loaded when first used.

    This is how most encoders were trained and how the RELiC paper used them. It costs a pass over the work for every
    length of span, and a passage is blind to what stands around it; but it takes any pooling.
    """

    def __init__(self, card: EncoderCard, *, precision: Precision | None = None) -> None:
        self.pair = TowerPair(card, precision=precision)

    @property
    def identity(self) -> str:
        """Model, digest of its files and card, number format, pooling, and how long a passage may be."""
        card = self.pair.card
        return self.pair.identity(f"spans alone, {card.pooling} of up to {card.window} tokens")

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What makes the vectors, for the manifests of indexes: see `TowerPair.facts`."""
        return self.pair.facts(stretch=self.pair.card.window, context=0)

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims: see `TowerPair.encode_claims`."""
        return self.pair.encode_claims(claims)

    def encode_passages(self, passages: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode passages, each after the prefix and by itself; of one longer than the window the beginning."""
        rows = [self.pair.passage_ids(passage) for passage in passages]
        return self.pair.passages.vectors(rows, reading="reading passages")


class _Encoder(Protocol):
    @property
    def identity(self) -> str: ...


E = TypeVar("E", bound=_Encoder)
_loaded: dict[str, Any] = {}
_lock = threading.Lock()


def shared(encoder: E) -> E:
    """Give the first encoder of this process that has the same identity, so that its models are loaded once."""
    with _lock:
        found: E = _loaded.setdefault(encoder.identity, encoder)
    return found
