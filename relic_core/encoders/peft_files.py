"""Adapters (LoRA) as PEFT writes them: which model they are for, and its weights with them added.

W + alpha / r * B A,  with rank-stabilised adapters  W + alpha / sqrt(r) * B A
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from relic_core.encoders.kinds import PEFT
from relic_core.encoders.pretrained import State
from relic_core.encoders.weights import DOWN, UP, named_as, with_adapters
from relic_core.errors import BadWeights

ADAPTERS = "adapter_model.safetensors"
_BEFORE = "base_model.model."
_HEADS = ("score.", "classifier.")


def _settings(folder: Path) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = json.loads((folder / PEFT).read_bytes())
        fits = settings["peft_type"] == "LORA" and settings["base_model_name_or_path"] and settings["r"] > 0
        plain = not any(settings.get(name) for name in ("use_dora", "rank_pattern", "alpha_pattern"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadWeights(f"{folder / PEFT} cannot be read ({error}). Fetch the adapters again.") from None
    if not fits or not plain or not (folder / ADAPTERS).is_file():
        raise BadWeights(
            f"The adapters in {folder} cannot be added: plain LoRA in {ADAPTERS} is read, with one rank for all. Save "
            "the model with its adapters merged (merge_and_unload of PEFT)."
        )
    return settings


def peft_base(folder: Path) -> str:
    """Name the model that adapters are for. Raises BadWeights: they cannot be added."""
    return str(_settings(folder)["base_model_name_or_path"])


def with_peft(state: State, folder: Path) -> State:
    """Add adapters to the weights of their base; a head that they bring takes the place of its own.

    Raises ValueError: a matrix that they are for is not there.
    """
    from safetensors.torch import load_file

    settings = _settings(folder)
    scale = settings["lora_alpha"] / (math.sqrt(settings["r"]) if settings.get("use_rslora") else settings["r"])
    held = {name.removeprefix(_BEFORE): each.float() for name, each in load_file(folder / ADAPTERS).items()}
    narrow = {name: each for name, each in held.items() if name.endswith((DOWN, UP))}
    heads = {name: each for name, each in held.items() if name not in narrow}
    strange = [name for name in heads if not name.startswith(_HEADS)]
    state = named_as(state, {f"{name.removesuffix(DOWN)}.weight" for name in narrow if name.endswith(DOWN)})
    lacking = [name for name in narrow if name.endswith(DOWN) and f"{name.removesuffix(DOWN)}.weight" not in state]
    if strange or lacking:
        raise ValueError(f"its adapters hold {(strange or lacking)[0]}, which has no place in their base")
    scaled = {name: each * scale if name.endswith(UP) else each for name, each in narrow.items()}
    return {**with_adapters(state, scaled), **heads}
