"""BIRCO's RELIC queries: with the pools they were published with, and among all passages of whole novels.

A query is a stretch of criticism with a mask in it. It is cut at the mask, and either side into sentences by our rules,
which come out as the four and four of RELiC's windows but for a few sides with more; of those the four nearest to the
mask are kept.

Each pool, about fifty passages of the novel, becomes a small work in which each passage is one sentence, one paragraph
and one chapter, so that nothing is read in the context of its neighbour, which in the novel it does not have. So the
gold of every window has length 1, though the passages have one to five sentences of the novel: a table by quotation
length says nothing here. Equal scores keep the order of the text, so the order of a pool must say nothing of the gold.
As published the gold is often the last of its pool, and by id it comes early (0.38 of the way on average), since ids
were given along with the queries. So the passages are in the order of a hash of the query's id and their own: as good
as drawn by lot, and the same on every machine, whatever the order of the file.

In whole novels the gold is placed in the reader's edition and among our sentences by its words (`text.placing`), so its
length is counted in our sentences and may be more than five.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from relic_core.config import Settings
from relic_core.domain import MAX_CONTEXT, BenchmarkCard, Book, QuotationContext, Span
from relic_core.errors import BadBenchmark
from relic_core.evaluation.benchmarks.opened import Opened, book_of, checked_sum, data_path, place_all
from relic_core.evaluation.benchmarks.passages import in_order, work_of
from relic_core.formats.birco import MASKED, read_jsonl
from relic_core.formats.judged import JudgedQuery, JudgedSet
from relic_core.library import catalogue
from relic_core.ports import WorkSource
from relic_core.text.sentences import sentences_of

FOLDER = "birco_relic"
FILES = ("passages.jsonl", "pools.jsonl", "queries.jsonl")
EXAMPLES, BOOKS = 48, 20
CHECKSUM = "4ef5ab75b0a3c51e9689a9e889bfc36c098ec5395d93d1e59bde654623c36d71"
SOURCE = "github.com/BIRCO-benchmark/BIRCO: its RELIC queries, 48 of 100, with the novel that each is about"
LICENCE = "CC BY-NC 4.0"
CITATION = (
    "Wang et al. (2024), BIRCO: A Benchmark of Information Retrieval Tasks with Complex Objectives, arXiv:2402.14151; "
    "its queries from Thai et al. (2022), RELiC: Retrieving Evidence for Literary Claims, ACL"
)
HOLDING_THEIR_QUOTATION = ("q_11402", "q_15943")
"""Queries whose text holds eight or more words of their own gold. They stay in, as in the published figures."""

_POOLS = BenchmarkCard(
    name="birco-pools",
    label="BIRCO-RELIC, given pools",
    description="Claims about novels; the masked quotation is to be chosen from about fifty passages of the novel that "
    "were given with each claim because they are like it as a whole: what reads only the words beside the gap does far "
    "better here, but not in a whole novel. Two of the claims quote a part of the passage sought "
    f"({' and '.join(HOLDING_THEIR_QUOTATION)}); they stay in, as in the published figures.",
    split="test",
    pool="given",
    main_metric="ndcg@10",
    examples=EXAMPLES,
    books=BOOKS,
    source=SOURCE,
    licence=LICENCE,
    citation=CITATION,
    checksum=CHECKSUM,
    needs="It needs BIRCO's RELIC queries, as JSON lines (`python -m tools.birco` makes them of its pickle).",
)

_NOVELS = replace(
    _POOLS,
    name="birco-novels",
    label="BIRCO-RELIC, whole novels",
    description="The claims of BIRCO-RELIC; the masked quotation is to be found among all passages of its length in "
    "the novel, about ten thousand. Two of the claims quote a part of the passage sought "
    f"({' and '.join(HOLDING_THEIR_QUOTATION)}).",
    pool="whole work",
    main_metric="recall@10",
    source=f"{SOURCE}; the novels from the reader's library",
    needs="It needs BIRCO's RELIC queries as JSON lines that name the novels, and the novels in the library.",
)


_WHOLE = replace(
    _POOLS,
    name="birco-pools-whole",
    label="BIRCO-RELIC, given pools, whole queries",
    description=f"{_POOLS.description} The query is taken whole: what 4/4 leaves out of three of the claims is in "
    "the sentence furthest from the quotation.",
)


def load(card: BenchmarkCard, settings: Settings, data: Path | None) -> tuple[BenchmarkCard, JudgedSet]:
    """Read the queries and their pools."""
    path = data_path(card, settings, data, below=FOLDER)
    if not path.is_dir():
        raise BadBenchmark(
            f"{path} is not a folder with {', '.join(FILES)}. Of the pickle that BIRCO publishes make one: "
            "python -m tools.birco set.pickle FOLDER."
        )
    found = checked_sum(card, path, [path / name for name in FILES], own=data is not None)
    return replace(card, checksum=found), read_jsonl(path)


def sides(query: JudgedQuery, *, whole: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut a query into the sentences before and after its mask, at most four each, those nearest to it.

    - `whole`: the furthest of the four holds all that stands beyond it, so that 4/4 takes the whole query.

    The first mask is the place of the quotation; a further one, where another was masked, is taken out.
    """
    before, _, after = query.text.partition(MASKED)
    left, right = sentences_of(before), sentences_of(after.replace(MASKED, " "))
    if whole:
        near = MAX_CONTEXT - 1
        left = tuple(filter(None, (" ".join(left[:-near]), *left[-near:])))
        right = tuple(filter(None, (*right[:near], " ".join(right[near:]))))
    return left[-MAX_CONTEXT:], right[:MAX_CONTEXT]


