"""The reranker that a setting names: the folder of a cross-encoder, or a model that says how likely the claim is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.encoders.cross_encoder import CrossEncoder
from relic_core.encoders.generator import GeneratorReranker

if TYPE_CHECKING:
    from relic_core.ports import Reranker

LIKELIHOOD = "likelihood:"
"""Stands before the folder or hub name of a sequence-to-sequence model."""


def open_reranker(named: str) -> Reranker:
    """Find a reranker and check its files; its model is loaded when first used.

    - `named`: the folder of a cross-encoder, or `LIKELIHOOD` and a sequence-to-sequence model: its folder, or its name
      in the local cache ("likelihood:facebook/bart-base").

    Raises BadWeights: the files are missing, damaged, or of something else.
    """
    if named.startswith(LIKELIHOOD):
        return GeneratorReranker(named.removeprefix(LIKELIHOOD).strip())
    return CrossEncoder(named)
