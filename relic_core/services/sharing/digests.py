"""What an answer hangs on beside the question, in digests short enough for an address."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.domain.sharing import ModelFingerprints
from relic_core.errors import BadWeights
from relic_core.retrieval import registry

if TYPE_CHECKING:
    from relic_core.domain import Work, WorkFilter
    from relic_core.services.answers import SearchRequest
    from relic_core.wiring import App

MODEL = 4
"""Hex digits that name the models of a retriever; as many more name its rules, index and model together."""
_EDITION = 8
_NO_MODEL = "0" * MODEL


def makers_of(app: App, request: SearchRequest, work: Work | None = None) -> ModelFingerprints:
    """Name what would answer a request here and now. No work is loaded for it.

    - `app`: where it would be asked.
    - `work`: the work searched, where it is at hand: the store is then not looked at.
    """
    return ModelFingerprints(
        edition=work.fingerprint[:_EDITION] if work else edition_of(app, request.work_id, request.narrowing),
        retrievers={name: maker_of(app, name) for name in request.retrievers},
        version=__version__,
    )


def edition_of(app: App, work_id: str, narrowing: WorkFilter) -> str:
    """Name the text of a work and how it is cut into sentences, or those of all works that a narrowing admits.

    Returns: eight hex digits; empty where the work is not there.
    """
    imprints = app.works.imprints()
    if work_id:
        return imprints[work_id].fingerprint[:_EDITION] if work_id in imprints else ""
    admitted = [work.id for work in app.works.scope(narrowing) if work.id in imprints]
    return _digest(sorted(imprints[each].fingerprint for each in admitted))[:_EDITION]


def maker_of(app: App, name: str) -> str:
    """Name a retriever by its models, and by all that decides its scores: eight hex digits.

    The first half changes with a model alone, so that a page can tell a model taught anew from a rule that a new
    version of the program changed. Empty where its model cannot be loaded, which its column says.
    """
    with suppress(BadWeights):
        models = _models(app, name)
        rules = dict(app.indexes.retriever(name).configuration)
        return (_digest(models)[:MODEL] if models else _NO_MODEL) + _digest(sorted(rules.items()))[:MODEL]
    return ""


def _models(app: App, name: str) -> list[str]:
    """Name the models that have a part in a retriever by what they are, the same on every machine.

    Raises BadWeights: one of them cannot be loaded.
    """
    found = []
    for card in registry.in_order([name]):
        retriever = app.indexes.retriever(card.name)
        found.append(retriever.encoder_identity)
        if card.kind == "reranker":
            facts = retriever.configuration
            found += [facts["reranker reranker"], facts.get("reranker weights", "")]
    return [each for each in dict.fromkeys(found) if each]


def _digest(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
