"""BIRCO's RELIC set: queries with a masked quotation, each with a pool of some fifty passages, one of them right.

Read as JSON lines; ``python -m tools.birco`` makes them of the pickle
that its authors published. Source: Wang et al. 2024 (BIRCO), section 3 and its repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relic_core.errors import BadBenchmark
from relic_core.formats.files import Name, Strict, as_object, checked, parse, read_text
from relic_core.formats.judged import JudgedSet, read_folder

MASKED = "[masked sentence(s)]"
"""How a query writes the place of its quotation."""


class _Rankings(Strict):
    rankings: dict[Name, list[Name]]


def read_jsonl(folder: Path) -> JudgedSet:
    """Read a set whose queries have masks, and each exactly one relevant passage, as `judged.read_folder`."""
    read = read_folder(folder)
    for number, query in enumerate(read.queries, start=1):
        if MASKED not in query.text:
            raise BadBenchmark(
                f"{folder / 'queries.jsonl'}, line {number:,}: query '{query.id:.80}' has no '{MASKED}', so nobody can "
                "tell where its quotation stood."
            )
        if query.id not in read.grades:
            raise BadBenchmark(
                f"{folder}: no passage is relevant to query '{query.id:.80}'; a masked quotation is one."
            )
    for number, (query_id, grades) in enumerate(read.grades.items(), start=1):
        if len(grades) != 1:
            raise BadBenchmark(
                f"{folder / 'pools.jsonl'}, line {number:,}: {len(grades):,} passages are relevant to "
                f"'{query_id:.80}'; a masked quotation is exactly one."
            )
    return read


def read_rankings(path: Path, system: str = "") -> tuple[str, dict[str, list[str]]]:
    """Read rankings as BIRCO's authors publish them, by query, or by system and query; with the system's name."""
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
