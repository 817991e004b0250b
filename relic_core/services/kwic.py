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

    Attributes
    ----------
    word : str
        A word or a phrase; * in a word stands for any letters.
    work_id : str
        The work; empty for all.
    sort : {"text", "left", "right"}
        Place in the text, or the first and second neighbour on one side.
    variants : bool
        Other spellings count.
    forms : bool
        Other word forms count.
    as_written : bool
        Capitals, accents and the ending 's count; excludes the two before.
    only : str
        Key of the one form to show; empty for all.
    page : int
        From 1.
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

        Examples
        --------
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

    Attributes
    ----------
    name, number, part : str
        The chapter's name in full; its number and its part as printed.
    count, words : int
        Places found, and words of the chapter.
    begins : float
        Where in the work it begins, 0 to 1, counted in words.
    at : Address or None
        Of the first place; None where there is none.
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

    Attributes
    ----------
    work : WorkSummary
        The work.
    count, words : int
        Places found, and words of the work.
    density : tuple of int
        Places in each thousandth of the work; of the works with the most alone.
    chapters : tuple of ChapterCount
        Of the same works.
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

    Attributes
    ----------
    request : ConcordanceRequest
        What was asked.
    total : int
        Places found.
    page, pages : int
        The page shown (the last where a later one was asked for), and how many there are.
    rows : tuple of Occurrence
        Of the page.
    forms : tuple of FormCount
        The forms found, before one of them was chosen, the most frequent first.
    works : tuple of WorkCount
        Works with at least one place, the most frequent first.
    searched : int
        Works looked through.
    words : tuple of WordCount
        Where nothing was found: the words one by one.
    offers : tuple of Offer
        Where nothing was found: what would find something.
    seconds : float
        How long it took.
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
