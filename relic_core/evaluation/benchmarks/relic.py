"""RELiC as published: its own sentences, its own candidates, its own quotations.

Nothing is read anew: a work is the list of sentences in the file, joined by single spaces into one chapter, and
candidates are the starts that the file lists for the gold's length (headings and the like are left out of them).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relic_core.config import Settings
from relic_core.domain import (
    BenchmarkCard,
    Book,
    ContextSize,
    QuotationContext,
    Span,
    rank_scores,
)
from relic_core.errors import BadBenchmark, BadClaim
from relic_core.evaluation.benchmarks.opened import Opened, checksum, data_path
from relic_core.formats.relic import DEPTH, SOURCE, Quote, RelicBook, entry_of, read_relic, work_of, write_submission
from relic_core.ports import Progress, Retriever, WorkSource, silent

CARD = BenchmarkCard(
    name="relic",
    label="RELiC",
    description="Quotations in literary scholarship, each to be found among the passages of its length in the book "
    "quoted, in the sentences and with the candidates that RELiC's authors published.",
    pool="whole work",
    main_metric="recall@10",
    source=SOURCE,
    licence="As given by RELiC's authors with the data, which are not passed on here",
    citation="Thai et al. (2022), RELiC: Retrieving Evidence for Literary Claims, ACL",
    needs="It needs a file of RELiC (train.json, val.json), from relic.cs.umass.edu.",
)
FOLDER, DEFAULT = "relic", "val.json"
"""Where the file is looked for below the folder of benchmarks: the published figures that can be compared are of it."""


def create(settings: Settings, works: WorkSource, data: Path | None) -> Opened:  # noqa: ARG001 - the file has the works
    """Read a file of RELiC: the one named, or in the folder named, else ``relic/val.json`` among the benchmarks."""
    path = data_path(CARD, settings, data, below=FOLDER)
    path = data_path(CARD, settings, path / DEFAULT, below=FOLDER) if path.is_dir() else path
    read = read_relic(path)
    windows: list[QuotationContext] = []
    texts, books, candidates = {}, [], {}
    for book in read:
        windows += [_window(path, book.title, quote) for quote in book.quotes]
        if book.quotes:
            texts[book.title] = work = work_of(book)
            books.append(
                Book(
                    key=book.title, title=book.title, author=work.author, year=work.year,
                    sentences=len(work.sentences), sha256=work.sha256,
                )
            )  # fmt: skip
        for length in {quote.length for quote in book.quotes}:
            candidates[book.title, length] = starts_of(book, length)
    card = replace(CARD, split=split_of(book.title for book in read if book.quotes), checksum=checksum([path]))
    return Opened(card, windows, books=books, works=texts, candidates=candidates)


def split_of(titles: Iterable[str]) -> str:
    """Say what books may be used for: to choose by ("dev"), or to report on ("test").

    The catalogue says which part of RELiC a book belongs to, and not the name of the file, which anyone may
    change. Choices are made on training books, which nothing of ours was trained on.

    Returns: "test" where one of them is of the validation or test part; "dev" where all are of the training part; else
    empty: some are not works of the data set.

    >>> [split_of(["The Awakening", other]) for other in ("Moby Dick", "Emma", "My Own Novel")]
    ['dev', 'test', '']
    """
    parts = {entry.split if (entry := entry_of(title)) else "" for title in titles}
    if parts & {"validation", "test"}:
        return "test"
    return "dev" if parts == {"train"} else ""


def starts_of(book: RelicBook, length: int) -> npt.NDArray[np.int64]:
    """List where the candidates of a length start, ascending; shape (n_candidates,)."""
    return np.sort(np.array(book.candidates[length], dtype=np.int64))


def submit(retriever: Retriever, *, shape: ContextSize, data: Path, path: Path, progress: Progress) -> int:
    """Rank the candidates of every quotation of the hidden test split, write the submission, and count its answers.

    Where a claim of this shape holds no word, candidates are given in the order of the text, since the leaderboard
    takes no quotation without an answer.
    """
    books = read_relic(data)
    total = sum(len(book.quotes) for book in books)
    answers: dict[str, list[int]] = {}
    for book in books:
        if not book.quotes:
            continue
        work = work_of(book)
        progress(len(answers), total, f"{work.title}: preparing")
        retriever.prepare(work, silent, lengths=sorted({quote.length for quote in book.quotes}))
        for quote in book.quotes:
            starts = starts_of(book, quote.length)
            try:
                # The place of the gold is not known, and only its length is asked for.
                claim = _asked(book.title, quote, Span(0, quote.length)).claim(shape)
                scores = retriever.score(claim, work, quote.length)
            except BadClaim:
                scores = np.zeros(work.candidates(quote.length), dtype=np.float32)
            order = rank_scores(retriever.name, work.id, quote.length, scores[starts]).order
            answers[quote.id] = starts[order[:DEPTH]].tolist()
            progress(len(answers), total, work.title)
    write_submission(path, answers)
    return len(answers)


def _window(path: Path, title: str, quote: Quote) -> QuotationContext:
    if quote.start is None:
        raise BadBenchmark(
            f"{path} does not say where its quotations stand ({quote.id} is the first): it is RELiC's hidden test "
            "split. Nothing can be measured on it here; rankings for it can only be written to a file and submitted to "
            "RELiC's leaderboard. Measure on val.json."
        )
    return _asked(title, quote, Span(quote.start, quote.length))


def _asked(title: str, quote: Quote, gold: Span) -> QuotationContext:
    return QuotationContext(
        id=quote.id,
        book=title,
        pool=title,
        left=tuple(sentence.strip() for sentence in quote.left),
        right=tuple(sentence.strip() for sentence in quote.right),
        gold=gold,
    )
