"""Preparing works for retrieval: what is built, and building it as a job."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

import numpy as np

from relic_core import engines
from relic_core.config import Settings
from relic_core.domain import (
    LENGTHS,
    MIN_LENGTH,
    Claim,
    Corpus,
    Job,
    Search,
    Work,
    WorkSummary,
    WorkVersion,
    rank_scores,
)
from relic_core.domain.figures import many
from relic_core.errors import BadClaim, BadWeights, JobCancelled, NotFound, RelicError, StoreBusy
from relic_core.ports import Combining, Compacting, CorpusRetriever, Progress, silent
from relic_core.retrieval import index_files, preparing, registry
from relic_core.retrieval.registry import RetrieverCard, Retrievers
from relic_core.retrieval.vectors import VectorSearch
from relic_core.services.jobs import Jobs
from relic_core.services.works import Works
from relic_core.text.masking import read_claim

_AT_ONCE = 3
"""So few works are each given their own job right away."""
_LOOK_SECONDS = 1.0
_ASKED = 200
"""Searches of the history that an approximate index is measured on."""

_LARGER = "read-by-larger"
"""The kind of job that has works read by the larger model."""


class _GivesWay(Exception):
    """Somebody has a work prepared: that comes before reading those that can be searched already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """An index of a work, as its manifest tells; one that does not fit the work or the encoder is kept, not used."""

    retriever: str
    encoder: str
    size: int
    created: datetime
    fits: bool


