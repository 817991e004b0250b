"""BIRCO's RELIC queries, as both benchmarks made of them read them.

A query is a stretch of criticism with a mask in it. It is cut at the mask, and either side into sentences by our rules,
which come out as the four and four of RELiC's windows but for a few sides with more; of those the four nearest to the
mask are kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.domain import MAX_CONTEXT
from relic_core.errors import BadBenchmark
from relic_core.evaluation.benchmarks.opened import checksum, data_path
from relic_core.formats.birco import MASKED, read_jsonl
from relic_core.text.sentences import default_segmenter

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.config import Settings
    from relic_core.domain import BenchmarkCard
    from relic_core.formats.birco import BircoQuery, BircoSet

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


def load(card: BenchmarkCard, settings: Settings, data: Path | None) -> tuple[BenchmarkCard, BircoSet]:
    """Read the queries and their pools.

    - `settings`: where benchmark data are kept.
    - `data`: a folder of JSON lines in place of the one that the card speaks of.

    What it returns:
    - `card`: with the checksum of what was read.
    - `queries`: each with one mask and one relevant passage, which stands in its pool.

    Raises NotFound: the data are not there.
    Raises BadBenchmark: they are damaged; or not those the card speaks of, where the reader named none.
    """
    path = data_path(card, settings, data, below=FOLDER)
    if not path.is_dir():
        raise BadBenchmark(
            f"{path} is no folder with {', '.join(FILES)}. Of the pickle that BIRCO publishes make one: "
            "python -m tools.birco set.pickle FOLDER."
        )
    found = checksum(path / name for name in FILES)
    if data is None and found != card.checksum:
        raise BadBenchmark(
            f"The files in {path} are not those that {card.label} was described from: their sha256 is "
            f"{found[:12]}… instead of {card.checksum[:12]}…. Get them again; to measure on files of your own, name "
            "them with --data."
        )
    return replace(card, checksum=found), read_jsonl(path)


def sides(query: BircoQuery) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut a query into the sentences before and after its mask, at most four each, those nearest to it.

    The first mask is the place of the quotation; a further one, where another was masked, is taken out.
    """
    before, _, after = query.text.partition(MASKED)
    return _sentences(before)[-MAX_CONTEXT:], _sentences(after.replace(MASKED, " "))[:MAX_CONTEXT]


def relevant(queries: BircoSet, query: BircoQuery) -> str:
    """Give the id of the one passage that answers a query."""
    (gold,) = queries.relevant[query.id]  # the reader has checked that there is one, in the pool
    return gold


def _sentences(text: str) -> tuple[str, ...]:
    words = " ".join(text.split())
    return tuple(words[start:end] for start, end in default_segmenter().segment(words, 0, len(words)))
