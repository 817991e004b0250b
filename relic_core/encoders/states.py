"""The weights of a model as tensors, wherever they come from: a file of its own, or layers over those of a base.

Imported where something is computed, because it imports torch.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from safetensors.torch import load_file

from relic_core.encoders.weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import torch

    from relic_core.encoders.weights import ModelFiles


def state_of(files: ModelFiles) -> dict[str, torch.Tensor]:
    """Read the weights of a model; those of a compact one are its base's with its own layers in their place.

    - `files`: a model that was found and checked.

    Returns: under the names of its file, numbers in float32.

    Raises safetensors.SafetensorError, OSError: a file cannot be read.
    """
    state = load_file(files.folder / WEIGHTS)
    if files.layers is not None:
        layers = load_file(files.layers)
        state = {**named_as(state, layers), **layers}
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in state.items()}


def named_as(state: Mapping[str, torch.Tensor], wanted: Collection[str]) -> dict[str, torch.Tensor]:
    """Give weights the names that a bare model has for them.

    Those saved with a head carry the model's name before their own ("bert.", of DPR "ctx_encoder.bert_model."), and
    checkpoints of BERT's first years call the two parts of a layer norm gamma and beta.

    - `state`: as they are called in a file.
    - `wanted`: names of the bare model, or some of them.

    >>> named_as({"bert.pooler.bias": 1, "bert.LayerNorm.gamma": 2, "cls.bias": 3}, {"pooler.bias", "LayerNorm.weight"})
    {'pooler.bias': 1, 'LayerNorm.weight': 2, 'cls.bias': 3}
    """
    modern = {
        name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): tensor
        for name, tensor in state.items()
    }
    before: Counter[str] = Counter({"": 0})  # where nothing is known of names they stay
    for name in modern:
        starts = [0, *(at + 1 for at, letter in enumerate(name) if letter == ".")]
        before.update(name[:at] for at in starts if name[at:] in wanted)
    prefix = max(before, key=lambda each: before[each])
    return {name.removeprefix(prefix): tensor for name, tensor in modern.items()}
