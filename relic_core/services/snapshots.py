"""What an answer depends on besides the question, in short digests; and the first passages it found, with them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from relic_core import __version__
from relic_core.domain import EVERYWHERE, Hit, Search, SearchRequest, Work, WorkFilter, WorkVersion
from relic_core.domain.searches import ModelFingerprints, TopKHit, TopKSnapshot
from relic_core.errors import BadWeights
from relic_core.retrieval import registry
from relic_core.retrieval.registry import Retrievers
from relic_core.services.search import SearchResult
from relic_core.services.works import Works
from relic_core.store.searches import TopKSnapshotRows

_MODEL = 4
"""Hex digits that name the models of a retriever; as many more name its rules, index and model together."""
_EDITION = 8
_NO_MODEL = "0" * _MODEL

_REMEMBERED = 1_000
"""Searches of which is known, without a look at the store, what is kept."""


class Fingerprints:
    """Names what would answer here and now; no work is loaded for it."""

    def __init__(self, retrievers: Retrievers, works: Works) -> None:
        self._retrievers = retrievers
        self._works = works

    def of(self, request: SearchRequest, work: Work | None = None) -> ModelFingerprints:
        """Name what would answer a request; where its work is at hand the store is not looked at."""
        return ModelFingerprints(
            edition=work.fingerprint[:_EDITION] if work else self.edition(request.work_id, request.work_filter),
            retrievers=self._versions_of(request, work),
            version=__version__,
        )

    def _versions_of(self, request: SearchRequest, work: Work | None) -> dict[str, str]:
        versions: Sequence[WorkVersion]
        if work or request.work_id:
            known = work.version if work else self._works.work_versions().get(request.work_id)
            versions = [known] if known else []
        else:
            versions = [version for _, version in self._works.admitted(request.work_filter)]
        retrievers = self._retrievers.answering(versions, request.sentences)
        whole = sorted(version.reading for version in versions if version.reading != version.fingerprint)
        return {name: _maker(name, retrievers, whole) for name in request.retrievers}

    def edition(self, work_id: str, work_filter: WorkFilter = EVERYWHERE) -> str:
        """Name the text of a work and how it is cut, or those of all that a filter admits, in eight hex digits."""
        if work_id:
            versions = self._works.work_versions()
            return versions[work_id].fingerprint[:_EDITION] if work_id in versions else ""
        return _digest(sorted(version.fingerprint for _, version in self._works.admitted(work_filter)))[:_EDITION]

    def changes(self, request: SearchRequest, then: ModelFingerprints, *, since: str) -> tuple[str, ...]:
        """Say what would answer a request now that did not then: see `differences`."""
        title = ""
        if request.work_id:
            title = next((work.title for work in self._works.summaries() if work.id == request.work_id), "the work")
        return differences(then, self.of(request), title=title, since=since)


def _maker(name: str, retrievers: Retrievers, whole: Sequence[str]) -> str:
    """Name a retriever by its models, and by all that decides its scores: eight hex digits.

    - `whole`: the readings of works of which models read broken words whole.

    The first half changes with a model alone, so that a page can tell a model trained anew from a rule that a new
    version of the program changed. Empty where its model cannot be loaded, which its column says.
    """
    with suppress(BadWeights):
        models = _models(name, retrievers)
        rules = dict(retrievers.get(name).configuration)
        if models and whole:
            rules["broken words"] = _digest(whole)
        return (_digest(models)[:_MODEL] if models else _NO_MODEL) + _digest(sorted(rules.items()))[:_MODEL]
    return ""


def _models(name: str, retrievers: Retrievers) -> list[str]:
    """Name the models that have a part in a retriever by what they are, the same on every machine."""
    found = []
    for card in registry.in_order([name]):
        retriever = retrievers.get(card.name)
        found.append(retriever.encoder_identity)
        if card.kind == "reranker":
            facts = retriever.configuration
            found += [facts["reranker reranker"], facts.get("reranker weights", "")]
    return [each for each in dict.fromkeys(found) if each]


def differences(then: ModelFingerprints, now: ModelFingerprints, *, title: str, since: str) -> tuple[str, ...]:
    """Say in plain words what an answer is made with now that it was not made with then.

    What is not known of either is not compared. `title`: of the work searched; empty for the library.

    >>> then = ModelFingerprints(retrievers={"bm25": "00001111", "dense-relic": "aaaa2222"})
    >>> now = ModelFingerprints(retrievers={"bm25": "00001111", "dense-relic": "bbbb3333"})
    >>> for sentence in differences(then, now, title="Emma", since="this address was made"):
    ...     print(sentence.split(",")[0])
    dense-RELiC has been trained anew
    """
    sentences = []
    if then.edition and now.edition and then.edition != now.edition:
        sentences.append(
            f"The sentences of {title} have been cut anew since {since}: passages may begin and end elsewhere, and "
            "rank otherwise."
            if title
            else f"The works searched are not the same as when {since}: works were added or removed, or are here in "
            "other editions."
        )
    both = [name for name in then.retrievers if now.retrievers.get(name) and then.retrievers[name]]
    trained = [name for name in both if then.retrievers[name][:_MODEL] != now.retrievers[name][:_MODEL]]
    counted = [name for name in both if name not in trained and then.retrievers[name] != now.retrievers[name]]
    if trained:
        one = len(trained) == 1
        sentences.append(
            f"{_labels(trained)} {'has' if one else 'have'} been trained anew, or another model was chosen for "
            f"{'it' if one else 'them'}, since {since}: {'it' if one else 'they'} may rank other passages first."
        )
    if counted:
        one = len(counted) == 1
        sentences.append(
            f"{_labels(counted)} {'goes' if one else 'go'} by other rules than when {since}, as another version of the "
            "program or another setting brings them: ranks may differ."
        )
    return tuple(sentences)


def _labels(names: Sequence[str]) -> str:
    labels = [registry.card(name).label for name in names]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def _digest(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


class Snapshots:
    """Keeps the first passages of searches, where what made them differs from the last kept."""

    def __init__(self, rows: TopKSnapshotRows, fingerprints: Fingerprints) -> None:
        self._rows = rows
        self._fingerprints = fingerprints
        self._remembered: dict[str, tuple[tuple[str, tuple[str, str, str]], ...]] = {}
        self._lock = threading.Lock()

    def of(self, search: Search) -> tuple[tuple[datetime, TopKSnapshot], ...]:
        """List what is kept of what a search found, the oldest first."""
        return self._rows.of(search.id, length=search.request.sentences)

    def made(self, search_id: str, request: SearchRequest) -> ModelFingerprints:
        """Name what found the passages that were kept last of a search; what would answer now, where none were."""
        now = self._fingerprints.of(request)
        for _, snapshot in self._rows.of(search_id, length=request.sentences):  # the oldest first
            if snapshot.retriever in now.retrievers:
                retrievers = {**now.retrievers, snapshot.retriever: snapshot.maker}
                now = ModelFingerprints(edition=snapshot.edition, retrievers=retrievers, version=snapshot.version)
        return now

    def keep(self, search_id: str, result: SearchResult) -> int:
        """Keep the first passages of each column, where what made them differs from the last kept; say of how many.

        Nothing is kept while a column is still to come. Asked again with nothing changed it costs no look at the store.
        """
        if any(column.pending or column.waiting for column in result.columns):
            return 0
        snapshots = self.take(result)
        made = tuple((snapshot.retriever, snapshot.made_with) for snapshot in snapshots)
        with self._lock:
            if self._remembered.get(search_id) == made:
                return 0
        kept = self._rows.add(search_id, snapshots)
        with self._lock:
            self._remembered[search_id] = made
            while len(self._remembered) > _REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
        return kept

    def take(self, result: SearchResult) -> tuple[TopKSnapshot, ...]:
        """Give the first passages of each column that has answered, with what made them."""
        made = self._fingerprints.of(result.request, result.work)
        snapshots = []
        for column in result.columns:
            if column.answered:
                taken = TopKSnapshot(
                    retriever=column.retriever,
                    length=result.request.sentences,
                    edition=made.edition,
                    maker=made.retrievers[column.retriever],
                    version=made.version,
                    hits=tuple(_hit(each, result) for each in column.top_k),
                )
                snapshots.append(taken)
        return tuple(snapshots)


def _hit(hit: Hit, result: SearchResult) -> TopKHit:
    start = end = 0
    if result.work is not None:
        start, end = result.work.span_offsets(hit.span)
    return TopKHit(hit.work_id, hit.span.start, hit.rank, hit.score, start, end)
