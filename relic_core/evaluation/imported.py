"""Rankings that another system made, as a run: each passage that it names stands where it put it, all others below.

Of judged passages those that it does not name count as not found, as in TREC's tools.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from relic_core.domain import GIVEN_PASSAGES, ContextSize, Outcome, QuotationContext, Run, Span, Work
from relic_core.domain.runs import ImportedRanking
from relic_core.errors import BadBenchmark, BadClaim
from relic_core.evaluation import figures
from relic_core.evaluation.experiments import identity, make_run
from relic_core.evaluation.runner import answer
from relic_core.formats import trec
from relic_core.formats.birco import read_rankings
from relic_core.formats.files import read_bytes
from relic_core.ports import Benchmark
from relic_core.retrieval.imported import Imported, claim_digest
from relic_core.retrieval.registry import IMPORTED
from relic_core.text.decoding import harmless
from relic_core.text.placing import Places, quoted_span

SHOWN = 100
"""Passages of a ranking that are kept for a column of a search."""
_NAMED = 3


def import_ranking(
    benchmark: Benchmark, path: Path, shape: ContextSize, system: str = "", editions: Mapping[str, Work] | None = None
) -> tuple[Run, tuple[Outcome, ...], tuple[ImportedRanking, ...]]:
    """Read the rankings of a benchmark's claims from a file.

    - `path`: TREC's six columns, or JSON as BIRCO publishes it: documents by query, or by system and query.
    - `system`: its name; of JSON with several systems which of them. By default the tag of the TREC file, or its name.

    Returns: the run, its outcomes, and the rankings of the claims that a search can show: of whole works, and of pools
    whose book is among the editions.
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
    name = harmless(system or named)
    retriever = f"{IMPORTED}{'-'.join(name.split())}"
    outcomes, kept = [], []
    places = {book: Places(work) for book, work in (editions or {}).items()}
    for window in windows:
        work, ranking = benchmark.work(window.pool), rankings.get(window.id)
        starts = None if ranking is None else _starts(path, window, work, ranking)
        outcome = answer(benchmark, Imported(retriever, partial(_found, starts)), window, work, shape)
        outcomes.append(_listed(outcome, len(ranking or ())))
        best = [Span(start, window.gold.length) for start in (starts or [])[:SHOWN]]
        if work.segmenter == GIVEN_PASSAGES:
            edition = (editions or {}).get(window.book)
            found = [quoted_span(places[window.book], edition, work.span_text(span)) for span in best if edition]
            work, best = edition or work, [span for span in found if span]
        if best:
            stand = tuple(map(work.span_offsets, best))
            kept.append(ImportedRanking(claim=claim_digest(window.claim(shape)), work=work.sha256, places=stand))
    claims = {window.id for window in windows}
    unknown = [query for query in rankings if query not in claims]
    configuration = {"file": hashlib.sha256(read_bytes(path)).hexdigest(), "system": name}
    run = make_run(
        benchmark,
        identity(benchmark, retriever, configuration),
        label=f"{name} (imported)",
        shape=shape,
        examples=len(outcomes),
        machine={figures.UNKNOWN: f"{len(unknown):,}: {harmless(', '.join(unknown[:_NAMED]))}"} if unknown else {},
        seconds=0.0,
        index_bytes=0,
    )
    return run, tuple(outcomes), tuple(kept)


def _found(starts: Sequence[int] | None, *_: object) -> Sequence[int]:
    if starts is None:
        raise BadClaim("The file has no ranking for this claim.")
    return starts


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


def _starts(path: Path, window: QuotationContext, work: Work, ranking: Sequence[str]) -> list[int]:
    """Say where the candidates start that documents name: passages of a pool by their ids, others by characters."""
    if work.segmenter == GIVEN_PASSAGES:
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
