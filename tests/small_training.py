"""A store with something to learn from, for tests of trainings: pairs and windows of two sources on two short works."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relic_core.store.sources import MinedSource
from relic_core.training.requests import TrainingRequest
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making import make_work
from tests.making_rerankers import make_reranker_recipe
from tests.making_sources import make_source
from tests.making_training import NOUNS, make_novel, make_pairs, make_recipe, make_windows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from relic_core.config import Settings
    from relic_core.training.recipes import AnyRecipe
    from relic_core.wiring import App


def furnished(settings: Settings, **what: Any) -> App:
    """Build a workbench that does jobs at once, and `furnish` it."""
    bench = build(settings, executor=InlineExecutor(settings))
    furnish(bench, **what)
    return bench


def furnish(
    bench: App, *, pairs: int = 36, windows: int = 6, dev: int = 6, parted: bool = True, overlapping: bool = False
) -> None:
    """Put pairs, windows to learn from on one work and windows to choose by on another into the store.

    Where `overlapping` is asked for, there is a pair at the place of each window to choose by, as mining gives it.
    """
    novel, measured = make_novel(), _measured()
    bench.store.works.add(novel)
    bench.store.works.add(measured)
    first, second = make_source("Of Quays"), make_source("Of Coins")
    mined = make_pairs(pairs, sources=2)
    taught, held = make_windows(novel, windows), [
        replace(each, id=f"dev{each.id[3:]}", at=(each.at[0] + 5_000, each.at[1] + 5_000))
        for each in make_windows(measured, dev)
    ]  # fmt: skip
    if overlapping:
        mined += [
            replace(each, id=f"dev{each.id[3:]}", at=window.at, passage=window.passage)
            for each, window in zip(make_pairs(dev), held, strict=True)
        ]
    for number, source in enumerate((first, second)):
        bench.store.sources.add(
            MinedSource(
                source=source,
                rules="made by hand",
                language="en",
                segmenters={work.id: work.segmenter for work in (novel, measured)},
                pairs=tuple(replace(each, source_id=source.id) for each in mined[number::2]),
                windows=tuple(replace(each, source_id=source.id) for each in (*taught, *held)[number::2]),
                dropped={},
            )
        )
    if parted:
        bench.store.splits.replace("pair", [(each.id, "training", "") for each in mined])
        bench.store.splits.replace(
            "window",
            [(each.id, "training", "") for each in taught] + [(each.id, "dev", "") for each in held],
        )


def asked_of(base: Path, *, steps: int = 3, validation: int = 6, **given: Any) -> TrainingRequest:
    """Ask for a training of a few steps with a tiny base."""
    return _asked(make_recipe, base, steps, validation, given)


def asked_of_reranker(base: Path, *, steps: int = 3, validation: int = 6, **given: Any) -> TrainingRequest:
    """Ask for a reranker of a few steps with a tiny base."""
    return _asked(make_reranker_recipe, base, steps, validation, given)


def _asked(
    make: Callable[..., AnyRecipe], base: Path, steps: int, validation: int, given: dict[str, Any]
) -> TrainingRequest:
    further = {key: given.pop(key) for key in ("name", "use", "pairs", "sources", "hard", "start") if key in given}
    recipe = make(base, steps=steps, **given)
    return TrainingRequest(recipe=recipe, validation=validation, **{"name": "tiny", **further})


def _measured():
    lines = [f"A {NOUNS[at % 13]} and the {NOUNS[(at * 7 + 3) % 13]} , it was far ." for at in range(48)]
    return make_work([lines[:24]], [lines[24:]], title="The Measured")
