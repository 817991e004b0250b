"""A training by two processes, as on a machine with two cards: ``several_run.py FOLDER CACHED`` writes its reports.

CACHED, "yes" or "no", says whether gradients are cached.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from relic_core.training.collating import Material
from relic_core.training.trainer import train_on_all
from tests.making_training import Reports, make_base, make_novel, make_pairs, make_recipe, make_windows

NOVEL = make_novel()


def load_work(_):
    return NOVEL


def main() -> None:
    folder, reports = Path(sys.argv[1]), Reports()
    torch.cuda.device_count = lambda: 2
    recipe = make_recipe(make_base(folder / "base"), cached=sys.argv[2] == "yes", dropout=0.3)
    made = train_on_all(
        recipe, Material(make_pairs(24), make_windows(NOVEL, 4), load_work), folder / "out", report=reports,
        validate=lambda model: {"recall@10": float((model / "encoder.json").is_file())},
    )  # fmt: skip
    (folder / "reports.json").write_text(json.dumps([*reports, {"event": "made", "finished": made.finished}]))


if __name__ == "__main__":
    main()
