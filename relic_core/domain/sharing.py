"""Searches that go from one machine to another, and what their answers were made with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relic_core.domain.scopes import EVERYWHERE, SeedPassage, WorkFilter

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    """A search as it is sent: all that is asked, what it is asked of, and what answered it where it was made.

    - `work_id`: the work searched; empty where it is the whole library.
    - `length`, `results`, `retrievers`, `chapters`, `narrowing`, `like`: as in `relic_core.domain.Search`.
    """

    work_id: str
    title: str = ""
    author: str = ""
    claim_text: str = ""
    length: int
    results: int
    retrievers: tuple[str, ...]
    chapters: tuple[int, ...] = ()
    narrowing: WorkFilter = EVERYWHERE
    like: SeedPassage | None = None
    makers: ModelFingerprints = field(default_factory=ModelFingerprints)


@dataclass(frozen=True, slots=True)
class HeadHit:
    """One of the first passages that a retriever found, as it is kept.

    - `first`: its first sentence.
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
    - `hits`: best first.
    """

    retriever: str
    length: int
    edition: str
    maker: str
    version: str
    hits: tuple[HeadHit, ...]

    @property
    def made_with(self) -> tuple[str, str, str]:
        """What it was made with, to be compared."""
        return (self.edition, self.maker, self.version)
