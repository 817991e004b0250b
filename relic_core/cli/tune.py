"""Tune the parameters of a retriever on data that nothing is reported on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from relic_core.cli import console
from relic_core.domain import Shape
from relic_core.errors import BadRequest
from relic_core.reporting import tables

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.services.workbench import Workbench

_TERMS: dict[str, Literal["tokens", "lemmas"]] = {"bm25": "tokens", "bm25-lemmas": "lemmas"}


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "tune",
        summary=(
            "Try BM25 over a grid of k1 and b, on a benchmark that nothing is reported on, and hold the best pair "
            "against the RELiC paper's (0.5, 0.9). Nothing is changed: the figures are printed."
        ),
        examples=(
            "  python -m relic_core tune bm25 relic --data train.json\n"
            "  python -m relic_core tune bm25 relic --data train.json --k1 0.3,0.5,0.9 --metric recall@10"
        ),
    )
    parser.add_argument("retriever", choices=tuple(_TERMS), help="bm25, or bm25-lemmas")
    parser.add_argument("benchmark", metavar="BENCHMARK", help="of the dev split: choices are made on no other")
    parser.add_argument("--data", type=Path, metavar="PATH", help="your own file or folder of the benchmark's data")
    parser.add_argument("--shape", default="4/4", help="(default: %(default)s)")
    parser.add_argument("--metric", default="mrr", metavar="NAME", help="what is best by it (default: %(default)s)")
    parser.add_argument("--k1", metavar="LIST", help="values with commas between")
    parser.add_argument("--b", metavar="LIST", help="values with commas between")
    parser.add_argument("--format", choices=tables.FORMATS, default="table", help="(default: %(default)s)")
    return parser


def run(workbench: Workbench, options: Namespace) -> int:
    """Try all pairs and print them."""
    from relic_core.services import tuning

    given = {name: _numbers(name, said) for name, said in (("k1s", options.k1), ("bs", options.b)) if said is not None}
    with console.ProgressLine(f"Tuning {options.retriever}") as progress:
        tuned = tuning.tune_bm25(
            workbench,
            options.benchmark,
            terms=_TERMS[options.retriever],
            shape=Shape.parse(options.shape),
            data=options.data,
            metric=options.metric,
            progress=progress,
            **given,
        )
    print(tables.write((tuned.table,), options.format))
    return 0


def _numbers(name: str, said: str) -> tuple[float, ...]:
    try:
        return tuple(float(each) for each in said.split(","))
    except ValueError:
        raise BadRequest(
            f"--{name.rstrip('s')} is '{said}'; it must be numbers with commas between: 0.5,0.9."
        ) from None
