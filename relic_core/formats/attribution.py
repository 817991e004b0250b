"""Queries with the span to be attributed and the sources it may come from, as JSON lines: one query a line.

    {"id": "1", "query": "As Ibn Khaldun says ...", "span": [27, 60], "source": "s7",
     "sources": [{"id": "s7", "author": "Ibn Khaldun", "title": "Muqaddima", "text": "..."}]}

The shape of the data sets of Muther and Smith 2023: a link of Wikipedia or a span of al-Maqrizi, and the sections or
chunks that a first retriever brought up, or all there are. Every query is ranked over the sources of all lines. A
source that is in several lines is read once; where its text was given before, a line may give its id alone. Sources
of one work (the sections of a page) share a `work`; each has a title of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from relic_core.domain.attribution import Target
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.files import Name, Strict, checked, parse, read_text


class _Source(Strict):
    id: Name
    work: str = ""
    author: str = ""
    title: str = ""
    text: str = ""


class _Query(Strict):
    id: Name
    query: Name
    span: list[int] = Field(min_length=2, max_length=2)
    source: Name
    sources: list[_Source] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class QueriedSource:
    """A source: its work where it is a part of one, what it is called, and its text."""

    work: str
    named: str
    text: str


@dataclass(frozen=True, slots=True)
class AttributionSet:
    """Queries by id, each with the id of its source, and all sources by id."""

    queries: dict[str, tuple[Target, str]]
    sources: dict[str, QueriedSource]


def read_queries(path: Path) -> AttributionSet:
    """Read a file of queries. Raises BadBenchmark: it is damaged; the message names the line."""
    queries: dict[str, tuple[Target, str]] = {}
    sources: dict[str, QueriedSource] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):  # alone: JSON may hold U+2028 and its like
        here = f"{path}, line {number}"
        if not line.strip():
            continue
        row = checked(_Query, parse(line, here), here)
        for source in row.sources:
            if source.text:
                named = f"{source.author} {source.title}".strip()
                made = QueriedSource(source.work or source.id, named, source.text)
                if sources.setdefault(source.id, made) != made:
                    raise BadBenchmark(
                        f"{here}: the source '{source.id:.80}' was given before with another text, title or work. Give "
                        "it the same each time, or by its id alone."
                    )
        if row.id in queries:
            raise BadBenchmark(f"{here}: the query '{row.id}' occurs twice.")
        try:
            queries[row.id] = Target(row.query, *row.span), row.source
        except BadRequest as error:
            raise BadBenchmark(f"{here}: {error}") from None
    if lacking := sorted({source for _, source in queries.values()} - sources.keys()):
        raise BadBenchmark(f"{path}: no line gives the text of {len(lacking)} sources, the first being '{lacking[0]}'.")
    if not queries:
        raise BadBenchmark(f"{path} holds no query.")
    return AttributionSet(queries, sources)
