"""A training in a process of its own, that kills itself: ``training_run.py KIND BASE FOLDER WHEN``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from relic_core.training import checkpoints
from tests.making_rerankers import make_reranker_recipe
from tests.making_training import make_novel, make_pairs, make_recipe, make_windows, train_on

PAIRS = make_pairs(24)
NOVEL = make_novel()
WINDOWS = make_windows(NOVEL, 4)
KINDS = {"dual encoder": make_recipe, "cross-encoder": make_reranker_recipe}
DIES_AT = 5


def run(kind, base, folder, pairs=PAIRS, windows=WINDOWS, *, recipe=None, **given):
    """Train a tiny model of a kind; `recipe` holds what differs from the tiny recipe."""
    made = KINDS[kind](base, **(recipe or {}))
    return train_on(made, pairs, windows, folder, work=lambda _: NOVEL, **given)


def main() -> None:
    kind, base, folder, when = sys.argv[1:]
    seal = checkpoints.seal

    def die(step):
        if step == DIES_AT:
            os.kill(os.getpid(), signal.SIGKILL)

    def seal_or_die(half, *given):
        if when == "in a checkpoint":
            die(int(half.name.split("-")[1].split(".")[0]))
        seal(half, *given)

    checkpoints.seal = seal_or_die
    report = {"report": lambda _, step, **__: die(step)} if when == "in a step" else {}
    run(kind, Path(base), Path(folder), checkpoint_seconds=0.0, **report)


if __name__ == "__main__":
    main()
