"""The models in training: what they begin as, which weights are trained, their forward passes and their losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from relic_core.encoders.batching import TOKENS
from relic_core.encoders.cards import EncoderCard, RerankerCard, read_card
from relic_core.encoders.joint_reader import JointReader, Rows
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import Tower
from relic_core.encoders.weights import (
    DOWN,
    TOKENIZER,
    UP,
    ModelFiles,
    encoder_digest,
    find_model,
    layers_of,
    named_as,
    settings_folder,
    state_of,
    token_weights,
)
from relic_core.errors import BadRequest, BadWeights
from relic_core.training.recipes import EncoderRecipe, Loss, Recipe, RerankerRecipe

_MASKS = ("[MASK]", "<mask>")

_LEAST = 1e-6
"""Stands for what counts for nothing, where a logarithm is taken."""

_LORA_ALPHA = 2
"""LoRA's alpha over its rank: by how much what the adapters add is multiplied."""


def base_files(recipe: Recipe, tower: Tower) -> ModelFiles:
    """Give the files that a training begins from, by the name in the recipe where they are the same.

    Of a pair like DPR's either half may be named, and both encoders begin from the one that reads passages.
    """
    named = find_model(recipe.base)
    return named if named.digest == tower.files.digest else tower.files


def mask_token(recipe: Recipe) -> str:
    """Give the mask token of a recipe's base; none where the recipe wants none. Raises BadWeights: there is none."""
    if not recipe.mask:
        return ""
    tokenizer = LateChunkingEncoder(read_card(recipe.base), precision="float32").pair.claims.tokenizer
    found = [token for token in _MASKS if tokenizer.token_to_id(token) is not None]
    if not found:
        raise BadWeights(
            f"The tokenizer of the base '{recipe.base}' has no mask token ({' or '.join(_MASKS)}). Take another base, "
            "or set mask to false in the recipe."
        )
    return found[0]


def prepared(model: Any, recipe: Recipe) -> Any:  # noqa: ANN401 - transformers is not typed
    """Make a base as `Tower.build` gives it ready to be trained: attention, dropout, which weights change.

    The others ask for no gradient, like a pooler that gives none of the vectors.
    """
    on_processor = not torch.cuda.is_available()
    model.set_attn_implementation("eager" if on_processor else "sdpa")
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = recipe.dropout
    if recipe.lora_rank:
        from peft import LoraConfig, inject_adapter_in_model

        config = LoraConfig(
            r=recipe.lora_rank,
            lora_alpha=_LORA_ALPHA * recipe.lora_rank,
            lora_dropout=recipe.dropout,
            target_modules="all-linear",
            exclude_modules=".*pooler.*",
        )
        model = inject_adapter_in_model(config, model)
    elif recipe.frozen_embeddings:
        for name, parameter in model.named_parameters():
            if name.startswith("embeddings."):
                parameter.requires_grad_(requires_grad=False)
    for name, parameter in model.named_parameters():
        if "pooler." in name and getattr(recipe, "pooling", "") != "pooler":
            parameter.requires_grad_(requires_grad=False)
    return model


@dataclass(frozen=True, slots=True)
class Start:
    """What a training goes on from: two models, which may be one; what its claims' tokens count for, if it says so.

    - `digest`: over the files of all, as of `encoder_digest`.
    """

    name: str
    claims: ModelFiles
    passages: ModelFiles
    digest: str
    weighed: npt.NDArray[np.float32] | None

    def mean(self) -> dict[str, torch.Tensor]:
        """Give the weights half way between the two, for a model that reads claims and passages alike."""
        claims, passages = state_of(self.claims), state_of(self.passages)
        passages = named_as(passages, claims)
        return {
            name: (tensor + passages[name]) / 2 if tensor.is_floating_point() and name in passages else tensor
            for name, tensor in claims.items()
        }

    def adapters(self, recipe: EncoderRecipe, base: ModelFiles) -> dict[str, torch.Tensor]:
        """Give the adapters that a training goes on with: of one model for both over its base, of its rank; else none.

        They are gone on with where the training makes one model for both, too. Others become part of the layers that
        the training's own adapters lie over.
        """
        alike = self.claims.digest == self.passages.digest
        over = base.layers is None and self.claims.folder == base.folder
        if not (recipe.shared and recipe.lora_rank and alike and over):
            return {}
        layers = layers_of(self.claims)
        of_rank = all(
            name.endswith(UP) or (name.endswith(DOWN) and len(layers[name]) == recipe.lora_rank) for name in layers
        )
        return layers if of_rank else {}

    def counting(self, tokens: int) -> torch.Tensor:
        """Give the logarithms of what so many tokens count for; one that counted for nothing may count again."""
        counting = torch.zeros(tokens)
        if self.weighed is not None:
            given = torch.from_numpy(self.weighed[:tokens]).clamp(min=_LEAST)
            counting[: len(given)] = given.log()
        return counting


