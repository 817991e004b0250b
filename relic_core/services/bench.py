"""Speed, measured in one run and as ratios against a named baseline: seconds on one machine say little of another.

The baseline of BM25 is `rank_bm25`, which the RELiC paper used, with the same tokens.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

from relic_core.domain import MAX_LENGTH, MIN_LENGTH, rank_scores
from relic_core.errors import NotFound
from relic_core.retrieval import registry
from relic_core.services.answers import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.domain import Claim, Scores, Work
    from relic_core.ports import Progress, Retriever
    from relic_core.services.workbench import Workbench

P = ParamSpec("P")
T = TypeVar("T")

_CLAIMS = 24
_REFERENCE_CLAIMS = 2
"""rank_bm25 takes over a second a claim on a long work."""
_TOP = 10
_LENGTHS = range(MIN_LENGTH, MAX_LENGTH + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """The figures of one work; times in seconds for building and milliseconds for answering.

    Attributes
    ----------
    work, sentences, words
        What was measured on.
    bm25_build_s : float
        Tables for all five lengths together.
    bm25_ms, bm25_p95_ms : float
        Median and 95th percentile of one claim with a 4/4 context, over all lengths.
    reference_ms : float
        Median of rank_bm25 for the same.
    bm25_times_faster : float
        Their ratio.
    bm25_same_tops : bool
        Whether the two agree in the first ten of every claim and length tried.
    dense_build_s : float
        One pass, which serves every length; the model's loading left out.
    dense_words_per_s : float
        Words of the work indexed in a second.
    dense_ms, dense_p95_ms : float
        Median and 95th percentile of one claim, the claim's encoding included.
    search_ms, search_p95_ms : float
        A whole search as the page does it, three columns with cards.
    """

    work: str
    sentences: int
    words: int
    bm25_build_s: float
    bm25_ms: float
    bm25_p95_ms: float
    reference_ms: float
    bm25_times_faster: float
    bm25_same_tops: bool
    dense_build_s: float
    dense_words_per_s: float
    dense_ms: float
    dense_p95_ms: float
    search_ms: float
    search_p95_ms: float


def machine() -> dict[str, str | int]:
    """Describe the machine that measured."""
    cpuinfo = Path("/proc/cpuinfo")
    flags = cpuinfo.read_text("utf-8") if cpuinfo.exists() else ""
    return {
        "system": platform.system(),
        "processor": next(
            (line.split(":")[1].strip() for line in flags.splitlines() if "model name" in line), "unknown"
        ),
        "cores": os.cpu_count() or 1,
        "avx512_bf16": int("avx512_bf16" in flags),
        "amx": int("amx_bf16" in flags),
        "python": platform.python_version(),
    }


def measure(workbench: Workbench, work_ids: Sequence[str], progress: Progress) -> list[Timings]:
    """Measure each work from nothing, in a folder of indexes of its own.

    Parameters
    ----------
    workbench : Workbench
        Where the works are; its own indexes are left alone, but for the search as the page does it.
    work_ids : sequence of str
        The works.
    progress : Progress
        Told which work it is at.

    Raises
    ------
    NotFound
        The sample's examples, whose claims are asked, are not in the store.
    """
    claims = [example.claim for example in workbench.examples.of_split("sample")][:_CLAIMS]
    if not claims:
        raise NotFound("The claims to measure with are those of the sample. Add it first: python -m relic_core setup.")
    rows = []
    for done, work_id in enumerate(work_ids):
        work = workbench.works.load(work_id)
        progress(done, len(work_ids), work.title)
        with tempfile.TemporaryDirectory() as folder:
            made: dict[str, Retriever] = {}
            settings = replace(workbench.settings, indexes=Path(folder))
            for name in ("bm25", "bm25-reference", "zero-shot"):
                registry.create(name, settings=settings, made=made)
            rows.append(_measure(workbench, work, claims, made))
    return rows


def _measure(workbench: Workbench, work: Work, claims: Sequence[Claim], made: dict[str, Retriever]) -> Timings:
    bm25, reference, dense = made["bm25"], made["bm25-reference"], made["zero-shot"]
    words = len(work.text.split())

    bm25_build = sum(_timed(bm25.score, claims[0], work, n)[0] for n in _LENGTHS)
    quick = [_timed(bm25.score, c, work, n)[0] for c in claims for n in _LENGTHS]
    slow, same = _against_reference(bm25, reference, work, claims[:_REFERENCE_CLAIMS])

    dense.prepare(_head(work), _silent)  # loads the model
    dense_build, _ = _timed(dense.prepare, work, _silent)
    dense.score(claims[0], work, MIN_LENGTH)
    meaning = [_timed(dense.score, c, work, n)[0] for c in claims for n in _LENGTHS]

    workbench.indexes.build(work.id, workbench.indexes.missing(work.id), _silent)
    asked = [SearchRequest(work_id=work.id, claim_text=claim.words, length=n) for claim in claims[:8] for n in _LENGTHS]
    workbench.search.run(asked[0])
    whole = [_timed(workbench.search.run, r)[0] for r in asked]
    return Timings(
        work=work.title,
        sentences=len(work.sentences),
        words=words,
        bm25_build_s=bm25_build,
        bm25_ms=_median(quick),
        bm25_p95_ms=_p95(quick),
        reference_ms=_median(slow),
        bm25_times_faster=_median(slow) / _median(quick),
        bm25_same_tops=same,
        dense_build_s=dense_build,
        dense_words_per_s=words / dense_build,
        dense_ms=_median(meaning),
        dense_p95_ms=_p95(meaning),
        search_ms=_median(whole),
        search_p95_ms=_p95(whole),
    )


def _against_reference(
    bm25: Retriever, reference: Retriever, work: Work, claims: Sequence[Claim]
) -> tuple[list[float], bool]:
    """Time rank_bm25 and compare the first ten of both."""
    times, same = [], True
    for length in _LENGTHS:
        reference.score(claims[0], work, length)  # makes its table
        for claim in claims:
            seconds, theirs = _timed(reference.score, claim, work, length)
            times.append(seconds)
            same &= _top(bm25.score(claim, work, length)) == _top(theirs)
    return times, same


def _top(scores: Scores) -> list[int]:
    # Scores are rounded to what float32 carries, so that spans both sides hold equal tie on both.
    best: list[int] = rank_scores("", "", 0, np.round(scores, 4)).order[:_TOP].tolist()
    return best


def _head(work: Work) -> Work:
    """Take a few sentences of a work, to load a model with."""
    return replace(work, id=f"{work.id}-head", sentences=work.sentences[:4])


def _timed(call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> tuple[float, T]:
    began = time.perf_counter()
    value = call(*arguments, **options)
    return time.perf_counter() - began, value


def _median(seconds: Sequence[float]) -> float:
    """Median in milliseconds."""
    return float(np.median(seconds)) * 1000


def _p95(seconds: Sequence[float]) -> float:
    """95th percentile in milliseconds."""
    return float(np.percentile(seconds, 95)) * 1000


def _silent(done: int, total: int, note: str = "") -> None:
    """Report nothing."""


def as_rows(figures: Sequence[Timings]) -> list[dict[str, str | int | float | bool]]:
    """Give the figures as plain data, times rounded to what they carry."""
    return [
        {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(row).items()}
        for row in figures
    ]
