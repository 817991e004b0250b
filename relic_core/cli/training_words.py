"""What the command `train` says of trainings, and of the models that searches use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain.trainings import ModelKind
    from relic_core.services.training.chosen import Defaults
    from relic_core.services.training.estimating import Estimate
    from relic_core.services.training.following import Followed

_USED: tuple[tuple[ModelKind, str, str], ...] = (
    ("encoder", "Searches use", "model"),
    ("reranker", "What they find is reordered by", "reranker"),
)


def standing(followed: Followed) -> str:
    """Say how a training stands, and its best figure."""
    said = f"{followed.training.name} ({followed.training.id}): {followed.state}. {followed.note}".rstrip()
    if followed.best:
        watch = followed.watch
        before = f" (before: {followed.before[watch]:.1f})" if watch in followed.before else ""
        said += f"\nBest {watch}: {followed.best.get(watch, 0.0):.1f}{before}, after step {followed.best['step']:,}."
    return said


def used(default: Defaults) -> str:
    """Say which models searches use, the encoder first."""
    from relic_core.services.training.chosen import SETTINGS

    said = [default.problem] if default.problem else []
    for kind, does, what in _USED:
        of = default.of(kind)
        if of.fixed:
            said.append(f"{does} the {what} that {SETTINGS[kind]} names: {of.fixed}.")
        elif of.problem:
            said.append(of.problem)
        elif of.choice is not None:
            said.append(f"{does} the {what} of {of.choice.name} ({of.choice.training}).")
        elif not default.problem:
            said.append(f"{does} the packaged {what}.")
    return "\n".join(said)


def best(followed: Followed) -> str:
    """Say the best of the figure that is watched; nothing before the first validation."""
    value = followed.best.get(followed.watch)
    return "" if value is None else f"{followed.watch} {value:.1f}"


def left(followed: Followed) -> str:
    """Say how long it still takes, as a tail; nothing while that is unknown."""
    from relic_core.services.training.estimating import duration

    return "" if followed.left is None else f", {duration(followed.left)} left"


def looking(estimate: Estimate) -> str:
    """Say how much of the time goes into looking for hard negatives, as a tail; nothing where none are looked for."""
    from relic_core.services.training.estimating import duration

    return f" Of that, looking for hard negatives takes {duration(estimate.looking)}." if estimate.looking else ""
