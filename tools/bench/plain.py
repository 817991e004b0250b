"""The same answers on this processor and as on one without AMX and native bfloat16, in one run and in turns."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from relic_core.config import Settings
from relic_core.domain import DEFAULT_RETRIEVERS, Claim, SearchRequest
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import load_late_chunking
from relic_core.encoders.precision import best_precision
from relic_core.errors import NotFound
from relic_core.retrieval.dense import trained_model
from relic_core.wiring import App, build
from tools.bench.report import Figure, Target

PLAIN = {"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
"""What has the libraries compute as on most laptops: no AMX, no AVX-512, and float32."""
_HERE, _THERE = "this processor", "plain"
_WHAT = {
    "claim": "a claim, encoded",
    "reranked": "the reranker, with the ranking that it reorders",
    "answer": "the whole answer, with cards",
}
_MEDIAN, _TAIL = 1_500, 2_200
"""Milliseconds that a whole answer may take."""

Times = dict[str, float]
"""Seconds, by what was done."""


@contextmanager
def _process(settings: Settings, work_id: str, environment: Mapping[str, str]) -> Iterator[Connection]:
    """Start a process that prepares a work and answers; the environment is for it alone."""
    spawned = multiprocessing.get_context("spawn")
    here, there = spawned.Pipe()
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        child = spawned.Process(target=_answer, args=(settings, work_id, there), daemon=True)
        child.start()
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({name: value} if value is not None else {})
    there.close()
    try:
        yield here
    finally:
        child.terminate()
        child.join()


def _answer(settings: Settings, work_id: str, pipe: Connection) -> None:
    """Prepare at the first message, then answer each claim that comes, and tell how long what took."""
    app = build(settings)
    work = app.works.load(work_id)
    encoder = load_late_chunking(read_card(trained_model(settings)))
    dense = app.retrievers.get("dense-relic")
    pipe.recv()
    began = time.perf_counter()
    dense.prepare(work, lambda *_: None)
    pipe.send((best_precision(), {"preparing": time.perf_counter() - began}))
    while True:
        claim, length = pipe.recv()
        began = time.perf_counter()
        encoder.encode_claims([claim])
        encoded = time.perf_counter() - began
        pipe.send(("", {"claim": encoded, **_searched(app, work_id, claim, length)}))


def _searched(app: App, work_id: str, claim: Claim, length: int) -> Times:
    times = {}
    for name, ways, added in (("reranked", ("reranked",), "."), ("answer", DEFAULT_RETRIEVERS, "")):
        text = claim.words + added  # so that neither answers from the other's memory
        began = time.perf_counter()
        app.search.run(SearchRequest(work_id=work_id, claim_text=text, length=length, retrievers=ways))
        times[name] = time.perf_counter() - began
    return times


def measured(settings: Settings, work_id: str, asked: list[tuple[Claim, int]]) -> tuple[tuple[Figure, ...], str]:
    """Measure both in turns; the first question of each is not counted. Raises NotFound: a process ended."""
    times: dict[str, list[Times]] = {}
    formats: dict[str, str] = {}
    with ExitStack() as stack:
        answering = {}
        for name, environment in ((_HERE, {}), (_THERE, PLAIN)):
            own = replace(settings, indexes=Path(stack.enter_context(tempfile.TemporaryDirectory())))
            answering[name] = stack.enter_context(_process(own, work_id, environment))
        for turn, question in enumerate([None, *asked]):
            for name, each in answering.items():
                try:
                    each.send(question)
                    precision, seconds = each.recv()
                except (EOFError, OSError):
                    raise NotFound(f"The process that measured {name} ended before it could tell.") from None
                formats[name] = precision or formats[name]
                if turn != 1:
                    times.setdefault(name, []).append(seconds)
    return tuple(_figures(times)), f"This processor computes in {formats[_HERE]}, the plain one in {formats[_THERE]}."


def _figures(times: Mapping[str, list[Times]]) -> Iterator[Figure]:
    here, there = (times[name][0]["preparing"] for name in (_HERE, _THERE))
    yield Figure(
        what="preparing, plain", value=there, unit="s", baseline=_HERE, baseline_value=here, ratio=there / here
    )
    for key, what in _WHAT.items():
        of = [1_000 * np.array([each[key] for each in times[name][1:]]) for name in (_HERE, _THERE)]
        for named, share, limit in (("median", 50, _MEDIAN), ("95th percentile", 95, _TAIL)):
            ours, plain = (float(np.percentile(each, share)) for each in of)
            yield Figure(
                what=f"{what}, plain, {named}",
                value=plain,
                unit="ms",
                baseline=_HERE,
                baseline_value=ours,
                ratio=plain / ours,
                target=Target(of="value", bound="under", limit=limit) if key == "answer" else None,
                repetitions=len(of[0]),
            )
