"""Searches: what is asked and of which works, as it is kept and as it is sent, and what was found first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relic_core.domain.spans import MAX_LENGTH, MIN_LENGTH
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from relic_core.domain.works import Work, WorkSummary, WorkVersion


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


@dataclass(frozen=True, eq=False)
class Corpus:
    """The works that are searched. One work is a corpus of one.

    - `whole`: the one work, where its text is at hand: it is then searched with what was prepared of it alone.
    """

    versions: tuple[WorkVersion, ...]
    load: Callable[[str], Work]
    whole: Work | None = None

    @classmethod
    def of(cls, work: Work) -> Corpus:
        """Make the corpus of one work."""
        return cls((work.version,), lambda _: work, work)


@dataclass(frozen=True, slots=True)
class SeedPassage:
    """The passage that others are to be like."""

    work_id: str
    at: str
    length: int = 1


MAX_RESULTS = 50
DEFAULT_RETRIEVERS = ("dense-relic", "bm25", "reranked")
"""The columns of a search that asks for no others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What the scholar asks.

    - `work_id`: the work to search; empty for the whole library.
    - `claim_text`: the claim as typed, its mask included; left out where `like` is given.
    - `length`: sentences per quotation, 1 to 5.
    - `results`: cards per retriever, 1 to 50.
    - `chapters`: only passages of these chapters, numbered from 1 as in addresses; with `work_id` only. Empty for all.
    - `work_filter`: which works of the library are searched; without `work_id` only.
    - `critics_quote`: only passages of which criticism in the library quotes a sentence.
    """

    work_id: str
    claim_text: str = ""
    length: int = 1
    results: int = 5
    retrievers: tuple[str, ...] = DEFAULT_RETRIEVERS
    chapters: tuple[int, ...] = ()
    work_filter: WorkFilter = EVERYWHERE
    like: SeedPassage | None = None
    critics_quote: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not MIN_LENGTH <= self.length <= MAX_LENGTH:
            raise BadRequest(
                f"A quotation of {self.length} sentences was asked for; {MIN_LENGTH} to {MAX_LENGTH} are possible."
            )
        if not 1 <= self.results <= MAX_RESULTS:
            raise BadRequest(f"{self.results} results were asked for; 1 to {MAX_RESULTS} are possible.")
        if not self.retrievers:
            raise BadRequest("No retriever was chosen. Choose at least one way of searching.")
        if self.chapters and not self.work_id:
            raise BadRequest("Chapters were chosen without a work. Choose the work they belong to, or no chapters.")
        if self.work_filter and self.work_id:
            raise BadRequest(
                "Authors, years or works were chosen beside a work. Search the whole library to narrow it by them."
            )
        if self.like and self.claim_text.strip():
            raise BadRequest("A claim was given beside a passage that others are to be like. Give one of the two.")


@dataclass(frozen=True, slots=True)
class Search:
    """One line of the history of searches: enough to run it again.

    - `id`: short and unique; what a permalink carries.
    - `made_with`: work hash, models and version that answered, for a reader who reopens it elsewhere.
    """

    id: str
    request: SearchRequest
    created: datetime
    made_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFingerprints:
    """What an answer hangs on beside the question, in short digests.

    - `edition`: eight hex digits of the text and of where its sentences stand; of a search of the library, of all works
      searched. Empty where it is not known.
    - `retrievers`: by retriever eight hex digits: four of its models, and four of its rules, index and model taken
      together.
    - `version`: the program's; empty where it is not known.
    """

    edition: str = ""
    retrievers: Mapping[str, str] = field(default_factory=dict)
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSearch:
    """A search as it is sent: what is asked, of which title and author, and what answered it where it was made."""

    request: SearchRequest
    title: str = ""
    author: str = ""
    fingerprints: ModelFingerprints = field(default_factory=ModelFingerprints)


@dataclass(frozen=True, slots=True)
class TopKHit:
    """One of the first passages that a retriever found, as it is kept.

    - `rank`: from 1, among all candidates: of overlapping spans the best one's.
    - `start`, `end`: character offsets in the text of the work; both 0 where they are not known yet.
    """

    work_id: str
    first: int
    rank: int
    score: float
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKSnapshot:
    """The first passages that one retriever found for a search.

    - `edition`, `maker`, `version`: what it was made with: see `ModelFingerprints`.
    """

    retriever: str
    length: int
    edition: str
    maker: str
    version: str
    hits: tuple[TopKHit, ...]

    @property
    def made_with(self) -> tuple[str, str, str]:
        """What it was made with, to be compared."""
        return (self.edition, self.maker, self.version)
