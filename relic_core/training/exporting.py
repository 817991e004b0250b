"""What a training makes: a folder with both encoders and the card that says how they are used."""

from __future__ import annotations

import copy
import json
import shutil
from typing import TYPE_CHECKING, Any

from relic_core.encoders.cards import CARD
from relic_core.encoders.weights import CONFIG, TOKENIZER, WEIGHTS
from relic_core.formats.files import written_whole
from relic_core.training.disk import room_for, take_name, written_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import torch

    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.weights import ModelFiles
    from relic_core.training.dual_encoder import DualEncoder

CLAIMS = "claims"
PASSAGES = "passages"
RECORD = "training.json"


def write_model(
    folder: Path, encoder: DualEncoder, base: ModelFiles, card: EncoderCard, record: Mapping[str, Any]
) -> None:
    """Write both encoders in float32 with their card; the folder appears under its name when all of it is written.

    Parameters
    ----------
    folder : Path
        One that is there is replaced.
    encoder : DualEncoder
        As it is now; adapters are added into the matrices they adapt.
    base : ModelFiles
        Gives configuration and tokenizer.
    card : EncoderCard
        How the encoders are used; where they are is filled in.
    record : mapping
        What made them, for ``training.json``.

    Raises
    ------
    StoreFull
        The disk has no room left.
    StoreError
        The folder cannot be written.
    """
    with written_folder(folder) as half:
        towers = (
            {CLAIMS: encoder.claims}
            if encoder.passages is encoder.claims
            else {CLAIMS: encoder.claims, PASSAGES: encoder.passages}
        )
        for name, model in towers.items():
            (half / name).mkdir()
            for file in (CONFIG, TOKENIZER):
                shutil.copyfile(base.folder / file, half / name / file)
            _save_tensors(half / name / WEIGHTS, merged(model))
        _write_json(
            half / CARD,
            {"name": card.name, "query_model": CLAIMS, "passage_model": next(reversed(towers)), **card.facts},
        )
        _write_json(half / RECORD, record)


def keep_model(candidate: Path, folder: Path, figures: Mapping[str, float]) -> None:
    """Make a model that was written and validated the one that is kept, with its figures in its record.

    Raises
    ------
    StoreFull, StoreError
        As `write_model`.
    """
    record = json.loads((candidate / RECORD).read_text(encoding="utf-8"))
    with room_for(folder):
        _write_json(candidate / RECORD, {**record, "figures": {**record["figures"], **figures}})
        take_name(candidate, folder)


def merged(model: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - transformers is not typed
    """Give a model's weights under the names of its base, float32, with adapters added in."""
    if any(".lora_" in name for name, _ in model.named_parameters()):
        from peft.tuners.tuners_utils import BaseTunerLayer

        model = copy.deepcopy(model)
        for module in model.modules():
            if isinstance(module, BaseTunerLayer):
                module.merge()
    return {
        name.replace(".base_layer.", "."): tensor.detach().float().cpu().contiguous()
        for name, tensor in model.state_dict().items()
        if ".lora_" not in name
    }


def _save_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    from safetensors.torch import save_file

    save_file(tensors, path, metadata={"format": "pt"})


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    with written_whole(path) as file:
        file.write((json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())
