"""What is checked before a training begins: what can be told at once is not told after an hour."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from relic_core.encoders.cards import read_card
from relic_core.encoders.weights import find_model
from relic_core.errors import BadRequest, BadWeights, StoreFull
from relic_core.retrieval.dense import trained_model
from relic_core.services.training import estimating, material
from relic_core.services.training.asking import DEFAULT_HARD
from relic_core.services.training.encoders import start_card
from relic_core.services.training.hard_negatives import hard_card
from relic_core.services.training.validating import watchable
from relic_core.training.recipes import Recipe

if TYPE_CHECKING:
    from relic_core.encoders.cards import EncoderCard
    from relic_core.services.training.asking import TrainingRequest
    from relic_core.wiring import App


def check(app: App, asked: TrainingRequest) -> None:
    """Check that a training can begin.

    Raises BadRequest: there is too little to learn from; the recipe cannot be followed, or watches a figure there is
    none of; this is one of several processes.
    Raises BadWeights: the base model is not there, lacks a file or a mask token, or is none that such a model can be
    made of; the model that looks for hard negatives, that finds what a reranker is to reorder, or that is gone on from,
    is not there.
    Raises StoreFull: the disk has no room for its files.
    """
    there = app.store.trainings.material(asked.sources)
    if lacking := material.lacking(there):
        raise BadRequest(lacking)
    pairs = 0 if asked.use == "windows" else min(there.pairs, asked.pairs or there.pairs)
    material.check(pairs, 0 if asked.use == "pairs" else there.windows)
    _check_watch(asked)
    find_model(asked.recipe.base)  # what lacks a file is told before torch is loaded
    looking(app, asked)
    _check_alone()
    if isinstance(asked.recipe, Recipe):
        from relic_core.training.trainer import trained_card

        trained_card(asked.recipe)
    else:
        from relic_core.training.reranking.trainer import check_base

        check_base(asked.recipe)
    _check_start(app, asked)
    _check_room(app, asked)


def looking(app: App, asked: TrainingRequest) -> EncoderCard | None:
    """Find the encoder that looks for hard negatives; None where none are looked for.

    Raises BadRequest: as `hard_card`; or the recipe takes none of what would be found.
    Raises BadWeights: it is not there; or a reranker is to be validated, and dense-RELiC, of what it finds, is not
    there.
    """
    if asked.recipe.kind == "reranker" and (asked.hard == DEFAULT_HARD or asked.validation):
        _check_encoder(app)
    if asked.hard and isinstance(asked.recipe, Recipe) and not asked.recipe.hard_negatives:
        raise BadRequest(
            "Hard wrong answers would be looked for, which takes long, and none would be taught: the recipe's "
            "hard_negatives is 0. Set it to 1 or more, or look for none (--hard none)."
        )
    return hard_card(app, asked) if asked.hard else None


def _check_encoder(app: App) -> None:
    try:
        card = read_card(trained_model(app.settings))
        for tower in (card.query_model, card.passage_model):
            find_model(tower)
    except BadWeights as error:
        raise BadWeights(
            "A reranker learns from what dense-RELiC takes for the right passage, and is validated on what it finds; "
            f"and its model cannot be used. {error} Or train an encoder first and make it the default (`python -m "
            "relic_core train --use ID`)."
        ) from error


def _check_alone() -> None:
    from relic_core.training.processes import count

    if count() > 1:
        raise BadRequest(
            f"This is one of {count()} processes that were launched together, and each would begin a training of its "
            "own. Begin it without a launcher; docs/training.md says how several graphics cards train together."
        )


def _check_start(app: App, asked: TrainingRequest) -> None:
    card = start_card(app, asked)
    if card is not None:
        from relic_core.training.starts import start_of

        start_of(card, find_model(asked.recipe.base))


def _check_watch(asked: TrainingRequest) -> None:
    known = watchable(asked.recipe.kind)
    if asked.validation and asked.recipe.watch not in known:
        raise BadRequest(
            f"The recipe watches {asked.recipe.watch}, which the validation does not give. It gives "
            f"{', '.join(known)}: write one of them into the recipe."
        )


def _check_room(app: App, asked: TrainingRequest) -> None:
    data = app.settings.data
    needed, free = estimating.room(asked.recipe), shutil.disk_usage(data if data.exists() else data.parent).free
    if free < needed:
        raise StoreFull(
            f"A training of this recipe takes up to {needed / 1e9:.1f} GB (checkpoints to go on from, and its "
            f"model), and the disk of {data} has {free / 1e9:.1f} GB left. Make room, or choose another data "
            "folder with RELIC_DATA."
        )
