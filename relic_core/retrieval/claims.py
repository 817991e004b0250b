"""What every retriever asks of a claim, and of a passage given in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import BadClaim, BadRequest
from relic_core.text.words import tokens

if TYPE_CHECKING:
    from relic_core.domain import Claim, Span, WorkVersion


def claim_tokens(claim: Claim) -> list[str]:
    """List the tokens of a claim, function words included.

    Raises BadClaim: it holds no word at all.
    """
    found = tokens(claim.words)
    if not found:
        raise BadClaim("The claim holds no words to search with. Type a claim about the work in a few words.")
    return found


def check_span(work: WorkVersion, span: Span) -> None:
    """Refuse a span that its work does not hold.

    Raises BadRequest: the work ends before the span does.

    >>> from relic_core.domain import WorkVersion, Span
    >>> check_span(WorkVersion(id="a", title="A", fingerprint="", segmenter="", sentences=3), Span(1, 2))
    """
    if not 0 <= span.start < span.end <= work.sentences:
        raise BadRequest(
            f"{work.title} has {work.sentences} sentences, so it holds no passage of {span.length} from the "
            f"{span.start + 1}. on. Choose a shorter passage, or one further up."
        )
