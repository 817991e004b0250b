"""Judged sets: queries, passages, pools and grades, from a folder in one of three forms.

The forms, JSON lines, TREC's and QUEST's, are those of docs/evaluation.md, "Judged passages".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from pydantic.config import ExtraValues

from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats.files import Name, Strict, T, checked, parse, read_text
from relic_core.formats.trec import read_qrels, read_run

QRELS = "qrels.txt"
QUEST = ("documents.jsonl", "test.jsonl", "val.jsonl")


class _Passage(Strict):
    id: Name
    text: Name


class _Pool(Strict):
    query_id: Name
    candidates: tuple[Name, ...] = ()
    relevant: tuple[Name, ...] = ()
    relevance: dict[Name, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(default_factory=dict)


class _Document(Strict):
    title: Name
    text: str


class _SetQuery(Strict):
    query: Name
    docs: list[Name]
    metadata: dict[str, Any] = Field(default_factory=dict)


class JudgedQuery(Strict):
    """A query; of what work, as a slug of the catalogue, and how composed ("_ or _"), where the file says it."""

    id: Name
    text: Name
    work: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set of queries with their judged passages.

    - `passages`: passage id -> text. One passage may be in several pools, or in none.
    - `pools`: query id -> ids of its candidates, in the order of the file; empty where all passages are candidates.
    - `grades`: query id -> id of a judged passage -> its grade, above 0.
    """

    queries: tuple[JudgedQuery, ...] = field(repr=False)
    passages: Mapping[str, str] = field(repr=False, hash=False)
    pools: Mapping[str, tuple[str, ...]] = field(repr=False, hash=False)
    grades: Mapping[str, Mapping[str, float]] = field(repr=False, hash=False)
    objective: str = ""


def read_folder(folder: Path) -> JudgedSet:
    """Read a set and check that its files fit each other; where not, BadBenchmark names the file and the line."""
    objective = folder / "objective.txt"
    objective_text = " ".join(read_text(objective).split()) if objective.exists() else ""
    if (folder / QUEST[0]).exists():
        return _read_quest(folder, objective_text)
    if (folder / QRELS).exists() and not (folder / "passages.jsonl").exists():
        return _read_trec(folder, objective_text)
    queries: dict[str, JudgedQuery] = {}
    for here, query in lines(folder / "queries.jsonl", JudgedQuery):
        _once(here, query.id, queries)
        queries[query.id] = query
    passages: dict[str, str] = {}
    for here, passage in lines(folder / "passages.jsonl", _Passage):
        _once(here, passage.id, passages)
        passages[passage.id] = passage.text
    pools: dict[str, tuple[str, ...]] = {}
    grades: dict[str, dict[str, float]] = {}
    given = (folder / "pools.jsonl").exists() or not (folder / QRELS).exists()
    for here, pool in lines(folder / "pools.jsonl", _Pool) if given else ():
        _once(here, pool.query_id, pools)
        _check_pool(here, pool, queries, passages)
        pools[pool.query_id] = tuple(pool.candidates or pool.relevance)
        grades[pool.query_id] = dict.fromkeys(pool.relevant, 1.0) | {
            each: grade for each, grade in pool.relevance.items() if grade
        }
    if lacking := queries.keys() - pools.keys() if given else ():
        raise BadBenchmark(
            f"{folder / 'pools.jsonl'}: query '{min(lacking):.80}' has no pool. Every query needs its candidates."
        )
    if (folder / QRELS).exists():
        grades = _above_0(read_qrels(folder / QRELS))
        for query_id in grades.keys() & queries.keys():
            _check_known(f"{folder / QRELS}", query_id, grades[query_id], pools[query_id] if given else passages)
    return JudgedSet(tuple(queries.values()), passages, pools, grades, objective_text)


