"""What training a reranker makes: one folder with the model, its card, and the record of what made it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relic_core.encoders.cards import RERANKER_CARD
from relic_core.encoders.joint_reader import GATES, HEAD
from relic_core.encoders.weights import find_model
from relic_core.training.disk import written_folder
from relic_core.training.exporting import RECORD, merged, write_json, write_weights

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from relic_core.encoders.cards import RerankerCard
    from relic_core.encoders.joint_reader import JointReader
    from relic_core.encoders.weights import ModelFiles


def write_reranker(
    folder: Path,
    reader: JointReader,
    base: ModelFiles,
    card: RerankerCard,
    record: Mapping[str, Any],
    *,
    keeps_embeddings: bool,
) -> None:
    """Write a cross-encoder; the folder appears under its name when all of it is written.

    - `reader`: as it is now; adapters are added into the matrices they adapt.
    - `card`: how it is used; the digest of its files is filled in.
    - `record`: what made it, for ``training.json``.
    - `keeps_embeddings`: whether the embeddings of words are the base's: see `write_weights`.

    Raises StoreFull: the disk has no room left.
    Raises StoreError: the folder cannot be written.
    """
    with written_folder(folder) as half:
        beside = {name: tensor for name, tensor in reader.named_parameters() if name in {HEAD, GATES}}
        learnt = {name: tensor.detach().float().cpu().contiguous() for name, tensor in beside.items()}
        tensors = {**merged(reader.model), **learnt}
        write_weights(half, tensors, base, keeps_embeddings=keeps_embeddings)
        write_json(half / RERANKER_CARD, replace(card, digest=find_model(str(half)).digest).to_json())
        write_json(half / RECORD, record)