def _window(query: JudgedQuery, book: str, pool: str, gold: Span, *, whole: bool = False) -> QuotationContext:
    left, right = sides(query, whole=whole)
    return QuotationContext(id=query.id, book=book, pool=pool, left=left, right=right, gold=gold)


def relevant(queries: JudgedSet, query: JudgedQuery) -> str:
    """Give the id of the one passage that answers a query."""
    (gold,) = queries.grades[query.id]  # the reader has checked that there is one, in the pool
    return gold


def _create_pools(
    settings: Settings,
    works: WorkSource,  # noqa: ARG001 - no novel is needed
    data: Path | None,
    *,
    card: BenchmarkCard = _POOLS,
) -> Opened:
    """Read queries and pools. What BIRCO publishes does not say which novel a query is about: each counts as a book."""
    card, queries = load(card, settings, data)
    windows, books, pools = [], {}, {}
    for query in queries.queries:
        ids = in_order(query.id, queries.pools[query.id])
        gold = relevant(queries, query)
        book = _book(query)
        books[book.key] = book
        pools[query.id] = work_of(f"Pool of {query.id}", {name: queries.passages[name] for name in ids}, SOURCE)
        whole = card.name == _WHOLE.name
        windows.append(_window(query, book.key, query.id, Span(ids.index(gold), 1), whole=whole))
    return Opened(card, windows, books=books.values(), works=pools)


def _book(query: JudgedQuery) -> Book:
    entry = catalogue.find(query.work) if query.work else None
    if entry is None:
        return Book(key=query.work or query.id, title=query.work or f"The novel of {query.id}")
    return Book(key=entry.slug, title=entry.title, author=entry.author, year=entry.year)


def _unplaced(settings: Settings) -> tuple[QuotationContext, ...]:
    """Read the queries alone, for their claims, with empty golds, which are never to be ranked for."""
    _, queries = load(_NOVELS, settings, None)
    return tuple(_window(query, query.work, query.work, Span(0, 0)) for query in queries.queries)


def _create_novels(settings: Settings, works: WorkSource, data: Path | None) -> Opened:
    card, queries = load(_NOVELS, settings, data)
    nameless = [query.id for query in queries.queries if not query.work]
    if nameless:
        raise BadBenchmark(
            f"{_NOVELS.label} must know which novel a query is about, and {len(nameless)} queries do not say it "
            f"({nameless[0]} first). What BIRCO publishes never does: use birco-pools, or a folder of JSON lines "
            "whose queries have a 'work'."
        )
    texts = works.find(list(dict.fromkeys(query.work for query in queries.queries)))
    golds = place_all(
        _NOVELS.label,
        {query.id: (query.work, queries.passages[relevant(queries, query)]) for query in queries.queries},
        texts,
    )
    windows = [_window(query, query.work, query.work, golds[query.id]) for query in queries.queries]
    return Opened(card, windows, books=[book_of(key, work) for key, work in texts.items()], works=texts)


POOLS = SimpleNamespace(CARD=_POOLS, create=_create_pools)
WHOLE = SimpleNamespace(CARD=_WHOLE, create=partial(_create_pools, card=_WHOLE))
NOVELS = SimpleNamespace(CARD=_NOVELS, create=_create_novels, unplaced=_unplaced)
