"""What of a base is learnt, and what stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from relic_core.training.recipes import Recipe

_LORA_ALPHA = 2
"""LoRA's alpha over its rank: by how much what the adapters add is multiplied."""


def keeps_embeddings(recipe: Recipe) -> bool:
    """Whether the embeddings of words stay the base's: where they are frozen, and where adapters are trained."""
    return recipe.frozen_embeddings or recipe.lora_rank > 0


def prepared(model: Any, recipe: Recipe) -> Any:  # noqa: ANN401 - transformers is not typed
    """Make a base ready to be trained: attention, dropout, what is learnt and what stays.

    Parameters
    ----------
    model : module
        As `Tower.build` gives it; it is changed.
    recipe : Recipe
        What is learnt.

    Returns
    -------
    module
        The same; what stays asks for no gradient. The pooler stays in any case: it gives none of the vectors.
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
