"""Which examples go together: all windows of a batch on one primary work, all pairs of a batch from one source.

The batches of RELiC are of the first kind (section 3.2: all of a batch are "sampled from the same book"). The work that
a pair quotes is not known, and its secondary source takes its place: most sources are on one author.

The plan of a training is made once, from the seed, for all its epochs: a list of batches in the order in which they are
read, so that a training that is resumed goes on with the very batch that was next.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from relic_core.domain.grouping import grouped
from relic_core.errors import BadRequest
from relic_core.training.recipes import Recipe

LEAST = 2
"""Examples without which nothing can be learnt: the one's quotation is the other's negative."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A batch to be; `round` says how often all have been read before: context shapes depend on it too."""

    kind: Literal["pairs", "windows"]
    members: tuple[int, ...]
    round: int


def plan(recipe: Recipe, sources: Sequence[str], works: Sequence[str]) -> list[Planned]:
    """Plan all batches of a training. Raises BadRequest: there is too little to learn from."""
    windows = len(works) if recipe.share > 0 else 0
    pairs = len(sources) if recipe.share < 1 else 0
    if max(pairs, windows) < LEAST and windows == 0:
        raise BadRequest(
            f"There are {len(sources)} pair(s) and {len(works)} window(s) to learn from under this recipe, whose share "
            f"of windows is {recipe.share:g}; {LEAST} pairs or one window are needed at least, some thousands to learn "
            "much. Mine more sources, or lift what keeps examples out of the training split."
        )
    whole, part = divmod(recipe.epochs, 1.0)
    planned: list[Planned] = []
    drawn = 0
    by_source = grouped(range(len(sources)), sources.__getitem__)
    for epoch in range(int(whole) + (part > 0)):
        drawing = random.Random(f"{recipe.seed} batches {epoch}")  # noqa: S311 - no secret
        parted = together(by_source, recipe.batch, drawing) if pairs >= LEAST else []
        batches = [Planned("pairs", members, epoch) for members in parted]
        if windows and recipe.share < 1 and batches:
            wanted = round(len(batches) * recipe.share / (1 - recipe.share))
            many: list[Planned] = []
            while len(many) < wanted:
                many += _window_batches(recipe, works, drawn)
                drawn += 1
            batches += many[:wanted]
        elif windows:
            batches = _window_batches(recipe, works, epoch)
        drawing.shuffle(batches)
        planned += batches if epoch < whole else batches[: max(1, round(part * len(batches)))]
    return planned[: recipe.steps] if recipe.steps else planned


def _window_batches(recipe: Recipe, works: Sequence[str], rounds: int) -> list[Planned]:
    drawing = random.Random(f"{recipe.seed} windows {rounds}")  # noqa: S311 - no secret
    batches: list[Planned] = []
    for members in grouped(range(len(works)), works.__getitem__).values():
        drawing.shuffle(members)
        count = -(-len(members) // recipe.window_batch)
        batches += [Planned("windows", tuple(members[at::count]), rounds) for at in range(count)]
    drawing.shuffle(batches)
    return batches


def together(groups: Mapping[str, list[int]], size: int, drawing: random.Random) -> list[tuple[int, ...]]:
    """Cut groups into batches; what is left over of some fills up one batch, so that none is left out.

    Returns: every pair once. A batch that is not of one group is of few: what is left over of a group stays together.

    >>> made = together({"a": [0, 1, 2, 3, 4], "b": [5], "c": [6, 7]}, 3, random.Random(0))
    >>> sorted(map(len, made)), sorted(number for batch in made for number in batch)
    ([2, 3, 3], [0, 1, 2, 3, 4, 5, 6, 7])
    """
    batches: list[tuple[int, ...]] = []
    left: list[list[int]] = []
    for members in groups.values():
        shuffled = drawing.sample(members, len(members))
        whole = len(shuffled) - len(shuffled) % size
        batches += [tuple(shuffled[at : at + size]) for at in range(0, whole, size)]
        if whole < len(shuffled):
            left.append(shuffled[whole:])
    drawing.shuffle(left)
    filled: list[list[int]] = []
    for rest in sorted(left, key=len, reverse=True):  # the largest first, each into the fullest batch with room for it
        fitting = [batch for batch in filled if len(batch) + len(rest) <= size]
        if fitting:
            max(fitting, key=len).extend(rest)
        else:
            filled.append(rest)
    lonely = [batch for batch in filled if len(batch) < LEAST]
    batches += [tuple(batch) for batch in filled if len(batch) >= LEAST]
    if lonely and batches:  # one pair alone has no negative
        batches[-1] = (*batches[-1], *chain.from_iterable(lonely))
    return batches
