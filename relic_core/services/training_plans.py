"""What a training would learn from and cost, and what it lacks: said before it begins, not an hour later."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from relic_core.config import Settings
from relic_core.domain import WorkSummary
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.weights import find_model
from relic_core.errors import BadRequest, BadWeights, StoreFull
from relic_core.library.folder import admit
from relic_core.retrieval.dense import trained_model
from relic_core.store.splits import SplitRows
from relic_core.store.trainings import Material
from relic_core.training import estimates
from relic_core.training.estimates import Estimate
from relic_core.training.examples import FEW, TrainingData, check_enough, lacking
from relic_core.training.recipes import ABOUT, RECIPES, AnyRecipe, EncoderRecipe, SourceRecipe, recipe_of, setting
from relic_core.training.requests import (
    DENSE_RELIC,
    LENGTHS,
    NO_MODEL,
    PRETRAINED,
    USES,
    TrainingRequest,
    Use,
    base_card,
    defaults_of,
    hard_card,
    start_card,
)
from relic_core.training.validation import draw, watchable

__all__ = [
    "ABOUT", "DENSE_RELIC", "LENGTHS", "NO_MODEL", "PRETRAINED", "RECIPES", "USES", "AnyRecipe", "Prospect",
    "TrainingPlans", "TrainingRequest", "Use", "defaults_of", "recipe_of", "setting",
]  # fmt: skip

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?(?<!\.json)")
"""Of a training too; what is none is a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What a training would learn from and cost, before it begins.

    - `unparted`: what was mined has not been parted into what may be learnt from and what is for measuring, or not
      since something changed.
    """

    material: Material
    lacking: str
    unparted: bool
    notes: tuple[str, ...] = ()
    validated: int = 0
    estimate: Estimate | None = None


class TrainingPlans:
    """Looks ahead at trainings; says, too, that the splits are older than what they part."""

    def __init__(
        self,
        settings: Settings,
        data: TrainingData,
        splits: SplitRows,
        stale: Callable[[], tuple[str, ...]],
        stamp: Callable[[], tuple[tuple[int, int], ...]],
    ) -> None:
        self._settings = settings
        self._data = data
        self._splits = splits
        self._stale = stale
        self.stamp = stamp
        self._speeds: dict[EncoderCard | str, float] = {}

    def lacking(self) -> str:
        """Say why nothing can be learnt yet, and what to do; empty where something can."""
        return lacking(self._data.material(), parted=self._parted(TrainingRequest()))

    def _parted(self, request: TrainingRequest) -> bool:
        """Whether it was decided what may be learnt from; a file of RELiC's says it itself."""
        return bool(request.data or self._splits.counts("pair") or self._splits.counts("window"))

    def speed(self, model: EncoderCard | str) -> float:
        """Give the tokens that go through a model in a second here: measured once, which takes some seconds."""
        if model not in self._speeds:
            self._speeds[model] = estimates.measure(model)
        return self._speeds[model]

    def prospect(self, request: TrainingRequest) -> Prospect:
        """Say what a training would learn from, what is missing, and how long it would take on this machine."""
        self._admit_models(request)
        there = self._material(request)
        counted = _counted(there, request)
        stale = () if request.data else self._stale()
        parted = self._parted(request)
        unparted = bool(stale or (there.mined_pairs + there.mined_windows and not parted))
        if lacks := _lacks(there, counted, parted=parted):
            return Prospect(material=counted, lacking=lacks, unparted=unparted)
        recipe = request.recipe
        find_model(recipe.base)
        looks = self._looking(request)
        self._check_start(request)
        summaries = self._data.works()
        validated, validated_words = (there.dev, 0) if request.data else self._validated(request, summaries)
        works = there.works * sum(_read_of(each) for each in summaries) // max(1, len(summaries))  # about
        estimate = estimates.reckon(
            recipe,
            counted,
            self.speed(recipe.language_model if isinstance(recipe, SourceRecipe) else base_card(recipe)),
            validated=validated,
            validated_words=validated_words,
            looking_speed=self.speed(looks) if looks else 0.0,
            looked_words=works,
        )
        return Prospect(
            material=counted,
            lacking="",
            unparted=unparted,
            notes=(*stale, *_notes(request, counted, validated)),
            validated=validated,
            estimate=estimate,
        )

    def check(self, request: TrainingRequest) -> None:
        """Check that a training can begin: material, recipe, models, the disk's room; and that this is one process."""
        self._admit_models(request)
        there = self._material(request)
        if lacks := _lacks(there, _counted(there, request), parted=self._parted(request)):
            raise BadRequest(lacks)
        known = watchable(request.recipe.kind)  # of a file the loss is watched, as the request has it
        if request.validation and request.recipe.watch not in known:
            raise BadRequest(
                f"The recipe watches {request.recipe.watch}, which the validation does not give. It gives "
                f"{', '.join(known)}: write one of them into the recipe."
            )
        find_model(request.recipe.base)  # a missing file is reported before torch is loaded
        self._looking(request)

        from relic_core.training.learners import check_base
        from relic_core.training.trainer import processes

        if processes() > 1:
            raise BadRequest(
                f"This is one of {processes()} processes that were launched together, and each would begin a training "
                "of its own. Begin it without a launcher; docs/training.md says how several graphics cards train "
                "together."
            )
        check_base(request.recipe)
        self._check_start(request)
        self._check_room(request)

    def _check_start(self, request: TrainingRequest) -> None:
        from relic_core.training.models import start_of

        base, card = find_model(request.recipe.base), start_card(self._settings, request)
        if card is not None:
            start_of(card, base)

    def _admit_models(self, request: TrainingRequest) -> None:
        """Refuse a model or a file that is named by a path which may not be read; raises BadRequest."""
        for file in filter(None, (request.data, request.validation_data)):
            admit(Path(file), self._settings)
        generator = getattr(request.recipe, "generator", NO_MODEL)
        for named in {request.recipe.base, generator, request.start, request.hard} - {NO_MODEL}:
            if not _HUB_NAME.fullmatch(named) or Path(named).exists():
                admit(Path(named), self._settings)

    def _looking(self, request: TrainingRequest) -> EncoderCard | None:
        """Find the encoder that looks for hard negatives; None where none are looked for."""
        if request.recipe.kind == "reranker" and (request.hard == DENSE_RELIC or request.validation):
            self._check_encoder()
        if request.hard and isinstance(request.recipe, EncoderRecipe) and not request.recipe.hard_negatives:
            raise BadRequest(
                "Hard negatives would be looked for, which takes long, and none would be trained on: the recipe's "
                "hard_negatives is 0. Set it to 1 or more, or look for none (--hard none)."
            )
        return hard_card(self._settings, request) if request.hard else None

    def _check_encoder(self) -> None:
        try:
            card = read_card(trained_model(self._settings))
            for tower in (card.query_model, card.passage_model):
                find_model(tower)
        except BadWeights as error:
            raise BadWeights(
                "A reranker learns from what dense-RELiC takes for the right passage, and is validated on what it "
                f"finds; and its model cannot be used. {error} Or make another the default (`python -m relic_core "
                "train --use ID`, or packaged-encoder)."
            ) from error

    def _check_room(self, request: TrainingRequest) -> None:
        data = self._settings.data
        needed, free = estimates.room(request.recipe), shutil.disk_usage(data if data.exists() else data.parent).free
        if free < needed:
            raise StoreFull(
                f"A training of this recipe takes up to {needed / 1e9:.1f} GB (checkpoints to go on from, and its "
                f"model), and the disk of {data} has {free / 1e9:.1f} GB left. Make room, or choose another data "
                "folder with RELIC_DATA."
            )

    def _material(self, request: TrainingRequest) -> Material:
        from relic_core.training.published import published

        return published(request).material if request.data else self._data.material(request.sources)

    def _validated(self, request: TrainingRequest, summaries: Sequence[WorkSummary]) -> tuple[int, int]:
        """Count the windows of a validation, and the words of the works that it reads."""
        dev = self._data.windows("dev") if request.validation else []
        training = self._data.windows("training") if request.validation and not dev and request.use != "pairs" else []
        drawn = draw(dev, training, {each.id: each.sentences for each in summaries}, request.validation)
        words = sum(each.words for each in summaries if each.id in set(drawn.works))
        return len(drawn.windows), words


