"""What a search of many works finds, before columns are made of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.domain import group_overlapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Group, Hit, LibraryRanking, Work, WorkFilter, WorkHit, WorkSummary, WorkVersion
    from relic_core.errors import RelicError
    from relic_core.retrieval.strength import OutOfVocabulary
    from relic_core.services.answers import SearchRequest
    from relic_core.services.asking import Question

    Groups = tuple[tuple[str, Group], ...]
    """Work ids, and hits in these works with those that overlap them."""


@dataclass(kw_only=True)
class Found:
    """What a search of the library knows before columns are made of it.

    - `missing`: ids of those that a retriever has not prepared.
    - `rankings`, `refusals`: by retriever: its ranking, or why it has none.
    - `encoders`: identities of the encoders that had a part, by retriever.
    - `models`: those that had a part, by name and digest.
    - `groups`: by retriever, the hits that its column shows.
    - `heads`: by retriever, its first passages: see `relic_core.services.answers.Column`.
    - `gone`: retrievers all of whose hits stood in works that were removed or changed since they were ranked.
    - `foreign`: how far the claim is from each of them; of a passage that is not asked.
    """

    request: SearchRequest
    question: Question
    searched: tuple[WorkSummary, ...]
    imprints: tuple[WorkVersion, ...]
    missing: frozenset[str] = frozenset()
    rankings: dict[str, LibraryRanking] = field(default_factory=dict)
    refusals: dict[str, RelicError] = field(default_factory=dict)
    encoders: dict[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    groups: dict[str, Groups] = field(default_factory=dict)
    heads: dict[str, tuple[WorkHit, ...]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    works: dict[str, Work] = field(default_factory=dict)
    foreign: dict[str, OutOfVocabulary] = field(default_factory=dict)

    @property
    def candidates(self) -> int:
        """How many spans all works hold, but for those that overlap the passage given."""
        length = self.request.length
        return sum(work.candidates(length) - len(self.question.left_out(work, length)) for work in self.imprints)

    @property
    def made_with(self) -> str:
        """Name the works, segmenters, models and the program version."""
        together = hashlib.sha256("".join(work.fingerprint for work in self.imprints).encode()).hexdigest()
        works = "1 work" if len(self.imprints) == 1 else f"{len(self.imprints)} works"
        parts = (
            f"{works} {together[:12]}",
            *dict.fromkeys(work.segmenter for work in self.imprints),
            *self.models,
            f"version {__version__}",
        )
        return ", ".join(parts)


def group_in_works(hits: Sequence[WorkHit]) -> Groups:
    """Give each passage one place: a hit that overlaps a better one of the same work joins that one's group.

    - `hits`: best first.

    Returns: work ids and groups, in the order of the groups' best hits.
    """
    by_work: dict[str, list[Hit]] = {}
    for each in hits:
        by_work.setdefault(each.work_id, []).append(each.hit)
    groups = [(work_id, group) for work_id, own in by_work.items() for group in group_overlapping(own)]
    return tuple(sorted(groups, key=lambda found: found[1].best.rank))


def without_source(ranking: LibraryRanking, question: Question, works: Sequence[WorkVersion]) -> LibraryRanking:
    """Leave out the spans that overlap the passage asked with, or stand by it: they are no candidates."""
    number, left = next(
        (
            (ranking.works.index(work.id), starts)
            for work in works
            if work.id in ranking.works and (starts := question.left_out(work, ranking.length))
        ),
        (0, range(0)),
    )
    if not left:
        return ranking
    kept = (ranking.work != number) | (ranking.start < left.start) | (ranking.start >= left.stop)
    return replace(
        ranking,
        work=ranking.work[kept],
        start=ranking.start[kept],
        scores=ranking.scores[kept],
        candidates=ranking.candidates - len(left),
    )


def nothing_admitted(narrowing: WorkFilter) -> str:
    """Say that nothing is left to search, and what to do."""
    if not narrowing:
        return "There is no work to search yet. Add one in the Library, or with `python -m relic_core add FILE`."
    asked = []
    if narrowing.works:
        asked.append("among the works chosen" if len(narrowing.works) > 1 else "the one chosen")
    if narrowing.authors:
        asked.append(f"by {' or '.join(narrowing.authors)}")
    first, last = narrowing.first_year, narrowing.last_year
    if first is not None and last is not None:
        asked.append(f"of the years {first} to {last}")
    elif first is not None or last is not None:
        asked.append(f"of {first} or later" if last is None else f"of {last} or before")
    return (
        f"No work of the library is {' and '.join(asked)}. Choose other works, authors or years, or none to search "
        "them all; a work whose year is not known is left out where years are given."
    )
