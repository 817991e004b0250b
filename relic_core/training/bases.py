"""The base of a training: its files, its mask token, what of it is learnt and what stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.weights import find_model
from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from relic_core.encoders.towers import Tower
    from relic_core.encoders.weights import ModelFiles
    from relic_core.training.recipes import Recipe

_MASKS = ("[MASK]", "<mask>")

_LORA_ALPHA = 2
"""LoRA's alpha over its rank: by how much what the adapters add is multiplied."""


def base_files(recipe: Recipe, tower: Tower) -> ModelFiles:
    """Give the files that a training begins from, by the name in the recipe where they are the same.

    Of a pair like DPR's either half may be named, and both encoders begin from the one that reads passages.

    Raises BadWeights: the base is not there, or not the expected one.
    """
    named = find_model(recipe.base)
    return named if named.digest == tower.files.digest else tower.files


def mask_token(recipe: Recipe) -> str:
    """Give the mask token of a recipe's base; none where the recipe wants none.

    Raises BadWeights: the recipe wants one and the tokenizer has none, or the base is not there.
    """
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


def keeps_embeddings(recipe: Recipe) -> bool:
    """Whether the embeddings of words stay the base's: where they are frozen, and where adapters are trained."""
    return recipe.frozen_embeddings or recipe.lora_rank > 0


def prepared(model: Any, recipe: Recipe) -> Any:  # noqa: ANN401 - transformers is not typed
    """Make a base ready to be trained: attention, dropout, what is learnt and what stays.

    - `model`: as `Tower.build` gives it; it is changed.

    Returns: the same; what stays asks for no gradient. The pooler stays in any case: it gives none of the vectors.
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
        if "pooler." in name:
            parameter.requires_grad_(requires_grad=False)
    return model