def start_of(card: EncoderCard, base: ModelFiles) -> Start:
    """Find an encoder that is to be gone on from, and check that it has the base's tokenizer."""
    weighed = token_weights(card.query_model)
    start = Start(
        card.name,
        find_model(card.query_model),
        find_model(card.passage_model),
        encoder_digest(card.query_model, card.passage_model),
        None if weighed is None else weighed[1],
    )
    tokenizers = {
        (settings_folder(files.folder) / TOKENIZER).read_bytes() for files in (base, start.claims, start.passages)
    }
    if len(tokenizers) > 1:
        raise _another(start.name)
    return start


def begin_as(model: Any, tensors: Mapping[str, torch.Tensor], name: str) -> None:  # noqa: ANN401 - untyped
    """Put the weights of `name` into a model as `Tower.build` gives it. Raises BadRequest: its shape is another."""
    own = model.state_dict()
    given = named_as(tensors, own)
    if any(given[each].shape != own[each].shape if each in given else "pooler." not in each for each in own):
        raise _another(name)
    model.load_state_dict({each: tensor for each, tensor in given.items() if each in own}, strict=False)


def _another(name: str) -> BadRequest:
    return BadRequest(
        f"The training cannot go on from {name}: it was made from another base than the recipe's. Begin from the base "
        "itself (--start base), or name the base it was made from."
    )


def _adapted(model: Any) -> dict[str, Any]:  # noqa: ANN401 - transformers is not typed
    """Give the matrices of a model that have adapters, by their names: modules of peft with one adapter each."""
    if not any(".lora_" in name for name, _ in model.named_parameters()):
        return {}
    from peft.tuners.lora import Linear

    return {name: module for name, module in model.named_modules() if isinstance(module, Linear)}


