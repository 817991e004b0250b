"""Measure retrievers on a benchmark, or a part of the program against published data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console, sentences
from relic_core.domain import SHAPES, ContextSize
from relic_core.reporting import tables

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App

SENTENCES = "sentences"

_USUAL = {
    "shape": "4/4", "data": None, "again": False, "k1": None, "b": None, "metric": None, "by": "", "proxy": False,
    "chooser": None, "submission": None, "windows": None, "texts": None, "segmenter": None, "format": "table",
}  # fmt: skip
"""All options, as they are where they are not given."""
_CHOOSER = "bm25"


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "evaluate",
        summary=(
            "Measure retrievers on a benchmark. Each is a run, kept with the rank of every quotation; stopped and "
            "started again, it goes on where it was. Without words, the benchmarks there are are listed."
        ),
        examples=(
            "  python -m relic_core evaluate\n"
            "  python -m relic_core evaluate sample dense-relic\n"
            "  python -m relic_core evaluate birco-novels bm25,dense-relic --shape all\n"
            "  python -m relic_core evaluate birco-novels bm25 --by length --metric recall@10 --metric mean-rank\n"
            "  python -m relic_core evaluate relic all --data train.json --format latex\n"
            "  python -m relic_core evaluate birco-novels dense-relic,fusion --proxy --chooser bm25\n"
            "  python -m relic_core evaluate relic bm25 --data test.json --submission bm25.json\n"
            "  python -m relic_core evaluate sentences LISTS --texts TEXTS --format json"
        ),
    )
    parser.add_argument(
        "what", nargs="?", metavar="BENCHMARK", help=f"a benchmark; or {SENTENCES}: our sentences against lists of them"
    )
    parser.add_argument(
        "whom", nargs="?", metavar="RETRIEVER", help="one, several with commas between, or all; or the folder of lists"
    )
    parser.add_argument(
        "--shape", default="4/4", help="sentences of criticism before and after the quotation, or all (default: 4/4)"
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="your own file or folder of the benchmark's data")
    parser.add_argument("--again", action="store_true", help="measure although it was measured, and compare")
    parser.add_argument("--k1", type=float, help="of bm25 or bm25-lemmas, in place of its own")
    parser.add_argument("--b", type=float, help="of bm25 or bm25-lemmas, in place of its own")
    parser.add_argument(
        "--metric", action="append", metavar="NAME", help="a column of the table; may be given several times"
    )
    parser.add_argument("--by", choices=tables.PARTS, default="", help="a row for each of these")
    parser.add_argument("--proxy", action="store_true", help="the task of three options instead of a whole ranking")
    parser.add_argument("--chooser", metavar="NAME", help=f"--proxy: who chooses the options (default: {_CHOOSER})")
    parser.add_argument(
        "--submission", type=Path, metavar="FILE", help="write RELiC's hidden test split, answered, for its leaderboard"
    )
    parser.add_argument(
        "--windows", type=Path, metavar="FILE", help="write the benchmark's windows as FILE.parquet; asks no retriever"
    )
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help=f"{SENTENCES}: where NAME.txt are (RELIC_LIBRARY)")
    parser.add_argument("--segmenter", help=f"{SENTENCES}: rules (default), or parser where it is installed")
    parser.add_argument("--format", choices=tables.FORMATS, default="table", help="(default: %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:
    """Measure and print."""
    if options.what is None:
        return _list(app)
    if options.windows is not None:
        return _export(app, options)
    if options.whom is None:
        options.refuse(
            f"evaluate {options.what} wants {'a folder of lists' if options.what == SENTENCES else 'RETRIEVER'}"
        )
    if options.what == SENTENCES:
        if options.format not in {"table", "json"}:
            options.refuse(f"evaluate {SENTENCES} prints --format table or json")
        console.refuse_unused(options, f"evaluate {SENTENCES}", _USUAL, ("texts", "segmenter", "format"))
        return sentences.run(app, options)
    _refuse_unused(options)
    shapes = SHAPES if options.shape == "all" else tuple(map(ContextSize.parse, options.shape.split(",")))
    try:
        if options.submission is not None:
            return _submit(app, options, shapes)
        return _ask_items(app, options, shapes) if options.proxy else _measure(app, options, shapes)
    except KeyboardInterrupt:
        if not options.proxy and options.submission is None:
            print("\nWhat was measured is kept; the same command goes on from there.", file=sys.stderr)
        raise


def _list(app: App) -> int:
    cards = app.benchmarks.cards()
    print(
        console.table(
            ("benchmark", "split", "chosen from", "claims", "works", "reported first", "what it is"),
            [
                (
                    card.name,
                    card.split or "your file's",
                    card.pool,
                    "" if card.examples is None else f"{card.examples:,}",
                    "" if card.books is None else f"{card.books:,}",
                    card.main_metric,
                    card.label,
                )
                for card in cards
            ],
        )
    )
    for card in cards:
        if card.needs:
            print(f"\n{card.name}: {card.needs}")
    print(f"\nRetrievers: {', '.join(app.measuring.names())}.")
    return 0


def _measure(app: App, options: Namespace, shapes: tuple[ContextSize, ...]) -> int:
    from relic_core.services import figures

    retrievers = app.measuring.chosen(options.whom, k1=options.k1, b=options.b)
    names = figures.columns(options.metric)  # before anything is measured
    benchmark = app.benchmarks.open(options.what, data=options.data)
    measured = []
    for shape in shapes:
        for retriever in retrievers:
            name = retriever if isinstance(retriever, str) else retriever.name
            with console.ProgressLine(f"{name} {shape}") as progress:
                one = app.measuring.measure(
                    benchmark, retriever, shape, again=options.again, tell=_tell, progress=progress
                )
            measured.append((one.run, one.outcomes))
    print(tables.write(figures.tables(measured, names=names, by=options.by), options.format))
    if options.format == "table":
        print(f"\nRuns: {', '.join(f'{run.id} ({run.label}, {run.shape})' for run, _ in measured)}.")
    return 0


def _ask_items(app: App, options: Namespace, shapes: tuple[ContextSize, ...]) -> int:
    from relic_core.services.proxy import proxy_table

    chooser = options.chooser or _CHOOSER
    made = []
    for shape in shapes:
        with console.ProgressLine(f"Three options, {shape}") as progress:
            made.append(
                proxy_table(
                    app,
                    options.what,
                    app.measuring.split(options.whom, without=chooser),
                    chooser=chooser,
                    shape=shape,
                    data=options.data,
                    progress=progress,
                )
            )
    print(tables.write(tuple(made), options.format))
    return 0


def _submit(app: App, options: Namespace, shapes: tuple[ContextSize, ...]) -> int:
    from relic_core.services.submitting import submit

    names = app.measuring.split(options.whom)
    if len(names) != 1 or len(shapes) != 1 or options.what != "relic" or options.data is None:
        options.refuse("--submission wants: evaluate relic ONE_RETRIEVER --data test.json, with one --shape")
    with console.ProgressLine(f"{names[0]} {shapes[0]}") as progress:
        count = submit(app, names[0], shape=shapes[0], data=options.data, path=options.submission, progress=progress)
    print(f"{count:,} quotations are answered in {options.submission}.")
    return 0


def _export(app: App, options: Namespace) -> int:
    from relic_core.services import exchange

    if options.whom is not None:
        options.refuse("--windows asks no retriever: evaluate BENCHMARK --windows FILE.parquet")
    console.refuse_unused(options, "--windows", _USUAL, ("windows", "data"))
    count = exchange.export_windows(app, options.what, options.windows, data=options.data)
    print(f"{count:,} windows are in {options.windows}.")
    return 0


def _refuse_unused(options: Namespace) -> None:
    """Refuse what would be ignored."""
    if options.submission is not None:
        console.refuse_unused(options, "--submission", _USUAL, ("submission", "shape", "data"))
    elif options.proxy:
        console.refuse_unused(options, "--proxy", _USUAL, ("proxy", "shape", "data", "chooser", "format"))
    elif options.chooser is not None:
        options.refuse("--chooser is for the task of three options: add --proxy")
    else:
        of_lists = {name: _USUAL[name] for name in ("texts", "segmenter")}
        console.refuse_unused(options, "a benchmark", of_lists, ())


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr)
