"""What a search is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import EVERYWHERE, MAX_LENGTH, MIN_LENGTH, SeedPassage, Span, WorkFilter
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from relic_core.domain import Claim, Hit, Place, Work, WorkHit, WorkSummary
    from relic_core.reporting.passages import Passage
    from relic_core.retrieval.strength import Strength
    from relic_core.text.masking import Quoted

MAX_RESULTS = 50

NEAR = 12
"""Sentences on either side of a passage that are left out where others like it are looked for: about half a page."""
USUAL = ("dense-relic", "bm25", "reranked")
"""The columns of a search that asks for no others."""
_SHORTEST = 50
"""Of a short work at most this part of its sentences is left out on either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What the scholar asks.

    - `work_id`: the work to search; empty for the whole library.
    - `claim_text`: the claim as typed, its mask included; left out where `like` is given.
    - `length`: sentences per quotation, 1 to 5.
    - `results`: cards per retriever, 1 to 50.
    - `retrievers`: the columns, in order.
    - `chapters`: only passages of these chapters, numbered from 1 as in addresses; with `work_id` only. Empty for all.
    - `narrowing`: which works of the library are searched; without `work_id` only.
    - `like`: look for passages like this one, instead of for a claim.
    """

    work_id: str
    claim_text: str = ""
    length: int = 1
    results: int = 5
    retrievers: tuple[str, ...] = USUAL
    chapters: tuple[int, ...] = ()
    narrowing: WorkFilter = EVERYWHERE
    like: SeedPassage | None = None

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
        if self.narrowing and self.work_id:
            raise BadRequest(
                "Authors, years or works were chosen beside a work. Search the whole library to narrow it by them."
            )
        if self.like and self.claim_text.strip():
            raise BadRequest("A claim was given beside a passage that others are to be like. Give one of the two.")


@dataclass(frozen=True, slots=True)
class Card:
    """One hit with all a reader needs to judge it.

    - `rank`: from 1, among all candidates of the length.
    - `quotation`: the words, verbatim, with the claim's words lit.
    - `place`: where it stands.
    - `strength`: how far it stands out of the work's background.
    - `elsewhere`: the other retrievers' labels and the ranks they give it; 0 where it is not among those they rank.
    - `shared`: words it shares with the claim, in the order of the text, each once.
    - `quoted`: the claim already quotes words of it.
    - `others`: overlapping passages that this card stands for.
    """

    work: Work
    rank: int
    span: Span
    quotation: Passage
    place: Place
    score: float
    strength: Strength
    elsewhere: tuple[tuple[str, int], ...]
    shared: tuple[str, ...]
    quoted: bool
    others: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """What one retriever brings up.

    - `retriever`, `label`, `description`: its name, what people call it, and what it does in plain words.
    - `cards`: best first; empty while `pending`, and where no passage shares a word with the claim.
    - `strength`: of the first hit; None where there is none.
    - `candidates`: how many passages were ranked: those of the chapters or works chosen, and without the passage that
      others are to be like and what overlaps it.
    - `pending`: the work is not prepared for it yet, or its index is damaged: building it anew brings the cards.
    - `waiting`: it takes seconds and has been left for later: see `relic_core.services.search.Search.run`.
    - `note`: what is wrong, for the reader: a damaged index, a model that cannot be loaded; or how well an approximate
      index did when it was measured. Empty where there is nothing to say.
    - `exact`: every candidate was compared; not so where an approximate index has answered.
    - `head`: its first passages, more than it has cards, in order to be kept and compared: of overlapping spans the
      best.
    """

    retriever: str
    label: str
    description: str
    cards: tuple[Card, ...]
    strength: Strength | None
    candidates: int
    pending: bool = False
    waiting: bool = False
    note: str = ""
    exact: bool = True
    head: tuple[WorkHit, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether it has nothing more to say: its index is there, and it has not refused."""
        return not (self.pending or self.waiting) and not (self.note and self.exact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The passage that others are to be like.

    - `work`: the work it stands in; it need not be one of those searched.
    - `place`: where it stands.
    """

    work: Work
    span: Span
    quotation: Passage
    place: Place

    @property
    def near(self) -> Span:
        """The passage with its surroundings, none of which is an answer.

        What stands around a passage is about the same thing and was read in the same context, so that it would always
        come first, and the reader has it before him.
        """
        sentences = len(self.work.sentences)
        margin = min(NEAR, sentences // _SHORTEST)
        first = max(0, self.span.start - margin)
        return Span(first, min(sentences, self.span.end + margin) - first)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one request.

    - `work`: the work searched; None where the whole library was.
    - `claim`: the claim as understood; where a passage was given, its words.
    - `columns`: one per retriever asked for.
    - `quoted`: words of the claim that stand in the work; none is looked for in a whole library, nor of a passage.
    - `unknown`: distinctive words of the claim that the work never uses; none is looked for as with `quoted`.
    - `weak`: every retriever that pages offer has answered, shown or not, and none finds more than another book would
      hold.
    - `made_with`: work hash, segmenter, models and program version, for a permalink.
    - `searched`: the works searched, where the whole library was; else empty.
    - `unprepared`: those of them that a retriever by meaning has not read yet, so that it says nothing of them.
    - `source`: the passage that others are to be like, where one was given.
    """

    request: SearchRequest
    work: Work | None
    claim: Claim
    columns: tuple[Column, ...]
    quoted: tuple[Quoted, ...]
    unknown: tuple[str, ...]
    weak: bool
    seconds: float
    made_with: str
    searched: tuple[WorkSummary, ...] = ()
    unprepared: tuple[WorkSummary, ...] = ()
    source: Source | None = None
