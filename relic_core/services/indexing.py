"""Preparing works for retrieval: which retrievers there are, what is built, and building it as a job."""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from relic_core.domain import MIN_LENGTH, Claim
from relic_core.errors import BadClaim, BadWeights
from relic_core.ports import Compacting, silent
from relic_core.retrieval import index_files, registry
from relic_core.services.models import described, own_models
from relic_core.text.masking import read_claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relic_core.domain import Job, WorkSummary
    from relic_core.ports import LibraryRetriever, Progress, Retriever
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.wiring import App

_ASKED = 200
"""Searches of the history that an approximate index is measured on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """An index of a work, as its manifest tells.

    - `size`: on disk, in bytes.
    - `fits`: whether it was made of the work as it is now stored and by the encoder now used; one that does not fit is
      kept and not used.
    """

    retriever: str
    encoder: str
    size: int
    created: datetime
    fits: bool


class Indexes:
    """The retrievers of an app and what they have prepared."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._retrievers: dict[str, Retriever] = {}
        self._libraries: dict[str, LibraryRetriever] = {}
        self._own = own_models(app.settings.data, app.named_models)
        self._lock = threading.Lock()

    def cards(self) -> tuple[RetrieverCard, ...]:
        """List the retrievers that pages offer, in the order of their columns; each by its own model."""
        return tuple(described(card, self._own) for card in registry.cards() if card.shown)

    def usual(self) -> tuple[RetrieverCard, ...]:
        """List those of them that every work is prepared for, and every search asks."""
        return tuple(card for card in self.cards() if card.usual)

    def card(self, name: str) -> RetrieverCard:
        """Describe one retriever; one with a model that was trained here by that model's name.

        Raises BadRequest: no retriever has that name.
        """
        return described(registry.card(name), self._own)

    def model(self, name: str, identity: str) -> str:
        """Name the model of a retriever with its identity: one that was trained here by its name and date, too."""
        return f"{self._own[name][1]} ({identity})" if name in self._own else identity

    def retriever(self, name: str) -> Retriever:
        """Give the one instance of a retriever, made on first use and shared by all threads."""
        with self._lock:
            return registry.create(name, settings=self._app.settings, made=self._retrievers)

    def library_retriever(self, name: str) -> LibraryRetriever:
        """Give the one instance of what searches many works at once for a retriever.

        Raises BadRequest: no retriever has that name, or it searches single works only.
        """
        with self._lock:
            return registry.create_library(
                name,
                settings=self._app.settings,
                made=self._retrievers,
                load=self._app.works.load,
                libraries=self._libraries,
            )

    def ready(self, work_id: str, name: str, *, length: int = MIN_LENGTH) -> bool:
        """Whether a retriever would answer at once for a work; one whose model cannot be loaded would not."""
        try:
            return self.retriever(name).ready(self._app.works.load(work_id), length)
        except BadWeights:
            return False

    def warm(self) -> None:
        """Ask every retriever once in a work that is prepared, so that the first search finds all of them loaded."""
        for summary in self._app.works.summaries():
            if not self.missing(summary.id):
                work = self._app.works.load(summary.id)
                for card in self.usual():
                    self.retriever(card.name).score(Claim(left=work.title), work, MIN_LENGTH)
                return

    def missing(self, work_id: str, also: Iterable[str] = ()) -> tuple[str, ...]:
        """Name the retrievers whose preparation takes long and has not been done for a work.

        One whose model cannot be loaded is not among them: there is nothing to do about it here.

        - `also`: retrievers to look at beside the usual ones.
        """
        work = self._app.works.load(work_id)
        names = []
        for card in self._dense(also):
            with suppress(BadWeights):
                if not self.retriever(card.name).ready(work, MIN_LENGTH):
                    names.append(card.name)
        return tuple(names)

    def _dense(self, also: Iterable[str] = ()) -> list[RetrieverCard]:
        """List the retrievers that have to read a work beforehand: the usual ones, and those named."""
        every = registry.in_order([*(card.name for card in self.usual()), *also])
        return [card for card in every if card.kind == "dense"]

    def unprepared(
        self, works: Iterable[WorkSummary], *, length: int = MIN_LENGTH, also: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Give the ids of works that a retriever by meaning has not read yet; no work is loaded for it.

        One whose model cannot be loaded lacks none: there is nothing to do about it here. `also` as in `missing`.
        """
        imprints = self._app.works.imprints()
        known = [imprints[work.id] for work in works if work.id in imprints]
        lacking: set[str] = set()
        for card in self._dense(also):
            if card.library:
                with suppress(BadWeights):
                    lacking.update(self.library_retriever(card.name).missing(known, length))
        return tuple(work.id for work in known if work.id in lacking)

    def library_due(self) -> bool:
        """Whether the library is too large for memory, and its compact index is still to be built or built anew."""
        works = tuple(self._app.works.imprints().values())
        with suppress(BadWeights):
            return any(retriever.compact_due(works, MIN_LENGTH) for retriever in self._compacting())
        return False

    def built(self, work_id: str) -> tuple[Built, ...]:
        """List the indexes of a work on disk, the newest first.

        Raises NotFound: no work has that id.
        """
        work = self._app.works.load(work_id)
        found = []
        for card in self.cards():
            manifests = index_files.manifests(self._app.settings.indexes, card.name, work_id)
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
        """Prepare a work for the named retrievers, here and now; and for those by words, which takes no time beside it.

        Raises BadRequest: no retriever has that name.
        Raises NotFound: no work has that id.
        """
        work = self._app.works.load(work_id)
        for name in names:
            self.retriever(name).prepare(work, progress)
        for card in self.cards():
            if card.kind == "lexical" and card.name not in names:
                self.retriever(card.name).prepare(work, silent)

    def start(self, work_id: str, also: Iterable[str] = ()) -> Job:
        """Prepare a work in the background for every retriever that needs it; one job per work at a time.

        `also` names retrievers beside the usual ones.
        """
        work = self._app.works.load(work_id)
        return self._app.jobs.start(
            "index",
            title=f"Preparing {work.title}",
            subject=work_id,
            arguments={"work_id": work_id, "retrievers": list(self.missing(work_id, also))},
        )

    def start_many(self, work_ids: Sequence[str], also: Sequence[str] = ()) -> Job:
        """Prepare works in the background, one after another; those that are prepared already are passed over.

        `also` names retrievers beside the usual ones.
        """
        count = len(work_ids)
        return self._app.jobs.start(
            "prepare",
            title="Preparing one more work" if count == 1 else f"Preparing {count} works",
            subject=hashlib.sha256("\n".join(sorted([*work_ids, *also])).encode()).hexdigest()[:12],
            arguments={"works": list(work_ids), "retrievers": list(also)},
        )

    def start_library(self) -> Job:
        """Build the compact index of the library in the background, where it is due; one job at a time."""
        return self._app.jobs.start("library", title="Preparing the library as a whole", subject="library")

    def build_library(self, progress: Progress) -> None:
        """Build the compact index of the library where it is due, here and now.

        What it finds is measured on the claims that were searched with, beside questions that it makes up.

        Raises BadWeights: the model cannot be loaded.
        Raises StaleIndex: the index of a work was found to be damaged.
        Raises StoreReadOnly: the folder of indexes cannot be written.
        """
        works = tuple(self._app.works.imprints().values())
        claims = self._asked()
        for retriever in self._compacting():
            retriever.prepare(works, progress, claims=claims)

    def _asked(self) -> tuple[Claim, ...]:
        """List the last claims that were searched with, each once."""
        max_words = self._app.settings.max_claim_words
        claims: dict[Claim, None] = {}
        for search in self._app.history.recent(_ASKED):
            with suppress(BadClaim):  # no claim but a passage, or one made under other settings
                claims[read_claim(search.claim_text, max_words=max_words)] = None
        return tuple(claims)

    def _compacting(self) -> list[Compacting]:
        """List what answers from a compact index where works are together too large for memory."""
        made = [self.library_retriever(card.name) for card in self._dense() if card.library]
        return [retriever for retriever in made if isinstance(retriever, Compacting)]


def run_index(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do an "index" job: prepare one work for some retrievers.

    - `app`: where the work is.
    - `arguments`: ``work_id`` and ``retrievers``.
    - `progress`: told how far it has come.
    """
    app.indexes.build(arguments["work_id"], arguments["retrievers"], progress)
    return "Ready to search."


def run_library(app: App, arguments: dict[str, Any], progress: Progress) -> str:  # noqa: ARG001 - as of every job
    """Do a "library" job: build the compact index of the library.

    - `app`: where the works are.
    - `progress`: told how far it has come.
    """
    app.indexes.build_library(progress)
    return "The library is ready to be searched as a whole."
