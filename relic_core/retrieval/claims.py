"""What every retriever asks of a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import BadClaim
from relic_core.text.words import tokens

if TYPE_CHECKING:
    from relic_core.domain import Claim


def claim_tokens(claim: Claim) -> list[str]:
    """List the tokens of a claim, function words included.

    Raises BadClaim: it holds no word at all.
    """
    found = tokens(claim.words)
    if not found:
        raise BadClaim("The claim holds no words to search with. Type a claim about the work in a few words.")
    return found
