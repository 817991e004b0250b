"""BIRCO-RELIC in whole novels: the same queries, their quotations to be found among all passages of the novel.

The gold is placed in the reader's edition and among our sentences by its words (`relic_core.text.placing`), so its
length is counted in our sentences and may be more than five.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain import BenchmarkCard, QuotationContext, Span
from relic_core.errors import BadBenchmark
from relic_core.evaluation.benchmarks import birco_queries
from relic_core.evaluation.benchmarks.opened import Opened, book_of, place_all

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.config import Settings
    from relic_core.ports import WorkSource

CARD = BenchmarkCard(
    name="birco-novels",
    label="BIRCO-RELIC, whole novels",
    description="The claims of BIRCO-RELIC; the masked quotation is to be found among all passages of its length in "
    "the novel, about ten thousand. Two of the claims quote a part of the passage sought "
    f"({' and '.join(birco_queries.HOLDING_THEIR_QUOTATION)}).",
    split="test",
    pool="whole work",
    main_metric="recall@10",
    examples=birco_queries.EXAMPLES,
    books=birco_queries.BOOKS,
    source=f"{birco_queries.SOURCE}; the novels from the reader's library",
    licence=birco_queries.LICENCE,
    citation=birco_queries.CITATION,
    checksum=birco_queries.CHECKSUM,
    needs="It needs BIRCO's RELIC queries as JSON lines that name the novels, and the novels in the library.",
)


def unplaced(settings: Settings, data: Path | None) -> tuple[QuotationContext, ...]:
    """Read the queries alone, for their claims: the novels are not needed, so nothing is said of where a gold stands.

    Returns: with an empty gold, which is never to be ranked for.

    Raises NotFound: the data are not here.
    Raises BadBenchmark: damaged data.
    """
    _, queries = birco_queries.load(CARD, settings, data)
    windows = []
    for query in queries.queries:
        left, right = birco_queries.sides(query)
        windows.append(
            QuotationContext(id=query.id, book=query.work, pool=query.work, left=left, right=right, gold=Span(0, 0))
        )
    return tuple(windows)


def create(settings: Settings, works: WorkSource, data: Path | None) -> Opened:
    """Read the queries and place each gold in its novel.

    Raises NotFound: data or novels that are not here.
    Raises BadBenchmark: damaged data; queries that name no novel; golds that are not in their novel, by name.
    """
    card, queries = birco_queries.load(CARD, settings, data)
    nameless = [query.id for query in queries.queries if not query.work]
    if nameless:
        raise BadBenchmark(
            f"{CARD.label} must know which novel a query is about, and {len(nameless)} queries do not say it "
            f"({nameless[0]} first). What BIRCO publishes never does: use birco-pools, or a folder of JSON lines "
            "whose queries have a 'work'."
        )
    texts = works.find(list(dict.fromkeys(query.work for query in queries.queries)))
    golds = place_all(
        CARD.label,
        {query.id: (query.work, queries.passages[birco_queries.relevant(queries, query)]) for query in queries.queries},
        texts,
    )
    windows = []
    for query in queries.queries:
        left, right = birco_queries.sides(query)
        windows.append(
            QuotationContext(
                id=query.id, book=query.work, pool=query.work, left=left, right=right, gold=golds[query.id]
            )
        )
    return Opened(card, windows, books=[book_of(key, work) for key, work in texts.items()], works=texts)
