"""Encoders that a training is told to use, by the names that a person gives them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.encoders.cards import read_card
from relic_core.encoders.weights import find_model, pair_digest
from relic_core.errors import BadRequest, BadWeights
from relic_core.retrieval.dense import trained_model
from relic_core.services.training.asking import BASE_HARD, DEFAULT_HARD, NO_HARD, THE_BASE
from relic_core.services.training.folders import FOLDER, TrainingFolder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.encoders.cards import EncoderCard
    from relic_core.services.training.asking import TrainingRequest
    from relic_core.wiring import App


_SETTLED = "models.json"
_OF_ITS_OWN = {"start": (THE_BASE,), "hard": (NO_HARD, BASE_HARD)}
"""By what is asked: what names no encoder beside the recipe's base."""
_DOES = {"start": "goes on from", "hard": "looks for hard wrong answers with"}


def settle(app: App, folder: TrainingFolder, asked: TrainingRequest) -> dict[str, dict[str, str]]:
    """Write down which encoders a training uses: what is the default now may be another when it is resumed.

    Returns: for "start" and "hard", where one is used: "model", as `read_card` takes it, and "digest" of its files,
    empty before the training has used it.

    Raises BadRequest: as `encoder_named`.
    Raises StoreError: it cannot be written.
    """
    said = folder.read(_SETTLED, tuple(_OF_ITS_OWN))
    if said is None:
        said = {
            key: {} if (name := getattr(asked, key)) in own else {"model": _placed(app, name), "digest": ""}
            for key, own in _OF_ITS_OWN.items()
        }
        folder.write(_SETTLED, said)
    return said


def settled(app: App, folder: TrainingFolder, asked: TrainingRequest, needed: Iterable[str]) -> TrainingRequest:
    """Give what is asked of a training, with the encoders that were settled on in the place of what they were called.

    - `app`, `folder`, `asked`: as of `settle`.
    - `needed`: "start", "hard": those that this sitting will use. They must be as they were when they were first used.

    Raises BadRequest: as `encoder_named`.
    Raises BadWeights: one is not there any more, or not as it was.
    Raises StoreError: what is settled cannot be written.
    """
    said = settle(app, folder, asked)
    for key in needed:
        if not said[key]:
            continue
        model, before = said[key]["model"], said[key]["digest"]
        now = _digest(key, model)
        if before and now != before:
            raise BadWeights(
                f"The training {_DOES[key]} the model {model}, which is not as it was when the training began. Put it "
                "back as it was, or start the training anew."
            )
        said[key]["digest"] = now
    folder.write(_SETTLED, said)
    start, hard = said["start"], said["hard"]
    return replace(asked, start=start.get("model", asked.start), hard=hard.get("model", asked.hard))


def _placed(app: App, said: str) -> str:
    """Find an encoder, and name it so that it is found from any folder."""
    model = encoder_named(app, said)
    path = Path(model).expanduser()
    return str(path.resolve()) if path.exists() else model


def _digest(key: str, model: str) -> str:
    try:
        card = read_card(model)
        return pair_digest(find_model(card.query_model), find_model(card.passage_model))
    except BadWeights as error:
        raise BadWeights(
            f"The training {_DOES[key]} the model {model}, which cannot be used any more. {error} Put it back as it "
            "was, or start the training anew."
        ) from error


def start_card(app: App, asked: TrainingRequest) -> EncoderCard | None:
    """Find the encoder that a training goes on from; None where it begins from its base.

    Raises BadRequest: as `encoder_named`.
    Raises BadWeights: there is no such model.
    """
    return None if asked.start == THE_BASE else read_card(encoder_named(app, asked.start))


def encoder_named(app: App, said: str) -> str:
    """Give what `read_card` takes for an encoder that a person named.

    - `app`: where trainings are.
    - `said`: "default" for dense-RELiC as the app has it, the id of a training, or a model's folder, name or card.

    Raises BadRequest: it is a training without a model, or of a reranker.
    """
    if said == DEFAULT_HARD:
        return trained_model(app.settings)
    folder = TrainingFolder(app.settings.data / FOLDER / said)
    if not folder.path.is_dir() or "/" in said:
        return said
    if not folder.has_model:
        raise BadRequest(f"The training {said} has no model yet. Take another, or wait until it has.")
    if not folder.card.is_file():
        raise BadRequest(
            f"The training {said} makes a reranker, which finds nothing by itself. An encoder is wanted: name another."
        )
    return str(folder.card)
