"""Searches: what is asked and of which works, as it is kept and as it is sent, and what was found first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from relic_core.domain.bounds import Year
from relic_core.domain.spans import ANY_LENGTH, MAX_LENGTH, MIN_LENGTH, PASSAGE
from relic_core.domain.works import Work, WorkSummary, WorkVersion
from relic_core.errors import BadRequest


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
    first_year: Year | None = None
    last_year: Year | None = None

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
    """The works that are searched; of one alone whose text is at hand (`whole`), what was prepared of it is used."""

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


Joined = Literal["and", "or", "not"]
"""How a claim is joined to the others of a search: see `relic_core.retrieval.composing`."""
Unit = Literal["passage", "chapter", "work"]
"""What a composed search answers with."""
UNITS: tuple[Unit, ...] = get_args(Unit)
Voice = Literal["any", "speech", "narration"]
"""Whose words are searched: all, those of characters, those of the narrator."""
VOICES: tuple[Voice, ...] = get_args(Voice)

MAX_CLAIMS = 5
"""Claims that one search may join."""

COMPOSING = ("fusion", "dense-relic", "bm25")
"""Retrievers that can answer a composed search; the best, as measured, first."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A claim that is joined to the first one."""

    joined: Joined
    claim_text: str


_JOINT = re.compile(r"\s*,?\s*\b(but not|and|or)\b\s+", re.IGNORECASE)
HOW_JOINED: Mapping[str, Joined] = {"but not": "not", "not": "not", "and": "and", "or": "or"}
"""What the words between claims mean."""
_SIDE_WORDS = 3
"""Words that must stand on either side of an "and": shorter pieces are names, and things named in one breath."""
_LONGEST_SPLIT = 40
"""Words up to which a claim is looked at; a paragraph is not a list of conditions."""


