"""Train on a machine with a GPU that has PyTorch and transformers, and nothing of this program (docs/training.md).

``pack FOLDER`` prepares a folder here, ``run FOLDER`` (there: ``python run.py`` in it) learns, and ``unpack BACK
FOLDER`` makes a model of what came back, which RELIC_TRAINED or RELIC_RERANKER can name.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from relic_core.cli.console import ProgressLine
from relic_core.domain import Span
from relic_core.errors import BadRequest
from relic_core.training.collating import HardNegatives
from relic_core.training.recipes import recipe_of
from relic_core.training.requests import NO_MODEL, TrainingRequest, Use
from relic_core.wiring import App
from tools import command
from tools.gpu import packing


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    ways = parser.add_subparsers(dest="way", required=True)
    pack = ways.add_parser("pack", help="prepare a folder")
    pack.add_argument("folder", type=Path)
    pack.add_argument("--part-size", type=float, default=55.0, metavar="MB", help="(default: %(default)s)")
    pack.add_argument("--recipe", default="default", metavar="NAME", help="as of train (default: %(default)s)")
    pack.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    pack.add_argument("--windows", action="store_true", help="learn from windows alone")
    pack.add_argument("--pairs", type=int, default=0, metavar="N", help="at most so many pairs; 0 for all")
    pack.add_argument("--per-work", type=int, default=0, metavar="N", help="at most so many windows of a work")
    pack.add_argument("--validate", type=int, metavar="N", help="windows to validate on")
    pack.add_argument("--start", metavar="MODEL", help="as of train")
    pack.add_argument("--hard", metavar="MODEL", help="as of train; or a .json of windows' ids with [start, length]s")
    run = ways.add_parser("run", help="learn, as run.py in the folder does")
    run.add_argument("folder", type=Path)
    run.add_argument(
        "rest", nargs=REMAINDER, metavar="OPTION", help="of run.py: --minutes N, --back FOLDER, --back-size MB"
    )
    unpack = ways.add_parser("unpack", help="make a model of what came back")
    unpack.add_argument("back", type=Path)
    unpack.add_argument("folder", type=Path)


def do(app: App, options: Namespace) -> int:
    """Pack, run or unpack."""
    if options.way == "run":
        return subprocess.call([sys.executable, options.folder / "run.py", *options.rest])  # noqa: S603 - this Python
    if options.way == "unpack":
        record = packing.unpack(options.back, options.folder)
        print(f"{options.folder} holds {record['card']}, learnt in {record['steps']} of {record['of']} steps.")
        return 0
    given: dict[str, Any] = {} if options.validate is None else {"validation": options.validate}
    hard = _hard(Path(options.hard)) if options.hard and options.hard.endswith(".json") else None
    if options.hard:
        given["hard"] = NO_MODEL if hard or options.hard == "none" else options.hard
    if options.start:
        given["start"] = NO_MODEL if options.start == "base" else options.start
    use: Use = "windows" if options.windows else "pairs and windows"
    request = TrainingRequest(recipe=recipe_of(options.recipe, options.changes), use=use, pairs=options.pairs, **given)
    with ProgressLine("Packing") as progress:
        made = packing.pack(app, request, options.folder, options.part_size, progress, most=options.per_work, hard=hard)
    for name in ("weights", "batches", "validation"):
        if made[name]:
            print(f"{name}: {made[name]['bytes'] / 1e6:.1f} MB in {len(made[name]['parts'])} part(s)")
    print(f"{made['steps']:,} steps. Take {options.folder} to the other machine: python run.py --minutes N")
    return 0


def _hard(path: Path) -> HardNegatives:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return HardNegatives({}, {key: tuple(Span(*span) for span in spans) for key, spans in content.items()})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadRequest(f"{path} holds no hard negatives ({error}). Write ids of windows, each with spans.") from error


if __name__ == "__main__":
    sys.exit(command.run("gpu", __doc__.splitlines()[0], add_options, do))
