"""Answers to RELiC's hidden test split, for its leaderboard: rankings of quotations whose places nobody here knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import QuotationContext, Span, rank_scores
from relic_core.errors import BadClaim
from relic_core.evaluation.benchmarks.relic import starts_of, work_of
from relic_core.formats.leaderboard import DEPTH, write_submission
from relic_core.formats.relic import read_relic
from relic_core.ports import silent

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.domain import ContextSize
    from relic_core.ports import Progress
    from relic_core.wiring import App


def submit(app: App, retriever: str, *, shape: ContextSize, data: Path, path: Path, progress: Progress) -> int:
    """Rank the candidates of every quotation of a file of RELiC and write the submission.

    Where a claim of this shape holds no word, candidates are given in the order of the text, since the leaderboard
    takes no quotation without an answer.

    - `app`: where indexes are kept.
    - `shape`: how much context each claim takes.
    - `data`: ``test.json``; the starts of its quotations are not looked at.
    - `progress`: told how many quotations are answered.

    Returns: how many quotations were answered.

    Raises BadRequest: no retriever has that name.
    Raises BadBenchmark, NotFound: as `read_relic` and `write_submission`.
    """
    books = read_relic(data)
    settings = replace(app.settings, indexes=app.settings.indexes / "benchmarks")
    asked = app.measuring.retriever(retriever, settings)
    total = sum(len(book.quotes) for book in books)
    answers: dict[str, list[int]] = {}
    for book in books:
        if not book.quotes:
            continue
        work = work_of(book)
        progress(len(answers), total, f"{work.title}: preparing")
        asked.prepare(work, silent, lengths=sorted({quote.length for quote in book.quotes}))
        for quote in book.quotes:
            starts = starts_of(book, quote.length)
            window = QuotationContext(
                id=quote.id, book=book.title, pool=book.title,
                left=tuple(sentence.strip() for sentence in quote.left),
                right=tuple(sentence.strip() for sentence in quote.right),
                gold=Span(0, quote.length),  # its place is not known, and only its length is asked for
            )  # fmt: skip
            try:
                scores = asked.score(window.claim(shape), work, quote.length)
            except BadClaim:
                scores = np.zeros(work.candidates(quote.length), dtype=np.float32)
            order = rank_scores(retriever, work.id, quote.length, scores[starts]).order
            answers[quote.id] = starts[order[:DEPTH]].tolist()
            progress(len(answers), total, work.title)
    write_submission(path, answers, books)
    return len(answers)
