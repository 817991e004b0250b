"""Measure retrievers on a benchmark, or our sentences against published lists."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import by_option, command, format_option, metric_option, path_option, refuse_others
from relic_core.domain import SHAPES, ContextSize
from relic_core.errors import BadRequest
from relic_core.reporting import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.wiring import App

SENTENCES = "sentences"
_CHOOSER = "bm25"


@command(
    "evaluate",
    "evaluate sample dense-relic",
    "evaluate birco-novels bm25,dense-relic --shape all",
    "evaluate birco-novels bm25 --by length --metric recall@10 --metric mean-rank",
    "evaluate relic all --data train.json --format latex",
    "evaluate birco-novels dense-relic,fusion --proxy --chooser bm25",
    "evaluate relic bm25 --data test.json --submission bm25.json",
    "evaluate sentences LISTS --texts TEXTS --format json",
)
@click.argument("benchmark", required=False, help=f"One of the list; or {SENTENCES}: our sentences against lists.")
@click.argument("retriever", required=False, help="One, several with commas between, or all; or the folder of lists.")
@click.option(
    "--shape", default="4/4", show_default=True, help="Sentences of criticism before and after the quotation, or all."
)
@path_option("--data", "PATH", "Your own file or folder of the benchmark's data.")
@click.option("--again", is_flag=True, help="Measure although it was measured, and compare.")
@click.option("--k1", type=float, help="Of bm25 or bm25-lemmas, in place of its own.")
@click.option("--b", type=float, help="Of bm25 or bm25-lemmas, in place of its own.")
@metric_option
@by_option
@click.option("--proxy", is_flag=True, help="The task of three options instead of a whole ranking.")
@click.option("--chooser", metavar="NAME", help=f"With --proxy: who chooses the options (default: {_CHOOSER}).")
@path_option("--submission", "FILE", "Write RELiC's hidden test split, answered, for its leaderboard.")
@path_option("--windows", "FILE", "Write the benchmark's windows as FILE.parquet; asks no retriever.")
@path_option("--texts", "FOLDER", f"{SENTENCES}: where NAME.txt are (RELIC_LIBRARY).")
@click.option("--segmenter", help=f"{SENTENCES}: rules (default), or parser where it is installed.")
@format_option(*tables.FORMATS)
def evaluate(app: App, benchmark: str | None, retriever: str | None, **asked: Any) -> None:
    """Measure retrievers on a benchmark. Without words, the benchmarks there are are listed.

    Each is a run, kept with the rank of every quotation; stopped and started again, it goes on where it was.
    """
    if benchmark is None:
        _list(app)
    elif asked["windows"] is not None:
        if retriever is not None:
            raise click.UsageError("--windows asks no retriever: evaluate BENCHMARK --windows FILE.parquet")
        refuse_others("--windows", "windows", "data")
        _export(app, benchmark, asked["windows"], asked["data"])
    elif retriever is None:
        what = "a folder of lists" if benchmark == SENTENCES else "RETRIEVER"
        raise click.UsageError(f"evaluate {benchmark} wants {what}.")
    elif benchmark == SENTENCES:
        if asked["form"] not in {"table", "json"}:
            raise click.UsageError(f"evaluate {SENTENCES} prints --format table or json.")
        refuse_others(f"evaluate {SENTENCES}", "texts", "segmenter", "form")
        _score_sentences(app, Path(retriever), asked["texts"], asked["segmenter"] or "rules", asked["form"])
    else:
        _ask(app, benchmark, retriever, **asked)


def _ask(
    app: App,
    benchmark: str,
    retriever: str,
    *,
    shape: str,
    data: Path | None,
    proxy: bool,
    chooser: str | None,
    submission: Path | None,
    form: tables.Format,
    **asked: Any,
) -> None:
    """Measure, ask the task of three options, or answer the hidden split."""
    if submission is not None:
        refuse_others("--submission", "submission", "shape", "data")
    elif proxy:
        refuse_others("--proxy", "proxy", "shape", "data", "chooser", "form")
    elif chooser is not None:
        raise click.UsageError("--chooser is for the task of three options: add --proxy.")
    else:
        refuse_others("a benchmark", "shape", "data", "form", "again", "k1", "b", "metrics", "by")
    shapes = SHAPES if shape == "all" else tuple(map(ContextSize.parse, shape.split(",")))
    if submission is not None:
        _submit(app, benchmark, retriever, shapes, data, submission)
        return
    if proxy:
        made = _ask_items(app, benchmark, retriever, shapes, data, chooser or _CHOOSER)
        print(tables.write(tuple(made), form))
        return
    try:
        _measure(app, benchmark, retriever, shapes, data, form, asked)
    except KeyboardInterrupt:
        print("\nWhat was measured is kept; the same command goes on from there.", file=sys.stderr)
        raise


def _list(app: App) -> None:
    from relic_core.services.evaluation import retriever_names

    cards = app.benchmarks.cards()
    rows = [
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
    ]
    heads = ("benchmark", "split", "chosen from", "claims", "works", "reported first", "what it is")
    print(console.table(heads, rows))
    for card in cards:
        if card.needs:
            print(f"\n{card.name}: {card.needs}")
    print(f"\nRetrievers: {', '.join(retriever_names())}.")


def _measure(
    app: App,
    benchmark: str,
    retriever: str,
    shapes: Sequence[ContextSize],
    data: Path | None,
    form: tables.Format,
    asked: dict[str, Any],
) -> None:
    from relic_core.services.evaluation import chosen_retrievers, figures

    retrievers = chosen_retrievers(retriever, k1=asked["k1"], b=asked["b"])
    names = figures.columns(asked["metrics"])  # before anything is measured
    opened = app.benchmarks.open(benchmark, data=data)
    measured = []
    for shape in shapes:
        for each in retrievers:
            with console.ProgressLine(f"{each if isinstance(each, str) else each.name} {shape}") as progress:
                one = app.measuring.measure(
                    opened, each, shape, again=asked["again"], tell=console.note, progress=progress
                )
            measured.append((one.run, one.outcomes))
    print(tables.write(figures.tables(measured, names=names, by=asked["by"]), form))
    if form == "table":
        print(f"\nRuns: {', '.join(f'{run.id} ({run.label}, {run.shape})' for run, _ in measured)}.")


def _ask_items(
    app: App, benchmark: str, retriever: str, shapes: Sequence[ContextSize], data: Path | None, chooser: str
) -> list[tables.Table]:
    from relic_core.services.evaluation import named_retrievers
    from relic_core.services.studies.results import proxy_table

    names = named_retrievers(retriever, without=chooser)
    opened = app.benchmarks.open(benchmark, data=data)
    create = partial(app.measuring.retriever, settings=app.measuring.settings_for(opened))
    made = []
    for shape in shapes:
        with console.ProgressLine(f"Three options, {shape}") as progress:
            made.append(proxy_table(opened, names, chooser=chooser, shape=shape, create=create, progress=progress))
    return made


def _submit(
    app: App, benchmark: str, retriever: str, shapes: Sequence[ContextSize], data: Path | None, path: Path
) -> None:
    from relic_core.services.evaluation import named_retrievers

    names = named_retrievers(retriever)
    if len(names) != 1 or len(shapes) != 1 or benchmark != "relic" or data is None:
        raise click.UsageError("--submission wants: evaluate relic ONE_RETRIEVER --data test.json, with one --shape")
    with console.ProgressLine(f"{names[0]} {shapes[0]}") as progress:
        count = app.measuring.submit(names[0], shape=shapes[0], data=data, path=path, progress=progress)
    print(f"{count:,} quotations are answered in {path}.")


def _export(app: App, benchmark: str, path: Path, data: Path | None) -> None:
    count = app.benchmarks.export(benchmark, path, data=data)
    print(f"{count:,} windows are in {path}.")


def _score_sentences(app: App, lists: Path, texts: Path | None, segmenter: str, form: str) -> None:
    from relic_core.services.evaluation import score_lists

    texts = texts or app.settings.library
    if texts is None:
        raise BadRequest("Where are the texts of these lists? Give --texts FOLDER or set RELIC_LIBRARY.")
    scores = []
    with console.ProgressLine("Scoring") as progress:
        for each in score_lists(lists, texts, cutter=segmenter, max_bytes=app.settings.max_text_bytes):
            scores.append(each)
            progress(len(scores), 0, each.name)
    if form == "json":
        names = ("precision", "recall", "ours", "theirs", "exact", "apparatus")
        listed = [
            {"work": row.name, "segmenter": row.segmenter, **{name: getattr(row.score, name) for name in names}}
            for row in scores
        ]
        print(json.dumps(listed, indent=2))
        return
    rows = [
        (row.name, f"{row.score.precision:.2%}", f"{row.score.recall:.2%}", row.score.ours, row.score.theirs)
        for row in scores
    ]
    print(console.table(("work", "ours exact", "theirs exact", "ours", "theirs"), rows))
