"""An experiment: a benchmark, a retriever with the indexes that belong to it, and the run that they make.

A run is known by what decides its ranks. Measured twice, it is recognised; stopped, it goes on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from relic_core.config import Settings, provenance
from relic_core.domain import ContextSize, Outcome, Run
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.cross_encoder import open_reranker
from relic_core.encoders.sparse import SparseEncoder
from relic_core.errors import BadBenchmark, BadRequest, NoIndex, RelicError
from relic_core.evaluation.runner import Answered, Answering, Slice, by_pool, evaluate, lengths_of, preparing, slices
from relic_core.formats.relic import entry_of
from relic_core.formats.run_files import check_outcomes
from relic_core.installed import COMMAND
from relic_core.ports import Benchmark, Metered, Progress, Retriever, Workers, silent
from relic_core.retrieval import index_files, registry
from relic_core.retrieval.preparing import prepare_works
from relic_core.retrieval.registry import RetrieverCard, RetrieverSpec, same_here
from relic_core.retrieval.vectors import VectorSearch
from relic_core.store import run_journal
from relic_core.store.run_journal import RunJournal, WorkState

_ID_LENGTH = 12


_SLICE = 16
"""Windows that a worker answers together: a reranker takes half a minute for them."""


def run_id(
    *, benchmark: str, split: str, data_hash: str, retriever: str, shape: ContextSize, configuration: Mapping[str, str]
) -> str:
    """Digest everything that decides the ranks of a run."""
    facts = [benchmark, split, data_hash, retriever, str(shape), sorted(configuration.items())]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_ID_LENGTH]


def identity(benchmark: Benchmark, retriever: str, configuration: Mapping[str, str]) -> dict[str, Any]:
    """Give all that decides the ranks of a run but for its shape."""
    card = benchmark.card
    return {
        "benchmark": card.name,
        "split": card.split,
        "data_hash": benchmark.data_hash,
        "retriever": retriever,
        "configuration": dict(configuration),
    }


def make_run(
    benchmark: Benchmark,
    identity: Mapping[str, Any],
    *,
    shape: ContextSize,
    machine: dict[str, str],
    **measured: Any,  # noqa: ANN401 - the fields of a run
) -> Run:
    """Make the run of what was measured now."""
    return Run(
        **identity,
        **measured,
        machine=machine | ({"data": "the reader's own"} if benchmark.card.own else {}),
        id=run_id(shape=shape, **identity),
        shape=shape,
        pool=benchmark.card.pool,
        books=benchmark.books(),
        code=provenance.code(),
        created=datetime.now(UTC).replace(microsecond=0),
    )


def moved_ranks(before: Sequence[Outcome], after: Sequence[Outcome]) -> tuple[str, ...]:
    """List the examples whose ranks differ, those that only one side has among them."""
    ranks = [
        {each.example_id: (each.rank, each.overlap_rank, each.candidates, each.graded) for each in side}
        for side in (before, after)
    ]
    both = sorted(ranks[0].keys() | ranks[1].keys())
    return tuple(each for each in both if ranks[0].get(each) != ranks[1].get(each))


def refuse_moved(kept: Run, before: Sequence[Outcome], after: Sequence[Outcome]) -> None:
    """Refuse the outcomes of a file in the place of those that are here. Raises BadRequest: ranks differ."""
    moved = moved_ranks(before, after)
    if not moved:
        return
    instead = (
        "Find out which is right by measuring it here"
        if kept.shipped
        else f"To have the file's in their place, remove it first ({COMMAND} runs remove {kept.id}); or measure it anew"
    )
    some = ", ".join(moved[:3]) + (", ..." if len(moved) > 3 else "")  # noqa: PLR2004 - as many as a message names
    raise BadRequest(
        f"Run {kept.id} is here already, and {len(moved):,} of its {len(after):,} ranks are others than the file's "
        f"({some}). {instead}: {kept.command} --again."
    )


@lru_cache(maxsize=4)
def _answering(spec: RetrieverSpec) -> Answering:
    return Answering(same_here(spec))


def answer_slice(spec: RetrieverSpec, asked: Slice) -> Answered:
    """Answer a slice on a worker, from indexes that it sees in the folder of the asking process.

    Raises BadWeights: the model is another one here.
    Raises NoIndex: it does not see the index of the work.
    """
    retriever = same_here(spec)
    if not retriever.ready(asked.work, *asked.lengths):
        raise NoIndex(
            f"The index of {asked.work.title} is not in {spec.settings.indexes} there. Workers that measure read the "
            "folder of indexes under the same path: share it with them, or measure without an engine."
        )
    retriever.prepare(asked.work, silent, lengths=asked.lengths)
    return _answering(spec)(asked)


class Experiment:
    """A retriever with the indexes that belong to it, and the benchmark that it is to be asked.

    - `retriever`: a registered name, or a retriever with parameters of its own under a registered name.
    - `settings`: with the folder of the indexes of the benchmark's works.
    - `registered`: gives the registered retriever of a name.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        retriever: str | Retriever,
        shape: ContextSize,
        *,
        settings: Settings,
        registered: Callable[[str], Retriever],
    ) -> None:
        self.benchmark = benchmark
        self.shape = shape
        self._settings = settings
        self._registered = isinstance(retriever, str)
        name = retriever if isinstance(retriever, str) else retriever.name
        self._card = registry.card(name)
        default = registered(name)
        self.retriever = default if isinstance(retriever, str) else retriever
        made_of = [card.name for card in registry.in_order([name]) if not card.components or card.keeps_own_index]
        self._parts = [registered(part) if part != name else self.retriever for part in made_of]
        refuse_learnt(self._card, settings, benchmark)
        self._label = _label(self._card, self.retriever, default, _own_models(self._card, settings))
        self._identity = identity(benchmark, name, self.retriever.configuration)
        self.run_id = run_id(shape=shape, **self._identity)

    def measure(
        self, path: Path, say: Callable[[str], None], progress: Progress, workers: Workers | None = None
    ) -> tuple[Run, tuple[Outcome, ...]]:
        """Rank every window, going on from the journal at `path` where it fits; who calls removes the journal.

        - `workers`: who answer, and prepare what is not prepared; this process where not given, where the retriever has
          parameters of its own, since counting words takes no time, and where a server answers, which is elsewhere.
        """
        journal = RunJournal(path, {"run": {**self._identity, "shape": str(self.shape)}, "code": provenance.code()})
        used: dict[str, float] = {}

        def keep(outcome: Outcome, seconds: float) -> None:
            now = self.retriever.usage if isinstance(self.retriever, Metered) else {}
            journal.keep(outcome, seconds, {name: now[name] - used.get(name, 0) for name in now})
            used.update(now)

        with journal.opened(self._still, say, examples=len(self.benchmark.windows())) as state:
            done = dict(state.outcomes)
            if not self._registered or isinstance(self.retriever, Metered):
                workers = None
            if workers is not None:
                self._prepare(workers, done, progress)
            parts = slices(
                self.benchmark,
                self.retriever,
                shape=self.shape,
                done=done,
                entering=lambda work: journal.enter(self._prepared(work.id, work.reading)),
                progress=progress if workers is None else silent,
                size=1 if workers is None else _SLICE,
            )
            with closing(self._answers(parts, workers)) as answers:
                outcomes = evaluate(self.benchmark, answers, done=done, keep=keep, progress=progress)
        run = make_run(
            self.benchmark,
            self._identity,
            label=self._label,
            shape=self.shape,
            examples=len(outcomes),
            machine={name: str(value) for name, value in (provenance.machine() | dict(state.usage)).items()},
            seconds=round(state.seconds, 6),
            index_bytes=sum(work.size for work in state.works.values()),
        )
        try:
            check_outcomes(f"run {run.id}", run, outcomes)
        except BadBenchmark:
            run_journal.remove(path)  # going on from there would end here again
            raise
        return run, outcomes

    def _answers(self, parts: Iterator[Slice], workers: Workers | None) -> Generator[Answered]:
        if workers is None:
            answering = Answering(self.retriever)
            return (answering(part) for part in parts)
        return workers.map(partial(answer_slice, RetrieverSpec.of(self.retriever, self._settings)), parts)

    def _prepare(self, workers: Workers, done: Mapping[str, Outcome], progress: Progress) -> None:
        """Have what is not prepared of the works that are still to be searched prepared by workers."""
        windows = self.benchmark.windows()
        pools = by_pool([window for window in windows if window.id not in done])
        works = {pool: self.benchmark.work(pool) for pool in pools}
        lengths: dict[str, set[int]] = {}
        for pool, work in works.items():
            lengths.setdefault(work.id, set()).update(lengths_of(windows, pool))
        several = {work.id: (work, sorted(lengths[work.id])) for work in works.values()}
        for _, problem in prepare_works(
            [part for part in self._parts if isinstance(part, VectorSearch)],
            several.values(),
            self._settings,
            workers=workers,
            sentences=sum(len(work.sentences) for work, _ in several.values()),
            progress=preparing(progress, len(done), len(windows)),
        ):
            if problem:
                raise RelicError(problem)
        if self._card.keeps_own_index:  # what it is made of was prepared with the works
            for work, _ in several.values():
                self.retriever.prepare(work, silent)

    def _still(self, entered: WorkState) -> bool:
        return set(entered.index) <= set(self._prepared(entered.work_id, entered.fingerprint).index)

    def _prepared(self, work_id: str, fingerprint: str) -> WorkState:
        found = []
        for part in self._parts:
            made_with = fingerprint, part.encoder_identity
            if part.encoder_identity:
                manifests = index_files.manifests(self._settings.indexes, part.name, work_id)
                found += [each for each in manifests if (each["work"], each["encoder"]) == made_with]
        arrays = chain.from_iterable(each["arrays"].values() for each in found)
        return WorkState(
            work_id=work_id,
            fingerprint=fingerprint,
            index=tuple(sorted(map(_content, found))),
            size=sum(entry["bytes"] for entry in arrays),
        )


