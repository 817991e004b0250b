"""Rankings that another system made, as a run: each passage that it names stands where it put it, all others below.

Of judged passages those that it does not name count as not found, as in TREC's tools.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.config import provenance
from relic_core.domain import Run
from relic_core.errors import BadBenchmark, BadClaim
from relic_core.evaluation.benchmarks.passages import GIVEN
from relic_core.evaluation.experiments import run_id
from relic_core.evaluation.runner import answer
from relic_core.formats import trec
from relic_core.formats.birco import read_rankings
from relic_core.formats.files import read_bytes
from relic_core.ports import Retriever

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import Claim, ContextSize, Outcome, QuotationContext, Scores, Work
    from relic_core.ports import Benchmark

IMPORTED = "imported"
"""How the names of such runs' retrievers begin."""
_NAMED = 3


class _Given(Retriever):
    """Ranks one window as it was ranked elsewhere; `places`: where candidates start, best first."""

    name, configuration = IMPORTED, {"code": "imported/1"}

    def __init__(self, places: Sequence[int] | None) -> None:
        self._places = places

    def score(self, claim: Claim, work: Work, length: int) -> Scores:  # noqa: ARG002 - the port's
        if self._places is None:
            raise BadClaim("The file has no ranking for this claim.")
        scores = np.zeros(work.candidates(length), dtype=np.float32)
        scores[list(self._places)] = np.arange(len(self._places), 0, -1)
        return scores


def import_ranking(
    benchmark: Benchmark, path: Path, shape: ContextSize, system: str = ""
) -> tuple[Run, tuple[Outcome, ...]]:
    """Read the rankings of a benchmark's claims from a file.

    - `path`: TREC's six columns, or JSON as BIRCO publishes it: documents by query, or by system and query.
    - `shape`: how much context the system was given.
    - `system`: its name; of JSON with several systems which of them. By default the tag of the TREC file, or its name.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is damaged, ranks none of the benchmark's claims, or names what is no candidate.
    """
    if path.suffix.lower() == ".json":
        named, rankings = read_rankings(path, system)
    else:
        named, rankings = trec.read_run(path)
    windows, card = benchmark.windows(), benchmark.card
    if not any(window.id in rankings for window in windows):
        raise BadBenchmark(
            f"{path} ranks none of the claims of {card.label}: its queries are called as "
            f"'{next(iter(rankings), ''):.60}', those of the benchmark as '{windows[0].id:.60}'."
        )
    outcomes = []
    for window in windows:
        work, ranking = benchmark.work(window.pool), rankings.get(window.id)
        given = _Given(None if ranking is None else _places(path, window, work, ranking))
        outcomes.append(_listed(answer(benchmark, given, window, work, shape), len(ranking or ())))
    name = system or named
    retriever = f"{IMPORTED}:{'-'.join(name.split())}"
    facts: dict[str, Any] = {
        "benchmark": card.name,
        "split": card.split,
        "data_hash": benchmark.data_hash,
        "retriever": retriever,
    }
    configuration = {"file": hashlib.sha256(read_bytes(path)).hexdigest(), "system": name}
    run = Run(
        **facts,
        id=run_id(**facts, shape=shape, configuration=configuration),
        pool=card.pool,
        label=f"{name} (imported)",
        shape=shape,
        configuration=configuration,
        books=benchmark.books(),
        examples=len(outcomes),
        code=provenance.code(),
        machine={},
        seconds=0.0,
        index_bytes=0,
        created=datetime.now(UTC).replace(microsecond=0),
    )
    return run, tuple(outcomes)


def _listed(outcome: Outcome, count: int) -> Outcome:
    """Cut the ranking of judged passages where the file's ends."""
    if not outcome.graded or count >= outcome.candidates:
        return outcome
    graded = tuple((rank if rank <= count else 0, grade) for rank, grade in outcome.graded)
    found = outcome.rank is not None and outcome.rank <= count
    return replace(
        outcome,
        rank=outcome.rank if found else None,
        overlap_rank=outcome.overlap_rank if found else None,
        first=outcome.first[:count],
        graded=graded,
    )


def _places(path: Path, window: QuotationContext, work: Work, ranking: Sequence[str]) -> list[int]:
    """Say where the candidates start that documents name: passages of a pool by their ids, others by characters."""
    if work.segmenter == GIVEN:
        known: Mapping[str, int] = {chapter.title: chapter.index for chapter in work.chapters}
    else:
        last = window.gold.length - 1
        known = {
            trec.document(window.book, (sentence.start, work.sentences[sentence.index + last].end)): sentence.index
            for sentence in work.sentences[: work.candidates(window.gold.length)]
        }
    if unknown := [document for document in ranking if document not in known]:
        raise BadBenchmark(
            f"{path}: {len(unknown):,} of the documents of query '{window.id:.80}' are none of its candidates "
            f"({', '.join(unknown[:_NAMED]):.200}). They are called as '{next(iter(known), ''):.80}'."
        )
    return [known[document] for document in ranking]
