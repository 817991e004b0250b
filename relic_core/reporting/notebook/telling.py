"""What brought a passage up, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.domain import KeptPassage


def brought_up(kept: KeptPassage, labels: Mapping[str, str]) -> str:
    """Say in a sentence how a passage was met.

    - `labels`: what people call retrievers; a name that is not in it is given as it is.
    """
    if kept.retriever:
        label = labels.get(kept.retriever, kept.retriever)
        ranked = f"Rank {kept.rank:,} by {label}" if kept.rank else f"Found by {label}"
        return f"{ranked}{', read in its chapter' if kept.origin == 'read' else ''}."
    if kept.origin == "concordance":
        return f"Found by the word “{kept.claim_text}”." if kept.claim_text else "Found by a word."
    if kept.origin == "proxy_task":
        return "One of the three passages of an item of the proxy task."
    if kept.origin == "find":
        return "Found by a search."
    return "Met in reading, with the claim at hand." if kept.claim_text else "Met in reading."
