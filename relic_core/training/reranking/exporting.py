"""What training a reranker makes: one folder with the model, its card, and the record of what made it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relic_core.encoders.joint_reading import HEAD
from relic_core.encoders.reranker_cards import RERANKER_CARD
from relic_core.encoders.weights import CONFIG, TOKENIZER, WEIGHTS, find_model
from relic_core.formats.files import written_whole
from relic_core.training.disk import written_folder
from relic_core.training.exporting import RECORD, merged

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from relic_core.encoders.joint_reading import JointReader
    from relic_core.encoders.reranker_cards import RerankerCard
    from relic_core.encoders.weights import ModelFiles


def write_reranker(
    folder: Path, reader: JointReader, base: ModelFiles, card: RerankerCard, record: Mapping[str, Any]
) -> None:
    """Write a cross-encoder in float32; the folder appears under its name when all of it is written.

    Parameters
    ----------
    folder : Path
        One that is there is replaced.
    reader : JointReader
        As it is now; adapters are added into the matrices they adapt.
    base : ModelFiles
        Gives configuration and tokenizer.
    card : RerankerCard
        How it is used; the digest of its files is filled in.
    record : mapping
        What made it, for ``training.json``.

    Raises
    ------
    StoreFull
        The disk has no room left.
    StoreError
        The folder cannot be written.
    """
    from safetensors.torch import save_file

    with written_folder(folder) as half:
        for file in (CONFIG, TOKENIZER):
            shutil.copyfile(base.folder / file, half / file)
        tensors = {**merged(reader.model), HEAD: reader.head.weight.detach().float().cpu().contiguous()}
        save_file(tensors, half / WEIGHTS, metadata={"format": "pt"})
        digest = find_model(str(half)).digest
        for name, said in ((RERANKER_CARD, replace(card, digest=digest).to_json()), (RECORD, record)):
            with written_whole(half / name) as out:
                out.write((json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode())