def _counted(there: Material, request: TrainingRequest) -> Material:
    """Count what of all there is a training would learn from."""
    return replace(
        there,
        pairs=0 if request.use == "windows" else min(there.pairs, request.pairs or there.pairs),
        windows=0 if request.use == "pairs" else there.windows,
    )


def _lacks(there: Material, counted: Material, *, parted: bool) -> str:
    """Say why there is nothing, or too little, to learn from."""
    if lack := lacking(there, parted=parted):
        return lack
    try:
        check_enough(counted.pairs, counted.windows)
    except BadRequest as error:
        return str(error)
    return ""


def _read_of(work: WorkSummary) -> int:
    """Count the words of a work that are read where hard negatives are looked for: of long ones a part."""
    from relic_core.training.hard_negatives import READ

    return work.words * min(work.sentences, READ) // max(1, work.sentences)


def _notes(request: TrainingRequest, counted: Material, validated: int) -> tuple[str, ...]:
    notes = []
    if counted.pairs + counted.windows < FEW:
        notes.append(
            f"That is little ({counted.pairs + counted.windows:,} quotations): expect a model that is hardly "
            "better than the one it begins from. Some thousands make a difference."
        )
        if request.start == NO_MODEL and not request.recipe.base:
            notes.append(
                "With so few it is as a rule better to go on from dense-RELiC, which was trained on many, than from "
                "the pretrained model: choose it below More, What it starts from, with a lower learning_rate. The "
                "figures before the first step are then its own, on the same quotations; from the pretrained model "
                "they are not, and do not say whether what you train finds more than the app does now."
            )
    if request.validation and not validated:
        notes.append(
            "There are no quotations to validate on (they are quotations of works in your library that are not "
            "trained on): the weights after the last step will be kept, and no figures will be shown."
        )
    elif validated and not counted.dev:
        notes.append(
            f"No quotations are marked for choosing by, so some works are held back: about {validated:,} "
            "quotations of them are validated on and not trained on."
        )
        if request.start != NO_MODEL:
            notes.append(
                "The model that it goes on from may have been trained on quotations of these works: the figures, those "
                "before the first step too, may then look better than they are."
            )
    return tuple(notes)
