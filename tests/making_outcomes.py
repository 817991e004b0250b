"""Outcomes made by hand, for tests of what is computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SAME = -1
"""The overlap rank that is the rank."""


def outcome(
    example_id: str, rank: int | None, *, overlap: int | None = SAME, candidates: int = 1000, book: str = "the-ferry"
) -> Outcome:
    """Make an outcome of a quotation of two sentences."""
    return Outcome(
        example_id=example_id,
        book=book,
        length=2,
        kind="",
        candidates=candidates,
        rank=rank,
        overlap_rank=rank if overlap == SAME else overlap,
        gold=(10, 20),
        first=((30, 40),),
    )


def outcomes_of(ranks: Mapping[str, Sequence[int | None]], *, candidates: int = 1000) -> tuple[Outcome, ...]:
    """Make the outcomes of a run: per book its ranks."""
    return tuple(
        outcome(f"{book}-{number:03}", rank, candidates=candidates, book=book)
        for book, own in ranks.items()
        for number, rank in enumerate(own)
    )
