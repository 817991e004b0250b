"""What a search asks with: a claim as typed, or a passage that others are to be like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import MAX_LENGTH, MIN_LENGTH, Claim
from relic_core.errors import BadClaim, BadRequest, StaleIndex
from relic_core.reporting.passages import quotation
from relic_core.services.answers import SearchRequest, Source
from relic_core.text import masking
from relic_core.text.words import content_tokens, tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from relic_core.domain import Search, SeedPassage, Work, WorkVersion
    from relic_core.ports import VectorRetriever
    from relic_core.wiring import App


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, understood.

    - `claim`: the claim; of a passage, its words.
    - `wanted`: its content words, to light in what is found.
    - `source`: the passage that others are to be like.
    """

    claim: Claim
    wanted: frozenset[str]
    source: Source | None = None

    def vector(self, retriever: VectorRetriever) -> npt.NDArray[np.float32]:
        """Give the vector of what is asked; shape (dimension,).

        A passage has the vector that stands in the index of its work, read in its context like those it is compared
        with. Where its work has not been prepared, its words are encoded as a claim would be.

        Raises BadWeights: the encoder's files are missing or not the expected ones.
        """
        if self.source is not None:
            try:
                return retriever.span_vector(self.source.work.imprint, self.source.span)
            except StaleIndex:  # not prepared, or damaged, which its own search would say
                pass
        return retriever.claim_vector(self.claim)

    def left_out(self, work: WorkVersion | Work, length: int) -> range:
        """Give the starts of a work's spans that overlap the passage asked with, or stand by it: no answers then."""
        source = self.source
        if source is None or source.work.id != work.id:
            return range(0)
        near = source.near
        return range(max(0, near.start - length + 1), min(near.end, work.candidates(length)))


def request_of(search: Search) -> SearchRequest:
    """Give the request that a search of the history was."""
    return SearchRequest(
        work_id=search.work_id,
        claim_text=search.claim_text,
        length=search.length,
        results=search.results,
        retrievers=search.retrievers,
        chapters=search.chapters,
        narrowing=search.narrowing,
        like=search.like,
    )


def read_question(app: App, request: SearchRequest) -> Question:
    """Read the claim of a request, or find the passage that it asks with.

    Raises BadClaim: there is nothing to search with.
    Raises BadRequest, NotFound: the passage: see `find_source`.
    """
    if request.like is None:
        claim = masking.read_claim(request.claim_text, max_words=app.settings.max_claim_words)
        return Question(claim=claim, wanted=frozenset(content_tokens(claim.words)))
    source = find_source(app, request.like)
    claim = Claim(left=" ".join(source.quotation.plain.split()))
    if not tokens(claim.words):
        raise BadClaim(
            f"The passage {source.place.address} of {source.work.title} has no word, so nothing can be like it. Choose "
            "another one."
        )
    return Question(claim=claim, wanted=frozenset(content_tokens(claim.words)), source=source)


def find_source(app: App, like: SeedPassage) -> Source:
    """Find the passage that others are to be like; one that would run over the end of its work ends there.

    Raises BadRequest: its length is out of range, or its place is no address.
    Raises NotFound: no work has that id, or it has no such place.
    """
    if not MIN_LENGTH <= like.length <= MAX_LENGTH:
        raise BadRequest(
            f"Passages like one of {like.length} sentences were asked for; {MIN_LENGTH} to {MAX_LENGTH} are possible."
        )
    work = app.works.load(like.work_id)
    span = work.span_at(like.at, like.length)
    return Source(work=work, span=span, quotation=quotation(work, span), place=work.place(span))
