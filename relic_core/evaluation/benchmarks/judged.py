"""Judged benchmarks: queries with graded passages, from BIRCO's other tasks or from a folder of the reader's own.

Each pool becomes a small work, in an order that says nothing of the grades (`passages`); without pools all passages are
one work. The whole query is the claim, however many sentences it has, at any context shape with a left side; one with
BIRCO's mask is cut at the mask as in `birco`. Queries of one benchmark count as one book, so that intervals are over
queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from relic_core.config import Settings
from relic_core.domain import BenchmarkCard, Book, QuotationContext, Span
from relic_core.errors import BadBenchmark
from relic_core.evaluation.benchmarks import birco
from relic_core.evaluation.benchmarks.opened import Opened, book_of, checked_sum, data_path
from relic_core.evaluation.benchmarks.passages import in_order, work_of
from relic_core.formats.birco import MASKED
from relic_core.formats.judged import JudgedQuery, read_folder
from relic_core.ports import WorkSource

FOLDER = "birco_other"


def _open(card: BenchmarkCard, settings: Settings, works: WorkSource, data: Path | None) -> Opened:  # noqa: ARG001 - the registry's signature
    path = data_path(card, settings, data, below=f"{FOLDER}/{card.name.removeprefix('birco-')}")
    if not path.is_dir():
        raise BadBenchmark(f"{path} is not a folder with queries, passages and grades. {card.needs}")
    files = [file for file in path.iterdir() if file.suffix in {".jsonl", ".txt", ".run"}]
    found = checked_sum(card, path, files, own=data is not None)
    read = read_folder(path)
    key = card.name if data is None else path.resolve().name
    label = card.label if data is None else key
    queries = [query for query in read.queries if read.grades.get(query.id)]
    if not read.pools:
        ids = in_order(key, read.passages)
        works_by_pool = {key: work_of(label, {name: read.passages[name] for name in ids}, card.source)}
        book = book_of(key, works_by_pool[key])
    else:
        book, works_by_pool = Book(key=key, title=label), {}
        for query in queries:
            ids = in_order(query.id, read.pools[query.id])
            pool = {name: read.passages[name] for name in ids}
            works_by_pool[query.id] = work_of(f"Pool of {query.id}", pool, card.source)
    places = {pool: {chapter.title: chapter.index for chapter in work.chapters} for pool, work in works_by_pool.items()}
    contexts = []
    for query in queries:
        own = query.id if read.pools else key
        contexts.append(_context(query, key, own, places[own], read.grades[query.id]))
    left_out = len(read.queries) - len(queries)
    note = f" Left out, without a graded passage: {left_out:,}." if left_out else ""
    if unknown := sorted(read.grades.keys() - {query.id for query in read.queries}):
        note += f" With grades but no text: {len(unknown):,}, first {unknown[0]!r:.80}."
    if not queries:
        raise BadBenchmark(f"{path} has no query with a graded passage.{note}")
    opened = replace(
        card,
        pool="given" if read.pools else "whole work",
        checksum=found,
        objective=read.objective or card.objective,
        description=card.description + note,
    )
    return Opened(opened, contexts, books=[book], works=works_by_pool)


def _context(
    query: JudgedQuery, book: str, pool: str, places: Mapping[str, int], grades: Mapping[str, float]
) -> QuotationContext:
    judged = sorted((places[name], grade) for name, grade in grades.items())
    best, _ = max(judged, key=lambda each: (each[1], -each[0]))
    masked = MASKED in query.text
    left, right = birco.sides(query) if masked else ((" ".join(query.text.split()),), ())
    return QuotationContext(
        id=query.id,
        book=book,
        pool=pool,
        left=left,
        right=right,
        gold=Span(best, 1),
        kind=query.template,
        masked=masked,
        grades=tuple(judged),
    )


_JUDGED = BenchmarkCard(
    name="judged",
    label="Judged passages of your own",
    description="Queries with graded passages, from a folder of your own.",
    pool="given",
    main_metric="ndcg@10",
    quotes=False,
    source="The reader's own folder",
    licence="The reader's own",
    citation="None",
    needs="It needs a folder of JSON lines, of TREC's qrels or of QUEST's files: docs/evaluation.md describes it.",
)


def _birco(name: str, label: str, examples: int, checksum: str, description: str, objective: str) -> BenchmarkCard:
    return replace(
        _JUDGED,
        name=f"birco-{name}",
        label=label,
        description=description,
        split="dev" if name.endswith("-dev") else "test",
        examples=examples,
        books=1,
        source=f"github.com/BIRCO-benchmark/BIRCO: {label}",
        licence=birco.LICENCE,
        citation="Wang et al. (2024), BIRCO: A Benchmark of Information Retrieval Tasks with Complex Objectives, "
        "arXiv:2402.14151",
        checksum=checksum,
        needs=f"It needs BIRCO's data as JSON lines with grades (`python -m tools.birco`), in {FOLDER}/{name}.",
        objective=objective,
    )


_CARDS = (
    _birco(
        "arguana",
        "ArguAna",
        100,
        "6acc243571e1138e547116c4d0691cd5044e34514adbce5378c5d93531a94682",
        "Arguments from debates; wanted is, among about fifty passages, the one that refutes the argument.",
        "The claim is one side's argument in a debate. Wanted is the passage that answers it best from the other side: "
        "it takes up the same points and refutes them. A passage on the same subject that argues another point, or "
        "that agrees, is not wanted.",
    ),
    _birco(
        "wtb",
        "WhatsThatBook",
        100,
        "05cbb513f1753f7c6fdeaaa9c15cf14985e65aa2c37aea07c3f94ee6964478f3",
        "What somebody remembers of a book whose title is forgotten; wanted is, among about fifty, the description of "
        "that book.",
        "The claim is what a reader remembers of a book, vague in part and wrong in places. Wanted is the description "
        "of that very book: its plot, persons, time and kind fit what is remembered.",
    ),
    _birco(
        "clinical-trial",
        "Clinical-Trial",
        50,
        "56f9e159cbdcfbdd3c69b10aa4e480dc8c325ed70843e1310f83bf1f07dd7859",
        "Case reports of patients; wanted are, among 40 to 153 descriptions of clinical trials, those that the patient "
        "may take part in, graded 1 and 2.",
        "The claim is the case report of a patient. Wanted are clinical trials that this patient could be referred to: "
        "the trial is about a condition that the patient has, and nothing in the report excludes the patient.",
    ),
    _birco(
        "doris-mae-dev",
        "DORIS-MAE, development set",
        40,
        "019337c73331efd67d1804543ab4a497f4a29001e3110987b7aa928f493ebd26",
        "Questions of researchers with several parts; wanted are, among about a hundred, the abstracts that meet most "
        "of them, with grades from 0 to 2.",
        "The claim is a researcher's question with several parts. Wanted are abstracts of papers that meet as many of "
        "these parts as possible, and the main ones above all.",
    ),
)

JUDGED = SimpleNamespace(CARD=_JUDGED, create=partial(_open, _JUDGED))
ARGUANA, WTB, CLINICAL_TRIAL, DORIS_MAE = (SimpleNamespace(CARD=card, create=partial(_open, card)) for card in _CARDS)
