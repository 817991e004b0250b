"""Tune the parameters of a retriever on a benchmark that nothing is reported on; the figures are printed.

Tries BM25 over a grid of k1 and b, the encoder over lengths and overlaps of the stretches in which it reads, or sets
the thresholds by which a hit is called strong, fair or weak. Nothing is changed.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from relic_core.cli.console import ProgressLine
from relic_core.domain import ContextSize
from relic_core.errors import BadRequest
from relic_core.reporting import tables
from relic_core.wiring import App
from tools import command

Number = TypeVar("Number", int, float)

_TERMS: dict[str, Literal["tokens", "lemmas"]] = {"bm25": "tokens", "bm25-lemmas": "lemmas"}
_COMMON = ("tuned", "benchmark", "format")


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("tuned", metavar="WHAT", choices=(*_TERMS, "stretches", "strength"), help="%(choices)s")
    parser.add_argument("benchmark", metavar="BENCHMARK", help="of the dev split: choices are made on no other")
    parser.add_argument("--data", type=Path, metavar="PATH", help="your own file or folder of the benchmark's data")
    parser.add_argument("--shape", default="4/4", help="of stretches also several, with commas (default: %(default)s)")
    parser.add_argument(
        "--metric", default="mrr", metavar="NAME", help="bm25: what is best by it (default: %(default)s)"
    )
    parser.add_argument("--k1", metavar="LIST", help="bm25: values with commas between")
    parser.add_argument("--b", metavar="LIST", help="bm25: values with commas between")
    parser.add_argument("--windows", metavar="LIST", help="stretches: their lengths in tokens (default: 126,254,510)")
    parser.add_argument("--contexts", metavar="LIST", help="stretches: context on either side (default: 0,32,64)")
    parser.add_argument("--works", type=int, default=0, metavar="N", help="stretches: the N works most quoted alone")
    parser.add_argument("--half", action="store_true", help="stretches: every other claim (the sample, birco-novels)")
    parser.add_argument("--alone", action="store_true", help="stretches: read every span alone too, which takes long")
    parser.add_argument("--retriever", default="dense-relic", metavar="NAME", help="strength: one by meaning")
    parser.add_argument("--sample", type=int, default=20, metavar="N", help="strength: claims about each work, at most")
    parser.add_argument("--others", type=int, default=4, metavar="N", help="strength: other works each is asked of")
    parser.add_argument("--format", choices=tables.FORMATS, default="table", help="(default: %(default)s)")


def do(app: App, options: Namespace) -> int:
    """Try what was asked for and print it."""
    made = {"stretches": _stretches, "strength": _strength}.get(options.tuned, _bm25)(app, options)
    print(tables.write(made, options.format))
    return 0


def _bm25(app: App, options: Namespace) -> tuple[tables.Table, ...]:
    from tools.tune.bm25 import BS, K1S, tune_bm25

    command.refuse_unused(options, options.tuned, (*_COMMON, "data", "shape", "metric", "k1", "b"))
    with ProgressLine(f"Tuning {options.tuned}") as progress:
        table = tune_bm25(
            app,
            options.benchmark,
            terms=_TERMS[options.tuned],
            shape=ContextSize.parse(options.shape),
            data=options.data,
            by=options.metric,
            k1s=_numbers("k1", options.k1, float, K1S),
            bs=_numbers("b", options.b, float, BS),
            progress=progress,
        )
    return (table,)


def _stretches(app: App, options: Namespace) -> tuple[tables.Table, ...]:
    from tools.tune.stretches import CONTEXTS, WINDOWS, Question, compare_readings

    taken = ("data", "shape", "windows", "contexts", "works", "half", "alone")
    command.refuse_unused(options, "stretches", (*_COMMON, *taken))
    question = Question(
        benchmark=options.benchmark,
        data=options.data,
        shapes=tuple(dict.fromkeys(ContextSize.parse(shape) for shape in options.shape.split(","))),
        works=options.works,
        half=options.half,
    )
    windows = _numbers("windows", options.windows, int, WINDOWS)
    contexts = _numbers("contexts", options.contexts, int, CONTEXTS)
    with ProgressLine("Reading") as progress:
        return compare_readings(
            app, question, windows=windows, contexts=contexts, alone=options.alone, progress=progress
        )


def _strength(app: App, options: Namespace) -> tuple[tables.Table, ...]:
    from tools.tune.strength import Question, choose_thresholds

    command.refuse_unused(options, "strength", (*_COMMON, "retriever", "sample", "others"))
    question = Question(
        benchmark=options.benchmark, retriever=options.retriever, windows=options.sample, others=options.others
    )
    with ProgressLine("Setting thresholds") as progress:
        return (choose_thresholds(app, question, progress=progress)[1],)


def _numbers(name: str, text: str | None, kind: Callable[[str], Number], grid: Sequence[Number]) -> Sequence[Number]:
    """Read numbers with commas between; ``grid`` where none were given."""
    try:
        return grid if text is None else tuple(kind(each) for each in text.split(","))
    except ValueError:
        raise BadRequest(f"--{name} has '{text}'; it must be {kind.__name__}s with commas between: 1,2.") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("tune", __doc__, add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
