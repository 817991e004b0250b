"""Build and search the compact index of a library of made works, to see how it grows (docs/scale.md).

A made work is as long as a prepared work of your library. Each of its sentences lies between one of that work and one
of another, which are taken in runs of neighbours: means and covariances, and what neighbours have in common, are those
of the prepared works. `build` makes and measures the index in a folder, `search` asks it in a new process.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relic_core.config import Settings
from relic_core.domain import LENGTHS, MAX_LENGTH, Claim, Corpus, WorkVersion
from relic_core.errors import NotFound
from relic_core.retrieval import compact, index_files
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.sentence_sums import DenseIndex, neighbour_products
from relic_core.wiring import App
from relic_core.wiring import build as build_app
from tools import command
from tools.bench.parts import DENSE, USUAL, Bench, timed
from tools.machine import busy

RUN = 100
"""Sentences of another work that are taken in one after the other."""
_QUESTIONS = 40
_STATUS = Path("/proc/self/status")


class MadeDense(Dense):
    """A retriever over made works; their indexes are made when they are asked for, always the same."""

    def __init__(self, real: Dense, works: Sequence[WorkVersion], root: Path) -> None:
        super().__init__(
            real.name,
            encoder=real._encoder,  # noqa: SLF001 - its double
            root=root,
            memory=1,
            similarity=real.similarity,
        )
        self._real = [index_files.load(real.root, real.recipe(work)) for work in works]
        self._vectors = [real.open(work).sentence_vectors(self.similarity) for work in works]
        self._of = "".join(work.fingerprint for work in works)
        self._mean = np.mean(np.concatenate(self._vectors), axis=0, dtype=np.float32)

    def open(self, work: WorkVersion) -> DenseIndex:
        """Open a work's index; it is made first where there is none."""
        self.keep(work)
        return super().open(work)

    def version(self, number: int) -> WorkVersion:
        """Name a work."""
        digest = sha256(f"{number}{self._of}".encode()).hexdigest()
        return WorkVersion(
            id=f"made-{number:08x}",
            title=f"Made work {number}",
            fingerprint=digest,
            reading=digest,
            segmenter="made",
            sentences=len(self._vectors[number % len(self._vectors)]),
        )

    def keep(self, work: WorkVersion) -> None:
        """Write the index of a work."""
        if not index_files.exists(self.root, self.recipe(work)):
            index_files.save(self.root, self.recipe(work), self.arrays(work))

    def arrays(self, work: WorkVersion) -> dict[str, npt.NDArray[Any]]:
        """Make the arrays of the index of a work."""
        number = _number(work.id)
        rng, of = np.random.default_rng(number), number % len(self._real)
        base = self._vectors[of]
        mixed = np.empty_like(base)
        for start in range(0, len(base), RUN):
            other = self._vectors[int(rng.integers(len(self._vectors)))]
            mixed[start : start + RUN] = other[(int(rng.integers(len(other))) + np.arange(RUN)) % len(other)][
                : len(base) - start
            ]
        made = self._mean + (base + mixed - 2 * self._mean) / np.float32(2**0.5)
        norms = np.linalg.norm(self._real[of]["sums"], axis=1) / np.linalg.norm(made, axis=1)
        sums = made * norms[:, None]
        products = np.stack([neighbour_products(sums, distance) for distance in range(MAX_LENGTH)])
        return {"sums": sums, "counts": np.asarray(self._real[of]["counts"]), "products": products}


class Making:
    """Processes that make the works of a part before it is built; `thin`: deleted after it.

    - `making`, `building`: the processor seconds of both.
    """

    def __init__(self, root: Path, processes: int, *, thin: bool) -> None:
        self._root, self._processes, self._thin = root, processes, thin
        self.making = self.building = 0.0

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Generator[Any]:
        """Apply a function to each part."""
        with ProcessPoolExecutor(self._processes, mp_context=get_context("spawn")) as pool:
            for result, making, building in pool.map(partial(_made_and, function, self._root, self._thin), tasks):
                self.making += making
                self.building += building
                yield result


def _made_and(function: Callable[[Any], Any], root: Path, thin: bool, part: compact.Part) -> tuple[Any, float, float]:
    """Make the works of a part, unless it is finished, and apply a function to it; give the seconds of both."""
    dense, folders = _made_dense(root), [recipe.folder(root).parent for recipe in part.works]
    times = [time.process_time()]
    if not index_files.Parts(part.root, part.recipe).path(part.file).exists():
        for recipe in part.works:
            dense.keep(dense.version(_number(recipe.work_id)))
    times.append(time.process_time())
    result = function(part)
    times.append(time.process_time())
    if thin:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    making, building = np.diff(times).tolist()
    return result, making, building


