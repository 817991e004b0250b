"""Tune the parameters of a retriever on data that nothing is reported on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from relic_core.domain import ContextSize
from relic_core.errors import BadRequest
from relic_core.reporting import tables
from tools import command

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from relic_core.wiring import App

_TERMS: dict[str, Literal["tokens", "lemmas"]] = {"bm25": "tokens", "bm25-lemmas": "lemmas"}
_STRETCHES = "stretches"
_STRENGTH = "strength"
_OF_BM25 = {"metric": "mrr", "k1": None, "b": None}
_OF_STRETCHES = {"windows": None, "contexts": None, "works": 0, "half": False, "alone": False}
_OF_STRENGTH = {"retriever": "dense-relic", "sample": 20, "others": 4}
"""Options that belong to one of the three, as they are where they are not given."""


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "tuned", metavar="WHAT", choices=(*_TERMS, _STRETCHES, _STRENGTH), help="bm25, bm25-lemmas, stretches, strength"
    )
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
    if options.tuned == _STRETCHES:
        command.refuse_unused(options, "stretches", {**_OF_BM25, **_OF_STRENGTH}, ())
        made = _stretches(app, options)
    elif options.tuned == _STRENGTH:
        rest = {"data": None, "shape": "4/4"}
        command.refuse_unused(options, "strength", {**_OF_BM25, **_OF_STRETCHES, **rest}, ())
        made = _strength(app, options)
    else:
        command.refuse_unused(options, options.tuned, {**_OF_STRETCHES, **_OF_STRENGTH}, ())
        made = _bm25(app, options)
    print(tables.write(made, options.format))
    return 0


def _bm25(app: App, options: Namespace) -> tuple[tables.Table, ...]:
    from tools.tune import bm25 as tuning

    given = {name: _numbers(name, said) for name, said in (("k1s", options.k1), ("bs", options.b)) if said is not None}
    with command.Progress(f"Tuning {options.tuned}") as progress:
        tuned = tuning.tune_bm25(
            app,
            options.benchmark,
            terms=_TERMS[options.tuned],
            shape=ContextSize.parse(options.shape),
            data=options.data,
            metric=options.metric,
            progress=progress,
            **given,
        )
    return (tuned.table,)


def _stretches(app: App, options: Namespace) -> tuple[tables.Table, ...]:
    from tools.tune import stretches as reading_choices

    given = {
        name: tuple(_whole(name, each) for each in said.split(","))
        for name, said in (("windows", options.windows), ("contexts", options.contexts))
        if said is not None
    }
    question = reading_choices.Question(
        benchmark=options.benchmark,
        data=options.data,
        shapes=tuple(dict.fromkeys(ContextSize.parse(shape) for shape in options.shape.split(","))),
        works=options.works,
        half=options.half,
    )
    with command.Progress("Reading") as progress:
        return reading_choices.compare_readings(app, question, alone=options.alone, progress=progress, **given)


def _strength(app: App, options: Namespace) -> tuple[tables.Table, ...]:
    from tools.tune.strength import Question, choose_thresholds

    question = Question(
        benchmark=options.benchmark, retriever=options.retriever, windows=options.sample, others=options.others
    )
    with command.Progress("Setting thresholds") as progress:
        _, table = choose_thresholds(app, question, progress=progress)
    return (table,)


def _whole(name: str, said: str) -> int:
    try:
        return int(said)
    except ValueError:
        raise BadRequest(f"--{name} has '{said}'; it must be whole numbers with commas between: 126,254.") from None


def _numbers(name: str, said: str) -> tuple[float, ...]:
    try:
        return tuple(float(each) for each in said.split(","))
    except ValueError:
        raise BadRequest(
            f"--{name.rstrip('s')} is '{said}'; it must be numbers with commas between: 0.5,0.9."
        ) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run(
        "tune",
        (
            "Try BM25 over a grid of k1 and b, the encoder over lengths and overlaps of the stretches in which it "
            "reads, or set the thresholds by which a hit is called strong, fair or weak, on a benchmark that "
            "nothing is reported on. Nothing is changed: the figures are printed."
        ),
        add_options,
        do,
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
