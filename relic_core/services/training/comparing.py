"""Trainings side by side: in what they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain.trainings import Training


def differences(trainings: Sequence[Training]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Say in what the recipes of trainings, and what they were asked to learn from, differ.

    Returns: the setting, and its value in each; those that are the same in all are left out.
    """
    made = [{"kind": training.kind, **training.recipe, **training.asked} for training in trainings]
    keys = dict.fromkeys(key for each in made for key in each if key != "name")
    rows = []
    for key in keys:
        values = tuple(_written(each.get(key, "")) for each in made)
        if len(set(values)) > 1:
            rows.append((key, values))
    return tuple(rows)


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, each)) if isinstance(each, list) else str(each) for each in value) or "all"
    return "yes" if value is True else "no" if value is False else str(value) if value != "" else "–"