@cache
def _made_dense(root: Path) -> MadeDense:
    """Give the retriever over made works whose indexes are in a folder. Raises NotFound: too few works are prepared."""
    app = build_app(Settings.from_environment())
    real = app.retrievers.get(DENSE)
    prepared = [work for work in app.works.work_versions().values() if app.indexes.ready(work.id, DENSE)]
    if not isinstance(real, Dense) or len(prepared) < 2:  # noqa: PLR2004
        raise NotFound("Works are made of at least two prepared ones. Add and prepare some novels first.")
    return MadeDense(real, prepared, root)


def _number(work_id: str) -> int:
    return int(work_id.removeprefix("made-"), 16)


def build(dense: MadeDense, works: Sequence[WorkVersion], claims: Sequence[Claim], workers: Making) -> dict[str, Any]:
    """Build the index, and give what it took."""
    began, processor = time.perf_counter(), time.process_time()
    compact.build(dense, works, _say, claims=claims, workers=workers)
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    (manifest,) = index_files.manifests(dense.root, dense.name, compact.FOLDER)
    notes = manifest["notes"]
    return {
        "works": len(works),
        "sentences": notes["sentences"],
        "index": notes["index"],
        "nprobe": notes["probes"],
        "recall": notes["measured"],
        "bytes": {name: entry["bytes"] for name, entry in manifest["files"].items()},
        "seconds": round(seconds, 1),
        "processor seconds": {
            "making works": round(workers.making),
            "parts": round(workers.building),
            "all else, with making works to learn from": round(processor),
        },
        "busy": busy(),
    }


def search(dense: MadeDense, works: Sequence[WorkVersion], claims: Sequence[Claim], *, thin: bool) -> dict[str, Any]:
    """Ask the index, of which nothing is in memory: the first answers, the later ones, and what the process holds."""
    recipe = compact.newest(dense.root, dense.name, dense.encoder_identity, works)
    if recipe is None:
        raise NotFound("There is no such index in the folder. Build it first, with the same options.")
    dense.claim_vector(claims[0])  # loads the encoder
    _forget(dense.root)
    before = anonymous_mb()
    corpus = Corpus(tuple(works), cast("Any", None))

    def ask(claim: Claim, length: int) -> None:
        if thin:
            index = dense._compact(works)  # noqa: SLF001 - the part of the search that needs no work
            index.find(dense.claim_vector(claim), works) if index else None
        else:
            dense.rank(claim, corpus, length).hits(10)

    cold = [timed(ask, claim, 1)[0] for claim in claims[:3]]
    for _ in range(2):
        for length in LENGTHS:
            ask(claims[0], length)
    fresh = [timed(ask, claim, LENGTHS[at % len(LENGTHS)])[0] for at, claim in enumerate(claims[3:])]
    began = time.process_time()
    warm = [timed(ask, claim, LENGTHS[at % len(LENGTHS)])[0] for at, claim in enumerate(claims[3:])]
    processor = (time.process_time() - began) / len(warm)
    return {
        "works": len(works),
        "first answers, cold": [round(each, 2) for each in cold],
        "later answers, each of another claim": _spread(fresh),
        "the same claims again": _spread(warm),
        "processor seconds of each": round(processor, 3),
        "anonymous MB": round(anonymous_mb()),
        "anonymous MB before the first answer": round(before),
        "busy": busy(),
    }


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    return {"median": round(statistics.median(seconds), 3), "p95": round(float(np.percentile(seconds, 95)), 3)}


def anonymous_mb() -> float:
    """Memory of this process that is not a mapped file, in MB (Linux)."""
    lines = _STATUS.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024 / 1e6


def _forget(folder: Path) -> None:
    """Ask the system to forget what it holds of the files of a folder."""
    os.sync()
    for path in folder.rglob("*.*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _say(done: int, total: int, note: str = "") -> None:
    print(f"{time.strftime('%H:%M:%S')} {done:,} of {total:,}: {note}", file=sys.stderr, flush=True)


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("step", choices=("build", "search"))
    parser.add_argument("--works", type=int, default=100, metavar="N", help="made works (default: %(default)s)")
    parser.add_argument("--folder", type=Path, required=True, metavar="FOLDER", help="keep indexes here")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="that build (default: %(default)s)")
    parser.add_argument("--thin", action="store_true", help="keep no work: a search then ends with the sentences found")


def do(app: App, options: Namespace) -> int:
    """Build or search, and print the figures as JSON."""
    dense = _made_dense(options.folder)
    examples = sorted(app.store.examples.of_split("sample"), key=lambda each: each.id)
    claims = [each.claim for each in examples]
    bench = Bench(app=app, effort=USUAL, work_id="", full=False, claims=tuple(claims), say=print)
    questions = bench.questions(_QUESTIONS + 3)
    works = [dense.version(number) for number in range(options.works)]
    if options.step == "build":
        figures = build(dense, works, claims, Making(options.folder, options.processes, thin=options.thin))
    else:
        figures = search(dense, works, questions, thin=options.thin)
    print(json.dumps(figures, indent=2))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("bench.large", __doc__, add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
