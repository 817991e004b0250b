"""Encoders that a training is told to use, by the names that a person gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.encoders.cards import read_card
from relic_core.errors import BadRequest
from relic_core.retrieval.dense import trained_model
from relic_core.services.training.asking import DEFAULT_HARD, THE_BASE
from relic_core.services.training.folders import FOLDER, TrainingFolder

if TYPE_CHECKING:
    from relic_core.encoders.cards import EncoderCard
    from relic_core.services.training.asking import Asked
    from relic_core.services.workbench import Workbench


def start_card(workbench: Workbench, asked: Asked) -> EncoderCard | None:
    """Find the encoder that a training goes on from; None where it begins from its base.

    Raises
    ------
    BadRequest
        As `encoder_named`.
    BadWeights
        There is no such model.
    """
    return None if asked.start == THE_BASE else read_card(encoder_named(workbench, asked.start))


def encoder_named(workbench: Workbench, said: str) -> str:
    """Give what `read_card` takes for an encoder that a person named.

    Parameters
    ----------
    workbench : Workbench
        Where trainings are.
    said : str
        "default" for dense-RELiC as the app has it, the id of a training, or a model's folder, name or card.

    Raises
    ------
    BadRequest
        It is a training without a model, or of a reranker.
    """
    if said == DEFAULT_HARD:
        return trained_model(workbench.settings)
    folder = TrainingFolder(workbench.settings.data / FOLDER / said)
    if not folder.path.is_dir() or "/" in said:
        return said
    if not folder.has_model:
        raise BadRequest(f"The training {said} has no model yet. Take another, or wait until it has.")
    if not folder.card.is_file():
        raise BadRequest(
            f"The training {said} makes a reranker, which finds nothing by itself. An encoder is wanted: name another."
        )
    return str(folder.card)
