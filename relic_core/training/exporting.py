"""What a training makes: a folder with an encoder or a reranker, and the card that says how it is used."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from relic_core.encoders.cards import CARD, RERANKER_CARD, EncoderCard, RerankerCard
from relic_core.encoders.joint_reader import GATES, HEAD
from relic_core.encoders.weights import (
    CONFIG,
    LAYERS,
    LAYERS_CARD,
    TOKEN_WEIGHTS,
    TOKENIZER,
    UP,
    WEIGHTS,
    LayersCard,
    ModelFiles,
    encoder_digest,
    find_model,
    named_as,
    state_of,
    with_adapters,
)
from relic_core.formats.files import written_whole
from relic_core.training.checkpoints import room_for, take_name, written_folder
from relic_core.training.models import DualEncoder, RerankerInTraining, Start, adapters, between
from relic_core.training.recipes import EncoderRecipe
from relic_core.training.sources import GeneratorInTraining, RetrievalInTraining

CLAIMS = "claims"
PASSAGES = "passages"
RECORD = "training.json"


def write_model(
    folder: Path,
    learner: DualEncoder | RetrievalInTraining,
    record: Mapping[str, Any],
    *,
    base: ModelFiles,
    card: EncoderCard,
    recipe: EncoderRecipe,
    start: Start | None = None,
) -> None:
    """Write both encoders with their card; the folder appears under its name when all of it is written.

    - `learner`: as it is now; where adapters are what it learnt, they are written as such over a base that is found
      anywhere, else added into the matrices they adapt.
    - `base`: what both are written as layers over.
    - `card`: where the encoders are, and the digest of their files, is filled in.
    - `recipe`: whether the embeddings are the base's, and how far the way is gone from what they began as.
    - `start`: what they began as, where that is not the base.
    """
    encoder = learner if isinstance(learner, DualEncoder) else learner.encoder
    with written_folder(folder) as half:
        towers = (
            {CLAIMS: encoder.claims}
            if encoder.passages is encoder.claims
            else {CLAIMS: encoder.claims, PASSAGES: encoder.passages}
        )
        for name, model in towers.items():
            (half / name).mkdir()
            if recipe.lora_rank and (start is None or encoder.began_with) and base.anywhere is not None:
                both = between(encoder.began_with, adapters(model), recipe.blend)
                _write_layers(half / name, both, base.anywhere, base.digest)
                continue
            tensors = blended(merged(model), _begun(start, base, name, one=len(towers) == 1), recipe.blend)
            write_weights(half / name, tensors, base, keeps_embeddings=recipe.keeps_embeddings)
        if recipe.is_late:
            counting = encoder.counting(recipe.blend).detach().exp().cpu()
            write_tensors(half / CLAIMS / TOKEN_WEIGHTS, {"weights": counting})
        used = {"query_model": CLAIMS, "passage_model": next(reversed(towers))}
        digest = encoder_digest(*(str(half / name) for name in used.values()))
        learnt = {"learnt": card.learnt} if card.learnt else {}
        write_json(half / CARD, {"name": card.name, **used, **card.facts, **learnt, "digest": digest})
        write_json(half / RECORD, record)


def write_weights(
    folder: Path, tensors: Mapping[str, torch.Tensor], base: ModelFiles, *, keeps_embeddings: bool
) -> None:
    """Write the weights of a model, compact where it keeps much of a base that is found on any machine.

    A compact model is what differs from the base, in float16 as far as float16 has room for its numbers, and a card;
    a whole one is all tensors in float32, with the base's configuration and tokenizer.

    - `tensors`: in float32, under the names of the bare model.
    """
    if not keeps_embeddings or base.anywhere is None:
        for file in (CONFIG, TOKENIZER):
            shutil.copyfile(base.folder / file, folder / file)
        write_tensors(folder / WEIGHTS, tensors)
        return
    before = named_as(state_of(base), tensors)
    learnt = {
        name: tensor for name, tensor in tensors.items() if name not in before or not torch.equal(tensor, before[name])
    }
    _write_layers(folder, learnt, base.anywhere, base.digest)


def _write_layers(folder: Path, learnt: Mapping[str, torch.Tensor], base: str, base_digest: str) -> None:
    short = {name: _short(tensor) for name, tensor in learnt.items()}
    digest = write_tensors(folder / LAYERS, short)
    long = any(tensor.dtype == torch.float32 for tensor in short.values())
    card = LayersCard(
        base=base,
        base_digest=base_digest,
        sha256=digest,
        precision="float16 and float32" if long else "float16",
        version="layers/2" if any(name.endswith(UP) for name in learnt) else "layers/1",
    )
    write_json(folder / LAYERS_CARD, card.model_dump())


def keep_model(candidate: Path, folder: Path, figures: Mapping[str, float]) -> None:
    """Make a model that was written and validated the one that is kept, with its figures in its record."""
    record = json.loads((candidate / RECORD).read_text(encoding="utf-8"))
    with room_for(folder):
        write_json(candidate / RECORD, {**record, "figures": {**record["figures"], **figures}})
        take_name(candidate, folder)


def merged(model: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - transformers is not typed
    """Give a model's weights under the names of its base, float32, with adapters added in."""
    state = {
        name.replace(".base_layer.", "."): tensor.detach().float().cpu().contiguous()
        for name, tensor in model.state_dict().items()
        if ".lora_" not in name
    }
    return with_adapters(state, adapters(model))


