"""BIRCO's RELIC set: queries with a masked quotation, each with a pool of some fifty passages, one of them right.

Read as JSON lines; ``python -m tools.birco`` makes them of the pickle
that its authors published. Source: Wang et al. 2024 (BIRCO), section 3 and its repository.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats.files import as_object, as_string, as_strings, parse, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MASKED = "[masked sentence(s)]"
"""How a query writes the place of its quotation."""


@dataclass(frozen=True, slots=True)
class BircoQuery:
    """A query.

    - `text`: holds `MASKED` at least once; the first is the place of the quotation.
    - `work`: the novel, as a slug of the catalogue; empty where the file does not say.
    """

    id: str
    text: str
    work: str = ""


@dataclass(frozen=True, slots=True)
class BircoSet:
    """A set of queries with their pools.

    - `passages`: passage id -> text, one to five sentences parted by two spaces. One passage may be in several pools,
      or in none.
    - `pools`: query id -> ids of its candidates, in the order of the file; one for every query.
    - `relevant`: query id -> id of the one relevant passage -> its grade, above 0.
    """

    queries: tuple[BircoQuery, ...] = field(repr=False)
    passages: Mapping[str, str] = field(repr=False, hash=False)
    pools: Mapping[str, tuple[str, ...]] = field(repr=False, hash=False)
    relevant: Mapping[str, Mapping[str, int]] = field(repr=False, hash=False)


def read_jsonl(folder: Path) -> BircoSet:
    """Read a set as JSON lines.

    - `folder`: with ``queries.jsonl`` (id, text, and work where known), ``pools.jsonl`` (query_id, candidates,
      relevant) and ``passages.jsonl`` (id, text).

    Raises NotFound: a file is missing.
    Raises BadBenchmark: a line is damaged or cut short, an id unknown or given twice, a pool lacks its relevant passage
    or has not exactly one, a query has no mask or no pool; the message names the file and the line.
    """
    queries: dict[str, BircoQuery] = {}
    for here, line in _lines(folder / "queries.jsonl", ("id", "text"), ("work",)):
        query = _query(here, line["id"], line["text"], line.get("work", ""))
        _once(here, query.id, queries)
        queries[query.id] = query
    passages: dict[str, str] = {}
    for here, line in _lines(folder / "passages.jsonl", ("id", "text")):
        passage = as_string(line["id"], f"{here}: 'id'")
        _once(here, passage, passages)
        passages[passage] = as_string(line["text"], f"{here}: the text of '{passage:.80}'")
    pools: dict[str, tuple[str, ...]] = {}
    relevant: dict[str, dict[str, int]] = {}
    for here, line in _lines(folder / "pools.jsonl", ("query_id", "candidates", "relevant")):
        query_id = as_string(line["query_id"], f"{here}: 'query_id'")
        _once(here, query_id, pools)
        pools[query_id] = as_strings(line["candidates"], f"{here}: 'candidates'")
        claimed = as_strings(line["relevant"], f"{here}: 'relevant'")
        relevant[query_id] = dict.fromkeys(claimed, 1)
        if len(relevant[query_id]) < len(claimed):
            raise BadBenchmark(f"{here}: 'relevant' names a passage twice.")
        _check_pool(here, query_id, pools[query_id], relevant[query_id], queries, passages)
    return _whole(str(folder / "pools.jsonl"), queries, passages, pools, relevant)


def _lines(
    path: Path, keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Iterator[tuple[str, dict[str, object]]]:
    """Read JSON lines; each with the place it comes from."""
    # Split at line feeds alone: a string of JSON may hold U+2028 and its like, where `splitlines` would cut.
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        del lines[-1]
    if not lines:
        raise BadBenchmark(f"{path} is empty. It was cut short: fetch it again.")
    for number, line in enumerate(lines, start=1):
        here = f"{path}, line {number:,}"
        if not line.strip():
            raise BadBenchmark(f"{here} is empty. Every line is one object with: {', '.join(keys)}.")
        yield here, as_object(parse(line, here), here, keys, optional)


def _query(here: str, query_id: object, text: object, work: object) -> BircoQuery:
    checked = as_string(query_id, f"{here}: 'id'")
    query = BircoQuery(
        id=checked,
        text=as_string(text, f"{here}: the text of '{checked:.80}'"),
        work=as_string(work, f"{here}: 'work'", empty=True),
    )
    if MASKED not in query.text:
        raise BadBenchmark(
            f"{here}: query '{query.id:.80}' has no '{MASKED}', so nobody can tell where its quotation stood."
        )
    return query


def _once(here: str, given: str, known: Mapping[str, object]) -> None:
    if given in known:
        raise BadBenchmark(f"{here}: '{given:.80}' was given before. An id occurs once: take the wrong line out.")


def _check_pool(
    here: str,
    query_id: str,
    pool: tuple[str, ...],
    relevant: Mapping[str, int],
    queries: Mapping[str, BircoQuery],
    passages: Mapping[str, str],
) -> None:
    if query_id not in queries:
        raise BadBenchmark(f"{here}: there is no query '{query_id:.80}' among the {len(queries):,} queries.")
    members = set(pool)
    if len(members) < len(pool):
        raise BadBenchmark(f"{here}: the pool of '{query_id:.80}' names a passage twice.")
    for passage in pool:
        if passage not in passages:
            raise BadBenchmark(f"{here}: there is no passage '{passage:.80}' among the {len(passages):,} passages.")
    if len(relevant) != 1:
        raise BadBenchmark(
            f"{here}: {len(relevant):,} passages are relevant to '{query_id:.80}'; a masked quotation is exactly one."
        )
    if not members.issuperset(relevant):
        raise BadBenchmark(f"{here}: '{next(iter(relevant)):.80}', relevant to '{query_id:.80}', is not in its pool.")


def _whole(
    source: str,
    queries: Mapping[str, BircoQuery],
    passages: Mapping[str, str],
    pools: Mapping[str, tuple[str, ...]],
    relevant: Mapping[str, Mapping[str, int]],
) -> BircoSet:
    """Put a set together, its pools in the order of the queries."""
    if not queries:
        raise BadBenchmark(f"{source}: there is no query.")
    for query_id in queries:
        if query_id not in pools:
            raise BadBenchmark(f"{source}: query '{query_id:.80}' has no pool. Every query needs its candidates.")
    return BircoSet(
        queries=tuple(queries.values()),
        passages=dict(passages),
        pools={query_id: pools[query_id] for query_id in queries},
        relevant={query_id: relevant[query_id] for query_id in queries},
    )
