"""An experiment: a benchmark, a retriever with the indexes that belong to it, and the identity of the run they make."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from relic_core.config import provenance
from relic_core.domain import Run
from relic_core.encoders.cards import read_card
from relic_core.encoders.cross_encoder import open_reranker
from relic_core.retrieval import index_files, registry
from relic_core.services.unfinished import WorkState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.config import Settings
    from relic_core.domain import ContextSize, Outcome, Work
    from relic_core.ports import Benchmark, Retriever
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.services.measuring import Measuring
    from relic_core.services.unfinished import Partial

_ID_LENGTH = 12


def run_id(
    *, benchmark: str, split: str, data_hash: str, retriever: str, shape: ContextSize, configuration: Mapping[str, str]
) -> str:
    """Digest everything that decides the ranks of a run."""
    facts = [benchmark, split, data_hash, retriever, str(shape), sorted(configuration.items())]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_ID_LENGTH]


class Experiment:
    """A retriever with the indexes that belong to it, and the benchmark that it is to be asked."""

    def __init__(
        self, measuring: Measuring, benchmark: Benchmark, retriever: str | Retriever, shape: ContextSize
    ) -> None:
        self.benchmark = benchmark
        self.shape = shape
        self.settings = measuring.settings_for(benchmark)
        name = retriever if isinstance(retriever, str) else retriever.name
        self.card = registry.card(name)
        self.retriever = measuring.retriever(name, self.settings) if isinstance(retriever, str) else retriever
        made_of = [card.name for card in registry.in_order([name]) if not card.components]
        self._parts = [measuring.retriever(part, self.settings) if part != name else self.retriever for part in made_of]
        usual = self.retriever if isinstance(retriever, str) else measuring.retriever(name, self.settings)
        self._label = _label(self.card, self.retriever, usual, _own_models(self.card, self.settings))
        self.identity: dict[str, Any] = {
            "benchmark": benchmark.card.name,
            "split": benchmark.card.split,
            "data_hash": benchmark.data_hash,
            "retriever": name,
            "configuration": dict(self.retriever.configuration),
        }
        self.run_id = run_id(shape=shape, **self.identity)
        self.identity["shape"] = str(shape)

    def entered(self, work: Work) -> WorkState:
        """Say what the retriever has prepared for a work."""
        return self._prepared(work.id, work.fingerprint)

    def still(self, entered: WorkState) -> bool:
        """Whether all of that is there as it was; more may have been prepared since."""
        return set(entered.index) <= set(self._prepared(entered.work_id, entered.fingerprint).index)

    def _prepared(self, work_id: str, fingerprint: str) -> WorkState:
        found = [
            manifest
            for part in self._parts
            if part.encoder_identity
            for manifest in index_files.manifests(self.settings.indexes, part.name, work_id)
            if (manifest["work"], manifest["encoder"]) == (fingerprint, part.encoder_identity)
        ]
        return WorkState(
            work_id=work_id,
            fingerprint=fingerprint,
            index=tuple(sorted(map(_content, found))),
            size=sum(entry["bytes"] for each in found for entry in each["arrays"].values()),
        )

    def finished(self, outcomes: tuple[Outcome, ...], state: Partial) -> Run:
        """Make the run of all its outcomes."""
        card = self.benchmark.card
        return Run(
            id=self.run_id,
            benchmark=card.name,
            split=card.split,
            pool=card.pool,
            data_hash=self.benchmark.data_hash,
            retriever=self.card.name,
            label=self._label,
            shape=self.shape,
            configuration=self.identity["configuration"],
            books=self.benchmark.books(),
            examples=len(outcomes),
            code=provenance.code(),
            machine=provenance.machine(),
            seconds=round(state.seconds, 6),
            index_bytes=sum(work.size for work in state.works.values()),
            created=datetime.now(UTC).replace(microsecond=0),
        )


def _own_models(card: RetrieverCard, settings: Settings) -> list[str]:
    """Name the models that are not those that come with the program, of a retriever and of what it is made of."""
    set_by = {"zero-shot": settings.model, "dense-relic": settings.trained}
    made_of = [each.name for each in registry.in_order([card.name])]
    own = [read_card(model).name for name, model in set_by.items() if model and name in made_of]
    if settings.reranker and "reranked" in made_of:
        own.append(open_reranker(settings.reranker).name)
    return own


def _label(card: RetrieverCard, retriever: Retriever, usual: Retriever, models: Sequence[str]) -> str:
    """Say what tables call a retriever, with what is not usual about it: its parameters, or the reader's own models."""
    usually = usual.configuration
    own = [f"{name} {value}" for name, value in retriever.configuration.items() if usually.get(name) != value]
    own = [*models, *own]
    return f"{card.label} ({', '.join(own)})" if own else card.label


def _content(manifest: Mapping[str, Any]) -> str:
    """Digest what an index holds, not when it was made: built again to the same content, it is the same."""
    arrays = sorted((name, entry["sha256"]) for name, entry in manifest["arrays"].items())
    facts = [manifest["retriever"], manifest["code"], arrays]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
