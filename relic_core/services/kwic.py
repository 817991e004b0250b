"""What the concordance is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain import Address, WorkSummary
    from relic_core.reporting.concordance import Occurrence

PAGE = 50
"""Rows of a page."""
MOST_PAGES = 1_000_000
MOST_EXPORTED = 100_000
"""Rows of an exported table."""
SORTS = ("text", "left", "right")
"""Orders: place in the text (works by title), or the alphabet of the neighbours left or right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcordanceRequest:
    """What to look for, where and how.

    - `word`: a word or a phrase; * in a word stands for any letters.
    - `work_id`: the work; empty for all.
    - `sort`: place in the text, or the first and second neighbour on one side.
    - `as_written`: capitals, accents and the ending 's count; excludes the two before.
    - `only`: key of the one form to show; empty for all.
    - `page`: from 1.
    """

    word: str
    work_id: str = ""
    sort: str = "text"
    variants: bool = False
    forms: bool = False
    as_written: bool = False
    only: str = ""
    page: int = 1

    @property
    def options(self) -> str:
        """What was asked besides the words, in words."""
        chosen = (
            (self.variants, "spelling variants"),
            (self.forms, "word forms"),
            (self.as_written, "exactly as written"),
            (bool(self.only), f"only {self.only}"),
            (self.sort != "text", f"by {self.sort} neighbour"),
        )
        return "; ".join(label for given, label in chosen if given)

    @property
    def parameters(self) -> dict[str, str]:
        """What the address of the page that shows it carries; what is as usual is left away.

        >>> ConcordanceRequest(word="good fortune", forms=True).parameters
        {'word': 'good fortune', 'forms': '1'}
        """
        given = {
            "word": self.word.strip(),
            "work": self.work_id,
            "sort": self.sort if self.sort != "text" else "",
            "variants": "1" if self.variants else "",
            "forms": "1" if self.forms else "",
            "case": "1" if self.as_written else "",
            "form": self.only,
            "page": str(self.page) if self.page > 1 else "",
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class FormCount:
    """A form that was found: its key, how it is mostly printed, how often it was found in all."""

    key: str
    label: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterCount:
    """How often a query was found in a chapter.

    - `name`, `number`, `part`: the chapter's name in full; its number and its part as printed.
    - `begins`: where in the work it begins, 0 to 1, counted in words.
    - `at`: of the first place; None where there is none.
    """

    name: str
    number: str
    part: str
    count: int
    words: int
    begins: float
    at: Address | None

    @property
    def rate(self) -> float:
        """How often in 10,000 words."""
        return 10_000 * self.count / max(1, self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCount:
    """How often a query was found in a work.

    - `density`: places in each thousandth of the work; of the works with the most alone.
    - `chapters`: of the same works.
    """

    work: WorkSummary
    count: int
    words: int
    density: tuple[int, ...]
    chapters: tuple[ChapterCount, ...]

    @property
    def rate(self) -> float:
        """How often in 10,000 words."""
        return 10_000 * self.count / max(1, self.words)


@dataclass(frozen=True, slots=True)
class WordCount:
    """A word of a query that was not found: how often it stands alone, and words like it where it never does."""

    word: str
    count: int
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """A wider way to ask: what is different, the request, and what it finds, None where that is not known."""

    label: str
    request: ConcordanceRequest
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One page of what was found, and the counts of all.

    - `page`, `pages`: the page shown (the last where a later one was asked for), and how many there are.
    - `forms`: the forms found, before one of them was chosen, the most frequent first.
    - `works`: works with at least one place, the most frequent first.
    - `words`: where nothing was found: the words one by one.
    - `offers`: where nothing was found: what would find something.
    """

    request: ConcordanceRequest
    total: int
    page: int
    pages: int
    rows: tuple[Occurrence, ...]
    forms: tuple[FormCount, ...]
    works: tuple[WorkCount, ...]
    searched: int
    words: tuple[WordCount, ...]
    offers: tuple[Offer, ...]
    seconds: float
