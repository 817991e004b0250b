"""BIRCO-RELIC with the pools it was published with: about fifty passages of the novel for each query.

Each pool becomes a small work in which each passage is one sentence, one paragraph and one chapter, so that nothing is
read in the context of its neighbour, which in the novel it does not have. So the gold of every window has length 1,
though the passages have one to five sentences of the novel: a table by quotation length says nothing here.

Equal scores keep the order of the text, so the order of a pool must say nothing of the gold. As published the gold is
often the last of its pool, and by id it stands early (0.38 of the way on average), since ids were given along with the
queries. So the passages stand in the order of a hash of the query's id and their own: as good as drawn by lot, and the
same on every machine, whatever the order of the file.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from relic_core.domain import BenchmarkCard, Book, Chapter, Paragraph, QuotationContext, Sentence, Span, Work
from relic_core.errors import BadBenchmark
from relic_core.evaluation.benchmarks import birco_queries
from relic_core.evaluation.benchmarks.opened import Opened
from relic_core.library import catalogue
from relic_core.text.reading import work_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from relic_core.config import Settings
    from relic_core.formats.birco import BircoQuery
    from relic_core.ports import WorkSource

CARD = BenchmarkCard(
    name="birco-pools",
    label="BIRCO-RELIC, given pools",
    description="Claims about novels; the masked quotation is to be chosen from about fifty passages of the novel that "
    "were given with each claim. Two of the claims quote a part of the passage sought "
    f"({' and '.join(birco_queries.HOLDING_THEIR_QUOTATION)}); they stay in, as in the published figures.",
    split="test",
    pool="given",
    main_metric="ndcg@10",
    examples=birco_queries.EXAMPLES,
    books=birco_queries.BOOKS,
    source=birco_queries.SOURCE,
    licence=birco_queries.LICENCE,
    citation=birco_queries.CITATION,
    checksum=birco_queries.CHECKSUM,
    needs="It needs BIRCO's RELIC queries, as JSON lines (`python -m tools.birco` makes them of its pickle).",
)


def create(settings: Settings, works: WorkSource, data: Path | None) -> Opened:  # noqa: ARG001 - no novel is needed
    """Read queries and pools. What BIRCO publishes does not say which novel a query is about: each counts as a book.

    Raises NotFound, BadBenchmark: as `birco_queries.load`; and a passage without words, or a query without a gold or a
    mask.
    """
    card, queries = birco_queries.load(CARD, settings, data)
    windows, books, pools = [], {}, {}
    for query in queries.queries:
        ids = in_order(query.id, queries.pools[query.id])
        gold = birco_queries.relevant(queries, query)
        left, right = birco_queries.sides(query)
        book = _book(query)
        books[book.key] = book
        pools[query.id] = _pool(query.id, {name: queries.passages[name] for name in ids})
        windows.append(
            QuotationContext(
                id=query.id,
                book=book.key,
                pool=query.id,
                left=left,
                right=right,
                gold=Span(ids.index(gold), 1),
            )
        )
    return Opened(card, windows, books=books.values(), works=pools)


def in_order(query_id: str, passages: Iterable[str]) -> list[str]:
    """Put the passages of a pool in the order in which they stand in its work, which says nothing of the gold.

    >>> in_order("q1", ["c1", "c2", "c3"]), in_order("q2", ["c3", "c2", "c1"])
    (['c3', 'c1', 'c2'], ['c1', 'c2', 'c3'])
    """
    return sorted(passages, key=lambda passage: hashlib.sha256(f"{query_id} {passage}".encode()).hexdigest())


def _book(query: BircoQuery) -> Book:
    entry = catalogue.find(query.work) if query.work else None
    if entry is None:
        return Book(key=query.work or query.id, title=query.work or f"The novel of {query.id}")
    return Book(key=entry.slug, title=entry.title, author=entry.author, year=entry.year)


def _pool(query_id: str, passages: Mapping[str, str]) -> Work:
    """Make a work of passages, each a chapter of one sentence."""
    text, sentences, paragraphs, chapters = "", [], [], []
    for index, (name, passage) in enumerate(passages.items()):
        words = " ".join(passage.split())
        if not words:
            raise BadBenchmark(
                f"The passage '{name}' of query '{query_id}' is empty. The file was cut short or damaged; get it again."
            )
        start, end = len(text), len(text) + len(words)
        text += f"{words}\n\n"
        sentences.append(Sentence(index, start, end, index, index))
        paragraphs.append(Paragraph(index, start, end, index, 1))
        chapters.append(Chapter(index, start, len(text), title=name))
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    title = f"Pool of {query_id}"
    return Work(
        id=work_id(title, sha256),
        title=title,
        author="",
        text=text,
        sha256=sha256,
        segmenter="given passages/1",
        chapters=tuple(chapters),
        paragraphs=tuple(paragraphs),
        sentences=tuple(sentences),
        source=birco_queries.SOURCE,
    )