def _read_trec(folder: Path, objective: str) -> JudgedSet:
    judged = read_qrels(folder / QRELS)
    candidates = {query: dict.fromkeys(own) for query, own in judged.items()}
    for path in sorted(folder.glob("*.run")):
        for query, ranking in read_run(path)[1].items():
            candidates.setdefault(query, {}).update(dict.fromkeys(ranking))
    named = (
        {query.id: query.text for _, query in lines(folder / "queries.jsonl", JudgedQuery)}
        if (folder / "queries.jsonl").exists()
        else {}
    )
    return JudgedSet(
        queries=tuple(JudgedQuery(id=query, text=named.get(query, query)) for query in candidates),
        passages={each: each for each in chain.from_iterable(candidates.values())},
        pools={query: tuple(pool) for query, pool in candidates.items()},
        grades=_above_0(judged),
        objective=objective,
    )


def _above_0(judged: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {query: {name: grade for name, grade in own.items() if grade > 0} for query, own in judged.items()}


def _read_quest(folder: Path, objective: str) -> JudgedSet:
    passages: dict[str, str] = {}
    for here, document in lines(folder / QUEST[0], _Document, extra="ignore"):
        _once(here, document.title, passages)
        passages[document.title] = document.text.strip() or document.title
    path = next((folder / name for name in QUEST[1:] if (folder / name).exists()), None)
    if path is None:
        raise NotFound(f"{folder} holds documents, and no {' or '.join(QUEST[1:])} with queries for them.")
    queries, grades = [], {}
    for number, (here, query) in enumerate(lines(path, _SetQuery, extra="ignore"), start=1):
        _check_known(here, query.query, dict.fromkeys(query.docs), passages)
        names = [str(query.metadata.get(name, "")) for name in ("template", "domain")]
        template = ", ".join(filter(None, names))
        queries.append(JudgedQuery(id=f"q{number}", text=query.query, template=template))
        grades[f"q{number}"] = dict.fromkeys(query.docs, 1.0)
    return JudgedSet(tuple(queries), passages, {}, grades, objective)


def lines(path: Path, kind: type[T], *, extra: ExtraValues = "forbid") -> Iterator[tuple[str, T]]:
    """Read JSON lines, each with where it stands; raises as `read_folder`."""
    # Split at line feeds alone: a string of JSON may hold U+2028 and its like, where `splitlines` would cut.
    found = read_text(path).split("\n")
    if found[-1] == "":
        del found[-1]
    if not found:
        raise BadBenchmark(f"{path} is empty. It was cut short: fetch it again.")
    for number, line in enumerate(found, start=1):
        here = f"{path}, line {number:,}"
        yield here, checked(kind, parse(line, here), here, extra=extra)


def _once(here: str, given: str, known: Mapping[str, object]) -> None:
    if given in known:
        raise BadBenchmark(f"{here}: '{given:.80}' was given before. An id occurs once: take the wrong line out.")


def _check_pool(here: str, pool: _Pool, queries: Mapping[str, object], passages: Mapping[str, object]) -> None:
    if pool.query_id not in queries:
        raise BadBenchmark(f"{here}: there is no query '{pool.query_id:.80}' among the {len(queries):,} queries.")
    if any(len(set(named)) < len(named) for named in (pool.candidates, pool.relevant)):
        raise BadBenchmark(f"{here}: the pool of '{pool.query_id:.80}' names a passage twice.")
    members = set(pool.candidates or pool.relevance)
    if not members or (pool.candidates and pool.relevance):
        raise BadBenchmark(
            f"{here}: a pool has either 'relevance', or 'candidates' and 'relevant': give one of the two."
        )
    if unknown := members - passages.keys():
        raise BadBenchmark(f"{here}: there is no passage '{min(unknown):.80}' among the {len(passages):,} passages.")
    _check_known(here, pool.query_id, dict.fromkeys(pool.relevant), members)


def _check_known(here: str, query: str, judged: Mapping[str, object], known: Any) -> None:  # noqa: ANN401 - any container
    for each in judged:
        if each not in known:
            raise BadBenchmark(f"{here}: '{each:.80}', relevant to '{query:.80}', is not in its pool.")