def split_claim(claim_text: str) -> tuple[Condition, ...]:
    """Part a sentence at its "and", "or" and "but not"; empty where there is nothing to part.

    >>> [(row.joined, row.claim_text) for row in split_claim("Storms or floods, but not at sea.")]
    [('and', 'Storms'), ('or', 'floods'), ('not', 'at sea')]
    >>> split_claim("Elizabeth and Darcy quarrel"), split_claim("Elizabeth mocks Mr. Collins but not Mr. Darcy")
    ((), ())
    """
    if len(claim_text.split()) > _LONGEST_SPLIT:
        return ()
    pieces = _JOINT.split(claim_text.strip().rstrip(".;"))
    rows = [Condition("and", pieces[0])]
    for word, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        how = HOW_JOINED[word.lower()]
        short = how == "and" and min(len(piece.split()), len(rows[-1].claim_text.split())) < _SIDE_WORDS
        if short or all(each[0].isupper() for each in piece.split()):  # a name alone is not a claim
            rows[-1] = replace(rows[-1], claim_text=f"{rows[-1].claim_text} {word} {piece}")
        else:
            rows.append(Condition(how, piece))
    whole = all(any(map(str.isalnum, row.claim_text)) for row in rows)
    return tuple(rows) if 1 < len(rows) <= MAX_CLAIMS and whole else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What the scholar asks.

    - `work_id`: the work to search; empty for the whole library.
    - `claim_text`: the claim as typed, its mask included; left out where `like` is given.
    - `length`: sentences per quotation, 1 to 5; 0 for any.
    - `results`: cards per retriever, 1 to 50.
    - `chapters`: only passages of these, numbered from 1 as in addresses; with `work_id` only.
    - `work_filter`: without `work_id` only.
    - `critics_quote`: only passages of which criticism in the library quotes a sentence.
    - `voice`: only passages every sentence of which holds speech, or none of which does.
    - `unit`: what is answered with; passages without `conditions`.
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
    voice: Voice = "any"
    conditions: tuple[Condition, ...] = ()
    unit: Unit = "passage"

    def __post_init__(self) -> None:
        """Check the numbers, and whether the parts go together."""
        if self.length != ANY_LENGTH and not MIN_LENGTH <= self.length <= MAX_LENGTH:
            raise BadRequest(
                f"A quotation of {self.length} sentences was asked for; {MIN_LENGTH} to {MAX_LENGTH} are possible, and "
                f"{ANY_LENGTH} for any length."
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
        self._check_conditions()

    def _check_conditions(self) -> None:
        if not self.conditions:
            if self.unit != "passage":
                raise BadRequest(f"A search for {self.unit}s joins two claims or more. Add a condition.")
            return
        if self.like:
            raise BadRequest("Conditions are joined to a claim, and a passage was given instead. Give one of the two.")
        rows = self.rows
        if not rows[0].claim_text.strip() and all(row.joined == "not" for row in rows[1:]):
            raise BadRequest(
                "“But not” alone leaves almost the whole work. Write first what the passages should bear out."
            )
        if empty := [str(number) for number, row in enumerate(rows, start=1) if not row.claim_text.strip()]:
            raise BadRequest(f"Row {', '.join(empty)} is empty. Write a claim in it, or remove it.")
        if len(rows) > MAX_CLAIMS:
            raise BadRequest(f"{len(rows)} claims are joined; up to {MAX_CLAIMS} are possible. Remove some.")
        claims = [" ".join(row.claim_text.split()).casefold() for row in rows]
        if twice := next((row for at, row in enumerate(rows) if claims[at] in claims[:at]), None):
            raise BadRequest(f"“{twice.claim_text.strip():.80}” is in two rows. Change one of them, or remove it.")
        if self.unit == "work" and self.work_id:
            raise BadRequest("One work is searched, so works cannot be the answer. Choose passages or chapters.")
        if self.unit == "chapter" and (not self.work_id or len(self.chapters) == 1):
            raise BadRequest(
                "One chapter is searched, so chapters cannot be the answer. Choose passages, or more chapters."
                if self.work_id
                else "Chapters can be the answer within one work. Choose a work, or passages or works as the answer."
            )

    @property
    def sentences(self) -> int:
        """Sentences of the passages that are ranked."""
        return self.length or PASSAGE

    @property
    def rows(self) -> tuple[Condition, ...]:
        """The claims joined, the first one too."""
        return (Condition("and", self.claim_text), *self.conditions)

    @property
    def sentence(self) -> str:
        """The claim; a composed search as a sentence, as it is understood: see `in_words`."""
        return in_words(self.rows) if self.conditions else self.claim_text


def in_words(rows: Sequence[Condition]) -> str:
    """Write joined claims as a sentence: what all must hold, then alternatives, then what must not.

    >>> in_words([Condition("and", "Storms"), Condition("not", "at sea"), Condition("or", "floods")])
    '“Storms”, or “floods”, but not “at sea”'
    """
    words = {"and": "and", "or": "or", "not": "but not"}
    ordered = sorted(rows, key=lambda row: list(words).index(row.joined))
    first, *others = [f"“{row.claim_text.strip()}”" for row in ordered]
    return ", ".join([first, *(f"{words[row.joined]} {claim}" for row, claim in zip(ordered[1:], others, strict=True))])


def joined_claims(rows: Sequence[Condition]) -> tuple[str, tuple[Condition, ...]]:
    """Part rows into the claim and what is joined to it: the first of what must hold, else the first alternative.

    >>> joined_claims([Condition("not", "at sea"), Condition("or", "storms"), Condition("or", "floods")])
    ('storms', (Condition(joined='not', claim_text='at sea'), Condition(joined='or', claim_text='floods')))
    """
    for joined in ("and", "or"):
        for at, row in enumerate(rows):
            if row.joined == joined:
                return row.claim_text, (*rows[:at], *rows[at + 1 :])
    return "", tuple(rows)


@dataclass(frozen=True, slots=True)
class Search:
    """One line of the history of searches: enough to run it again, by the short id that a permalink carries.

    - `made_with`: work hash, models and version that answered, for a reader who reopens it elsewhere.
    """

    id: str
    request: SearchRequest
    created: datetime
    made_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFingerprints:
    """What an answer depends on besides the question, in short digests; empty where they are not known.

    - `edition`: eight hex digits of the text and of where its sentences stand; of a search of the library, of all works
      searched.
    - `retrievers`: by retriever eight hex digits: four of its models, four of its rules, index and model together.
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
    """One of the first passages that a retriever found, as it is kept; offsets `start` and `end` both 0 until known."""

    work_id: str
    first: int
    rank: int
    score: float
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKSnapshot:
    """The first passages that one retriever found for a search, and by what: see `ModelFingerprints`."""

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