def adapters(model: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - transformers is not typed
    """Give the adapters of a model's matrices in float32, named as in a compact model; none where it has none.

    What their product is multiplied by in training is in the upper one.
    """
    found: dict[str, torch.Tensor] = {}
    for name, module in _adapted(model).items():
        (adapter,) = module.active_adapters
        down = module.lora_A[adapter].weight.detach().float().cpu()
        up = module.scaling[adapter] * module.lora_B[adapter].weight.detach().float().cpu()
        if module.fan_in_fan_out:  # GPT-2 keeps its matrices the other way round
            down, up = up.T, down.T
        found |= {name + DOWN: down.contiguous(), name + UP: up.contiguous()}
    return found


def between(
    began: Mapping[str, torch.Tensor], learnt: Mapping[str, torch.Tensor], blend: float
) -> dict[str, torch.Tensor]:
    """Go a part of the way from adapters to others of the same rank, or to the latter from none, as `blended` does.

    What both add, weighed, is of twice the rank, and what comes out is as near to it as their own rank allows.
    """
    if blend == 1.0:
        return dict(learnt)
    found: dict[str, torch.Tensor] = {}
    for name in [each.removesuffix(DOWN) for each in learnt if each.endswith(DOWN)]:
        down, up = learnt[name + DOWN], blend * learnt[name + UP]
        if began:
            rank = len(down)
            left, inner_left = torch.linalg.qr(torch.cat([(1 - blend) * began[name + UP], up], dim=1))
            right, inner_right = torch.linalg.qr(torch.cat([began[name + DOWN], down]).T)
            ups, sizes, downs = torch.linalg.svd(inner_left @ inner_right.T, full_matrices=False)
            roots = sizes[:rank].sqrt()  # in either, so that float16 has room for both
            up, down = left @ (ups[:, :rank] * roots), (roots[:, None] * downs[:rank]) @ right.T
        found |= {name + DOWN: down.contiguous(), name + UP: up.contiguous()}
    return found


def go_on_with(model: Any, given: Mapping[str, torch.Tensor]) -> None:  # noqa: ANN401 - transformers is not typed
    """Put adapters, named as in a compact model, into those of a model as `prepared` gives it.

    Raises BadRequest: they adapt other matrices.
    """
    modules = _adapted(model)
    if set(given) != {each + end for each, end in product(modules, (DOWN, UP))}:
        raise BadRequest(
            "The training cannot go on with these adapters: they adapt other matrices than trainings here do. Take a "
            "lora_rank of another number, and they are added into the layers."
        )
    for name, module in modules.items():
        (adapter,) = module.active_adapters
        down, up = given[name + DOWN], given[name + UP]
        if module.fan_in_fan_out:  # GPT-2 keeps its matrices the other way round
            down, up = up.T, down.T
        module.lora_A[adapter].weight.data.copy_(down)
        module.lora_B[adapter].weight.data.copy_(up / module.scaling[adapter])


T = TypeVar("T")


class Passes:
    """How a recipe parts a batch."""

    def __init__(self, recipe: Recipe) -> None:
        self._twice = recipe.cached
        self._tokens = recipe.chunk_tokens or TOKENS["cuda" if torch.cuda.is_available() else "cpu"]

    def of(self, lengths: torch.Tensor) -> Iterator[tuple[torch.Tensor, int]]:
        """Part rows into forward passes: numbers of the rows, the longest of all first, and the pass's longest length.

        >>> from relic_core.training.recipes import EncoderRecipe
        >>> parts = Passes(EncoderRecipe(chunk_tokens=100)).of(torch.tensor([30, 50, 30, 2]))
        >>> [(rows.tolist(), longest) for rows, longest in parts]
        [([1, 0], 50), ([2, 3], 30)]
        """
        order = torch.argsort(lengths, descending=True, stable=True)
        at = 0
        while at < len(order):
            longest = int(lengths[order[at]])
            rows = order[at : at + max(1, self._tokens // longest)]
            yield rows, longest
            at += len(rows)

    def once_or_twice(self, run: Callable[..., T], *arguments: torch.Tensor) -> T:
        """Run a pass; where memory is short its states are not kept but made again for the gradient.

        What is kept between the passes is what `run` gives, as in GradCache (Gao et al. 2021), and the gradient is the
        same.
        """
        if self._twice and torch.is_grad_enabled():
            found: T = checkpoint(run, *arguments, use_reentrant=False)
            return found
        return run(*arguments)


def in_order(parts: list[torch.Tensor], rows: list[torch.Tensor]) -> torch.Tensor:
    """Put together what passes gave, in the order of the batch's rows, whose numbers are as `Passes.of` gives them."""
    return torch.cat(parts)[torch.argsort(torch.cat(rows))]


_STEEPNESS = 100.0
"""A step of the learning rate changes what a token counts for by so many times as much, in proportion: a rate at which
layers learn would leave it as it is."""


class DualEncoder(nn.Module):
    """A context encoder and a quotation encoder from one base.

    - `start`: what it goes on from, in place of the base; of one model for both, half way between the two.

    `began_with` are the adapters that it goes on with; none where it begins anew, or what it goes on from has others.
    """

    _begun: torch.Tensor

    def __init__(self, recipe: EncoderRecipe, tower: Tower, start: Start | None = None) -> None:
        super().__init__()
        self._recipe = recipe
        self._passes = Passes(recipe)
        claims, passages = tower.build(begins=True), None if recipe.shared else tower.build(begins=True)
        self.began_with = {} if start is None else start.adapters(recipe, tower.files)
        if start is not None and not self.began_with:
            begin_as(claims, start.mean() if passages is None else state_of(start.claims), start.name)
            if passages is not None:
                begin_as(passages, state_of(start.passages), start.name)
        self.claims = prepared(claims, recipe)
        self.passages = self.claims if passages is None else prepared(passages, recipe)
        if self.began_with:
            go_on_with(self.claims, self.began_with)
        if recipe.is_late:
            begun = torch.zeros(claims.config.vocab_size) if start is None else start.counting(claims.config.vocab_size)
            self.register_buffer("_begun", begun, persistent=False)
            self._moved = nn.Parameter(torch.zeros_like(begun))

    def counting(self, blend: float = 1.0) -> torch.Tensor:
        """Give what each token of a claim counts for in late interaction, as a logarithm; shape (n_tokens,)."""
        return self._begun + blend * _STEEPNESS * self._moved

    def forward(
        self,
        *,
        claims: torch.Tensor,
        claim_lengths: torch.Tensor,
        gold: torch.Tensor,
        allowed: torch.Tensor,
        **spans: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Give the loss of a batch, as `Collator` makes it: a claim chooses among the quotations that are `allowed`.

        - `spans`: as of `late_scores`.
        """
        if self._recipe.is_late:
            scores = self.late_scores(claims, claim_lengths, **spans)
        else:
            scores = self.scores(self.claim_vectors(claims, claim_lengths), self.span_vectors(**spans))
        scores = scores.masked_fill(~allowed, float("-inf"))
        return _choosing(scores, gold, self._recipe.loss)

    def scores(self, claims: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        """Score claims against spans, in float32; shape (n_claims, n_spans)."""
        with torch.autocast(claims.device.type, enabled=False):
            one, other = claims.float(), spans.float()
            if self._recipe.similarity == "dot":
                return one @ other.T
            normal = nn.functional.normalize
            return normal(one, dim=-1) @ normal(other, dim=-1).T / self._recipe.temperature

    def claim_vectors(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Pool claims as `Tower.vectors` does, special tokens included; shape (n_claims, dimension)."""
        first = self._recipe.pooling != "mean"

        def pooled(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
            states, mask = self._states(self.claims, ids, lengths)
            if first:
                return states[:, 0]
            weights = mask.unsqueeze(-1).to(states.dtype)
            return (states * weights).sum(1) / weights.sum(1)

        order, found = [], []
        for rows, longest in self._passes.of(lengths):
            order.append(rows)
            found.append(self._passes.once_or_twice(pooled, ids[rows, :longest], lengths[rows]))
        return in_order(found, order)

    def span_vectors(
        self,
        passages: torch.Tensor,
        passage_lengths: torch.Tensor,
        segments: torch.Tensor,
        starts: torch.Tensor,
        lengths: torch.Tensor,
    ) -> torch.Tensor:
        """Pool spans, each the mean of the states of its segments' tokens; shape (n_spans, dimension)."""
        count = int(segments.max()) + 1

        def pooled(ids: torch.Tensor, row_lengths: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
            states, _ = self._states(self.passages, ids, row_lengths)
            kept = owners >= 0
            sums = states.new_zeros((count, states.shape[-1]))
            return sums.index_add(0, owners[kept], states[kept])

        parts = [
            self._passes.once_or_twice(
                pooled, passages[rows, :longest], passage_lengths[rows], segments[rows, :longest]
            )
            for rows, longest in self._passes.of(passage_lengths)
        ]
        sums = torch.stack(parts).sum(0)
        kept = segments[segments >= 0]
        tokens = torch.bincount(kept, minlength=count).to(sums.dtype).unsqueeze(-1)
        shifts = torch.arange(int(lengths.max()), device=starts.device)
        within = shifts < lengths.unsqueeze(1)
        which = (starts.unsqueeze(1) + shifts).clamp(max=count - 1)
        weights = within.unsqueeze(-1).to(sums.dtype)
        return (sums[which] * weights).sum(1) / (tokens[which] * weights).sum(1)

    def late_scores(
        self,
        claims: torch.Tensor,
        claim_lengths: torch.Tensor,
        passages: torch.Tensor,
        passage_lengths: torch.Tensor,
        segments: torch.Tensor,
        starts: torch.Tensor,
        lengths: torch.Tensor,
    ) -> torch.Tensor:
        """Score claims against spans as `retrieval.late` does, a claim's weights made to add up to 1, in float32.

        Returns: shape (n_claims, n_spans).
        """
        count, width = len(claims), claims.shape[1]
        places = torch.arange(claims.numel(), device=claims.device).view(count, width)
        places = places.masked_fill(places % width >= claim_lengths.unsqueeze(1), -1)
        asked, at = self._token_states(self.claims, claims, claim_lengths, places)
        own, segment = self._token_states(self.passages, passages, passage_lengths, segments)
        with torch.autocast(claims.device.type, enabled=False):
            cosine = self._recipe.similarity == "cosine"
            if cosine:
                asked, own = nn.functional.normalize(asked, dim=-1), nn.functional.normalize(own, dim=-1)
            maxima = torch.segment_reduce(own @ asked.T, "max", lengths=torch.bincount(segment))
            best = maxima[starts]
            for further in range(1, int(lengths.max())):
                beyond = maxima[(starts + further).clamp(max=len(maxima) - 1)]
                best = torch.where((lengths > further).unsqueeze(1), torch.maximum(best, beyond), best)
            weights = torch.exp(self.counting()[claims.flatten()[at]])
            rows = torch.arange(len(at), device=at.device)
            shares = weights.new_zeros((len(at), count)).index_put((rows, at // width), weights)
            scores = (best @ (shares / shares.sum(0))).T
            return scores / self._recipe.temperature if cosine else scores

    def _token_states(
        self,
        model: Any,  # noqa: ANN401
        ids: torch.Tensor,
        lengths: torch.Tensor,
        owners: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Give the states of the tokens that an owner at or above 0 keeps, and these owners, ascending."""

        def owned(ids: torch.Tensor, lengths: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
            return self._states(model, ids, lengths)[0][owners >= 0]

        found, order = [], []
        for rows, longest in self._passes.of(lengths):
            own = owners[rows, :longest]
            found.append(self._passes.once_or_twice(owned, ids[rows, :longest], lengths[rows], own))
            order.append(own[own >= 0])
        by = torch.cat(order)
        sorted_ = torch.argsort(by, stable=True)
        return torch.cat(found)[sorted_], by[sorted_]

    def _states(self, model: Any, ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: ANN401
        mask = torch.arange(ids.shape[1], device=ids.device) < lengths.unsqueeze(1)
        padding = model.config.pad_token_id or 0
        output = model(input_ids=ids.masked_fill(~mask, padding), attention_mask=mask.long())
        states = output.last_hidden_state
        if self._recipe.pooling == "pooler":  # in the place of the first token, which it is made of
            states = torch.cat([output.pooler_output.unsqueeze(1), states[:, 1:]], dim=1)
        return states.float(), mask


class RerankerInTraining(nn.Module):
    """A cross-encoder that learns to choose; `start` is an encoder between whose two models it begins."""

    def __init__(self, recipe: RerankerRecipe, card: RerankerCard, tower: Tower, start: Start | None = None) -> None:
        super().__init__()
        self._passes = Passes(recipe)
        self._claim_first = card.reading == "claim first"
        model = tower.build()
        if start is not None:
            begin_as(model, start.mean(), start.name)
        self.reader = JointReader(prepared(model, recipe), card)
        if recipe.frozen_embeddings and not recipe.lora_rank and card.pooling != "likeness":
            # Two rows, which tell a passage from its claim: most bases were trained on one text at a time. A likeness
            # is of two texts of one kind, and leaves them as they are.
            self.reader.model.embeddings.token_type_embeddings.weight.requires_grad_(requires_grad=True)

    def forward(
        self,
        *,
        claims: torch.Tensor,
        claim_lengths: torch.Tensor,
        passages: torch.Tensor,
        passage_lengths: torch.Tensor,
        gold: torch.Tensor,
        allowed: torch.Tensor,
        **of_rows: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Give the loss of a batch, as `RerankerCollator` makes it: a claim chooses among its own passages.

        - `of_rows`: owners, starts and ends of `Rows`.
        """
        longest = int(claim_lengths.max())
        read = self._passes.once_or_twice(self.reader.read_claims, claims[:, :longest], claim_lengths)
        found, order = [], []
        # Of all claims together: those of one claim have many lengths, and a pass costs as much as its longest row.
        read_anew = 0 if self._claim_first else claim_lengths[of_rows["owners"]]
        for some, longest in self._passes.of(passage_lengths + read_anew):
            own = {name: each[some] for name, each in of_rows.items()}
            rows = Rows(passages[some, :longest], passage_lengths[some], **own)
            found.append(self._passes.once_or_twice(partial(self.reader.scores, read, rows)))
            order.append(some)
        scored = in_order(found, order)
        scores = scored.new_full(allowed.shape, float("-inf")).masked_scatter(allowed, scored)
        return _choosing(scores, gold)


def _choosing(scores: torch.Tensor, gold: torch.Tensor, reduction: Loss = "mean") -> dict[str, torch.Tensor]:
    """Give the loss of choosing among passages: the negative log of the softmax over a claim's, at its own quotation.

    - `scores`: minus infinity for what does not count; shape (n_claims, n_passages).
    - `reduction`: "sum" over the claims is the loss of RELiC, section 3.2.
    """
    first = (scores.argmax(dim=1) == gold).float().mean()
    return {"loss": nn.functional.cross_entropy(scores, gold, reduction=reduction), "first": first.detach()}
