"""What one retriever finds for a claim and another does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from relic_core.errors import BadRequest
from relic_core.evaluation.rank_overlap import PERSISTENCE, overlap_at, rank_biased_overlap
from relic_core.services.columns import HEAD
from relic_core.services.sharing.passages import numbered, set_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import WorkHit
    from relic_core.services.answers import Column, SearchRequest, SearchResult
    from relic_core.services.sharing.passages import Located
    from relic_core.wiring import App

TEN = 10
"""Passages of each column that are shown and counted."""

Found = Literal["both", "first", "second"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPassage:
    """A passage among the first ten of one of two retrievers at least.

    - `first`, `second`: which one it is, from 1, in each; 0 where it is not among the first twenty passages.
    - `found`: among whose first ten it is.
    """

    passage: Located
    first: int
    second: int
    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two retrievers held against one another for one claim.

    - `result`: the answer, with the two columns alone.
    - `passages`: by the better of their two places.
    - `overlap`, `ten`: how many passages the first ten of both share; and how many the longer of the two has, ten at
      most.
    - `likeness`: rank-biased overlap of the first twenty, 0 to 1.
    """

    result: SearchResult
    first: Column
    second: Column
    passages: tuple[ComparedPassage, ...]
    overlap: int
    ten: int
    likeness: float

    def found_by(self, found: Found) -> tuple[ComparedPassage, ...]:
        """List the passages that are among the first ten of both, or of one alone, best first."""
        return tuple(each for each in self.passages if each.found == found)


def compare(app: App, request: SearchRequest, retrievers: Sequence[str]) -> Comparison:
    """Ask two retrievers the same and hold their first passages against one another.

    Overlapping spans count as one passage, within a column and between the two.

    - `app`: where is searched.
    - `request`: what is asked; its own columns play no part.

    Raises BadRequest: they are not two, or one is not known.
    Raises RelicError: one of the two cannot answer; and as `relic_core.services.search.Search.run`.
    """
    if len(set(retrievers)) != 2:  # noqa: PLR2004 - a comparison is of two
        raise BadRequest("Two different ways of searching are compared. Choose two.")
    result = app.search.run(replace(request, retrievers=tuple(retrievers), results=HEAD))
    first, second = result.columns
    for column in (first, second):
        if not column.answered:
            raise BadRequest(
                f"{column.label} cannot answer yet, so it cannot be compared. "
                f"{column.note or 'The work is not prepared for it: open the search and prepare it there.'}"
            )
    ids, others = numbered([_stretch(each) for each in first.head], [_stretch(each) for each in second.head])
    return Comparison(
        result=result,
        first=first,
        second=second,
        passages=_passages(app, dict(zip(ids, first.head, strict=True)), dict(zip(others, second.head, strict=True))),
        overlap=overlap_at(ids, others, TEN),
        ten=min(TEN, max(len(ids), len(others))),
        likeness=rank_biased_overlap(ids, others, PERSISTENCE),
    )


def _passages(app: App, first: dict[int, WorkHit], second: dict[int, WorkHit]) -> tuple[ComparedPassage, ...]:
    """Set out the first ten passages of both, each once; `first` and `second` are in the order of their columns."""
    places = [{each: at for at, each in enumerate(column, start=1)} for column in (first, second)]
    shown = {each: column[each] for column in (second, first) for each in list(column)[:TEN]}
    works = app.works.load_all(dict.fromkeys(hit.work_id for hit in shown.values()))
    passages = []
    for each, hit in shown.items():
        if hit.work_id in works:  # it may have been removed meanwhile
            one, two = (column.get(each, 0) for column in places)
            found: Found = "both" if 0 < one <= TEN and 0 < two <= TEN else "first" if 0 < one <= TEN else "second"
            located = set_out(works[hit.work_id], hit.hit.span)
            passages.append(ComparedPassage(passage=located, first=one, second=two, found=found))
    return tuple(sorted(passages, key=lambda each: (min(filter(None, (each.first, each.second))), each.first == 0)))


def _stretch(found: WorkHit) -> tuple[str, int, int]:
    return found.work_id, found.hit.span.start, found.hit.span.end
