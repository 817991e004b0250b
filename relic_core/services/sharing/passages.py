"""Passages of kept heads: which of two heads are the same, and their words and places."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING

from relic_core.domain import Span
from relic_core.reporting.passages import quotation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relic_core.domain import Place, Work
    from relic_core.domain.sharing import HeadHit
    from relic_core.reporting.passages import Passage
    from relic_core.wiring import App

    Stretch = tuple[str, int, int]
    """A work's id, and where a passage of it starts and ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A passage with its words and its place.

    - `place`: where it begins.
    """

    work: Work
    span: Span
    place: Place
    quotation: Passage

    @property
    def at(self) -> str:
        """The address of its first sentence."""
        return str(self.place.address)


def numbered(first: Sequence[Stretch], second: Sequence[Stretch]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give each passage of two heads a number; two that overlap count as one passage and get the same.

    Within a head no two overlap. Where one overlaps two of the other head, those go together that stand higher.

    - `first`, `second`: best first.

    What it returns:
    - `first, second`: numbers, from 0; those of `first` in order.

    >>> numbered([("a", 0, 3), ("a", 9, 12)], [("a", 4, 7), ("a", 2, 5), ("b", 9, 12)])
    ((0, 1), (2, 0, 3))
    """
    pairs = [
        (at + other, at, other)
        for (at, one), (other, two) in product(enumerate(first), enumerate(second))
        if one[0] == two[0] and one[1] < two[2] and two[1] < one[2]
    ]
    same: dict[int, int] = {}
    taken: set[int] = set()
    for _, at, other in sorted(pairs):
        if other not in same and at not in taken:
            same[other] = at
            taken.add(at)
    new = iter(range(len(first), len(first) + len(second)))
    return tuple(range(len(first))), tuple(same[at] if at in same else next(new) for at in range(len(second)))


def locate(app: App, hits: Iterable[HeadHit]) -> dict[HeadHit, Located]:
    """Find the words and places of kept hits by their offsets, which outlive another cut into sentences.

    Those whose work is not there any more, or whose place is not known, are left out.
    """
    wanted = [hit for hit in hits if hit.end]
    works = app.works.load_all(dict.fromkeys(hit.work_id for hit in wanted))
    found = {}
    for hit in wanted:
        work = works.get(hit.work_id)
        span = _span_at(work, hit.start, hit.end) if work else None
        if work and span:
            found[hit] = set_out(work, span)
    return found


def set_out(work: Work, span: Span) -> Located:
    """Give a passage its words and its place."""
    return Located(work=work, span=span, place=work.place(span), quotation=quotation(work, span))


def _span_at(work: Work, start: int, end: int) -> Span | None:
    """Find the sentences that stand between two offsets; None where there are none."""
    first = bisect_right(work.sentences, start, key=attrgetter("end"))
    last = bisect_left(work.sentences, end, key=attrgetter("start"))
    return Span(first, last - first) if first < last else None
