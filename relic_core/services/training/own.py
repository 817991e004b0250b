"""What the retrievers are called whose model was trained here: by its own name, not by that of the program's model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.errors import BadWeights, NotFound
from relic_core.services.training.choices import read_choices
from relic_core.services.training.folders import FOLDER, TrainingFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from relic_core.domain.trainings import ModelKind
    from relic_core.retrieval.registry import RetrieverCard

_OF: Mapping[str, ModelKind] = {"dense-relic": "encoder", "reranked": "reranker"}
"""By retriever the kind of model that stands behind it and can be chosen among the trainings."""


def own_models(data: Path, named: Mapping[ModelKind, str]) -> dict[str, tuple[str, str]]:
    """Name the models that were trained here and are searched with.

    - `named`: what the settings name, by kind: it stands over a choice.

    Returns: by retriever the name of its model, and the name with when it was trained.
    """
    try:
        choices = read_choices(data)
    except BadWeights:  # searching tells it
        return {}
    found = {}
    for retriever, kind in _OF.items():
        choice = choices[-1].of(kind) if choices else None
        if choice is None or named[kind]:
            continue
        try:
            when = f" on {TrainingFolder(data / FOLDER / choice.training).training.created:%-d %B %Y}"
        except NotFound:
            when = ""
        found[retriever] = choice.name, f"{choice.name}, trained here{when}"
    return found


def described(card: RetrieverCard, own: Mapping[str, tuple[str, str]]) -> RetrieverCard:
    """Describe a retriever by the model that was trained here, where it has such a one.

    What reorders keeps its label, which says what it does, and names the model in its description.
    """
    if card.name not in own:
        return card
    name, trained = own[card.name]
    label = name if card.kind == "dense" else card.label
    return replace(card, label=label, description=f"{trained}. {card.description}")