def refuse_learnt(card: RetrieverCard, settings: Settings, benchmark: Benchmark) -> None:
    """Refuse a model that was trained on works of a benchmark. Raises BadRequest."""
    for model in _own_encoders(card, settings):
        entries = [entry_of(book.key) or entry_of(book.title) for book in benchmark.books()]
        known = [entry.title for entry in entries if entry is not None and entry.split == "train"]
        if model.learnt and known:
            raise BadRequest(
                f"{model.name} has learnt {model.learnt}, and {benchmark.card.label} has quotations of it "
                f"({known[0]}): a figure would say what it remembers. Measure it on val.json (`evaluate relic "
                "dense-relic --data val.json`) or public-relic-test, or measure another model."
            )


def _own_encoders(card: RetrieverCard, settings: Settings) -> list[EncoderCard]:
    """Read the cards of the encoders that settings or a choice name, of a retriever and of what it is made of."""
    set_by = {"zero-shot": settings.model, "dense-relic": settings.trained, "late": settings.late}
    made_of = [each.name for each in registry.in_order([card.name])]
    return [read_card(model) for name, model in set_by.items() if model and name in made_of]


def _own_models(card: RetrieverCard, settings: Settings) -> list[str]:
    """Name the models that settings or a choice name, of a retriever and of what it is made of."""
    own = [model.name for model in _own_encoders(card, settings)]
    made_of = [each.name for each in registry.in_order([card.name])]
    if settings.reranker and "reranked" in made_of:
        own.append(open_reranker(settings.reranker).name)
    if card.setting:
        own.append(SparseEncoder(settings.sparse).name)
    return own


def _label(card: RetrieverCard, retriever: Retriever, default: Retriever, models: Sequence[str]) -> str:
    if card.server:
        facts = retriever.configuration
        first = f", over {facts['first']}" if facts["first"] not in card.components else ""
        return f"{card.label} ({facts['reranker reranker']}, objective {facts['objective']}, {facts['head']}{first})"
    given = default.configuration
    own = [f"{name} {value}" for name, value in retriever.configuration.items() if given.get(name) != value]
    return f"{card.label} ({', '.join([*models, *own])})" if models or own else card.label


def _content(manifest: Mapping[str, Any]) -> str:
    """Digest what an index holds, not when it was made: built again to the same content, it is the same."""
    arrays = sorted((name, entry["sha256"]) for name, entry in manifest["arrays"].items())
    facts = [manifest["retriever"], manifest["code"], arrays]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
