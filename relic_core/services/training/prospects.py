"""What a training would learn from, what is missing for it, and how long it would take, said before it begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from relic_core.encoders.weights import find_model
from relic_core.errors import BadRequest
from relic_core.services.training import estimating, material, validating
from relic_core.services.training.asking import THE_BASE, base_card
from relic_core.services.training.beginning import looking
from relic_core.services.training.estimating import Validated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.domain import MinedWindow, WorkSummary
    from relic_core.encoders.cards import EncoderCard
    from relic_core.services.training.asking import TrainingRequest
    from relic_core.services.training.estimating import Estimate
    from relic_core.store.trainings import Material
    from relic_core.wiring import App


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What a training would learn from and cost, before it begins.

    - `lacking`: why it cannot begin, and what to do; empty where it can.
    - `unparted`: what was mined has not been parted into what may be learnt from and what is for measuring, or not
      since something changed.
    - `validated`: Windows that it is validated on; 0 where there are none to be had.
    - `estimate`: what it costs; None where it cannot begin.
    """

    material: Material
    lacking: str
    unparted: bool
    notes: tuple[str, ...]
    validated: int
    estimate: Estimate | None


def look_ahead(app: App, asked: TrainingRequest, speed: Callable[[EncoderCard], float]) -> Prospect:
    """Say what a training would learn from, what is missing, and how long it would take on this machine.

    - `app`: where what was mined is.
    - `speed`: gives the tokens that go through a model in a second.

    Raises BadWeights: the base model is not there, or lacks a file; so with the one that looks for hard negatives.
    """
    there = app.store.trainings.material(asked.sources)
    counted = replace(
        there,
        pairs=0 if asked.use == "windows" else min(there.pairs, asked.pairs or there.pairs),
        windows=0 if asked.use == "pairs" else there.windows,
    )
    stale = app.dataset.stale()
    unparted = bool(stale or (there.mined_pairs + there.mined_windows and not _parted(app)))
    lacking = material.lacking(there)
    if not lacking:
        try:
            material.check(counted.pairs, counted.windows)
        except BadRequest as error:
            lacking = str(error)
    if lacking:
        return Prospect(material=counted, lacking=lacking, unparted=unparted, notes=(), validated=0, estimate=None)
    find_model(asked.recipe.base)
    looks = looking(app, asked)
    summaries = app.works.summaries()
    validated = _validated(app, asked, summaries)
    works = there.works * sum(_read_of(each) for each in summaries) // max(1, len(summaries))  # about
    estimate = estimating.reckon(
        asked.recipe,
        there,
        most_pairs=asked.pairs,
        use=asked.use,
        validated=validated,
        speed=speed(base_card(asked.recipe)),
        looking=estimating.Looking(speed(looks), works) if looks else estimating.NOT_LOOKED_FOR,
    )
    return Prospect(
        material=counted,
        lacking="",
        unparted=unparted,
        notes=(*stale, *_notes(asked, counted, validated.windows)),
        validated=validated.windows,
        estimate=estimate,
    )


def _parted(app: App) -> bool:
    splits = app.store.splits
    return bool(splits.counts("pair") or splits.counts("window"))


def _read_of(work: WorkSummary) -> int:
    """Count the words of a work that are read where hard negatives are looked for: of long ones a part."""
    from relic_core.training.hard_negatives import READ

    return work.words * min(work.sentences, READ) // max(1, work.sentences)


def _notes(asked: TrainingRequest, counted: Material, validated: int) -> tuple[str, ...]:
    notes = []
    if counted.pairs + counted.windows < material.FEW:
        notes.append(
            f"That is little ({counted.pairs + counted.windows:,} quotations): expect a model that is hardly "
            "better than the one it begins from. Some thousands teach much."
        )
        if asked.start == THE_BASE and not asked.recipe.base:
            notes.append(
                "With so few it is as a rule better to go on from dense-RELiC, which has learnt from many, than from "
                "the untaught model: choose it below More, What it goes on from, with a lower learning_rate. The "
                "figures before the first step are then its own, on the same quotations; from the untaught model they "
                "are not, and do not say whether what you teach finds more than the app does now."
            )
    if asked.validation and not validated:
        notes.append(
            "There are no quotations to validate on (they are quotations of works in your library that are not "
            "learnt from): the weights after the last step will be kept, and no figures will be shown."
        )
    elif validated and not counted.dev:
        notes.append(
            f"No quotations are marked for choosing by, so some works are held back: about {validated:,} "
            "quotations of them are validated on and nothing is learnt from them."
        )
        if asked.start != THE_BASE:
            notes.append(
                "The model that it goes on from may have learnt from quotations of these works: the figures, those "
                "before the first step too, may then look better than they are."
            )
    return tuple(notes)


def _validated(app: App, asked: TrainingRequest, summaries: Sequence[WorkSummary]) -> Validated:
    """Count the windows of a validation, and the words of the works that it reads."""
    store = app.store

    def of(split: str) -> list[MinedWindow]:
        return [stored.window for batch in store.windows.iterate(split=split) for stored in batch]

    dev = of("dev") if asked.validation else []
    training = of("training") if asked.validation and not dev and asked.use != "pairs" else []
    drawn = validating.draw(dev, training, {each.id: each.sentences for each in summaries}, asked.validation)
    read = set(drawn.works)
    return Validated(len(drawn.windows), sum(each.words for each in summaries if each.id in read))
