"""Preparing works for retrieval: which retrievers there are, what is built, and building it as a job."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from relic_core.domain import MIN_LENGTH, Claim
from relic_core.errors import BadWeights
from relic_core.retrieval import index_files, registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Job
    from relic_core.ports import Progress, Retriever
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.services.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """An index of a work, as its manifest tells.

    Attributes
    ----------
    retriever : str
        The retriever's registered name.
    encoder : str
        Identity of the encoder that made it.
    size : int
        On disk, in bytes.
    created : datetime
        In UTC.
    fits : bool
        Whether it was made of the work as it is now stored and by the encoder now used; one that does not fit is kept
        and not used.
    """

    retriever: str
    encoder: str
    size: int
    created: datetime
    fits: bool


class Indexes:
    """The retrievers of a workbench and what they have prepared."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._retrievers: dict[str, Retriever] = {}
        self._lock = threading.Lock()

    def cards(self) -> tuple[RetrieverCard, ...]:
        """List the retrievers that pages offer, in the order of their columns."""
        return tuple(card for card in registry.cards() if card.shown)

    def card(self, name: str) -> RetrieverCard:
        """Describe one retriever.

        Raises
        ------
        BadRequest
            No retriever has that name.
        """
        return registry.card(name)

    def retriever(self, name: str) -> Retriever:
        """Give the one instance of a retriever, made on first use and shared by all threads."""
        with self._lock:
            return registry.create(name, settings=self._workbench.settings, made=self._retrievers)

    def ready(self, work_id: str, name: str, *, length: int = MIN_LENGTH) -> bool:
        """Whether a retriever would answer at once for a work; one whose model cannot be loaded would not."""
        try:
            return self.retriever(name).ready(self._workbench.works.load(work_id), length)
        except BadWeights:
            return False

    def warm(self) -> None:
        """Ask every retriever once in a work that is prepared, so that the first search finds all of them loaded."""
        for summary in self._workbench.works.summaries():
            if not self.missing(summary.id):
                work = self._workbench.works.load(summary.id)
                for card in self.cards():
                    self.retriever(card.name).score(Claim(left=work.title), work, MIN_LENGTH)
                return

    def missing(self, work_id: str) -> tuple[str, ...]:
        """Name the retrievers whose preparation takes long and has not been done for a work.

        One whose model cannot be loaded is not among them: there is nothing to do about it here.
        """
        work = self._workbench.works.load(work_id)
        names = []
        for card in self.cards():
            if card.kind == "dense":
                with suppress(BadWeights):
                    if not self.retriever(card.name).ready(work, MIN_LENGTH):
                        names.append(card.name)
        return tuple(names)

    def built(self, work_id: str) -> tuple[Built, ...]:
        """List the indexes of a work on disk, the newest first.

        Raises
        ------
        NotFound
            No work has that id.
        """
        work = self._workbench.works.load(work_id)
        found = []
        for card in self.cards():
            manifests = index_files.manifests(self._workbench.settings.indexes, card.name, work_id)
            encoder = ""
            with suppress(BadWeights):  # then none fits
                encoder = self.retriever(card.name).encoder_identity if manifests else ""
            found += [
                Built(
                    retriever=card.name,
                    encoder=manifest["encoder"],
                    size=sum(entry["bytes"] for entry in manifest["arrays"].values()),
                    created=datetime.fromisoformat(manifest["created"]),
                    fits=(manifest["work"], manifest["encoder"]) == (work.fingerprint, encoder),
                )
                for manifest in manifests
            ]
        return tuple(sorted(found, key=attrgetter("created"), reverse=True))

    def build(self, work_id: str, names: Sequence[str], progress: Progress) -> None:
        """Prepare a work for the named retrievers, here and now.

        Raises
        ------
        BadRequest
            No retriever has that name.
        NotFound
            No work has that id.
        """
        work = self._workbench.works.load(work_id)
        for name in names:
            self.retriever(name).prepare(work, progress)

    def start(self, work_id: str) -> Job:
        """Prepare a work in the background for every retriever that needs it; one job per work at a time."""
        work = self._workbench.works.load(work_id)
        return self._workbench.jobs.start(
            "index",
            title=f"Preparing {work.title}",
            subject=work_id,
            arguments={"work_id": work_id, "retrievers": list(self.missing(work_id))},
        )


def run_index(workbench: Workbench, arguments: dict[str, Any], progress: Progress) -> str:
    """Do an "index" job: prepare one work for some retrievers.

    Parameters
    ----------
    workbench : Workbench
        Where the work is.
    arguments : dict
        ``work_id`` and ``retrievers``.
    progress : Progress
        Told how far it has come.
    """
    workbench.indexes.build(arguments["work_id"], arguments["retrievers"], progress)
    return "Ready to search."
