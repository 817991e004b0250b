"""Leakage: does what is marked for training share anything with what is measured? A check that trusts no mark.

Where `relic_core.mining.splits` asks by hashes of its own, this asks by the sha256 of each run of eight words as it is
written, and where something is shared it says what, and where it stands. So a fault of the one does not hide in the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
import numpy.typing as npt

from relic_core.domain.grouping import grouped
from relic_core.mining.splits import Candidate
from relic_core.mining.word_runs import RUN, HeldOut, Runs, digests_of, words

Texts = Callable[[], Iterable[tuple[str, str]]]
"""Gives names of texts with the texts, anew each time it is asked."""

HELD_OUT = "the list of held-out runs"


@dataclass(frozen=True, slots=True)
class Offence:
    """Something that stands where it must not; no `words` where a place is shared, or the split is wrong."""

    kind: Literal["pair", "window"]
    id: str
    words: str
    where: tuple[str, ...]

    def __str__(self) -> str:
        shared = f" shares “{self.words}” with" if self.words else ":"
        return f"{self.kind} {self.id}{shared} {', '.join(self.where)}"


def shared_runs(items: Iterable[Candidate], texts: Texts, held_out: HeldOut | None = None) -> list[Offence]:
    """List the stretches of eight words or more that items share with texts they must not share any with.

    - `texts`: read once, and once more where something is shared. None of an item's own name (`name_of`) counts.
    """
    collected = [digests_of(text) for _, text in texts()]
    known = np.sort(np.concatenate(collected)) if collected else np.empty(0, np.uint64)
    found: list[tuple[Candidate, str, list[int]]] = []
    offences: list[Offence] = []
    for item in items:
        for text in item.texts:
            digests = digests_of(text)
            found += [(item, phrase, digests[at].tolist()) for at, phrase in _stretches(text, _among(digests, known))]
            if held_out is not None:
                listed = held_out.holds(digests)
                offences += [Offence(item.kind, item.id, phrase, (HELD_OUT,)) for _, phrase in _stretches(text, listed)]
    places = _places(texts, set(chain.from_iterable(digests for _, _, digests in found))) if found else {}
    for item, phrase, runs in found:
        names = chain.from_iterable(places[run] for run in runs)
        where = tuple(dict.fromkeys(name for name in names if name != name_of(item)))
        if where:
            offences.append(Offence(item.kind, item.id, phrase, where))
    return list(dict.fromkeys(offences))


def shared_passages(items: Iterable[Candidate], others: Sequence[tuple[str, Candidate]]) -> list[Offence]:
    """List the items whose passage in a source lies, in part or whole, on one of `others`, each with its split."""
    of_source = grouped(others, lambda other: other[1].source_id)
    offences = []
    for item in items:
        where = tuple(
            f"{other.kind} {other.id} ({split}), on the same passage of {item.source_id}"
            for split, other in of_source.get(item.source_id, ())
            if other.passage[0] < item.passage[1] and item.passage[0] < other.passage[1]
        )
        if where:
            offences.append(Offence(item.kind, item.id, "", where))
    return offences


def name_of(item: Candidate) -> str:
    """Name an item as a text that others are held against."""
    return f"{item.kind} {item.id}"


def _among(digests: Runs, known: Runs) -> npt.NDArray[np.bool_]:
    if not len(known):
        return np.zeros(len(digests), dtype=bool)
    found: npt.NDArray[np.bool_] = known[np.minimum(np.searchsorted(known, digests), len(known) - 1)] == digests
    return found


def _stretches(text: str, hits: npt.NDArray[np.bool_]) -> Iterator[tuple[slice, str]]:
    """Join runs that follow each other: which runs each stretch has, and its words."""
    if not hits.any():
        return
    text_words = words(text)
    borders = np.flatnonzero(np.diff(np.concatenate([[0], hits.astype(np.int8), [0]])))
    for start, end in borders.reshape(-1, 2).tolist():
        yield slice(start, end), " ".join(text_words[start : end + RUN - 1])


def _places(texts: Texts, wanted: set[int]) -> dict[int, list[str]]:
    asked = np.array(sorted(wanted), dtype=np.uint64)
    places: dict[int, list[str]] = {digest: [] for digest in wanted}
    for name, text in texts():
        for digest in asked[np.isin(asked, digests_of(text))].tolist():
            places[digest].append(name)
    return places
