"""The rankings that were published with BIRCO's set, read from JSON or from pickles, one per system.

Source: Wang et al. 2024 (BIRCO), its repository.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats import birco_pickle
from relic_core.formats.birco import PICKLE, Allowance
from relic_core.formats.files import as_object, as_string, as_strings, parse, read_bytes, read_text

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.formats.birco import BircoSet


def read_rankings(path: Path, of: BircoSet | None = None) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read rankings of pools.

    All thirty rankings that BIRCO's authors published for this set hold each passage of each pool exactly once; so one
    that does not is taken for damaged and refused, and nothing is filled in. A query that a system did not rank is not
    made up either: it is absent, which metrics count as a miss.

    - `path`: a JSON file, system -> query id -> ids, best first; a pickle, query id -> ids, of one system that its file
      is named for; or a folder of such pickles (``*.pickle``).

    Returns: system -> query id -> passage ids, best first.

    Raises NotFound: there is no such file, or no pickle in the folder.
    Raises BadBenchmark: a file is damaged, a list names a passage twice, a query is not of the set, or a list is no
    permutation of its pool.
    """
    if path.is_dir():
        files = sorted(path.glob("*.pickle"))
        if not files:
            raise NotFound(f"There is no ranking in {path}: its files would end in '.pickle'.")
        systems = {file.stem: _ranked(file, birco_pickle.read_plain(file), of, str(file)) for file in files}
    elif read_bytes(path).startswith(PICKLE):
        systems = {path.stem: _ranked(path, birco_pickle.read_plain(path), of, str(path))}
    else:
        content = as_object(parse(read_text(path), str(path)), str(path))
        systems = {
            as_string(system, f"{path}: the name of a system"): _ranked(path, given, of, f"{path}, '{system:.80}'")
            for system, given in content.items()
        }
    return systems


def _ranked(path: Path, given: object, of: BircoSet | None, here: str) -> dict[str, tuple[str, ...]]:
    left = Allowance(path)
    ranked: dict[str, tuple[str, ...]] = {}
    for query_id, order in as_object(given, here).items():
        there = f"{here}: the ranking of '{query_id:.80}'"
        left.take(order if isinstance(order, list) else ())
        ranking = as_strings(order, there)
        as_string(query_id, f"{here}: the id of a query")
        _check_ranking(there, query_id, ranking, of)
        ranked[query_id] = ranking
    return ranked


def _check_ranking(here: str, query_id: str, ranking: tuple[str, ...], of: BircoSet | None) -> None:
    seen = set(ranking)
    if len(seen) < len(ranking):
        raise BadBenchmark(f"{here} names a passage twice. A ranking holds each passage of its pool once.")
    if of is None:
        return
    if query_id not in of.pools:
        raise BadBenchmark(f"{here} is of no query of this set. The rankings belong to another set or split.")
    pool = set(of.pools[query_id])
    if seen != pool:
        raise BadBenchmark(
            f"{here} is no order of its pool: {len(pool - seen):,} of {len(pool):,} passages are missing, and "
            f"{len(seen - pool):,} are not of the pool."
        )