class Indexes:
    """What retrievers have prepared, and preparing more; `recent` gives the last searches, as many as asked for."""

    def __init__(
        self,
        retrievers: Retrievers,
        works: Works,
        jobs: Jobs,
        settings: Settings,
        recent: Callable[[int], Iterable[Search]],
    ) -> None:
        self._retrievers = retrievers
        self._works = works
        self._jobs = jobs
        self._settings = settings
        self._recent = recent

    def ready(self, work_id: str, name: str, *lengths: int) -> bool:
        """Whether a retriever would answer at once for a work; one whose model cannot be loaded would not.

        - `lengths`: of the passages asked for; every length where none is given.
        """
        work = self._works.load(work_id)
        try:
            return self._retrievers.answering([work.version], *lengths).get(name).ready(work, *(lengths or LENGTHS))
        except BadWeights:
            return False

    def models(self, works: Iterable[WorkSummary]) -> dict[str, str]:
        """Name by work the model that answers by meaning: "small" or "larger", empty for another.

        Works that none has read yet are left out; so are all where the model cannot be loaded.
        """
        found: dict[str, str] = {}
        versions = self._works.work_versions()
        known = [versions[work.id] for work in works if work.id in versions]
        for each in (self._retrievers.smaller, self._retrievers):
            retriever = None
            with suppress(BadWeights):
                retriever = each.get("dense-relic") if each else None
                lacking = retriever.missing(known, *LENGTHS) if isinstance(retriever, CorpusRetriever) else ()
            if each and retriever:
                found |= {work.id: each.model for work in known if work.id not in lacking}
        return found

    def warm(self) -> None:
        """Ask every retriever once in a work that is prepared, so that the first search finds all of them loaded."""
        for summary in self._works.summaries():
            if not self.missing(summary.id):
                work = self._works.load(summary.id)
                claim, one = Claim(left=work.title), rank_scores("", work.id, MIN_LENGTH, np.zeros(1, np.float32))
                retrievers = self._retrievers.answering([work.version])
                for card in retrievers.default():
                    retriever = retrievers.get(card.name)
                    if card.kind == "reranker" and isinstance(retriever, Combining):
                        retriever.combine(claim, Corpus.of(work), [one])  # a single passage loads what a hundred do
                    else:
                        retriever.score(claim, work, MIN_LENGTH)
                if retrievers is not self._retrievers:  # which takes over while the app runs
                    with suppress(BadWeights):
                        larger = self._retrievers.get("dense-relic")
                        if isinstance(larger, VectorSearch):
                            larger.claim_vector(claim)
                return

    def missing(self, work_id: str, also: Iterable[str] = ()) -> tuple[str, ...]:
        """Name the retrievers, the default ones and `also`, whose preparation takes long and is not done for a work.

        One whose model cannot be loaded is not among them: there is nothing to do about it here.
        """
        work, cards = self._works.load(work_id), self._dense(also)

        def missing(retrievers: Retrievers) -> tuple[str, ...]:
            names = []
            for card in cards:
                with suppress(BadWeights):
                    if not retrievers.get(card.name).ready(work, *LENGTHS):
                        names.append(card.name)
            return tuple(names)

        smaller = self._retrievers.smaller
        if smaller and not also and not missing(smaller):
            return ()  # without the files of the larger model, whose hashes take a moment
        return missing(self._retrievers.answering([work.version]))

    def _dense(self, also: Iterable[str] = ()) -> list[RetrieverCard]:
        """List the retrievers that have to read a work beforehand: the usual ones, and those named."""
        every = registry.in_order([*(card.name for card in self._retrievers.default()), *also])
        return [card for card in every if card.kind == "dense"]

    def unprepared(self, works: Iterable[WorkSummary], *lengths: int, also: Iterable[str] = ()) -> tuple[str, ...]:
        """Give the ids of works that a retriever as in `missing` has not read yet; no work is loaded for it.

        - `lengths`: as for `ready`.
        """
        work_versions = self._works.work_versions()
        known = [work_versions[work.id] for work in works if work.id in work_versions]
        retrievers = self._retrievers.answering(known, *lengths)
        lacking: set[str] = set()
        for card in self._dense(also):
            with suppress(BadWeights):
                retriever = retrievers.get(card.name)
                if card.library and isinstance(retriever, CorpusRetriever):
                    lacking.update(retriever.missing(known, *(lengths or LENGTHS)))
        return tuple(work.id for work in known if work.id in lacking)

    def library_due(self) -> bool:
        """Whether the library is too large for memory, and its compact index is still to be built or built anew."""
        works = tuple(self._works.work_versions().values())
        with suppress(BadWeights):
            return any(retriever.compact_due(works, MIN_LENGTH) for retriever in self._compacting(works))
        return False

    def built(self, work_id: str) -> tuple[Built, ...]:
        """List the indexes of a work on disk, the newest first."""
        work = self._works.load(work_id)
        found = []
        for card in self._retrievers.cards():
            manifests = index_files.manifests(self._settings.indexes, card.name, work_id)
            encoders = set()
            for each in (self._retrievers, self._retrievers.smaller) if manifests else ():
                with suppress(BadWeights):  # then none fits
                    encoders.add(each.get(card.name).encoder_identity if each else "")
            for manifest in manifests:
                built = Built(
                    retriever=card.name,
                    encoder=manifest["encoder"],
                    size=sum(entry["bytes"] for entry in manifest["arrays"].values()),
                    created=datetime.fromisoformat(manifest["created"]),
                    fits=manifest["work"] == work.reading and manifest["encoder"] in encoders,
                )
                found.append(built)
        return tuple(sorted(found, key=attrgetter("created"), reverse=True))

    def build(self, work_id: str, names: Sequence[str], progress: Progress) -> None:
        """Prepare a work here and now for the named retrievers, and for those by words, which takes hardly any time."""
        if self._settings.engine and names:
            for _, problem in self.build_many([work_id], names, progress):
                if problem:
                    raise RelicError(problem)
            return
        work = self._works.load(work_id)
        retrievers = self._retrievers.answering([work.version])
        for name in names:
            retrievers.get(name).prepare(work, progress)
        self._count_words(work, names)

    def _loadable(self, retrievers: Retrievers) -> Iterator[str]:
        """Name the usual retrievers that read a work beforehand and whose model can be loaded."""
        for card in self._dense():
            with suppress(BadWeights):
                if retrievers.get(card.name).encoder_identity:
                    yield card.name

    def _count_words(self, work: Work, names: Sequence[str]) -> None:
        for card in self._retrievers.cards():
            if card.kind == "lexical" and card.name not in names:
                self._retrievers.get(card.name).prepare(work, silent)

    def build_many(
        self, work_ids: Sequence[str], names: Sequence[str], progress: Progress
    ) -> Iterator[tuple[Work, str]]:
        """Prepare works on the engine of the settings, else in processes; parts of all of them together.

        - `names`: retrievers; the default ones whose model can be loaded where empty.

        Yields: each work when it is ready, or with what is wrong with it.
        """
        workers = engines.named(self._settings.engine, lost=preparing.lost) or engines.Processes(lost=preparing.lost)
        versions = self._works.work_versions()
        retrievers = self._retrievers.answering([versions[each] for each in work_ids if each in versions])
        made = [retrievers.get(card.name) for card in registry.in_order(names or self._loadable(retrievers))]
        dense = [each for each in made if isinstance(each, VectorSearch)]
        works = ((self._works.load(work_id), LENGTHS) for work_id in work_ids)
        sentences = sum(versions[work_id].sentences for work_id in work_ids if work_id in versions)
        for work, problem in preparing.prepare_works(
            dense, works, retrievers.settings, workers=workers, sentences=sentences, progress=progress
        ):
            for retriever in made:
                if not problem and retriever not in dense:
                    retriever.prepare(work, silent)
            self._count_words(work, names)
            yield work, problem

    def start(self, work_id: str, also: Iterable[str] = ()) -> Job:
        """Prepare a work in the background for every retriever that needs it, `also` for those named."""
        work = self._works.load(work_id)
        return self._jobs.start(
            "index",
            title=f"Preparing {work.title}",
            subject=work_id,
            arguments={"work_id": work_id, "retrievers": list(self.missing(work_id, also))},
        )

    def start_many(self, work_ids: Sequence[str], also: Sequence[str] = ()) -> Job:
        """Prepare works in the background, one after another; those that are prepared already are passed over."""
        count = len(work_ids)
        return self._jobs.start(
            "prepare",
            title="Preparing one more work" if count == 1 else f"Preparing {count} works",
            subject=hashlib.sha256("\n".join(sorted([*work_ids, *also])).encode()).hexdigest()[:12],
            arguments={"works": list(work_ids), "retrievers": list(also)},
        )

    def start_library(self) -> Job:
        """Build the compact index of the library in the background, where it is due; one job at a time."""
        return self._jobs.start("library", title="Preparing the library as a whole", subject="library")

    def resume(self) -> None:
        """Begin again what was killed while it prepared works or the library; called when the app starts."""
        for spec in self._jobs.killed("index", "prepare", "library"):
            with suppress(RelicError):  # the work was removed, or there is no room: it is prepared when searched
                if spec.kind == "index":
                    self.start(spec.subject, spec.arguments["retrievers"])
                elif spec.kind == "prepare":
                    self.start_many(spec.arguments["works"], spec.arguments.get("retrievers", ()))
                else:
                    self.start_library()

    def read_broken_words(self) -> None:
        """Have works that an earlier version prepared prepared anew where models now read broken words whole."""
        if found := [work_id for work_id in self._works.find_broken_words() if self.built(work_id)]:
            self.start_many(found)

    @property
    def in_use(self) -> Indexes:
        """The same of the model in use alone, which leaves no work to a smaller one."""
        found = copy(self)
        found._retrievers = self._retrievers.in_use  # noqa: SLF001 - of the same class
        return found

    def read_by_larger(self) -> None:
        """Have the larger model, if it is the one in use, read in the background what the small one has read."""
        if self._retrievers.smaller and self._left_to_smaller(self._works.summaries()):
            self._jobs.start(_LARGER, title="Reading works by the larger model", subject=_LARGER)

    def run_read_by_larger(self, progress: Progress) -> str:
        """Do the job: have the larger model read works one by one. What cannot be searched at all comes before them.

        The small model answers for a work until its index is there.
        """
        in_use, read = self.in_use, 0
        failed: dict[str, str] = {}
        while True:
            lacking = [work for work in self._left_to_smaller(self._works.summaries()) if work.id not in failed]
            if not lacking:
                break
            while others := self._others():
                progress(0, 0, f"{others[0].title} comes first")
                self._jobs.wait(others[0].id, _LOOK_SECONDS)
            work = lacking[0]
            report = self._giving_way(progress, f"{work.title}, {read + 1} of {read + len(lacking)}")
            try:
                in_use.build(work.id, in_use.missing(work.id), report)
                read += 1
            except (_GivesWay, NotFound):
                continue
            except JobCancelled:
                raise
            except RelicError as error:
                failed[work.id] = f"{work.title}: {error}"
        if self.library_due():
            self.start_library()
        return " ".join([f"{many(read, 'work was', 'works were')} read.", *failed.values()])

    def _left_to_smaller(self, works: Sequence[WorkSummary]) -> list[WorkSummary]:
        """List the works that the small model answers for; none where the larger one cannot be loaded."""
        models, lacking = self.models(works), self.in_use.unprepared(works)
        return [work for work in works if work.id in lacking and models.get(work.id) == "small"]

    def _giving_way(self, progress: Progress, message: str) -> Progress:
        """Report progress with a note of our own, and raise _GivesWay where something comes first."""
        looked = time.monotonic()

        def report(done: int, total: int, note: str = "") -> None:  # noqa: ARG001 - the port's
            nonlocal looked
            progress(done, total, message)
            if time.monotonic() - looked > _LOOK_SECONDS:
                looked = time.monotonic()
                if self._others():
                    raise _GivesWay

        return report

    def _others(self) -> list[Job]:
        """List the jobs that prepare a work which cannot be searched by meaning yet."""
        found = []
        for job in self._jobs.under_way("index"):
            with suppress(NotFound):
                found += [job] if self.missing(job.subject) else []
        return found

    def build_library(self, progress: Progress) -> None:
        """Build the compact index of the library where it is due, on the engine of the settings or here.

        What it finds is measured on the claims that were searched with, beside questions that it makes up.
        """
        works = tuple(self._works.work_versions().values())
        claims = self._asked()
        for retriever in self._compacting(works):
            retriever.build_compact(works, progress, claims=claims, workers=engines.named(self._settings.engine))

    def _asked(self) -> tuple[Claim, ...]:
        max_words = self._settings.max_claim_words
        claims: dict[Claim, None] = {}
        for search in self._recent(_ASKED):
            with suppress(BadClaim):  # no claim but a passage, or one made under other settings
                claims[read_claim(search.request.claim_text, max_words=max_words)] = None
        return tuple(claims)

    def _compacting(self, works: Sequence[WorkVersion]) -> list[Compacting]:
        """List what answers from a compact index where works are together too large for memory."""
        retrievers = self._retrievers.answering(works)
        made = [retrievers.get(card.name) for card in self._dense()]
        return [retriever for retriever in made if isinstance(retriever, Compacting)]

    def run_index(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Do an "index" job: prepare one work, ``work_id``, for ``retrievers``."""
        self.build(arguments["work_id"], arguments["retrievers"], progress)
        self.read_by_larger()
        return "Ready to search."

    def run_library(self, progress: Progress) -> str:
        """Do a "library" job: build the compact index of the library."""
        self.build_library(progress)
        return "The library is ready to be searched as a whole."

    def run_prepare(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Do a "prepare" job: have works prepared one by one; one that fails does not stop the rest.

        A reader who has another work prepared meanwhile comes first: this job stops its own index, which goes on later
        where it was, and waits. Of works that are ready the words alone are read, which earlier versions did not keep.
        Where the library has become too large for memory, its compact index is begun at the end.

        - `arguments`: ``works``, a list of ids; ``retrievers``, those to prepare them for beside the default ones.
        """
        ids: Iterable[str] = arguments["works"]
        also: Sequence[str] = arguments.get("retrievers", ())
        works = {summary.id: summary.title for summary in self._works.summaries()}
        wanted = [work_id for work_id in ids if work_id in works]  # the others were removed meanwhile
        ready, failures = 0, []
        for done, work_id in enumerate(wanted):

            def say(note: str, *, done: int = done) -> None:
                progress(done, len(wanted), note)

            try:
                if not self.missing(work_id, also):
                    self.build(work_id, (), silent)
                    ready += 1
                    continue
                job = self._prepare(work_id, works[work_id], also, say)
            except NotFound:
                continue  # removed meanwhile
            if job.state == "failed":
                failures.append(f"{works[work_id]}: {job.note}")
            ready += job.state == "done"
        progress(len(wanted), len(wanted), "")
        if self.library_due():
            self.start_library()
        return " ".join([f"{many(ready, 'work is', 'works are')} ready to search.", *failures])

    def _prepare(self, work_id: str, title: str, also: Sequence[str], say: Callable[[str], None]) -> Job:
        """Have one work prepared and wait for it, behind whatever somebody else has asked for."""
        while True:
            say(f"Preparing {title}")
            while others := self._jobs.under_way("index"):
                say(f"{others[0].title} comes first")
                self._jobs.wait(others[0].id, _LOOK_SECONDS)
            job = self.start(work_id, also)
            gave_way = False
            while job.active:
                say(f"Preparing {title}")
                waiting = [other.id for other in self._jobs.under_way("index") if other.id != job.id]
                if waiting and not gave_way:
                    gave_way = True
                    self._jobs.cancel(job.id, waiting[0])
                job = self._jobs.wait(job.id, _LOOK_SECONDS)
            if not (gave_way and job.state == "cancelled"):
                return job


class Preparing:
    """Works that wait to be prepared while others are being added.

    Index jobs run one at a time. Of a whole shelf at most one is under way or waiting, and it is begun only where
    nobody else's is. `expected`: how many works there will be.
    """

    def __init__(self, indexes: Indexes, jobs: Jobs, expected: int) -> None:
        self._indexes = indexes
        self._jobs = jobs
        self._one_by_one = expected > _AT_ONCE
        self._waiting: deque[str] = deque()

    def add(self, work_id: str) -> None:
        """Take a work: its index is begun now, or when that of the one before has ended."""
        if self._one_by_one:
            self._waiting.append(work_id)
            with suppress(StoreBusy):  # it still waits, and is begun with the next or by a job of its own
                self.go_on()
        else:
            self._indexes.start(work_id)

    def go_on(self) -> None:
        """Begin the next index, unless one is still being built; a work that was removed meanwhile is passed over."""
        if self._jobs.under_way("index"):
            return
        begun = False
        while self._waiting and not begun:
            with suppress(NotFound):
                self._indexes.start(self._waiting[0])
                begun = True
            self._waiting.popleft()

    def start_waiting(self) -> None:
        """Leave what still waits to a job of its own."""
        if self._waiting:
            self._indexes.start_many(list(self._waiting))
            self._waiting.clear()
