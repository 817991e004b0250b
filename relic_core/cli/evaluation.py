"""Measure retrievers on a benchmark, or our sentences against published lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from relic_core.cli import console
from relic_core.cli.commands import (
    by_option,
    command,
    engine_option,
    format_option,
    metric_option,
    path_option,
    refuse_others,
)
from relic_core.cli.console import note
from relic_core.domain import SHAPES, ContextSize, Run
from relic_core.domain.figures import many
from relic_core.domain.runs import ASKED, ECHOES
from relic_core.errors import BadRequest, BadWeights, TokensUsedUp
from relic_core.installed import COMMAND
from relic_core.reporting import tables

if TYPE_CHECKING:
    from relic_core.wiring import App

SENTENCES = "sentences"
ATTRIBUTION = "attribution"
_CHOOSER = "bm25"


@command(
    "evaluate",
    "evaluate sample dense-relic",
    "evaluate birco-novels bm25,dense-relic --shape all",
    "evaluate birco-novels bm25 --by length --metric recall@10 --metric mean-rank",
    "evaluate relic all --data train.json --format latex",
    "evaluate birco-novels dense-relic,fusion --proxy --chooser bm25",
    "evaluate birco-pools llm-score,llm-rank --objective off --top 50 --probe",
    "evaluate birco-pools,birco-wtb llm-rank,llm-score --top 60 --report sheet.md",
    "evaluate relic bm25 --data test.json --submission bm25.json",
    "evaluate public-relic-test reranked --engine dask://head:8786",
    "evaluate bible-references combined",
    "evaluate sentences LISTS --texts TEXTS --format json",
    "evaluate public-relic-dev attribution --by length",
    "evaluate queries.jsonl attribution",
    "evaluate loci-dev --length 0 --length 1 --length 3",
)
@click.argument(
    "benchmark",
    required=False,
    help=f"One of the list; {ECHOES}: known echoes; or {SENTENCES}: our sentences against lists.",
)
@click.argument(
    "retriever",
    required=False,
    help=f"One, several with commas between, or all; {ATTRIBUTION}: the work is sought, too; or the folder of lists.",
)
@click.option(
    "--shape", default="4/4", show_default=True, help="Sentences of criticism before and after the quotation, or all."
)
@path_option("--data", "PATH", "Your own file or folder of the benchmark's data.")
@click.option("--again", is_flag=True, help="Measure although it was measured, and compare.")
@click.option("--k1", type=float, help="Of bm25 or bm25-lemmas, in place of its own.")
@click.option("--b", type=float, help="Of bm25 or bm25-lemmas, in place of its own.")
@click.option("--function-words", is_flag=True, help="Of bm25: count function words, too.")
@click.option(
    "--objective",
    metavar="on|off|FILE",
    help="Of llm-*: whether the model gets what is wanted, or a text file that says it in other words.",
)
@click.option("--top", type=click.IntRange(1), metavar="N", help="Of llm-*: how many passages the model reads.")
@click.option("--over", metavar="NAME", help="Of llm-*: whose first passages the model reads (default: fusion).")
@click.option("--probe", is_flag=True, help="Also without the claims whose quotation the model knows by heart.")
@path_option(
    "--report",
    "FILE",
    "Of llm-*: measure each with what is wanted and without, and write it beside BIRCO's figures as Markdown; "
    "several of BIRCO's benchmarks may be named, with commas between.",
)
@engine_option
@metric_option
@by_option
@click.option("--proxy", is_flag=True, help="The task of three options instead of a whole ranking.")
@click.option(
    "--length",
    "lengths",
    type=int,
    multiple=True,
    help="Without RETRIEVER: count cards as Find shows them, for this length, 0 for any; may be repeated, and the last "
    "is what the others are compared with. With --proxy: sentences of a quotation (default: 1); 0: any.",
)
@click.option("--chooser", metavar="NAME", help=f"With --proxy: who chooses the options (default: {_CHOOSER}).")
@path_option("--submission", "FILE", "Write RELiC's hidden test split, answered, for its leaderboard.")
@path_option("--windows", "FILE", "Write the benchmark's windows as FILE.parquet; asks no retriever.")
@path_option("--texts", "FOLDER", f"{SENTENCES}: where NAME.txt are (RELIC_LIBRARY); {ECHOES}: the verses.")
@path_option("--vectors", "PATH", f"{ECHOES}: vectors of words, or a WordNet, as of the command echoes.")
@click.option("--tokens", is_flag=True, help=f"{ECHOES}: words as they stand, not their lemmas.")
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help=f"{ATTRIBUTION}: N windows or queries, by rerankers too."
)
@click.option("--segmenter", help=f"{SENTENCES}: rules (default), or parser where it is installed.")
@format_option(*tables.FORMATS)
def evaluate(app: App, benchmark: str | None, retriever: str | None, **typed: Any) -> None:
    """Measure retrievers on a benchmark. Without words, the benchmarks there are are listed.

    Each is a run, kept with the rank of every quotation; stopped and started again, it goes on where it was.
    """
    given = SimpleNamespace(**typed)
    if benchmark is None:
        _list(app)
    elif given.windows is not None:
        if retriever is not None:
            raise click.UsageError("--windows asks no retriever: evaluate BENCHMARK --windows FILE.parquet")
        refuse_others("--windows", "windows", "data")
        _export(app, benchmark, given)
    elif retriever is None:
        _count_cards(app, benchmark, given)
    elif benchmark == ECHOES:
        refuse_others(f"evaluate {ECHOES}", "data", "texts", "vectors", "tokens", "form")
        _measure_echoes(app, retriever, given)
    elif benchmark == SENTENCES:
        refuse_others(f"evaluate {SENTENCES}", "texts", "segmenter", "form")
        _score_sentences(app, Path(retriever), given)
    elif retriever == ATTRIBUTION:
        refuse_others(f"evaluate {benchmark} {ATTRIBUTION}", "data", "by", "sample", "form")
        _attribute(app, benchmark, given)
    elif given.submission is not None:
        refuse_others("--submission", "submission", "shape", "data")
        _submit(app, benchmark, retriever, given)
    elif given.proxy:
        refuse_others("--proxy", "proxy", "shape", "data", "chooser", "lengths", "form")
        _ask_items(app, benchmark, retriever, given)
    elif given.chooser is not None or given.lengths:
        raise click.UsageError("--chooser and --length are for the task of three options: add --proxy.")
    else:
        measure = _measure if given.report is None else _report
        try:
            measure(app, benchmark, retriever, given)
        except KeyboardInterrupt:
            note("\nWhat was measured is kept; the same command goes on from there.")
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


def _sizes(shape: str) -> Sequence[ContextSize]:
    return SHAPES if shape == "all" else tuple(map(ContextSize.parse, shape.split(",")))


def _able(create: Callable[[str], Any], *, without: str = "") -> tuple[str, ...]:
    """Name all retrievers that can be made, and say why the others cannot."""
    from relic_core.services.evaluation import named_retrievers

    able = []
    for name in named_retrievers("all", without=without):
        try:
            create(name).configuration  # noqa: B018 - reads the model's files
            able.append(name)
        except BadWeights as error:
            note(f"{name} is left out. {error}")
    return tuple(able)


def _measure(app: App, benchmark: str, retriever: str, given: SimpleNamespace) -> None:
    from relic_core.services.evaluation import chosen_retrievers, figures

    options = ("shape", "data", "form", "again", "k1", "b", "function_words", "metrics", "by")
    refuse_others("a benchmark", *options, "objective", "top", "over", "probe", "engine")
    sizes = _sizes(given.shape)
    retrievers = chosen_retrievers(retriever, k1=given.k1, b=given.b, function_words=given.function_words)
    names = figures.columns(given.metrics)  # before anything is measured
    opened = app.benchmarks.open(benchmark, data=given.data)
    if given.data:
        note(opened.card.description)  # with what was left out
    if retriever.strip() == "all":
        retrievers = _able(partial(app.measuring.retriever_for, opened))
    reading = {"objective": given.objective, "top": given.top, "over": given.over}
    chosen = app.measuring.with_server(retrievers, opened, **reading)
    measured = []
    for size in sizes:
        for each in chosen:
            with console.ProgressLine(f"{each if isinstance(each, str) else each.name} {size}") as progress:
                one = app.measuring.measure(opened, each, size, again=given.again, tell=note, progress=progress)
            measured.append((one.run, app.runs.labelled(one.run.id)))
    against = app.measuring.against_combined(measured, note)
    print(tables.write((*figures.tables(measured, names=names, by=given.by), *against), given.form))
    for run, _ in measured:
        if took := [
            f"{name} {value}" for name, value in run.machine.items() if name.startswith(("model ", "passages "))
        ]:
            note(f"{run.label}: {', '.join(took)}, {run.seconds:,.1f} s.")
    if given.probe:
        with console.ProgressLine("What the model recites") as progress:
            left = app.measuring.without_recited(opened, measured, progress)
        note("The second table is without the claims whose quotation the model recites when it is shown no passage.")
        print(f"\n{tables.write(figures.tables(left, names=names, by=given.by), given.form)}")
    if given.form == "table":
        print(f"\nRuns: {', '.join(f'{run.id} ({run.label}, {run.shape})' for run, _ in measured)}.")


def _report(app: App, benchmarks: str, retriever: str, given: SimpleNamespace) -> None:
    """Measure what is named with the objective and without, and write the sheet anew after each run."""
    from relic_core.services.evaluation import named_retrievers

    refuse_others("--report", "report", "data", "again", "objective", "top", "over")
    names = sorted(named_retrievers(retriever), key="llm-subtask".__eq__)  # it asks most, so it comes last
    (size,) = _sizes(given.shape)
    listed = dict.fromkeys(map(str.strip, benchmarks.split(",")))
    tasks = [app.benchmarks.open(name, data=given.data) for name in listed]
    app.runs.check_sheet(given.report, [each.card.name for each in tasks])
    made = []
    for opened, objective in product(tasks, dict.fromkeys(("off", given.objective or "on"))):
        asked = app.measuring.with_server(names, opened, objective=objective, top=given.top, over=given.over)
        made.append([(opened, each) for each in asked])
    plan = dict.fromkeys(chain.from_iterable(zip(*made, strict=True)))  # what asks no model is in it once
    held = next(each.configuration for _, each in reversed(plan) if not isinstance(each, str))
    data = " --data DATA" if given.data else ""
    command = f"{COMMAND} evaluate {','.join(listed)} {','.join(names)}{ASKED.format_map(held)}{data} --report SHEET"
    runs: list[Run] = []
    stopped = None
    for number, (opened, each) in enumerate(plan, start=1):
        name = f"{opened.card.name} {each if isinstance(each, str) else each.name}"
        try:
            with console.ProgressLine(f"{number} of {len(plan)}: {name}") as progress:
                one = app.measuring.measure(opened, each, size, again=given.again, tell=note, progress=progress)
        except TokensUsedUp as error:  # a limit of each run
            note(f"{name} is not finished. The others are still measured.")
            stopped = error
            continue
        runs.append(one.run)
        app.runs.write_sheet(given.report, runs, command=command, left=len(plan) - len(runs))
    if stopped:
        raise stopped
    print(f"{given.report} has {many(len(runs), 'run')}.")


def _measure_echoes(app: App, methods: str, given: SimpleNamespace) -> None:
    taken = [each.name for each in app.echoes.methods if each.counts or not given.tokens]
    vectors, made = str(given.vectors or ""), []
    for name in taken if methods == "all" else methods.split(","):
        with console.ProgressLine(name) as progress:
            made.append(app.echoes.measure(name, given.data, given.texts, vectors, progress, tokens=given.tokens))
    rows = chain.from_iterable(each.rows for each in made)
    print(tables.write((replace(made[0], rows=tuple(rows)),), given.form))


def _attribute(app: App, benchmark: str, given: SimpleNamespace) -> None:
    if given.by not in {"", "length"}:
        raise click.UsageError(f"{ATTRIBUTION} is set --by length alone.")
    opened = Path(benchmark) if benchmark.endswith(".jsonl") else app.benchmarks.open(benchmark, data=given.data)
    with console.ProgressLine("Attributing") as progress:
        made = app.attribution.measure(opened, sample=given.sample, by_length=given.by == "length", progress=progress)
    print(tables.write(made, given.form))


def _ask_items(app: App, benchmark: str, retriever: str, given: SimpleNamespace) -> None:
    from relic_core.services.evaluation import named_retrievers
    from relic_core.studies.results import proxy_table

    sizes, chooser, made = _sizes(given.shape), given.chooser or _CHOOSER, []
    names = named_retrievers(retriever, without=chooser)
    lengths = () if 0 in given.lengths else given.lengths or (1,)
    opened = app.benchmarks.open(benchmark, data=given.data)
    create = partial(app.measuring.retriever_for, opened)
    if retriever.strip() == "all":
        names = _able(create, without=chooser)
    for size in sizes:
        with console.ProgressLine(f"Three options, {size}") as progress:
            ask = partial(proxy_table, opened, names, chooser=chooser, shape=size, lengths=lengths)
            made.append(ask(create=create, progress=progress))
    print(tables.write(tuple(made), given.form))


def _count_cards(app: App, benchmark: str, given: SimpleNamespace) -> None:
    """Count cards as Find shows them, where lengths are given in place of a retriever."""
    from relic_core.services import answer_figures

    if not given.lengths:
        what = "a folder of lists" if benchmark == SENTENCES else "RETRIEVER, or --length"
        raise click.UsageError(f"evaluate {benchmark} wants {what}.")
    refuse_others("--length without RETRIEVER", "lengths", "data", "form")
    opened = app.benchmarks.open(benchmark, data=given.data)
    with console.ProgressLine("Asking as Find does") as progress:
        made = answer_figures.measure(opened, app.search, given.lengths, progress)
    print(tables.write(made, given.form))


def _submit(app: App, benchmark: str, retriever: str, given: SimpleNamespace) -> None:
    from relic_core.services.evaluation import named_retrievers

    sizes, names = _sizes(given.shape), named_retrievers(retriever)
    if len(names) != 1 or len(sizes) != 1 or benchmark != "relic" or given.data is None:
        raise click.UsageError("--submission wants: evaluate relic ONE_RETRIEVER --data test.json, with one --shape")
    with console.ProgressLine(f"{names[0]} {sizes[0]}") as progress:
        count = app.measuring.submit(
            names[0], shape=sizes[0], data=given.data, path=given.submission, progress=progress
        )
    print(f"{count:,} quotations are answered in {given.submission}.")


def _export(app: App, benchmark: str, given: SimpleNamespace) -> None:
    joined = app.benchmarks.export(benchmark, given.windows, data=given.data)
    print(f"{joined.quotations:,} windows are in {given.windows}.")
    note(*filter(None, [joined.summary]))


def _score_sentences(app: App, lists: Path, given: SimpleNamespace) -> None:
    from relic_core.services.evaluation import score_lists

    if given.form not in {"table", "json"}:
        raise click.UsageError(f"evaluate {SENTENCES} prints --format table or json.")
    texts = given.texts or app.settings.library
    if texts is None:
        raise BadRequest("Where are the texts of these lists? Give --texts FOLDER or set RELIC_LIBRARY.")
    segmenter = given.segmenter or "rules"
    scores = []
    with console.ProgressLine("Scoring") as progress:
        for each in score_lists(lists, texts, cutter=segmenter, max_bytes=app.settings.max_text_bytes):
            scores.append(each)
            progress(len(scores), 0, each[0])
    if given.form == "json":
        names = ("precision", "recall", "ours", "theirs", "exact", "apparatus")
        listed = [
            {"work": work, "segmenter": segmenter, **{name: getattr(score, name) for name in names}}
            for work, segmenter, score in scores
        ]
        print(console.as_json(listed))
        return
    rows = [
        (work, f"{score.precision:.2%}", f"{score.recall:.2%}", score.ours, score.theirs) for work, _, score in scores
    ]
    print(console.table(("work", "ours exact", "theirs exact", "ours", "theirs"), rows))
