"""What an answer is made with now that it was not made with then, in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.domain.sharing import ModelFingerprints
from relic_core.errors import BadRequest
from relic_core.retrieval import registry
from relic_core.services.sharing.digests import MODEL

if TYPE_CHECKING:
    from collections.abc import Sequence

_EDITION = re.compile(r"[0-9a-f]{8}")
_MAKERS = re.compile(r"(?:[0-9a-f]{8}|-)(?:\.(?:[0-9a-f]{8}|-)){0,19}")
_NONE = "-"
"""Stands for a retriever whose model could not be loaded."""


def written(makers: ModelFingerprints, retrievers: Sequence[str]) -> dict[str, str]:
    """Write what made an answer for an address: ``w``, the edition, and ``m``, each retriever in the search's order.

    >>> written(ModelFingerprints(edition="0a1b2c3d", retrievers={"bm25": "00009f8e"}), ["bm25", "dense-relic"])
    {'w': '0a1b2c3d', 'm': '00009f8e.-'}
    """
    said = {"w": makers.edition, "m": ".".join(makers.retrievers.get(name) or _NONE for name in retrievers)}
    return {name: value for name, value in said.items() if value}


def read(edition: str, makers: str, retrievers: Sequence[str]) -> ModelFingerprints:
    """Read what `written` wrote; either may be empty, of an address that does not say it.

    Raises BadRequest: it cannot be read, or is of another search.
    """
    parts = makers.split(".") if makers else []
    whole = (not edition or _EDITION.fullmatch(edition)) and (not makers or _MAKERS.fullmatch(makers))
    if not whole or (parts and len(parts) != len(retrievers)):
        raise BadRequest(
            "The part of this address that says what it was made with cannot be read: it was cut short or changed. The "
            "search itself is the one that it names; whether the answer is the same cannot be said."
        )
    by_name = {name: part for name, part in zip(retrievers, parts, strict=bool(parts)) if part != _NONE}
    return ModelFingerprints(edition=edition, retrievers=by_name)


def is_edition(written: str) -> bool:
    """Whether something may be what an address says of an edition."""
    return _EDITION.fullmatch(written) is not None


def differences(then: ModelFingerprints, now: ModelFingerprints, *, title: str, since: str) -> tuple[str, ...]:
    """Say in plain words what an answer is made with now that it was not made with then.

    - `then`, `now`: what is not known of either is not compared.
    - `title`: of the work searched; empty for the library.
    - `since`: since when: "this address was made".

    Returns: one sentence each; empty where nothing differs.

    >>> then = ModelFingerprints(retrievers={"bm25": "00001111", "dense-relic": "aaaa2222"})
    >>> now = ModelFingerprints(retrievers={"bm25": "00001111", "dense-relic": "bbbb3333"})
    >>> for said in differences(then, now, title="Emma", since="this address was made"):
    ...     print(said.split(",")[0])
    dense-RELiC has been taught anew
    """
    said = []
    if then.edition and now.edition and then.edition != now.edition:
        said.append(
            f"The sentences of {title} have been cut anew since {since}: passages may begin and end elsewhere, and "
            "rank otherwise."
            if title
            else f"The works searched are not the same as when {since}: works were added or removed, or stand here in "
            "other editions."
        )
    both = [name for name in then.retrievers if now.retrievers.get(name) and then.retrievers[name]]
    taught = [name for name in both if then.retrievers[name][:MODEL] != now.retrievers[name][:MODEL]]
    counted = [name for name in both if name not in taught and then.retrievers[name] != now.retrievers[name]]
    if taught:
        one = len(taught) == 1
        said.append(
            f"{_labels(taught)} {'has' if one else 'have'} been taught anew, or another model was chosen for "
            f"{'it' if one else 'them'}, since {since}: {'it' if one else 'they'} may rank other passages first."
        )
    if counted:
        one = len(counted) == 1
        said.append(
            f"{_labels(counted)} {'goes' if one else 'go'} by other rules than when {since}, as another version of the "
            "program or another setting brings them: ranks may differ."
        )
    return tuple(said)


def known(retrievers: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part the names of retrievers into those there are, each once, and those there are not."""
    names = {card.name for card in registry.cards()}
    return (
        tuple(dict.fromkeys(name for name in retrievers if name in names)),
        tuple(dict.fromkeys(name for name in retrievers if name not in names)),
    )


def _labels(names: Sequence[str]) -> str:
    labels = [registry.card(name).label for name in names]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"
