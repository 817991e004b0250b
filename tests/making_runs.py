"""Runs made by hand: ranks drawn by a seed, of works that are nowhere or of one that is in the library."""

from __future__ import annotations

import hashlib
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from relic_core.domain import Book, ContextSize, Outcome, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Pool, Work

LABELS = {
    "dense-relic": "dense-RELiC",
    "bm25": "BM25",
    "zero-shot": "Dense, zero-shot",
    "fusion": "Combined",
    "tfidf": "TF-IDF",
    "random": "Random",
}
_KINDS = ("claim-supporting", "paraphrase-supporting", "other")


def make_books(count: int) -> tuple[Book, ...]:
    """Make books of no library."""
    return tuple(
        Book(
            key=f"book-{number}",
            title=f"The {'Long and Winding ' * (number % 3)}Book of {number}",
            author=("Ann Able", "Bea Best", "Cy Coe")[number % 3],
            year=1800 + 7 * number,
            sentences=2_000 + 700 * (number * 7 % 11),
            sha256=f"{number:064x}",
        )
        for number in range(count)
    )


def book_of(work: Work, key: str = "") -> Book:
    """Describe a work as the book of a run."""
    return Book(
        key=key or work.id, title=work.title, author=work.author, sentences=len(work.sentences), sha256=work.sha256
    )


def make_outcomes(
    books: Sequence[Book], *, seed: int, skill: float = 1.0, kinds: bool = True, most: int = 12, candidates: int = 0
) -> tuple[Outcome, ...]:
    """Draw ranks for one to `most` examples of each book; the more skill, the better; a few have no ranking."""
    chance = random.Random(seed)
    sizes = random.Random(7)
    outcomes = []
    for book in books:
        for number in range(1 + sizes.randrange(most)):
            length = 1 + sizes.randrange(5)
            pool = candidates or book.sentences - length + 1
            rank = min(pool, int(pool ** (chance.random() ** skill)))
            start = 40 * int(sizes.random() * pool)
            missing = chance.random() < 0.01
            nearer = chance.randrange(3)
            outcomes.append(
                Outcome(
                    example_id=f"{book.key}-{number}",
                    book=book.key,
                    length=length,
                    kind=_KINDS[sizes.randrange(3)] if kinds else "",
                    candidates=pool,
                    rank=None if missing else rank,
                    overlap_rank=None if missing else max(1, rank - nearer),
                    gold=(start, start + 40 * length),
                    first=tuple((40 * at, 40 * (at + length)) for at in chance.sample(range(pool), 3)),
                )
            )
    return tuple(outcomes)


def outcomes_in(work: Work, key: str, ranks: Sequence[int | None], *, length: int = 1) -> tuple[Outcome, ...]:
    """Make outcomes whose offsets are those of sentences of a work: gold the n-th, first hits the three behind it."""

    def span(first: int) -> tuple[int, int]:
        return work.sentences[first].start, work.sentences[first + length - 1].end

    return tuple(
        Outcome(
            example_id=f"{key}-{number}",
            book=key,
            length=length,
            kind="",
            candidates=work.candidates(length),
            rank=rank,
            overlap_rank=rank,
            gold=span(number),
            first=tuple(span(number + ahead) for ahead in (1, 2, 3)),
        )
        for number, rank in enumerate(ranks)
    )


def make_run(  # noqa: PLR0913 - each has its usual value
    books: Sequence[Book],
    outcomes: Sequence[Outcome],
    *,
    retriever: str = "bm25",
    shape: str = "4/4",
    benchmark: str = "novels-by-hand",
    pool: Pool = "whole work",
    data: str = "by hand",
    age: int = 0,
) -> Run:
    """Make a run of some outcomes; `age` in days makes it older."""
    facts = f"{benchmark} {data} {retriever} {shape}"
    return Run(
        id=hashlib.sha256(facts.encode()).hexdigest()[:12],
        benchmark=benchmark,
        split="dev",
        pool=pool,
        data_hash=hashlib.sha256(data.encode()).hexdigest(),
        retriever=retriever,
        label=LABELS.get(retriever, retriever),
        shape=ContextSize.parse(shape),
        configuration={"code": f"{retriever}/1"},
        books=tuple(books),
        examples=len(outcomes),
        code="0.3.0",
        machine={"cores": "2"},
        seconds=12.5,
        index_bytes=1_000,
        created=datetime(2026, 3, 1, tzinfo=UTC) - timedelta(days=age),
    )
