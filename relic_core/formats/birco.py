"""BIRCO's RELIC set: queries with a masked quotation, each with a pool of some fifty passages, one of them right.

Read as JSON lines; ``python -m tools.birco`` makes them of the pickle
that its authors published. Source: Wang et al. 2024 (BIRCO), section 3 and its repository.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from relic_core.errors import BadBenchmark
from relic_core.formats.files import M, Name, Strict, as_object, checked, parse, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MASKED = "[masked sentence(s)]"
"""How a query writes the place of its quotation."""


class _Query(Strict):
    id: Name
    text: Name
    work: str = ""


class _Passage(Strict):
    id: Name
    text: Name


class _Pool(Strict):
    query_id: Name
    candidates: list[Name]
    relevant: list[Name]


class _Rankings(Strict):
    rankings: dict[Name, list[Name]]


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
    for here, query in _lines(folder / "queries.jsonl", _Query):
        _once(here, query.id, queries)
        if MASKED not in query.text:
            raise BadBenchmark(
                f"{here}: query '{query.id:.80}' has no '{MASKED}', so nobody can tell where its quotation stood."
            )
        queries[query.id] = BircoQuery(query.id, query.text, query.work)
    if not queries:
        raise BadBenchmark(f"{folder}: there is no query.")
    passages: dict[str, str] = {}
    for here, passage in _lines(folder / "passages.jsonl", _Passage):
        _once(here, passage.id, passages)
        passages[passage.id] = passage.text
    pools: dict[str, tuple[str, ...]] = {}
    relevant: dict[str, dict[str, int]] = {}
    for here, pool in _lines(folder / "pools.jsonl", _Pool):
        _once(here, pool.query_id, pools)
        _check_pool(here, pool, queries, passages)
        pools[pool.query_id], relevant[pool.query_id] = tuple(pool.candidates), dict.fromkeys(pool.relevant, 1)
    if lacking := queries.keys() - pools.keys():
        raise BadBenchmark(
            f"{folder / 'pools.jsonl'}: query '{min(lacking):.80}' has no pool. Every query needs its candidates."
        )
    return BircoSet(
        queries=tuple(queries.values()),
        passages=passages,
        pools={query_id: pools[query_id] for query_id in queries},
        relevant={query_id: relevant[query_id] for query_id in queries},
    )


def read_rankings(path: Path, system: str = "") -> tuple[str, dict[str, list[str]]]:
    """Read rankings as BIRCO's authors publish them: passages by query, or by system and query.

    Returns: the system's name, else the file's; and the rankings.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is no such file, ranks a passage twice, or holds several systems of which none is named.
    """
    given: dict[str, Any] = as_object(parse(read_text(path), str(path)), str(path))
    if given and all(isinstance(each, dict) for each in given.values()):
        if system not in given:
            raise BadBenchmark(f"{path} holds rankings of {', '.join(map(str, given)):.500}. Name one of them.")
        given = given[system]
    rankings = checked(_Rankings, {"rankings": given}, str(path)).rankings
    for query, ranking in rankings.items():
        if len(set(ranking)) < len(ranking):
            raise BadBenchmark(f"{path}: query '{query:.80}' ranks a passage twice.")
    return system or path.stem, rankings


def _lines(path: Path, kind: type[M]) -> Iterator[tuple[str, M]]:
    # Split at line feeds alone: a string of JSON may hold U+2028 and its like, where `splitlines` would cut.
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        del lines[-1]
    if not lines:
        raise BadBenchmark(f"{path} is empty. It was cut short: fetch it again.")
    for number, line in enumerate(lines, start=1):
        here = f"{path}, line {number:,}"
        yield here, checked(kind, parse(line, here), here)


def _once(here: str, given: str, known: Mapping[str, object]) -> None:
    if given in known:
        raise BadBenchmark(f"{here}: '{given:.80}' was given before. An id occurs once: take the wrong line out.")


def _check_pool(here: str, pool: _Pool, queries: Mapping[str, object], passages: Mapping[str, object]) -> None:
    if pool.query_id not in queries:
        raise BadBenchmark(f"{here}: there is no query '{pool.query_id:.80}' among the {len(queries):,} queries.")
    members = set(pool.candidates)
    if len(members) < len(pool.candidates):
        raise BadBenchmark(f"{here}: the pool of '{pool.query_id:.80}' names a passage twice.")
    if unknown := members - passages.keys():
        raise BadBenchmark(f"{here}: there is no passage '{min(unknown):.80}' among the {len(passages):,} passages.")
    if len(pool.relevant) != 1:
        raise BadBenchmark(
            f"{here}: {len(pool.relevant):,} passages are relevant to '{pool.query_id:.80}'; a masked quotation is "
            "exactly one."
        )
    if not members.issuperset(pool.relevant):
        raise BadBenchmark(f"{here}: '{pool.relevant[0]:.80}', relevant to '{pool.query_id:.80}', is not in its pool.")
