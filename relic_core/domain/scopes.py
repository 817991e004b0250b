"""Where a search looks, and the passage that others are to be like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain.imprints import WorkSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFilter:
    """Which works of the library are searched; what is empty narrows nothing.

    - `first_year`, `last_year`: years of first publication, both included; a work of unknown year is left out where
      either is given.

    >>> from types import SimpleNamespace
    >>> emma = SimpleNamespace(id="emma-1", author="Jane Austen", year=1815)
    >>> WorkFilter(authors=("Jane Austen",), first_year=1800).admits(emma), WorkFilter(last_year=1814).admits(emma)
    (True, False)
    """

    works: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    first_year: int | None = None
    last_year: int | None = None

    def __bool__(self) -> bool:
        return bool(self.works or self.authors) or self.first_year is not None or self.last_year is not None

    def admits(self, work: WorkSummary) -> bool:
        """Whether a work is searched."""
        if (self.works and work.id not in self.works) or (self.authors and work.author not in self.authors):
            return False
        if self.first_year is None and self.last_year is None:
            return True
        year = work.year
        return (
            year is not None
            and (self.first_year is None or self.first_year <= year)
            and (self.last_year is None or year <= self.last_year)
        )


EVERYWHERE = WorkFilter()
"""All works of the library."""


@dataclass(frozen=True, slots=True)
class SeedPassage:
    """The passage that others are to be like.

    - `at`: the address of its first sentence.
    """

    work_id: str
    at: str
    length: int = 1