def blended(
    tensors: Mapping[str, torch.Tensor], began: Mapping[str, torch.Tensor], blend: float
) -> dict[str, torch.Tensor]:
    """Go a part of the way from what a model began as to what was learnt from it, weight by weight.

    What was learnt stays, and more of what was known of texts unlike those learnt from (WiSE-FT: Wortsman et al. 2022,
    "Robust fine-tuning of zero-shot models").

    - `tensors`: what was learnt, under the names of the bare model.
    - `blend`: 0 for what it began as, 1 for all that was learnt.
    """
    if blend == 1.0:
        return dict(tensors)
    before = named_as(began, tensors)
    return {
        name: torch.lerp(before[name], tensor, blend) if name in before and tensor.is_floating_point() else tensor
        for name, tensor in tensors.items()
    }


def _begun(start: Start | None, base: ModelFiles, tower: str, *, one: bool) -> dict[str, torch.Tensor]:
    """Read what an encoder began as; one that is both claims' and passages' began half way between the two."""
    if start is None:
        return state_of(base)
    if one:
        return start.mean()
    return state_of(start.claims if tower == CLAIMS else start.passages)


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> str:
    """Write tensors for all who may read the folder, which safetensors' own way does not; give the file's sha256."""
    content = save(dict(tensors), metadata={"format": "pt"})
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def _short(tensor: torch.Tensor) -> torch.Tensor:
    """Give a tensor in float16; as it is where a number is beyond 65,504, the largest of float16."""
    half = tensor.half()
    return half if torch.isfinite(half).all() else tensor


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object as JSON, whole or not at all."""
    with written_whole(path) as file:
        file.write((json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def write_generator(folder: Path, learner: GeneratorInTraining, record: Mapping[str, Any], *, base: ModelFiles) -> None:
    """Write a model that generates text, as `SpanLikelihood` reads it; the folder appears when all of it is written."""
    state = learner.model.state_dict()
    names = {tensor.data_ptr(): name for name, tensor in reversed(state.items())}  # of tied ones the first
    with written_folder(folder) as half:
        tensors = {name: state[name].detach().float().cpu().contiguous() for name in names.values()}
        write_weights(half, tensors, base, keeps_embeddings=False)
        write_json(half / RECORD, record)


def write_reranker(
    folder: Path,
    learner: RerankerInTraining,
    record: Mapping[str, Any],
    *,
    base: ModelFiles,
    card: RerankerCard,
    keeps_embeddings: bool,
) -> None:
    """Write a cross-encoder; the folder appears under its name when all of it is written.

    Adapters are added into the matrices they adapt; the card gets the digest of the files.
    """
    with written_folder(folder) as half:
        reader = learner.reader
        beside = {name: tensor for name, tensor in reader.named_parameters() if name in {HEAD, GATES}}
        learnt = {name: tensor.detach().float().cpu().contiguous() for name, tensor in beside.items()}
        tensors = {**merged(reader.model), **learnt}
        write_weights(half, tensors, base, keeps_embeddings=keeps_embeddings)
        write_json(half / RERANKER_CARD, asdict(card) | {"digest": find_model(str(half)).digest})
        write_json(half / RECORD, record)
