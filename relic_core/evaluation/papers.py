"""The tables of five papers as printed, with our rows below them where there are any.

They are in `papers.toml`: facts, measured elsewhere on other data. A row of ours names the run that measured it, or
the page of the documentation that has it too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from relic_core.config import ASSETS
from relic_core.domain import SHAPES, Outcome, Run
from relic_core.domain.figures import Cell, Part, Table
from relic_core.errors import BadRequest, unknown_name
from relic_core.evaluation import figures, metrics
from relic_core.installed import COMMAND, MODULE
from relic_core.retrieval import registry

FILE = ASSETS / "papers.toml"
PAPERS = {
    "relic": "RELiC (Thai et al. 2022)",
    "birco": "BIRCO (Wang et al. 2024)",
    "quest": "QUEST (Malaviya et al. 2023)",
    "allusion": "Allusive text reuse (Manjavacas, Long and Kestemont 2019)",
    "citations": "Citations as queries (Muther and Smith 2023)",
}
NONE = "–"
"""Stands where a paper gives no figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table of a paper.

    - `number`: as a caption has it: "table A9".
    - `heads`: what a column is called, and the benchmark and metric that it is of; both empty where it is of none.
    - `measured`: rows of ours, which the page `measured_in` has too.
    - `benchmark`, `retriever`, `by`: of which runs we have rows: all of a benchmark, or a retriever's, by length.
    - `commands`: what measures here what no run that a row names has measured.
    - `figures`: how figures of ours and of the paper differ.
    - `here`: what else is to be said: what cannot be measured here, and why.
    """

    number: str
    title: str
    heads: tuple[tuple[str, str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    measured: tuple[tuple[str, ...], ...]
    measured_in: str
    benchmark: str
    retriever: str
    by: Part | Literal[""]
    commands: tuple[str, ...]
    figures: str
    here: str


@lru_cache(maxsize=len(PAPERS))
def printed(paper: str) -> tuple[PaperTable, ...]:
    """Read the tables of a paper."""
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    return tuple(map(_table, tomllib.loads(FILE.read_text("utf-8").replace(MODULE, COMMAND))[paper]))


def _table(read: dict[str, Any]) -> PaperTable:
    benchmark = read.get("benchmark", "")
    return PaperTable(
        number=read["number"],
        title=read["title"],
        heads=tuple(_head(head, benchmark) for head in _split_row(read.get("heads", ""))),
        rows=tuple(map(_split_row, read.get("rows", "").strip().splitlines())),
        measured=tuple(map(_split_row, read.get("measured", "").strip().splitlines())),
        measured_in=read.get("measured_in", ""),
        benchmark=benchmark,
        retriever=read.get("retriever", ""),
        by="length" if "by" in read else "",
        commands=tuple(read.get("commands", ())),
        figures=read.get("figures", ""),
        here=read.get("here", ""),
    )


def _split_row(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.split("|")) if line else ()


def _head(head: str, benchmark: str) -> tuple[str, str, str]:
    label, named, what = head.partition(" = ")
    if named:
        of, _, name = what.partition(":")
        return label, of, name
    if head.startswith(("recall@", "mean-rank", metrics.PROXY, "candidates")):
        return metrics.metric(head).label, benchmark, head
    return head, "", ""


def tables(paper: str, runs: Sequence[Run], outcomes: Callable[[str], Sequence[Outcome]]) -> tuple[Table, ...]:
    """Set every table of a paper, the published rows first, each row with where it is from.

    - `runs`: those that our rows may be of, the newest first.
    """
    return tuple(_set(PAPERS[paper], each, runs, outcomes) for each in printed(paper))


def beside_birco(benchmarks: Sequence[str], runs: Sequence[Run], outcomes: Callable[[str], Sequence[Outcome]]) -> Table:
    """Set BIRCO's strongest systems and runs of ours, with the columns of some benchmarks alone.

    Raises BadRequest: BIRCO has no figures for one of them.
    """
    table = next(each for each in printed("birco") if each.benchmark)
    known = dict.fromkeys(of for _, of, _ in table.heads if of)
    if unknown := [each for each in benchmarks if each not in known]:
        raise BadRequest(f"BIRCO has no figures for {', '.join(unknown)}. It has some for {', '.join(known)}.")
    kept = [at for at, (_, of, _) in enumerate(table.heads) if not of or of in benchmarks]
    rows = [tuple(row[at] for at in kept) for row in table.rows]
    narrow = replace(
        table,
        heads=tuple(table.heads[at] for at in kept),
        rows=tuple(row for row in rows if set(row[1:]) != {NONE}),
        measured=(),
        commands=(),
        here="",
    )
    return _set(PAPERS["birco"], narrow, runs, outcomes)


def _set(paper: str, table: PaperTable, runs: Sequence[Run], outcomes: Callable[[str], Sequence[Outcome]]) -> Table:
    rows: list[tuple[Cell, ...]] = [(*row, "published") for row in table.rows]
    rows += [(*row, f"measured here: {table.measured_in}") for row in table.measured]
    rows += _ours(table, runs, outcomes)
    commands = f"To measure here: {', '.join(f'“{each}”' for each in table.commands)}." if table.commands else ""
    return Table(
        caption=f"{paper}, {table.number}: {table.title}",
        heads=(*(label for label, _, _ in table.heads), "from") if table.heads else ("figures",),
        rows=tuple(rows) if table.heads else ((NONE,),),
        notes=tuple(filter(None, (table.figures, table.here, commands))),
    )


def _ours(
    table: PaperTable, runs: Sequence[Run], outcomes: Callable[[str], Sequence[Outcome]]
) -> Iterator[tuple[Cell, ...]]:
    """Give a row for each run on the benchmarks of a table: of several with one label and shape, the newest."""
    order = [card.name for card in registry.cards()]
    chosen: dict[tuple[int, str, str, int], Run] = {}
    for run in runs if table.benchmark else ():
        fits = any(benchmark == run.benchmark for _, benchmark, _ in table.heads)
        if not fits or (table.retriever and run.retriever != table.retriever) or run.shape not in SHAPES:
            continue
        several = len({benchmark for _, benchmark, _ in table.heads if benchmark}) > 1
        if (several or table.by) and run.shape != SHAPES[-1]:
            continue
        place = order.index(run.retriever) if run.retriever in order else len(order)
        chosen.setdefault((place, run.label, run.benchmark, SHAPES.index(run.shape)), run)
    for _, run in sorted(chosen.items()):
        for part, some in figures.parts(run, outcomes(run.id), table.by):
            words = {"system": run.label, "context": str(run.shape), "length": str(part), "n": str(len(some))}
            yield (
                *(_cell(head, run, some) if head[1] else words.get(head[0], NONE) for head in table.heads),
                f"measured here: run {run.id}, {run.benchmark}, n = {len(some):,}",
            )


def _cell(head: tuple[str, str, str], run: Run, outcomes: Sequence[Outcome]) -> Cell:
    _, benchmark, name = head
    if benchmark != run.benchmark or name == metrics.PROXY:
        return NONE
    return f"{metrics.figure(name, outcomes):,.0f}" if name == "candidates" else figures.measured(name, outcomes)
